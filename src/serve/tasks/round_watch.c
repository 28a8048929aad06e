/* A thread that reads a log over HTTP, and waits longer after each failure. */
#define _POSIX_C_SOURCE 200809L
#include "base/alloc.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/rule.h"
#include "serve/host/health.h"
#include "serve/tasks/round_log.h"
#include "serve/tasks/server.h"
#include "tlog/key_file.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { EVERY_MS = 1000, LONGEST_MS = 60000, MEMORY = 8 << 20, URL = 2048, TIMEOUT_MS = 10000 };

struct sotto_round_watch {
    sotto_server *server;
    const char *url;
    sotto_key_file keys;
    sotto_round_log *rounds;
    sotto_http_client *client;
    sotto_arena arena; /* of one answer */
    pthread_t thread;
    bool running;
    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t woken;
    bool stopping;
};

static bool is_stopping(sotto_round_watch *w)
{
    bool stopping;

    (void)pthread_mutex_lock(&w->lock);
    stopping = w->stopping;
    (void)pthread_mutex_unlock(&w->lock);
    return stopping;
}

/* A long log is many files: a server that stops waits for one of them at most. */
static sotto_status fetch(void *context, const char *path, sotto_buf *out, sotto_err *err)
{
    sotto_round_watch *w = context;
    sotto_writer to = sotto_writer_on(out);
    sotto_http_response response;
    sotto_status status;
    char url[URL];

    if (is_stopping(w))
        return sotto_fail(err, SOTTO_IO, "the server stops");
    (void)snprintf(url, sizeof url, "%s%s%s", w->url, w->url[strlen(w->url) - 1] == '/' ? "" : "/",
                   path);
    status = sotto_http_call_wait(w->client, &response,
                                  &(sotto_http_call){.method = SOTTO_HTTP_GET,
                                                     .url = url,
                                                     .attempts = 1,
                                                     .timeout_ms = TIMEOUT_MS,
                                                     .max_response = SOTTO_LOG_BUNDLE_MAX},
                                  &w->arena, err);
    if (status == SOTTO_OK && response.status != 200)
        status = sotto_fail(err, response.status == 404 ? SOTTO_MISSING : SOTTO_IO,
                            "the log answered with status %u", response.status);
    if (status == SOTTO_OK) {
        sotto_write_bytes(&to, response.body);
        status = sotto_writer_finish(&to, "answer of a log", err);
    }
    sotto_arena_reset(&w->arena);
    return status;
}

/* False: it is time to end. */
static bool rest(sotto_round_watch *w, uint64_t milliseconds)
{
    struct timespec until;
    bool go_on;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(milliseconds / 1000);
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    (void)pthread_mutex_lock(&w->lock);
    if (!w->stopping)
        (void)pthread_cond_timedwait(&w->woken, &w->lock, &until);
    go_on = !w->stopping;
    (void)pthread_mutex_unlock(&w->lock);
    return go_on;
}

static void *watch(void *context)
{
    sotto_round_watch *w = context;
    const sotto_log_source source = {fetch, w};
    uint64_t wait = EVERY_MS;

    do {
        sotto_err err = {0};
        const sotto_status status =
            sotto_round_log_look(w->rounds, &source, sotto_host_seconds(w->server->host), &err);

        if (status == SOTTO_OK) {
            wait = EVERY_MS;
            continue;
        }
        sotto_log(w->server->log, SOTTO_LOG_WARNING, "rounds.unread",
                  sotto_log_text("reason", err.reason));
        wait = wait * 2 < LONGEST_MS ? wait * 2 : LONGEST_MS;
    } while (rest(w, wait));
    return NULL;
}

static sotto_status start(sotto_round_watch *w, const char *keys, uint64_t quorum, sotto_err *err)
{
    const sotto_host_options *host = &w->server->host->options;
    sotto_log_trust trust;

    SOTTO_TRY(sotto_key_file_read(&w->keys, keys, err));
    if (w->keys.count == 0 || w->keys.keys[0].kind != SOTTO_NOTE_ED25519)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "rounds_keys: the first line must be the public key of the log");
    trust = (sotto_log_trust){.log = &w->keys.keys[0],
                              .witnesses = &w->keys.keys[1],
                              .witness_count = w->keys.count - 1,
                              .quorum = quorum ? (size_t)quorum : w->keys.count - 1};
    if (SOTTO_RULE(rounds_are_witnessed) && trust.quorum == 0)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "rounds_keys: a witness must follow the log's key: a log alone can show "
                          "each server other rounds");
    if (trust.quorum > trust.witness_count)
        return sotto_fail(err, SOTTO_MALFORMED, "rounds_quorum: rounds_keys has fewer witnesses");
    SOTTO_TRY(sotto_round_log_new(&w->rounds, w->server, &trust, err));
    SOTTO_TRY(sotto_http_client_open(&w->client,
                                     &(sotto_http_client_options){.ca_file = host->ca_file}, err));
    if (pthread_create(&w->thread, NULL, watch, w) != 0)
        return sotto_fail(err, SOTTO_IO, "no thread that reads the log of rounds");
    w->running = true;
    return SOTTO_OK;
}

sotto_status sotto_round_watch_open(sotto_round_watch **out, sotto_server *server, const char *url,
                                    const char *keys, uint64_t quorum, sotto_err *err)
{
    sotto_round_watch *w = sotto_alloc(sizeof *w);
    sotto_status status;

    if (!w)
        return sotto_fail(err, SOTTO_NO_MEMORY, "rounds of a log");
    w->server = server;
    w->url = url;
    sotto_arena_init(&w->arena, MEMORY);
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->woken, NULL);
    status = start(w, keys, quorum, err);
    if (status != SOTTO_OK) {
        sotto_round_watch_close(w);
        return status;
    }
    *out = w;
    return SOTTO_OK;
}

void sotto_round_watch_stop(sotto_round_watch *w)
{
    if (!w)
        return;
    (void)pthread_mutex_lock(&w->lock);
    w->stopping = true;
    (void)pthread_cond_signal(&w->woken);
    (void)pthread_mutex_unlock(&w->lock);
    if (w->running)
        (void)pthread_join(w->thread, NULL); /* a call that is under way ends within TIMEOUT_MS */
    w->running = false;
    sotto_http_client_close(w->client);
    w->client = NULL;
}

void sotto_round_watch_close(sotto_round_watch *w)
{
    if (!w)
        return;
    sotto_round_watch_stop(w);
    sotto_round_log_free(w->rounds);
    sotto_arena_clear(&w->arena);
    (void)pthread_cond_destroy(&w->woken);
    (void)pthread_mutex_destroy(&w->lock);
    sotto_release(w, sizeof *w);
}

void sotto_round_watch_describe(sotto_round_watch *w, sotto_buf *out)
{
    sotto_round_log_view view;

    if (!w)
        return;
    sotto_round_log_see(w->rounds, &view);
    if (view.unread[0]) {
        sotto_health_say(out, "rounds: the log can't be read: ");
        sotto_health_say(out, view.unread);
        sotto_health_say(out, "\n");
    }
    if (view.refused > 0) {
        sotto_health_say_number(out, "rounds: ", view.refused,
                                view.refused == 1 ? " record is refused: "
                                                  : " records are refused, the last: ");
        sotto_health_say(out, view.refusal);
        sotto_health_say(out, "\n");
    }
}
