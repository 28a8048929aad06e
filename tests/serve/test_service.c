/* Leader and helper together: what is uploaded is added up once, whatever stands between. */
#include "support/service.h"

#include "support/database.h"
#include "transport/dap_upload.h"

#include <stdio.h>
#include <string.h>

static sotto_bytes many(sotto_test *t, sotto_test_service *s, size_t count, uint64_t bin)
{
    sotto_buf out = sotto_buf_over(sotto_arena_take(&t->arena, count * (s->task.report_bytes + 64)),
                                   count * (s->task.report_bytes + 64));

    for (size_t i = 0; i < count; i++) {
        sotto_bytes report = sotto_test_sealed_report(t, s, bin, SOTTO_TEST_SOUND);

        memcpy(out.data + out.len, report.data, report.len);
        out.len += report.len;
    }
    return sotto_buf_bytes(&out);
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
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, many(t, &s, 30, 1)).status);
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

static void nothing_is_lost_when_a_server_restarts(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    /* Jobs that never leave by themselves: the restart finds the segments waiting. */
    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 1000});
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, many(t, &s, 40, 1)).status);
    sotto_test_leader_restart(t, &s);
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, many(t, &s, 5, 1)).status);
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
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, many(t, &s, 20, 1)).status);
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

static void a_batch_below_its_minimum_waits(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.min_cohort = 20});
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, many(t, &s, 19, 1)).status);
    s.patience = 20;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    /* What is missing may still come. */
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, many(t, &s, 1, 1)).status);
    s.patience = 200;
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
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, many(t, &s, 20, 1)).status);
    s.patience = 200;
    unsigned first = sotto_test_collect(t, &s, 1, &reports, counts);
    unsigned second = sotto_test_collect(t, &s, 2, &reports, counts);
    CHECK(t, (first == 200 && second == 400) || (first == 400 && second == 200));
    sotto_test_service_close(&s);
}

static void reports_are_erased_once_they_are_added_up(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, many(t, &s, 30, 1)).status);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM segment_key"));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM segment"));
    CHECK_EQUAL(t, 30, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM mark"));
    sotto_test_service_close(&s);
}

typedef struct stored {
    uint8_t key[128];
    size_t len;
} stored;

static sotto_status read_key(sotto_tx *tx, void *context, sotto_err *err)
{
    stored *s = context;
    sotto_bytes secret;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT secret FROM segment_key LIMIT 1", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "no key");
    secret = sotto_sql_column_bytes(&q, 0);
    s->len = secret.len < sizeof s->key ? secret.len : sizeof s->key;
    memcpy(s->key, secret.data, s->len);
    return sotto_sql_run(&q, NULL, err);
}

/* How often these bytes stand in a file. */
static size_t occurrences(sotto_test *t, const char *path, const uint8_t *bytes, size_t len)
{
    size_t size = (size_t)16 << 20, got = 0, found = 0;
    uint8_t *all = sotto_arena_take(&t->arena, size);
    FILE *file = fopen(path, "rb");

    CHECK(t, all != NULL && file != NULL);
    got = fread(all, 1, size, file);
    CHECK(t, got < size);
    CHECK_EQUAL(t, 0, fclose(file));
    for (size_t i = 0; i + len <= got; i++)
        found += memcmp(all + i, bytes, len) == 0;
    return found;
}

/* The key's bytes, sealed as they were, are nowhere in the file once the reports were added up. */
static void a_destroyed_key_is_gone_from_the_file(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};
    stored key = {.len = 0};
    const char *path;

    if (sotto_test_on_postgres())
        return; /* its files are the server's, and its old rows go by VACUUM: decision 32 */
    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 1000});
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, many(t, &s, 30, 1)).status);
    CHECK_OK(t, sotto_db_read(s.leader->db, read_key, &key, &t->err));
    sotto_test_leader_restart(t, &s); /* what the WAL held is in the file now */
    path = s.leader_options.database + strlen("sqlite:");
    CHECK(t, occurrences(t, path, key.key, key.len) > 0);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    sotto_test_leader_restart(t, &s);
    CHECK_EQUAL(t, 0, occurrences(t, path, key.key, key.len));
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(uploads_become_one_correct_answer),
        CASE(the_next_batch_is_one_that_the_leader_selected),
        CASE(one_bad_report_fails_no_neighbour),
        CASE(a_report_counts_once_however_often_it_comes),
        CASE(nothing_is_lost_when_a_server_restarts),
        CASE(a_collected_bucket_takes_no_more),
        CASE(a_batch_below_its_minimum_waits),
        CASE(of_two_collections_that_overlap_one_is_refused),
        CASE(a_destroyed_key_is_gone_from_the_file),
        CASE(reports_are_erased_once_they_are_added_up),
    };

    return RUN_TESTS(argc, argv, cases);
}
