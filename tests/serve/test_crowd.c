/* A round of 300 devices, 21 of them decryptors, and the aggregator: every one a process of its own. It prints how long the round took;
 * how long it may take depends on the machine, and is no test. Without SOTTO_TEST_LONG there are 24 devices. */
#define _POSIX_C_SOURCE 200809L
#include "serve/aggregator_process.h"
#include "serve/device_process.h"

#include "base/clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 300, LENGTH = 1024, MINUTES = 60000 };

static pid_t processes[MOST];

static void end_processes(void)
{
    aggregator_process_end();
    for (size_t i = 0; i < MOST; i++)
        if (processes[i] > 0)
            (void)kill(processes[i], SIGKILL);
}

typedef struct crowd {
    aggregator_process server;
    sotto_fleet fleet;
    uint32_t devices, members;
    sotto_bytes posting;
    uint8_t id[SOTTO_ROUND_ID];
} crowd;

static uint64_t now_ms(void)
{
    return sotto_clock_wall(&sotto_clock_system) / 1000000;
}

static void open_crowd(sotto_test *t, crowd *c)
{
    memset(c, 0, sizeof *c);
    c->devices = getenv("SOTTO_TEST_LONG") ? MOST : 24;
    c->members = getenv("SOTTO_TEST_LONG") ? 21 : 6;
    aggregator_process_open(t, &c->server);
    const sotto_fleet_options fleet = {.devices = c->devices,
                                       .members = c->members,
                                       .witnesses = 4,
                                       .folder = c->server.directory,
                                       .server_key = c->server.key,
                                       .port = c->server.port};
    CHECK_OK(t, sotto_fleet_open(&c->fleet, &fleet, &t->err));
    aggregator_process_await(t, &c->server, c->fleet.client);
}

/* The window closes with the last report. */
static void post(sotto_test *t, crowd *c)
{
    const uint64_t now = now_ms() - 1;
    const uint32_t degree = c->devices > 60 ? 40 : c->devices - 1;
    const sotto_epoch_round round = {.number = 1,
                                     .ring = SOTTO_RING_Z32,
                                     .length = LENGTH,
                                     .most = 1000,
                                     .least = c->devices,
                                     .neighbours = 1,
                                     .edge = UINT64_MAX / (c->devices - 1) * degree,
                                     .opens = now,
                                     .closes = now + 10 * MINUTES,
                                     .verify_by = now + 20 * MINUTES,
                                     .release_by = now + 30 * MINUTES};

    CHECK_OK(t, sotto_epoch_post(&c->fleet.epoch, &round, &c->posting, c->id, &t->arena, &t->err));
    CHECK_EQUAL(t, 201,
                aggregator_process_ask(t, &c->server, c->fleet.client, SOTTO_HTTP_POST, c->id, NULL,
                                       c->posting)
                    .status);
}

/* Its journal has the duties: the process finds them there. */
static void give_duties(sotto_test *t, crowd *c, uint32_t device)
{
    static uint64_t values[LENGTH];
    sotto_duties *d = c->fleet.devices[device].duties;

    for (size_t i = 0; i < LENGTH; i++)
        values[i] = (device + i) % 1000;
    CHECK_OK(t,
             sotto_duties_take(d, c->posting, device, SOTTO_DUTY_CLIENT, values, LENGTH, &t->err));
    for (uint32_t i = 0; i < c->fleet.epoch.record.count; i++)
        if (c->fleet.epoch.record.members[i] == device)
            CHECK_OK(t, sotto_duties_take(d, c->posting, device, SOTTO_DUTY_DECRYPTOR, NULL, 0,
                                          &t->err));
    sotto_fleet_kill(&c->fleet, device);
}

/* Until every report is in the sum. */
static void await_reports(sotto_test *t, const crowd *c)
{
    char wanted[40];
    bool there = false;

    (void)snprintf(wanted, sizeof wanted, "\"contributions\": %u,", c->devices);
    for (uint64_t until = 0; !there && sotto_test_waits(&until, 20);) {
        const sotto_http_response r =
            aggregator_process_ask(t, &c->server, c->fleet.client, SOTTO_HTTP_GET, c->id, "/result",
                                   (sotto_bytes){NULL, 0});

        there = r.status == 200 && sotto_test_holds(r.body, sotto_bytes_of(wanted, strlen(wanted)));
    }
    CHECK(t, there);
}

static void check_sum(sotto_test *t, const crowd *c)
{
    sotto_http_response r = {0};

    for (uint64_t until = 0; r.status != 200 && sotto_test_waits(&until, 50);)
        r = aggregator_process_ask(t, &c->server, c->fleet.client, SOTTO_HTTP_GET, c->id, "/sum",
                                   (sotto_bytes){NULL, 0});
    CHECK_EQUAL(t, 200, r.status);
    CHECK_EQUAL(t, (size_t)4 * LENGTH, r.body.len);
    for (size_t i = 0; i < LENGTH; i++) {
        const uint8_t *b = r.body.data + 4 * i;
        uint64_t sum = 0;

        for (uint32_t d = 0; d < c->devices; d++)
            sum += (d + i) % 1000;
        CHECK_EQUAL(t, sum,
                    (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 |
                        (uint64_t)b[3] << 24);
    }
}

static void a_crowd_of_processes_finishes_a_round(sotto_test *t)
{
    static crowd c;

    open_crowd(t, &c);
    post(t, &c);
    for (uint32_t i = 0; i < c.devices; i++)
        give_duties(t, &c, i);
    const uint64_t start = sotto_clock_ms();
    for (uint32_t i = 0; i < c.devices; i++)
        processes[i] = device_process_start(t, &c.fleet, c.server.directory, i);
    await_reports(t, &c);
    const uint64_t closed = sotto_clock_ms();
    check_sum(t, &c);
    printf("%u devices, %u decryptors: %.1f s until the last report, %.1f s more until the sum\n",
           c.devices, c.members, (double)(closed - start) / 1000,
           (double)(sotto_clock_ms() - closed) / 1000);
    for (uint32_t i = 0; i < c.devices; i++)
        kill_process(t, &processes[i]);
    aggregator_process_close(t, &c.server);
    sotto_fleet_close(&c.fleet);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(a_crowd_of_processes_finishes_a_round)};

    if (device_process_is_asked(argc, argv))
        return device_process_play(argv[2]);
    return sotto_test_at_end(end_processes) ? RUN_TESTS(argc, argv, cases) : 1;
}
