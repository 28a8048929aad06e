/* Witnesses of a beacon on loopback, as their operators start them, and as whoever opens epochs asks them. */
#define _POSIX_C_SOURCE 200809L
#include "demo_witnesses.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void name_of(char out[32], unsigned i)
{
    (void)snprintf(out, 32, "beacon-%u", i);
}

/* What a run before this one left there. */
static void remove_old(const demo *d, const char *name)
{
    static const char *const ends[] = {".db", ".db-wal", ".db-shm", ".key", "-signing.key"};
    char path[DEMO_FILE + 32];

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s%s", d->folder, name, ends[i]);
        (void)unlink(path);
    }
}

static sotto_status make_keys(const demo *d, char texts[DEMO_WITNESSES][DEMO_NOTE_KEY],
                              sotto_err *err)
{
    char name[32], path[DEMO_FILE + 32], full[64], list[DEMO_WITNESSES * (DEMO_NOTE_KEY + 1)] = "";

    for (unsigned i = 0; i < DEMO_WITNESSES; i++) {
        sotto_buf public = sotto_buf_over(texts[i], DEMO_NOTE_KEY - 1);

        name_of(name, i);
        remove_old(d, name);
        (void)snprintf(path, sizeof path, "%s/%s-signing.key", d->folder, name);
        (void)snprintf(full, sizeof full, "witness.example/%s", name);
        SOTTO_TRY(sotto_log_key_make(path, full, SOTTO_NOTE_COSIGNATURE, &public, err));
        texts[i][public.len] = 0;
        (void)strncat(list, texts[i], sizeof list - strlen(list) - 1);
        (void)strncat(list, "\n", sizeof list - strlen(list) - 1);
    }
    return demo_write_file(d, "beacon.listed", list, err);
}

sotto_status demo_witnesses_start(const demo *d, demo_witnesses *w, sotto_err *err)
{
    char texts[DEMO_WITNESSES][DEMO_NOTE_KEY], name[32], lines[200];
    char list[DEMO_WITNESSES * (DEMO_NOTE_KEY + 40)] = "";
    size_t at = 0;

    SOTTO_TRY(make_keys(d, texts, err));
    SOTTO_TRY(demo_secret(d, "beacon.token", NULL, err));
    SOTTO_TRY(demo_write_file(d, "beacon.logs", "", err)); /* they watch no log here */
    for (unsigned i = 0; i < DEMO_WITNESSES; i++) {
        name_of(name, i);
        (void)snprintf(lines, sizeof lines,
                       "workers = 1\nkey = %s-signing.key\nlogs = beacon.logs\nbeacon_witnesses = "
                       "beacon.listed\nbeacon_token = beacon.token\n",
                       name);
        SOTTO_TRY(demo_process_start_as(d, &w->processes[i], "witness", name, lines, err));
        at += (size_t)snprintf(list + at, sizeof list - at, "%s http://127.0.0.1:%u/\n", texts[i],
                               w->processes[i].port);
    }
    return demo_write_file(d, "beacon.witnesses", list, err);
}

sotto_status demo_witnesses_meet(const demo *d, demo_witnesses *w, sotto_err *err)
{
    char list[DEMO_FILE], token[DEMO_FILE];

    (void)snprintf(list, sizeof list, "%s/beacon.witnesses", d->folder);
    (void)snprintf(token, sizeof token, "%s/beacon.token", d->folder);
    SOTTO_TRY(sotto_http_client_open(&w->client, &(sotto_http_client_options){0}, err));
    SOTTO_TRY(sotto_witnesses_open(&w->asked, w->client, list, token, err));
    return sotto_witnesses_meet(&w->asked, sotto_clock_wall(&sotto_clock_system) / 1000000, err);
}

void demo_witnesses_lose(demo_witnesses *w, unsigned i)
{
    demo_process_stop(&w->processes[i]);
}

void demo_witnesses_stop(demo_witnesses *w)
{
    for (unsigned i = 0; i < DEMO_WITNESSES; i++)
        demo_process_stop(&w->processes[i]);
    if (w->client) {
        sotto_witnesses_close(&w->asked);
        sotto_http_client_close(w->client);
    }
    w->client = NULL;
}
