/* Devices of a session over one server, each as an application has it: device, rounds and trainer of libsotto-device-full. */
#define _POSIX_C_SOURCE 200809L
#include "learn_one.h"

#include "account/numeric/decimal.h"
#include "account/trust.h"
#include "base/arena.h"
#include "base/clock.h"
#include "crypto/hash.h"
#include "recipe/statistic.h"
#include "transport/http_client.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = 160, PATH = DEMO_FILE + 40 };

/* ---- what everybody is given ---------------------------------------------------------------------------------------- */

static json_t *duties_of(const sotto_learning *l)
{
    return sotto_learning_is_encrypted(l)
               ? json_pack("[s,s,s,s]", "contributor", "verifier", "committee", "noise")
               : json_pack("[s,s]", "client", "decryptor");
}

/* What a policy of an application says of these fields, where none is given. */
static json_t *made_up_policy(const sotto_learning *l)
{
    const double epsilon = sotto_decimal_up(l->head.epsilon); /* all that the recipe asks for */
    const json_int_t reports = (json_int_t)l->participations;
    json_t *field =
        json_pack("{s:[s],s:s,s:f,s:f,s:I}", "by", sotto_noise_source_name(l->head.by),
                  "epsilon_local", "none", "epsilon", epsilon, "delta", 1e-3, "reports", reports);
    json_t *out = json_pack(
        "{s:s,s:i,s:{s:{s:f,s:f,s:I,s:[s,s]}},s:{s:O,s:O},s:[],s:I,s:f,s:[s],s:o}", "policy",
        "com.example.app", "version", 1, "analyses", l->head.analysis, "epsilon", epsilon, "delta",
        1e-3, "reports", reports, "fields", "digits.pixels", "digits.label", "fields",
        "digits.pixels", field, "digits.label", field, "non_sensitive", "min_cohort",
        (json_int_t)l->head.min_cohort, "honest", (double)l->head.honest.units * SOTTO_DECIMAL_UNIT,
        "trusts", sotto_trust_model_of(l->head.trust)->name, "duties", duties_of(l));

    json_decref(field);
    return out;
}

sotto_status learn_one_policy(learn_run *run, sotto_err *err)
{
    demo *d = &run->deployment;
    sotto_bytes own;
    int len = -1;

    if (run->policy_file) {
        SOTTO_TRY(learn_read_file(run, run->policy_file, sizeof d->policy_text - 1, &own, err));
        memcpy(d->policy_text, own.data, own.len);
        d->policy_text[own.len] = 0;
        return SOTTO_OK;
    }
    json_t *policy = made_up_policy(run->learning);
    char *text = policy ? json_dumps(policy, JSON_REAL_PRECISION(15)) : NULL;
    if (text)
        len = snprintf(d->policy_text, sizeof d->policy_text, "%s\n", text);
    free(text);
    json_decref(policy);
    return len > 0 && (size_t)len < sizeof d->policy_text
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_TOO_LARGE, "the policy of devices");
}

/* ---- the host of a device --------------------------------------------------------------------------------------------- */

/* The clock of a device stands within the round. */
static int64_t clock_of(void *context)
{
    const learn_run *run = ((const learn_one_device *)context)->of->run;

    return run->learning->head.opens + (int64_t)run->record.round * LEARN_EVERY + LEARN_EVERY / 2;
}

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    learn_one *one = ((const learn_one_device *)context)->of;

    sotto_arena_reset(&one->scratch);
    return learn_library_carry(one->epoch.client, &one->scratch, exchange);
}

/* ---- opening -------------------------------------------------------------------------------------------------------------- */

/* Keys of a device stay the same over runs: they come from the fleet's secret. */
static void draw_secret(const learn_run *run, uint32_t number, uint8_t out[SOTTO_ROUNDS_SECRET])
{
    uint8_t text[sizeof run->fleet + 4];

    memcpy(text, run->fleet, sizeof run->fleet);
    for (unsigned i = 0; i < 4; i++)
        text[sizeof run->fleet + i] = (uint8_t)(number >> 8 * i);
    sotto_hash_once(out, SOTTO_SHA256, sotto_bytes_of(text, sizeof text));
    sotto_wipe(text, sizeof text);
}

static sotto_status open_parts(learn_one *one, learn_one_device *d, uint32_t number, sotto_err *err)
{
    const demo *deployment = &one->run->deployment;
    const sotto_bytes policy =
        sotto_bytes_of(deployment->policy_text, strlen(deployment->policy_text));
    char events[PATH], ledger[PATH], journal[PATH];

    (void)snprintf(events, sizeof events, "%s/devices/%u.events", one->run->folder, number);
    (void)snprintf(ledger, sizeof ledger, "%s/devices/%u.ledger", one->run->folder, number);
    (void)snprintf(journal, sizeof journal, "%s/devices/%u.journal", one->run->folder, number);
    SOTTO_TRY(sotto_device_open(
        &d->device,
        &(sotto_device_options){.events = events,
                                .ledger = ledger,
                                .policy = policy,
                                .parties = sotto_bytes_of("{}", 2),
                                .streams = &learn_library_stream,
                                .stream_count = 1,
                                .host = {.exchange = carry, .clock = clock_of, .context = d}},
        err));
    const sotto_rounds_options options = {.size = sizeof options,
                                          .journal = journal,
                                          .secret = d->secret,
                                          .policy = policy,
                                          .witnesses = one->epoch.epoch.witnesses.verify[0],
                                          .witness_count = one->epoch.epoch.witnesses.count,
                                          .server = one->epoch.server};
    return sotto_rounds_open(&d->rounds, d->device, &options, err);
}

static sotto_status open_device(learn_one *one, uint32_t number, sotto_err *err)
{
    learn_one_device *d = &one->devices[number];
    const sotto_trainer trainer = learn_trainer_of(one->run, 0);

    d->of = one;
    d->next_ms = UINT64_MAX;
    draw_secret(one->run, number, d->secret);
    SOTTO_TRY(open_parts(one, d, number, err));
    if (one->encrypted)
        learn_encrypted_tell(one, sotto_rounds_duties(d->rounds));
    SOTTO_TRY(sotto_device_learn(d->device, &trainer, err));
    SOTTO_TRY(sotto_device_consent(d->device, true, err));
    SOTTO_TRY(sotto_rounds_consent(d->rounds, true, err));
    sotto_arena_reset(&one->scratch);
    return learn_library_donate(one->run, d->device, number, &one->scratch, err);
}

static sotto_status make_registry(learn_one *one, sotto_err *err)
{
    sotto_arena *arena = &one->epoch.arena;
    sotto_registry *registry = &one->epoch.epoch.registry;
    uint8_t(*keys)[SOTTO_SIGN_PUBLIC] = sotto_arena_take_array(arena, one->count, sizeof *keys);
    uint8_t(*pair)[32] = sotto_arena_take_array(arena, one->count, sizeof *pair);
    uint8_t(*channel)[32] = sotto_arena_take_array(arena, one->count, sizeof *channel);
    uint8_t root[32];

    if (!keys || !pair || !channel)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a registry");
    for (uint32_t i = 0; i < one->count; i++) {
        sotto_rounds_public of;

        sotto_rounds_keys(one->devices[i].rounds, &of);
        memcpy(keys[i], of.sign, sizeof of.sign);
        memcpy(pair[i], of.pair, sizeof of.pair);
        memcpy(channel[i], of.channel, sizeof of.channel);
    }
    registry->keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])keys;
    registry->pair = (const uint8_t(*)[32])pair;
    registry->channel = (const uint8_t(*)[32])channel;
    registry->count = one->count;
    memcpy(registry->server, one->server.key, SOTTO_SIGN_PUBLIC);
    sotto_registry_root(registry, root);
    for (uint32_t i = 0; i < one->count; i++)
        sotto_rounds_expect(one->devices[i].rounds, root, i);
    return SOTTO_OK;
}

sotto_status learn_one_devices_open(learn_one *one, sotto_err *err)
{
    char folder[PATH];

    (void)snprintf(folder, sizeof folder, "%s/devices", one->run->folder);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return sotto_fail(err, SOTTO_IO, "%.100s: %s", folder, strerror(errno));
    for (uint32_t i = 0; i < one->count; i++) {
        SOTTO_TRY(open_device(one, i, err));
        if (demo_interrupted())
            return sotto_fail(err, SOTTO_STALE, "interrupted");
    }
    return make_registry(one, err);
}

void learn_one_devices_close(learn_one *one)
{
    for (uint32_t i = 0; i < one->count; i++) {
        sotto_rounds_close(one->devices[i].rounds);
        sotto_device_close(one->devices[i].device);
        sotto_wipe(&one->devices[i], sizeof one->devices[i]);
    }
}

/* ---- rounds ----------------------------------------------------------------------------------------------------------------- */

static const char *round_name(const learn_run *run, char out[NAME])
{
    (void)snprintf(out, NAME, "%.120s#%" PRIu64, run->learning->head.name, run->record.round);
    return out;
}

sotto_status learn_one_offer(learn_one *one, sotto_err *err)
{
    for (uint32_t i = 0; i < one->count; i++) {
        const sotto_status status =
            sotto_device_offer(one->devices[i].device, one->run->record_bytes, err);

        if (status != SOTTO_OK)
            return status;
    }
    return SOTTO_OK;
}

sotto_status learn_one_join(learn_one *one, sotto_bytes call, sotto_err *err)
{
    const uint64_t now = sotto_clock_wall(&sotto_clock_system) / 1000000;
    char name[NAME];
    sotto_keygen k;

    sotto_arena_reset(&one->asking);
    SOTTO_TRY(sotto_keygen_open(&k, call, &one->asking, err));
    for (uint32_t i = 0; i < one->count; i++) {
        if (sotto_keygen_place(&k, SOTTO_KEYGEN_DEAL, i) < 0)
            continue;
        SOTTO_TRY(
            sotto_rounds_join(one->devices[i].rounds, call, round_name(one->run, name), now, err));
        one->devices[i].next_ms = 0;
    }
    return SOTTO_OK;
}

/* Silence by the draw, by participations or by the distance between them is no failure. What one device can't do, none can. */
static sotto_status judge_silence(const sotto_explanation *why, sotto_err *err)
{
    switch (why->why) {
    case SOTTO_WHY_MODEL:
    case SOTTO_WHY_TRAINER:
    case SOTTO_WHY_QUERY_FAILED:
    case SOTTO_WHY_POLICY:
    case SOTTO_WHY_BUDGET:
        return sotto_fail(err, SOTTO_DENIED, "devices refuse the round: %.110s", why->sentence);
    default:
        return SOTTO_OK;
    }
}

sotto_status learn_one_take(learn_one *one, sotto_err *err)
{
    for (uint32_t i = 0; i < one->count; i++) {
        learn_one_device *d = &one->devices[i];
        sotto_explanation why;
        unsigned parts;

        if (d->off)
            continue;
        SOTTO_TRY(sotto_rounds_take(d->rounds, &parts, &why, one->posting, err));
        one->run->took_part += (parts & SOTTO_ROUNDS_CLIENT) != 0;
        if (parts == 0)
            SOTTO_TRY(judge_silence(&why, err));
        d->next_ms = 0;
        if (demo_interrupted())
            return sotto_fail(err, SOTTO_STALE, "interrupted");
    }
    return SOTTO_OK;
}

void learn_one_tick_device(learn_one *one, uint32_t device)
{
    learn_one_device *d = &one->devices[device];
    const uint64_t now = sotto_clock_wall(&sotto_clock_system) / 1000000;

    if (!d->off && d->next_ms <= now)
        (void)!sotto_rounds_tick(d->rounds, now, &d->next_ms, NULL);
}

void learn_one_tick(learn_one *one)
{
    for (uint32_t i = 0; i < one->count; i++) {
        if (one->encrypted)
            learn_encrypted_look(one);
        learn_one_tick_device(one, i);
    }
}
