/* A leader whose helper is of another make (DAP, "Leader Initialization", "Aggregation Job Abandonment and Deletion",
 * "Obtaining Aggregate Shares"). */
#define _POSIX_C_SOURCE 200809L
#include "dap/job.h"
#include "support/database.h"
#include "support/steps.h"
#include "transport/http_server.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { REPORTS = 20, LONGEST = 1 << 20 };

static sotto_test_service s;

/* What the helper does with a request. */
typedef struct manner {
    enum { REFUSES, NOT_READY, OTHER_REPORTS, FEWER, MORE, REVERSED, FINISHES } does;
    sotto_dap_problem problem; /* of REFUSES; SOTTO_DAP_PROBLEMS: none of DAP's */
    unsigned status;
    const char *location, *retry_after;
} manner;

/* ... and what it saw. */
static struct {
    pthread_mutex_t lock;
    manner now;
    unsigned jobs, deletions, shares;
    bool all_the_same; /* every job's body                     */
    char deleted[256]; /* the last segment of what was deleted */
    size_t first_len;
    uint8_t first[LONGEST];
} helper = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    (void)context;
    (void)request;
    *max_body = LONGEST;
    return true;
}

static manner note(sotto_http_request *request)
{
    manner now;
    sotto_bytes body = sotto_http_request_body(request), last;

    (void)pthread_mutex_lock(&helper.lock);
    if (sotto_http_request_method(request) == SOTTO_HTTP_DELETE) {
        last = sotto_http_request_segment(request, sotto_http_request_segments(request) - 1);
        helper.deletions++;
        (void)snprintf(helper.deleted, sizeof helper.deleted, "%.*s", (int)last.len,
                       (const char *)last.data);
    } else if (sotto_http_request_segment_is(request, 2, "aggregate_shares")) {
        helper.shares++;
    } else if (helper.jobs++ == 0) {
        memcpy(helper.first, body.data, body.len);
        helper.first_len = body.len;
        helper.all_the_same = true;
    } else {
        helper.all_the_same = helper.all_the_same && body.len == helper.first_len &&
                              memcmp(body.data, helper.first, body.len) == 0;
    }
    now = helper.now;
    (void)pthread_mutex_unlock(&helper.lock);
    return now;
}

static void set(manner now)
{
    (void)pthread_mutex_lock(&helper.lock);
    helper.now = now;
    (void)pthread_mutex_unlock(&helper.lock);
}

/* Answers for the reports of this job, but not as it should. */
static sotto_bytes misanswer(const manner *m, sotto_bytes request, uint8_t *memory)
{
    sotto_buf out = sotto_buf_over(memory, LONGEST);
    sotto_dap_verify_init inits[REPORTS];
    sotto_dap_job_init_req req;
    sotto_dap_list list;
    sotto_reader in;
    size_t count = 0;

    if (sotto_dap_job_init_req_decode(&req, request, SOTTO_DAP_DRAFT18, NULL) != SOTTO_OK ||
        sotto_dap_job_resp_begin(&list, &out, SOTTO_DAP_DRAFT18, NULL) != SOTTO_OK)
        return sotto_bytes_of(NULL, 0);
    in = sotto_reader_over(req.verify_inits);
    while (count < REPORTS && sotto_dap_job_init_req_next(&in, &inits[count]))
        count++;
    for (size_t i = 0; i < count + (m->does == MORE) - (m->does == FEWER); i++) {
        size_t which = m->does == REVERSED ? count - 1 - i : i < count ? i : 0;
        sotto_dap_verify_resp resp = {.type = SOTTO_DAP_VERIFY_REJECT,
                                      .error = SOTTO_REPORT_VDAF_VERIFY_ERROR};

        if (m->does == FINISHES)
            resp.type = SOTTO_DAP_VERIFY_FINISH;
        memcpy(resp.report_id, inits[which].metadata.report_id, sizeof resp.report_id);
        if (m->does == OTHER_REPORTS)
            resp.report_id[0] ^= 1;
        if (sotto_dap_job_resp_add(&list, &resp, NULL) != SOTTO_OK)
            return sotto_bytes_of(NULL, 0);
    }
    return sotto_buf_bytes(&out);
}

static void on_body(void *context, sotto_http_request *request)
{
    static uint8_t memory[LONGEST]; /* it has one loop */
    const manner m = note(request);
    bool is_dap = m.problem != SOTTO_DAP_PROBLEMS;
    sotto_http_field fields[2] = {{"Location", m.location}};
    size_t count = m.location ? 1 : 0;

    (void)context;
    if (m.retry_after)
        fields[count++] = (sotto_http_field){"Retry-After", m.retry_after};
    if (sotto_http_request_method(request) == SOTTO_HTTP_DELETE)
        sotto_http_answer(request, &(sotto_http_reply){.status = 204});
    else if (m.does == REFUSES)
        (void)sotto_http_refuse(
            request,
            &(sotto_http_problem){.status = m.status,
                                  .type = is_dap ? sotto_dap_problem_type(m.problem) : NULL});
    else if (m.does == NOT_READY)
        sotto_http_answer(request, &(sotto_http_reply){202, fields, count, {NULL, 0}});
    else
        sotto_http_answer(
            request, &(sotto_http_reply){201, fields, count,
                                         misanswer(&m, sotto_http_request_body(request), memory)});
}

/* Opens it in the place of ours. */
static sotto_http_server *open_other(sotto_test *t)
{
    static const sotto_http_handler handler = {.head = on_head, .body = on_body};
    sotto_http_server_options options = {.port = (uint16_t)sotto_server_port(s.helper), .loops = 1};
    sotto_http_server *server;

    sotto_server_close(s.helper);
    s.helper = NULL;
    helper.jobs = helper.deletions = helper.shares = 0;
    CHECK_OK(t, sotto_http_server_open(&server, &options, &handler, NULL, &t->err));
    return server;
}

static void upload(sotto_test *t)
{
    CHECK_EQUAL(
        t, 200,
        sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, REPORTS, 1, SOTTO_TEST_SOUND))
            .status);
}

static bool comes(sotto_test *t, const char *sql)
{
    return sotto_test_comes(t, s.leader->db, sql);
}

static unsigned seen(const unsigned *what)
{
    unsigned count;

    (void)pthread_mutex_lock(&helper.lock);
    count = *what;
    (void)pthread_mutex_unlock(&helper.lock);
    return count;
}

static bool comes_to(const unsigned *what, unsigned wanted)
{
    for (uint64_t until = 0; seen(what) < wanted && sotto_test_waits(&until, 20);)
        ;
    return seen(what) >= wanted;
}

/* Same reports, same order, all of them, and none finished in its first step. Else the job is abandoned, and the helper
 * told so where it said that its job is. */
static void an_answer_for_another_job_ends_the_job(sotto_test *t)
{
    static const int wrongs[] = {OTHER_REPORTS, FEWER, MORE, REVERSED, FINISHES};
    sotto_http_server *server;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 20});
    server = open_other(t);
    for (unsigned i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        char place[64], sql[80];

        (void)snprintf(place, sizeof place, "/wherever/it/likes/%u", i);
        (void)snprintf(sql, sizeof sql, "SELECT count(*) - %u FROM job WHERE state = 3", i);
        set((manner){.does = (unsigned)wrongs[i], .location = place});
        upload(t);
        CHECK(t, comes(t, sql));
        CHECK(t, comes_to(&helper.deletions, i + 1));
        CHECK_EQUAL(t, i + '0', helper.deleted[0]);
        CHECK_EQUAL(t, i + 1, seen(&helper.jobs)); /* its reports are in no other */
    }
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM sub_aggregate"));
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

/* The token goes along, so it goes to nobody else. */
static void nothing_is_deleted_elsewhere(sotto_test *t)
{
    sotto_http_server *server;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 20});
    server = open_other(t);
    /* The same machine, by another name and port. */
    set((manner){.does = OTHER_REPORTS, .location = "http://localhost/job"});
    upload(t);
    CHECK(t, comes(t, "SELECT count(*) FROM job WHERE state = 3"));
    set((manner){.does = OTHER_REPORTS, .location = "/job"});
    upload(t);
    CHECK(t, comes_to(&helper.deletions, 1));
    CHECK_EQUAL(t, 1, seen(&helper.deletions));
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

static void a_helper_that_is_not_ready_is_asked_when_it_says(sotto_test *t)
{
    sotto_http_server *server;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 20});
    server = open_other(t);
    set((manner){
        .does = NOT_READY, .location = "/tasks/x/aggregation_jobs/y?step=0", .retry_after = "60"});
    upload(t);
    CHECK(t, comes(t, "SELECT count(*) FROM sotto_lease WHERE held = 0 AND attempts > 0 AND"
                      " ready_at > {now} + 50000 AND ready_at <= {now} + 60000"));
    CHECK_EQUAL(t, 1, seen(&helper.jobs));
    set((manner){.does = NOT_READY, .retry_after = "1000000"}); /* nobody waits for that long */
    CHECK_OK(t, sotto_db_run(s.leader->db, sotto_test_say,
                             "UPDATE sotto_lease SET ready_at = 0 WHERE held = 0", &t->err));
    CHECK(t, comes_to(&helper.jobs, 2));
    CHECK(t, comes(t, "SELECT count(*) FROM sotto_lease WHERE held = 0 AND attempts > 1 AND"
                      " ready_at > {now} + 60000 AND ready_at <= {now} + 120000"));
    CHECK(t, helper.all_the_same);
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

/* A job is on disk before it is sent, and is sent again as it was, by whichever process. */
static void a_job_is_repeated_byte_for_byte(sotto_test *t)
{
    sotto_http_server *server;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 20});
    server = open_other(t);
    set((manner){.does = REFUSES, .problem = SOTTO_DAP_PROBLEMS, .status = 500});
    upload(t);
    CHECK(t, comes_to(&helper.jobs, 2));
    sotto_test_leader_restart(t, &s);
    CHECK_OK(t, sotto_db_run(s.leader->db, sotto_test_say,
                             "UPDATE sotto_lease SET ready_at = 0 WHERE held = 0", &t->err));
    CHECK(t, comes_to(&helper.jobs, seen(&helper.jobs) + 1));
    CHECK(t, helper.all_the_same);
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

/* ---- shares ----------------------------------------------------------------------------------------------------- */

static sotto_http_server *open_verified(sotto_test *t)
{
    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 20});
    upload(t);
    CHECK(t, comes(t, "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) - 19 FROM sub_aggregate"));
    return open_other(t);
}

static void what_the_helper_says_of_a_share_is_what_the_collector_hears(sotto_test *t)
{
    static const sotto_dap_problem problems[] = {SOTTO_DAP_BATCH_OVERLAP,
                                                 SOTTO_DAP_BATCH_INVALID,
                                                 SOTTO_DAP_INVALID_BATCH_SIZE,
                                                 SOTTO_DAP_INVALID_MESSAGE,
                                                 SOTTO_DAP_UNSUPPORTED_EXTENSION,
                                                 SOTTO_DAP_INVALID_EXTENSION,
                                                 SOTTO_DAP_INVALID_AGGREGATION_PARAMETER};

    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        uint64_t reports = 0, counts[16] = {0};
        sotto_http_server *server = open_verified(t);
        sotto_http_response told;

        set((manner){.does = REFUSES, .problem = problems[i], .status = 400});
        CHECK_EQUAL(t, 400, sotto_test_collect(t, &s, 1, &reports, counts));
        told = sotto_test_ask_collection(t, &s);
        CHECK(t, sotto_test_is_problem(&told, problems[i]));
        CHECK_EQUAL(t, 1, seen(&helper.shares)); /* what is final is asked once */
        sotto_http_server_close(server);
        sotto_test_service_close(&s);
    }
}

/* A token that is not known yet, a helper that is being updated: no reason to lose a batch. */
static void what_may_change_is_waited_for(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};
    sotto_http_server *server = open_verified(t);

    set((manner){.does = REFUSES, .problem = SOTTO_DAP_PROBLEMS, .status = 401});
    s.patience = 10;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK(t, comes_to(&helper.shares, 2));
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

static void a_share_that_is_not_ready_is_asked_for_when_the_helper_says(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};
    sotto_http_server *server = open_verified(t);

    set((manner){.does = NOT_READY, .retry_after = "60"});
    s.patience = 4;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK(t, comes(t, "SELECT count(*) FROM sotto_lease WHERE held = 0 AND attempts > 0 AND"
                      " ready_at > {now} + 50000 AND ready_at <= {now} + 60000"));
    CHECK_EQUAL(t, 1, seen(&helper.shares));
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_answer_for_another_job_ends_the_job),
        CASE(nothing_is_deleted_elsewhere),
        CASE(a_helper_that_is_not_ready_is_asked_when_it_says),
        CASE(a_job_is_repeated_byte_for_byte),
        CASE(what_the_helper_says_of_a_share_is_what_the_collector_hears),
        CASE(what_may_change_is_waited_for),
        CASE(a_share_that_is_not_ready_is_asked_for_when_the_helper_says),
    };

    return RUN_TESTS(argc, argv, cases);
}
