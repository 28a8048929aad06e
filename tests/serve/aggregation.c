#define _POSIX_C_SOURCE 200809L
#include "aggregation.h"

#include "base/hex.h"
#include "device/duties/journal.h"
#include "serve/aggregator/aggregator.h"
#include "serve/host/options.h"
#include "serve/host/steps.h"
#include "support/directory.h"
#include "tlog/key_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static sotto_serve_config config;

static void write_secret(sotto_test *t, const char *directory, const char *name, const char *text)
{
    char path[300];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "w");
    CHECK(t, file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0600) == 0);
}

static void make_key(sotto_test *t, aggregation *a)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {7};
    char text[SOTTO_NOTE_KEY_TEXT + 2];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);
    sotto_note_key key;

    CHECK_OK(t, sotto_signer_init(&a->signer, seed, &t->err));
    CHECK_OK(t, sotto_note_key_init(&key, sotto_bytes_of("aggregator", 10), SOTTO_NOTE_ED25519,
                                    a->signer.public_key, &t->err));
    CHECK_OK(t, sotto_note_signer_encode(&out, &key, seed, &t->err));
    text[out.len] = 0;
    write_secret(t, a->directory, "signing.key", text);
}

static void start(sotto_test *t, aggregation *a)
{
    config.host.clock = &a->clock;
    CHECK_OK(t, sotto_host_open(&a->host, config.service, &config.host, config.own, &t->err));
    sotto_fleet_aim(&a->fleet, sotto_host_port(a->host));
}

void aggregation_open(sotto_test *t, aggregation *a, uint32_t devices, uint32_t members,
                      const char *more)
{
    char path[300];
    FILE *file;

    memset(a, 0, sizeof *a);
    a->length = LENGTH;
    a->time.wall = (uint64_t)1800000000 * 1000000000;
    a->clock = sotto_sim_clock_of(&a->time);
    a->directory = sotto_test_directory(t);
    write_secret(t, a->directory, "operator", "operator-of-the-test\n");
    make_key(t, a);
    (void)snprintf(path, sizeof path, "%s/aggregator.ini", a->directory);
    file = fopen(path, "w");
    CHECK(t, file != NULL);
    CHECK(t, fprintf(file,
                     "[aggregator]\nlisten = 127.0.0.1:0\noperations = 127.0.0.1:0\n"
                     "operator_token = %s/operator\nsigning_key = %s/signing.key\n"
                     "datastore_key = %s/key\n%s",
                     a->directory, a->directory, a->directory, more) > 0);
    CHECK_EQUAL(t, 0, fclose(file));
    sotto_serve_config_clear(&config);
    CHECK_OK(t, sotto_serve_config_read(&config, &(sotto_config_sources){.file = path}, &t->err));
    CHECK(t, config.service == &sotto_aggregator_service);
    config.host.database = sotto_test_address(t);
    start(t, a);
    const sotto_fleet_options fleet = {.devices = devices,
                                       .members = members,
                                       .witnesses = 4,
                                       .folder = a->directory,
                                       .server_key = a->signer.public_key,
                                       .port = sotto_host_port(a->host)};
    CHECK_OK(t, sotto_fleet_open(&a->fleet, &fleet, &t->err));
}

sotto_host *aggregation_second(sotto_test *t, aggregation *a)
{
    config.host.clock = &a->clock;
    CHECK_OK(t, sotto_host_open(&a->second, config.service, &config.host, config.own, &t->err));
    return a->second;
}

void aggregation_close(aggregation *a)
{
    sotto_fleet_close(&a->fleet);
    sotto_host_close(a->second);
    sotto_host_close(a->host);
    sotto_signer_clear(&a->signer);
}

void aggregation_restart(sotto_test *t, aggregation *a)
{
    sotto_host_close(a->host);
    start(t, a);
    for (uint32_t i = 0; i < a->fleet.count; i++) {
        const bool was = a->fleet.devices[i].duties != NULL;

        sotto_fleet_kill(&a->fleet, i);
        if (was)
            CHECK_OK(t, sotto_fleet_revive(&a->fleet, i, &t->err));
    }
}

uint64_t aggregation_now(const aggregation *a)
{
    return sotto_clock_wall(&a->clock) / 1000000;
}

/* ---- asking --------------------------------------------------------------------------------------------------- */

const char *aggregation_place(sotto_test *t, const aggregation *a, const char *what)
{
    char id[2 * SOTTO_ROUND_ID + 1], *out = sotto_arena_take(&t->arena, 200);

    CHECK(t, out != NULL);
    sotto_hex_encode(id, sotto_bytes_of(a->id, sizeof a->id));
    (void)snprintf(out, 200, "rounds/%s%s", id, what);
    return out;
}

sotto_http_response aggregation_ask(sotto_test *t, const aggregation *a, sotto_http_method method,
                                    const char *place, const char *who, const char *type,
                                    sotto_bytes body)
{
    const sotto_http_field fields[] = {{"Authorization", who}, {"Content-Type", type}};
    sotto_http_response response;
    char url[400];

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", sotto_host_port(a->host), place);
    const sotto_http_call call = {.method = method,
                                  .url = url,
                                  .fields = fields,
                                  .field_count = 2,
                                  .body = body,
                                  .attempts = 1};
    CHECK_OK(t, sotto_http_call_wait(a->fleet.client, &response, &call, &t->arena, &t->err));
    return response;
}

unsigned aggregation_post(sotto_test *t, aggregation *a, uint64_t least)
{
    const uint64_t now = aggregation_now(a) + a->opens_in;
    const sotto_epoch_round round = {.number = ++a->number,
                                     .ring = SOTTO_RING_Z32,
                                     .length = a->length,
                                     .most = MOST,
                                     .least = least,
                                     .neighbours = 1,
                                     .edge = UINT64_MAX,
                                     .opens = now,
                                     .closes = now + 10000,
                                     .verify_by = now + 20000,
                                     .release_by = now + 60000};

    CHECK_OK(t, sotto_epoch_post(&a->fleet.epoch, &round, &a->posting, a->id, &t->arena, &t->err));
    return aggregation_ask(t, a, SOTTO_HTTP_POST, "rounds", OPERATOR, SOTTO_POSTING_TYPE,
                           a->posting)
        .status;
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

uint64_t aggregation_value(uint32_t device, size_t entry)
{
    return (device * UINT64_C(37) + entry * UINT64_C(101)) % MOST;
}

void aggregation_answer(sotto_test *t, aggregation *a, uint32_t device, bool client)
{
    sotto_duties *d = a->fleet.devices[device].duties;
    uint64_t *values = sotto_arena_take_array(&t->arena, a->length, sizeof *values);

    CHECK(t, values != NULL);
    for (size_t i = 0; i < a->length; i++)
        values[i] = aggregation_value(device, i);
    if (client)
        CHECK_OK(t, sotto_duties_take(d, a->posting, device, SOTTO_DUTY_CLIENT, values, a->length,
                                      &t->err));
    for (uint32_t i = 0; i < a->fleet.epoch.record.count; i++)
        if (a->fleet.epoch.record.members[i] == device)
            CHECK_OK(t, sotto_duties_take(d, a->posting, device, SOTTO_DUTY_DECRYPTOR, NULL, 0,
                                          &t->err));
    a->fleet.devices[device].next_ms = 0;
}

/* Whether nothing of a board waits for witnesses. */
static bool is_headed(const sotto_aggregator *server, const sotto_listed_round *one, uint64_t now)
{
    return server->witnesses.count == 0 ||
           !sotto_method_entry(sotto_running_posted(one->running)->method) ||
           (!one->heading && one->next_head > now);
}

/* Whether a server has done all that is due by the clock: it looked for rounds, and no round waits for a tick. */
static bool is_settled(const sotto_host *host, uint64_t now)
{
    sotto_aggregator *server = host->state;

    pthread_mutex_lock(&server->lock);
    bool settled = !server->looking && server->next_look > now;
    for (const sotto_listed_round *one = server->rounds; one; one = one->next)
        settled = settled && !one->ticking && sotto_running_wake(one->running) > now &&
                  is_headed(server, one, now);
    pthread_mutex_unlock(&server->lock);
    return settled;
}

/* The clock stands still until the server did what is due. Else a server whose threads stall would meet the end of a phase
 * before its beginning. */
static void settle(sotto_test *t, const aggregation *a, sotto_host *host)
{
    const uint64_t now = aggregation_now(a);
    bool settled = false;

    for (uint64_t until = 0; !settled;) {
        sotto_steps_wake(host->steps);
        settled = is_settled(host, now);
        if (!settled)
            CHECK(t, sotto_test_waits(&until, 1));
    }
}

void aggregation_turn(sotto_test *t, aggregation *a, unsigned ms)
{
    uint64_t next;

    (void)!sotto_fleet_tick(&a->fleet, aggregation_now(a), &next, NULL);
    sotto_sim_clock_advance(&a->time, (uint64_t)ms * 1000000);
    settle(t, a, a->host);
    if (a->second)
        settle(t, a, a->second);
}

bool aggregation_ends(sotto_test *t, aggregation *a, const char *how)
{
    const char *place = aggregation_place(t, a, "/result");
    char outcome[40];

    (void)snprintf(outcome, sizeof outcome, "\"outcome\": \"%s\"", how);
    for (uint64_t until = 0; sotto_test_waits(&until, 1);) {
        const sotto_http_response r = aggregation_ask(t, a, SOTTO_HTTP_GET, place, OPERATOR,
                                                      "text/plain", sotto_bytes_of(NULL, 0));

        CHECK_EQUAL(t, 200, r.status);
        if (sotto_test_holds(r.body, sotto_bytes_of(outcome, strlen(outcome))))
            return true;
        if (!sotto_test_holds(r.body, sotto_bytes_of("\"runs\"", 6)))
            return false;
        aggregation_turn(t, a, 250);
    }
    return false;
}

bool aggregation_sum_is(sotto_test *t, const aggregation *a, uint64_t devices)
{
    const sotto_http_response r =
        aggregation_ask(t, a, SOTTO_HTTP_GET, aggregation_place(t, a, "/sum"), OPERATOR,
                        "text/plain", sotto_bytes_of(NULL, 0));

    if (r.status != 200 || r.body.len != 4 * a->length)
        return false;
    for (size_t e = 0; e < a->length; e++) {
        const uint8_t *b = r.body.data + 4 * e;
        const uint32_t got =
            (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        uint64_t sum = 0;

        for (uint32_t i = 0; i < a->fleet.count; i++)
            if (devices >> i & 1)
                sum += aggregation_value(i, e);
        if (got != sum)
            return false;
    }
    return true;
}

sotto_bytes aggregation_waiting(sotto_test *t, const aggregation *a, uint32_t device)
{
    const sotto_sqlite_options file = {.path = a->fleet.devices[device].journal,
                                       .application = SOTTO_SQLITE_DUTIES,
                                       .version = 1,
                                       .max_value = 1 << 20};
    const sotto_device_host host = {0};
    sotto_journal_duty duty;
    sotto_bytes body;
    sotto_journal j;
    int64_t row;
    bool found;

    CHECK_OK(t, sotto_journal_open(&j, &file, &host, &t->err));
    CHECK_OK(t, sotto_journal_next(&j, &duty, 0, &found, &t->arena, &t->err));
    CHECK(t, found);
    CHECK_OK(t, sotto_journal_waiting(&j, duty.n, 0, &row, &body, &found, &t->arena, &t->err));
    CHECK(t, found);
    sotto_journal_close(&j);
    return body;
}
