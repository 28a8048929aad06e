/* What one stranger may do to everybody else's reports: nothing. */
#define _POSIX_C_SOURCE 200809L
#include "support/steps.h"

#include "support/database.h"

#include <string.h>

/* A sound report whose helper's share is followed by rubbish: only the helper could tell, were it ever to see it. */
static sotto_bytes stretched(sotto_test *t, sotto_test_service *s, size_t rubbish)
{
    sotto_bytes sound = sotto_test_sealed_report(t, s, 1, SOTTO_TEST_SOUND);
    size_t payload = s->task.sizes.helper_share + 6 + SOTTO_HPKE_TAG_SIZE;
    uint8_t *out = sotto_arena_take(&t->arena, sound.len + rubbish);
    size_t at = sound.len - payload - 4;

    CHECK(t, out != NULL);
    memcpy(out, sound.data, sound.len);
    CHECK_EQUAL(t, payload & 255, out[at + 3]);
    for (unsigned i = 0; i < 4; i++)
        out[at + i] = (uint8_t)((payload + rubbish) >> (24 - 8 * i));
    return sotto_bytes_of(out, sound.len + rubbish);
}

/* A job is sent as one request. If reports could make it longer than the helper reads, those beside them would never
 * be added up, nor the batch be collected. */
static void a_report_longer_than_its_task_allows_spoils_no_job(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 1000});
    sotto_test_upload_some(t, &s, 30, 1, SOTTO_TEST_SOUND);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(t, 200,
                    sotto_test_upload(t, &s, stretched(t, &s, s.task.report_bytes * 900)).status);
    s.patience = sotto_test_patience();
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 30, reports);
    sotto_test_service_close(&s);
}

/* Nobody sends so many: a request of the shortest reports there are must not become thousands of batches. */
static void a_request_of_too_many_reports_is_refused(sotto_test *t)
{
    /* Id, time, no extensions, no public share, and two ciphertexts of one byte under keys of one byte. */
    enum { SHORTEST = 16 + 8 + 2 + 4 + 2 * 9, COUNT = 5000 };
    uint8_t *body = sotto_arena_take(&t->arena, (size_t)SHORTEST * COUNT);
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    memset(body, 0, (size_t)SHORTEST * COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        uint8_t *report = body + i * SHORTEST;

        report[0] = report[23] = (uint8_t)i; /* an id and a time of its own, far off */
        report[1] = report[22] = (uint8_t)(i >> 8);
        report[20] = 0x40;
        report[32] = report[37] = report[41] = report[46] = 1; /* bytes of enc and payload, twice */
    }
    CHECK_EQUAL(t, 413,
                sotto_test_upload(t, &s, sotto_bytes_of(body, (size_t)SHORTEST * COUNT)).status);
    /* What is refused for its time leaves one row, not one for each time that somebody thinks of. */
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, sotto_bytes_of(body, SHORTEST * 500)).status);
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM rejection"));
    sotto_test_service_close(&s);
}

/* A batch that the leader selects is full when enough of its reports hold, not when enough were sent. */
static void a_bad_report_strands_no_selected_batch(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(
        t, &s,
        &(sotto_test_service_options){
            .leader_selected = true, .min_cohort = 20, .job_reports = 10, .job_delay_ms = 50});
    sotto_test_upload_some(t, &s, 1, 1, SOTTO_TEST_BAD_PROOF);
    sotto_test_upload_some(t, &s, 19, 1, SOTTO_TEST_SOUND);
    s.patience = 10;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 0, &reports, counts));
    sotto_test_upload_some(t, &s, 1, 1, SOTTO_TEST_SOUND);
    s.patience = sotto_test_patience();
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 0, &reports, counts));
    CHECK_EQUAL(t, 20, reports);
    sotto_test_service_close(&s);
}

/* Under a steady stream there is always some report under way; a batch that has all of its own need not wait. */
static void a_selected_batch_is_collected_while_others_fill(sotto_test *t)
{
    static char insert[] = "INSERT INTO segment (n, task, bucket, reports, skip, owner, added)"
                           " SELECT 1, n, 1, 1, '', -1, 9000000000000 FROM task";
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(
        t, &s,
        &(sotto_test_service_options){
            .leader_selected = true, .min_cohort = 20, .job_reports = 20, .job_delay_ms = 50});
    sotto_test_upload_some(t, &s, 20, 1, SOTTO_TEST_SOUND);
    sotto_test_await(t, s.leader->db, "SELECT count(*) FROM sub_aggregate", 1);
    /* One segment that never gets anywhere, as if it were always another. */
    sotto_test_do(t, s.leader->db, insert);
    s.patience = sotto_test_patience();
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 0, &reports, counts));
    CHECK_EQUAL(t, 20, reports);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_report_longer_than_its_task_allows_spoils_no_job),
        CASE(a_request_of_too_many_reports_is_refused),
        CASE(a_bad_report_strands_no_selected_batch),
        CASE(a_selected_batch_is_collected_while_others_fill),
    };

    return RUN_TESTS(argc, argv, cases);
}
