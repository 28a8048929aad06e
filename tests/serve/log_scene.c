#define _POSIX_C_SOURCE 200809L
#include "log_scene.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hex.h"
#include "crypto/hash.h"
#include "serve/host/options.h"
#include "serve/log/log_service.h"
#include "serve/witness/witness_service.h"
#include "tlog/files.h"
#include "tlog/store.h"
#include "tlog/witness.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char token[] = "a-token-of-the-publisher";
static sotto_serve_config log_config, witness_config;
static atomic_int_fast64_t shift; /* seconds by which the services' clock is ahead */

static _Atomic(const sotto_clock *) followed;

static uint64_t shifted_wall(void *context)
{
    const sotto_clock *clock = atomic_load(&followed);

    (void)context;
    return sotto_clock_wall(clock ? clock : &sotto_clock_system) +
           (uint64_t)atomic_load(&shift) * 1000000000U;
}

static uint64_t unshifted(void *context)
{
    (void)context;
    return sotto_clock_monotonic(&sotto_clock_system);
}

static const sotto_clock shifted = {shifted_wall, unshifted, NULL};

void sotto_logs_write_file(sotto_test *t, const char *directory, const char *name, const void *text,
                           size_t len, mode_t mode)
{
    char path[600];
    int fd;

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    CHECK(t, fd >= 0 && write(fd, text, len) == (ssize_t)len && close(fd) == 0);
}

/* A key for signing in a file, and its public half. */
static void make_key(sotto_test *t, const char *directory, const char *file, const char *name,
                     sotto_note_kind kind, uint8_t seed, sotto_note_key *key, char vkey[256])
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {seed};
    sotto_buf text = sotto_test_buf(t, SOTTO_NOTE_KEY_TEXT);
    sotto_buf out = sotto_buf_over(vkey, 255);
    sotto_signer signer;

    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    CHECK_OK(t, sotto_note_key_init(key, sotto_bytes_of(name, strlen(name)), kind,
                                    signer.public_key, &t->err));
    CHECK_OK(t, sotto_note_signer_encode(&text, key, bytes, &t->err));
    CHECK_OK(t, sotto_note_key_encode(&out, key, &t->err));
    vkey[out.len] = 0;
    sotto_logs_write_file(t, directory, file, text.data, text.len, 0600);
    sotto_signer_clear(&signer);
}

void sotto_logs_make_keys(sotto_test *t, sotto_logs_keys *k)
{
    k->directory = sotto_test_directory(t);
    (void)snprintf(k->log_name, sizeof k->log_name, "log.example/a");
    (void)snprintf(k->witness_name, sizeof k->witness_name, "witness.example/w");
    make_key(t, k->directory, "log.key", k->log_name, SOTTO_NOTE_ED25519, 1, &k->log, k->log_vkey);
    make_key(t, k->directory, "witness.key", k->witness_name, SOTTO_NOTE_COSIGNATURE, 2,
             &k->witness, k->witness_vkey);
    sotto_logs_write_file(t, k->directory, "log.token", token, strlen(token), 0600);
    sotto_logs_write_file(t, k->directory, "witness.logs", k->log_vkey, strlen(k->log_vkey), 0644);
}

static sotto_status start(sotto_test *t, const sotto_logs_keys *k, sotto_serve_config *config,
                          const char *service, const char *database, const char *more,
                          sotto_host **host)
{
    char path[600], text[2000];
    const int len = snprintf(text, sizeof text,
                             "[%s]\nlisten = 127.0.0.1:0\noperations = 127.0.0.1:0\n"
                             "key = %s/%s.key\ndatastore_key = %s/%s.datastore\n%s",
                             service, k->directory, service, k->directory, service, more);

    (void)snprintf(path, sizeof path, "%s/%s.ini", k->directory, service);
    sotto_logs_write_file(t, k->directory, strrchr(path, '/') + 1, text, (size_t)len, 0600);
    sotto_serve_config_clear(config);
    CHECK_OK(t, sotto_serve_config_read(config, &(sotto_config_sources){.file = path}, &t->err));
    config->host.database = database;
    config->host.clock = &shifted;
    return sotto_host_open(host, config->service, &config->host, config->own, &t->err);
}

sotto_host *sotto_logs_open_witness(sotto_test *t, const sotto_logs_keys *k, const char *database)
{
    char more[700];
    sotto_host *host = NULL;

    (void)snprintf(more, sizeof more, "logs = %s/witness.logs\n", k->directory);
    CHECK_OK(t, start(t, k, &witness_config, "witness", database, more, &host));
    return host;
}

/* witness: its port; 0: the log has none. */
sotto_status sotto_logs_start_log(sotto_test *t, const sotto_logs_keys *k, const char *database,
                                  unsigned witness, sotto_host **host)
{
    char more[1200], line[600];
    const int len =
        snprintf(line, sizeof line, "%s http://127.0.0.1:%u/\n", k->witness_vkey, witness);

    int used = snprintf(more, sizeof more, "token = %s/log.token\ndirectory = %s/files\n",
                        k->directory, k->directory);

    sotto_logs_write_file(t, k->directory, "log.witnesses", line, (size_t)len, 0644);
    if (witness > 0)
        (void)snprintf(more + used, sizeof more - (size_t)used, "witnesses = %s/log.witnesses\n",
                       k->directory);
    return start(t, k, &log_config, "log", database, more, host);
}

sotto_host *sotto_logs_open_log(sotto_test *t, const sotto_logs_keys *k, const char *database,
                                unsigned witness)
{
    sotto_host *host = NULL;

    CHECK_OK(t, sotto_logs_start_log(t, k, database, witness, &host));
    return host;
}

sotto_test_answer sotto_logs_ask(sotto_test *t, unsigned port, const char *line, const char *field,
                                 const void *body, size_t len)
{
    char head[600];
    const int fd = sotto_test_dial(t, (uint16_t)port);
    sotto_test_answer answer;

    (void)snprintf(head, sizeof head,
                   "%s HTTP/1.1\r\nHost: h\r\n%sConnection: close\r\nContent-Length: %zu\r\n\r\n",
                   line, field, len);
    sotto_test_send_text(t, fd, head);
    sotto_test_send(t, fd, body, len);
    answer = sotto_test_hear(t, fd);
    (void)close(fd);
    return answer;
}

sotto_test_answer sotto_logs_get(sotto_test *t, unsigned port, const char *path)
{
    char line[200];

    (void)snprintf(line, sizeof line, "GET /%s", path);
    return sotto_logs_ask(t, port, line, "", "", 0);
}

/* The entry of a recipe, with its length in front as a bundle has it. */
sotto_bytes sotto_logs_entry_of(sotto_test *t, const char *recipe, sotto_bytes *alone)
{
    sotto_tlog_entry entry = {.type = SOTTO_ENTRY_RECIPE};
    sotto_buf inner = sotto_test_buf(t, 256), out = sotto_test_buf(t, 256);
    sotto_writer w = sotto_writer_on(&out);

    sotto_hash_once(entry.digest, SOTTO_SHA256, sotto_bytes_of(recipe, strlen(recipe)));
    CHECK_OK(t, sotto_tlog_entry_encode(&inner, &entry, &t->err));
    sotto_write_opaque16(&w, sotto_buf_bytes(&inner));
    CHECK_OK(t, sotto_writer_finish(&w, "entry", &t->err));
    *alone = sotto_buf_bytes(&inner);
    return sotto_buf_bytes(&out);
}

unsigned sotto_logs_add(sotto_test *t, unsigned port, const char *recipe)
{
    sotto_bytes alone, body = sotto_logs_entry_of(t, recipe, &alone);

    return sotto_logs_ask(t, port, "POST /add", SOTTO_LOGS_BY_TOKEN, body.data, body.len).status;
}

/* A log takes nothing before a witness has cosigned. */
void sotto_logs_add_in_time(sotto_test *t, unsigned port, const char *recipe)
{
    unsigned status;
    uint64_t until = 0;

    do {
        status = sotto_logs_add(t, port, recipe);
    } while (status == 503 && sotto_test_waits(&until, 50));
    CHECK_EQUAL(t, 200, status);
}

/* A number among a service's metrics. */
unsigned long sotto_logs_metric(sotto_test *t, const sotto_host *host, const char *name)
{
    const sotto_test_answer answer =
        sotto_logs_get(t, sotto_operations_port(host->operations), "metrics");
    char line[80];
    const char *found;

    (void)snprintf(line, sizeof line, "\n%s ", name);
    found = strstr(answer.body, line);
    CHECK(t, found != NULL);
    return found ? strtoul(found + strlen(line), NULL, 10) : 0;
}

void sotto_logs_await_metric(sotto_test *t, const sotto_host *host, const char *name)
{
    for (uint64_t until = 0; sotto_logs_metric(t, host, name) == 0 && sotto_test_waits(&until, 50);)
        ;
    CHECK(t, sotto_logs_metric(t, host, name) > 0);
}

sotto_status sotto_logs_forge(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_logs_forgery *f = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, f->sql, err));
    sotto_sql_int(&q, 1, f->size);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(f->root, sizeof f->root));
    return sotto_sql_run(&q, NULL, err);
}

/* Waits until the checkpoint of that size is cosigned. */
sotto_test_answer sotto_logs_await_cosigned(sotto_test *t, const sotto_logs_keys *k, unsigned port,
                                            uint64_t size)
{
    const sotto_log_trust trust = {&k->log, &k->witness, 1, 1};
    sotto_test_answer answer;
    sotto_checkpoint c;
    uint64_t until = 0;

    do {
        answer = sotto_logs_get(t, port, "checkpoint");
        CHECK_EQUAL(t, 200, answer.status);
        if (sotto_checkpoint_open(&c, sotto_bytes_of(answer.body, answer.body_len), &trust, NULL) ==
                SOTTO_OK &&
            c.size == size)
            return answer;
    } while (sotto_test_waits(&until, 50));
    CHECK(t, !"cosigned in time");
    return answer;
}

/* Where a witness shows the last checkpoint of the log. */
void sotto_logs_path_of(char path[80], const sotto_logs_keys *k)
{
    char digest[65];
    uint8_t origin[32];

    sotto_hash_once(origin, SOTTO_SHA256, k->log.name);
    sotto_hex_encode(digest, sotto_bytes_of(origin, sizeof origin));
    (void)snprintf(path, 80, "%s/checkpoint", digest);
}

void sotto_logs_follow(const sotto_clock *clock)
{
    atomic_store(&followed, clock);
}

void sotto_logs_shift(int64_t seconds)
{
    atomic_store(&shift, seconds);
}

void sotto_logs_forget(void)
{
    sotto_serve_config_clear(&log_config);
    sotto_serve_config_clear(&witness_config);
}

sotto_status sotto_logs_start_witness(sotto_test *t, const sotto_logs_keys *k, const char *database,
                                      const char *more, sotto_host **host)
{
    return start(t, k, &witness_config, "witness", database, more, host);
}
