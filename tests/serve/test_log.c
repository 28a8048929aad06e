/* A log and a witness as services: entries in, a cosigned checkpoint and tiles out, and forks and rollbacks refused. */
#define _POSIX_C_SOURCE 200809L
#include "base/alloc.h"
#include "base/clock.h"
#include "base/hex.h"
#include "crypto/hash.h"
#include "log_scene.h"
#include "serve/host/operations.h"
#include "serve/host/options.h"
#include "serve/log/log_service.h"
#include "serve/witness/witness_service.h"
#include "support/database.h"
#include "support/health.h"
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

static void what_is_published_is_cosigned_and_proved(sotto_test *t)
{
    sotto_logs_keys k;
    sotto_host *witness, *log;
    sotto_test_answer answer, tile;
    sotto_inclusion inclusion = {.index = 1};
    const sotto_log_trust trust = {&k.log, &k.witness, 1, 1};
    sotto_bytes alone;
    sotto_checkpoint c;
    sotto_merkle_hash leaf;
    char path[80];

    sotto_logs_make_keys(t, &k);
    witness = sotto_logs_open_witness(t, &k, sotto_test_address(t));
    log = sotto_logs_open_log(t, &k, sotto_test_address(t), sotto_host_port(witness));
    sotto_logs_add_in_time(t, sotto_host_port(log), "one");
    CHECK_EQUAL(t, 200, sotto_logs_add(t, sotto_host_port(log), "two"));
    answer = sotto_logs_await_cosigned(t, &k, sotto_host_port(log), 2);
    CHECK(t, strstr(answer.head, "text/plain; charset=utf-8") != NULL);
    /* The second entry, by the tile that anybody may fetch. */
    tile = sotto_logs_get(t, sotto_host_port(log), "tile/0/000.p/2");
    CHECK_EQUAL(t, 200, tile.status);
    CHECK_EQUAL(t, 2 * SOTTO_MERKLE_HASH, tile.body_len);
    memcpy(inclusion.proof.hashes, tile.body, SOTTO_MERKLE_HASH);
    inclusion.proof.count = 1;
    inclusion.checkpoint = sotto_bytes_of(answer.body, answer.body_len);
    (void)sotto_logs_entry_of(t, "two", &alone);
    CHECK_OK(t, sotto_inclusion_check(&inclusion, &c, alone, &trust, &t->err));
    sotto_merkle_leaf(&leaf, alone);
    CHECK_BYTES(t, leaf.bytes, tile.body + SOTTO_MERKLE_HASH, SOTTO_MERKLE_HASH);
    CHECK_EQUAL(t, 200, sotto_logs_get(t, sotto_host_port(log), "tile/entries/000.p/2").status);
    /* The witness shows what it cosigned. */
    sotto_logs_path_of(path, &k);
    answer = sotto_logs_get(t, sotto_host_port(witness), path);
    CHECK_EQUAL(t, 200, answer.status);
    CHECK_OK(t, sotto_checkpoint_open(&c, sotto_bytes_of(answer.body, answer.body_len), &trust,
                                      &t->err));
    CHECK_EQUAL(t, 404, sotto_logs_get(t, sotto_host_port(witness), "00/checkpoint").status);
    sotto_host_close(log);
    sotto_host_close(witness);
}

static void only_the_publisher_appends(sotto_test *t)
{
    sotto_logs_keys k;
    sotto_host *log;
    sotto_bytes alone, body;
    unsigned port;

    sotto_logs_make_keys(t, &k);
    log = sotto_logs_open_log(t, &k, sotto_test_address(t), 0);
    port = sotto_host_port(log);
    body = sotto_logs_entry_of(t, "one", &alone);
    CHECK_EQUAL(t, 401, sotto_logs_ask(t, port, "POST /add", "", body.data, body.len).status);
    CHECK_EQUAL(t, 401,
                sotto_logs_ask(t, port, "POST /add", "Authorization: Bearer another\r\n", body.data,
                               body.len)
                    .status);
    CHECK_EQUAL(t, 404, sotto_logs_get(t, port, "tile/0/000.p/1").status);
    sotto_host_close(log);
}

static void a_log_takes_entries_that_it_knows(sotto_test *t)
{
    sotto_logs_keys k;
    sotto_host *log;
    sotto_bytes alone, body;
    unsigned port;

    sotto_logs_make_keys(t, &k);
    log = sotto_logs_open_log(t, &k, sotto_test_address(t), 0);
    port = sotto_host_port(log);
    body = sotto_logs_entry_of(t, "one", &alone);
    CHECK_EQUAL(t, 400, sotto_logs_ask(t, port, "POST /add", SOTTO_LOGS_BY_TOKEN, "", 0).status);
    CHECK_EQUAL(
        t, 400,
        sotto_logs_ask(t, port, "POST /add", SOTTO_LOGS_BY_TOKEN, body.data, body.len - 1).status);
    CHECK_EQUAL(t, 400,
                sotto_logs_ask(t, port, "POST /add", SOTTO_LOGS_BY_TOKEN, "\0\3one", 5).status);
    CHECK_EQUAL(
        t, 200,
        sotto_logs_ask(t, port, "POST /add", SOTTO_LOGS_BY_TOKEN, body.data, body.len).status);
    sotto_host_close(log);
}

/* A tile that was written for a tree that nobody signed: whoever saw it could not tell. */
static void only_signed_tiles_are_served(sotto_test *t)
{
    char directory[600];
    sotto_logs_keys k;
    sotto_host *log;
    unsigned port;

    sotto_logs_make_keys(t, &k);
    log = sotto_logs_open_log(t, &k, sotto_test_address(t), 0);
    port = sotto_host_port(log);
    CHECK_EQUAL(t, 200, sotto_logs_add(t, port, "one"));
    (void)snprintf(directory, sizeof directory, "%s/files", k.directory);
    CHECK_OK(t,
             sotto_log_file_replace(directory, "tile/0/000.p/2", sotto_bytes_of("x", 1), &t->err));
    CHECK_EQUAL(t, 200, sotto_logs_get(t, port, "tile/0/000.p/1").status);
    CHECK_EQUAL(t, 404, sotto_logs_get(t, port, "tile/0/000.p/2").status);
    CHECK_EQUAL(t, 404, sotto_logs_get(t, port, "tile/0/000").status);
    CHECK_EQUAL(t, 404, sotto_logs_get(t, port, "tile/0/x000/000").status);
    CHECK_EQUAL(t, 404, sotto_logs_get(t, port, "tile/1/000.p/1").status);
    CHECK_EQUAL(t, 404, sotto_logs_get(t, port, "vow").status);
    sotto_host_close(log);
}

static void a_log_goes_on_after_a_restart(sotto_test *t)
{
    const char *database = sotto_test_address(t), *second = sotto_test_address(t);
    sotto_logs_keys k;
    sotto_host *witness, *log;

    sotto_logs_make_keys(t, &k);
    witness = sotto_logs_open_witness(t, &k, second);
    log = sotto_logs_open_log(t, &k, database, sotto_host_port(witness));
    sotto_logs_add_in_time(t, sotto_host_port(log), "one");
    (void)sotto_logs_await_cosigned(t, &k, sotto_host_port(log), 1);
    sotto_host_close(log);
    log = sotto_logs_open_log(t, &k, database, sotto_host_port(witness));
    sotto_logs_add_in_time(t, sotto_host_port(log), "two");
    (void)sotto_logs_await_cosigned(t, &k, sotto_host_port(log), 2);
    sotto_host_close(log);
    sotto_host_close(witness);
}

static void empty_files(sotto_test *t, const sotto_logs_keys *k)
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
    sotto_logs_keys k;
    sotto_host *log;

    sotto_logs_make_keys(t, &k);
    log = sotto_logs_open_log(t, &k, database, 0);
    CHECK_EQUAL(t, 200, sotto_logs_add(t, sotto_host_port(log), "one"));
    sotto_host_close(log);
    empty_files(t, &k);
    CHECK_STATUS(t, SOTTO_STALE, sotto_logs_start_log(t, &k, database, 0, &log));
    CHECK_REASON(t, "was rolled back: it has 0 entries, and 1 were signed");
}

/* Both are gone, and the witness remembers: nothing more is signed. */
static void a_witness_shows_a_rollback(sotto_test *t)
{
    sotto_logs_keys k;
    sotto_host *witness, *log;

    sotto_logs_make_keys(t, &k);
    witness = sotto_logs_open_witness(t, &k, sotto_test_address(t));
    log = sotto_logs_open_log(t, &k, sotto_test_address(t), sotto_host_port(witness));
    sotto_logs_add_in_time(t, sotto_host_port(log), "one");
    CHECK_EQUAL(t, 200, sotto_logs_add(t, sotto_host_port(log), "two"));
    (void)sotto_logs_await_cosigned(t, &k, sotto_host_port(log), 2);
    sotto_host_close(log);
    empty_files(t, &k);
    log = sotto_logs_open_log(t, &k, sotto_test_address(t), sotto_host_port(witness));
    CHECK_EQUAL(t, 503, sotto_logs_add(t, sotto_host_port(log), "other")); /* at once */
    sotto_logs_await_metric(t, log, "sotto_log_rolled_back");
    CHECK_EQUAL(t, 503, sotto_logs_add(t, sotto_host_port(log), "other"));
    sotto_host_close(log);
    sotto_host_close(witness);
}

/* Whoever lost both would sign other entries in the time until the first witness answers. */
static void a_log_waits_for_a_witness(sotto_test *t)
{
    sotto_logs_keys k;
    sotto_host *log;

    sotto_logs_make_keys(t, &k);
    log = sotto_logs_open_log(t, &k, sotto_test_address(t), 1); /* nobody is there */
    CHECK_EQUAL(t, 503, sotto_logs_add(t, sotto_host_port(log), "one"));
    CHECK_EQUAL(t, 0, sotto_logs_metric(t, log, "sotto_log_entries"));
    CHECK_EQUAL(t, 0, sotto_logs_metric(t, log, "sotto_log_confirmed"));
    sotto_host_close(log);
}

/* A witness, and a log whose first entry it cosigned. */
static void open_cosigned(sotto_test *t, sotto_logs_keys *k, sotto_host **witness, sotto_host **log)
{
    sotto_logs_make_keys(t, k);
    *witness = sotto_logs_open_witness(t, k, sotto_test_address(t));
    *log = sotto_logs_open_log(t, k, sotto_test_address(t), sotto_host_port(*witness));
    sotto_logs_add_in_time(t, sotto_host_port(*log), "one");
    (void)sotto_logs_await_cosigned(t, k, sotto_host_port(*log), 1);
}

static void health_says_which_witness_does_not_answer(sotto_test *t)
{
    static const char line[] = "witness 1: did not cosign: it does not answer: 127.0.0.1: ";
    sotto_logs_keys k;
    sotto_host *witness, *log;

    open_cosigned(t, &k, &witness, &log);
    sotto_test_health_await(t, log, "witness ", false);
    sotto_host_close(witness);
    CHECK_EQUAL(t, 200, sotto_logs_add(t, sotto_host_port(log), "two"));
    sotto_test_health_await(t, log, line, true);
    sotto_host_close(log);
}

/* Nothing is signed meanwhile, so that nothing is to be cosigned. */
static void an_idle_log_notices_that_its_witness_is_away(sotto_test *t)
{
    sotto_logs_keys k;
    sotto_host *witness, *log;

    open_cosigned(t, &k, &witness, &log);
    sotto_test_health_await(t, log, "witness ", false);
    CHECK_EQUAL(t, 0, sotto_logs_metric(t, log, "sotto_peers_away"));
    sotto_host_close(witness);
    sotto_test_health_await(t, log, "witness 1: does not answer: ", true);
    CHECK_EQUAL(t, 1, sotto_logs_metric(t, log, "sotto_peers_away"));
    CHECK(t, !sotto_test_health_says(log, "did not cosign"));
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
    sotto_logs_keys k;
    sotto_host *witness, *log;
    pthread_t thread;

    open_cosigned(t, &k, &witness, &log);
    const unsigned long before = sotto_logs_metric(t, log, "sotto_log_cosignatures");
    atomic_store(&held, false);
    CHECK(t, pthread_create(&thread, NULL, hold_witness, witness) == 0);
    while (!atomic_load(&held))
        sotto_test_sleep_ms(5);
    CHECK_EQUAL(t, 200,
                sotto_logs_add(t, sotto_host_port(log), "two")); /* signed, and not cosigned yet */
    CHECK_EQUAL(t, 200, sotto_logs_add(t, sotto_host_port(log), "three"));
    CHECK(t, sotto_logs_metric(t, log, "sotto_log_cosignatures") > before);
    (void)pthread_join(thread, NULL);
    (void)sotto_logs_await_cosigned(t, &k, sotto_host_port(log), 3);
    sotto_host_close(log);
    sotto_host_close(witness);
}

/* The witness names nine entries, and has a checkpoint of one. */
static void a_number_that_nobody_signed_stops_nothing(sotto_test *t)
{
    sotto_logs_forgery f = {.sql = "UPDATE witnessed SET size = ?1, root = ?2", .size = 9};
    sotto_logs_keys k;
    sotto_host *witness, *log;

    open_cosigned(t, &k, &witness, &log);
    CHECK_OK(t, sotto_db_run(witness->db, sotto_logs_forge, &f, &t->err));
    CHECK_EQUAL(t, 200, sotto_logs_add(t, sotto_host_port(log), "two"));
    sotto_logs_await_metric(t, log, "sotto_log_unproved_sizes");
    CHECK_EQUAL(t, 0, sotto_logs_metric(t, log, "sotto_log_rolled_back"));
    CHECK_EQUAL(t, 200, sotto_logs_add(t, sotto_host_port(log), "three"));
    sotto_host_close(log);
    sotto_host_close(witness);
}

/* The witness has another tree of the log's size: each question gets the same answer. */
static void a_conflict_that_stays_is_asked_about_now_and_then(sotto_test *t)
{
    const char *database = sotto_test_address(t);
    sotto_logs_forgery f = {.sql = "UPDATE witnessed SET size = ?1, root = ?2", .size = 1};
    sotto_logs_keys k;
    sotto_host *witness, *log;

    sotto_logs_make_keys(t, &k);
    witness = sotto_logs_open_witness(t, &k, sotto_test_address(t));
    log = sotto_logs_open_log(t, &k, database, sotto_host_port(witness));
    sotto_logs_add_in_time(t, sotto_host_port(log), "one");
    (void)sotto_logs_await_cosigned(t, &k, sotto_host_port(log), 1);
    sotto_host_close(log);
    CHECK_OK(t, sotto_db_run(witness->db, sotto_logs_forge, &f, &t->err));
    log = sotto_logs_open_log(t, &k, database, sotto_host_port(witness));
    sotto_logs_await_metric(t, witness, "sotto_witness_forks");
    sotto_test_sleep_ms(2000);
    CHECK(t, sotto_logs_metric(t, witness, "sotto_witness_refused") < 20);
    CHECK_EQUAL(t, 503, sotto_logs_add(t, sotto_host_port(log), "two"));
    sotto_host_close(log);
    sotto_host_close(witness);
}

/* Devices believe no tree that was cosigned long ago. */
static void a_tree_that_does_not_grow_is_cosigned_again(sotto_test *t)
{
    sotto_logs_keys k;
    sotto_host *witness, *log;
    const sotto_log_trust trust = {&k.log, &k.witness, 1, 1};
    sotto_checkpoint first, later = {0};

    sotto_logs_make_keys(t, &k);
    witness = sotto_logs_open_witness(t, &k, sotto_test_address(t));
    log = sotto_logs_open_log(t, &k, sotto_test_address(t), sotto_host_port(witness));
    sotto_logs_add_in_time(t, sotto_host_port(log), "one");
    sotto_test_answer answer = sotto_logs_await_cosigned(t, &k, sotto_host_port(log), 1);
    CHECK_OK(t, sotto_checkpoint_open(&first, sotto_bytes_of(answer.body, answer.body_len), &trust,
                                      &t->err));
    sotto_logs_shift(6 * 3600 + 60);
    for (int i = 0; i < 600 && later.cosigned < first.cosigned + 6 * 3600; i++) {
        sotto_test_sleep_ms(50);
        answer = sotto_logs_get(t, sotto_host_port(log), "checkpoint");
        CHECK_OK(t, sotto_checkpoint_open(&later, sotto_bytes_of(answer.body, answer.body_len),
                                          &trust, &t->err));
    }
    CHECK(t, later.cosigned >= first.cosigned + 6 * 3600);
    CHECK_EQUAL(t, 1, later.size);
    sotto_host_close(log);
    sotto_host_close(witness);
    sotto_logs_shift(0);
}

/* Another process wrote its own tree there, or an old copy came back. */
static void a_log_continues_its_database(sotto_test *t)
{
    sotto_logs_forgery f = {.sql = "UPDATE signed SET size = ?1, root = ?2", .size = 9};
    sotto_logs_keys k;
    sotto_host *log;

    sotto_logs_make_keys(t, &k);
    log = sotto_logs_open_log(t, &k, sotto_test_address(t), 0);
    CHECK_EQUAL(t, 200, sotto_logs_add(t, sotto_host_port(log), "one"));
    CHECK_OK(t, sotto_db_run(log->db, sotto_logs_forge, &f, &t->err));
    CHECK_EQUAL(t, 503, sotto_logs_add(t, sotto_host_port(log), "two"));
    CHECK_EQUAL(t, 1, sotto_logs_metric(t, log, "sotto_log_entries"));
    sotto_test_await(t, log->db, "SELECT size FROM signed", 9);
    sotto_host_close(log);
}

/* ---- the witness, asked by a log that lies ---------------------------------------------------------------------------------- */

static sotto_test_answer submit_with(sotto_test *t, const sotto_logs_keys *k, unsigned port,
                                     uint64_t old, uint64_t size, uint8_t root, const char *origin,
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
    return sotto_logs_ask(t, port, "POST /add-checkpoint", "", body.data, body.len);
}

static sotto_test_answer submit(sotto_test *t, const sotto_logs_keys *k, unsigned port,
                                uint64_t old, uint64_t size, uint8_t root, const char *origin)
{
    return submit_with(t, k, port, old, size, root, origin, NULL);
}

/* Whoever submits may add lines: they are not the witness' to serve. */
static void a_stranger_s_line_is_not_served(sotto_test *t)
{
    sotto_logs_keys k;
    const sotto_log_trust both = {&k.log, &k.witness, 1, 1};
    sotto_host *witness;
    sotto_test_answer answer;
    sotto_checkpoint c;
    char path[80];

    sotto_logs_make_keys(t, &k);
    witness = sotto_logs_open_witness(t, &k, sotto_test_address(t));
    CHECK_EQUAL(t, 200,
                submit_with(t, &k, sotto_host_port(witness), 0, 5, 1, "log.example/a",
                            "\xe2\x80\x94 stranger.example/s AAAAAAAAAAAA\n")
                    .status);
    sotto_logs_path_of(path, &k);
    answer = sotto_logs_get(t, sotto_host_port(witness), path);
    CHECK_EQUAL(t, 200, answer.status);
    CHECK(t, strstr(answer.body, "stranger") == NULL);
    CHECK_OK(
        t, sotto_checkpoint_open(&c, sotto_bytes_of(answer.body, answer.body_len), &both, &t->err));
    sotto_host_close(witness);
}

static void a_witness_refuses_a_fork_and_keeps_it(sotto_test *t)
{
    sotto_logs_keys k;
    sotto_host *witness;
    sotto_test_answer answer;
    unsigned port;

    sotto_logs_make_keys(t, &k);
    witness = sotto_logs_open_witness(t, &k, sotto_test_address(t));
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
    CHECK_EQUAL(t, 400, sotto_logs_ask(t, port, "POST /add-checkpoint", "", "old 1\n", 6).status);
    sotto_test_await(t, witness->db, "SELECT size FROM witnessed", 5);
    sotto_host_close(witness);
}

/* The two public keys are lines alike, and each goes into a file of the other's. */
/* Two trees of one size, told twice, are one fork; the witness' database remembers it. */
static void a_fork_stays_in_health(sotto_test *t)
{
    static const char forked[] = "log log.example/a: FORKED: it signed two trees of 5 entries; ";
    const char *database = sotto_test_address(t);
    sotto_logs_keys k;
    sotto_host *witness;
    unsigned port;

    sotto_logs_make_keys(t, &k);
    witness = sotto_logs_open_witness(t, &k, database);
    port = sotto_host_port(witness);
    CHECK_EQUAL(t, 200, submit(t, &k, port, 0, 5, 1, "log.example/a").status);
    CHECK(t, !sotto_test_health_says(witness, "FORKED"));
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(t, 409, submit(t, &k, port, 5, 5, 2, "log.example/a").status);
    sotto_test_health_await(t, witness, forked, true);
    CHECK_EQUAL(t, 1, sotto_logs_metric(t, witness, "sotto_witness_forks"));
    sotto_host_close(witness);
    witness = sotto_logs_open_witness(t, &k, database);
    CHECK(t, sotto_test_health_says(witness, forked));
    CHECK_EQUAL(t, 1, sotto_logs_metric(t, witness, "sotto_witness_forks"));
    sotto_host_close(witness);
}

static void a_witness_in_a_log_s_place_is_refused(sotto_test *t)
{
    sotto_host *host = NULL;
    char more[700];
    sotto_logs_keys k;

    sotto_logs_make_keys(t, &k);
    sotto_logs_write_file(t, k.directory, "witness.logs", k.witness_vkey, strlen(k.witness_vkey),
                          0644);
    (void)snprintf(more, sizeof more, "logs = %s/witness.logs\n", k.directory);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_logs_start_witness(t, &k, sotto_test_address(t), more, &host));
    CHECK_REASON(t, "key 1 is of a witness: list the public keys of logs");
}

static void a_log_in_a_witness_place_is_refused(sotto_test *t)
{
    sotto_host *host = NULL;
    sotto_logs_keys k;

    sotto_logs_make_keys(t, &k);
    (void)snprintf(k.witness_vkey, sizeof k.witness_vkey, "%s", k.log_vkey);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_logs_start_log(t, &k, sotto_test_address(t), 1, &host));
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
        CASE(health_says_which_witness_does_not_answer),
        CASE(an_idle_log_notices_that_its_witness_is_away),
        CASE(a_tree_is_cosigned_before_the_next_is_signed),
        CASE(a_number_that_nobody_signed_stops_nothing),
        CASE(a_conflict_that_stays_is_asked_about_now_and_then),
        CASE(a_tree_that_does_not_grow_is_cosigned_again),
        CASE(a_log_continues_its_database),
        CASE(a_stranger_s_line_is_not_served),
        CASE(a_witness_in_a_log_s_place_is_refused),
        CASE(a_log_in_a_witness_place_is_refused),
        CASE(a_witness_refuses_a_fork_and_keeps_it),
        CASE(a_fork_stays_in_health),
    };

    if (!sotto_test_at_end(sotto_logs_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
