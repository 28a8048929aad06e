/* A helper against a leader that is not to be trusted: each report once, each batch once, and never too small. */
#include "serve/tasks/answer.h"
#include "support/database.h"
#include "support/service.h"
#include "support/unknown_key.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

static void make(sotto_test *t, sotto_test_service *s, sotto_bytes *out, size_t count, uint64_t bin)
{
    for (size_t i = 0; i < count; i++)
        out[i] = sotto_test_sealed_report(t, s, bin, SOTTO_TEST_SOUND);
}

static void a_repeated_job_gets_the_same_bytes(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes reports[MOST];
    sotto_test_job job;
    sotto_http_response first, second;
    uint8_t errors[MOST];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, &s, reports, 20, 1);
    job = sotto_test_job_of(t, &s, reports, 20, NULL);
    first = sotto_test_send_job(t, &s, job.request);
    CHECK_EQUAL(t, 201, first.status);
    sotto_test_job_errors(t, first.body, errors, 20);
    for (size_t i = 0; i < 20; i++)
        CHECK_EQUAL(t, 0, errors[i]);
    sotto_test_helper_restart(t, &s);
    second = sotto_test_send_job(t, &s, job.request);
    CHECK_EQUAL(t, first.body.len, second.body.len);
    CHECK_BYTES(t, first.body.data, second.body.data, first.body.len);
    /* It was added once: the sum has 20 reports, not 40. */
    CHECK_EQUAL(t, 201, sotto_test_ask_share(t, &s, 1, 20, job.checksum).status);
    sotto_test_service_close(&s);
}

/* How many rows all of it left. */
static int64_t traces(sotto_test *t, const sotto_test_service *s)
{
    return sotto_test_ask_number(t, s->helper->db,
                                 "SELECT (SELECT count(*) FROM mark) + (SELECT count(*) FROM job) +"
                                 " (SELECT count(*) FROM sub_aggregate) +"
                                 " (SELECT count(*) FROM rejection)");
}

/* Whatever can't be stored: else marks without an answer would make replays of reports that are in no sum, and sums
 * without marks would take them again. */
static void a_job_is_committed_whole_or_not_at_all(sotto_test *t)
{
    static char failures[][2][80] = {
        {"ALTER TABLE mark RENAME COLUMN bucket TO away",
         "ALTER TABLE mark RENAME COLUMN away TO bucket"},
        {"ALTER TABLE sub_aggregate RENAME COLUMN checksum TO away",
         "ALTER TABLE sub_aggregate RENAME COLUMN away TO checksum"},
        {"ALTER TABLE rejection RENAME COLUMN shard TO away",
         "ALTER TABLE rejection RENAME COLUMN away TO shard"},
        {"ALTER TABLE job RENAME COLUMN added TO away",
         "ALTER TABLE job RENAME COLUMN away TO added"},
    };
    sotto_test_service s;
    sotto_bytes reports[MOST];
    sotto_test_job job, sound;
    uint8_t errors[MOST];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, &s, reports, 20, 1);
    sound = sotto_test_job_of(t, &s, reports, 20, NULL);
    reports[20] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_BAD_PROOF);
    job = sotto_test_job_of(t, &s, reports, 21, NULL);
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        sotto_test_do(t, s.helper->db, failures[i][0]);
        CHECK_EQUAL(t, 500, sotto_test_send_job(t, &s, job.request).status);
        sotto_test_do(t, s.helper->db, failures[i][1]);
        CHECK_EQUAL(t, 0, traces(t, &s));
    }
    sotto_test_job_errors(t, sotto_test_send_job(t, &s, job.request).body, errors, 21);
    for (size_t i = 0; i < 21; i++)
        CHECK_EQUAL(t, i < 20 ? 0 : SOTTO_REPORT_VDAF_VERIFY_ERROR, errors[i]);
    CHECK_EQUAL(t, 201, sotto_test_ask_share(t, &s, 1, 20, sound.checksum).status);
    sotto_test_service_close(&s);
}

/* A leader whose clock is ahead acknowledged these: the same request must be able to succeed later. */
static void an_answer_to_a_job_that_is_early_is_not_kept(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes reports[MOST];
    uint8_t errors[MOST];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < 3; i++)
        reports[i] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_TOO_EARLY);
    sotto_test_job_errors(
        t, sotto_test_send_job(t, &s, sotto_test_job_of(t, &s, reports, 3, NULL).request).body,
        errors, 3);
    for (size_t i = 0; i < 3; i++)
        CHECK_EQUAL(t, SOTTO_REPORT_TOO_EARLY, errors[i]);
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.helper->db, "SELECT count(*) FROM job"));
    /* Beside a report that is not early, it is: what was committed has one answer for ever. */
    make(t, &s, reports + 3, 1, 1);
    sotto_test_job_errors(
        t, sotto_test_send_job(t, &s, sotto_test_job_of(t, &s, reports, 4, NULL).request).body,
        errors, 4);
    CHECK_EQUAL(t, SOTTO_REPORT_TOO_EARLY, errors[0]);
    CHECK_EQUAL(t, 0, errors[3]);
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.helper->db, "SELECT count(*) FROM job"));
    sotto_test_service_close(&s);
}

/* DAP, "Input Share Decryption" and "Input Share Validation": each cause by its own name, and none spoils its neighbour. */
static void every_cause_has_its_own_error(sotto_test *t)
{
    enum { COUNT = 7 };
    sotto_test_service s;
    sotto_bytes reports[COUNT];
    uint8_t errors[COUNT];
    uint64_t now;
    uint8_t own;
    const uint8_t wanted[COUNT] = {SOTTO_REPORT_TASK_NOT_STARTED,
                                   SOTTO_REPORT_TASK_EXPIRED,
                                   SOTTO_REPORT_HPKE_DECRYPT_ERROR,
                                   SOTTO_REPORT_VDAF_VERIFY_ERROR,
                                   SOTTO_REPORT_HPKE_DECRYPT_ERROR,
                                   SOTTO_REPORT_INVALID_MESSAGE,
                                   0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.closed = true});
    now = s.bucket;
    own = s.helper_hpke.id;
    s.bucket = sotto_dap_time_of(s.task.opens, s.task.precision) - 1;
    make(t, &s, reports, 1, 1);
    s.bucket = sotto_dap_time_of(s.task.closes, s.task.precision);
    make(t, &s, reports + 1, 1, 1);
    s.bucket = now;
    reports[2] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_BAD_HELPER_SEAL);
    reports[3] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_BAD_PROOF);
    s.helper_hpke.id = sotto_test_unknown_key(t, s.helper->keys);
    make(t, &s, reports + 4, 1, 1);
    s.helper_hpke.id = own;
    reports[5] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_EXTENSION);
    make(t, &s, reports + 6, 1, 1);
    sotto_test_job_errors(
        t, sotto_test_send_job(t, &s, sotto_test_job_of(t, &s, reports, COUNT, NULL).request).body,
        errors, COUNT);
    CHECK_BYTES(t, wanted, errors, COUNT);
    sotto_test_service_close(&s);
}

static unsigned delete_it(sotto_test *t, sotto_test_service *s, const char *collection,
                          const uint8_t id[SOTTO_RESOURCE_ID_SIZE])
{
    char url[256], bearer[512], task[SOTTO_DAP_ID_TEXT_MAX], item[SOTTO_DAP_ID_TEXT_MAX];
    sotto_http_field field = {"Authorization", bearer};
    sotto_http_response response = {0};

    sotto_dap_id_encode(task, sotto_bytes_of(s->task.id, sizeof s->task.id));
    sotto_dap_id_encode(item, sotto_bytes_of(id, SOTTO_RESOURCE_ID_SIZE));
    (void)snprintf(bearer, sizeof bearer, "Bearer %s", s->pairing.leader_token);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/tasks/%s/%s/%s",
                   sotto_server_port(s->helper), task, collection, item);
    CHECK_OK(t, sotto_http_call_wait(s->client, &response,
                                     &(sotto_http_call){.method = SOTTO_HTTP_DELETE,
                                                        .url = url,
                                                        .fields = &field,
                                                        .field_count = 1},
                                     &t->arena, &t->err));
    return response.status;
}

/* A leader that could make a helper forget could have everything added up twice. */
static void deleting_a_job_takes_nothing_back(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes reports[MOST];
    sotto_http_response first, second;
    sotto_test_job job;
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, &s, reports, 20, 1);
    job = sotto_test_job_of(t, &s, reports, 20, NULL);
    first = sotto_test_send_job(t, &s, job.request);
    sotto_resource_id(id, "aggregation job", sotto_tasks_find(s.helper->tasks, s.task.id),
                      job.request);
    CHECK_EQUAL(t, 2, delete_it(t, &s, "aggregation_jobs", id) / 100);
    second = sotto_test_send_job(t, &s, job.request);
    CHECK_EQUAL(t, first.body.len, second.body.len);
    CHECK_BYTES(t, first.body.data, second.body.data, first.body.len);
    id[0] ^= 1;
    CHECK_EQUAL(t, 404, delete_it(t, &s, "aggregation_jobs", id));
    CHECK_EQUAL(t, 201, sotto_test_ask_share(t, &s, 1, 20, job.checksum).status);
    CHECK_EQUAL(t, 2, delete_it(t, &s, "aggregate_shares", id) / 100); /* and does nothing */
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.helper->db, "SELECT count(*) FROM release"));
    sotto_test_service_close(&s);
}

static void a_report_in_a_second_job_is_a_replay(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes reports[MOST];
    sotto_test_job job;
    uint8_t errors[MOST];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, &s, reports, 21, 1);
    job = sotto_test_job_of(t, &s, reports, 20, NULL);
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    job = sotto_test_job_of(t, &s, reports + 10, 11, NULL);
    sotto_test_job_errors(t, sotto_test_send_job(t, &s, job.request).body, errors, 11);
    for (size_t i = 0; i < 11; i++)
        CHECK_EQUAL(t, i < 10 ? SOTTO_REPORT_REPLAYED : 0, errors[i]);
    sotto_test_service_close(&s);
}

static void a_report_twice_in_one_job_fails_the_job(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes reports[MOST];
    sotto_http_response response;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, &s, reports, 3, 1);
    reports[2] = reports[0];
    response = sotto_test_send_job(t, &s, sotto_test_job_of(t, &s, reports, 3, NULL).request);
    CHECK_EQUAL(t, 400, response.status);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_INVALID_MESSAGE));
    sotto_test_service_close(&s);
}

/* The attack that two sums would allow: their difference is one report. */
static void two_shares_that_differ_by_one_report_are_never_given(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes reports[MOST];
    sotto_test_job job, one;
    sotto_http_response first, again, wider;
    uint8_t checksum[SOTTO_CHECKSUM_SIZE], errors[1];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, &s, reports, 31, 1);
    job = sotto_test_job_of(t, &s, reports, 30, NULL);
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    first = sotto_test_ask_share(t, &s, 1, 30, job.checksum);
    CHECK_EQUAL(t, 201, first.status);
    /* One more for the same bucket: it is closed. */
    one = sotto_test_job_of(t, &s, reports + 30, 1, NULL);
    sotto_test_job_errors(t, sotto_test_send_job(t, &s, one.request).body, errors, 1);
    CHECK_EQUAL(t, SOTTO_REPORT_BATCH_COLLECTED, errors[0]);
    /* The same question: the same bytes, not a second sealing. */
    again = sotto_test_ask_share(t, &s, 1, 30, job.checksum);
    CHECK_EQUAL(t, first.body.len, again.body.len);
    CHECK_BYTES(t, first.body.data, again.body.data, first.body.len);
    /* Another question over the same bucket: none. */
    memcpy(checksum, job.checksum, sizeof checksum);
    sotto_dap_checksum_merge(checksum, one.checksum);
    wider = sotto_test_ask_share(t, &s, 2, 31, checksum);
    CHECK_EQUAL(t, 400, wider.status);
    CHECK(t, sotto_test_is_problem(&wider, SOTTO_DAP_BATCH_OVERLAP));
    sotto_test_service_close(&s);
}

static void a_batch_below_its_minimum_is_not_released(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes reports[MOST];
    sotto_test_job job;
    sotto_http_response response;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.min_cohort = 20});
    make(t, &s, reports, 20, 1);
    job = sotto_test_job_of(t, &s, reports, 19, NULL);
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    response = sotto_test_ask_share(t, &s, 1, 19, job.checksum);
    CHECK_EQUAL(t, 400, response.status);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_INVALID_BATCH_SIZE));
    sotto_test_service_close(&s);
}

/* Twenty were sent, but one of them is invalid: what counts is what was verified. */
static void the_minimum_counts_verified_reports(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes reports[MOST];
    sotto_test_job job;
    sotto_http_response response;
    uint8_t errors[MOST];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.min_cohort = 20});
    make(t, &s, reports, 19, 1);
    reports[19] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_BAD_PROOF);
    job = sotto_test_job_of(t, &s, reports, 20, NULL);
    response = sotto_test_send_job(t, &s, job.request);
    sotto_test_job_errors(t, response.body, errors, 20);
    CHECK_EQUAL(t, SOTTO_REPORT_VDAF_VERIFY_ERROR, errors[19]);
    response = sotto_test_ask_share(t, &s, 1, 20, job.checksum);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_INVALID_BATCH_SIZE));
    sotto_test_service_close(&s);
}

static void a_sum_that_the_leader_does_not_share_is_not_released(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes reports[MOST];
    sotto_test_job job;
    sotto_http_response response;
    uint8_t wrong[SOTTO_CHECKSUM_SIZE];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, &s, reports, 30, 1);
    job = sotto_test_job_of(t, &s, reports, 30, NULL);
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    response = sotto_test_ask_share(t, &s, 1, 29, job.checksum);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_BATCH_MISMATCH));
    memcpy(wrong, job.checksum, sizeof wrong);
    wrong[31] ^= 1;
    response = sotto_test_ask_share(t, &s, 1, 30, wrong);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_BATCH_MISMATCH));
    /* The leader may still get it right. */
    CHECK_EQUAL(t, 201, sotto_test_ask_share(t, &s, 1, 30, job.checksum).status);
    sotto_test_service_close(&s);
}

static void a_batch_id_belongs_to_its_mode_alone(sotto_test *t)
{
    uint8_t batch_id[32] = {7};
    sotto_test_service s;
    sotto_bytes reports[MOST];
    sotto_http_response response;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    make(t, &s, reports, 2, 1);
    response = sotto_test_send_job(t, &s, sotto_test_job_of(t, &s, reports, 2, batch_id).request);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_INVALID_MESSAGE));
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_repeated_job_gets_the_same_bytes),
        CASE(a_job_is_committed_whole_or_not_at_all),
        CASE(an_answer_to_a_job_that_is_early_is_not_kept),
        CASE(every_cause_has_its_own_error),
        CASE(deleting_a_job_takes_nothing_back),
        CASE(a_report_in_a_second_job_is_a_replay),
        CASE(a_report_twice_in_one_job_fails_the_job),
        CASE(two_shares_that_differ_by_one_report_are_never_given),
        CASE(a_batch_below_its_minimum_is_not_released),
        CASE(the_minimum_counts_verified_reports),
        CASE(a_sum_that_the_leader_does_not_share_is_not_released),
        CASE(a_batch_id_belongs_to_its_mode_alone),
    };

    return RUN_TESTS(argc, argv, cases);
}
