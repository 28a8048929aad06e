/* What answers look like to a party of any make: places, problems, fields (DAP, "HTTP Usage" and "Errors"). */
#include "dap/job.h"
#include "dap/upload.h"
#include "support/steps.h"

#include <stdio.h>
#include <string.h>

#define NONE SOTTO_DAP_MESSAGES

static sotto_test_service s;

static sotto_bytes text(const char *words)
{
    return sotto_bytes_of(words, strlen(words));
}

static const sotto_bytes nothing = {NULL, 0};

/* The field's value as a string; "" if there is none. */
static const char *field(sotto_test *t, const sotto_http_response *r, const char *name)
{
    sotto_bytes value = {NULL, 0};
    char *out;

    (void)sotto_http_response_field(r, name, &value);
    out = sotto_arena_take(&t->arena, value.len + 1);
    CHECK(t, out != NULL);
    if (out && value.len > 0)
        memcpy(out, value.data, value.len);
    return out;
}

/* What follows the task's id in a Location. */
static const char *place_of(sotto_test *t, const sotto_http_response *r)
{
    char prefix[128] = "/tasks/";
    const char *location = field(t, r, "location");

    sotto_dap_id_encode(prefix + 7, sotto_bytes_of(s.task.id, sizeof s.task.id));
    (void)snprintf(prefix + strlen(prefix), 2, "/");
    CHECK(t, strncmp(location, prefix, strlen(prefix)) == 0);
    return location + strlen(prefix);
}

static bool names_its_task(const sotto_http_response *r)
{
    char member[128], id[SOTTO_DAP_ID_TEXT_MAX];

    sotto_dap_id_encode(id, sotto_bytes_of(s.task.id, sizeof s.task.id));
    (void)snprintf(member, sizeof member, "\"taskid\":\"%s\"", id);
    return sotto_test_says(r, member);
}

static bool is_problem_document(sotto_test *t, const sotto_http_response *r)
{
    char status[32];

    (void)snprintf(status, sizeof status, "\"status\":%u", r->status);
    return strcmp(field(t, r, "content-type"), "application/problem+json") == 0 &&
           sotto_test_says(r, "\"type\":\"") && sotto_test_says(r, "\"title\":\"") &&
           sotto_test_says(r, status);
}

static sotto_test_job job_of(sotto_test *t, size_t count)
{
    sotto_bytes reports[32];

    for (size_t i = 0; i < count; i++)
        reports[i] = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    return sotto_test_job_of(t, &s, reports, count, NULL);
}

/* ---- problems ------------------------------------------------------------------------------------------------- */

static void every_problem_names_its_task(sotto_test *t)
{
    static const struct {
        bool to_leader;
        sotto_http_method method;
        const char *place;
        sotto_dap_message message;
        char token;
        unsigned status;
    } cases[] = {
        {true, SOTTO_HTTP_POST, "reports", SOTTO_DAP_UPLOAD_REQ, 0, 400},
        {true, SOTTO_HTTP_POST, "reports", SOTTO_DAP_COLLECTION_JOB_REQ, 0, 415},
        {true, SOTTO_HTTP_POST, "collection_jobs", SOTTO_DAP_COLLECTION_JOB_REQ, 0, 401},
        {true, SOTTO_HTTP_DELETE, "reports", NONE, 0, 405},
        {true, SOTTO_HTTP_GET, "collection_jobs/AAAAAAAAAAAAAAAAAAAAAA", NONE, 'C', 404},
        {true, SOTTO_HTTP_GET, "collection_jobs/A", NONE, 'C', 404},
        {false, SOTTO_HTTP_GET, "aggregation_jobs/AAAAAAAAAAAAAAAAAAAAAA", NONE, 'L', 404},
        {false, SOTTO_HTTP_GET, "aggregation_jobs/AAAAAAAAAAAAAAAAAAAAAA?step=1", NONE, 'L', 400},
        {false, SOTTO_HTTP_GET, "aggregate_shares/AAAAAAAAAAAAAAAAAAAAAA", NONE, 'L', 404},
    };
    sotto_http_response r;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *token = cases[i].token == 'C'   ? s.pairing.collector_token
                            : cases[i].token == 'L' ? s.pairing.leader_token
                                                    : NULL;

        r = sotto_test_request(t, &s, cases[i].to_leader, cases[i].method, cases[i].place,
                               cases[i].message, token,
                               cases[i].method == SOTTO_HTTP_POST ? text("x") : nothing);
        if (r.status != cases[i].status || !names_its_task(&r))
            (void)fprintf(stderr, "%s: %u\n", cases[i].place, r.status);
        CHECK_EQUAL(t, cases[i].status, r.status);
        CHECK(t, is_problem_document(t, &r));
        CHECK(t, names_its_task(&r));
    }
    r = sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 1001, 1, SOTTO_TEST_SOUND));
    CHECK_EQUAL(t, 413, r.status);
    CHECK(t, names_its_task(&r));
    s.task.id[0] ^= 1; /* one that it does not have: the name that was asked for */
    r = sotto_test_upload(t, &s, text("x"));
    CHECK(t, sotto_test_is_problem(&r, SOTTO_DAP_UNRECOGNIZED_TASK));
    CHECK(t, names_its_task(&r));
    sotto_test_service_close(&s);
}

/* RFC 9110, 15.5.6 */
static void a_place_says_which_methods_it_has(sotto_test *t)
{
    static const struct {
        bool to_leader;
        const char *place, *allow;
        char token;
    } cases[] = {
        {true, "reports", "POST", 'C'},
        {true, "collection_jobs", "POST", 'C'},
        {true, "collection_jobs/AAAAAAAAAAAAAAAAAAAAAA", "GET, HEAD, DELETE", 'C'},
        {false, "aggregation_jobs", "POST", 'L'},
        {false, "aggregation_jobs/AAAAAAAAAAAAAAAAAAAAAA", "POST, GET, HEAD, DELETE", 'L'},
        {false, "aggregate_shares/AAAAAAAAAAAAAAAAAAAAAA", "GET, HEAD, DELETE", 'L'},
        {false, "../../hpke_config", "GET, HEAD", 'L'},
    };

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sotto_http_response r = sotto_test_request(
            t, &s, cases[i].to_leader, SOTTO_HTTP_PUT, cases[i].place, SOTTO_DAP_COLLECTION_JOB_REQ,
            cases[i].token == 'C' ? s.pairing.collector_token : s.pairing.leader_token, text("x"));

        CHECK_EQUAL(t, 405, r.status);
        CHECK(t, strcmp(field(t, &r, "allow"), cases[i].allow) == 0);
    }
    sotto_test_service_close(&s);
}

/* RFC 9110, 15.5.2 */
static void who_has_no_token_is_told_what_is_wanted(sotto_test *t)
{
    sotto_http_response r;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    r = sotto_test_send_job(t, &s, job_of(t, 1).request);
    CHECK(t, field(t, &r, "www-authenticate")[0] == 0);
    r = sotto_test_post(t, &s, false, "aggregation_jobs", SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, NULL,
                        text("x"));
    CHECK_EQUAL(t, 401, r.status);
    CHECK(t, strncmp(field(t, &r, "www-authenticate"), "Bearer ", 7) == 0);
    sotto_test_service_close(&s);
}

/* ---- places --------------------------------------------------------------------------------------------------- */

static void an_aggregation_job_has_a_place(sotto_test *t)
{
    sotto_http_response made, again, got;
    sotto_test_job job;
    const char *place;
    char with_step[128];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    job = job_of(t, 3);
    made = sotto_test_send_job(t, &s, job.request);
    CHECK_EQUAL(t, 2, made.status / 100);
    CHECK(t, strcmp(field(t, &made, "content-type"),
                    sotto_dap_media_type(SOTTO_DAP_AGGREGATION_JOB_RESP)) == 0);
    place = place_of(t, &made);
    again = sotto_test_send_job(t, &s, job.request);
    CHECK(t, strcmp(place, place_of(t, &again)) == 0);
    /* Another job is another place. */
    got = sotto_test_send_job(t, &s, job_of(t, 3).request);
    CHECK(t, strcmp(place, place_of(t, &got)) != 0);
    (void)snprintf(with_step, sizeof with_step, "%s?step=0", place);
    for (int i = 0; i < 2; i++) {
        got = sotto_test_request(t, &s, false, SOTTO_HTTP_GET, i ? with_step : place, NONE,
                                 s.pairing.leader_token, nothing);
        CHECK_EQUAL(t, 2, got.status / 100);
        CHECK_EQUAL(t, made.body.len, got.body.len);
        CHECK_BYTES(t, made.body.data, got.body.data, made.body.len);
    }
    (void)snprintf(with_step, sizeof with_step, "%s?step=1", place);
    got = sotto_test_request(t, &s, false, SOTTO_HTTP_GET, with_step, NONE, s.pairing.leader_token,
                             nothing);
    CHECK(t, sotto_test_is_problem(&got, SOTTO_DAP_STEP_MISMATCH));
    sotto_test_service_close(&s);
}

static void an_aggregate_share_has_a_place(sotto_test *t)
{
    sotto_http_response made, again, got;
    sotto_test_job job;
    const char *place;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    job = job_of(t, 20);
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    made = sotto_test_ask_share(t, &s, 1, 20, job.checksum);
    CHECK_EQUAL(t, 2, made.status / 100);
    CHECK(t, strcmp(field(t, &made, "content-type"),
                    sotto_dap_media_type(SOTTO_DAP_AGGREGATE_SHARE)) == 0);
    place = place_of(t, &made);
    again = sotto_test_ask_share(t, &s, 1, 20, job.checksum);
    CHECK(t, strcmp(place, place_of(t, &again)) == 0);
    /* Deleting it gives nothing back: what was released stays released, and stays the same. */
    got = sotto_test_request(t, &s, false, SOTTO_HTTP_DELETE, place, NONE, s.pairing.leader_token,
                             nothing);
    CHECK_EQUAL(t, 2, got.status / 100);
    got = sotto_test_request(t, &s, false, SOTTO_HTTP_GET, place, NONE, s.pairing.leader_token,
                             nothing);
    CHECK_EQUAL(t, made.body.len, got.body.len);
    CHECK_BYTES(t, made.body.data, got.body.data, made.body.len);
    sotto_test_service_close(&s);
}

static sotto_http_response at_place(sotto_test *t, sotto_http_method method, const char *place)
{
    return sotto_test_request(t, &s, true, method, place, NONE, s.pairing.collector_token, nothing);
}

static void a_collection_job_waits_at_its_place(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};
    sotto_http_response r, done;
    const char *place;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    r = sotto_test_ask_collection(t, &s);
    CHECK_EQUAL(t, 2, r.status / 100);
    CHECK_EQUAL(t, 0, r.body.len);
    CHECK(t, r.retry_after_s > 0);
    place = place_of(t, &r);
    r = sotto_test_ask_collection(t, &s);
    CHECK(t, strcmp(place, place_of(t, &r)) == 0);
    r = at_place(t, SOTTO_HTTP_GET, place);
    CHECK_EQUAL(t, 2, r.status / 100);
    CHECK_EQUAL(t, 0, r.body.len);
    CHECK(t, r.retry_after_s > 0);
    CHECK_EQUAL(
        t, 200,
        sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 20, 1, SOTTO_TEST_SOUND)).status);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    done = at_place(t, SOTTO_HTTP_GET, place);
    CHECK_EQUAL(t, 200, done.status);
    CHECK(t, strcmp(field(t, &done, "content-type"),
                    sotto_dap_media_type(SOTTO_DAP_COLLECTION_JOB_RESP)) == 0);
    /* Deleted or not, what was collected is not collected again. */
    CHECK_EQUAL(t, 2, at_place(t, SOTTO_HTTP_DELETE, place).status / 100);
    r = sotto_test_ask_collection(t, &s);
    CHECK_EQUAL(t, done.body.len, r.body.len);
    CHECK_BYTES(t, done.body.data, r.body.data, done.body.len);
    sotto_test_service_close(&s);
}

/* The question for "the next batch" is always the same: until its job is deleted, it is the same job. */
static void the_next_batch_is_asked_for_once_the_last_is_deleted(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};
    sotto_http_response first, again;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.leader_selected = true});
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQUAL(
            t, 200,
            sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 20, 1, SOTTO_TEST_SOUND))
                .status);
        CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 0, &reports, counts));
        CHECK_EQUAL(t, 20, reports);
        first = sotto_test_ask_collection(t, &s);
        again = sotto_test_ask_collection(t, &s);
        CHECK_EQUAL(t, first.body.len, again.body.len);
        CHECK_BYTES(t, first.body.data, again.body.data, first.body.len);
        CHECK_EQUAL(t, 2, at_place(t, SOTTO_HTTP_DELETE, place_of(t, &first)).status / 100);
    }
    again = sotto_test_ask_collection(t, &s); /* there is no third: this one waits */
    CHECK_EQUAL(t, 0, again.body.len);
    sotto_test_service_close(&s);
}

/* ---- continuations -------------------------------------------------------------------------------------------- */

static sotto_http_response go_on(sotto_test *t, const char *place, const char *hex)
{
    return sotto_test_request(t, &s, false, SOTTO_HTTP_POST, place,
                              SOTTO_DAP_AGGREGATION_JOB_CONTINUE_REQ, s.pairing.leader_token,
                              sotto_test_hex(t, hex));
}

/* Prio3 has one step, so that there is never anything to go on with; which problem it is still depends. */
static void a_continuation_is_refused_by_what_is_wrong_with_it(sotto_test *t)
{
#define ID "0102030405060708090a0b0c0d0e0f10"
    static const struct {
        const char *hex;
        sotto_dap_problem problem;
    } cases[] = {
        {"00", SOTTO_DAP_INVALID_MESSAGE},
        {"0001" ID "00000005", SOTTO_DAP_INVALID_MESSAGE},
        {"0000", SOTTO_DAP_INVALID_MESSAGE},
        {"0001" ID "00000001aa", SOTTO_DAP_INVALID_MESSAGE}, /* none of its reports waits */
        {"0001", SOTTO_DAP_STEP_MISMATCH},
        {"0007", SOTTO_DAP_STEP_MISMATCH},
    };
    sotto_http_response r;
    const char *place;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    r = sotto_test_send_job(t, &s, job_of(t, 2).request);
    place = place_of(t, &r);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        r = go_on(t, place, cases[i].hex);
        CHECK(t, sotto_test_is_problem(&r, cases[i].problem));
    }
    r = go_on(t, "aggregation_jobs/AAAAAAAAAAAAAAAAAAAAAA", "0001");
    CHECK(t, sotto_test_is_problem(&r, SOTTO_DAP_UNRECOGNIZED_AGGREGATION_JOB));
    r = go_on(t, "aggregation_jobs/never", "0001");
    CHECK(t, sotto_test_is_problem(&r, SOTTO_DAP_UNRECOGNIZED_AGGREGATION_JOB));
    sotto_test_service_close(&s);
}

/* ---- uploads and keys ------------------------------------------------------------------------------------------- */

static void upload_errors_keep_the_order_of_the_request(sotto_test *t)
{
    static const sotto_test_flaw flaws[] = {SOTTO_TEST_BAD_LEADER_SEAL, SOTTO_TEST_SOUND,
                                            SOTTO_TEST_TOO_EARLY,       SOTTO_TEST_SOUND,
                                            SOTTO_TEST_EXTENSION,       SOTTO_TEST_UNKNOWN_KEY};
    static const uint8_t wanted[] = {SOTTO_REPORT_HPKE_DECRYPT_ERROR, 0,
                                     SOTTO_REPORT_TOO_EARLY,          0,
                                     SOTTO_REPORT_INVALID_MESSAGE,    SOTTO_REPORT_OUTDATED_CONFIG};
    enum { COUNT = sizeof wanted };
    uint8_t memory[1 << 14];
    sotto_buf body = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&body);
    sotto_bytes reports[COUNT];
    sotto_dap_upload_status status;
    sotto_http_response r;
    sotto_reader in;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < COUNT; i++) {
        reports[i] = sotto_test_sealed_report(t, &s, 1, flaws[i]);
        sotto_write_bytes(&w, reports[i]);
    }
    CHECK_OK(t, sotto_writer_finish(&w, "reports", &t->err));
    r = sotto_test_upload(t, &s, sotto_buf_bytes(&body));
    CHECK_EQUAL(t, 200, r.status);
    CHECK(t,
          strcmp(field(t, &r, "content-type"), sotto_dap_media_type(SOTTO_DAP_UPLOAD_ERRORS)) == 0);
    in = sotto_reader_over(r.body);
    for (size_t i = 0; i < COUNT; i++) {
        if (wanted[i] == 0)
            continue;
        CHECK(t, sotto_dap_upload_errors_next(&in, &status));
        CHECK_EQUAL(t, wanted[i], status.error);
        CHECK_BYTES(t, reports[i].data, status.report_id, sizeof status.report_id);
    }
    CHECK_EQUAL(t, 0, sotto_reader_left(&in));
    /* What was taken is not mentioned: nothing is said of a request all of whose reports were. */
    r = sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 3, 1, SOTTO_TEST_SOUND));
    CHECK_EQUAL(t, 200, r.status);
    CHECK_EQUAL(t, 0, r.body.len);
    sotto_test_service_close(&s);
}

/* Old keys open reports for at least twice as long as clients may keep the list that has them. */
static void published_keys_may_be_cached_for_half_of_what_they_still_open(sotto_test *t)
{
    sotto_http_response r;
    unsigned long seconds = 0;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (int i = 0; i < 2; i++) {
        r = sotto_test_request(t, &s, i == 0, SOTTO_HTTP_GET, "../../hpke_config", NONE, NULL,
                               nothing);
        CHECK_EQUAL(t, 200, r.status);
        CHECK(t, strcmp(field(t, &r, "content-type"),
                        sotto_dap_media_type(SOTTO_DAP_HPKE_CONFIG_LIST)) == 0);
        CHECK_EQUAL(t, 1, sscanf(field(t, &r, "cache-control"), "max-age=%lu", &seconds));
        CHECK_EQUAL(t, 86400, seconds);
        CHECK(t, 2 * seconds <= sotto_keys_times((i ? s.helper : s.leader)->keys)->expired);
    }
    sotto_test_service_close(&s);
    s.leader_options.tasks.key_times.expired = 7200;
    CHECK_OK(t, sotto_server_open(&s.leader, &s.leader_options, &t->err));
    CHECK_EQUAL(t, 3600, sotto_keys_cache_seconds(s.leader->keys));
    sotto_server_close(s.leader);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_problem_names_its_task),
        CASE(a_place_says_which_methods_it_has),
        CASE(who_has_no_token_is_told_what_is_wanted),
        CASE(an_aggregation_job_has_a_place),
        CASE(an_aggregate_share_has_a_place),
        CASE(a_collection_job_waits_at_its_place),
        CASE(the_next_batch_is_asked_for_once_the_last_is_deleted),
        CASE(a_continuation_is_refused_by_what_is_wrong_with_it),
        CASE(upload_errors_keep_the_order_of_the_request),
        CASE(published_keys_may_be_cached_for_half_of_what_they_still_open),
    };

    return RUN_TESTS(argc, argv, cases);
}
