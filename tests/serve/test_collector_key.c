/* Sums are sealed to the collector that was paired: no parties file, first or later, brings in another key. */
#define _POSIX_C_SOURCE 200809L
#include "support/database.h"
#include "support/service.h"

#include "base/hex.h"
#include "serve/tasks/listing.h"
#include "serve/tasks/tasks_internal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static sotto_test_service s;

static sotto_hpke_config config_of(const sotto_hpke_key *key)
{
    return sotto_hpke_config_of(key, 9, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);
}

static sotto_hpke_config strangers(sotto_test *t)
{
    static sotto_hpke_key key;
    uint8_t secret[32] = {7};

    CHECK_OK(t, sotto_hpke_key_derive(&key, SOTTO_HPKE_KEM_X25519,
                                      sotto_bytes_of(secret, sizeof secret), &t->err));
    return config_of(&key);
}

/* The same parties file but for the collector's key: a stranger's. */
static sotto_bytes strangers_parties(sotto_test *t)
{
    uint8_t wire[SOTTO_COLLECTOR_CONFIG];
    size_t len = strlen(s.parties_text);
    char hex[SOTTO_COLLECTOR_KEY_TEXT], *text = sotto_arena_take(&t->arena, len + 1);
    const char *at = strstr(s.parties_text, s.pairing.collector_key);
    sotto_buf out = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_config config = strangers(t);

    CHECK(t, text != NULL && at != NULL);
    if (!text || !at)
        return sotto_bytes_of(NULL, 0);
    CHECK_OK(t, sotto_hpke_config_encode(&out, &config, &t->err));
    sotto_hex_encode(hex, sotto_buf_bytes(&out));
    CHECK_EQUAL(t, strlen(s.pairing.collector_key), strlen(hex));
    memcpy(text, s.parties_text, len + 1);
    memcpy(text + (at - s.parties_text), hex, strlen(hex));
    return sotto_bytes_of(text, len);
}

static sotto_bytes right_parties(void)
{
    return sotto_bytes_of(s.parties_text, strlen(s.parties_text));
}

static sotto_status add(sotto_test *t, sotto_server *server, sotto_bytes parties)
{
    uint8_t memory[SOTTO_TASK_ID_SIZE];
    sotto_buf ids = sotto_buf_over(memory, sizeof memory);
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);

    CHECK(t, mistakes != NULL);
    /* The id is the same whatever key it is: --expect finds nothing. */
    return sotto_tasks_add(server->db, server->columns, server->role,
                           sotto_bytes_of(s.recipe_text, strlen(s.recipe_text)), parties, 0,
                           sotto_bytes_of(s.task.id, sizeof s.task.id), &ids, mistakes, &t->err);
}

static void serves_the_paired_collector(sotto_test *t, sotto_server *server)
{
    const sotto_server_task *task;

    CHECK_OK(t, sotto_tasks_refresh(server->tasks, &t->err));
    task = sotto_tasks_find(server->tasks, s.task.id);
    CHECK(t, task != NULL);
    CHECK(t, sotto_pairing_is_for(&s.pairing, &task->collector));
}

static void a_task_with_another_key_than_the_paired_is_refused(sotto_test *t)
{
    sotto_server *empty;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    empty = sotto_test_helper_twin(t, &s);
    CHECK_OK(t, sotto_pairing_put(empty->db, empty->columns, &s.pairing, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, add(t, empty, strangers_parties(t)));
    CHECK(t, strstr(t->err.reason, s.pairing.fingerprint) != NULL);
    CHECK(t, strstr(t->err.reason, "`sotto collect key` printed") != NULL);
    CHECK_OK(t, sotto_tasks_refresh(empty->tasks, &t->err));
    CHECK_EQUAL(t, 0, sotto_tasks_count(empty->tasks));
    CHECK_OK(t, add(t, empty, right_parties()));
    CHECK_STATUS(t, SOTTO_DENIED, add(t, empty, strangers_parties(t)));
    sotto_server_close(empty);
    sotto_test_service_close(&s);
}

/* Where the pairing has no key to compare with, the task's first one stays. */
static void a_served_task_keeps_its_key(sotto_test *t)
{
    uint8_t wire[2][SOTTO_COLLECTOR_CONFIG], id[SOTTO_TASK_ID_SIZE];
    sotto_bare_task bare = {.leader = "key:leader", .helper = "key:helper"};
    sotto_bytes config[2];
    sotto_pairing foreign;
    sotto_server *empty;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    bare.configuration = s.task.configuration;
    empty = sotto_test_helper_twin(t, &s);
    CHECK_OK(t, sotto_pairing_foreign(&foreign,
                                      &(sotto_paired){"key:leader", "key:helper", "key:collector",
                                                      s.task.leader_url, s.task.helper_url},
                                      "one", "two", &t->err));
    CHECK_OK(t, sotto_pairing_put(empty->db, empty->columns, &foreign, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, add(t, empty, right_parties()));
    for (size_t i = 0; i < 2; i++) {
        sotto_hpke_config of = i == 0 ? config_of(&s.collector) : strangers(t);
        sotto_buf out = sotto_buf_over(wire[i], sizeof wire[i]);

        CHECK_OK(t, sotto_hpke_config_encode(&out, &of, &t->err));
        config[i] = sotto_buf_bytes(&out);
    }
    for (size_t i = 0; i < 3; i++) {
        bare.collector_config = config[i % 2];
        CHECK_STATUS(
            t, i == 1 ? SOTTO_DENIED : SOTTO_OK,
            sotto_tasks_add_bare(empty->db, empty->columns, SOTTO_HELPER, &bare, 0, id, &t->err));
    }
    serves_the_paired_collector(t, empty);
    sotto_server_close(empty);
    sotto_test_service_close(&s);
}

/* Before the pairing nothing can be compared, and nothing is served; the slip is found by the pairing, and can be mended. */
static void a_task_that_waits_is_compared_when_its_pairing_comes(sotto_test *t)
{
    sotto_server *empty;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    empty = sotto_test_helper_twin(t, &s);
    CHECK_OK(t, add(t, empty, strangers_parties(t)));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_pairing_put(empty->db, empty->columns, &s.pairing, &t->err));
    CHECK_OK(t, add(t, empty, right_parties()));
    for (unsigned again = 0; again < 2; again++)
        CHECK_OK(t, sotto_pairing_put(empty->db, empty->columns, &s.pairing, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, empty->db, "SELECT count(*) FROM pairing"));
    serves_the_paired_collector(t, empty);
    sotto_server_close(empty);
    sotto_test_service_close(&s);
}

static sotto_status overwrite(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_bytes *parties = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE task SET parties = ?1", err));
    sotto_sql_bytes(&q, 1, *parties);
    return sotto_sql_run(&q, NULL, err);
}

/* One that came without a recipe has its parties' names elsewhere. */
static void a_bare_task_that_waits_is_compared_too(sotto_test *t)
{
    uint8_t wire[SOTTO_COLLECTOR_CONFIG], id[SOTTO_TASK_ID_SIZE];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);
    sotto_bare_task bare = {.leader = "key:leader", .helper = "key:helper"};
    sotto_hpke_config config = strangers(t);
    sotto_server *empty;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    empty = sotto_test_helper_twin(t, &s);
    CHECK_OK(t, sotto_hpke_config_encode(&out, &config, &t->err));
    bare.configuration = s.task.configuration;
    bare.collector_config = sotto_buf_bytes(&out);
    CHECK_OK(t,
             sotto_tasks_add_bare(empty->db, empty->columns, SOTTO_HELPER, &bare, 0, id, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_pairing_put(empty->db, empty->columns, &s.pairing, &t->err));
    sotto_server_close(empty);
    sotto_test_service_close(&s);
}

typedef struct other {
    sotto_test_gate gate;
    atomic_bool done;
} other;

/* Takes a pairing in for the same two servers, slowly, as another process may. */
static sotto_status take_slowly(sotto_tx *tx, void *context, sotto_err *err)
{
    static const struct timespec while_others_try = {.tv_nsec = 300000000};
    static const uint8_t secrets[100];
    other *o = context;
    sotto_sql q;

    SOTTO_TRY(sotto_tx_guard(tx, SOTTO_PROVISIONING, true, err));
    sotto_test_gate_open(&o->gate);
    SOTTO_TRY(sotto_test_gate_hold(tx, &o->gate, err));
    (void)nanosleep(&while_others_try, NULL);
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO pairing (fingerprint, peer, secrets, added) VALUES"
                                " ('another', ?1, ?2, 0)",
                                err));
    sotto_sql_text(&q, 1, "key:leader\nkey:helper");
    sotto_sql_bytes(&q, 2, sotto_bytes_of(secrets, sizeof secrets));
    return sotto_sql_run(&q, NULL, err);
}

static void note_done(void *context, sotto_status status, const sotto_err *err)
{
    other *o = context;

    (void)err;
    atomic_store(&o->done, status == SOTTO_OK);
}

/* Neither sees the other's row before it is there: whoever comes second must wait for it, in any process. */
static void what_is_added_at_once_is_compared_all_the_same(sotto_test *t)
{
    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (unsigned task = 0; task < 2; task++) {
        other o = {.gate = SOTTO_TEST_GATE(SOTTO_OK)};
        sotto_db_job job = {
            .fn = take_slowly, .context = &o, .done = note_done, .done_context = &o};
        sotto_server *empty = sotto_test_helper_twin(t, &s);

        sotto_db_post(empty->db, &job);
        sotto_test_gate_await(&o.gate);
        if (task) /* whose pairing can't be opened, but is seen */
            CHECK(t, add(t, empty, right_parties()) != SOTTO_OK);
        else
            CHECK_STATUS(t, SOTTO_DENIED,
                         sotto_pairing_put(empty->db, empty->columns, &s.pairing, &t->err));
        sotto_server_close(empty);
        CHECK(t, atomic_load(&o.done));
    }
    sotto_test_service_close(&s);
}

/* A row that was changed behind the server's back. */
static void a_stored_task_with_another_key_is_not_served(sotto_test *t)
{
    sotto_bytes parties;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    parties = strangers_parties(t);
    CHECK_OK(t, sotto_db_run(s.helper->db, overwrite, &parties, &t->err));
    sotto_test_helper_restart(t, &s);
    CHECK(t, sotto_tasks_find(s.helper->tasks, s.task.id) == NULL);
    CHECK_EQUAL(t, 1, sotto_tasks_broken(s.helper->tasks));
    CHECK_OK(t, add(t, s.helper, right_parties()));
    sotto_test_helper_restart(t, &s);
    CHECK(t, sotto_tasks_find(s.helper->tasks, s.task.id) != NULL);
    sotto_test_service_close(&s);
}

/* As whoever writes into the database, but has no datastore key, could have it: under the names that a task has. */
static void a_pairing_in_the_place_of_another_is_refused(sotto_test *t)
{
    static char rename[] = "UPDATE pairing SET peer = 'key:leader\nkey:helper'";
    uint8_t wire[SOTTO_COLLECTOR_CONFIG];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_config config = strangers(t);
    sotto_pairing others;
    sotto_server *empty;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    empty = sotto_test_helper_twin(t, &s);
    CHECK_OK(t, sotto_hpke_config_encode(&out, &config, &t->err));
    CHECK_OK(t, sotto_pairing_new(&others,
                                  &(sotto_paired){"key:one", "key:other", "key:collector",
                                                  s.task.leader_url, s.task.helper_url},
                                  sotto_buf_bytes(&out), &t->err));
    CHECK_OK(t, sotto_pairing_put(empty->db, empty->columns, &others, &t->err));
    CHECK_OK(t, sotto_db_run(empty->db, sotto_test_say, rename, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, add(t, empty, strangers_parties(t)));
    sotto_server_close(empty);
    sotto_test_service_close(&s);
}

/* What is listed of the one task. */
typedef struct listed {
    bool compiled, paired;
    char broken[160];
} listed;

static sotto_status keep_line(void *context, const sotto_task_line *line, sotto_err *err)
{
    listed *l = context;

    (void)err;
    *l = (listed){.compiled = line->task != NULL, .paired = line->paired};
    (void)snprintf(l->broken, sizeof l->broken, "%s", line->broken ? line->broken : "");
    return SOTTO_OK;
}

static listed list_it(sotto_test *t)
{
    listed l = {0};

    CHECK_OK(
        t, sotto_list_tasks(s.helper->db, s.helper->columns, SOTTO_HELPER, keep_line, &l, &t->err));
    return l;
}

/* A recipe that means something else is another task, under whatever name it is stored. */
static void a_row_that_was_altered_is_not_served(sotto_test *t)
{
    listed l;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    l = list_it(t);
    CHECK(t, l.compiled && l.paired && !l.broken[0]);
    CHECK_OK(t, sotto_db_run(s.helper->db, sotto_test_say,
                             "UPDATE task SET id = CAST('01234567890123456789012345678901' AS"
                             " {bytes})",
                             &t->err));
    l = list_it(t);
    CHECK(t, !l.compiled && strstr(l.broken, "altered") != NULL);
    sotto_test_helper_restart(t, &s);
    CHECK(t, sotto_tasks_find(s.helper->tasks, s.task.id) == NULL);
    CHECK_EQUAL(t, 1, sotto_tasks_broken(s.helper->tasks));
    sotto_test_service_close(&s);
}

/* No server of this database could use the pairing that is there. */
static void a_pairing_that_does_not_open_is_not_called_one(sotto_test *t)
{
    sotto_bytes parties;
    listed l;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    CHECK_OK(t, sotto_db_run(s.helper->db, sotto_test_say,
                             "UPDATE pairing SET secrets = CAST('no longer what was sealed, which"
                             " was much longer than this' AS {bytes})",
                             &t->err));
    l = list_it(t);
    CHECK(t, l.compiled && !l.paired && l.broken[0]);
    sotto_test_service_close(&s);
    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    parties = strangers_parties(t);
    CHECK_OK(t, sotto_db_run(s.helper->db, overwrite, &parties, &t->err));
    l = list_it(t);
    CHECK(t, l.compiled && !l.paired && strstr(l.broken, "another collector key") != NULL);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_task_with_another_key_than_the_paired_is_refused),
        CASE(a_served_task_keeps_its_key),
        CASE(a_task_that_waits_is_compared_when_its_pairing_comes),
        CASE(a_bare_task_that_waits_is_compared_too),
        CASE(what_is_added_at_once_is_compared_all_the_same),
        CASE(a_pairing_in_the_place_of_another_is_refused),
        CASE(a_stored_task_with_another_key_is_not_served),
        CASE(a_row_that_was_altered_is_not_served),
        CASE(a_pairing_that_does_not_open_is_not_called_one),
    };

    return RUN_TESTS(argc, argv, cases);
}
