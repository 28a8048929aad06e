/* A session over one server: the aggregator as a process, an epoch with its beacon and its committee, and rounds that are posted. */
#define _POSIX_C_SOURCE 200809L
#include "learn_one.h"

#include "account/trust.h"
#include "base/arena.h"
#include "base/clock.h"
#include "crypto/hash.h"
#include "sotto/random.h"
#include "transport/http_client.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
    PAUSE_MS = 50,
    STEP_MS = 20000, /* of the key generation: how long the last member is waited for */
    KEY_MS = 10 * 60 * 1000,
    LEAST_WINDOW_MS = 2000,
    WINDOW_FACTOR =
        12,        /* so many times as long as it took everybody to write a record to its ledger */
    FILES_EACH = 8 /* of a device: three databases, with what stands beside them */
};

static uint64_t now_ms(void)
{
    return sotto_clock_wall(&sotto_clock_system) / 1000000;
}

static void pause_ms(unsigned ms)
{
    const struct timespec t = {.tv_sec = 0, .tv_nsec = (long)ms * 1000000};

    (void)nanosleep(&t, NULL);
}

static const sotto_trust_model *model_of(sotto_bytes recipe)
{
    json_t *json = json_loadb((const char *)recipe.data, recipe.len, 0, NULL);
    const char *trust =
        json_string_value(json_object_get(json_object_get(json, "aggregation"), "trust"));
    const sotto_trust_model *model =
        sotto_trust_model_of(trust ? sotto_trust_named(trust) : (sotto_trust)0);

    json_decref(json);
    return model;
}

bool learn_one_is(sotto_bytes recipe)
{
    return model_of(recipe)->one_server;
}

/* ---- the folder --------------------------------------------------------------------------------------------------------- */

static sotto_status read_folder(learn_run *run, sotto_err *err)
{
    demo *d = &run->deployment;
    sotto_bytes text;

    SOTTO_TRY(learn_get_file(run, "deployment.json", &text, err));
    json_t *json = json_loadb((const char *)text.data, text.len, 0, NULL);
    run->one->server.process.port =
        (unsigned)json_integer_value(json_object_get(json, "aggregator"));
    run->one->witness_port = (unsigned)json_integer_value(json_object_get(json, "witness"));
    json_decref(json);
    if (run->one->server.process.port == 0)
        return sotto_fail(err, SOTTO_DENIED, "%.60s is of a session over two servers", run->folder);
    run->localised = true;
    SOTTO_TRY(learn_get_text(run, "recipe.json", d->recipe_text, sizeof d->recipe_text, err));
    return learn_get_fleet(run, err);
}

sotto_status learn_one_open(learn_run *run, bool fresh, sotto_err *err)
{
    static learn_one one; /* too large for a stack */
    const char *text = run->deployment.recipe_text;

    one.run = run;
    run->one = &one;
    sotto_arena_init(&one.scratch, (size_t)256 << 20);
    sotto_arena_init(&one.asking, (size_t)256 << 20);
    if (!fresh)
        SOTTO_TRY(read_folder(run, err));
    if (model_of(sotto_bytes_of(text, strlen(text)))->encrypted)
        return learn_encrypted_open(&one, err);
    SOTTO_TRY(demo_aggregator_start(&run->deployment, &one.server, err));
    return demo_witnesses_start(&run->deployment, &one.witnesses, err);
}

sotto_status learn_one_provision(learn_run *run, sotto_err *err)
{
    char text[64];

    SOTTO_TRY(sotto_random_bytes(run->fleet, sizeof run->fleet, err));
    SOTTO_TRY(learn_put_file(run, "recipe.json", run->learning->head.text, err));
    SOTTO_TRY(learn_keep_fleet(run, err));
    const learn_encrypted *encrypted = run->one->encrypted;
    (void)snprintf(text, sizeof text, "{\"aggregator\": %u, \"witness\": %u}\n",
                   run->one->server.process.port, encrypted ? encrypted->witness.process.port : 0);
    return learn_put_file(run, "deployment.json", sotto_bytes_of(text, strlen(text)), err);
}

/* ---- the epoch ------------------------------------------------------------------------------------------------------------ */

sotto_status learn_one_check(const learn_run *run, sotto_err *err)
{
    const uint64_t population = run->learning->head.population;
    sotto_one_server stated;

    if (population > LEARN_ONE_DEVICES)
        return sotto_fail(err, SOTTO_DENIED,
                          "%" PRIu64 " devices: over one server at most %d run on this machine: "
                          "--devices",
                          population, LEARN_ONE_DEVICES);
    if (sotto_learning_is_encrypted(run->learning))
        return learn_encrypted_check(run, err);
    if (!sotto_recipe_one_server(&stated, &run->learning->head))
        return sotto_fail(err, SOTTO_BUG, "a recipe of two servers");
    /* Whoever is registered is drawn. */
    if (population > stated.cohort || population < stated.decryptors)
        return sotto_fail(err, SOTTO_DENIED,
                          "%" PRIu64 " devices: all of them are drawn here, and the recipe wants "
                          "%" PRIu64 " decryptors and a cohort of at most %" PRIu64,
                          population, stated.decryptors, stated.cohort);
    return SOTTO_OK;
}

static void allow_files(uint32_t devices)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    const rlim_t wanted = (rlim_t)devices * FILES_EACH + 128;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* whoever lacks them says so */
    }
}

sotto_status learn_one_begin(learn_run *run, sotto_err *err)
{
    learn_one *one = run->one;
    sotto_fleet *f = &one->epoch;

    if (!one->encrypted && (!sotto_recipe_one_server(&one->stated, &run->learning->head) ||
                            !sotto_recipe_one_server_graph(&one->graph, &run->learning->head)))
        return sotto_fail(err, SOTTO_BUG, "a recipe of two servers");
    one->count = (uint32_t)run->learning->head.population;
    allow_files(one->count);
    f->exchanges_left = UINT_MAX;
    sotto_arena_init(&f->arena, (size_t)256 << 20);
    sotto_arena_init(&f->scratch, (size_t)256 << 20);
    sotto_fleet_aim(f, one->server.process.port);
    SOTTO_TRY(sotto_http_client_open(&f->client, &(sotto_http_client_options){0}, err));
    SOTTO_TRY(sotto_random_bytes(f->epoch.session, sizeof f->epoch.session, err));
    if (one->encrypted) {
        SOTTO_TRY(sotto_epoch_witnesses(&f->epoch, LEARN_ENCRYPTED_WITNESSES, &f->arena, err));
        SOTTO_TRY(learn_encrypted_begin(one, err));
    } else {
        SOTTO_TRY(demo_witnesses_meet(&run->deployment, &one->witnesses, err));
        sotto_witnesses_serve(&one->witnesses.asked, &f->epoch);
    }
    SOTTO_TRY(learn_one_policy(run, err));
    return learn_one_devices_open(one, err);
}

void learn_one_close(learn_run *run)
{
    learn_one *one = run->one;

    if (!one)
        return;
    learn_one_devices_close(one);
    sotto_fleet_close(&one->epoch);
    demo_process_stop(&one->server.process);
    if (one->encrypted)
        learn_encrypted_close(one);
    else
        demo_witnesses_stop(&one->witnesses);
    sotto_arena_clear(&one->scratch);
    sotto_arena_clear(&one->asking);
}

/* Members make the key over the aggregator's board; nobody ever has it. */
static sotto_status make_committee(learn_one *one, sotto_err *err)
{
    const uint64_t now = now_ms();
    const sotto_fleet_call wanted = {.members = (uint32_t)one->stated.decryptors,
                                     .step_ms = STEP_MS,
                                     .now = now,
                                     .ends = now + KEY_MS,
                                     .token = one->server.token};
    sotto_status status = SOTTO_AGAIN;
    sotto_bytes call;

    for (uint32_t i = 0; i < one->count; i++)
        one->devices[i].off = false;
    SOTTO_TRY(sotto_fleet_call_keygen(&one->epoch, &wanted, &call, err));
    SOTTO_TRY(learn_one_join(one, call, err));
    while (status == SOTTO_AGAIN) {
        if (demo_interrupted() || now_ms() >= wanted.ends)
            return sotto_fail(err, SOTTO_STALE, "the committee made no key");
        learn_one_tick(one);
        status = sotto_fleet_read_key(&one->epoch, call, NULL);
        if (status == SOTTO_AGAIN)
            pause_ms(PAUSE_MS);
    }
    one->served = 0;
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "the committee's board");
}

/* A committee serves as many rounds as the recipe says. */
static sotto_status keep_committee(learn_one *one, sotto_err *err)
{
    if (one->epoch.epoch.record.count > 0 && one->served < one->stated.epoch_rounds)
        return SOTTO_OK;
    SOTTO_TRY(make_committee(one, err));
    learn_say(one->run, "a committee of %u made its key", one->epoch.epoch.record.count);
    return SOTTO_OK;
}

/* ---- a round ---------------------------------------------------------------------------------------------------------------- */

static sotto_status post(learn_one *one, sotto_err *err)
{
    learn_run *run = one->run;
    const uint64_t now = now_ms();
    sotto_epoch_round round = {.number = run->record.round,
                               .ring = one->graph.wide ? SOTTO_RING_Z64 : SOTTO_RING_Z32,
                               .length = sotto_learning_length(run->learning),
                               .most = run->claim.most,
                               .least = run->learning->head.min_cohort,
                               .neighbours = (uint32_t)one->graph.neighbours,
                               .edge = sotto_one_server_edge(one->graph.degree, one->count),
                               .opens = now,
                               .closes = now + one->window_ms,
                               .verify_by = now + 2 * one->window_ms,
                               .release_by = now + 6 * one->window_ms};

    sotto_hash_once(round.recipe, SOTTO_SHA256, run->record_bytes);
    SOTTO_TRY(sotto_epoch_post(&one->epoch.epoch, &round, &one->posting, one->id, &run->round_arena,
                               err));
    sotto_arena_reset(&one->asking);
    return demo_aggregator_post(&one->server, one->epoch.client, one->posting, &one->asking, err);
}

static bool is_member(const learn_one *one, uint32_t device)
{
    const sotto_decryptors_record *r = &one->epoch.epoch.record;

    if (one->encrypted)
        return learn_encrypted_serves(one, device);
    for (uint32_t i = 0; i < r->count; i++)
        if (r->members[i] == device)
            return true;
    return false;
}

/* --drop: so many percent of devices are switched off in this round. Members of committees stay: their losses are another matter. */
static sotto_status switch_off(learn_one *one, sotto_err *err)
{
    for (uint32_t i = 0; i < one->count; i++) {
        uint8_t draw[2];

        SOTTO_TRY(sotto_random_bytes(draw, sizeof draw, err));
        one->devices[i].off =
            (uint64_t)(draw[0] << 8 | draw[1]) * 100 >> 16 < one->run->drop && !is_member(one, i);
    }
    return SOTTO_OK;
}

static sotto_status play(learn_one *one, bool *released, sotto_err *err)
{
    sotto_status status = SOTTO_AGAIN;

    while (status == SOTTO_AGAIN) {
        if (demo_interrupted())
            return sotto_fail(err, SOTTO_STALE, "interrupted");
        learn_one_tick(one);
        sotto_arena_reset(&one->asking);
        status = demo_aggregator_result(&one->server, one->epoch.client, one->id, released,
                                        one->reported, one->count, &one->asking, err);
        if (status == SOTTO_AGAIN)
            pause_ms(PAUSE_MS);
    }
    return status;
}

/* Two's complement in the round's ring. */
static sotto_status read_sum(learn_one *one, sotto_collection *out, sotto_err *err)
{
    const size_t count = (size_t)sotto_learning_length(one->run->learning),
                 width = one->encrypted || one->graph.wide ? 8 : 4;
    sotto_bytes sum;

    sotto_arena_reset(&one->asking);
    SOTTO_TRY(demo_aggregator_sum(&one->server, one->epoch.client, one->id, count * width, &sum,
                                  &one->asking, err));
    out->sums = sotto_arena_take_array(&one->run->round_arena, count, sizeof *out->sums);
    if (!out->sums)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the sum of a round");
    out->sum_count = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t v = 0;

        for (size_t b = 0; b < width; b++)
            v |= (uint64_t)sum.data[i * width + b] << 8 * b;
        if (width == 4 && v >> 31)
            v |= ~(uint64_t)0 << 32;
        out->sums[i].low = v;
    }
    for (uint32_t i = 0; i < one->count; i++)
        out->reports += one->reported[i];
    return SOTTO_OK;
}

/* How long devices need follows from how fast this machine's disk is. */
static sotto_status offer(learn_one *one, sotto_err *err)
{
    const uint64_t began = now_ms();

    SOTTO_TRY(learn_one_offer(one, err));
    const uint64_t wanted = LEAST_WINDOW_MS + WINDOW_FACTOR * (now_ms() - began);
    one->window_ms = wanted > one->window_ms ? wanted : one->window_ms;
    return SOTTO_OK;
}

/* How long devices have to train and to send. */
static uint64_t window_of(const learn_one *one)
{
    const learn_encrypted *e = one->encrypted;

    return e ? e->round.commit_by - e->round.opens : one->window_ms;
}

static void give_more_time(learn_one *one)
{
    one->window_ms *= 2;
    if (!one->encrypted)
        return;
    learn_encrypted_say(one);
    one->encrypted->patience *= 2;
}

/* Devices pay for a round once. One that is burnt, or that a killed run had posted, is not posted again: the session counts it as burnt,
 * and the next one has more time. */
sotto_status learn_one_round(learn_run *run, sotto_collection *out, sotto_err *err)
{
    learn_one *one = run->one;
    bool released = false;

    run->took_part = run->sent = 0;
    if (one->encrypted && learn_encrypted_was_posted(run))
        return SOTTO_OK;
    SOTTO_TRY(offer(one, err));
    if (!one->encrypted)
        SOTTO_TRY(keep_committee(one, err));
    SOTTO_TRY(one->encrypted ? learn_encrypted_post(one, err) : post(one, err));
    SOTTO_TRY(switch_off(one, err));
    const uint64_t began = now_ms();
    SOTTO_TRY(learn_one_take(one, err));
    const uint64_t took = now_ms() - began;
    learn_say(run, "round %" PRIu64 ": %" PRIu64 " of %u devices trained in %.1f s, of %.1f s",
              run->record.round, run->took_part, one->count, (double)took / 1000,
              (double)window_of(one) / 1000);
    SOTTO_TRY(play(one, &released, err));
    one->served++;
    for (uint32_t i = 0; i < one->count; i++)
        run->sent += one->reported[i];
    if (!released)
        give_more_time(one);
    return released ? read_sum(one, out, err) : SOTTO_OK;
}
