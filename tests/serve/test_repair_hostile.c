/* A leader that would misuse repairs, and a helper that believes it in nothing. */
#include "support/repair.h"

#include "support/database.h"

#include <string.h>

enum { MOST = 64 };

#define VERIFIED "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM sub_aggregate"
#define DROPPED  "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM rejection WHERE cause = 63"

static sotto_test_service s;

static int64_t number(sotto_test *t, sotto_server *server, const char *sql)
{
    return sotto_test_ask_number(t, server->db, sql);
}

static void make(sotto_test *t, sotto_bytes *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
}

static sotto_test_job send_job(sotto_test *t, const sotto_bytes *reports, size_t count)
{
    sotto_test_job job = sotto_test_job_of(t, &s, reports, count, NULL);

    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    return job;
}

static void refused(sotto_test *t, sotto_bytes request, sotto_dap_problem problem)
{
    sotto_http_response response = sotto_test_ask_repair(t, &s, request, s.pairing.leader_token);

    CHECK_EQUAL(t, 400, response.status);
    CHECK(t, sotto_test_is_problem(&response, problem));
}

/* A share of 31 reports, then the wish to have one of 30: the difference would be one report. */
static void no_repair_follows_a_release(sotto_test *t)
{
    sotto_bytes reports[MOST], request;
    sotto_test_job job, one, both[2];
    sotto_http_response first, again;
    uint8_t checksum[SOTTO_CHECKSUM_SIZE];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, reports, 31);
    job = send_job(t, reports, 30);
    one = send_job(t, reports + 30, 1);
    memcpy(checksum, job.checksum, sizeof checksum);
    sotto_dap_checksum_merge(checksum, one.checksum);
    first = sotto_test_ask_share(t, &s, 1, 31, checksum);
    CHECK_EQUAL(t, 201, first.status);
    request = sotto_test_repair_request(t, &s, 1, &job, 1);
    refused(t, request, SOTTO_DAP_BATCH_OVERLAP);
    refused(t, sotto_test_repair_request(t, &s, 2, &job, 1),
            SOTTO_DAP_BATCH_OVERLAP); /* a wider one */
    both[0] = job;
    both[1] = one;
    refused(t, sotto_test_repair_request(t, &s, 1, both, 2),
            SOTTO_DAP_BATCH_OVERLAP); /* one that drops nothing */
    again = sotto_test_ask_share(t, &s, 1, 30, job.checksum);
    CHECK(t, sotto_test_is_problem(&again, SOTTO_DAP_BATCH_OVERLAP));
    again = sotto_test_ask_share(t, &s, 1, 31, checksum);
    CHECK_EQUAL(t, first.body.len, again.body.len);
    CHECK_BYTES(t, first.body.data, again.body.data, first.body.len);
    CHECK_EQUAL(t, 0, number(t, s.helper, DROPPED));
    sotto_test_service_close(&s);
}

/* The other way round: what was dropped before the release does not come back after it. */
static void what_was_dropped_does_not_come_back(sotto_test *t)
{
    sotto_bytes reports[MOST];
    sotto_test_job job, one, both[2];
    sotto_http_response share;
    uint8_t errors[2];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, reports, 32);
    job = send_job(t, reports, 30);
    one = send_job(t, reports + 30, 1);
    CHECK_EQUAL(t, 200,
                sotto_test_ask_repair(t, &s, sotto_test_repair_request(t, &s, 1, &job, 1),
                                      s.pairing.leader_token)
                    .status);
    CHECK_EQUAL(t, 1, number(t, s.helper, DROPPED));
    /* Its request is known and has its answer, but adds nothing; in another job its report is a replay. */
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, one.request).status);
    CHECK_EQUAL(t, 30, number(t, s.helper, VERIFIED));
    sotto_test_job_errors(
        t, sotto_test_send_job(t, &s, sotto_test_job_of(t, &s, reports + 30, 2, NULL).request).body,
        errors, 2);
    CHECK_EQUAL(t, SOTTO_REPORT_REPLAYED, errors[0]);
    CHECK_EQUAL(t, 0, errors[1]);
    CHECK_EQUAL(t, 200,
                sotto_test_ask_repair(t, &s, sotto_test_repair_request(t, &s, 1, &job, 1),
                                      s.pairing.leader_token)
                    .status);
    share = sotto_test_ask_share(t, &s, 1, 30, job.checksum);
    CHECK(t, sotto_test_is_problem(&share,
                                   SOTTO_DAP_BATCH_MISMATCH)); /* a stored answer drops nothing */
    both[0] = job;
    both[1] = one;
    CHECK_EQUAL(t, 200,
                sotto_test_ask_repair(t, &s, sotto_test_repair_request(t, &s, 1, both, 2),
                                      s.pairing.leader_token)
                    .status);
    CHECK_EQUAL(t, 201, sotto_test_ask_share(t, &s, 1, 30, job.checksum).status);
    refused(t, sotto_test_repair_request(t, &s, 1, &one, 1), SOTTO_DAP_BATCH_OVERLAP);
    sotto_test_service_close(&s);
}

/* Nor is it unsent: this operator knows of ten devices and expects twenty reports at most. */
static void what_was_dropped_counts_for_the_rate(sotto_test *t)
{
    sotto_bytes reports[MOST];
    sotto_test_job job;
    uint8_t memory[64];
    sotto_buf ids = sotto_buf_over(memory, sizeof memory);
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    CHECK_OK(t, sotto_tasks_add(s.helper->db, s.helper->columns, SOTTO_HELPER,
                                sotto_bytes_of(s.recipe_text, strlen(s.recipe_text)),
                                sotto_bytes_of(s.parties_text, strlen(s.parties_text)), 10,
                                sotto_bytes_of(NULL, 0), &ids, mistakes, &t->err));
    make(t, reports, 21);
    job = send_job(t, reports, 20);
    (void)send_job(t, reports + 20, 1);
    CHECK_EQUAL(t, 200,
                sotto_test_ask_repair(t, &s, sotto_test_repair_request(t, &s, 1, &job, 1),
                                      s.pairing.leader_token)
                    .status);
    CHECK_EQUAL(t, 503, sotto_test_ask_share(t, &s, 1, 20, job.checksum).status);
    sotto_test_service_close(&s);
}

static void a_repair_leaves_a_batch_or_nothing(sotto_test *t)
{
    sotto_bytes reports[MOST];
    sotto_test_job jobs[2];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.min_cohort = 20});
    make(t, reports, 38);
    jobs[0] = send_job(t, reports, 19);
    jobs[1] = send_job(t, reports + 19, 19);
    refused(t, sotto_test_repair_request(t, &s, 1, jobs, 1), SOTTO_DAP_INVALID_BATCH_SIZE);
    refused(t, sotto_test_repair_request(t, &s, 1, jobs, 0), SOTTO_DAP_INVALID_BATCH_SIZE);
    CHECK_EQUAL(t, 38, number(t, s.helper, VERIFIED));
    CHECK_EQUAL(t, 0, number(t, s.helper, DROPPED));
    /* Both agree on all of it: nothing is dropped, and nothing stored. */
    CHECK_EQUAL(t, 200,
                sotto_test_ask_repair(t, &s, sotto_test_repair_request(t, &s, 1, jobs, 2),
                                      s.pairing.leader_token)
                    .status);
    CHECK_EQUAL(t, 38, number(t, s.helper, VERIFIED));
    CHECK_EQUAL(t, 0, number(t, s.helper, "SELECT count(*) FROM repair"));
    sotto_test_service_close(&s);
}

/* A job that added to two buckets, one of which was released, is dropped from neither. */
static void a_job_with_a_released_bucket_stays_whole(sotto_test *t)
{
    sotto_bytes reports[MOST];
    sotto_test_job first, wide, other;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, reports, 21);
    s.bucket--;
    make(t, reports + 21, 21);
    wide = send_job(t, reports, 42);
    (void)wide;
    s.bucket++;
    first = sotto_test_job_of(t, &s, reports, 21, NULL);
    CHECK_EQUAL(t, 201, sotto_test_ask_share(t, &s, 1, 21, first.checksum).status);
    s.bucket--;
    make(t, reports, 20);
    other = send_job(t, reports, 20);
    refused(t, sotto_test_repair_request(t, &s, 1, &other, 1), SOTTO_DAP_BATCH_OVERLAP);
    CHECK_EQUAL(t, 62, number(t, s.helper, VERIFIED));
    sotto_test_service_close(&s);
}

static void requests_that_are_none_are_refused(sotto_test *t)
{
    static const uint8_t rubbish[] = {1, 2, 3};
    sotto_bytes reports[MOST], request;
    sotto_test_job job;
    uint8_t *large;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, reports, 20);
    job = send_job(t, reports, 20);
    request = sotto_test_repair_request(t, &s, 1, &job, 1);
    refused(t, sotto_bytes_of(rubbish, sizeof rubbish), SOTTO_DAP_INVALID_MESSAGE);
    refused(t, sotto_bytes_of(request.data, request.len - 1), SOTTO_DAP_INVALID_MESSAGE);
    refused(t, sotto_test_repair_request(t, &s, 0, &job, 1), SOTTO_DAP_BATCH_INVALID);
    CHECK_EQUAL(t, 401, sotto_test_ask_repair(t, &s, request, NULL).status);
    CHECK_EQUAL(t, 401, sotto_test_ask_repair(t, &s, request, s.pairing.collector_token).status);
    CHECK_EQUAL(t, 401, sotto_test_ask_repair(t, &s, request, s.pairing.rejection_token).status);
    CHECK_EQUAL(t, 415,
                sotto_test_post(t, &s, false, "repairs", SOTTO_DAP_AGGREGATE_SHARE_REQ,
                                s.pairing.leader_token, request)
                    .status);
    CHECK_EQUAL(t, 404,
                sotto_test_post(t, &s, true, "repairs", SOTTO_DAP_REPAIR_REQ,
                                s.pairing.leader_token, request)
                    .status);
    large = sotto_arena_take(&t->arena, SOTTO_DAP_REPAIR_REQ_MAX + 1);
    CHECK(t, large != NULL);
    CHECK_EQUAL(t, 413,
                sotto_test_ask_repair(t, &s, sotto_bytes_of(large, SOTTO_DAP_REPAIR_REQ_MAX + 1),
                                      s.pairing.leader_token)
                    .status);
    CHECK_EQUAL(t, 0, number(t, s.helper, DROPPED));
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(no_repair_follows_a_release),
        CASE(what_was_dropped_does_not_come_back),
        CASE(what_was_dropped_counts_for_the_rate),
        CASE(a_repair_leaves_a_batch_or_nothing),
        CASE(a_job_with_a_released_bucket_stays_whole),
        CASE(requests_that_are_none_are_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
