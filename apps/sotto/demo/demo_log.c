/* A public log and its witness. Devices take the recipe, and the issuer's keys, only with a proof that they are on it. */
#define _POSIX_C_SOURCE 200809L
#include "demo.h"
#include "log_publish.h"

#include "base/arena.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MEMORY = 32 << 20, TRIES = 2400, PAUSE_MS = 50 };

static sotto_status make_key(demo *d, char out[DEMO_NOTE_KEY], const char *file, const char *name,
                             sotto_note_kind kind, sotto_err *err)
{
    sotto_buf public = sotto_buf_over(out, DEMO_NOTE_KEY - 1);
    char path[DEMO_FILE];

    (void)snprintf(path, sizeof path, "%s/%s", d->folder, file);
    SOTTO_TRY(sotto_log_key_make(path, name, kind, &public, err));
    out[public.len] = 0;
    return SOTTO_OK;
}

static sotto_status make_secrets(demo *d, sotto_err *err)
{
    SOTTO_TRY(
        make_key(d, d->log_key, "log-signing.key", "log.example/demo", SOTTO_NOTE_ED25519, err));
    SOTTO_TRY(make_key(d, d->witness_key, "witness-signing.key", "witness.example/demo",
                       SOTTO_NOTE_COSIGNATURE, err));
    return demo_secret(d, "log.token", NULL, err);
}

sotto_status demo_log_start(demo *d, sotto_err *err)
{
    char line[DEMO_NOTE_KEY + 64];

    if (!d->log_key[0])
        SOTTO_TRY(make_secrets(d, err));
    (void)snprintf(line, sizeof line, "%s\n", d->log_key);
    SOTTO_TRY(demo_write_file(d, "witness.logs", line, err));
    SOTTO_TRY(demo_process_start(d, &d->witness, "witness",
                                 "key = witness-signing.key\nlogs = witness.logs\n", err));
    (void)snprintf(line, sizeof line, "%s http://127.0.0.1:%u/\n", d->witness_key, d->witness.port);
    SOTTO_TRY(demo_write_file(d, "witnesses", line, err));
    return demo_process_start(
        d, &d->log_server, "log",
        "key = log-signing.key\ntoken = log.token\nwitnesses = witnesses\ndirectory = log-files\n",
        err);
}

sotto_status demo_log_open(demo *d, sotto_err *err)
{
    sotto_log_job *job = &d->log_job;

    (void)snprintf(d->log_url, sizeof d->log_url, "http://127.0.0.1:%u", d->log_server.port);
    (void)snprintf(d->log_token, sizeof d->log_token, "%s/log.token", d->folder);
    *job = (sotto_log_job){.verb = "demo",
                           .from = d->log_url,
                           .log = d->log_key,
                           .witnesses = {d->witness_key},
                           .witness_count = 1,
                           .token = d->log_token};
    sotto_arena_init(&job->arena, MEMORY);
    return sotto_log_job_open(job) == SOTTO_OK
               ? SOTTO_OK
               : sotto_fail(err, job->err.status, "%s", job->err.reason);
}

/* A log signs nothing before its witness has cosigned once, which takes a second or two after its start. */
sotto_status demo_log_put(demo *d, sotto_log_object *objects, size_t count, sotto_err *err)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    sotto_log_job *job = &d->log_job;
    sotto_status status = SOTTO_IO;

    for (int i = 0; i < TRIES && status == SOTTO_IO && !demo_interrupted(); i++) {
        if (i > 0)
            (void)nanosleep(&pause, NULL);
        sotto_err_clear(&job->err);
        sotto_arena_reset(&job->arena);
        status = sotto_log_publish(job, objects, count);
    }
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "log: %s", job->err.reason);
}

/* All in one tree: a device that saw a tree takes nothing of a larger one before it has seen how the log grew. */
sotto_status demo_log_publish(demo *d, sotto_err *err)
{
    sotto_log_object objects[] = {
        {.type = SOTTO_ENTRY_RECIPE, .bytes = d->offer},
        {.type = SOTTO_ENTRY_ISSUER_KEYS, .bytes = d->token_keys, .entry.serial = 1},
        {.type = SOTTO_ENTRY_ISSUER_KEYS, .bytes = d->helper_keys, .entry.serial = 1}};

    SOTTO_TRY(demo_log_open(d, err));
    SOTTO_TRY(demo_log_put(d, objects, d->without & DEMO_TOKENS ? 1 : d->arc ? 3 : 2, err));
    d->offer = objects[0].bundle;
    if (!(d->without & DEMO_TOKENS))
        d->token_keys = objects[1].bundle;
    if (d->arc)
        d->helper_keys = objects[2].bundle;
    return SOTTO_OK;
}

const sotto_log_trust *demo_log_trust(const demo *d)
{
    return d->without & DEMO_LOG ? NULL : &d->log_job.trust;
}

void demo_log_end(demo *d)
{
    if (d->log_job.verb)
        sotto_log_job_end(&d->log_job);
}
