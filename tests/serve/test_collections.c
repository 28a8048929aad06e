/* What a collection waits for, and what it no longer waits for. */
#define _POSIX_C_SOURCE 200809L
#include "support/service.h"

#include "dap/upload.h"
#include "sotto/collect.h"
#include "support/database.h"
#include "support/steps.h"

#include <stdatomic.h>
#include <string.h>

static sotto_test_service s;

/* Uploads one report. 0: accepted; else its error. */
static uint8_t upload_one(sotto_test *t)
{
    sotto_http_response response =
        sotto_test_upload(t, &s, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND));
    sotto_dap_upload_errors errors;
    sotto_dap_upload_status status = {.error = 0};
    sotto_reader in;

    CHECK_EQUAL(t, 200, response.status);
    CHECK_OK(t, sotto_dap_upload_errors_decode(&errors, response.body, &t->err));
    in = sotto_reader_over(errors.statuses);
    return sotto_dap_upload_errors_next(&in, &status) ? status.error : 0;
}

static void upload_until_verified(sotto_test *t, unsigned reports)
{
    for (unsigned i = 0; i < reports; i++)
        CHECK_EQUAL(t, 0, upload_one(t));
    for (uint64_t until = 0;
         sotto_test_ask_number(t, s.leader->db,
                               "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM"
                               " sub_aggregate") < (int64_t)reports &&
         sotto_test_waits(&until, 20);)
        ;
}

/* Enough are verified, and one is still under way. What comes now is told that it is too late, so that no stream of
 * uploads, however steady, keeps a collection waiting. */
static void a_collection_that_has_enough_takes_no_more(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};
    unsigned accepted = 20;
    uint8_t error = 0;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1});
    upload_until_verified(t, 20);
    sotto_test_put_stuck(t, &s);
    s.patience = 2;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    for (uint64_t until = 0; error == 0 && sotto_test_waits(&until, 50);) {
        error = upload_one(t);
        accepted += error == 0;
    }
    CHECK_EQUAL(t, SOTTO_REPORT_BATCH_COLLECTED, error);
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts)); /* still waits */
    sotto_test_do(t, s.leader->db, "DELETE FROM segment WHERE n = 1");
    s.patience = sotto_test_patience();
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, accepted, reports); /* every report that was acknowledged */
    sotto_test_service_close(&s);
}

static void a_collection_that_has_too_few_stays_open(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1});
    upload_until_verified(t, 19);
    sotto_test_put_stuck(t, &s);
    s.patience = 30;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 0, upload_one(t));
    sotto_test_do(t, s.leader->db, "DELETE FROM segment WHERE n = 1");
    s.patience = sotto_test_patience();
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 20, reports);
    sotto_test_service_close(&s);
}

/* The same with nothing forced: uploads that never pause, jobs that never leave by themselves. */
static void a_steady_trickle_does_not_hold_a_collection_back(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};
    unsigned accepted = 0, status = 202;

    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 20});
    upload_until_verified(t, 20);
    accepted = 20;
    s.patience = 1;
    for (unsigned i = 0; i < 400 && status == 202; i++) {
        accepted += upload_one(t) == 0;
        accepted += upload_one(t) == 0;
        status = sotto_test_collect(t, &s, 1, &reports, counts);
    }
    CHECK_EQUAL(t, 200, status);
    CHECK_EQUAL(t, accepted, reports);
    sotto_test_service_close(&s);
}

/* The reason by which an operator lets a batch go is for what is in it; so nothing is added while it is held. */
static void a_batch_that_is_held_takes_no_more(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};
    uint8_t memory[64], error = 0;
    sotto_buf ids = sotto_buf_over(memory, sizeof memory);
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1});
    CHECK_OK(t, sotto_tasks_add(s.leader->db, s.leader->columns, SOTTO_LEADER,
                                sotto_bytes_of(s.recipe_text, strlen(s.recipe_text)),
                                sotto_bytes_of(s.parties_text, strlen(s.parties_text)), 10,
                                sotto_bytes_of(NULL, 0), &ids, mistakes, &t->err));
    upload_until_verified(t, 21);
    s.patience = 2;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    for (uint64_t until = 0; error == 0 && sotto_test_waits(&until, 50);)
        error = upload_one(t);
    CHECK_EQUAL(t, SOTTO_REPORT_BATCH_COLLECTED, error);
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    sotto_test_service_close(&s);
}

/* A collection that is given up opens its buckets again. */
static void deleting_a_collection_that_waits_opens_its_buckets(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1});
    upload_until_verified(t, 20);
    sotto_test_put_stuck(t, &s);
    s.patience = 2;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    for (uint64_t until = 0;
         sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM release WHERE shut = 1") ==
             0 &&
         sotto_test_waits(&until, 20);)
        ;
    CHECK_EQUAL(t, SOTTO_REPORT_BATCH_COLLECTED, upload_one(t));
    sotto_test_do(t, s.leader->db, "DELETE FROM release");
    CHECK_EQUAL(t, 0, upload_one(t));
    sotto_test_service_close(&s);
}

static sotto_status withdraw(sotto_test *t)
{
    static sotto_collector_key key; /* nothing is opened */
    sotto_collector_options options = {
        .task = &s.task, .key = &key, .collector_token = s.pairing.collector_token};
    sotto_collection_query query = {s.bucket * s.task.precision, (s.bucket + 1) * s.task.precision};
    sotto_collector *collector;
    sotto_status status;

    t->err = (sotto_err){0};
    CHECK_OK(t, sotto_collector_open(&collector, &options, &t->err));
    status = sotto_collector_withdraw(collector, &query, &t->err);
    sotto_collector_close(collector);
    return status;
}

static void count_withdrawn(void *context, const sotto_log_event *event)
{
    if (strcmp(event->name, "collection.withdrawn") == 0 && event->level == SOTTO_LOG_INFO)
        atomic_fetch_add((atomic_uint *)context, 1);
}

/* Whoever asked too early takes it back, and the batch is not closed by what comes then. */
static void a_request_that_waits_can_be_withdrawn(sotto_test *t)
{
    static const char asked[] = "SELECT count(*) FROM release";
    uint64_t reports = 0, counts[16] = {0};
    atomic_uint told = 0;
    const sotto_log_sink log = {count_withdrawn, &told, SOTTO_LOG_INFO};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1, .log = &log});
    upload_until_verified(t, 5);
    s.patience = 2;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_OK(t, withdraw(t));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, asked));
    CHECK_STATUS(t, SOTTO_MISSING, withdraw(t));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, asked));
    upload_until_verified(t, 20);
    sotto_test_pause_ms(1500); /* longer than a collection rests */
    CHECK_EQUAL(t, 0, upload_one(t));
    s.patience = sotto_test_patience();
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 26, reports);
    CHECK_STATUS(t, SOTTO_STALE, withdraw(t));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.leader->db, asked));
    CHECK_EQUAL(t, 1, atomic_load(&told)); /* for what was taken back, not for what was not there */
    sotto_test_service_close(&s);
}

/* Nor is its hold left over, which no operator could end. */
static void a_request_that_is_held_can_be_withdrawn(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1});
    CHECK_OK(
        t, sotto_db_run(s.leader->db, sotto_test_say, "UPDATE task SET population = 10", &t->err));
    upload_until_verified(t, 21);
    s.patience = 1;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM held"));
    CHECK_OK(t, withdraw(t));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM held"));
    CHECK_EQUAL(t, 0, upload_one(t));
    sotto_test_service_close(&s);
}

/* As a step of the collection that holds the batch, up to its commit. */
static sotto_status hold_it(sotto_tx *tx, void *context, sotto_err *err)
{
    static char lock[] = "UPDATE release SET shut = 1",
                hold[] = "INSERT INTO held (task, first_bucket, end_bucket, batch, arrived,"
                         " expected, since) SELECT task, first_bucket, end_bucket, batch, 9, 1, 0"
                         " FROM release";

    SOTTO_TRY(sotto_test_say(tx, lock, err));
    SOTTO_TRY(sotto_test_say(tx, hold, err));
    return sotto_test_gate_hold(tx, context, err);
}

static void on_held(void *context, sotto_status status, const sotto_err *err)
{
    (void)err;
    *(sotto_status *)context = status;
}

static void *open_soon(void *gate)
{
    sotto_test_pause_ms(300);
    sotto_test_gate_open(gate);
    return NULL;
}

/* A step that was under way commits its hold while the request is being deleted: it is not left over either. */
static void a_request_can_be_withdrawn_while_it_is_being_held(sotto_test *t)
{
    sotto_test_gate gate = SOTTO_TEST_GATE(SOTTO_OK);
    sotto_status held = SOTTO_BUG;
    sotto_db_job job = {hold_it, &gate, on_held, &held, NULL, SOTTO_OK, {0}};
    uint64_t reports = 0, counts[16] = {0};
    pthread_t opener;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1});
    upload_until_verified(t, 5);
    s.patience = 1;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    sotto_db_post(s.leader->db, &job);
    sotto_test_gate_await(&gate);
    CHECK_EQUAL(t, 0, pthread_create(&opener, NULL, open_soon, &gate));
    CHECK_OK(t, withdraw(t));
    (void)pthread_join(opener, NULL);
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM held"));
    sotto_test_service_close(&s);
    CHECK_OK(t, held);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_collection_that_has_enough_takes_no_more),
        CASE(a_collection_that_has_too_few_stays_open),
        CASE(a_steady_trickle_does_not_hold_a_collection_back),
        CASE(a_batch_that_is_held_takes_no_more),
        CASE(a_request_that_waits_can_be_withdrawn),
        CASE(a_request_that_is_held_can_be_withdrawn),
        CASE(a_request_can_be_withdrawn_while_it_is_being_held),
        CASE(deleting_a_collection_that_waits_opens_its_buckets),
    };

    return RUN_TESTS(argc, argv, cases);
}
