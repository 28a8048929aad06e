/* The issuer's keys of a task: which are taken with it, and when what was spent of them goes. */
#include "base/hex.h"
#include "base/writer.h"
#include "crypto/hash.h"
#include "recipe/listed_keys.h"
#include "serve/tasks/admitting_list.h"
#include "serve/tasks/gc.h"
#include "support/admitted.h"
#include "support/database.h"
#include "support/steps.h"
#include "tlog/notes.h"

#include <string.h>

enum { SPLIT = 48, DAY = 86400 };

static sotto_status add(sotto_test *t, sotto_test_admitted *a, const sotto_bare_task *bare)
{
    uint8_t id[SOTTO_TASK_ID_SIZE];

    return sotto_tasks_add_bare(a->s.helper->db, a->s.helper->columns, SOTTO_HELPER, bare, 0, id,
                                &t->err);
}

/* The service's own, with fresh keys. */
static sotto_bare_task same_task(sotto_test *t, sotto_test_admitted *a)
{
    return sotto_test_admitted_task(t, a, SPLIT);
}

static void refuse(sotto_test *t, sotto_test_admitted *a, const sotto_bare_task *bare,
                   const char *why)
{
    CHECK_STATUS(t, SOTTO_DENIED, add(t, a, bare));
    CHECK_REASON(t, why);
}

static void windows_follow_each_other_through_the_whole_task(sotto_test *t)
{
    static const char behind[] = "not for the time behind", end[] = "does not end with the task";
    sotto_test_admitted a;
    sotto_bare_task bare;

    sotto_test_admitted_open(t, &a, SPLIT, &(sotto_test_service_options){0});
    bare = same_task(t, &a);
    a.keys[1].opens -= 3600; /* both have an hour */
    refuse(t, &a, &bare, behind);
    a.keys[1].opens += 7200; /* none has it */
    refuse(t, &a, &bare, behind);
    a.keys[1].opens = a.keys[0].closes -= 1800; /* half of a unit of time */
    refuse(t, &a, &bare, behind);
    bare = same_task(t, &a);
    a.keys[0].opens += 3600;
    refuse(t, &a, &bare, behind);
    bare = same_task(t, &a);
    a.keys[1].closes -= 3600;
    refuse(t, &a, &bare, end);
    bare.token_keys.count = 1;
    refuse(t, &a, &bare, end);
    bare.token_keys.count = 0;
    refuse(t, &a, &bare, "Give the issuer's list (--token-keys)");
    bare.token_keys.count = 513; /* none is read */
    refuse(t, &a, &bare, "1 to 512");
    bare = same_task(t, &a);
    bare.token_keys.issuer = "";
    refuse(t, &a, &bare, "no name");
    bare = same_task(t, &a);
    a.keys[1].spki[10] ^= 1;
    CHECK_STATUS(t, SOTTO_MALFORMED, add(t, &a, &bare));
    sotto_test_admitted_close(&a);
}

static void a_task_keeps_its_keys(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_bare_task bare;

    sotto_test_admitted_open(t, &a, SPLIT, &(sotto_test_service_options){0});
    bare = same_task(t, &a);
    CHECK_OK(t, add(t, &a, &bare));
    bare = sotto_test_admitted_task(t, &a, SPLIT - 1);
    refuse(t, &a, &bare, "added before with others");
    bare = same_task(t, &a);
    memcpy(a.keys[0].spki, a.issuers[1].spki, sizeof a.keys[0].spki);
    refuse(t, &a, &bare, "added before with others");
    bare = same_task(t, &a);
    bare.token_keys.issuer = "key:another issuer";
    refuse(t, &a, &bare, "added before with others");
    CHECK_EQUAL(t, 2, sotto_test_ask_number(t, a.s.helper->db, "SELECT count(*) FROM token_key"));
    sotto_test_admitted_close(&a);
}

static void keys_belong_to_tasks_that_ask_for_tokens(sotto_test *t)
{
    sotto_test_service s;
    sotto_admitting_keys keys = {
        .issuer = "", .list = (sotto_admitting_key[1]){{.opens = 1}}, .count = 1};
    sotto_buf ids = sotto_test_buf(t, 64);
    sotto_mistakes mistakes = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_tasks_add_admitted(s.helper->db, s.helper->columns, SOTTO_HELPER,
                                          sotto_bytes_of(s.recipe_text, strlen(s.recipe_text)),
                                          sotto_bytes_of(s.parties_text, strlen(s.parties_text)),
                                          &keys, 0, sotto_bytes_of(NULL, 0), &ids, &mistakes,
                                          &t->err));
    CHECK_REASON(t, "asks for no tokens");
    sotto_test_service_close(&s);
}

static void a_task_without_its_keys_is_not_served(sotto_test *t)
{
    sotto_test_admitted a;

    sotto_test_admitted_open(t, &a, SPLIT, &(sotto_test_service_options){0});
    CHECK_EQUAL(t, 0, sotto_tasks_broken(a.s.leader->tasks));
    sotto_test_do(t, a.s.leader->db, "DELETE FROM token_key");
    sotto_test_leader_restart(t, &a.s);
    CHECK(t, !sotto_tasks_find(a.s.leader->tasks, a.s.task.id));
    CHECK_EQUAL(t, 1, sotto_tasks_broken(a.s.leader->tasks));
    sotto_test_admitted_close(&a);
}

/* ---- recipes ---------------------------------------------------------------------------------------------------- */

/* text, with `more` before the last place where `at` stands. */
static sotto_bytes with(sotto_test *t, const char *text, const char *at, const char *more)
{
    sotto_buf out = sotto_test_buf(t, strlen(text) + strlen(more));
    sotto_writer w = sotto_writer_on(&out);
    const char *place = NULL;

    for (const char *next = strstr(text, at); next; next = strstr(next + 1, at))
        place = next;
    CHECK(t, place != NULL);
    sotto_write_bytes(&w, sotto_bytes_of(text, (size_t)(place - text)));
    sotto_write_bytes(&w, bytes_of(more));
    sotto_write_bytes(&w, bytes_of(place));
    CHECK_OK(t, sotto_writer_finish(&w, "text", &t->err));
    return sotto_buf_bytes(&out);
}

static void a_recipe_that_asks_for_tokens_is_added_with_its_keys(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_admitting_keys keys = {.count = 2};
    sotto_bytes recipe, parties;
    sotto_buf ids = sotto_test_buf(t, 64);
    sotto_mistakes mistakes = {0};
    const sotto_server_task *task;

    sotto_test_admitted_open(t, &a, SPLIT, &(sotto_test_service_options){0});
    keys.list = a.keys;
    recipe = with(t, a.s.recipe_text, "\"population\"",
                  "\"anonymity\": {\"tokens\": \"type-2\", \"attester\": \"key:attester\","
                  " \"issuer\": \"key:issuer\"}, ");
    parties = with(t, a.s.parties_text, "}",
                   ", \"key:attester\": {\"role\": \"attester\", \"url\": \"https://a.example/\"},"
                   " \"key:issuer\": {\"role\": \"issuer\", \"url\": \"https://i.example/\"}");
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_tasks_add(a.s.helper->db, a.s.helper->columns, SOTTO_HELPER, recipe, parties,
                                 0, sotto_bytes_of(NULL, 0), &ids, &mistakes, &t->err));
    CHECK_REASON(t, "Give the issuer's list (--token-keys)");
    ids.len = 0;
    CHECK_OK(t, sotto_tasks_add_admitted(a.s.helper->db, a.s.helper->columns, SOTTO_HELPER, recipe,
                                         parties, &keys, 0, sotto_bytes_of(NULL, 0), &ids,
                                         &mistakes, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(a.s.helper->tasks, &t->err));
    task = sotto_tasks_find(a.s.helper->tasks, ids.data);
    CHECK(t, task != NULL);
    CHECK(t, strcmp(task->token_keys.issuer, "key:issuer") == 0);
    CHECK_EQUAL(t, 2, task->token_keys.count);
    CHECK_BYTES(t, a.issuers[1].key.id, task->token_keys.list[1].id, SOTTO_TOKEN_KEY_ID);
    sotto_test_admitted_close(&a);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static const char ANALYSIS[] = "com.example.likes";
static const sotto_recipe plain_recipe = {
    .analysis = ANALYSIS, .opens = 7200, .closes = 14400, .anonymity = {.issuer = "key:issuer"}};

/* Four keys: the recipe's second and first, one of another analysis and one that closes after it. */
static sotto_bytes list_of(sotto_test *t)
{
    static const struct {
        const char *analysis;
        int opens, closes;
    } keys[] = {{ANALYSIS, 10800, 14400},
                {"another", 7200, 10800},
                {ANALYSIS, 7200, 10800},
                {ANALYSIS, 14400, 18000}};
    sotto_buf out = sotto_test_buf(t, 8192);
    sotto_writer w = sotto_writer_on(&out);

    for (unsigned i = 0; i < 4; i++) {
        sotto_test_issuer issuer;
        char id[2 * SOTTO_TOKEN_KEY_ID + 1], spki[2 * SOTTO_TYPE2_SPKI + 1];

        sotto_test_issuer_open(t, &issuer, i % 2);
        sotto_hex_encode(id, sotto_bytes_of(issuer.key.id, sizeof issuer.key.id));
        sotto_hex_encode(spki, sotto_bytes_of(issuer.spki, sizeof issuer.spki));
        sotto_write_format(&w, "%s{\"analysis\":\"%s\",\"opens\":%d,\"closes\":%d,",
                           i ? "," : "{\"keys\":[", keys[i].analysis, keys[i].opens,
                           keys[i].closes);
        sotto_write_format(&w, "\"id\":\"%s\",\"token_key\":\"%s\"}", id, spki);
        sotto_test_issuer_close(&issuer);
    }
    sotto_write_format(&w, "]}");
    CHECK_OK(t, sotto_writer_finish(&w, "list", &t->err));
    return sotto_buf_bytes(&out);
}

static void a_recipe_has_the_keys_of_its_analysis_and_schedule(sotto_test *t)
{
    sotto_admitting_keys keys;

    CHECK_OK(t, sotto_admitting_keys_of_list(&keys, &plain_recipe, list_of(t), NULL, &t->arena,
                                             &t->err));
    CHECK_EQUAL(t, 2, keys.count);
    CHECK(t, strcmp(keys.issuer, "key:issuer") == 0);
    CHECK_EQUAL(t, 7200, keys.list[0].opens);
    CHECK_EQUAL(t, 10800, keys.list[0].closes);
    CHECK_EQUAL(t, 10800, keys.list[1].opens);
    CHECK_EQUAL(t, 14400, keys.list[1].closes);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admitting_keys_of_list(&keys, &plain_recipe, sotto_bytes_of("neither", 7),
                                              NULL, &t->arena, &t->err));
}

/* A log of one entry, cosigned. */
static sotto_bytes bundle_of(sotto_test *t, test_log *l, sotto_entry_type type, sotto_bytes list)
{
    sotto_tlog_entry entry = {.type = type, .url = bytes_of("https://a.example/k"), .serial = 1};
    sotto_buf wire = sotto_test_buf(t, 256), proof = sotto_test_buf(t, 8192),
              out = sotto_test_buf(t, 16384), note;
    sotto_merkle_tree tree = {0};
    sotto_merkle_hash leaf, root;
    sotto_inclusion inclusion = {.index = 0};
    sotto_bundle bundle;

    sotto_hash_once(entry.digest, SOTTO_SHA256, list);
    CHECK_OK(t, sotto_tlog_entry_encode(&wire, &entry, &t->err));
    sotto_merkle_leaf(&leaf, sotto_buf_bytes(&wire));
    sotto_merkle_append(&tree, 0, &leaf);
    sotto_merkle_root(&root, &tree);
    note = unsigned_checkpoint(t, "example.com/log", 1, &root);
    add_signature(t, &note, &l->log, 0);
    add_signature(t, &note, &l->by[0], 100);
    add_signature(t, &note, &l->by[1], 100);
    inclusion.checkpoint = sotto_buf_bytes(&note);
    CHECK_OK(t, sotto_inclusion_encode(&proof, &inclusion, &t->err));
    bundle = (sotto_bundle){sotto_buf_bytes(&wire), list, sotto_buf_bytes(&proof)};
    CHECK_OK(t, sotto_bundle_encode(&out, &bundle, &t->err));
    return sotto_buf_bytes(&out);
}

static void keys_of_a_recipe_with_a_log_come_as_a_bundle(sotto_test *t)
{
    sotto_recipe recipe = plain_recipe;
    sotto_admitting_keys keys;
    sotto_bytes bundle;
    test_log l;

    test_log_open(t, &l);
    recipe.anonymity.log = "log";
    bundle = bundle_of(t, &l, SOTTO_ENTRY_ISSUER_KEYS, list_of(t));
    CHECK_OK(t, sotto_admitting_keys_of_list(&keys, &recipe, bundle, &l.trust, &t->arena, &t->err));
    CHECK_EQUAL(t, 2, keys.count);
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_admitting_keys_of_list(&keys, &recipe, list_of(t), &l.trust, &t->arena, &t->err));
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_admitting_keys_of_list(&keys, &recipe, list_of(t), NULL, &t->arena, &t->err));
    CHECK_REASON(t, "as its bundle only");
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_admitting_keys_of_list(&keys, &recipe, bundle, NULL, &t->arena, &t->err));
    CHECK_REASON(t, "no key of a log");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admitting_keys_of_list(&keys, &recipe,
                                              bundle_of(t, &l, SOTTO_ENTRY_PARTIES, list_of(t)),
                                              &l.trust, &t->arena, &t->err));
    CHECK_REASON(t, "another entry");
    l.trust.quorum = 3;
    CHECK(t, sotto_admitting_keys_of_list(&keys, &recipe, bundle, &l.trust, &t->arena, NULL) !=
                 SOTTO_OK);
    test_log_close(&l);
}

static sotto_gc gc_at(int64_t now)
{
    return (sotto_gc){.role = SOTTO_LEADER,
                      .now = now,
                      .late_seconds = DAY,
                      .keep_seconds = 2 * DAY,
                      .pass_rows = 2};
}

static void what_was_spent_goes_with_its_key(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_gc gc;

    sotto_test_admitted_open(t, &a, SPLIT, &(sotto_test_service_options){.job_delay_ms = 3600000});
    sotto_test_upload_some(t, &a.s, 5, 1, SOTTO_TEST_SOUND);
    gc = gc_at((int64_t)a.keys[0].closes + 2 * DAY);
    CHECK_OK(t, sotto_gc_run(a.s.leader->db, &gc, &t->err));
    CHECK_EQUAL(t, 0, gc.tokens);
    gc = gc_at((int64_t)a.keys[0].closes + 2 * DAY + 1);
    CHECK_OK(t, sotto_gc_run(a.s.leader->db, &gc, &t->err));
    CHECK_EQUAL(t, 5, gc.tokens);
    CHECK_EQUAL(t, 0, gc.retired); /* the task itself is still open */
    CHECK_EQUAL(t, 0,
                sotto_test_ask_number(t, a.s.leader->db,
                                      "SELECT count(*) FROM spent WHERE length(nonce) > 0"));
    CHECK_OK(t, sotto_gc_run(a.s.leader->db, &gc, &t->err));
    CHECK_EQUAL(t, 0, gc.tokens);
    sotto_test_admitted_close(&a);
}

/* The first collection was an hour long, and closed a day ago. Its spent set was cleared under a short `late`. */
static void a_longer_late_opens_no_cleared_key_again(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_gc gc;

    sotto_test_admitted_open(t, &a, 1, &(sotto_test_service_options){.job_delay_ms = 3600000});
    a.s.bucket = a.s.task.opens / a.s.task.precision;
    sotto_test_upload_some(t, &a.s, 1, 1, SOTTO_TEST_SOUND);
    gc = gc_at((int64_t)a.keys[0].closes + 2 * DAY + 1);
    CHECK_OK(t, sotto_gc_run(a.s.leader->db, &gc, &t->err));
    CHECK_EQUAL(t, 1, gc.tokens);
    CHECK_OK(t, sotto_gc_run(a.s.helper->db, &gc, &t->err));
    sotto_test_leader_restart(t, &a.s);
    sotto_test_helper_restart(t, &a.s);
    const sotto_bytes report = sotto_test_sealed_report(t, &a.s, 2, SOTTO_TEST_SOUND);
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_upload_error(t, &a.s, report));
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_job_error(t, &a.s, report));
    sotto_test_admitted_close(&a);
}

/* The task opened a day ago and has two days left; its first collection was an hour long. */
static void a_token_of_a_collection_that_closed_long_ago_is_rejected(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_bytes report;

    sotto_test_admitted_open(
        t, &a, 1, &(sotto_test_service_options){.job_delay_ms = 3600000, .late_seconds = 3600});
    a.s.bucket = a.s.task.opens / a.s.task.precision;
    report = sotto_test_sealed_report(t, &a.s, 1, SOTTO_TEST_SOUND);
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_upload_error(t, &a.s, report));
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_job_error(t, &a.s, report));
    a.s.bucket++;
    a.window = a.signer = 1;
    report = sotto_test_sealed_report(t, &a.s, 1, SOTTO_TEST_SOUND);
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, report));
    sotto_test_admitted_close(&a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(windows_follow_each_other_through_the_whole_task),
        CASE(a_task_keeps_its_keys),
        CASE(keys_belong_to_tasks_that_ask_for_tokens),
        CASE(a_task_without_its_keys_is_not_served),
        CASE(a_recipe_that_asks_for_tokens_is_added_with_its_keys),
        CASE(a_recipe_has_the_keys_of_its_analysis_and_schedule),
        CASE(keys_of_a_recipe_with_a_log_come_as_a_bundle),
        CASE(what_was_spent_goes_with_its_key),
        CASE(a_longer_late_opens_no_cleared_key_again),
        CASE(a_token_of_a_collection_that_closed_long_ago_is_rejected),
    };

    return RUN_TESTS(argc, argv, cases);
}
