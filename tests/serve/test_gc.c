/* What goes when a task closed long ago, what stays, and that nothing can be counted again afterwards. */
#include "dap/upload.h"
#include "serve/leader/leader.h"
#include "serve/tasks/gc.h"
#include "serve/tasks/listing.h"
#include "support/database.h"
#include "support/steps.h"

enum { DAY = 86400 };

static sotto_gc old_enough(const sotto_test_service *s, sotto_role role)
{
    return (sotto_gc){.role = role,
                      .now = (int64_t)s->task.closes + 100 * DAY,
                      .late_seconds = 14 * DAY,
                      .keep_seconds = 90 * DAY,
                      .pass_rows = 7};
}

static int64_t rows(sotto_test *t, const sotto_server *server, const char *sql)
{
    return sotto_test_ask_number(t, server->db, sql);
}

static void clearing_away_leaves_what_was_released(sotto_test *t)
{
    sotto_test_service s;
    sotto_gc gc;
    uint64_t reports, counts[16];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 5});
    sotto_test_upload_some(t, &s, 20, 1, SOTTO_TEST_SOUND);
    (void)sotto_test_upload(t, &s, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_BAD_LEADER_SEAL));
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    gc = old_enough(&s, SOTTO_LEADER);
    CHECK_OK(t, sotto_gc_run(s.leader->db, &gc, &t->err));
    CHECK_EQUAL(t, 1, gc.retired);
    CHECK_EQUAL(t, 20, gc.marks);
    CHECK(t, gc.sub_aggregates > 0 && gc.jobs > 0);
    CHECK_EQUAL(t, 1, gc.refusals);
    CHECK_EQUAL(t, 0, rows(t, s.leader, "SELECT count(*) FROM mark"));
    CHECK_EQUAL(t, 0, rows(t, s.leader, "SELECT count(*) FROM refused"));
    CHECK_EQUAL(t, 1, atomic_load(&sotto_leader_of(s.leader)->noted));
    CHECK_EQUAL(t, 1, rows(t, s.leader, "SELECT count(*) FROM release WHERE state = 3"));
    CHECK_EQUAL(t, 1, rows(t, s.leader, "SELECT count(*) FROM rejection"));
    CHECK_OK(t, sotto_gc_run(s.leader->db, &gc, &t->err)); /* again: nothing left to do */
    CHECK_EQUAL(t, 0, gc.retired + gc.marks + gc.jobs);
    gc = old_enough(&s, SOTTO_HELPER);
    CHECK_OK(t, sotto_gc_run(s.helper->db, &gc, &t->err));
    CHECK_EQUAL(t, 20, gc.marks);
    /* A retired task is served by nobody who starts. */
    sotto_test_leader_restart(t, &s);
    CHECK(t, sotto_tasks_find(s.leader->tasks, s.task.id) == NULL);
    CHECK_EQUAL(t, 0,
                atomic_load(&sotto_leader_of(s.leader)->noted)); /* nor are its notes counted */
    CHECK_EQUAL(
        t, 404,
        sotto_test_upload(t, &s, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND)).status);
    sotto_test_service_close(&s);
}

/* Answers to repairs are kept for a leader that asks again, and nobody asks about a retired task. */
static void answers_to_repairs_go_with_their_task(sotto_test *t)
{
    sotto_test_service s;
    sotto_gc gc;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    sotto_test_do(t, s.helper->db,
                  "INSERT INTO repair (task, id, answer, reports, added)"
                  " SELECT n, id, id, 1, 0 FROM task");
    sotto_test_do(t, s.helper->db,
                  "INSERT INTO repair (task, id, answer, reports, added)"
                  " SELECT n + 1, id, id, 1, 0 FROM task");
    gc = old_enough(&s, SOTTO_HELPER);
    CHECK_OK(t, sotto_gc_run(s.helper->db, &gc, &t->err));
    CHECK_EQUAL(t, 1, gc.repairs);
    CHECK_EQUAL(t, 1, rows(t, s.helper, "SELECT count(*) FROM repair")); /* another task's */
    sotto_test_service_close(&s);
}

/* Rows that this version can't read: their neighbours are listed and cleared all the same. */
static sotto_status count_lines(void *context, const sotto_task_line *line, sotto_err *err)
{
    unsigned *lines = context; /* that can be read, and that can't */

    (void)err;
    lines[line->task == NULL]++;
    return (line->task == NULL) == (line->broken != NULL && line->id.len == 3) ? SOTTO_OK
                                                                               : SOTTO_BUG;
}

static void a_row_that_can_not_be_read_hides_no_other(sotto_test *t)
{
    static const char bad[] =
        "INSERT INTO task (n, id, role, recipe, parties, cohort, population, added) VALUES"
        " (1, CAST('one' AS {bytes}), 2, CAST('no recipe' AS {bytes}), CAST('' AS {bytes}), 0, 5,"
        " 1)";
    unsigned lines[2] = {0};
    sotto_test_service s;
    sotto_gc gc;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 5});
    sotto_test_upload_some(t, &s, 20, 1, SOTTO_TEST_SOUND);
    sotto_test_do(t, s.leader->db, bad);
    CHECK_OK(t, sotto_list_tasks(s.leader->db, NULL, SOTTO_LEADER, count_lines, lines, &t->err));
    CHECK_EQUAL(t, 1, lines[0]);
    CHECK_EQUAL(t, 1, lines[1]);
    sotto_test_leader_restart(t, &s); /* which finishes what is under way */
    gc = old_enough(&s, SOTTO_LEADER);
    CHECK_OK(t, sotto_gc_run(s.leader->db, &gc, &t->err));
    CHECK_EQUAL(t, 1, gc.broken);
    CHECK_EQUAL(t, 1, gc.retired + gc.waiting);
    CHECK_EQUAL(t, 1, rows(t, s.leader, "SELECT count(*) FROM task WHERE n = 1"));
    sotto_test_service_close(&s);
}

static void a_task_that_is_open_keeps_everything(sotto_test *t)
{
    sotto_test_service s;
    sotto_gc gc;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 5});
    sotto_test_upload_some(t, &s, 5, 1, SOTTO_TEST_SOUND);
    gc = old_enough(&s, SOTTO_LEADER);
    gc.now = (int64_t)s.task.closes + 89 * DAY;
    CHECK_OK(t, sotto_gc_run(s.leader->db, &gc, &t->err));
    CHECK_EQUAL(t, 0, gc.retired + gc.marks);
    CHECK_EQUAL(t, 5, rows(t, s.leader, "SELECT count(*) FROM mark"));
    sotto_test_service_close(&s);
}

static void a_task_with_reports_under_way_waits(sotto_test *t)
{
    sotto_test_service s;
    sotto_gc gc;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000});
    sotto_test_upload_some(t, &s, 3, 1, SOTTO_TEST_SOUND);
    gc = old_enough(&s, SOTTO_LEADER);
    CHECK_OK(t, sotto_gc_run(s.leader->db, &gc, &t->err));
    CHECK_EQUAL(t, 0, gc.retired);
    CHECK_EQUAL(t, 1, gc.waiting);
    CHECK_EQUAL(t, 3, rows(t, s.leader, "SELECT count(*) FROM mark"));
    sotto_test_service_close(&s);
}

static void one_run_clears_no_more_than_it_may(sotto_test *t)
{
    sotto_test_service s;
    sotto_gc gc;
    uint64_t reports, counts[16];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 5});
    sotto_test_upload_some(t, &s, 20, 1, SOTTO_TEST_SOUND);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    gc = old_enough(&s, SOTTO_LEADER);
    gc.most_rows = 9;
    CHECK_OK(t, sotto_gc_run(s.leader->db, &gc, &t->err));
    CHECK_EQUAL(t, 9, gc.marks);
    CHECK_EQUAL(t, 11, rows(t, s.leader, "SELECT count(*) FROM mark"));
    sotto_test_service_close(&s);
}

static void nothing_is_cleared_while_late_reports_may_come(sotto_test *t)
{
    sotto_test_service s;
    sotto_gc gc;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    gc = old_enough(&s, SOTTO_LEADER);
    gc.keep_seconds = 14 * DAY;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_gc_run(s.leader->db, &gc, &t->err));
    sotto_test_service_close(&s);
}

static uint8_t upload_error(sotto_test *t, sotto_test_service *s)
{
    sotto_http_response r =
        sotto_test_upload(t, s, sotto_test_sealed_report(t, s, 1, SOTTO_TEST_SOUND));
    sotto_dap_upload_errors errors;
    sotto_dap_upload_status status = {0};
    sotto_reader in;

    CHECK_EQUAL(t, 200, r.status);
    if (r.body.len == 0)
        return 0;
    CHECK_OK(t, sotto_dap_upload_errors_decode(&errors, r.body, &t->err));
    in = sotto_reader_over(errors.statuses);
    CHECK(t, sotto_dap_upload_errors_next(&in, &status));
    return status.error;
}

static void late_reports_are_refused(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.closed = true});
    CHECK_EQUAL(t, 0, upload_error(t, &s)); /* it closed a day ago: in time */
    sotto_test_service_close(&s);
    sotto_test_service_open(t, &s,
                            &(sotto_test_service_options){.closed = true, .late_seconds = 3600});
    CHECK_EQUAL(t, SOTTO_REPORT_DROPPED, upload_error(t, &s));
    sotto_test_service_close(&s);
}

static uint8_t job_error(sotto_test *t, sotto_test_service *s)
{
    sotto_bytes report = sotto_test_sealed_report(t, s, 1, SOTTO_TEST_SOUND);
    sotto_test_job job = sotto_test_job_of(t, s, &report, 1, NULL);
    sotto_http_response r = sotto_test_send_job(t, s, job.request);
    uint8_t error;

    CHECK_EQUAL(t, 201, r.status);
    sotto_test_job_errors(t, r.body, &error, 1);
    return error;
}

static void late_reports_are_refused_by_the_helper_too(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.closed = true});
    CHECK_EQUAL(t, 0, job_error(t, &s));
    sotto_test_service_close(&s);
    sotto_test_service_open(t, &s,
                            &(sotto_test_service_options){.closed = true, .late_seconds = 3600});
    CHECK_EQUAL(t, SOTTO_REPORT_DROPPED, job_error(t, &s));
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(clearing_away_leaves_what_was_released),
        CASE(answers_to_repairs_go_with_their_task),
        CASE(a_row_that_can_not_be_read_hides_no_other),
        CASE(a_task_that_is_open_keeps_everything),
        CASE(a_task_with_reports_under_way_waits),
        CASE(one_run_clears_no_more_than_it_may),
        CASE(nothing_is_cleared_while_late_reports_may_come),
        CASE(late_reports_are_refused),
        CASE(late_reports_are_refused_by_the_helper_too),
    };

    return RUN_TESTS(argc, argv, cases);
}
