/* Small jobs with long shares share one: what is added up, what is dropped with what, and what is left on the disk. */
#include "serve/tasks/folds.h"

#include "dap/dap.h"
#include "serve/tasks/repair.h"
#include "serve/tasks/schema.h"
#include "support/database.h"
#include "support/steps.h"

#include <stdio.h>
#include <string.h>

/* 601 bins: a share of 9,616 bytes, which 75 reports have to share. */
enum { CATEGORIES = 600, BINS = CATEGORIES + 1, EACH = 10, IN_A_FOLD = 8 };

static sotto_test_service s;

#define VERIFIED "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM sub_aggregate"
#define DROPPED  "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM rejection WHERE cause = 63"
#define FOLDS    "SELECT count(*) FROM fold"
#define WHOLE    "SELECT count(*) FROM sub_aggregate WHERE length(share) > 0"

static int64_t number(sotto_test *t, sotto_server *server, const char *sql)
{
    return sotto_test_ask_number(t, server->db, sql);
}

static void upload_jobs(sotto_test *t, unsigned first, unsigned end)
{
    for (unsigned job = first; job < end; job++) {
        sotto_test_upload_some(t, &s, EACH, job, SOTTO_TEST_SOUND);
        sotto_test_await(t, s.leader->db, VERIFIED, (int64_t)(job + 1) * EACH);
    }
}

static void open_service(sotto_test *t)
{
    s = (sotto_test_service){.fold = NULL};
    sotto_test_service_open(t, &s,
                            &(sotto_test_service_options){.job_delay_ms = 3600000,
                                                          .job_reports = EACH,
                                                          .categories = CATEGORIES});
}

/* The first `jobs` jobs are in the answer, each of a bin of its own, and nothing else is. */
static void check_collected(sotto_test *t, unsigned jobs)
{
    uint64_t reports = 0, counts[BINS] = {0};

    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, jobs * EACH, reports);
    for (unsigned i = 0; i < BINS; i++)
        CHECK_EQUAL(t, i < jobs ? EACH : 0, counts[i]);
}

/* ---- adding up ------------------------------------------------------------------------------------------------- */

static void small_jobs_share_one_share(sotto_test *t)
{
    open_service(t);
    upload_jobs(t, 0, 2 * IN_A_FOLD);
    for (unsigned side = 0; side < 2; side++) {
        sotto_server *server = side ? s.helper : s.leader;

        CHECK_EQUAL(t, 2, number(t, server, FOLDS)); /* the first was full */
        CHECK_EQUAL(t, 0, number(t, server, WHOLE));
        CHECK_EQUAL(t, 2 * IN_A_FOLD * EACH, number(t, server, VERIFIED));
        CHECK_EQUAL(t, s.task.sizes.out_share + SOTTO_COLUMN_OVERHEAD,
                    number(t, server, "SELECT CAST(max(length(share)) AS BIGINT) FROM fold"));
        CHECK_EQUAL(t, IN_A_FOLD * EACH, number(t, server, "SELECT min(reports) FROM fold"));
    }
    /* Both sides put the same jobs together. */
    CHECK_EQUAL(t, number(t, s.leader, "SELECT min(n) FROM fold"),
                number(t, s.helper, "SELECT min(n) FROM fold"));
    CHECK_EQUAL(t, number(t, s.leader, "SELECT max(n) FROM fold"),
                number(t, s.helper, "SELECT max(n) FROM fold"));
    check_collected(t, 2 * IN_A_FOLD);
    for (uint64_t until = 0; number(t, s.leader, "SELECT max(erased) FROM release") == 0 &&
                             sotto_test_waits(&until, 50);)
        ;
    CHECK_EQUAL(t, 0, number(t, s.leader, "SELECT count(*) FROM fold WHERE length(share) > 0"));
    sotto_test_service_close(&s);
}

/* A job of many reports pays for its share. */
static void a_large_job_keeps_its_share(sotto_test *t)
{
    uint64_t reports = 0, counts[BINS] = {0};

    open_service(t);
    s.leader->options.job_reports = 80;
    sotto_test_upload_some(t, &s, 80, 1, SOTTO_TEST_SOUND);
    sotto_test_await(t, s.leader->db, VERIFIED, 80);
    CHECK_EQUAL(t, 0, number(t, s.leader, FOLDS) + number(t, s.helper, FOLDS));
    CHECK_EQUAL(t, 2, number(t, s.leader, WHOLE) + number(t, s.helper, WHOLE));
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 80, reports);
    CHECK_EQUAL(t, 80, counts[1]);
    sotto_test_service_close(&s);
}

/* Its row is on disk, its answer is not, and its process is gone: it is added once, to the fold that the helper has it in. */
static void a_job_that_is_resumed_keeps_its_fold(sotto_test *t)
{
    open_service(t);
    upload_jobs(t, 0, 2);
    sotto_test_helper_stop(t, &s);
    sotto_test_upload_some(t, &s, EACH, 2, SOTTO_TEST_SOUND);
    sotto_test_await(t, s.leader->db, "SELECT count(*) FROM job WHERE state = 1", 1);
    sotto_test_leader_restart(t, &s);
    sotto_test_helper_start(t, &s);
    sotto_test_await(t, s.leader->db, VERIFIED, 3 * EACH);
    CHECK_EQUAL(t, 1, number(t, s.leader, FOLDS));
    CHECK_EQUAL(t, 1, number(t, s.helper, FOLDS));
    check_collected(t, 3);
    sotto_test_service_close(&s);
}

/* ---- dropping ---------------------------------------------------------------------------------------------------- */

/* The helper was put back from a copy that has half of the second fold. */
static void a_lost_job_takes_its_fold_along(sotto_test *t)
{
    const char *copy, *path;

    if (sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "copies of PostgreSQL are made by pg_dump");
    copy = sotto_test_temp(t, "copy.db");
    open_service(t);
    upload_jobs(t, 0, IN_A_FOLD + 2);
    CHECK_OK(t, sotto_db_backup(s.helper->db, copy, &t->err));
    upload_jobs(t, IN_A_FOLD + 2, 2 * IN_A_FOLD);
    path = s.helper_options.host.database + strlen("sqlite:");
    sotto_test_helper_stop(t, &s);
    CHECK_EQUAL(t, 0, rename(copy, path));
    sotto_test_helper_start(t, &s);
    check_collected(t, IN_A_FOLD);
    CHECK_EQUAL(t, IN_A_FOLD * EACH, number(t, s.leader, DROPPED));
    CHECK_EQUAL(t, 2 * EACH, number(t, s.helper, DROPPED));
    CHECK_EQUAL(t, 1, number(t, s.leader, FOLDS));
    CHECK_EQUAL(t, 1, number(t, s.helper, FOLDS));
    sotto_test_service_close(&s);
}

static const char *last_fold(sotto_test *t)
{
    char *text = sotto_arena_take(&t->arena, SOTTO_FOLD_TEXT);

    sotto_fold_encode(text, number(t, s.helper,
                                   "SELECT fold FROM sub_aggregate WHERE job = (SELECT n FROM job"
                                   " ORDER BY added DESC LIMIT 1)"));
    return text;
}

/* The helper has a job that the leader gave up, in the second fold. */
static void a_job_that_the_leader_gave_up_takes_its_fold_along(sotto_test *t)
{
    sotto_bytes report;
    sotto_test_job job;

    open_service(t);
    upload_jobs(t, 0, IN_A_FOLD);
    sotto_test_pause_ms(20); /* the next job is the last by the database's clock, too */
    upload_jobs(t, IN_A_FOLD, IN_A_FOLD + 1);
    report = sotto_test_sealed_report(t, &s, 9, SOTTO_TEST_SOUND);
    job = sotto_test_job_of(t, &s, &report, 1, NULL);
    s.fold = last_fold(t);
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    CHECK_EQUAL(t, 2, number(t, s.helper, FOLDS));
    check_collected(t, IN_A_FOLD);
    CHECK_EQUAL(t, EACH, number(t, s.leader, DROPPED));
    CHECK_EQUAL(t, EACH + 1, number(t, s.helper, DROPPED));
    sotto_test_service_close(&s);
}

/* Dropping it would drop what is folded with it in every one of them. */
static void a_job_of_several_batches_is_not_folded(sotto_test *t)
{
    sotto_bytes reports[2];
    sotto_test_job job;

    open_service(t);
    reports[0] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    s.bucket--;
    reports[1] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    s.bucket++;
    job = sotto_test_job_of(t, &s, reports, 2, NULL);
    s.fold = "77";
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    CHECK_EQUAL(t, 2, number(t, s.helper, WHOLE));
    CHECK_EQUAL(t, 0, number(t, s.helper, FOLDS));
    sotto_test_service_close(&s);
}

/* ---- rows alone ---------------------------------------------------------------------------------------------------- */

enum { JOBS = 5, BUCKET = 1000, FOLD = 50 };

typedef struct rows {
    sotto_db *db;
    sotto_column_keys keys;
    sotto_server_task task;
    sotto_server server;
    sotto_sub_aggregate sub, sum;
    sotto_repair_list list;
    sotto_dap_repair_resp named;
    uint64_t dropped;
    int64_t job;
    sotto_arena *arena;
} rows;

static const sotto_batch_range one_bucket = {.first_bucket = BUCKET, .end_bucket = BUCKET + 1};

static sotto_status add_one(sotto_tx *tx, void *context, sotto_err *err)
{
    rows *r = context;
    uint8_t id[SOTTO_RESOURCE_ID_SIZE] = {(uint8_t)r->job};
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "INSERT INTO job (n, task, id, state, bucket, batch, reports, added)"
                          " VALUES (?1, ?2, ?3, 2, 0, ?3, 1, 1)",
                          err));
    sotto_sql_int(&q, 1, r->job);
    sotto_sql_int(&q, 2, r->task.n);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(id, sizeof id));
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    return sotto_batch_add(tx, &r->keys, &r->task, r->job, &r->sub, r->arena, err);
}

/* Job i has i reports whose sum is i. */
static void add_job(sotto_test *t, rows *r, unsigned job, int64_t fold)
{
    uint8_t share[8] = {(uint8_t)job};
    sotto_tally sum;

    CHECK_OK(t, r->task.method->two_server->tally_init(&sum, &r->task.vdaf, &t->arena, &t->err));
    CHECK_OK(
        t, r->task.method->tally->decode(&sum, sotto_bytes_of(share, sizeof share), job, &t->err));
    r->job = job;
    r->sub = (sotto_sub_aggregate){.batch = sotto_batch_of_bucket(BUCKET),
                                   .reports = job,
                                   .first_bucket = BUCKET,
                                   .last_bucket = BUCKET,
                                   .fold = fold,
                                   .sum = &sum};
    if (!fold)
        CHECK_OK(t,
                 sotto_batch_seal_share(&r->sub.share, &r->keys, &r->task, job, &r->sub.batch,
                                        sotto_bytes_of(share, sizeof share), &t->arena, &t->err));
    CHECK_OK(t, sotto_db_run(r->db, add_one, r, &t->err));
}

/* Jobs 1 and 2 share a fold, 3 and 4 another, 5 is by itself. */
static void open_rows(sotto_test *t, rows *r)
{
    memset(r, 0, sizeof *r);
    r->keys.count = 1;
    r->task.n = 7;
    r->arena = &t->arena;
    r->server.role = SOTTO_LEADER;
    r->task.method = sotto_method_of(SOTTO_PRIO3_COUNT);
    CHECK_OK(t, sotto_vdaf_open(&r->task.vdaf,
                                &(sotto_vdaf_config){.type = SOTTO_PRIO3_COUNT, .shares = 2},
                                &t->arena, &t->err));
    r->db = sotto_test_db_at(t, sotto_test_address(t));
    CHECK_OK(t, sotto_db_migrate(r->db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    for (unsigned job = 1; job <= JOBS; job++)
        add_job(t, r, job, job == JOBS ? 0 : FOLD + (job - 1) / 2);
}

static sotto_status sum_all(sotto_tx *tx, void *context, sotto_err *err)
{
    rows *r = context;

    return sotto_batch_sum(tx, &r->sum, &r->keys, &r->task, &one_bucket, r->arena, err);
}

static void check_rows(sotto_test *t, rows *r, unsigned wanted)
{
    CHECK_OK(t, sotto_db_read(r->db, sum_all, r, &t->err));
    CHECK_EQUAL(t, wanted, r->sum.reports);
    CHECK_EQUAL(t, wanted, r->sum.share.data[0]);
}

static sotto_status drop_named(sotto_tx *tx, void *context, sotto_err *err)
{
    rows *r = context;

    SOTTO_TRY(sotto_repair_read(tx, &r->list, &r->server, &r->task, &one_bucket, r->arena, err));
    return sotto_repair_drop(tx, &r->dropped, &r->server, &r->task, &r->list, &r->named, -1,
                             r->arena, err);
}

/* A helper that folds nothing, or otherwise, names one job; what this side can't take apart goes with it. */
static void what_is_folded_with_a_named_job_is_dropped(sotto_test *t)
{
    static rows r;
    uint8_t named[2 * SOTTO_RESOURCE_ID_SIZE] = {[0] = 2, [SOTTO_RESOURCE_ID_SIZE] = 5};

    open_rows(t, &r);
    check_rows(t, &r, 15);
    r.named = (sotto_dap_repair_resp){sotto_bytes_of(named, sizeof named), 2};
    CHECK_OK(t, sotto_db_run(r.db, drop_named, &r, &t->err));
    CHECK_EQUAL(t, 1 + 2 + 5, r.dropped);
    check_rows(t, &r, 3 + 4);
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, r.db, FOLDS));
    sotto_db_close(r.db);
}

static sotto_status read_list(sotto_tx *tx, void *context, sotto_err *err)
{
    rows *r = context;

    return sotto_repair_read(tx, &r->list, &r->server, &r->task, &one_bucket, r->arena, err);
}

/* Nor does it count as agreed on. */
static void what_is_folded_with_a_job_that_differs_is_named(sotto_test *t)
{
    static rows r;
    sotto_repair_difference difference;
    sotto_dap_batch_selector selector = {.mode = SOTTO_DAP_TIME_INTERVAL, .interval = {BUCKET, 1}};
    sotto_buf wire = sotto_test_buf(t, 1024);
    sotto_dap_repair_req theirs;

    open_rows(t, &r);
    CHECK_OK(t, sotto_db_read(r.db, read_list, &r, &t->err));
    CHECK_EQUAL(t, JOBS, r.list.count);
    CHECK_OK(t, sotto_dap_repair_req_encode(&wire, &selector, &r.list.jobs[1], JOBS - 1, &t->err));
    CHECK_OK(t, sotto_dap_repair_req_decode(&theirs, sotto_buf_bytes(&wire), &t->err));
    CHECK_OK(t, sotto_repair_compare(&difference, &r.list, &theirs, &t->arena, &t->err));
    CHECK_EQUAL(t, 2, difference.jobs.count); /* job 1, which they lack, and job 2 */
    CHECK_EQUAL(t, 1, difference.jobs.dropped.data[0]);
    CHECK_EQUAL(t, 2, difference.jobs.dropped.data[SOTTO_RESOURCE_ID_SIZE]);
    CHECK_EQUAL(t, 3 + 4 + 5, difference.agreed);
    sotto_db_close(r.db);
}

/* A job's row is gone, or was put back, and its share is not: nothing is released. */
static void shares_that_are_not_those_of_the_jobs_are_no_sum(sotto_test *t)
{
    static rows r;

    open_rows(t, &r);
    sotto_test_do(t, r.db, "DELETE FROM sub_aggregate WHERE job = 3");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_db_read(r.db, sum_all, &r, &t->err));
    sotto_db_close(r.db);
}

static sotto_status put_old(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE fold SET share = ?1 WHERE n = 50", err));
    sotto_sql_bytes(&q, 1, *(sotto_bytes *)context);
    return sotto_sql_run(&q, NULL, err);
}

static void an_older_share_does_not_open(sotto_test *t)
{
    static rows r;
    sotto_bytes old;

    open_rows(t, &r);
    old = sotto_test_ask_bytes(t, r.db, "SELECT share FROM fold WHERE n = 50");
    add_job(t, &r, 6, FOLD);
    check_rows(t, &r, 21);
    CHECK_OK(t, sotto_db_run(r.db, put_old, &old, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_db_read(r.db, sum_all, &r, &t->err));
    sotto_db_close(r.db);
}

/* ---- the field -------------------------------------------------------------------------------------------------------- */

static void a_field_that_is_no_number_names_no_fold(sotto_test *t)
{
    static const char *const none[] = {"",
                                       "0",
                                       "-1",
                                       "+1",
                                       " 1",
                                       "1 ",
                                       "0x1",
                                       "1,2",
                                       "9223372036854775808",
                                       "18446744073709551617"};
    static const int64_t numbers[] = {1, 77, INT64_MAX};

    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        CHECK_EQUAL(t, 0, sotto_fold_decode(sotto_bytes_of(none[i], strlen(none[i]))));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[SOTTO_FOLD_TEXT];

        sotto_fold_encode(text, numbers[i]);
        CHECK_EQUAL(t, numbers[i], sotto_fold_decode(sotto_bytes_of(text, strlen(text))));
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(small_jobs_share_one_share),
        CASE(a_large_job_keeps_its_share),
        CASE(a_job_that_is_resumed_keeps_its_fold),
        CASE(a_lost_job_takes_its_fold_along),
        CASE(a_job_that_the_leader_gave_up_takes_its_fold_along),
        CASE(a_job_of_several_batches_is_not_folded),
        CASE(what_is_folded_with_a_named_job_is_dropped),
        CASE(what_is_folded_with_a_job_that_differs_is_named),
        CASE(shares_that_are_not_those_of_the_jobs_are_no_sum),
        CASE(an_older_share_does_not_open),
        CASE(a_field_that_is_no_number_names_no_fold),
    };

    return RUN_TESTS(argc, argv, cases);
}
