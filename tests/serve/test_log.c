/* A log and a witness as services: entries in, a cosigned checkpoint and tiles out, and forks and rollbacks refused. */
#define _POSIX_C_SOURCE 200809L
#include "base/alloc.h"
#include "base/clock.h"
#include "base/hex.h"
#include "crypto/hash.h"
#include "serve/host/operations.h"
#include "serve/host/options.h"
#include "serve/log/log_service.h"
#include "serve/witness/witness_service.h"
#include "support/database.h"
#include "support/http.h"
#include "tlog/bundle.h"
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

static uint64_t shifted_wall(void *context)
{
    (void)context;
    return sotto_clock_wall(&sotto_clock_system) + (uint64_t)atomic_load(&shift) * 1000000000U;
}

static uint64_t unshifted(void *context)
{
    (void)context;
    return sotto_clock_monotonic(&sotto_clock_system);
}

static const sotto_clock shifted = {shifted_wall, unshifted, NULL};

typedef struct keys {
    const char *directory;
    sotto_note_key log, witness;
    char log_name[64], witness_name[64], log_vkey[256], witness_vkey[256];
} keys;

static void write_file(sotto_test *t, const char *directory, const char *name, const void *text,
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
    write_file(t, directory, file, text.data, text.len, 0600);
    sotto_signer_clear(&signer);
}

static void make_keys(sotto_test *t, keys *k)
{
    k->directory = sotto_test_directory(t);
    (void)snprintf(k->log_name, sizeof k->log_name, "log.example/a");
    (void)snprintf(k->witness_name, sizeof k->witness_name, "witness.example/w");
    make_key(t, k->directory, "log.key", k->log_name, SOTTO_NOTE_ED25519, 1, &k->log, k->log_vkey);
    make_key(t, k->directory, "witness.key", k->witness_name, SOTTO_NOTE_COSIGNATURE, 2,
             &k->witness, k->witness_vkey);
    write_file(t, k->directory, "log.token", token, strlen(token), 0600);
    write_file(t, k->directory, "witness.logs", k->log_vkey, strlen(k->log_vkey), 0644);
}

static sotto_status start(sotto_test *t, const keys *k, sotto_serve_config *config,
                          const char *service, const char *database, const char *more,
                          sotto_host **host)
{
    char path[600], text[2000];
    const int len = snprintf(text, sizeof text,
                             "[%s]\nlisten = 127.0.0.1:0\noperations = 127.0.0.1:0\n"
                             "key = %s/%s.key\ndatastore_key = %s/%s.datastore\n%s",
                             service, k->directory, service, k->directory, service, more);

    (void)snprintf(path, sizeof path, "%s/%s.ini", k->directory, service);
    write_file(t, k->directory, strrchr(path, '/') + 1, text, (size_t)len, 0600);
    sotto_serve_config_clear(config);
    CHECK_OK(t, sotto_serve_config_read(config, &(sotto_config_sources){.file = path}, &t->err));
    config->host.database = database;
    config->host.clock = &shifted;
    return sotto_host_open(host, config->service, &config->host, config->own, &t->err);
}

static sotto_host *open_witness(sotto_test *t, const keys *k, const char *database)
{
    char more[700];
    sotto_host *host = NULL;

    (void)snprintf(more, sizeof more, "logs = %s/witness.logs\n", k->directory);
    CHECK_OK(t, start(t, k, &witness_config, "witness", database, more, &host));
    return host;
}

/* witness: its port; 0: the log has none. */
static sotto_status start_log(sotto_test *t, const keys *k, const char *database, unsigned witness,
                              sotto_host **host)
{
    char more[1200], line[600];
    const int len =
        snprintf(line, sizeof line, "%s http://127.0.0.1:%u/\n", k->witness_vkey, witness);

    int used = snprintf(more, sizeof more, "token = %s/log.token\ndirectory = %s/files\n",
                        k->directory, k->directory);

    write_file(t, k->directory, "log.witnesses", line, (size_t)len, 0644);
    if (witness > 0)
        (void)snprintf(more + used, sizeof more - (size_t)used, "witnesses = %s/log.witnesses\n",
                       k->directory);
    return start(t, k, &log_config, "log", database, more, host);
}

static sotto_host *open_log(sotto_test *t, const keys *k, const char *database, unsigned witness)
{
    sotto_host *host = NULL;

    CHECK_OK(t, start_log(t, k, database, witness, &host));
    return host;
}

static sotto_test_answer ask(sotto_test *t, unsigned port, const char *line, const char *field,
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

static sotto_test_answer get(sotto_test *t, unsigned port, const char *path)
{
    char line[200];

    (void)snprintf(line, sizeof line, "GET /%s", path);
    return ask(t, port, line, "", "", 0);
}

#define BY_TOKEN "Authorization: Bearer a-token-of-the-publisher\r\n"

/* The entry of a recipe, with its length in front as a bundle has it. */
static sotto_bytes entry_of(sotto_test *t, const char *recipe, sotto_bytes *alone)
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

static unsigned add(sotto_test *t, unsigned port, const char *recipe)
{
    sotto_bytes alone, body = entry_of(t, recipe, &alone);

    return ask(t, port, "POST /add", BY_TOKEN, body.data, body.len).status;
}

/* A log takes nothing before a witness has cosigned. */
static void add_in_time(sotto_test *t, unsigned port, const char *recipe)
{
    unsigned status;
    uint64_t until = 0;

    do {
        status = add(t, port, recipe);
    } while (status == 503 && sotto_test_waits(&until, 50));
    CHECK_EQUAL(t, 200, status);
}

/* A number among a service's metrics. */
static unsigned long metric(sotto_test *t, const sotto_host *host, const char *name)
{
    const sotto_test_answer answer = get(t, sotto_operations_port(host->operations), "metrics");
    char line[80];
    const char *found;

    (void)snprintf(line, sizeof line, "\n%s ", name);
    found = strstr(answer.body, line);
    CHECK(t, found != NULL);
    return found ? strtoul(found + strlen(line), NULL, 10) : 0;
}

static void await_metric(sotto_test *t, const sotto_host *host, const char *name)
{
    for (uint64_t until = 0; metric(t, host, name) == 0 && sotto_test_waits(&until, 50);)
        ;
    CHECK(t, metric(t, host, name) > 0);
}

/* A row of somebody's memory as it never was. */
typedef struct forgery {
    const char *sql;
    int64_t size;
    uint8_t root[SOTTO_MERKLE_HASH];
} forgery;

static sotto_status forge(sotto_tx *tx, void *context, sotto_err *err)
{
    const forgery *f = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, f->sql, err));
    sotto_sql_int(&q, 1, f->size);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(f->root, sizeof f->root));
    return sotto_sql_run(&q, NULL, err);
}

/* Waits until the checkpoint of that size is cosigned. */
static sotto_test_answer await_cosigned(sotto_test *t, const keys *k, unsigned port, uint64_t size)
{
    const sotto_log_trust trust = {&k->log, &k->witness, 1, 1};
    sotto_test_answer answer;
    sotto_checkpoint c;
    uint64_t until = 0;

    do {
        answer = get(t, port, "checkpoint");
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
static void path_of(char path[80], const keys *k)
{
    char digest[65];
    uint8_t origin[32];

    sotto_hash_once(origin, SOTTO_SHA256, k->log.name);
    sotto_hex_encode(digest, sotto_bytes_of(origin, sizeof origin));
    (void)snprintf(path, 80, "%s/checkpoint", digest);
}

static void what_is_published_is_cosigned_and_proved(sotto_test *t)
{
    keys k;
    sotto_host *witness, *log;
    sotto_test_answer answer, tile;
    sotto_inclusion inclusion = {.index = 1};
    const sotto_log_trust trust = {&k.log, &k.witness, 1, 1};
    sotto_bytes alone;
    sotto_checkpoint c;
    sotto_merkle_hash leaf;
    char path[80];

    make_keys(t, &k);
    witness = open_witness(t, &k, sotto_test_address(t));
    log = open_log(t, &k, sotto_test_address(t), sotto_host_port(witness));
    add_in_time(t, sotto_host_port(log), "one");
    CHECK_EQUAL(t, 200, add(t, sotto_host_port(log), "two"));
    answer = await_cosigned(t, &k, sotto_host_port(log), 2);
    CHECK(t, strstr(answer.head, "text/plain; charset=utf-8") != NULL);
    /* The second entry, by the tile that anybody may fetch. */
    tile = get(t, sotto_host_port(log), "tile/0/000.p/2");
    CHECK_EQUAL(t, 200, tile.status);
    CHECK_EQUAL(t, 2 * SOTTO_MERKLE_HASH, tile.body_len);
    memcpy(inclusion.proof.hashes, tile.body, SOTTO_MERKLE_HASH);
    inclusion.proof.count = 1;
    inclusion.checkpoint = sotto_bytes_of(answer.body, answer.body_len);
    (void)entry_of(t, "two", &alone);
    CHECK_OK(t, sotto_inclusion_check(&inclusion, &c, alone, &trust, &t->err));
    sotto_merkle_leaf(&leaf, alone);
    CHECK_BYTES(t, leaf.bytes, tile.body + SOTTO_MERKLE_HASH, SOTTO_MERKLE_HASH);
    CHECK_EQUAL(t, 200, get(t, sotto_host_port(log), "tile/entries/000.p/2").status);
    /* The witness shows what it cosigned. */
    path_of(path, &k);
    answer = get(t, sotto_host_port(witness), path);
    CHECK_EQUAL(t, 200, answer.status);
    CHECK_OK(t, sotto_checkpoint_open(&c, sotto_bytes_of(answer.body, answer.body_len), &trust,
                                      &t->err));
    CHECK_EQUAL(t, 404, get(t, sotto_host_port(witness), "00/checkpoint").status);
    sotto_host_close(log);
    sotto_host_close(witness);
}

static void only_the_publisher_appends(sotto_test *t)
{
    keys k;
    sotto_host *log;
    sotto_bytes alone, body;
    unsigned port;

    make_keys(t, &k);
    log = open_log(t, &k, sotto_test_address(t), 0);
    port = sotto_host_port(log);
    body = entry_of(t, "one", &alone);
    CHECK_EQUAL(t, 401, ask(t, port, "POST /add", "", body.data, body.len).status);
    CHECK_EQUAL(
        t, 401,
        ask(t, port, "POST /add", "Authorization: Bearer another\r\n", body.data, body.len).status);
    CHECK_EQUAL(t, 404, get(t, port, "tile/0/000.p/1").status);
    sotto_host_close(log);
}

static void a_log_takes_entries_that_it_knows(sotto_test *t)
{
    keys k;
    sotto_host *log;
    sotto_bytes alone, body;
    unsigned port;

    make_keys(t, &k);
    log = open_log(t, &k, sotto_test_address(t), 0);
    port = sotto_host_port(log);
    body = entry_of(t, "one", &alone);
    CHECK_EQUAL(t, 400, ask(t, port, "POST /add", BY_TOKEN, "", 0).status);
    CHECK_EQUAL(t, 400, ask(t, port, "POST /add", BY_TOKEN, body.data, body.len - 1).status);
    CHECK_EQUAL(t, 400, ask(t, port, "POST /add", BY_TOKEN, "\0\3one", 5).status);
    CHECK_EQUAL(t, 200, ask(t, port, "POST /add", BY_TOKEN, body.data, body.len).status);
    sotto_host_close(log);
}

/* A tile that was written for a tree that nobody signed: whoever saw it could not tell. */
static void only_signed_tiles_are_served(sotto_test *t)
{
    char directory[600];
    keys k;
    sotto_host *log;
    unsigned port;

    make_keys(t, &k);
    log = open_log(t, &k, sotto_test_address(t), 0);
    port = sotto_host_port(log);
    CHECK_EQUAL(t, 200, add(t, port, "one"));
    (void)snprintf(directory, sizeof directory, "%s/files", k.directory);
    CHECK_OK(t,
             sotto_log_file_replace(directory, "tile/0/000.p/2", sotto_bytes_of("x", 1), &t->err));
    CHECK_EQUAL(t, 200, get(t, port, "tile/0/000.p/1").status);
    CHECK_EQUAL(t, 404, get(t, port, "tile/0/000.p/2").status);
    CHECK_EQUAL(t, 404, get(t, port, "tile/0/000").status);
    CHECK_EQUAL(t, 404, get(t, port, "tile/0/x000/000").status);
    CHECK_EQUAL(t, 404, get(t, port, "tile/1/000.p/1").status);
    CHECK_EQUAL(t, 404, get(t, port, "vow").status);
    sotto_host_close(log);
}

static void a_log_goes_on_after_a_restart(sotto_test *t)
{
    const char *database = sotto_test_address(t), *second = sotto_test_address(t);
    keys k;
    sotto_host *witness, *log;

    make_keys(t, &k);
    witness = open_witness(t, &k, second);
    log = open_log(t, &k, database, sotto_host_port(witness));
    add_in_time(t, sotto_host_port(log), "one");
    (void)await_cosigned(t, &k, sotto_host_port(log), 1);
    sotto_host_close(log);
    log = open_log(t, &k, database, sotto_host_port(witness));
    add_in_time(t, sotto_host_port(log), "two");
    (void)await_cosigned(t, &k, sotto_host_port(log), 2);
    sotto_host_close(log);
    sotto_host_close(witness);
}

static void empty_files(sotto_test *t, const keys *k)
{
    char from[600], to[600];

    (void)snprintf(from, sizeof from, "%s/files", k->directory);
    (void)snprintf(to, sizeof to, "%s/files-away-%d", k->directory, (int)getpid());
    CHECK(t, rename(from, to) == 0);
}

/* The directory is gone, and the database remembers. */
static void a_directory_that_went_back_is_refused(sotto_test *t)
{
    const char *database = sotto_test_address(t);
    keys k;
    sotto_host *log;

    make_keys(t, &k);
    log = open_log(t, &k, database, 0);
    CHECK_EQUAL(t, 200, add(t, sotto_host_port(log), "one"));
    sotto_host_close(log);
    empty_files(t, &k);
    CHECK_STATUS(t, SOTTO_STALE, start_log(t, &k, database, 0, &log));
    CHECK_REASON(t, "was rolled back: it has 0 entries, and 1 were signed");
}

/* Both are gone, and the witness remembers: nothing more is signed. */
static void a_witness_shows_a_rollback(sotto_test *t)
{
    keys k;
    sotto_host *witness, *log;

    make_keys(t, &k);
    witness = open_witness(t, &k, sotto_test_address(t));
    log = open_log(t, &k, sotto_test_address(t), sotto_host_port(witness));
    add_in_time(t, sotto_host_port(log), "one");
    CHECK_EQUAL(t, 200, add(t, sotto_host_port(log), "two"));
    (void)await_cosigned(t, &k, sotto_host_port(log), 2);
    sotto_host_close(log);
    empty_files(t, &k);
    log = open_log(t, &k, sotto_test_address(t), sotto_host_port(witness));
    CHECK_EQUAL(t, 503, add(t, sotto_host_port(log), "other")); /* at once */
    await_metric(t, log, "sotto_log_rolled_back");
    CHECK_EQUAL(t, 503, add(t, sotto_host_port(log), "other"));
    sotto_host_close(log);
    sotto_host_close(witness);
}

/* Whoever lost both would sign other entries in the time until the first witness answers. */
static void a_log_waits_for_a_witness(sotto_test *t)
{
    keys k;
    sotto_host *log;

    make_keys(t, &k);
    log = open_log(t, &k, sotto_test_address(t), 1); /* nobody is there */
    CHECK_EQUAL(t, 503, add(t, sotto_host_port(log), "one"));
    CHECK_EQUAL(t, 0, metric(t, log, "sotto_log_entries"));
    CHECK_EQUAL(t, 0, metric(t, log, "sotto_log_confirmed"));
    sotto_host_close(log);
}

/* ---- a witness that takes its time --------------------------------------------------------------------------------- */

static atomic_bool held;

static sotto_status hold(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    (void)context;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE witnessed SET size = size", err));
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    atomic_store(&held, true);
    sotto_test_sleep_ms(700);
    return SOTTO_OK;
}

static void *hold_witness(void *witness)
{
    (void)(sotto_db_run(((sotto_host *)witness)->db, hold, NULL, NULL) == SOTTO_OK);
    return NULL;
}

/* Else a log that grows faster than its witnesses answer would never have a cosigned checkpoint. */
static void a_tree_is_cosigned_before_the_next_is_signed(sotto_test *t)
{
    keys k;
    sotto_host *witness, *log;
    pthread_t thread;

    make_keys(t, &k);
    witness = open_witness(t, &k, sotto_test_address(t));
    log = open_log(t, &k, sotto_test_address(t), sotto_host_port(witness));
    add_in_time(t, sotto_host_port(log), "one");
    (void)await_cosigned(t, &k, sotto_host_port(log), 1);
    const unsigned long before = metric(t, log, "sotto_log_cosignatures");
    atomic_store(&held, false);
    CHECK(t, pthread_create(&thread, NULL, hold_witness, witness) == 0);
    while (!atomic_load(&held))
        sotto_test_sleep_ms(5);
    CHECK_EQUAL(t, 200, add(t, sotto_host_port(log), "two")); /* signed, and not cosigned yet */
    CHECK_EQUAL(t, 200, add(t, sotto_host_port(log), "three"));
    CHECK(t, metric(t, log, "sotto_log_cosignatures") > before);
    (void)pthread_join(thread, NULL);
    (void)await_cosigned(t, &k, sotto_host_port(log), 3);
    sotto_host_close(log);
    sotto_host_close(witness);
}

/* The witness names nine entries, and has a checkpoint of one. */
static void a_number_that_nobody_signed_stops_nothing(sotto_test *t)
{
    forgery f = {.sql = "UPDATE witnessed SET size = ?1, root = ?2", .size = 9};
    keys k;
    sotto_host *witness, *log;

    make_keys(t, &k);
    witness = open_witness(t, &k, sotto_test_address(t));
    log = open_log(t, &k, sotto_test_address(t), sotto_host_port(witness));
    add_in_time(t, sotto_host_port(log), "one");
    (void)await_cosigned(t, &k, sotto_host_port(log), 1);
    CHECK_OK(t, sotto_db_run(witness->db, forge, &f, &t->err));
    CHECK_EQUAL(t, 200, add(t, sotto_host_port(log), "two"));
    await_metric(t, log, "sotto_log_unproved_sizes");
    CHECK_EQUAL(t, 0, metric(t, log, "sotto_log_rolled_back"));
    CHECK_EQUAL(t, 200, add(t, sotto_host_port(log), "three"));
    sotto_host_close(log);
    sotto_host_close(witness);
}

/* The witness has another tree of the log's size: each question gets the same answer. */
static void a_conflict_that_stays_is_asked_about_now_and_then(sotto_test *t)
{
    const char *database = sotto_test_address(t);
    forgery f = {.sql = "UPDATE witnessed SET size = ?1, root = ?2", .size = 1};
    keys k;
    sotto_host *witness, *log;

    make_keys(t, &k);
    witness = open_witness(t, &k, sotto_test_address(t));
    log = open_log(t, &k, database, sotto_host_port(witness));
    add_in_time(t, sotto_host_port(log), "one");
    (void)await_cosigned(t, &k, sotto_host_port(log), 1);
    sotto_host_close(log);
    CHECK_OK(t, sotto_db_run(witness->db, forge, &f, &t->err));
    log = open_log(t, &k, database, sotto_host_port(witness));
    await_metric(t, witness, "sotto_witness_forks");
    sotto_test_sleep_ms(2000);
    CHECK(t, metric(t, witness, "sotto_witness_refused") < 20);
    CHECK_EQUAL(t, 503, add(t, sotto_host_port(log), "two"));
    sotto_host_close(log);
    sotto_host_close(witness);
}

/* Devices believe no tree that was cosigned long ago. */
static void a_tree_that_does_not_grow_is_cosigned_again(sotto_test *t)
{
    keys k;
    sotto_host *witness, *log;
    const sotto_log_trust trust = {&k.log, &k.witness, 1, 1};
    sotto_checkpoint first, later = {0};

    make_keys(t, &k);
    witness = open_witness(t, &k, sotto_test_address(t));
    log = open_log(t, &k, sotto_test_address(t), sotto_host_port(witness));
    add_in_time(t, sotto_host_port(log), "one");
    sotto_test_answer answer = await_cosigned(t, &k, sotto_host_port(log), 1);
    CHECK_OK(t, sotto_checkpoint_open(&first, sotto_bytes_of(answer.body, answer.body_len), &trust,
                                      &t->err));
    atomic_fetch_add(&shift, 6 * 3600 + 60);
    for (int i = 0; i < 600 && later.cosigned < first.cosigned + 6 * 3600; i++) {
        sotto_test_sleep_ms(50);
        answer = get(t, sotto_host_port(log), "checkpoint");
        CHECK_OK(t, sotto_checkpoint_open(&later, sotto_bytes_of(answer.body, answer.body_len),
                                          &trust, &t->err));
    }
    CHECK(t, later.cosigned >= first.cosigned + 6 * 3600);
    CHECK_EQUAL(t, 1, later.size);
    sotto_host_close(log);
    sotto_host_close(witness);
    atomic_store(&shift, 0);
}

/* Another process wrote its own tree there, or an old copy came back. */
static void a_log_continues_its_database(sotto_test *t)
{
    forgery f = {.sql = "UPDATE signed SET size = ?1, root = ?2", .size = 9};
    keys k;
    sotto_host *log;

    make_keys(t, &k);
    log = open_log(t, &k, sotto_test_address(t), 0);
    CHECK_EQUAL(t, 200, add(t, sotto_host_port(log), "one"));
    CHECK_OK(t, sotto_db_run(log->db, forge, &f, &t->err));
    CHECK_EQUAL(t, 503, add(t, sotto_host_port(log), "two"));
    CHECK_EQUAL(t, 1, metric(t, log, "sotto_log_entries"));
    sotto_test_await(t, log->db, "SELECT size FROM signed", 9);
    sotto_host_close(log);
}

/* ---- the witness, asked by a log that lies ---------------------------------------------------------------------------------- */

static sotto_test_answer submit_with(sotto_test *t, const keys *k, unsigned port, uint64_t old,
                                     uint64_t size, uint8_t root, const char *origin,
                                     const char *strangers)
{
    static uint8_t memory[2][4096];
    const uint8_t seed[SOTTO_SIGN_SEED] = {1};
    sotto_note_signer signer = {.key = k->log};
    sotto_checkpoint c = {
        .origin = sotto_bytes_of(origin, strlen(origin)), .size = size, .root = {{root}}};
    sotto_buf note = sotto_buf_over(memory[0], 4096), body = sotto_buf_over(memory[1], 4096);
    sotto_witness_request request = {.old = old};
    size_t len;

    CHECK_OK(t, sotto_signer_init(&signer.signer, seed, &t->err));
    CHECK_OK(t, sotto_checkpoint_encode(&note, &c, &t->err));
    len = note.len;
    note.data[note.len++] = '\n';
    CHECK_OK(t, sotto_note_sign(&note, sotto_bytes_of(note.data, len), &signer, 0, &t->err));
    if (strangers) {
        memcpy(note.data + note.len, strangers, strlen(strangers));
        note.len += strlen(strangers);
    }
    request.note = sotto_buf_bytes(&note);
    CHECK_OK(t, sotto_witness_request_encode(&body, &request, &t->err));
    sotto_note_signer_clear(&signer);
    return ask(t, port, "POST /add-checkpoint", "", body.data, body.len);
}

static sotto_test_answer submit(sotto_test *t, const keys *k, unsigned port, uint64_t old,
                                uint64_t size, uint8_t root, const char *origin)
{
    return submit_with(t, k, port, old, size, root, origin, NULL);
}

/* Whoever submits may add lines: they are not the witness' to serve. */
static void a_stranger_s_line_is_not_served(sotto_test *t)
{
    keys k;
    const sotto_log_trust both = {&k.log, &k.witness, 1, 1};
    sotto_host *witness;
    sotto_test_answer answer;
    sotto_checkpoint c;
    char path[80];

    make_keys(t, &k);
    witness = open_witness(t, &k, sotto_test_address(t));
    CHECK_EQUAL(t, 200,
                submit_with(t, &k, sotto_host_port(witness), 0, 5, 1, "log.example/a",
                            "\xe2\x80\x94 stranger.example/s AAAAAAAAAAAA\n")
                    .status);
    path_of(path, &k);
    answer = get(t, sotto_host_port(witness), path);
    CHECK_EQUAL(t, 200, answer.status);
    CHECK(t, strstr(answer.body, "stranger") == NULL);
    CHECK_OK(
        t, sotto_checkpoint_open(&c, sotto_bytes_of(answer.body, answer.body_len), &both, &t->err));
    sotto_host_close(witness);
}

static void a_witness_refuses_a_fork_and_keeps_it(sotto_test *t)
{
    keys k;
    sotto_host *witness;
    sotto_test_answer answer;
    unsigned port;

    make_keys(t, &k);
    witness = open_witness(t, &k, sotto_test_address(t));
    port = sotto_host_port(witness);
    CHECK_EQUAL(t, 404, submit(t, &k, port, 0, 5, 1, "log.example/b").status);
    CHECK_EQUAL(t, 200, submit(t, &k, port, 0, 5, 1, "log.example/a").status);
    CHECK_EQUAL(t, 200, submit(t, &k, port, 5, 5, 1, "log.example/a").status);
    CHECK_EQUAL(t, 409, submit(t, &k, port, 5, 5, 2, "log.example/a").status);
    sotto_test_await(t, witness->db, "SELECT count(*) FROM fork WHERE size = 5", 1);
    CHECK_EQUAL(t, 422, submit(t, &k, port, 5, 6, 2, "log.example/a").status);
    CHECK_EQUAL(t, 400, submit(t, &k, port, 6, 5, 1, "log.example/a").status);
    answer = submit(t, &k, port, 0, 7, 3, "log.example/a");
    CHECK_EQUAL(t, 409, answer.status);
    CHECK(t, strcmp(answer.body, "5\n") == 0);
    CHECK(t, strstr(answer.head, "text/x.tlog.size") != NULL);
    CHECK_EQUAL(t, 400, ask(t, port, "POST /add-checkpoint", "", "old 1\n", 6).status);
    sotto_test_await(t, witness->db, "SELECT size FROM witnessed", 5);
    sotto_host_close(witness);
}

static void forget(void)
{
    sotto_serve_config_clear(&log_config);
    sotto_serve_config_clear(&witness_config);
}

/* The two public keys are lines alike, and each goes into a file of the other's. */
static void a_witness_in_a_log_s_place_is_refused(sotto_test *t)
{
    sotto_host *host = NULL;
    char more[700];
    keys k;

    make_keys(t, &k);
    write_file(t, k.directory, "witness.logs", k.witness_vkey, strlen(k.witness_vkey), 0644);
    (void)snprintf(more, sizeof more, "logs = %s/witness.logs\n", k.directory);
    CHECK_STATUS(t, SOTTO_DENIED,
                 start(t, &k, &witness_config, "witness", sotto_test_address(t), more, &host));
    CHECK_REASON(t, "key 1 is of a witness: list the public keys of logs");
}

static void a_log_in_a_witness_place_is_refused(sotto_test *t)
{
    sotto_host *host = NULL;
    keys k;

    make_keys(t, &k);
    (void)snprintf(k.witness_vkey, sizeof k.witness_vkey, "%s", k.log_vkey);
    CHECK_STATUS(t, SOTTO_DENIED, start_log(t, &k, sotto_test_address(t), 1, &host));
    CHECK_REASON(t, "key 1 is of a log: list the public keys of witnesses");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_is_published_is_cosigned_and_proved),
        CASE(only_the_publisher_appends),
        CASE(a_log_takes_entries_that_it_knows),
        CASE(only_signed_tiles_are_served),
        CASE(a_log_goes_on_after_a_restart),
        CASE(a_directory_that_went_back_is_refused),
        CASE(a_witness_shows_a_rollback),
        CASE(a_log_waits_for_a_witness),
        CASE(a_tree_is_cosigned_before_the_next_is_signed),
        CASE(a_number_that_nobody_signed_stops_nothing),
        CASE(a_conflict_that_stays_is_asked_about_now_and_then),
        CASE(a_tree_that_does_not_grow_is_cosigned_again),
        CASE(a_log_continues_its_database),
        CASE(a_stranger_s_line_is_not_served),
        CASE(a_witness_in_a_log_s_place_is_refused),
        CASE(a_log_in_a_witness_place_is_refused),
        CASE(a_witness_refuses_a_fork_and_keeps_it),
    };

    if (!sotto_test_at_end(forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
