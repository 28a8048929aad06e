/* Which problem, and which report error, each mistake has (DAP, "Helper Initialization", "Input Share Validation",
 * "Collection Job Initialization", "Obtaining Aggregate Shares"). */
#include "dap/collect.h"
#include "dap/job.h"
#include "dap/task_configuration.h"
#include "dap/upload.h"
#include "support/service.h"

#include <stdio.h>
#include <string.h>

#define BATCH_ID "0202020202020202020202020202020202020202020202020202020202020202"

static sotto_test_service s;

static void has_problem(sotto_test *t, const char *name, const sotto_http_response *r,
                        sotto_dap_problem problem)
{
    if (!sotto_test_is_problem(r, problem))
        (void)fprintf(stderr, "%s: %u %.*s\n", name, r->status, (int)r->body.len,
                      (const char *)r->body.data);
    CHECK(t, sotto_test_is_problem(r, problem));
}

/* ---- aggregation jobs ------------------------------------------------------------------------------------------- */

/* The head of a job in hex, then the reports of one that is right. */
static sotto_http_response send_head(sotto_test *t, const char *head)
{
    sotto_bytes report = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    sotto_test_job job = sotto_test_job_of(t, &s, &report, 1, NULL);
    sotto_buf out = sotto_test_buf(t, job.request.len + 256);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_bytes(&w, sotto_test_hex(t, head));
    sotto_write_bytes(&w, sotto_bytes_of(job.request.data + 7, job.request.len - 7));
    CHECK_OK(t, sotto_writer_finish(&w, "job", &t->err));
    return sotto_test_send_job(t, &s, sotto_buf_bytes(&out));
}

static void a_job_is_refused_by_what_is_wrong_with_it(sotto_test *t)
{
    static const struct {
        const char *name, *head;
        sotto_dap_problem problem;
    } cases[] = {
        {"an unknown extension", "0000000000000400020000", SOTTO_DAP_UNSUPPORTED_EXTENSION},
        {"an unknown extension behind a known one", "0000000000002800010020" BATCH_ID "00070000",
         SOTTO_DAP_UNSUPPORTED_EXTENSION},
        {"extensions out of order", "000000000000080007000000020000", SOTTO_DAP_INVALID_MESSAGE},
        {"an extension twice", "000000000000080007000000070000", SOTTO_DAP_INVALID_MESSAGE},
        {"a parameter",
         "000000000161"
         "0000",
         SOTTO_DAP_INVALID_AGGREGATION_PARAMETER},
        {"another verification key", "01000000000000", SOTTO_DAP_INVALID_MESSAGE},
        {"a batch id in the other mode", "0000000000002400010020" BATCH_ID,
         SOTTO_DAP_INVALID_MESSAGE},
    };
    sotto_http_response r;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        r = send_head(t, cases[i].head);
        has_problem(t, cases[i].name, &r, cases[i].problem);
    }
    CHECK_EQUAL(t, 201, send_head(t, "00000000000000").status);
    sotto_test_service_close(&s);
}

static void a_selected_batch_has_an_id(sotto_test *t)
{
    sotto_http_response r;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.leader_selected = true});
    r = send_head(t, "00000000000000");
    has_problem(t, "no id", &r, SOTTO_DAP_INVALID_MESSAGE);
    r = send_head(t, "00000000000006"
                     "000100020202");
    has_problem(t, "a short id", &r, SOTTO_DAP_INVALID_MESSAGE);
    CHECK_EQUAL(t, 201, send_head(t, "0000000000002400010020" BATCH_ID).status);
    sotto_test_service_close(&s);
}

/* ---- reports ---------------------------------------------------------------------------------------------------- */

static uint8_t error_in_job(sotto_test *t, sotto_bytes report)
{
    uint8_t error = 0;

    sotto_test_job_errors(
        t, sotto_test_send_job(t, &s, sotto_test_job_of(t, &s, &report, 1, NULL).request).body,
        &error, 1);
    return error;
}

static uint8_t error_at_upload(sotto_test *t, sotto_bytes report)
{
    sotto_http_response r = sotto_test_upload(t, &s, report);
    sotto_dap_upload_status status = {.error = 0};
    sotto_reader in = sotto_reader_over(r.body);

    CHECK_EQUAL(t, 200, r.status);
    return sotto_dap_upload_errors_next(&in, &status) ? status.error : 0;
}

/* A report of the time to come and outside of the task's interval never becomes right: nobody is told to try again. */
static void outside_of_the_task_comes_before_too_early(sotto_test *t)
{
    const struct {
        uint64_t after; /* the last bucket of the task */
        uint8_t at_leader, at_helper;
    } cases[] = {
        {0, SOTTO_REPORT_TOO_EARLY, SOTTO_REPORT_TOO_EARLY},
        {1, SOTTO_REPORT_DROPPED, SOTTO_REPORT_TASK_EXPIRED},
        {1000000, SOTTO_REPORT_DROPPED, SOTTO_REPORT_TASK_EXPIRED},
        {UINT64_MAX / 3600, SOTTO_REPORT_DROPPED, SOTTO_REPORT_TASK_EXPIRED},
        {UINT64_MAX / 2, SOTTO_REPORT_DROPPED, SOTTO_REPORT_TASK_EXPIRED},
    };

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        s.bucket = sotto_dap_time_of(s.task.closes, s.task.precision) - 1 + cases[i].after;
        CHECK_EQUAL(t, cases[i].at_leader,
                    error_at_upload(t, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND)));
        CHECK_EQUAL(t, cases[i].at_helper,
                    error_in_job(t, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND)));
    }
    s.bucket = sotto_dap_time_of(s.task.opens, s.task.precision) - 1;
    CHECK_EQUAL(t, SOTTO_REPORT_DROPPED,
                error_at_upload(t, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND)));
    CHECK_EQUAL(t, SOTTO_REPORT_TASK_NOT_STARTED,
                error_in_job(t, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND)));
    s.bucket++;
    CHECK_EQUAL(t, 0, error_in_job(t, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND)));
    sotto_test_service_close(&s);
}

/* Another report, of another time, under the same id: it is the id that counts. */
static void an_id_is_taken_once_in_a_task(sotto_test *t)
{
    sotto_sim_random before;
    sotto_bytes one, other;
    sotto_buf both;
    sotto_writer w;
    sotto_dap_upload_status status;
    sotto_http_response r;
    sotto_reader in;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    before = s.random;
    one = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    s.random = before;
    s.bucket--;
    other = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    CHECK_BYTES(t, one.data, other.data, SOTTO_REPORT_ID_SIZE);
    CHECK_EQUAL(t, 0, error_in_job(t, one));
    CHECK_EQUAL(t, SOTTO_REPORT_REPLAYED, error_in_job(t, other));
    /* In one upload, side by side: one of them is taken. */
    both = sotto_test_buf(t, one.len + other.len + one.len);
    w = sotto_writer_on(&both);
    sotto_write_bytes(&w, one);
    sotto_write_bytes(&w, other);
    sotto_write_bytes(&w, one);
    CHECK_OK(t, sotto_writer_finish(&w, "reports", &t->err));
    r = sotto_test_upload(t, &s, sotto_buf_bytes(&both));
    in = sotto_reader_over(r.body);
    for (int i = 0; i < 2; i++) {
        CHECK(t, sotto_dap_upload_errors_next(&in, &status));
        CHECK_EQUAL(t, SOTTO_REPORT_REPLAYED, status.error);
        CHECK_BYTES(t, one.data, status.report_id, sizeof status.report_id);
    }
    CHECK_EQUAL(t, 0, sotto_reader_left(&in));
    sotto_test_service_close(&s);
}

static void what_the_helper_opens_is_looked_at(sotto_test *t)
{
    static const struct {
        sotto_test_flaw flaw;
        uint8_t error;
    } cases[] = {
        {SOTTO_TEST_EXTENSION, SOTTO_REPORT_INVALID_MESSAGE},
        {SOTTO_TEST_PRIVATE_EXTENSION, SOTTO_REPORT_INVALID_MESSAGE},
        {SOTTO_TEST_SHORT_SHARE, SOTTO_REPORT_INVALID_MESSAGE},
    };

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_EQUAL(t, cases[i].error,
                    error_in_job(t, sotto_test_sealed_report(t, &s, 1, cases[i].flaw)));
    sotto_test_service_close(&s);
}

/* The same job, with another message of the leader's for its one report. */
static sotto_bytes with_payload(sotto_test *t, sotto_bytes request, sotto_bytes payload)
{
    sotto_dap_job_init_req req;
    sotto_dap_verify_init init;
    sotto_dap_list list;
    sotto_buf out = sotto_test_buf(t, request.len + payload.len);
    sotto_reader in;

    CHECK_OK(t, sotto_dap_job_init_req_decode(&req, request, SOTTO_DAP_DRAFT18, &t->err));
    in = sotto_reader_over(req.verify_inits);
    CHECK(t, sotto_dap_job_init_req_next(&in, &init));
    init.payload = payload;
    CHECK_OK(t, sotto_dap_job_init_req_begin(&list, &out, &req, SOTTO_DAP_DRAFT18, &t->err));
    CHECK_OK(t, sotto_dap_job_init_req_add(&list, &init, &t->err));
    CHECK_OK(t, sotto_dap_list_end(&list, &t->err));
    return sotto_buf_bytes(&out);
}

static void a_message_that_is_none_fails_the_verification(sotto_test *t)
{
    static const char *const payloads[] = {
        "07",           /* no such type               */
        "0000000005aa", /* shorter than it says       */
        "0000000001aa", /* a verifier share of a byte */
        "0200000001aa", /* the helper's own word      */
    };

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
        sotto_bytes report = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
        sotto_bytes job = sotto_test_job_of(t, &s, &report, 1, NULL).request;
        uint8_t error = 0;

        job = with_payload(t, job, sotto_test_hex(t, payloads[i]));
        sotto_test_job_errors(t, sotto_test_send_job(t, &s, job).body, &error, 1);
        CHECK_EQUAL(t, SOTTO_REPORT_VDAF_VERIFY_ERROR, error);
    }
    sotto_test_service_close(&s);
}

/* ---- collections and shares ------------------------------------------------------------------------------------- */

/* A CollectionJobReq, put together by hand. */
typedef struct query {
    unsigned mode;
    uint64_t start, duration; /* of mode 1 */
    const char *agg_param, *extensions;
} query;

static void write_query(sotto_test *t, sotto_writer *w, const query *q)
{
    sotto_write_uint(w, q->mode, 1);
    sotto_write_uint(w, q->mode == SOTTO_DAP_TIME_INTERVAL ? 16 : 0, 2);
    if (q->mode == SOTTO_DAP_TIME_INTERVAL) {
        sotto_write_uint(w, q->start, 8);
        sotto_write_uint(w, q->duration, 8);
    }
    sotto_write_opaque32(w, sotto_test_hex(t, q->agg_param ? q->agg_param : ""));
    sotto_write_opaque16(w, sotto_test_hex(t, q->extensions ? q->extensions : ""));
}

static sotto_http_response collect(sotto_test *t, const query *q)
{
    sotto_buf out = sotto_test_buf(t, 256);
    sotto_writer w = sotto_writer_on(&out);

    write_query(t, &w, q);
    CHECK_OK(t, sotto_writer_finish(&w, "query", &t->err));
    return sotto_test_post(t, &s, true, "collection_jobs", SOTTO_DAP_COLLECTION_JOB_REQ,
                           s.pairing.collector_token, sotto_buf_bytes(&out));
}

/* selector: as a query; a batch id in mode 2. */
static sotto_http_response ask_share(sotto_test *t, const query *q, const query *selector,
                                     const sotto_test_job *job)
{
    sotto_buf out = sotto_test_buf(t, 512);
    sotto_writer w = sotto_writer_on(&out);

    write_query(t, &w, q);
    sotto_write_uint(&w, selector->mode, 1);
    sotto_write_uint(&w, selector->mode == SOTTO_DAP_TIME_INTERVAL ? 16 : 32, 2);
    if (selector->mode == SOTTO_DAP_TIME_INTERVAL) {
        sotto_write_uint(&w, selector->start, 8);
        sotto_write_uint(&w, selector->duration, 8);
    } else {
        sotto_write_bytes(&w, sotto_test_hex(t, BATCH_ID));
    }
    sotto_write_uint(&w, job->count, 8);
    sotto_write_bytes(&w, sotto_bytes_of(job->checksum, sizeof job->checksum));
    CHECK_OK(t, sotto_writer_finish(&w, "share request", &t->err));
    return sotto_test_post(t, &s, false, "aggregate_shares", SOTTO_DAP_AGGREGATE_SHARE_REQ,
                           s.pairing.leader_token, sotto_buf_bytes(&out));
}

static void a_collection_is_refused_by_what_is_wrong_with_it(sotto_test *t)
{
    const uint64_t b = 500000;
    const struct {
        const char *name;
        query q;
        sotto_dap_problem problem;
    } cases[] = {
        {"the other mode", {2, 0, 0, NULL, NULL}, SOTTO_DAP_INVALID_MESSAGE},
        {"no mode", {9, 0, 0, NULL, NULL}, SOTTO_DAP_INVALID_MESSAGE},
        {"a parameter", {1, b, 1, "61", NULL}, SOTTO_DAP_INVALID_AGGREGATION_PARAMETER},
        {"no time", {1, b, 0, NULL, NULL}, SOTTO_DAP_BATCH_INVALID},
        {"past all time", {1, b, UINT64_MAX, NULL, NULL}, SOTTO_DAP_BATCH_INVALID},
        {"an extension", {1, b, 1, NULL, "00010000"}, SOTTO_DAP_UNSUPPORTED_EXTENSION},
        {"out of order", {1, b, 1, NULL, "0002000000010000"}, SOTTO_DAP_INVALID_EXTENSION},
        {"twice", {1, b, 1, NULL, "0001000000010000"}, SOTTO_DAP_INVALID_EXTENSION},
        {"a malformed list", {1, b, 1, NULL, "000100"}, SOTTO_DAP_INVALID_MESSAGE},
    };
    sotto_http_response r;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        r = collect(t, &cases[i].q);
        has_problem(t, cases[i].name, &r, cases[i].problem);
    }
    CHECK_EQUAL(t, 201, collect(t, &(query){1, b, 1, NULL, NULL}).status);
    sotto_test_service_close(&s);
}

/* Part of what was collected, more than it, and beside it. */
static void what_was_collected_is_not_part_of_another_batch(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};
    sotto_http_response r;
    uint64_t b;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    b = s.bucket;
    CHECK_EQUAL(
        t, 200,
        sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 20, 1, SOTTO_TEST_SOUND)).status);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 2, &reports, counts));
    r = collect(t, &(query){1, b, 1, NULL, NULL});
    has_problem(t, "its first half", &r, SOTTO_DAP_BATCH_OVERLAP);
    r = collect(t, &(query){1, b + 1, 1, NULL, NULL});
    has_problem(t, "its second half", &r, SOTTO_DAP_BATCH_OVERLAP);
    r = collect(t, &(query){1, b - 5, 10, NULL, NULL});
    has_problem(t, "all around it", &r, SOTTO_DAP_BATCH_OVERLAP);
    CHECK_EQUAL(t, 201, collect(t, &(query){1, b + 2, 1, NULL, NULL}).status);
    CHECK_EQUAL(t, 201, collect(t, &(query){1, b - 1, 1, NULL, NULL}).status);
    sotto_test_service_close(&s);
}

/* Asked for five buckets; there are reports in two of them, not side by side. */
static void an_answer_names_the_smallest_interval(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};
    sotto_dap_collection_resp resp;
    uint64_t b;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    b = s.bucket -= 4;
    for (unsigned i = 0; i < 2; i++) {
        s.bucket = b + 1 + 2 * i;
        CHECK_EQUAL(
            t, 200,
            sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 10, 1, SOTTO_TEST_SOUND))
                .status);
    }
    s.bucket = b;
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 5, &reports, counts));
    CHECK_OK(t, sotto_dap_collection_resp_decode(&resp, s.answer, &t->err));
    CHECK_EQUAL(t, 20, resp.report_count);
    CHECK_EQUAL(t, b + 1, resp.interval.start);
    CHECK_EQUAL(t, 3, resp.interval.duration);
    sotto_test_service_close(&s);
}

static sotto_test_job twenty(sotto_test *t)
{
    sotto_bytes reports[20];
    sotto_test_job job;

    for (size_t i = 0; i < 20; i++)
        reports[i] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    job = sotto_test_job_of(t, &s, reports, 20, NULL);
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    return job;
}

static void a_share_is_refused_by_what_is_wrong_with_the_question(sotto_test *t)
{
    sotto_test_job job;
    sotto_http_response r;
    uint64_t b;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    b = s.bucket;
    job = twenty(t);
    const query right = {1, b, 1, NULL, NULL}, wider = {1, b - 3, 9, NULL, NULL};
    const struct {
        const char *name;
        query q, selector;
        sotto_dap_problem problem;
    } cases[] = {
        {"a selector of the other mode", right, {2, 0, 0, NULL, NULL}, SOTTO_DAP_INVALID_MESSAGE},
        {"a query of the other mode", {2, 0, 0, NULL, NULL}, right, SOTTO_DAP_INVALID_MESSAGE},
        {"both", {2, 0, 0, NULL, NULL}, {2, 0, 0, NULL, NULL}, SOTTO_DAP_INVALID_MESSAGE},
        {"a parameter", {1, b, 1, "61", NULL}, right, SOTTO_DAP_INVALID_MESSAGE},
        {"no time", right, {1, b, 0, NULL, NULL}, SOTTO_DAP_BATCH_INVALID},
        {"outside of the query", right, {1, b, 2, NULL, NULL}, SOTTO_DAP_BATCH_INVALID},
        {"before the query", right, {1, b - 1, 1, NULL, NULL}, SOTTO_DAP_BATCH_INVALID},
        {"a query past all time", {1, b, UINT64_MAX, NULL, NULL}, right, SOTTO_DAP_BATCH_INVALID},
        {"an extension", {1, b, 1, NULL, "00010000"}, right, SOTTO_DAP_UNSUPPORTED_EXTENSION},
        {"out of order", {1, b, 1, NULL, "0002000000010000"}, right, SOTTO_DAP_INVALID_EXTENSION},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        r = ask_share(t, &cases[i].q, &cases[i].selector, &job);
        has_problem(t, cases[i].name, &r, cases[i].problem);
    }
    CHECK_EQUAL(t, 201, ask_share(t, &wider, &right, &job).status); /* a selector may be narrower */
    r = ask_share(t, &right, &right, &job);
    has_problem(t, "another question for the same bucket", &r, SOTTO_DAP_BATCH_OVERLAP);
    sotto_test_service_close(&s);
}

/* A batch id that was released takes no more, and is not released again. */
static void a_selected_batch_is_released_once(sotto_test *t)
{
    const query q = {.mode = SOTTO_DAP_LEADER_SELECTED};
    uint8_t id[32], errors[1];
    sotto_bytes reports[21];
    sotto_http_response first, r;
    sotto_test_job job, more;

    memset(id, 2, sizeof id);
    sotto_test_service_open(t, &s, &(sotto_test_service_options){.leader_selected = true});
    for (size_t i = 0; i < 21; i++)
        reports[i] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    job = sotto_test_job_of(t, &s, reports, 20, id);
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    r = ask_share(t, &(query){1, s.bucket, 1, NULL, NULL}, &q, &job);
    has_problem(t, "a query of the other mode", &r, SOTTO_DAP_INVALID_MESSAGE);
    first = ask_share(t, &q, &q, &job);
    CHECK_EQUAL(t, 201, first.status);
    more = sotto_test_job_of(t, &s, reports + 20, 1, id);
    sotto_test_job_errors(t, sotto_test_send_job(t, &s, more.request).body, errors, 1);
    CHECK_EQUAL(t, SOTTO_REPORT_BATCH_COLLECTED, errors[0]);
    r = ask_share(t, &q, &q, &job);
    CHECK_EQUAL(t, first.body.len, r.body.len);
    CHECK_BYTES(t, first.body.data, r.body.data, first.body.len);
    job.count++;
    r = ask_share(t, &q, &q, &job);
    has_problem(t, "the same batch, other numbers", &r, SOTTO_DAP_BATCH_OVERLAP);
    sotto_test_service_close(&s);
}

/* Times are multiplied by the precision; one that wraps around would open a task before its time. */
static void a_task_past_all_time_is_not_taken(sotto_test *t)
{
    static const struct {
        uint64_t start, duration;
        sotto_status status;
    } cases[] = {
        {UINT64_MAX / 3600 + 1, 1, SOTTO_MALFORMED},
        {5, UINT64_MAX - 4, SOTTO_MALFORMED},
        {5, UINT64_MAX - 5, SOTTO_OK}, /* no end, and nobody will see that */
        {5, 0, SOTTO_MALFORMED},
    };
    sotto_task_configuration c;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    CHECK_OK(t, sotto_task_configuration_decode(&c, s.task.configuration, &t->err));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sotto_buf wire = sotto_test_buf(t, 1024);
        uint8_t id[SOTTO_TASK_ID_SIZE];
        sotto_bare_task bare = {.leader = "key:leader",
                                .helper = "key:helper",
                                .collector_config = sotto_test_hex(t, s.pairing.collector_key)};

        c.extensions = sotto_bytes_of(NULL, 0);
        c.interval_start = cases[i].start;
        c.interval_duration = cases[i].duration;
        CHECK_OK(t, sotto_task_configuration_encode(&wire, &c, &t->err));
        bare.configuration = sotto_buf_bytes(&wire);
        CHECK_STATUS(t, cases[i].status,
                     sotto_tasks_add_bare(s.leader->db, s.leader->columns, SOTTO_LEADER, &bare, 0,
                                          id, &t->err));
    }
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_job_is_refused_by_what_is_wrong_with_it),
        CASE(a_selected_batch_has_an_id),
        CASE(outside_of_the_task_comes_before_too_early),
        CASE(an_id_is_taken_once_in_a_task),
        CASE(what_the_helper_opens_is_looked_at),
        CASE(a_message_that_is_none_fails_the_verification),
        CASE(a_collection_is_refused_by_what_is_wrong_with_it),
        CASE(what_was_collected_is_not_part_of_another_batch),
        CASE(an_answer_names_the_smallest_interval),
        CASE(a_share_is_refused_by_what_is_wrong_with_the_question),
        CASE(a_selected_batch_is_released_once),
        CASE(a_task_past_all_time_is_not_taken),
    };

    return RUN_TESTS(argc, argv, cases);
}
