#define _POSIX_C_SOURCE 200809L
#include "serve/device_process.h"

#include "base/clock.h"

#include <limits.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *self;

bool device_process_is_asked(int argc, char **argv)
{
    self = argv[0];
    return argc == 3 && strcmp(argv[1], "--play-device") == 0;
}

enum { WITNESSES = 4 };

/* What a device knows, in a file. */
typedef struct known {
    char journal[SOTTO_FLEET_PATH], server[64];
    uint8_t secret[SOTTO_DUTIES_SECRET], witnesses[WITNESSES][SOTTO_P256_WIDE];
    sotto_duties_terms terms;
} known;

static uint64_t now_ms(void)
{
    return sotto_clock_wall(&sotto_clock_system) / 1000000;
}

int device_process_play(const char *path)
{
    static sotto_fleet_device device;
    static sotto_fleet f;
    static known what;
    FILE *file = fopen(path, "rb");
    uint64_t next;

    if (!file || fread(&what, sizeof what, 1, file) != 1 || fclose(file) != 0)
        return 1;
    f = (sotto_fleet){
        .count = 1, .devices = &device, .exchanges_left = UINT_MAX, .terms = what.terms};
    f.epoch.witnesses = (sotto_shared_key){.count = WITNESSES, .verify = what.witnesses};
    device.of = &f;
    memcpy(f.server, what.server, sizeof f.server);
    memcpy(device.journal, what.journal, sizeof device.journal);
    memcpy(device.secret, what.secret, sizeof device.secret);
    sotto_arena_init(&f.arena, 1 << 20);
    sotto_arena_init(&f.scratch, (size_t)64 << 20);
    if (sotto_http_client_open(&f.client, &(sotto_http_client_options){0}, NULL) != SOTTO_OK ||
        sotto_fleet_revive(&f, 0, NULL) != SOTTO_OK)
        return 1;
    for (const pid_t parent = getppid(); getppid() == parent;) {
        (void)!sotto_fleet_tick(&f, now_ms(), &next, NULL);
        sotto_test_pause_ms(20);
    }
    return 0;
}

pid_t device_process_start(sotto_test *t, const sotto_fleet *fleet, const char *directory,
                           uint32_t index)
{
    const sotto_fleet_device *d = &fleet->devices[index];
    char path[300];
    static known what;
    pid_t process = 0;
    FILE *file;

    memcpy(what.journal, d->journal, sizeof what.journal);
    memcpy(what.server, fleet->server, sizeof what.server);
    memcpy(what.secret, d->secret, sizeof what.secret);
    memcpy(what.witnesses, fleet->epoch.witnesses.verify, sizeof what.witnesses);
    what.terms = fleet->terms;
    (void)snprintf(path, sizeof path, "%.250s/device-%u", directory, index);
    file = fopen(path, "wb");
    CHECK(t, file && fwrite(&what, sizeof what, 1, file) == 1 && fclose(file) == 0);
    char *const arguments[] = {(char *)(uintptr_t)self, "--play-device", path, NULL};
    extern char **environ;
    CHECK_EQUAL(t, 0, posix_spawn(&process, self, NULL, NULL, arguments, environ));
    return process;
}
