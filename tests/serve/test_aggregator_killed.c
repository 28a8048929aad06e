/* `sotto serve aggregator` as a process of its own that is killed (SIGKILL) in the middle of rounds, and while a committee makes its
 * key. A member is a process of its own then, and is killed as well. */
#define _POSIX_C_SOURCE 200809L
#include "serve/aggregator_process.h"
#include "serve/device_process.h"

#include "aggregate/inbox.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/hex.h"
#include "support/fleet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ended with this program, also after a failure; 0: none runs. */
static pid_t member;

static void end_processes(void)
{
    aggregator_process_end();
    if (member > 0)
        (void)kill(member, SIGKILL);
}

enum { DEVICES = 5, LENGTH = 4, MINUTES = 60000 };

typedef struct killed {
    aggregator_process server;
    sotto_fleet fleet;
    uint64_t number;
    sotto_bytes posting;
    uint8_t id[SOTTO_ROUND_ID];
} killed;

static void open_killed(sotto_test *t, killed *k)
{
    memset(k, 0, sizeof *k);
    aggregator_process_open(t, &k->server);
    const sotto_fleet_options fleet = {.devices = DEVICES,
                                       .members = 3,
                                       .witnesses = 4,
                                       .folder = k->server.directory,
                                       .server_key = k->server.key,
                                       .port = k->server.port};
    CHECK_OK(t, sotto_fleet_open(&k->fleet, &fleet, &t->err));
    aggregator_process_await(t, &k->server, k->fleet.client);
}

static sotto_http_response ask(sotto_test *t, const killed *k, sotto_http_method method,
                               const char *what, sotto_bytes body)
{
    return aggregator_process_ask(t, &k->server, k->fleet.client, method, k->id, what, body);
}

static void restart(sotto_test *t, killed *k)
{
    aggregator_process_start(t, &k->server);
    aggregator_process_await(t, &k->server, k->fleet.client);
}

static void close_killed(sotto_test *t, killed *k)
{
    aggregator_process_close(t, &k->server);
    sotto_fleet_close(&k->fleet);
}

static uint64_t now_ms(void)
{
    return sotto_clock_wall(&sotto_clock_system) / 1000000;
}

/* With all the time in the world: what a busy machine delays is not lost. The window closes with the last report. */
static void begin_round(sotto_test *t, killed *k)
{
    const uint64_t now = now_ms() - 1;
    const sotto_epoch_round round = {.number = ++k->number,
                                     .ring = SOTTO_RING_Z64,
                                     .length = LENGTH,
                                     .most = 1000,
                                     .least = DEVICES,
                                     .neighbours = 1,
                                     .edge = UINT64_MAX,
                                     .opens = now,
                                     .closes = now + 10 * MINUTES,
                                     .verify_by = now + 20 * MINUTES,
                                     .release_by = now + 30 * MINUTES};

    CHECK_OK(t, sotto_epoch_post(&k->fleet.epoch, &round, &k->posting, k->id, &t->arena, &t->err));
    CHECK_EQUAL(t, 201, ask(t, k, SOTTO_HTTP_POST, NULL, k->posting).status);
    for (uint32_t i = 0; i < DEVICES; i++) {
        const uint64_t values[LENGTH] = {i, 10 * i, 100 * i, 1};

        CHECK_OK(t, sotto_duties_take(k->fleet.devices[i].duties, k->posting, i, SOTTO_DUTY_CLIENT,
                                      values, LENGTH, &t->err));
        k->fleet.devices[i].next_ms = 0;
    }
    for (uint32_t i = 0; i < k->fleet.epoch.record.count; i++) {
        const uint32_t index = k->fleet.epoch.record.members[i];

        CHECK_OK(t, sotto_duties_take(k->fleet.devices[index].duties, k->posting, index,
                                      SOTTO_DUTY_DECRYPTOR, NULL, 0, &t->err));
    }
}

static void tick(killed *k)
{
    uint64_t next;

    (void)!sotto_fleet_tick(&k->fleet, now_ms(), &next, NULL);
}

static void check_sum(sotto_test *t, killed *k)
{
    static const uint64_t wanted[LENGTH] = {10, 100, 1000, DEVICES};
    sotto_http_response r = {0};

    for (uint64_t until = 0; r.status != 200 && sotto_test_waits(&until, 20);) {
        tick(k);
        r = ask(t, k, SOTTO_HTTP_GET, "/sum", (sotto_bytes){NULL, 0});
        CHECK(t, r.status != 409); /* burnt */
    }
    CHECK_EQUAL(t, 200, r.status);
    CHECK_EQUAL(t, 8 * LENGTH, r.body.len);
    for (size_t i = 0; i < LENGTH; i++) {
        uint64_t got = 0;

        for (size_t b = 0; b < 8; b++)
            got |= (uint64_t)r.body.data[8 * i + b] << 8 * b;
        CHECK_EQUAL(t, wanted[i], got);
    }
}

static void a_server_that_is_killed_goes_on_where_it_was(sotto_test *t)
{
    static const unsigned after[] = {2, 5, 8, 11, 14};
    killed k;

    open_killed(t, &k);
    for (size_t i = 0; i < sizeof after / sizeof after[0]; i++) {
        begin_round(t, &k);
        k.fleet.exchanges_left = after[i];
        for (unsigned turn = 0; turn < 4; turn++) {
            tick(&k);
            sotto_test_pause_ms(30);
        }
        aggregator_process_kill(t, &k.server);
        restart(t, &k);
        k.fleet.exchanges_left = UINT_MAX;
        check_sum(t, &k);
    }
    close_killed(t, &k);
}

/* ---- a member as a process ------------------------------------------------------------------------------------- */

enum { COMMITTEE = 4 };

/* 0: no answer. */
static unsigned open_step(sotto_test *t, const killed *k, const sotto_keygen *call)
{
    static const uint8_t far[8] = {1};
    const sotto_http_field type = {"Content-Type", SOTTO_KEYGEN_SINCE_TYPE};
    char url[300], id[2 * SOTTO_KEYGEN_ID + 1];
    sotto_http_response response = {0};

    sotto_hex_encode(id, sotto_bytes_of(call->id, sizeof call->id));
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/keygens/%s/board", k->server.port, id);
    const sotto_http_call ask_it = {.method = SOTTO_HTTP_POST,
                                    .url = url,
                                    .fields = &type,
                                    .field_count = 1,
                                    .body = sotto_bytes_of(far, sizeof far),
                                    .attempts = 1};
    if (sotto_http_call_wait(k->fleet.client, &response, &ask_it, &t->arena, NULL) != SOTTO_OK ||
        response.status != 200)
        return 0;
    return response.body.data[0];
}

/* Every step waits for everybody: whoever was killed comes back. */
static void make_key_with_kills(sotto_test *t, killed *k, const sotto_keygen *call, uint32_t victim)
{
    unsigned last = 0, step = 0;

    member = device_process_start(t, &k->fleet, k->server.directory, victim);
    for (uint64_t until = 0; step != SOTTO_KEYGEN_OVER && sotto_test_waits(&until, 20);) {
        tick(k);
        step = open_step(t, k, call);
        if (step == last || step == 0)
            continue;
        last = step;
        until = 0;
        kill_process(t, &member);
        member = device_process_start(t, &k->fleet, k->server.directory, victim);
        if (step % 2 == 1) {
            aggregator_process_kill(t, &k->server);
            restart(t, k);
        }
    }
    CHECK_EQUAL(t, SOTTO_KEYGEN_OVER, step);
    kill_process(t, &member);
    CHECK_OK(t, sotto_fleet_revive(&k->fleet, victim, &t->err));
    tick(k);
}

static void a_key_is_made_while_server_and_member_are_killed(sotto_test *t)
{
    killed k;
    sotto_keygen call;
    sotto_bytes wire;

    open_killed(t, &k);
    const sotto_fleet_call wanted = {.members = COMMITTEE,
                                     .step_ms = 20 * MINUTES,
                                     .now = now_ms(),
                                     .ends = now_ms() + (uint64_t)100 * MINUTES,
                                     .token = "Bearer operator-of-the-test"};
    CHECK_OK(t, sotto_fleet_call_keygen(&k.fleet, &wanted, &wire, &t->err));
    CHECK_OK(t, sotto_keygen_open(&call, wire, &t->arena, &t->err));
    const uint32_t victim = call.members[1];
    sotto_fleet_kill(&k.fleet, victim);
    make_key_with_kills(t, &k, &call, victim);
    CHECK_OK(t, sotto_fleet_read_key(&k.fleet, wire, &t->err));
    for (uint32_t i = 0; i < COMMITTEE; i++)
        CHECK(t, k.fleet.epoch.record.is_signed[i]);
    begin_round(t, &k);
    check_sum(t, &k);
    close_killed(t, &k);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(a_server_that_is_killed_goes_on_where_it_was),
                                            CASE(a_key_is_made_while_server_and_member_are_killed)};

    if (device_process_is_asked(argc, argv))
        return device_process_play(argv[2]);

    return sotto_test_at_end(end_processes) ? RUN_TESTS(argc, argv, cases) : 1;
}
