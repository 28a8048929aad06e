/* A device of an application, built against what is installed, in a round over `sotto serve aggregator`. Its program is named by
 * SOTTO_ONE_SERVER_DEVICE (tests/build/one_server_device.c); eleven devices of this process play the others. */
#define _POSIX_C_SOURCE 200809L
#include "serve/aggregator_process.h"
#include "support/fleet.h"
#include "support/one_server.h"

#include "base/arena.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MINUTE = 60000 };

static pid_t child; /* 0: none */

static void end_processes(void)
{
    aggregator_process_end();
    if (child > 0)
        (void)kill(child, SIGKILL);
}

typedef struct scene {
    aggregator_process server;
    sotto_fleet fleet;
    sotto_bytes recipe, posting;
    sotto_epoch_round round;
    uint8_t id[SOTTO_ROUND_ID];
} scene;

static uint64_t now_ms(void)
{
    return sotto_clock_wall(&sotto_clock_system) / 1000000;
}

static void write_files(sotto_test *t, scene *s)
{
    const sotto_epoch *e = &s->fleet.epoch;
    uint8_t root[32];

    sotto_registry_root(&e->registry, root);
    s->recipe = sotto_test_one_server_recipe(t);
    aggregator_process_write(t, &s->server, "recipe", s->recipe);
    aggregator_process_write(t, &s->server, "policy",
                             sotto_test_one_server_policy(t, "[\"client\", \"decryptor\"]"));
    aggregator_process_write(t, &s->server, "registry", sotto_bytes_of(root, sizeof root));
    aggregator_process_write(
        t, &s->server, "secret",
        sotto_bytes_of(s->fleet.devices[0].secret, sizeof s->fleet.devices[0].secret));
    aggregator_process_write(
        t, &s->server, "witnesses",
        sotto_bytes_of(e->witnesses.verify, e->witnesses.count * sizeof *e->witnesses.verify));
}

static void open_scene(sotto_test *t, scene *s)
{
    memset(s, 0, sizeof *s);
    aggregator_process_open(t, &s->server);
    const sotto_fleet_options fleet = {
        .devices = ONE_SERVER_DEVICES,
        .witnesses = 4,
        .server_key = s->server.key,
        .port = s->server.port,
        .terms = {.least = ONE_SERVER_LEAST, .neighbours = ONE_SERVER_NEIGHBOURS}};
    CHECK_OK(t, sotto_fleet_open(&s->fleet, &fleet, &t->err));
    aggregator_process_await(t, &s->server, s->fleet.client);
    sotto_fleet_kill(&s->fleet, 0); /* the other process is this device */
    write_files(t, s);
    s->round = sotto_test_one_server_round(t, s->recipe, 1, 10);
    memcpy(s->fleet.terms.recipe, s->round.recipe, sizeof s->round.recipe);
}

static void start_device(sotto_test *t, const scene *s, const char *program)
{
    char url[64], said[300];
    char *const arguments[] = {"one_server_device", (char *)s->server.directory, url, NULL};
    posix_spawn_file_actions_t actions;
    extern char **environ;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/", s->server.port);
    (void)snprintf(said, sizeof said, "%s/said", s->server.directory);
    CHECK_EQUAL(t, 0, posix_spawn_file_actions_init(&actions));
    CHECK_EQUAL(t, 0,
                posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, said,
                                                 O_WRONLY | O_CREAT | O_TRUNC, 0600));
    CHECK_EQUAL(t, 0, posix_spawn(&child, program, &actions, NULL, arguments, environ));
    CHECK_EQUAL(t, 0, posix_spawn_file_actions_destroy(&actions));
}

static void tick(sotto_test *t, scene *s)
{
    uint64_t next;

    (void)t;
    (void)!sotto_fleet_tick(&s->fleet, now_ms(), &next, NULL);
}

/* All twelve make a key; nobody deals it. */
static void make_key(sotto_test *t, scene *s)
{
    const uint64_t now = now_ms();
    const sotto_fleet_call wanted = {.members = ONE_SERVER_DEVICES,
                                     .step_ms = 10 * MINUTE,
                                     .now = now,
                                     .ends = now + (uint64_t)60 * MINUTE,
                                     .token = AGGREGATOR_OPERATOR};
    sotto_status status = SOTTO_AGAIN;
    sotto_bytes call;

    CHECK_OK(t, sotto_fleet_call_keygen(&s->fleet, &wanted, &call, &t->err));
    aggregator_process_write(t, &s->server, "call", call);
    for (uint64_t until = 0; status == SOTTO_AGAIN && sotto_test_waits(&until, 20);) {
        tick(t, s);
        status = sotto_fleet_read_key(&s->fleet, call, NULL);
        for (uint32_t i = 0; status == SOTTO_OK && i < ONE_SERVER_DEVICES; i++)
            status = s->fleet.epoch.record.is_signed[i] ? SOTTO_OK : SOTTO_AGAIN;
    }
    CHECK_OK(t, status);
}

/* The others answer nothing but zeros, so the sum is what the other process sent. */
static void begin_round(sotto_test *t, scene *s)
{
    uint64_t *zeros = sotto_arena_take_array(&t->arena, (size_t)s->round.length, sizeof *zeros);

    CHECK(t, zeros);
    s->round = sotto_test_one_server_round(t, s->recipe, 1, 10);
    CHECK_OK(t,
             sotto_epoch_post(&s->fleet.epoch, &s->round, &s->posting, s->id, &t->arena, &t->err));
    CHECK_EQUAL(t, 201,
                aggregator_process_ask(t, &s->server, s->fleet.client, SOTTO_HTTP_POST, s->id, NULL,
                                       s->posting)
                    .status);
    for (uint32_t i = 1; i < ONE_SERVER_DEVICES; i++) {
        CHECK_OK(t, sotto_duties_take(s->fleet.devices[i].duties, s->posting, i, SOTTO_DUTY_CLIENT,
                                      zeros, (size_t)s->round.length, &t->err));
        CHECK_OK(t, sotto_duties_take(s->fleet.devices[i].duties, s->posting, i,
                                      SOTTO_DUTY_DECRYPTOR, NULL, 0, &t->err));
        s->fleet.devices[i].next_ms = 0;
    }
    aggregator_process_write(t, &s->server, "posting", s->posting);
}

/* Labels wait for the last vote for a quarter of an hour, so a sum that is there earlier has the other process' vote. */
static void check_sum(sotto_test *t, scene *s)
{
    sotto_http_response r = {0};
    uint64_t all = 0;

    for (uint64_t until = 0; r.status != 200 && sotto_test_waits(&until, 20);) {
        tick(t, s);
        r = aggregator_process_ask(t, &s->server, s->fleet.client, SOTTO_HTTP_GET, s->id, "/sum",
                                   (sotto_bytes){NULL, 0});
        CHECK(t, r.status != 409); /* burnt */
    }
    CHECK_EQUAL(t, 200, r.status);
    CHECK_EQUAL(t, 4 * s->round.length, r.body.len);
    for (size_t i = 0; r.body.data && i < s->round.length; i++) {
        const uint8_t *b = r.body.data + 4 * i;
        const uint64_t got =
            (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24;

        CHECK(t, got <= s->round.most);
        all += got;
    }
    CHECK(t, all > 0);
}

/* What the other process printed. */
static const char *end_device(sotto_test *t, const scene *s)
{
    static char said[2000];
    char path[300];
    int status;

    aggregator_process_write(t, &s->server, "stop", sotto_bytes_of("", 0));
    while (waitpid(child, &status, 0) < 0)
        CHECK_EQUAL(t, EINTR, errno);
    child = 0;
    CHECK(t, WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)snprintf(path, sizeof path, "%s/said", s->server.directory);
    FILE *file = fopen(path, "r");
    CHECK(t, file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    (void)fclose(file);
    return said;
}

static void an_installed_device_takes_part(sotto_test *t)
{
    const char *program = getenv("SOTTO_ONE_SERVER_DEVICE");
    char key[16];
    scene s;

    CHECK(t, program); /* tests/build/install.sh builds it */
    if (!program)
        return;
    open_scene(t, &s);
    start_device(t, &s, program);
    make_key(t, &s);
    begin_round(t, &s);
    check_sum(t, &s);
    const char *said = end_device(t, &s);
    const uint8_t *sign = s.fleet.epoch.registry.keys[0];
    (void)snprintf(key, sizeof key, "key %02x%02x%02x%02x\n", sign[0], sign[1], sign[2], sign[3]);
    CHECK(t, strstr(said, key));
    CHECK(t, strstr(said, "parts 3, transport\n"));
    CHECK(t, strstr(said, "launches#1 spent 2\n"));
    CHECK(t, strstr(said, "launches#1 left 0\n"));
    CHECK(t, strstr(said, "launches#1 acknowledged 0\n"));
    aggregator_process_close(t, &s.server);
    sotto_fleet_close(&s.fleet);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(an_installed_device_takes_part)};

    return sotto_test_at_end(end_processes) ? RUN_TESTS(argc, argv, cases) : 1;
}
