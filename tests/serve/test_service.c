/* Leader and helper together: what is uploaded is added up once, whatever stands between. */
#define _POSIX_C_SOURCE 200809L
#include "support/steps.h"

#include "dap/upload.h"
#include "device/answer/delivery.h"
#include "support/database.h"
#include "support/lanes.h"

#include <stdio.h>
#include <string.h>

static sotto_bytes many(sotto_test *t, sotto_test_service *s, size_t count, uint64_t bin)
{
    return sotto_test_sealed_reports(t, s, count, bin, SOTTO_TEST_SOUND);
}

static void check_counts(sotto_test *t, const uint64_t *counts, size_t bins, uint64_t bin,
                         uint64_t wanted)
{
    for (size_t i = 0; i < bins; i++)
        CHECK_EQUAL(t, i == bin ? wanted : 0, counts[i]);
}

static void uploads_become_one_correct_answer(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};
    sotto_http_response response;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (unsigned i = 0; i < 5; i++) {
        response = sotto_test_upload(t, &s, many(t, &s, 10, 2));
        CHECK_EQUAL(t, 200, response.status);
        CHECK_EQUAL(t, 0, response.body.len);
    }
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 50, reports);
    check_counts(t, counts, s.task.bins, 2, 50);
    sotto_test_service_close(&s);
}

static void the_next_batch_is_one_that_the_leader_selected(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.leader_selected = true});
    sotto_test_upload_some(t, &s, 30, 1, SOTTO_TEST_SOUND);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 0, &reports, counts));
    CHECK_EQUAL(t, 30, reports);
    check_counts(t, counts, s.task.bins, 1, 30);
    sotto_test_service_close(&s);
}

static void one_bad_report_fails_no_neighbour(sotto_test *t)
{
    static const struct {
        sotto_test_flaw flaw;
        uint8_t error; /* at upload; 0: accepted, and found later */
    } bad[] = {
        {SOTTO_TEST_BAD_LEADER_SEAL, SOTTO_REPORT_HPKE_DECRYPT_ERROR},
        {SOTTO_TEST_UNKNOWN_KEY, SOTTO_REPORT_OUTDATED_CONFIG},
        {SOTTO_TEST_TOO_EARLY, SOTTO_REPORT_TOO_EARLY},
        {SOTTO_TEST_EXTENSION, SOTTO_REPORT_INVALID_MESSAGE},
        {SOTTO_TEST_BAD_PROOF, 0},
        {SOTTO_TEST_BAD_HELPER_SEAL, 0},
    };
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sotto_bytes good = many(t, &s, 10, 3), one, both;
        sotto_dap_upload_errors errors;
        sotto_dap_upload_status status;
        sotto_http_response response;
        sotto_reader in;
        uint8_t *body;

        one = sotto_test_sealed_report(t, &s, 3, bad[i].flaw);
        body = sotto_arena_take(&t->arena, good.len + one.len);
        memcpy(body, one.data, one.len);
        memcpy(body + one.len, good.data, good.len);
        both = sotto_bytes_of(body, good.len + one.len);
        response = sotto_test_upload(t, &s, both);
        CHECK_EQUAL(t, 200, response.status);
        CHECK_OK(t, sotto_dap_upload_errors_decode(&errors, response.body, &t->err));
        CHECK_EQUAL(t, bad[i].error ? 1 : 0, errors.count);
        in = sotto_reader_over(errors.statuses);
        if (sotto_dap_upload_errors_next(&in, &status)) {
            CHECK_EQUAL(t, bad[i].error, status.error);
            CHECK_BYTES(t, one.data, status.report_id, sizeof status.report_id);
        }
    }
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 60, reports);
    check_counts(t, counts, s.task.bins, 3, 60);
    sotto_test_service_close(&s);
}

static sotto_delivery meaning_of(const sotto_http_response *response, sotto_bytes report)
{
    sotto_exchange_answer answer = {.status = response->status,
                                    .body = {(uint8_t *)(uintptr_t)response->body.data,
                                             response->body.len, response->body.len}};
    sotto_bytes type = {0};

    if (sotto_http_response_field(response, "content-type", &type))
        (void)snprintf(answer.media_type, sizeof answer.media_type, "%.*s", (int)type.len,
                       (const char *)type.data);
    return sotto_delivery_of(sotto_bytes_of(report.data, SOTTO_REPORT_ID_SIZE), &answer);
}

/* Every one of these answers has status 200. */
static void a_device_reads_in_the_answer_what_became_of_its_report(sotto_test *t)
{
    static const struct {
        sotto_test_flaw flaw;
        sotto_delivery meant; /* also of the same bytes, as a retry sends them */
    } sent[] = {
        {SOTTO_TEST_SOUND, SOTTO_DELIVERY_ACCEPTED},
        {SOTTO_TEST_BAD_LEADER_SEAL, SOTTO_DELIVERY_REFUSED},
        {SOTTO_TEST_UNKNOWN_KEY, SOTTO_DELIVERY_OUTDATED},
        {SOTTO_TEST_TOO_EARLY, SOTTO_DELIVERY_LATER},
        {SOTTO_TEST_EXTENSION, SOTTO_DELIVERY_REFUSED},
    };
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
        const sotto_bytes report = sotto_test_sealed_report(t, &s, 3, sent[i].flaw);

        for (int again = 0; again < 2; again++) {
            sotto_http_response response = sotto_test_upload(t, &s, report);

            CHECK_EQUAL(t, 200, response.status);
            CHECK_EQUAL(t, sent[i].meant, meaning_of(&response, report));
        }
    }
    sotto_test_service_close(&s);
}

static void a_report_counts_once_however_often_it_comes(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};
    sotto_bytes body;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    body = many(t, &s, 25, 0);
    for (unsigned i = 0; i < 3; i++) {
        sotto_http_response response = sotto_test_upload(t, &s, body);
        sotto_dap_upload_errors errors;

        CHECK_EQUAL(t, 200, response.status);
        CHECK_OK(t, sotto_dap_upload_errors_decode(&errors, response.body, &t->err));
        CHECK_EQUAL(t, i == 0 ? 0 : 25, errors.count);
    }
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 25, reports);
    CHECK_EQUAL(t, 25, counts[0]);
    sotto_test_service_close(&s);
}

/* As when the answers are lost: also over a restart, and twice in one request. */
static void a_refusal_is_counted_once_however_often_it_is_told(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes sound, wrong, early;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    sound = many(t, &s, 25, 0);
    early = sotto_test_sealed_reports(t, &s, 5, 1, SOTTO_TEST_TOO_EARLY);
    wrong = sotto_test_sealed_reports(t, &s, 7, 1, SOTTO_TEST_BAD_LEADER_SEAL);
    for (unsigned i = 0; i < 4; i++) {
        if (i == 2)
            sotto_test_leader_restart(t, &s);
        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, sound).status);
        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, wrong).status);
        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, early).status);
        CHECK_EQUAL(t, i == 0 ? 0 : 25, sotto_test_refused(t, &s, SOTTO_REPORT_REPLAYED));
        CHECK_EQUAL(t, 7, sotto_test_refused(t, &s, SOTTO_REPORT_HPKE_DECRYPT_ERROR));
        CHECK_EQUAL(
            t, 5, sotto_test_refused(t, &s, SOTTO_REPORT_TOO_EARLY)); /* which invites them again */
    }
    sotto_bytes once = many(t, &s, 3, 0);
    uint8_t *twice = sotto_arena_take(&t->arena, 2 * once.len);
    memcpy(twice, once.data, once.len);
    memcpy(twice + once.len, once.data, once.len);
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, sotto_bytes_of(twice, 2 * once.len)).status);
    CHECK_EQUAL(t, 28, sotto_test_refused(t, &s, SOTTO_REPORT_REPLAYED));
    sotto_test_service_close(&s);
}

/* Whoever sees an id go by could otherwise keep the report out by sending nonsense under its name. */
static void a_report_may_come_though_another_of_its_name_was_refused(sotto_test *t)
{
    enum { PUBLIC_SHARE = SOTTO_REPORT_ID_SIZE + 8 + 2 + 4 }; /* bound to the sealed share */
    sotto_test_service s;
    sotto_bytes sound;
    sotto_http_response response;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    sound = many(t, &s, 1, 0);
    uint8_t *nonsense = sotto_arena_take(&t->arena, sound.len);
    memcpy(nonsense, sound.data, sound.len);
    nonsense[PUBLIC_SHARE] ^= 1;
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, sotto_bytes_of(nonsense, sound.len)).status);
    CHECK_EQUAL(t, 1, sotto_test_refused(t, &s, SOTTO_REPORT_HPKE_DECRYPT_ERROR));
    response = sotto_test_upload(t, &s, sound);
    CHECK_EQUAL(t, 200, response.status);
    CHECK_EQUAL(t, 0, response.body.len);
    CHECK_EQUAL(t, 0, sotto_test_refused(t, &s, SOTTO_REPORT_REPLAYED));
    sotto_test_service_close(&s);
}

static void nothing_is_lost_when_a_server_restarts(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    /* Jobs that never leave by themselves: the restart finds the segments waiting. */
    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 1000});
    sotto_test_upload_some(t, &s, 40, 1, SOTTO_TEST_SOUND);
    sotto_test_leader_restart(t, &s);
    sotto_test_upload_some(t, &s, 5, 1, SOTTO_TEST_SOUND);
    sotto_test_helper_restart(t, &s);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 45, reports);
    CHECK_EQUAL(t, 45, counts[1]);
    sotto_test_leader_restart(t, &s);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 45, reports);
    sotto_test_service_close(&s);
}

static void a_collected_bucket_takes_no_more(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};
    sotto_http_response response;
    sotto_dap_upload_errors errors;
    sotto_dap_upload_status status;
    sotto_reader in;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    sotto_test_upload_some(t, &s, 20, 1, SOTTO_TEST_SOUND);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    response = sotto_test_upload(t, &s, many(t, &s, 1, 1));
    CHECK_OK(t, sotto_dap_upload_errors_decode(&errors, response.body, &t->err));
    CHECK_EQUAL(t, 1, errors.count);
    in = sotto_reader_over(errors.statuses);
    CHECK(t, sotto_dap_upload_errors_next(&in, &status));
    CHECK_EQUAL(t, SOTTO_REPORT_BATCH_COLLECTED, status.error);
    CHECK_EQUAL(t, 400, sotto_test_collect(t, &s, 2, &reports, counts)); /* batchOverlap */
    sotto_test_service_close(&s);
}

/* Its answer was lost; meanwhile the bucket was collected. A device would record it as refused, though it counts. */
static void a_report_that_counts_is_not_told_that_it_came_too_late(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};
    sotto_http_response response;
    sotto_dap_upload_errors errors;
    sotto_dap_upload_status status;
    sotto_bytes twenty;
    sotto_reader in;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    twenty = many(t, &s, 20, 1);
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, twenty).status);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 20, reports);
    response = sotto_test_upload(t, &s, twenty);
    CHECK_OK(t, sotto_dap_upload_errors_decode(&errors, response.body, &t->err));
    CHECK_EQUAL(t, 20, errors.count);
    in = sotto_reader_over(errors.statuses);
    for (size_t i = 0; i < 20; i++) {
        CHECK(t, sotto_dap_upload_errors_next(&in, &status));
        CHECK_EQUAL(t, SOTTO_REPORT_REPLAYED, status.error);
    }
    CHECK_EQUAL(
        t, 0,
        sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM rejection WHERE cause = 1"));
    sotto_test_service_close(&s);
}

static void a_batch_below_its_minimum_waits(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.min_cohort = 20});
    sotto_test_upload_some(t, &s, 19, 1, SOTTO_TEST_SOUND);
    s.patience = 20;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    /* What is missing may still come. */
    sotto_test_upload_some(t, &s, 1, 1, SOTTO_TEST_SOUND);
    s.patience = sotto_test_patience();
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 20, reports);
    sotto_test_service_close(&s);
}

/* Two that wait for the same bucket: when one takes it, the other is told, and closes none of its own. */
static void of_two_collections_that_overlap_one_is_refused(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.min_cohort = 20});
    s.patience = 2;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 2, &reports, counts));
    sotto_test_upload_some(t, &s, 20, 1, SOTTO_TEST_SOUND);
    s.patience = sotto_test_patience();
    unsigned first = sotto_test_collect(t, &s, 1, &reports, counts);
    unsigned second = sotto_test_collect(t, &s, 2, &reports, counts);
    CHECK(t, (first == 200 && second == 400) || (first == 400 && second == 200));
    /* By the leader itself, before it has fixed a second sum: it does not rely on the helper's no. */
    CHECK_EQUAL(
        t, 1,
        sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM release WHERE state >= 2"));
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(uploads_become_one_correct_answer),
        CASE(the_next_batch_is_one_that_the_leader_selected),
        CASE(one_bad_report_fails_no_neighbour),
        CASE(a_device_reads_in_the_answer_what_became_of_its_report),
        CASE(a_report_counts_once_however_often_it_comes),
        CASE(a_refusal_is_counted_once_however_often_it_is_told),
        CASE(a_report_may_come_though_another_of_its_name_was_refused),
        CASE(nothing_is_lost_when_a_server_restarts),
        CASE(a_collected_bucket_takes_no_more),
        CASE(a_report_that_counts_is_not_told_that_it_came_too_late),
        CASE(a_batch_below_its_minimum_waits),
        CASE(of_two_collections_that_overlap_one_is_refused),
    };

    (void)sotto_test_use_lanes(); /* one program of servers does so under sanitizers too */
    return RUN_TESTS(argc, argv, cases);
}
