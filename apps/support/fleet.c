#define _POSIX_C_SOURCE 200809L
#include "support/fleet.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "query/sqlite.h"
#include "sotto/random.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- what a host does for a device --------------------------------------------------------------------------------- */

static sotto_status read_body(sotto_exchange *exchange, sotto_buf *out)
{
    size_t len;

    for (uint64_t at = 0; at < exchange->body_length; at += len) {
        SOTTO_TRY(exchange->read(exchange, at, out->data + out->len, out->cap - out->len, &len));
        if (len == 0)
            return SOTTO_IO;
        out->len += len;
    }
    return SOTTO_OK;
}

static sotto_status exchange_of(void *context, sotto_exchange *exchange)
{
    sotto_fleet *f = ((sotto_fleet_device *)context)->of;
    const sotto_http_field type = {"Content-Type", exchange->media_type};
    sotto_http_response response;
    sotto_buf body;

    if (f->exchanges_left == 0)
        return SOTTO_IO;
    f->exchanges_left -= f->exchanges_left != UINT_MAX;
    sotto_arena_reset(&f->scratch);
    SOTTO_TRY(sotto_buf_take(&body, &f->scratch, (size_t)exchange->body_length + 1, NULL));
    SOTTO_TRY(read_body(exchange, &body));
    const bool message = strstr(exchange->url, "/messages") != NULL;
    const uint32_t device = (uint32_t)((sotto_fleet_device *)context - f->devices);
    unsigned played = f->answers_with ? f->answers_with : message ? f->messages_with : 0;
    f->messages += message;
    if (f->keep_off && !played)
        played = f->keep_off(f, device, exchange->url, sotto_buf_bytes(&body));
    if (played) {
        const sotto_exchange_head only = {.size = sizeof only, .status = played};

        SOTTO_TRY(exchange->begin(exchange, &only));
        return exchange->take(exchange, f->answer.len ? f->answer.data : body.data, f->answer.len);
    }
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = exchange->url,
                                  .fields = &type,
                                  .field_count = 1,
                                  .body = sotto_buf_bytes(&body),
                                  .attempts = 1,
                                  .max_response = (size_t)exchange->most_answer};
    f->requests++;
    SOTTO_TRY(sotto_http_call_wait(f->client, &response, &call, &f->scratch, NULL));
    f->received += response.body.len;
    f->devices[device].sent += body.len;
    f->devices[device].received += response.body.len;
    if (f->bend && response.status == 200)
        f->bend(f, device, exchange->url, (uint8_t *)(size_t)response.body.data, response.body.len);
    const sotto_exchange_head head = {.size = sizeof head, .status = response.status};
    SOTTO_TRY(exchange->begin(exchange, &head));
    return exchange->take(exchange, response.body.data, response.body.len);
}

static sotto_status read_counter(void *context, uint64_t *generation, sotto_err *err)
{
    (void)err;
    *generation = ((sotto_fleet_device *)context)->counter;
    return SOTTO_OK;
}

static sotto_status raise_counter(void *context, uint64_t generation, sotto_err *err)
{
    sotto_fleet_device *d = context;

    if (d->counter_fails)
        return sotto_fail(err, SOTTO_IO, "the counter can't be raised");
    d->counter = generation > d->counter ? generation : d->counter;
    return SOTTO_OK;
}

/* ---- devices --------------------------------------------------------------------------------------------------------- */

sotto_status sotto_fleet_revive(sotto_fleet *f, uint32_t device, sotto_err *err)
{
    sotto_fleet_device *d = &f->devices[device];
    const sotto_duties_options options = {
        .journal = d->journal,
        .memory = f->memory,
        .secret = d->secret,
        .allowed = (SOTTO_DUTY_CLIENT | SOTTO_DUTY_DECRYPTOR | SOTTO_DUTY_CONTRIBUTOR |
                    SOTTO_DUTY_VERIFIER | SOTTO_DUTY_COMMITTEE | SOTTO_DUTY_NOISE) &
                   ~f->without,
        .own = f->own,
        .news = f->news,
        .witnesses = (const uint8_t(*)[SOTTO_P256_WIDE])f->epoch.witnesses.verify,
        .witness_count = f->epoch.witnesses.count,
        .terms = f->terms,
        .logs = f->logs,
        .log_count = f->log_count,
        .server = f->server,
        .host = {.exchange = exchange_of,
                 .counter = {.read = read_counter, .raise = raise_counter},
                 .context = d}};

    d->next_ms = 0;
    return sotto_duties_open(&d->duties, &options, err);
}

void sotto_fleet_kill(sotto_fleet *f, uint32_t device)
{
    sotto_duties_close(f->devices[device].duties);
    f->devices[device].duties = NULL;
}

void sotto_fleet_aim(sotto_fleet *f, unsigned port)
{
    (void)snprintf(f->server, sizeof f->server, "http://127.0.0.1:%u/", port);
}

static sotto_status make_devices(sotto_fleet *f, const char *folder, sotto_err *err)
{
    uint8_t(*keys)[SOTTO_SIGN_PUBLIC] = sotto_arena_take_array(&f->arena, f->count, sizeof *keys);
    uint8_t(*pair)[32] = sotto_arena_take_array(&f->arena, f->count, sizeof *pair);
    uint8_t(*channel)[32] = sotto_arena_take_array(&f->arena, f->count, sizeof *channel);

    f->devices = sotto_arena_take_array(&f->arena, f->count, sizeof *f->devices);
    if (!keys || !pair || !channel || !f->devices)
        return sotto_fail(err, SOTTO_NO_MEMORY, "devices");
    for (uint32_t i = 0; i < f->count; i++) {
        sotto_fleet_device *d = &f->devices[i];
        sotto_duty_keys of;

        d->of = f;
        if (folder)
            (void)snprintf(d->journal, sizeof d->journal, "%s/duties-%u.db", folder, i);
        else
            sotto_sqlite_memory_name(d->journal, sizeof d->journal);
        SOTTO_TRY(sotto_random_bytes(d->secret, sizeof d->secret, err));
        SOTTO_TRY(sotto_fleet_revive(f, i, err));
        SOTTO_TRY(sotto_duties_consent(d->duties, true, err));
        sotto_duties_keys(d->duties, &of);
        memcpy(keys[i], of.sign, sizeof of.sign);
        memcpy(pair[i], of.pair, sizeof of.pair);
        memcpy(channel[i], of.channel, sizeof of.channel);
    }
    f->epoch.registry.keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])keys;
    f->epoch.registry.pair = (const uint8_t(*)[32])pair;
    f->epoch.registry.channel = (const uint8_t(*)[32])channel;
    f->epoch.registry.count = f->count;
    return SOTTO_OK;
}

sotto_status sotto_fleet_install(sotto_fleet *f, sotto_err *err)
{
    sotto_epoch *e = &f->epoch;

    for (uint32_t i = 0; i < e->record.count; i++) {
        sotto_duties *d = f->devices[e->record.members[i]].duties;

        SOTTO_TRY(sotto_duties_put_share(d, e->session, e->number, e->committee.shares[i], err));
        SOTTO_TRY(sotto_duties_sign_committee(d, &e->record, i, e->record.signatures[i], err));
        e->record.is_signed[i] = true;
        sotto_wipe(e->committee.shares[i], 32);
    }
    return SOTTO_OK;
}

void sotto_fleet_expect(sotto_fleet *f, uint32_t members)
{
    if (f->terms.methods == 0)
        f->terms.methods = 1u << SOTTO_METHOD_FLAMINGO;
    if (f->terms.densest == 0)
        f->terms.densest = UINT64_MAX;
    if (f->terms.numbers == 0)
        f->terms.numbers = UINT64_MAX;
    if (f->terms.cohort == 0)
        f->terms.cohort = f->count;
    f->terms.committee = members;
    sotto_registry_root(&f->epoch.registry, f->terms.registry);
    for (uint32_t i = 0; i < f->count; i++)
        if (f->devices[i].duties)
            sotto_duties_expect(f->devices[i].duties, &f->terms);
}

sotto_status sotto_fleet_open(sotto_fleet *f, const sotto_fleet_options *options, sotto_err *err)
{
    memset(f, 0, sizeof *f);
    f->count = options->devices;
    f->memory = options->folder == NULL;
    f->exchanges_left = UINT_MAX;
    f->terms = options->terms;
    f->own = options->own;
    sotto_arena_init(&f->arena, (size_t)256 << 20);
    sotto_arena_init(&f->scratch, (size_t)256 << 20);
    sotto_fleet_aim(f, options->port);
    SOTTO_TRY(sotto_http_client_open(&f->client, &(sotto_http_client_options){0}, err));
    SOTTO_TRY(sotto_random_bytes(f->epoch.session, sizeof f->epoch.session, err));
    if (options->served)
        sotto_witnesses_serve(options->served, &f->epoch);
    else
        SOTTO_TRY(sotto_epoch_witnesses(&f->epoch, options->witnesses, &f->arena, err));
    SOTTO_TRY(make_devices(f, options->folder, err));
    memcpy(f->epoch.registry.server, options->server_key, SOTTO_SIGN_PUBLIC);
    if (options->members == 0)
        return SOTTO_OK;
    f->epoch.number = 1;
    SOTTO_TRY(sotto_epoch_draw(&f->epoch, options->members, &f->arena, err));
    sotto_fleet_expect(f, options->members);
    return sotto_fleet_install(f, err);
}

void sotto_fleet_close(sotto_fleet *f)
{
    for (uint32_t i = 0; f->devices && i < f->count; i++)
        sotto_fleet_kill(f, i);
    sotto_http_client_close(f->client);
    sotto_arena_clear(&f->scratch);
    sotto_arena_clear(&f->arena);
}

sotto_status sotto_fleet_tick_one(sotto_fleet *f, uint32_t device, uint64_t now_ms, sotto_err *err)
{
    sotto_fleet_device *d = &f->devices[device];

    return d->duties && d->next_ms <= now_ms
               ? sotto_duties_tick(d->duties, now_ms, &d->next_ms, err)
               : SOTTO_OK;
}

sotto_status sotto_fleet_tick(sotto_fleet *f, uint64_t now_ms, uint64_t *next_ms, sotto_err *err)
{
    sotto_status first = SOTTO_OK;

    *next_ms = UINT64_MAX;
    for (uint32_t i = 0; i < f->count; i++) {
        const sotto_fleet_device *d = &f->devices[i];
        const sotto_status status =
            sotto_fleet_tick_one(f, i, now_ms, first == SOTTO_OK ? err : NULL);

        first = first == SOTTO_OK ? status : first;
        if (d->duties && d->next_ms < *next_ms)
            *next_ms = d->next_ms;
    }
    return first;
}
