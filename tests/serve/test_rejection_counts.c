/* A real collector at a real leader and helper: the answer, and what each of them refused. */
#define _POSIX_C_SOURCE 200809L
#include "support/database.h"
#include "support/steps.h"

#include "serve/leader/unreadable.h"
#include "sotto/collect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static sotto_test_service s;
static sotto_collection got;

/* In one request, so many times: alone, each would wait for a commit of its own. */
static void upload(sotto_test *t, size_t count, uint64_t bin, sotto_test_flaw flaw, unsigned times)
{
    sotto_bytes reports = sotto_test_sealed_reports(t, &s, count, bin, flaw);

    for (unsigned i = 0; i < times; i++)
        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, reports).status);
}

static sotto_status ask_collector(sotto_test *t, bool forget, unsigned deadline_ms)
{
    uint64_t precision = s.task.precision;
    sotto_collection_query query = {s.bucket * precision, (s.bucket + 1) * precision};
    sotto_collector_key key = {
        .id = 9,
        .suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM},
        .key = s.collector,
    };
    sotto_collector_options options = {
        .task = &s.task,
        .key = &key,
        .collector_token = s.pairing.collector_token,
        .rejection_token = s.pairing.rejection_token,
        .deadline_ms = deadline_ms,
    };
    sotto_collector *collector;
    sotto_status status;

    if (s.task.batch_mode == SOTTO_DAP_LEADER_SELECTED)
        query = (sotto_collection_query){0, 0};
    t->err = (sotto_err){0};
    SOTTO_TRY(sotto_collector_open(&collector, &options, &t->err));
    status = sotto_collector_ask(collector, &got, &query, &t->arena, &t->err);
    if (status == SOTTO_OK && forget)
        status = sotto_collector_forget(collector, &got, &t->err);
    sotto_collector_close(collector);
    return status;
}

/* A leader tells collectors to come back in a second: the test looks more often, and the collector comes when the answer
 * is there. */
static sotto_status collect(sotto_test *t, bool forget)
{
    uint64_t reports, counts[16];

    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    return ask_collector(t, forget, 60000);
}

#define VERIFIED "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM sub_aggregate"

static uint64_t count_of(const sotto_rejections *r, const char *cause)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->items[i].cause, cause) == 0)
            return r->items[i].reports;
    return 0;
}

/* The status of GET .../rejections/{id}. */
static unsigned ask(sotto_test *t, bool leader, const uint8_t id[SOTTO_RESOURCE_ID_SIZE],
                    const char *token)
{
    char url[512], bearer[128], task[SOTTO_DAP_ID_TEXT_MAX], item[SOTTO_DAP_ID_TEXT_MAX];
    sotto_http_field field = {"Authorization", bearer};
    sotto_http_call call = {
        .method = SOTTO_HTTP_GET, .url = url, .fields = &field, .field_count = 1};
    sotto_http_response response;

    sotto_dap_id_encode(task, sotto_bytes_of(s.task.id, sizeof s.task.id));
    sotto_dap_id_encode(item, sotto_bytes_of(id, SOTTO_RESOURCE_ID_SIZE));
    (void)snprintf(bearer, sizeof bearer, "Bearer %s", token);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/tasks/%s/rejections/%s",
                   sotto_server_port(leader ? s.leader : s.helper), task, item);
    CHECK_OK(t, sotto_http_call_wait(s.client, &response, &call, &t->arena, &t->err));
    return response.status;
}

static void the_collector_gets_the_sum_and_both_servers_counts(sotto_test *t)
{
    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    upload(t, 30, 2, SOTTO_TEST_SOUND, 1);
    upload(t, 3, 1, SOTTO_TEST_SOUND, 2); /* each once more than it counts */
    upload(t, 4, 1, SOTTO_TEST_BAD_PROOF, 1);
    upload(t, 2, 1, SOTTO_TEST_BAD_HELPER_SEAL, 1);
    upload(t, 5, 1, SOTTO_TEST_BAD_LEADER_SEAL, 1);
    CHECK_OK(t, ask_collector(t, false, 60000));
    CHECK_EQUAL(t, 33, got.reports);
    CHECK_EQUAL(t, 30, got.sums[2].low);
    CHECK_EQUAL(t, 3, got.sums[1].low);
    CHECK_EQUAL(t, s.bucket * s.task.precision, got.from);
    CHECK(t, got.leader.known && got.helper.known);
    CHECK_EQUAL(t, 3, count_of(&got.leader, "report_replayed"));
    CHECK_EQUAL(t, 5, count_of(&got.leader, "hpke_decrypt_error"));
    CHECK_EQUAL(t, 4, count_of(&got.helper, "vdaf_verify_error"));
    CHECK_EQUAL(t, 2, count_of(&got.helper, "hpke_decrypt_error"));
    CHECK_EQUAL(t, 4, count_of(&got.leader, "helper_vdaf_verify_error"));
    CHECK_EQUAL(t, 2, count_of(&got.leader, "helper_hpke_decrypt_error"));
    sotto_test_service_close(&s);
}

static void a_selected_batch_has_its_counts_and_the_next_one_others(sotto_test *t)
{
    /* Jobs leave when a collection asks for them, so that all of them are in one batch. */
    sotto_test_service_open(t, &s,
                            &(sotto_test_service_options){.leader_selected = true,
                                                          .job_delay_ms = 3600000,
                                                          .job_reports = 1000});
    upload(t, 3, 1, SOTTO_TEST_BAD_PROOF, 1);
    upload(t, 30, 2, SOTTO_TEST_SOUND, 1);
    CHECK_OK(t, collect(t, true));
    CHECK_EQUAL(t, 30, got.reports);
    CHECK(t, got.leader.known && got.helper.known);
    CHECK_EQUAL(t, 3, count_of(&got.helper, "vdaf_verify_error"));
    CHECK_EQUAL(t, 3, count_of(&got.leader, "helper_vdaf_verify_error"));
    upload(t, 25, 3, SOTTO_TEST_SOUND, 1);
    CHECK_OK(t, collect(t, true));
    CHECK_EQUAL(t, 25, got.reports);
    CHECK_EQUAL(t, 25, got.sums[3].low);
    CHECK(t, got.helper.known && got.helper.count == 0);
    sotto_test_service_close(&s);
}

static void refusals_at_upload_belong_to_the_batch_that_comes_next(sotto_test *t)
{
    /* Jobs leave when a collection asks for them, so that all of them are in one batch. */
    sotto_test_service_open(t, &s,
                            &(sotto_test_service_options){.leader_selected = true,
                                                          .job_delay_ms = 3600000,
                                                          .job_reports = 1000});
    upload(t, 4, 1, SOTTO_TEST_BAD_LEADER_SEAL, 1);
    upload(t, 30, 2, SOTTO_TEST_SOUND, 1);
    CHECK_OK(t, collect(t, true));
    CHECK_EQUAL(t, 30, got.reports);
    CHECK_EQUAL(t, 4, count_of(&got.leader, "hpke_decrypt_error"));
    upload(t, 2, 1, SOTTO_TEST_BAD_LEADER_SEAL, 1);
    upload(t, 25, 3, SOTTO_TEST_SOUND, 1);
    CHECK_OK(t, collect(t, true));
    CHECK_EQUAL(t, 25, got.reports);
    CHECK_EQUAL(t, 2, count_of(&got.leader, "hpke_decrypt_error")); /* each is shown once */
    sotto_test_service_close(&s);
}

/* Each server for itself; what holds is the figure of the moment in which the sum was fixed. */
static void the_collector_learns_who_checked_the_rate(sotto_test *t)
{
    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    sotto_test_do(t, s.helper->db, "UPDATE task SET population = 5000");
    upload(t, 25, 2, SOTTO_TEST_SOUND, 1);
    CHECK_OK(t, collect(t, false));
    CHECK(t, got.leader.known && got.leader.rate == SOTTO_RATE_OFF);
    CHECK(t, got.helper.known && got.helper.rate == SOTTO_RATE_PASSED);
    sotto_test_do(t, s.leader->db, "UPDATE task SET population = 5000");
    CHECK_OK(t, collect(t, false));
    CHECK(t, got.leader.rate == SOTTO_RATE_OFF);
    sotto_test_service_close(&s);
}

/* As its operator leaves it behind who released the batch: the helper would be asked again only after half a minute. */
static void release_at_helper(sotto_test *t)
{
    char row[256];

    (void)snprintf(row, sizeof row,
                   "INSERT INTO held (task, first_bucket, end_bucket, batch, arrived, expected,"
                   " reason, since) SELECT n, %" PRIu64 ", %" PRIu64
                   ", substr(id, 1, 0), 25, 5, 'a campaign', 1 FROM task",
                   s.bucket, s.bucket + 1);
    sotto_test_do(t, s.helper->db, "UPDATE task SET population = 5");
    sotto_test_do(t, s.helper->db, row);
}

/* 25 came, and by the leader's figure there are 5 devices. */
static void open_held(sotto_test *t)
{
    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    sotto_test_do(t, s.leader->db, "UPDATE task SET population = 5");
    upload(t, 25, 2, SOTTO_TEST_SOUND, 1);
    CHECK_STATUS(t, SOTTO_AGAIN, ask_collector(t, false, 1000));
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM held WHERE reason IS NULL"));
}

/* Each server for itself. */
static void the_collector_learns_who_released_a_held_batch(sotto_test *t)
{
    open_held(t);
    sotto_test_do(t, s.leader->db, "UPDATE held SET reason = 'a campaign', released = 1");
    sotto_test_do(t, s.helper->db, "UPDATE task SET population = 5000");
    CHECK_OK(t, ask_collector(t, false, 60000));
    CHECK_EQUAL(t, SOTTO_RATE_RELEASED, got.leader.rate);
    CHECK_EQUAL(t, SOTTO_RATE_PASSED, got.helper.rate);
    sotto_test_service_close(&s);
}

/* By a figure that was corrected while it was held the batch passes: nobody let it go. */
static void a_corrected_figure_is_no_release(sotto_test *t)
{
    open_held(t);
    release_at_helper(t);
    sotto_test_do(t, s.leader->db, "UPDATE task SET population = 5000");
    CHECK_OK(t, ask_collector(t, false, 60000));
    CHECK_EQUAL(t, SOTTO_RATE_PASSED, got.leader.rate);
    CHECK_EQUAL(t, SOTTO_RATE_RELEASED, got.helper.rate);
    sotto_test_service_close(&s);
}

static sotto_status give_one_up(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_giving_up *g = context;
    const sotto_unreadable_finding finding = {"a test", g->segment, s.leader->instance, -1};

    SOTTO_TRY(sotto_unreadable_note(tx, &finding, err));
    return sotto_unreadable_give_up(tx, g, err);
}

static void what_an_operator_gave_up_stands_beside_the_sum(sotto_test *t)
{
    for (unsigned leader_selected = 0; leader_selected < 2; leader_selected++) {
        sotto_giving_up g = {.reason = "a test"};

        sotto_test_service_open(t, &s,
                                &(sotto_test_service_options){.leader_selected = leader_selected,
                                                              .job_delay_ms = 3600000,
                                                              .job_reports = 1000});
        upload(t, 25, 2, SOTTO_TEST_SOUND, 1);
        upload(t, 1, 2, SOTTO_TEST_SOUND, 1); /* in a segment of its own */
        g.segment =
            sotto_test_ask_number(t, s.leader->db, "SELECT n FROM segment WHERE reports = 1");
        CHECK_OK(t, sotto_db_run(s.leader->db, give_one_up, &g, &t->err));
        CHECK_OK(t, collect(t, true));
        CHECK_EQUAL(t, 25, got.reports);
        CHECK_EQUAL(t, 1, count_of(&got.leader, "unreadable"));
        sotto_test_service_close(&s);
    }
}

/* Whoever asks again later gets what stood beside the sum, not what became of the counters. */
static void counts_stay_what_they_were_beside_the_sum(sotto_test *t)
{
    sotto_rejections leader, helper;
    sotto_bytes late[3];
    uint8_t errors[3];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    upload(t, 20, 2, SOTTO_TEST_SOUND, 1);
    upload(t, 2, 1, SOTTO_TEST_BAD_LEADER_SEAL, 1);
    upload(t, 3, 1, SOTTO_TEST_BAD_PROOF, 1);
    CHECK_OK(t, collect(t, false));
    leader = got.leader;
    helper = got.helper;
    CHECK_EQUAL(t, 2, count_of(&leader, "hpke_decrypt_error"));
    CHECK_EQUAL(t, 3, count_of(&helper, "vdaf_verify_error"));
    upload(t, 4, 1, SOTTO_TEST_SOUND, 1);
    upload(t, 1, 1, SOTTO_TEST_BAD_LEADER_SEAL, 1);
    for (size_t i = 0; i < 3; i++)
        late[i] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    sotto_test_job_errors(
        t, sotto_test_send_job(t, &s, sotto_test_job_of(t, &s, late, 3, NULL).request).body, errors,
        3);
    CHECK_EQUAL(t, SOTTO_REPORT_BATCH_COLLECTED, errors[0]);
    sotto_test_leader_restart(t, &s);
    CHECK_OK(t, collect(t, false));
    CHECK(t, got.leader.known && got.helper.known);
    CHECK_EQUAL(t, leader.count, got.leader.count);
    CHECK_BYTES(t, leader.items, got.leader.items, sizeof leader.items);
    CHECK_EQUAL(t, helper.count, got.helper.count);
    CHECK_BYTES(t, helper.items, got.helper.items, sizeof helper.items);
    /* They were counted all the same. */
    CHECK_EQUAL(t, 4,
                sotto_test_ask_number(t, s.leader->db,
                                      "SELECT CAST(sum(reports) AS BIGINT) FROM rejection"
                                      " WHERE cause = 1"));
    CHECK_EQUAL(t, 3,
                sotto_test_ask_number(t, s.helper->db,
                                      "SELECT CAST(sum(reports) AS BIGINT) FROM rejection"
                                      " WHERE cause = 1"));
    sotto_test_service_close(&s);
}

/* Jobs on which the two servers did not agree: their reports are in no sum, and both servers say so. */
static void what_a_repair_dropped_stands_beside_the_sum(sotto_test *t)
{
    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 10});
    upload(t, 30, 2, SOTTO_TEST_SOUND, 1);
    sotto_test_await(t, s.leader->db, VERIFIED, 30);
    sotto_test_do(t, s.helper->db,
                  "UPDATE sub_aggregate SET reports = reports + 1 WHERE job ="
                  " (SELECT min(job) FROM sub_aggregate)");
    CHECK_OK(t, collect(t, false));
    CHECK_EQUAL(t, 20, got.reports);
    CHECK_EQUAL(t, 20, got.sums[2].low);
    CHECK_EQUAL(t, 10, count_of(&got.leader, "job_dropped"));
    CHECK_EQUAL(t, 11, count_of(&got.helper, "job_dropped"));
    sotto_test_service_close(&s);
}

/* Asks for the batch; id: of the collection job. */
static void ask_for_batch(sotto_test *t, uint8_t id[SOTTO_RESOURCE_ID_SIZE])
{
    sotto_http_response response = sotto_test_ask_collection(t, &s);
    sotto_dap_path path;
    sotto_bytes place;

    CHECK_EQUAL(t, 201, response.status);
    CHECK(t, sotto_http_response_field(&response, "location", &place));
    CHECK_OK(t, sotto_dap_path_decode(&path, place, &t->err));
    memcpy(id, path.id, SOTTO_RESOURCE_ID_SIZE);
}

static void counts_are_told_of_released_batches_only(sotto_test *t)
{
    uint8_t id[SOTTO_RESOURCE_ID_SIZE], none[SOTTO_RESOURCE_ID_SIZE] = {1};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    upload(t, 5, 2, SOTTO_TEST_SOUND, 1);
    upload(t, 5, 2, SOTTO_TEST_BAD_LEADER_SEAL, 1);
    ask_for_batch(t, id);
    CHECK_EQUAL(t, 404, ask(t, true, id, s.pairing.collector_token));
    CHECK_EQUAL(t, 404, ask(t, true, none, s.pairing.collector_token));
    CHECK_EQUAL(t, 404, ask(t, false, none, s.pairing.rejection_token));
    upload(t, 20, 2, SOTTO_TEST_SOUND, 1);
    CHECK_OK(t, collect(t, false));
    CHECK_EQUAL(t, 200, ask(t, true, id, s.pairing.collector_token));
    sotto_test_service_close(&s);
}

/* The leader has fixed its sum and counts, and the helper is away: nothing is told before there is an answer. */
static void counts_of_a_closed_batch_wait_for_its_release(sotto_test *t)
{
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1});
    upload(t, 5, 2, SOTTO_TEST_BAD_LEADER_SEAL, 1);
    upload(t, 20, 2, SOTTO_TEST_SOUND, 1);
    sotto_test_await(t, s.leader->db, VERIFIED, 20);
    sotto_test_helper_stop(t, &s);
    ask_for_batch(t, id);
    sotto_test_await(t, s.leader->db, "SELECT count(*) FROM release WHERE state = 2", 1);
    CHECK_EQUAL(t, 404, ask(t, true, id, s.pairing.collector_token));
    sotto_test_helper_start(t, &s);
    CHECK_OK(t, collect(t, false));
    CHECK_EQUAL(t, 5, count_of(&got.leader, "hpke_decrypt_error"));
    CHECK_EQUAL(t, 200, ask(t, true, id, s.pairing.collector_token));
    sotto_test_service_close(&s);
}

static void each_server_has_a_token_of_its_own_for_them(sotto_test *t)
{
    uint8_t none[SOTTO_RESOURCE_ID_SIZE] = {1};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    CHECK_EQUAL(t, 401, ask(t, false, none, s.pairing.collector_token));
    CHECK_EQUAL(t, 401, ask(t, false, none, s.pairing.leader_token));
    CHECK_EQUAL(t, 401, ask(t, true, none, s.pairing.rejection_token));
    sotto_test_service_close(&s);
}

static void too_few_reports_stay_unknown(sotto_test *t)
{
    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    upload(t, 19, 2, SOTTO_TEST_SOUND, 1);
    CHECK_STATUS(t, SOTTO_AGAIN, ask_collector(t, false, 1500));
    CHECK(t, !got.leader.known && got.sums == NULL);
    upload(t, 1, 2, SOTTO_TEST_SOUND, 1);
    CHECK_OK(t, collect(t, false));
    CHECK_EQUAL(t, 20, got.reports);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_collector_gets_the_sum_and_both_servers_counts),
        CASE(a_selected_batch_has_its_counts_and_the_next_one_others),
        CASE(refusals_at_upload_belong_to_the_batch_that_comes_next),
        CASE(the_collector_learns_who_checked_the_rate),
        CASE(the_collector_learns_who_released_a_held_batch),
        CASE(a_corrected_figure_is_no_release),
        CASE(what_an_operator_gave_up_stands_beside_the_sum),
        CASE(counts_stay_what_they_were_beside_the_sum),
        CASE(what_a_repair_dropped_stands_beside_the_sum),
        CASE(counts_are_told_of_released_batches_only),
        CASE(counts_of_a_closed_batch_wait_for_its_release),
        CASE(each_server_has_a_token_of_its_own_for_them),
        CASE(too_few_reports_stay_unknown),
    };

    return RUN_TESTS(argc, argv, cases);
}
