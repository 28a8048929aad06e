/* Collections that were asked for and have no answer: how many, since when, and why. */
#define _POSIX_C_SOURCE 200809L
#include "serve/host/health.h"
#include "serve/leader/collection.h"
#include "serve/leader/leader_health.h"
#include "serve/leader/stalled.h"
#include "support/database.h"
#include "support/service.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static sotto_test_service s;

typedef struct looking {
    sotto_tasks *tasks;
    sotto_stalled stalled;
} looking;

static sotto_status look_in(sotto_tx *tx, void *context, sotto_err *err)
{
    looking *l = context;

    return sotto_stalled_look(tx, &l->stalled, l->tasks, err);
}

static sotto_stalled look(sotto_test *t)
{
    looking l = {.tasks = s.leader->tasks};

    CHECK_OK(t, sotto_db_read(s.leader->db, look_in, &l, &t->err));
    return l.stalled;
}

static void say(sotto_test *t, const char *sql)
{
    CHECK_OK(t, sotto_db_run(s.leader->db, sotto_test_say, (void *)(uintptr_t)sql, &t->err));
}

/* Asks once, for the first bucket, as if two hours ago. */
static void ask(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};

    s.patience = 1;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    say(t, "UPDATE release SET added = added - 7200000");
}

static void upload(sotto_test *t, size_t count)
{
    static const char verified[] = "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT)"
                                   " FROM sub_aggregate";
    sotto_bytes reports = sotto_test_sealed_reports(t, &s, count, 1, SOTTO_TEST_SOUND);

    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, reports).status);
    for (uint64_t until = 0; sotto_test_ask_number(t, s.leader->db, verified) < (int64_t)count &&
                             sotto_test_waits(&until, 20);)
        ;
}

static void open_service(sotto_test *t)
{
    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 5});
}

static void too_few_reports_are_told(sotto_test *t)
{
    char id[SOTTO_DAP_ID_TEXT_MAX];
    sotto_stalled found;

    open_service(t);
    CHECK_EQUAL(t, 0, look(t).count);
    upload(t, 5);
    ask(t);
    found = look(t);
    sotto_dap_id_encode(id, sotto_bytes_of(s.task.id, sizeof s.task.id));
    CHECK_EQUAL(t, 1, found.count);
    CHECK(t, found.seconds >= 7200 && found.seconds < 7300);
    CHECK(t, !found.closed && strcmp(found.task, id) == 0);
    CHECK(t, strstr(found.why, "too few reports: 5 of 20 are verified") != NULL);
    say(t, "UPDATE release SET added = added + 7195000"); /* it may yet be answered in time */
    CHECK_EQUAL(t, 0, look(t).count);
    say(t, "UPDATE release SET added = 0");
    say(t, "INSERT INTO retired (task, since) SELECT n, 0 FROM task");
    CHECK_EQUAL(t, 0, look(t).count); /* nobody can answer it any more */
    sotto_test_service_close(&s);
}

static void a_hold_is_told(sotto_test *t)
{
    open_service(t);
    say(t, "UPDATE task SET population = 10");
    upload(t, 21);
    ask(t);
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM held"));
    CHECK(t, strstr(look(t).why, "held (`sotto admin batch list`)") != NULL);
    sotto_test_service_close(&s);
}

static void what_can_not_be_read_is_told(sotto_test *t)
{
    char sql[300];

    open_service(t);
    upload(t, 5);
    (void)snprintf(sql, sizeof sql,
                   "INSERT INTO segment (n, task, bucket, reports, skip, owner, added, unreadable)"
                   " SELECT 1, n, %llu, 1, CAST('' AS {bytes}), 2, {now} + 1000000000, 'damaged'"
                   " FROM task",
                   (unsigned long long)s.bucket);
    say(t, sql);
    ask(t);
    CHECK(t, strstr(look(t).why, "can't be read (`sotto admin segment list`)") != NULL);
    sotto_test_service_close(&s);
}

static void a_batch_that_the_leader_selects_is_not_there_yet(sotto_test *t)
{
    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 5, .leader_selected = true});
    upload(t, 5);
    ask(t);
    CHECK(t, strstr(look(t).why, "no further batch has 20 verified reports") != NULL);
    sotto_test_service_close(&s);
}

/* As the leader itself says it, which looks every ten seconds. */
static void a_silent_helper_is_told(sotto_test *t)
{
    char id[SOTTO_DAP_ID_TEXT_MAX], wanted[200], text[4096];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);
    sotto_leader_health_view view;

    open_service(t);
    upload(t, 20);
    sotto_server_close(s.helper);
    s.helper = NULL;
    ask(t);
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM release WHERE state = 2"));
    CHECK(t, look(t).closed);
    (void)sotto_last_seen_look(sotto_leader_of(s.leader)->health, &view);
    for (uint64_t until = 0;
         !strstr(view.stalled.why, "does not answer") && sotto_test_waits(&until, 20);)
        (void)sotto_last_seen_look(sotto_leader_of(s.leader)->health, &view);
    CHECK(t, sotto_health_describe(s.leader->host, &out)); /* ready all the same */
    text[out.len] = 0;
    sotto_dap_id_encode(id, sotto_bytes_of(s.task.id, sizeof s.task.id));
    (void)snprintf(wanted, sizeof wanted,
                   "\ncollections: 1 asked for, not answered; the oldest, 2 h ago, of task %s: the"
                   " helper does not answer: ",
                   id);
    CHECK(t, strstr(text, wanted) != NULL);
    sotto_test_service_close(&s);
}

static bool retry_of(int64_t n, char reason[SOTTO_STEP_REASON])
{
    int64_t of;

    return sotto_steps_last_retry(sotto_leader_of(s.leader)->steps,
                                  &sotto_leader_queues[SOTTO_LEADER_COLLECTIONS], &of, reason) &&
           of == n;
}

/* The helper's answer is the same 503 as that of one that is busy: whoever looks is told of both. */
static void a_hold_of_the_helpers_is_told(sotto_test *t)
{
    char reason[SOTTO_STEP_REASON] = "";
    int64_t n;

    open_service(t);
    CHECK_OK(
        t, sotto_db_run(s.helper->db, sotto_test_say, "UPDATE task SET population = 10", &t->err));
    upload(t, 21);
    ask(t);
    n = sotto_test_ask_number(t, s.leader->db, "SELECT n FROM release");
    for (uint64_t until = 0; !retry_of(n, reason) && sotto_test_waits(&until, 20);)
        ;
    CHECK(t, strcmp(reason, "the helper said 503: its operator may hold the batch") == 0);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(too_few_reports_are_told),     CASE(a_hold_is_told),
        CASE(what_can_not_be_read_is_told), CASE(a_batch_that_the_leader_selects_is_not_there_yet),
        CASE(a_silent_helper_is_told),      CASE(a_hold_of_the_helpers_is_told),
    };

    return RUN_TESTS(argc, argv, cases);
}
