/* Rounds that a log names become tasks of leader and helper, each once, in turn, and only of recipes that they serve. */
#define _POSIX_C_SOURCE 200809L
#include "../tlog/notes.h"
#include "base/hex.h"
#include "crypto/hash.h"
#include "recipe/learning.h"
#include "serve/tasks/round_log.h"
#include "support/database.h"
#include "support/directory.h"
#include "support/pine.h"
#include "support/steps.h"
#include "tlog/entry.h"
#include "tlog/files.h"
#include "tlog/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT = 4096, EVERY = 3600 };

typedef struct scene {
    sotto_test_service s;
    char *recipe;
    uint8_t hash[32];
    int64_t opens;
    test_log keys;
    const char *directory;
    sotto_log_store *log;
    sotto_round_log *leader, *helper;
    const sotto_signer *owner; /* signs records; NULL: nobody does */
} scene;

static sotto_status fetch(void *context, const char *path, sotto_buf *out, sotto_err *err)
{
    return sotto_log_file_read(out, ((const scene *)context)->directory, path, err);
}

/* Rounds of an hour since yesterday. */
static char *recipe_of(sotto_test *t, scene *k, const char *name)
{
    char *text = sotto_test_take(t, TEXT), opens[32], closes[32];
    const time_t now = time(NULL), first = (now - 86400) / EVERY * EVERY,
                 last = first + 3 * (time_t)86400;
    struct tm tm;

    k->opens = first;
    (void)strftime(opens, sizeof opens, "%Y-%m-%dT%H:00:00Z", gmtime_r(&first, &tm));
    (void)strftime(closes, sizeof closes, "%Y-%m-%dT%H:00:00Z", gmtime_r(&last, &tm));
    (void)snprintf(
        text, TEXT,
        "{\"recipe\": \"%s\", \"version\": 1, \"analysis\": \"com.example.digits\","
        " \"learn\": {\"model\": {\"type\": \"mlp\", \"parameters\": 40, \"init\": \"%064d\"},"
        " \"data\": {\"query\": \"SELECT pixels, label FROM digits\", \"most_rows\": 100},"
        " \"local\": {\"batch\": 20, \"rate\": 0.1}, \"update\": {\"clip\": 0.5, \"scale\": 4096},"
        " \"server\": {}}, \"rounds\": {\"count\": 48, \"every\": \"1h\", \"goal\": 10,"
        " \"largest\": 100, \"participations\": 1},"
        " \"participation\": {\"type\": \"poisson\", \"rate\": 1.0},"
        " \"privacy\": {\"by\": \"servers\", \"multiplier\": 1.0, \"adjacency\": \"replacement\","
        " \"epsilon\": 25, \"delta\": 1e-6, \"min_cohort\": 10, \"honest\": 1.0},"
        " \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader\", \"helper\":"
        " \"key:helper\", \"proof\": {\"type\": \"pine\", \"bound_factor\": 9.5}},"
        " \"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},"
        " \"population\": 12}",
        name, 0, opens, closes);
    return text;
}

static sotto_round_record round_of(sotto_test *t, const sotto_signer *owner, const char *recipe,
                                   uint64_t round, uint8_t model)
{
    sotto_round_record record = {.round = round, .recipe = bytes_of(recipe)};

    memset(record.model, model, sizeof record.model);
    if (owner)
        CHECK_OK(t, sotto_round_record_sign(&record, owner, &t->err));
    return record;
}

static sotto_bytes record_by(sotto_test *t, const sotto_signer *owner, const char *recipe,
                             uint64_t round, uint8_t model)
{
    const sotto_round_record record = round_of(t, owner, recipe, round, model);
    sotto_buf out = sotto_test_buf(t, 2 * TEXT);

    CHECK_OK(t, sotto_round_record_encode(&out, &record, &t->err));
    return sotto_buf_bytes(&out);
}

static sotto_bytes record_of(sotto_test *t, const char *recipe, uint64_t round, uint8_t model)
{
    return record_by(t, NULL, recipe, round, model);
}

static char *owned_recipe(sotto_test *t, scene *k, const char *key)
{
    static const char old[] = "\"rounds\": {";
    const char *text = recipe_of(t, k, "owned"), *at = strstr(text, old);
    char *out = sotto_test_take(t, TEXT);

    (void)snprintf(out, TEXT, "%.*s%s%s", (int)(at - text), text, key, at + sizeof old - 1);
    return out;
}

/* As an operator does, once, at both. */
static void serve(sotto_test *t, scene *k, const char *recipe)
{
    sotto_test_service *s = &k->s;
    const sotto_bytes wire = record_by(t, k->owner, recipe, 0, 0),
                      parties = bytes_of(s->parties_text);
    sotto_buf ids = sotto_test_buf(t, 64), again = sotto_test_buf(t, 64);
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);

    CHECK_OK(t, sotto_tasks_add(s->leader->db, s->leader->columns, SOTTO_LEADER, wire, parties, 0,
                                sotto_bytes_of(NULL, 0), &ids, mistakes, &t->err));
    CHECK_OK(t, sotto_tasks_add(s->helper->db, s->helper->columns, SOTTO_HELPER, wire, parties, 0,
                                sotto_buf_bytes(&ids), &again, mistakes, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(s->leader->tasks, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(s->helper->tasks, &t->err));
}

static scene *open_scene(sotto_test *t)
{
    scene *k = sotto_test_take(t, sizeof *k);

    sotto_test_service_open(t, &k->s, &(sotto_test_service_options){0});
    k->recipe = recipe_of(t, k, "digits");
    sotto_hash_once(k->hash, SOTTO_SHA256, bytes_of(k->recipe));
    test_log_open(t, &k->keys);
    k->directory = sotto_test_directory(t);
    CHECK_OK(t, sotto_log_store_open(
                    &k->log,
                    &(sotto_log_store_options){.directory = k->directory, .signer = &k->keys.log},
                    &t->err));
    CHECK_OK(t, sotto_round_log_new(&k->leader, k->s.leader, &k->keys.trust, &t->err));
    CHECK_OK(t, sotto_round_log_new(&k->helper, k->s.helper, &k->keys.trust, &t->err));
    serve(t, k, k->recipe);
    return k;
}

static void close_scene(scene *k)
{
    sotto_round_log_free(k->leader);
    sotto_round_log_free(k->helper);
    sotto_log_store_close(k->log);
    test_log_close(&k->keys);
    sotto_test_service_close(&k->s);
}

static void log_bytes(sotto_test *t, scene *k, const char *recipe, uint64_t round, uint8_t model,
                      sotto_bytes record)
{
    const sotto_round_record named = round_of(t, k->owner, recipe, round, model);
    sotto_round_name name = {.round = round, .is_signed = named.is_signed};
    sotto_tlog_entry entry = {.type = SOTTO_ENTRY_RECIPE};
    sotto_buf url = sotto_test_buf(t, SOTTO_ROUND_NAME), wire = sotto_test_buf(t, 1024);
    uint64_t index;

    sotto_hash_once(name.recipe, SOTTO_SHA256, bytes_of(recipe));
    memset(name.model, model, sizeof name.model);
    memcpy(name.signature, named.signature, sizeof name.signature);
    CHECK_OK(t, sotto_round_name_encode(&url, &name, &t->err));
    entry.url = sotto_buf_bytes(&url);
    sotto_hash_once(entry.digest, SOTTO_SHA256, record);
    CHECK_OK(t, sotto_tlog_entry_encode(&wire, &entry, &t->err));
    CHECK_OK(t, sotto_log_store_add(k->log, &index, sotto_buf_bytes(&wire), &t->err));
}

static void log_round(sotto_test *t, scene *k, const char *recipe, uint64_t round, uint8_t model)
{
    log_bytes(t, k, recipe, round, model, record_by(t, k->owner, recipe, round, model));
}

/* Signed by the log, and cosigned by so many witnesses. */
static void sign(sotto_test *t, scene *k, unsigned witnesses)
{
    sotto_buf note = sotto_test_buf(t, SOTTO_NOTE_MAX);
    sotto_writer w = sotto_writer_on(&note);
    sotto_bytes by_log;

    CHECK_OK(t, sotto_log_store_commit(k->log, &t->err));
    (void)sotto_log_store_signed(k->log, &by_log);
    sotto_write_bytes(&w, by_log);
    CHECK_OK(t, sotto_writer_finish(&w, "note", &t->err));
    for (unsigned i = 0; i < witnesses; i++)
        add_signature(t, &note, &k->keys.by[i], 1800000000);
    CHECK_OK(t, sotto_log_store_publish(k->log, sotto_buf_bytes(&note), &t->err));
}

static sotto_status look(sotto_test *t, scene *k, sotto_round_log *rounds, uint64_t round)
{
    const sotto_log_source source = {fetch, k};

    sotto_err_clear(&t->err);
    return sotto_round_log_look(rounds, &source, k->opens + (int64_t)(round * EVERY), &t->err);
}

static sotto_round_log_view view_of(sotto_round_log *rounds)
{
    sotto_round_log_view view;

    sotto_round_log_see(rounds, &view);
    return view;
}

/* NULL: the server has no task of that round. */
static const sotto_server_task *task_of(sotto_tasks *tasks, const uint8_t hash[32], uint64_t round)
{
    const sotto_server_task *task;

    for (size_t i = 0; (task = sotto_tasks_at(tasks, i)) != NULL; i++)
        if (task->learning && task->round == round && memcmp(task->recipe->hash, hash, 32) == 0)
            return task;
    return NULL;
}

static void logged_rounds_become_the_same_tasks_at_both_servers(sotto_test *t)
{
    scene *k = open_scene(t);
    const sotto_server_task *here, *there;

    CHECK_STATUS(t, SOTTO_DENIED, look(t, k, k->leader, 1)); /* nobody cosigned yet */
    log_round(t, k, k->recipe, 0, 0);                        /* which the operator added */
    log_round(t, k, k->recipe, 1, 7);
    log_round(t, k, recipe_of(t, k, "others"), 1, 9); /* which nobody serves */
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 1));
    CHECK_OK(t, look(t, k, k->helper, 1));
    here = task_of(k->s.leader->tasks, k->hash, 1);
    there = task_of(k->s.helper->tasks, k->hash, 1);
    CHECK(t, here && there);
    CHECK_BYTES(t, here->dap.id, there->dap.id, sizeof here->dap.id);
    CHECK_EQUAL(t, 7, here->model[31]);
    CHECK_EQUAL(t, 3, view_of(k->leader).entries);
    CHECK_EQUAL(t, 0, view_of(k->leader).refused);
    log_round(t, k, k->recipe, 2, 8);
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 2));
    CHECK(t, task_of(k->s.leader->tasks, k->hash, 2) != NULL);
    CHECK_OK(t, look(t, k, k->leader, 2));       /* nothing new */
    CHECK_EQUAL(t, 2, view_of(k->leader).added); /* round 0 was there */
    close_scene(k);
}

static void of_two_records_of_a_round_the_first_counts(sotto_test *t)
{
    scene *k = open_scene(t);
    const sotto_server_task *task;

    log_round(t, k, k->recipe, 1, 7);
    log_round(t, k, k->recipe, 1, 8);
    log_round(t, k, k->recipe, 1, 7); /* the same once more is no second one */
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 1));
    task = task_of(k->s.leader->tasks, k->hash, 1);
    CHECK(t, task != NULL);
    CHECK_EQUAL(t, 7, task->model[0]);
    CHECK_EQUAL(t, 1, view_of(k->leader).refused);
    CHECK(t, strstr(view_of(k->leader).refusal, "another record of this round") != NULL);
    /* Another process, and a log that grew: still the first. */
    sotto_round_log_free(k->leader);
    CHECK_OK(t, sotto_round_log_new(&k->leader, k->s.leader, &k->keys.trust, &t->err));
    log_round(t, k, k->recipe, 1, 9);
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 1));
    CHECK_EQUAL(t, 1, view_of(k->leader).refused); /* the third is passed over */
    CHECK_EQUAL(t, 0, view_of(k->leader).added);
    CHECK_EQUAL(t, 3, sotto_tasks_count(k->s.leader->tasks));
    close_scene(k);
}

/* Whoever can append entries can't fill a server's memory with records of a round, nor keep the first of them out. */
static void a_flood_of_records_leaves_a_round_its_first(sotto_test *t)
{
    scene *k = open_scene(t);

    for (unsigned i = 0; i < 40; i++) /* hashes that are no record's hold no place */
        log_bytes(t, k, k->recipe, 1, (uint8_t)(100 + i), record_of(t, k->recipe, 1, 8));
    log_round(t, k, k->recipe, 1, 7);
    for (unsigned i = 0; i < 40; i++)
        log_round(t, k, k->recipe, 1, (uint8_t)(100 + i));
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 1));
    CHECK_EQUAL(t, 7, task_of(k->s.leader->tasks, k->hash, 1)->model[0]);
    CHECK_EQUAL(t, 41, view_of(k->leader).refused);
    CHECK_EQUAL(t, 1, view_of(k->leader).added);
    close_scene(k);
}

/* A server that is told of a new recipe reads all of the log again. A fork then is a fork as ever. */
static void a_log_that_is_read_again_must_be_the_one_that_was_seen(sotto_test *t)
{
    scene *k = open_scene(t);
    const char *other = recipe_of(t, k, "others");

    log_round(t, k, k->recipe, 1, 7);
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 1));
    /* Another tree by the same keys. */
    sotto_log_store_close(k->log);
    k->directory = sotto_test_directory(t);
    CHECK_OK(t, sotto_log_store_open(
                    &k->log,
                    &(sotto_log_store_options){.directory = k->directory, .signer = &k->keys.log},
                    &t->err));
    log_round(t, k, other, 1, 9);
    log_round(t, k, k->recipe, 2, 8);
    sign(t, k, 2);
    serve(t, k, other);
    CHECK_STATUS(t, SOTTO_REJECTED, look(t, k, k->leader, 2));
    CHECK_STATUS(t, SOTTO_REJECTED, look(t, k, k->leader, 2));
    CHECK(t, task_of(k->s.leader->tasks, k->hash, 2) == NULL);
    CHECK(t, strstr(view_of(k->leader).unread, "fork") != NULL);
    close_scene(k);
}

static sotto_status fetch_nothing(void *context, const char *path, sotto_buf *out, sotto_err *err)
{
    (void)context;
    (void)out;
    return sotto_fail(err, SOTTO_MISSING, "%s", path);
}

static void a_log_that_has_signed_nothing_is_waited_for(sotto_test *t)
{
    const sotto_log_source none = {fetch_nothing, NULL};
    scene *k = open_scene(t);

    CHECK_OK(t, sotto_round_log_look(k->leader, &none, k->opens, &t->err));
    CHECK_EQUAL(t, 0, view_of(k->leader).unread[0]);
    log_round(t, k, k->recipe, 1, 7);
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 1));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_round_log_look(k->leader, &none, k->opens, &t->err));
    close_scene(k);
}

static sotto_status forget_parties(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE task SET parties = ?1", err));
    sotto_sql_bytes(&q, 1, *(const sotto_bytes *)context);
    return sotto_sql_run(&q, NULL, err);
}

/* A record that can't be added now keeps its round: a later one is still the second. */
static void a_round_that_can_not_be_added_now_keeps_its_place(sotto_test *t)
{
    scene *k = open_scene(t);
    sotto_bytes broken = bytes_of("{}"), parties = bytes_of(k->s.parties_text);

    log_round(t, k, k->recipe, 1, 7);
    log_round(t, k, k->recipe, 1, 8);
    sign(t, k, 2);
    CHECK_OK(t, sotto_db_run(k->s.leader->db, forget_parties, &broken, &t->err));
    CHECK_OK(t, look(t, k, k->leader, 1));
    CHECK(t, task_of(k->s.leader->tasks, k->hash, 1) == NULL);
    CHECK_EQUAL(t, 2, view_of(k->leader).refused);
    CHECK_OK(t, sotto_db_run(k->s.leader->db, forget_parties, &parties, &t->err));
    for (unsigned i = 0; i < 60; i++)
        CHECK_OK(t, look(t, k, k->leader, 1));
    CHECK(t, task_of(k->s.leader->tasks, k->hash, 1) != NULL);
    CHECK_EQUAL(t, 7, task_of(k->s.leader->tasks, k->hash, 1)->model[0]);
    CHECK_EQUAL(t, 1, view_of(k->leader).refused);
    close_scene(k);
}

/* A log alone can show each server other rounds: its operator must name who watches it. */
static void a_log_without_witnesses_is_not_followed(sotto_test *t)
{
    scene *k = open_scene(t);
    const char *path = sotto_test_temp(t, "rounds.keys");
    sotto_buf text = sotto_test_buf(t, 1024);
    sotto_round_watch *watch = NULL;
    FILE *file = fopen(path, "wb");

    CHECK_OK(t, sotto_note_key_encode(&text, &k->keys.log.key, &t->err));
    CHECK(t, file && fwrite(text.data, 1, text.len, file) == text.len && fputc('\n', file) != EOF);
    CHECK(t, file && fclose(file) == 0);
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_round_watch_open(&watch, k->s.leader, "http://127.0.0.1:1/", path, 0, &t->err));
    CHECK(t, watch == NULL && strstr(t->err.reason, "witness") != NULL);
    sotto_round_watch_close(watch);
    close_scene(k);
}

static void a_round_waits_until_the_one_before_has_closed(sotto_test *t)
{
    scene *k = open_scene(t);

    log_round(t, k, k->recipe, 3, 7);
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 2));
    CHECK_EQUAL(t, 1, view_of(k->leader).waiting);
    CHECK(t, task_of(k->s.leader->tasks, k->hash, 3) == NULL);
    CHECK_OK(t, look(t, k, k->leader, 3));
    CHECK_EQUAL(t, 0, view_of(k->leader).waiting);
    CHECK(t, task_of(k->s.leader->tasks, k->hash, 3) != NULL);
    close_scene(k);
}

static void a_record_is_the_one_that_was_logged(sotto_test *t)
{
    scene *k = open_scene(t);

    log_bytes(t, k, k->recipe, 1, 7, record_of(t, k->recipe, 1, 8));
    log_round(t, k, k->recipe, 48, 7); /* behind the last */
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 50));
    CHECK_EQUAL(t, 2, view_of(k->leader).refused);
    CHECK_EQUAL(t, 2, sotto_tasks_count(k->s.leader->tasks));
    CHECK(t, strstr(view_of(k->leader).refusal, "fewer rounds") != NULL);
    log_round(t, k, k->recipe, 1, 9); /* a refused one keeps nobody out */
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 50));
    CHECK(t, task_of(k->s.leader->tasks, k->hash, 1) != NULL);
    close_scene(k);
}

static void round_0_has_the_model_of_its_recipe(sotto_test *t)
{
    scene *k = open_scene(t);

    log_round(t, k, k->recipe, 0, 1);
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 1));
    CHECK_EQUAL(t, 1, view_of(k->leader).refused);
    CHECK_EQUAL(t, 2, sotto_tasks_count(k->s.leader->tasks));
    close_scene(k);
}

static void only_a_tree_that_witnesses_cosigned_is_read(sotto_test *t)
{
    scene *k = open_scene(t);
    sotto_note_signer other = signer_of(t, "example.com/log", SOTTO_NOTE_ED25519, 2);
    sotto_log_trust trust = k->keys.trust;

    log_round(t, k, k->recipe, 1, 7);
    sign(t, k, 1);
    CHECK_STATUS(t, SOTTO_DENIED, look(t, k, k->leader, 1));
    CHECK(t, view_of(k->leader).unread[0] != 0);
    trust.log = &other.key;
    sotto_round_log_free(k->leader);
    CHECK_OK(t, sotto_round_log_new(&k->leader, k->s.leader, &trust, &t->err));
    sign(t, k, 2);
    CHECK_STATUS(t, SOTTO_REJECTED, look(t, k, k->leader, 1));
    CHECK_EQUAL(t, 2, sotto_tasks_count(k->s.leader->tasks));
    sotto_note_signer_clear(&other);
    close_scene(k);
}

static void a_recipe_that_is_added_late_finds_its_rounds(sotto_test *t)
{
    scene *k = open_scene(t);
    const char *other = recipe_of(t, k, "others");
    uint8_t hash[32];

    sotto_hash_once(hash, SOTTO_SHA256, bytes_of(other));
    log_round(t, k, other, 1, 9);
    log_round(t, k, k->recipe, 1, 7);
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 1));
    CHECK(t, task_of(k->s.leader->tasks, hash, 1) == NULL);
    serve(t, k, other);
    CHECK_OK(t, look(t, k, k->leader, 1));
    CHECK(t, task_of(k->s.leader->tasks, hash, 1) != NULL);
    CHECK_EQUAL(t, 0, view_of(k->leader).refused);
    close_scene(k);
}

/* A recipe that names its owner's key: entries of others are as if they were not there, whoever came first. */
static void an_entry_that_the_owner_did_not_sign_holds_no_place(sotto_test *t)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {1}, seed_of_another[SOTTO_SIGN_SEED] = {2};
    sotto_signer owner, other;
    char key[128], digits[2 * SOTTO_SIGN_PUBLIC + 1];
    scene *k = open_scene(t);

    CHECK_OK(t, sotto_signer_init(&owner, seed, &t->err));
    CHECK_OK(t, sotto_signer_init(&other, seed_of_another, &t->err));
    sotto_hex_encode(digits, sotto_bytes_of(owner.public_key, sizeof owner.public_key));
    (void)snprintf(key, sizeof key, "\"rounds\": {\"key\": \"%s\", ", digits);
    k->recipe = owned_recipe(t, k, key);
    sotto_hash_once(k->hash, SOTTO_SHA256, bytes_of(k->recipe));
    k->owner = &owner;
    serve(t, k, k->recipe);
    k->owner = NULL;
    log_round(t, k, k->recipe, 1, 9); /* nobody's */
    k->owner = &other;
    log_round(t, k, k->recipe, 1, 8);
    k->owner = &owner;
    log_round(t, k, k->recipe, 1, 7);
    sign(t, k, 2);
    CHECK_OK(t, look(t, k, k->leader, 1));
    CHECK_OK(t, look(t, k, k->helper, 1));
    CHECK(t, task_of(k->s.leader->tasks, k->hash, 1) != NULL);
    CHECK(t, task_of(k->s.helper->tasks, k->hash, 1) != NULL);
    CHECK_EQUAL(t, 7, task_of(k->s.leader->tasks, k->hash, 1)->model[0]);
    CHECK_EQUAL(t, 2, view_of(k->leader).refused);
    CHECK(t, strstr(view_of(k->leader).refusal, "owner has not signed") != NULL);
    sotto_signer_clear(&owner);
    sotto_signer_clear(&other);
    close_scene(k);
}

static void names_have_one_spelling(sotto_test *t)
{
    static const char *const wrong[] = {"", "urn:sotto:round:", "https://example.com/round",
                                        "urn:sotto:round:00:1:00"};
    sotto_round_name name = {.round = 12}, again;
    sotto_buf out = sotto_test_buf(t, SOTTO_ROUND_NAME);
    char text[SOTTO_ROUND_NAME + 1] = "";

    memset(name.recipe, 0xab, sizeof name.recipe);
    CHECK_OK(t, sotto_round_name_encode(&out, &name, &t->err));
    CHECK_OK(t, sotto_round_name_decode(&again, sotto_buf_bytes(&out), &t->err));
    CHECK(t, again.round == 12 && again.recipe[31] == 0xab && again.model[0] == 0);
    memcpy(text, out.data, out.len);
    name.is_signed = true;
    memset(name.signature, 0x5c, sizeof name.signature);
    out.len = 0;
    CHECK_OK(t, sotto_round_name_encode(&out, &name, &t->err));
    CHECK_OK(t, sotto_round_name_decode(&again, sotto_buf_bytes(&out), &t->err));
    CHECK(t, again.is_signed && again.signature[63] == 0x5c && again.round == 12);
    text[16] = 'A'; /* of a digit */
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_round_name_decode(&again, bytes_of(text), NULL));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_round_name_decode(&again, bytes_of(wrong[i]), NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(logged_rounds_become_the_same_tasks_at_both_servers),
        CASE(of_two_records_of_a_round_the_first_counts),
        CASE(a_flood_of_records_leaves_a_round_its_first),
        CASE(a_log_that_is_read_again_must_be_the_one_that_was_seen),
        CASE(a_log_that_has_signed_nothing_is_waited_for),
        CASE(a_round_that_can_not_be_added_now_keeps_its_place),
        CASE(a_log_without_witnesses_is_not_followed),
        CASE(a_round_waits_until_the_one_before_has_closed),
        CASE(a_record_is_the_one_that_was_logged),
        CASE(round_0_has_the_model_of_its_recipe),
        CASE(only_a_tree_that_witnesses_cosigned_is_read),
        CASE(a_recipe_that_is_added_late_finds_its_rounds),
        CASE(an_entry_that_the_owner_did_not_sign_holds_no_place),
        CASE(names_have_one_spelling),
    };
    return RUN_TESTS(argc, argv, cases);
}
