/* Leader and helper disagree about a batch: what both have is still released, and nothing else ever is. */
#define _POSIX_C_SOURCE 200809L
#include "support/repair.h"
#include "support/steps.h"

#include "serve/tasks/repair.h"
#include "support/database.h"
#include "transport/http_server.h"

#include <stdio.h>
#include <string.h>

enum { BINS = 16, JOBS = 4, EACH = 10 };

static sotto_test_service s;

static int64_t number(sotto_test *t, sotto_server *server, const char *sql)
{
    return sotto_test_ask_number(t, server->db, sql);
}

#define VERIFIED  "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM sub_aggregate"
#define DROPPED   "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM rejection WHERE cause = 63"
#define FIRST_JOB "(SELECT min(job) FROM sub_aggregate)"
#define LAST_JOB  "(SELECT max(job) FROM sub_aggregate)"

static sotto_bytes uploaded[JOBS]; /* requests, each of reports of one bin */
static sotto_dap_repair_job leaders_jobs[JOBS];
static size_t leaders_count;

static void upload_and_wait(sotto_test *t, unsigned job, unsigned count)
{
    int64_t before = number(t, s.leader, VERIFIED);
    size_t cap = count * (s.task.report_bytes + 64);
    sotto_buf body = sotto_test_buf(t, cap);

    CHECK(t, body.data != NULL);
    for (unsigned i = 0; i < count; i++) {
        sotto_bytes report = sotto_test_sealed_report(t, &s, job, SOTTO_TEST_SOUND);

        memcpy(body.data + body.len, report.data, report.len);
        body.len += report.len;
    }
    uploaded[job] = sotto_buf_bytes(&body);
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, uploaded[job]).status);
    for (uint64_t until = 0;
         number(t, s.leader, VERIFIED) < before + count && sotto_test_waits(&until, 10);)
        ;
}

/* Four jobs of ten reports, each of a bin of its own, verified and added up on both sides. */
static void open_with_jobs(sotto_test *t)
{
    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = EACH});
    for (unsigned j = 0; j < JOBS; j++)
        upload_and_wait(t, j, EACH);
    CHECK_EQUAL(t, JOBS * EACH, number(t, s.leader, VERIFIED));
    CHECK_EQUAL(t, JOBS * EACH, number(t, s.helper, VERIFIED));
    CHECK_EQUAL(t, JOBS, number(t, s.helper, "SELECT count(*) FROM sub_aggregate"));
}

/* All but `lost` of the jobs are in the answer, whole. */
static void check_collected(sotto_test *t, unsigned lost)
{
    uint64_t reports = 0, counts[BINS] = {0};
    unsigned whole = 0;

    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, (JOBS - lost) * EACH, reports);
    for (size_t i = 0; i < s.task.bins; i++) {
        CHECK(t, counts[i] == 0 || counts[i] == EACH);
        whole += counts[i] == EACH;
    }
    CHECK_EQUAL(t, JOBS - lost, whole);
}

static sotto_status read_jobs(sotto_tx *tx, void *context, sotto_err *err)
{
    static sotto_repair_list list;
    sotto_batch_range range = {.first_bucket = s.bucket, .end_bucket = s.bucket + 1};
    sotto_test *t = context;

    SOTTO_TRY(sotto_repair_read(tx, &list, s.leader, sotto_tasks_find(s.leader->tasks, s.task.id),
                                &range, &t->arena, err));
    memcpy(leaders_jobs, list.jobs, list.count * sizeof *list.jobs);
    leaders_count = list.count;
    return SOTTO_OK;
}

/* What the leader would send. */
static sotto_bytes leaders_request(sotto_test *t)
{
    CHECK_OK(t, sotto_db_read(s.leader->db, read_jobs, t, &t->err));
    return sotto_test_repair_of(t, &s, 1, leaders_jobs, leaders_count);
}

/* ---- what may go wrong, and is mended ------------------------------------------------------------------------- */

/* A helper that was put back from a copy. */
static void a_job_that_the_helper_lost_is_dropped(sotto_test *t)
{
    open_with_jobs(t);
    sotto_test_do(t, s.helper->db, "DELETE FROM sub_aggregate WHERE job = " FIRST_JOB);
    check_collected(t, 1);
    CHECK_EQUAL(t, EACH, number(t, s.leader, DROPPED));
    CHECK_EQUAL(t, 0, number(t, s.helper, DROPPED)); /* it had nothing to drop */
    CHECK_EQUAL(t, JOBS * EACH, number(t, s.leader, "SELECT count(*) FROM mark"));
    CHECK_EQUAL(t, 1, number(t, s.leader, "SELECT count(*) FROM job WHERE state = 4"));
    sotto_test_service_close(&s);
}

/* The same with all that a real loss takes: everything that the helper did after its copy was made is gone,
 * marks and jobs too. */
static void a_helper_put_back_from_a_copy_costs_what_came_after_it(sotto_test *t)
{
    const char *copy, *path;

    if (sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "copies of PostgreSQL are made by pg_dump");
    copy = sotto_test_temp(t, "copy.db");
    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = EACH});
    for (unsigned j = 0; j < JOBS; j++) {
        if (j == JOBS - 1)
            CHECK_OK(t, sotto_db_backup(s.helper->db, copy, &t->err));
        upload_and_wait(t, j, EACH);
    }
    path = s.helper_options.host.database + strlen("sqlite:");
    sotto_test_helper_stop(t, &s);
    CHECK_EQUAL(t, 0, rename(copy, path));
    sotto_test_helper_start(t, &s);
    CHECK_EQUAL(t, (JOBS - 1) * EACH, number(t, s.helper, VERIFIED));
    check_collected(t, 1);
    CHECK_EQUAL(t, EACH, number(t, s.leader, DROPPED));
    sotto_test_service_close(&s);
}

/* A leader that gave a job up which the helper had committed. */
static void a_job_that_the_leader_lost_is_dropped(sotto_test *t)
{
    open_with_jobs(t);
    sotto_test_do(t, s.leader->db, "DELETE FROM sub_aggregate WHERE job = " LAST_JOB);
    check_collected(t, 1);
    CHECK_EQUAL(t, 0, number(t, s.leader, DROPPED));
    CHECK_EQUAL(t, EACH, number(t, s.helper, DROPPED));
    CHECK_EQUAL(t, 1, number(t, s.helper, "SELECT count(*) FROM job WHERE state = 4"));
    CHECK_EQUAL(t, 1, number(t, s.helper, "SELECT count(*) FROM repair"));
    sotto_test_service_close(&s);
}

static void a_job_that_is_not_the_same_is_dropped_on_both_sides(sotto_test *t)
{
    open_with_jobs(t);
    sotto_test_do(t, s.helper->db,
                  "UPDATE sub_aggregate SET reports = reports + 1 WHERE job = " FIRST_JOB);
    check_collected(t, 1);
    CHECK_EQUAL(t, EACH, number(t, s.leader, DROPPED));
    CHECK_EQUAL(t, EACH + 1, number(t, s.helper, DROPPED));
    CHECK_EQUAL(t, JOBS * EACH, number(t, s.helper, "SELECT count(*) FROM mark"));
    sotto_test_service_close(&s);
}

static void a_batch_that_the_leader_selected_is_repaired_too(sotto_test *t)
{
    uint64_t reports = 0, counts[BINS] = {0};

    sotto_test_service_open(t, &s,
                            &(sotto_test_service_options){
                                .leader_selected = true, .job_delay_ms = 20, .job_reports = 1000});
    upload_and_wait(t, 0, 5);
    upload_and_wait(t, 1, 30); /* into the same batch, which is not full yet */
    sotto_test_do(t, s.helper->db, "UPDATE sub_aggregate SET reports = 6 WHERE reports = 5");
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 0, &reports, counts));
    CHECK_EQUAL(t, 30, reports);
    CHECK_EQUAL(t, 30, counts[1]);
    CHECK_EQUAL(t, 5, number(t, s.leader, DROPPED));
    CHECK_EQUAL(t, 6, number(t, s.helper, DROPPED));
    sotto_test_service_close(&s);
}

/* The helper dropped its part and the leader died before it heard of it: whoever goes on asks with the same bytes. */
static void a_leader_that_died_in_between_goes_on(sotto_test *t)
{
    sotto_http_response response;

    open_with_jobs(t);
    sotto_test_do(t, s.helper->db,
                  "UPDATE sub_aggregate SET reports = reports + 1 WHERE job = " FIRST_JOB);
    response = sotto_test_ask_repair(t, &s, leaders_request(t), s.pairing.leader_token);
    CHECK_EQUAL(t, 200, response.status);
    CHECK_EQUAL(t, EACH + 1, number(t, s.helper, DROPPED));
    CHECK_EQUAL(t, (JOBS - 1) * EACH, number(t, s.helper, VERIFIED));
    CHECK_EQUAL(t, JOBS * EACH, number(t, s.leader, VERIFIED));
    sotto_test_leader_restart(t, &s);
    sotto_test_helper_restart(t, &s);
    check_collected(t, 1);
    CHECK_EQUAL(t, EACH + 1, number(t, s.helper, DROPPED)); /* once */
    CHECK_EQUAL(t, EACH, number(t, s.leader, DROPPED));
    CHECK_EQUAL(t, 1, number(t, s.helper, "SELECT count(*) FROM repair"));
    sotto_test_service_close(&s);
}

/* The figure came after the batch had closed: nobody compared anything with it. */
static void a_repair_claims_no_rate_that_was_not_checked(sotto_test *t)
{
    static sotto_rejections told;

    open_with_jobs(t);
    sotto_test_do(t, s.helper->db, "DELETE FROM sub_aggregate WHERE job = " FIRST_JOB);
    sotto_test_do(t, s.helper->db, "ALTER TABLE release RENAME TO away");
    s.patience = 2;
    (void)sotto_test_collect(t, &s, 1, &(uint64_t){0}, (uint64_t[BINS]){0});
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM release WHERE state = 2"));
    sotto_test_do(t, s.leader->db, "UPDATE task SET population = 5000");
    sotto_test_do(t, s.helper->db, "ALTER TABLE away RENAME TO release");
    s.patience = 400;
    check_collected(t, 1);
    sotto_test_told_refusals(t, s.leader, &told);
    CHECK_EQUAL(t, EACH, told.count == 1 ? told.items[0].reports : 0);
    CHECK_EQUAL(t, SOTTO_RATE_OFF, told.rate);
    sotto_test_told_refusals(t, s.helper, &told);
    CHECK_EQUAL(t, SOTTO_RATE_OFF, told.rate);
    sotto_test_service_close(&s);
}

static void a_repeated_repair_gets_the_same_bytes(sotto_test *t)
{
    sotto_http_response first, again;
    sotto_bytes request;

    open_with_jobs(t);
    sotto_test_do(t, s.leader->db, "DELETE FROM sub_aggregate WHERE job = " FIRST_JOB);
    request = leaders_request(t);
    first = sotto_test_ask_repair(t, &s, request, s.pairing.leader_token);
    CHECK_EQUAL(t, 200, first.status);
    CHECK_EQUAL(t, 4 + SOTTO_RESOURCE_ID_SIZE, first.body.len); /* one job */
    sotto_test_helper_restart(t, &s);
    again = sotto_test_ask_repair(t, &s, request, s.pairing.leader_token);
    CHECK_EQUAL(t, first.body.len, again.body.len);
    CHECK_BYTES(t, first.body.data, again.body.data, first.body.len);
    check_collected(t, 1);
    /* After the release it is still the same answer, and changes nothing. */
    again = sotto_test_ask_repair(t, &s, request, s.pairing.leader_token);
    CHECK_EQUAL(t, first.body.len, again.body.len);
    CHECK_BYTES(t, first.body.data, again.body.data, first.body.len);
    CHECK_EQUAL(t, EACH, number(t, s.helper, DROPPED));
    sotto_test_service_close(&s);
}

/* ---- what may not be mended ------------------------------------------------------------------------------------- */

/* It failed for good, and the collector is told why. */
static void check_failed(sotto_test *t, const char *why)
{
    uint64_t reports = 0, counts[BINS] = {0};
    sotto_http_response response;

    CHECK_EQUAL(t, 400, sotto_test_collect(t, &s, 1, &reports, counts));
    response = sotto_test_ask_collection(t, &s);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_BATCH_MISMATCH));
    CHECK(t, sotto_test_says(&response, why));
    CHECK_EQUAL(t, 0, number(t, s.leader, DROPPED));
}

/* Each side has enough, but not of the same: nothing is dropped on either. */
static void what_both_agree_on_must_be_a_batch(sotto_test *t)
{
    open_with_jobs(t);
    sotto_test_do(t, s.helper->db,
                  "UPDATE sub_aggregate SET reports = reports + 1 WHERE job <> " FIRST_JOB);
    check_failed(t, "too few reports are left");
    CHECK_EQUAL(t, 0, number(t, s.helper, DROPPED));
    CHECK_EQUAL(t, JOBS, number(t, s.helper, "SELECT count(*) FROM sub_aggregate"));
    CHECK_EQUAL(t, 0, number(t, s.helper, "SELECT count(*) FROM repair"));
    sotto_test_service_close(&s);
}

/* ---- a helper of another make ---- */

static bool foreign_head(void *context, sotto_http_request *request, size_t *max_body)
{
    (void)context;
    (void)request;
    *max_body = 1 << 20;
    return true;
}

static sotto_bytes foreign_answer; /* to a repair; empty: 404 */

static void foreign_body(void *context, sotto_http_request *request)
{
    static const char type[] = "application/octet-stream";
    sotto_http_field field = {"Content-Type", type};

    (void)context;
    if (sotto_http_request_segment_is(request, 2, "aggregate_shares"))
        (void)sotto_http_refuse(
            request, &(sotto_http_problem){
                         .status = 400, .type = sotto_dap_problem_type(SOTTO_DAP_BATCH_MISMATCH)});
    else if (foreign_answer.len > 0)
        sotto_http_answer(request, &(sotto_http_reply){200, &field, 1, foreign_answer});
    else
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 404});
}

static const sotto_http_handler foreign = {.head = foreign_head, .body = foreign_body};

/* In the place of the helper. */
static sotto_http_server *open_foreign(sotto_test *t)
{
    sotto_http_server_options options = {.port = (uint16_t)sotto_server_port(s.helper)};
    sotto_http_server *server;

    sotto_server_close(s.helper);
    s.helper = NULL;
    CHECK_OK(t, sotto_http_server_open(&server, &options, &foreign, NULL, &t->err));
    return server;
}

static void a_helper_that_knows_no_repair_leaves_a_mismatch(sotto_test *t)
{
    sotto_http_server *server;

    open_with_jobs(t);
    foreign_answer = sotto_bytes_of(NULL, 0);
    server = open_foreign(t);
    s.patience = 800; /* it is asked more than once, and longer apart each time */
    check_failed(t, "the helper knows of no repair");
    CHECK_EQUAL(t, 3, number(t, s.leader, "SELECT repairs FROM release"));
    CHECK_EQUAL(t, JOBS, number(t, s.leader, "SELECT count(*) FROM sub_aggregate"));
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

/* One of its replicas is older than the others, or something before it was not ready: no reason to lose a batch. */
static void a_helper_that_knows_of_repairs_a_little_later_is_asked_again(sotto_test *t)
{
    char listen[32];
    sotto_http_server *server;

    open_with_jobs(t);
    sotto_test_do(t, s.helper->db, "DELETE FROM sub_aggregate WHERE job = " FIRST_JOB);
    foreign_answer = sotto_bytes_of(NULL, 0);
    (void)snprintf(listen, sizeof listen, "127.0.0.1:%u", (unsigned)sotto_server_port(s.helper));
    server = open_foreign(t);
    CHECK_EQUAL(t, 2, sotto_test_ask_collection(t, &s).status / 100);
    for (uint64_t until = 0;
         number(t, s.leader, "SELECT repairs FROM release") == 0 && sotto_test_waits(&until, 10);)
        ;
    CHECK_EQUAL(t, 1, number(t, s.leader, "SELECT repairs FROM release"));
    sotto_http_server_close(server);
    s.helper_options.host.listen = listen;
    CHECK_OK(t, sotto_server_open(&s.helper, &s.helper_options, &t->err));
    s.patience = 800;
    check_collected(t, 1);
    sotto_test_service_close(&s);
}

/* A helper that names so many jobs that too little is left, whatever it dropped itself. */
static void the_leader_keeps_to_the_minimum_by_itself(sotto_test *t)
{
    sotto_dap_repair_resp resp = {.count = JOBS - 1};
    uint8_t ids[JOBS * SOTTO_RESOURCE_ID_SIZE], memory[256];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_dap_repair_req req;
    sotto_dap_repair_job job;
    sotto_http_server *server;
    sotto_reader in;

    open_with_jobs(t);
    CHECK_OK(t, sotto_dap_repair_req_decode(&req, leaders_request(t), &t->err));
    in = sotto_reader_over(req.jobs);
    for (size_t i = 0; sotto_dap_repair_req_next(&in, &job); i++)
        memcpy(ids + i * SOTTO_RESOURCE_ID_SIZE, job.id, sizeof job.id);
    resp.dropped = sotto_bytes_of(ids, resp.count * SOTTO_RESOURCE_ID_SIZE);
    CHECK_OK(t, sotto_dap_repair_resp_encode(&out, &resp, &t->err));
    foreign_answer = sotto_buf_bytes(&out);
    server = open_foreign(t);
    check_failed(t, "too few reports are left");
    CHECK_EQUAL(t, JOBS, number(t, s.leader, "SELECT count(*) FROM sub_aggregate"));
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

/* One that answers, and differs all the same. */
static void a_helper_that_never_agrees_is_not_asked_for_ever(sotto_test *t)
{
    static const uint8_t none[4];
    sotto_http_server *server;

    open_with_jobs(t);
    foreign_answer = sotto_bytes_of(none, sizeof none);
    server = open_foreign(t);
    check_failed(t, "the servers differ after every repair");
    CHECK_EQUAL(t, 3, number(t, s.leader, "SELECT repairs FROM release"));
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

static void an_answer_that_is_none_leaves_a_mismatch(sotto_test *t)
{
    sotto_http_server *server;

    open_with_jobs(t);
    foreign_answer = sotto_bytes_of("rubbish", 7);
    server = open_foreign(t);
    check_failed(t, "answer to a repair is invalid");
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_job_that_the_helper_lost_is_dropped),
        CASE(a_helper_put_back_from_a_copy_costs_what_came_after_it),
        CASE(a_job_that_the_leader_lost_is_dropped),
        CASE(a_job_that_is_not_the_same_is_dropped_on_both_sides),
        CASE(a_batch_that_the_leader_selected_is_repaired_too),
        CASE(a_leader_that_died_in_between_goes_on),
        CASE(a_repair_claims_no_rate_that_was_not_checked),
        CASE(a_repeated_repair_gets_the_same_bytes),
        CASE(what_both_agree_on_must_be_a_batch),
        CASE(a_helper_that_knows_no_repair_leaves_a_mismatch),
        CASE(a_helper_that_knows_of_repairs_a_little_later_is_asked_again),
        CASE(the_leader_keeps_to_the_minimum_by_itself),
        CASE(a_helper_that_never_agrees_is_not_asked_for_ever),
        CASE(an_answer_that_is_none_leaves_a_mismatch),
    };

    return RUN_TESTS(argc, argv, cases);
}
