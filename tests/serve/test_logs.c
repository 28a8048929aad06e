/* What the servers' logs and pages tell of reports and secrets: nothing, at any level, whatever goes wrong. */
#define _POSIX_C_SOURCE 200809L
#include "dap/collect.h"
#include "dap/upload.h"
#include "serve/leader/leader.h"
#include "support/database.h"
#include "support/steps.h"

#include <openssl/evp.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 6, NUMBER = 8, LOG = 4 << 20, WINDOWS = 1 << 19 };

/* ---- what must not be told: every six bytes of it ------------------------------------------------------------- */

static uint64_t windows[WINDOWS];
static size_t window_count;

static uint64_t window_at(const uint8_t *bytes)
{
    uint64_t window = 0;

    for (unsigned i = 0; i < WINDOW; i++)
        window = window << 8 | bytes[i];
    return window;
}

static void keep_secret(sotto_test *t, sotto_bytes bytes)
{
    for (size_t i = 0; i + WINDOW <= bytes.len; i++) {
        CHECK(t, window_count < WINDOWS);
        windows[window_count++] = window_at(bytes.data + i);
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static bool is_secret(uint64_t window)
{
    return bsearch(&window, windows, window_count, sizeof window, by_value) != NULL;
}

/* ---- what was told ---------------------------------------------------------------------------------------------- */

static uint8_t told[LOG];
static size_t told_len;
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

/* What does not fit is missed at the end: told_len then says that there was more. */
static void tell(const void *bytes, size_t len)
{
    if (told_len + len <= LOG)
        memcpy(told + told_len, bytes, len);
    told_len += len;
}

/* As it is written, and each field as it was given: escapes may hide bytes, and a number may be some. */
static void hear(void *context, const sotto_log_event *event)
{
    char line[4096];
    sotto_buf out = sotto_buf_over(line, sizeof line - 1);

    (void)context;
    (void)pthread_mutex_lock(&telling);
    if (sotto_log_format(&out, event, NULL) == SOTTO_OK)
        tell(line, out.len);
    else
        told_len += LOG; /* as if it did not fit */
    tell("\n", 1);
    for (size_t i = 0; i < event->count; i++) {
        const sotto_log_field *field = &event->fields[i];

        if (field->type == SOTTO_LOG_TEXT) {
            tell(field->value.text, strlen(field->value.text));
        } else {
            uint8_t number[2 * NUMBER];

            for (unsigned j = 0; j < NUMBER; j++)
                number[j] = number[2 * NUMBER - 1 - j] = (uint8_t)(field->value.uint >> (8 * j));
            tell(number, sizeof number);
        }
        tell("\n", 1);
    }
    (void)pthread_mutex_unlock(&telling);
}

static bool was_heard(const char *event)
{
    size_t len = strlen(event);
    bool found = false;

    (void)pthread_mutex_lock(&telling);
    for (size_t i = 0; !found && i + len <= told_len && i + len <= LOG; i++)
        found = memcmp(told + i, event, len) == 0;
    (void)pthread_mutex_unlock(&telling);
    return found;
}

/* Lines that begin as the log writes them, at this level and with this field first. */
static unsigned times_heard(const char *line)
{
    size_t len = strlen(line);
    unsigned times = 0;

    (void)pthread_mutex_lock(&telling);
    for (size_t i = 0; i + len <= told_len && i + len <= LOG; i++)
        times += memcmp(told + i, line, len) == 0 && (i == 0 || told[i - 1] == '\n');
    (void)pthread_mutex_unlock(&telling);
    return times;
}

static void await(sotto_test *t, const char *event)
{
    for (uint64_t until = 0; !was_heard(event) && sotto_test_waits(&until, 20);)
        ;
    if (!was_heard(event))
        (void)fprintf(stderr, "nobody said %s\n", event);
    CHECK(t, was_heard(event));
}

/* ---- looking for the one in the other --------------------------------------------------------------------------- */

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int base64_value(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

static bool stands_in_hex(const uint8_t *text, size_t len)
{
    uint64_t window = 0;

    for (size_t i = 0; i < 2 * WINDOW; i++) {
        int value = i < len ? hex_value(text[i]) : -1;

        if (value < 0)
            return false;
        window = window << 4 | (unsigned)value;
    }
    return is_secret(window);
}

/* Wherever in a longer text the six bytes began: with the first bit of a character, the third or the fifth. */
static bool stands_in_base64(const uint8_t *text, size_t len)
{
    enum { BITS = 8 * WINDOW, CHARACTERS = BITS / 6 + 1 };
    unsigned bits[6 * CHARACTERS];

    for (unsigned i = 0; i < CHARACTERS; i++) {
        int value = i < len ? base64_value(text[i]) : -1;

        /* The last one may be missing: six bytes that are all of a text have but eight. */
        if (value < 0 && i + 1 < CHARACTERS)
            return false;
        for (unsigned j = 0; j < 6; j++)
            bits[6 * i + j] = value < 0 ? 0 : (unsigned)value >> (5 - j) & 1;
    }
    for (unsigned first = 0; first < 6; first += 2) {
        uint64_t window = 0;

        for (unsigned i = 0; i < BITS; i++)
            window = window << 1 | bits[first + i];
        if (is_secret(window))
            return true;
    }
    return false;
}

/* Where six bytes of a secret stand, as they are, in hexadecimal or in either base64; or len. */
static size_t find_secret(const uint8_t *text, size_t len)
{
    for (size_t i = 0; i + WINDOW <= len; i++)
        if (is_secret(window_at(text + i)) || stands_in_hex(text + i, len - i) ||
            stands_in_base64(text + i, len - i))
            return i;
    return len;
}

static void nothing_was_told(sotto_test *t)
{
    size_t at;

    CHECK(t, told_len <= LOG);
    qsort(windows, window_count, sizeof windows[0], by_value);
    at = find_secret(told, told_len);
    if (at < told_len) {
        size_t from = at, to = at;

        while (from > 0 && told[from - 1] != '\n')
            from--;
        while (to < told_len && told[to] != '\n')
            to++;
        (void)fprintf(stderr, "told: %.*s\n", (int)(to - from), (const char *)told + from);
    }
    CHECK_EQUAL(t, told_len, at);
}

/* ---- the search itself ------------------------------------------------------------------------------------------ */

static void check_found(sotto_test *t, const char *form, sotto_bytes text)
{
    char line[256];
    size_t head = (size_t)snprintf(line, sizeof line, "warning %s report=", form);

    CHECK(t, head + text.len < sizeof line);
    memcpy(line + head, text.data, text.len);
    CHECK(t, find_secret((const uint8_t *)line, head + text.len) < head + text.len);
    CHECK_EQUAL(t, head, find_secret((const uint8_t *)line, head));
}

static void each_way_of_writing_is_found(sotto_test *t)
{
    uint8_t bytes[16];
    sotto_sim_random random;

    sotto_sim_random_init(&random, 5);
    sotto_sim_random_bytes(&random, bytes, sizeof bytes);
    window_count = 0;
    keep_secret(t, sotto_bytes_of(bytes, sizeof bytes));
    qsort(windows, window_count, sizeof windows[0], by_value);
    check_found(t, "plain", sotto_bytes_of(bytes + 3, WINDOW));
    for (unsigned before = 0; before < 3; before++) {
        uint8_t longer[32] = {0};
        char text[64];
        size_t len = 0;

        /* Half of it, at every place that it may have in something longer. */
        memcpy(longer + before, bytes + 4, WINDOW);
        for (size_t i = 0; i < before + WINDOW; i++)
            len += (size_t)snprintf(text + len, sizeof text - len, before == 1 ? "%02X" : "%02x",
                                    longer[i]);
        check_found(t, "hex", sotto_bytes_of(text, len));
        for (size_t after = 0; after < 3; after++) {
            len = (size_t)EVP_EncodeBlock((unsigned char *)text, longer,
                                          (int)(before + WINDOW + after));
            check_found(t, "base64", sotto_bytes_of(text, len));
            for (size_t i = 0; i < len; i++)
                text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
            while (len > 0 && text[len - 1] == '=')
                len--;
            check_found(t, "base64url", sotto_bytes_of(text, len));
        }
    }
}

/* ---- everything that may go wrong ------------------------------------------------------------------------------- */

static sotto_test_service s;
static const char stranger[] = "c3RyYW5nZXJz-own_words-that_nobody_gave_out";

static void keep_report_secret(sotto_test *t, const sotto_dap_report *r, sotto_test_flaw flaw)
{
    keep_secret(t, sotto_bytes_of(r->metadata.report_id, sizeof r->metadata.report_id));
    keep_secret(t, r->public_share);
    keep_secret(t, r->leader.enc);
    keep_secret(t, r->leader.payload);
    keep_secret(t, r->helper.enc);
    keep_secret(t, r->helper.payload);
    if (flaw == SOTTO_TEST_SOUND || flaw == SOTTO_TEST_BAD_PROOF) {
        keep_secret(t, sotto_test_opened_share(t, &s, true, r));
        keep_secret(t, sotto_test_opened_share(t, &s, false, r));
    }
}

static sotto_bytes make(sotto_test *t, size_t count, sotto_test_flaw flaw)
{
    sotto_bytes body = sotto_test_sealed_reports(t, &s, count, 1, flaw);
    sotto_reader in = sotto_reader_over(body);
    sotto_dap_report r;

    while (sotto_dap_upload_req_next(&in, &r))
        keep_report_secret(t, &r, flaw);
    return body;
}

static void keep_keys_secret(sotto_test *t)
{
    const sotto_pairing *p = &s.pairing;
    uint8_t verify_key[SOTTO_PRIO3_VERIFY_KEY_SIZE];

    sotto_test_verify_key(t, &s, verify_key);
    keep_secret(t, sotto_bytes_of(verify_key, sizeof verify_key));
    keep_secret(t, sotto_bytes_of(p->verify_seed, sizeof p->verify_seed));
    keep_secret(t, sotto_bytes_of(p->leader_token, strlen(p->leader_token)));
    keep_secret(t, sotto_bytes_of(p->collector_token, strlen(p->collector_token)));
    keep_secret(t, sotto_bytes_of(p->rejection_token, strlen(p->rejection_token)));
    keep_secret(t, sotto_bytes_of(stranger, strlen(stranger)));
    keep_secret(t, sotto_bytes_of(s.leader->columns->key[0], SOTTO_COLUMN_KEY_SIZE));
}

/* A server that makes its own datastore key. */
static void start_anew(sotto_test *t)
{
    sotto_server_options options = s.leader_options;
    sotto_server *server;

    options.host.database = sotto_test_address(t);
    options.host.datastore_key = sotto_test_temp(t, "fresh.key");
    CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
    keep_secret(t, sotto_bytes_of(server->columns->key[0], SOTTO_COLUMN_KEY_SIZE));
    sotto_server_close(server);
    await(t, "datastore_key.made");
}

static void upload_all_kinds(sotto_test *t)
{
    static const sotto_test_flaw flaws[] = {SOTTO_TEST_BAD_PROOF,       SOTTO_TEST_BAD_LEADER_SEAL,
                                            SOTTO_TEST_BAD_HELPER_SEAL, SOTTO_TEST_UNKNOWN_KEY,
                                            SOTTO_TEST_TOO_EARLY,       SOTTO_TEST_EXTENSION};
    sotto_bytes sound = make(t, 25, SOTTO_TEST_SOUND);

    for (unsigned i = 0; i < 2; i++) /* the second time they are replayed */
        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, sound).status);
    for (size_t i = 0; i < sizeof flaws / sizeof flaws[0]; i++)
        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, make(t, 2, flaws[i])).status);
    sound = make(t, 2, SOTTO_TEST_SOUND);
    sound.len -= 5;
    CHECK_EQUAL(t, 400, sotto_test_upload(t, &s, sound).status);
}

/* What the leader would not send: with a wrong token, malformed, and such that the two disagree afterwards. */
static void send_jobs(sotto_test *t)
{
    sotto_bytes reports[2];
    sotto_test_job job;

    for (size_t i = 0; i < 2; i++)
        reports[i] = make(t, 1, i == 0 ? SOTTO_TEST_SOUND : SOTTO_TEST_BAD_PROOF);
    job = sotto_test_job_of(t, &s, reports, 2, NULL);
    CHECK_EQUAL(t, 401,
                sotto_test_post(t, &s, false, "aggregation_jobs",
                                SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, stranger, job.request)
                    .status);
    CHECK_EQUAL(t, 401,
                sotto_test_post(t, &s, true, "collection_jobs", SOTTO_DAP_COLLECTION_JOB_REQ,
                                stranger, sotto_bytes_of("", 0))
                    .status);
    CHECK_EQUAL(
        t, 400,
        sotto_test_send_job(t, &s, sotto_bytes_of(job.request.data, job.request.len - 3)).status);
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    reports[1] = make(t, 1, SOTTO_TEST_SOUND); /* beside one that the helper knows */
    job = sotto_test_job_of(t, &s, reports, 2, NULL);
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
}

static void fail_to_store(sotto_test *t)
{
    sotto_test_do(t, s.leader->db, "ALTER TABLE segment_key RENAME TO away");
    CHECK_EQUAL(t, 500, sotto_test_upload(t, &s, make(t, 2, SOTTO_TEST_SOUND)).status);
    await(t, "upload.not_stored");
    sotto_test_do(t, s.leader->db, "ALTER TABLE away RENAME TO segment_key");
    if (sotto_test_on_postgres()) { /* whose message would be: failing row contains (..., \x...) */
        sotto_test_pause_ms(1100);  /* it is told once a second */
        sotto_test_do(t, s.leader->db,
                      "ALTER TABLE mark ADD CONSTRAINT c CHECK (bucket < 0) NOT VALID");
        CHECK_EQUAL(t, 500, sotto_test_upload(t, &s, make(t, 2, SOTTO_TEST_SOUND)).status);
        await(t, "postgres: 23514");
        sotto_test_do(t, s.leader->db, "ALTER TABLE mark DROP CONSTRAINT c");
    }
    sotto_test_do(t, s.leader->db, "ALTER TABLE job RENAME COLUMN added TO away");
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, make(t, 2, SOTTO_TEST_SOUND)).status);
    await(t, "job.unformed");
    sotto_test_do(t, s.leader->db, "ALTER TABLE job RENAME COLUMN away TO added");
}

static void lose_the_helper(sotto_test *t)
{
    sotto_bytes reports = make(t, 2, SOTTO_TEST_SOUND);

    sotto_test_do(t, s.helper->db, "ALTER TABLE job RENAME COLUMN added TO away");
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, make(t, 2, SOTTO_TEST_SOUND)).status);
    await(t, "job.retried");
    sotto_test_do(t, s.helper->db, "ALTER TABLE job RENAME COLUMN away TO added");
    sotto_test_helper_stop(t, &s);
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, reports).status);
    await(t, "the helper does not answer");
    sotto_test_helper_start(t, &s);
    sotto_test_do(t, s.leader->db, "UPDATE sotto_lease SET ready_at = 0 WHERE held = 0");
}

/* What an operator needs to see afterwards of what became of a task, at the level that a server logs at: by its id. */
static void leave_a_trail(sotto_test *t)
{
    static const struct {
        const char *event;
        unsigned times;
    } lines[] = {{"info task.served", 3}, /* the helper was started twice */
                 {"info share.released", 2},
                 {"warning collection.repaired", 1},
                 {"warning batch.repaired", 1}};
    char id[SOTTO_DAP_ID_TEXT_MAX], line[128];

    sotto_dap_id_encode(id, sotto_bytes_of(s.task.id, sizeof s.task.id));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        (void)snprintf(line, sizeof line, "%s task=%s", lines[i].event, id);
        /* An answer may be there before the line about it. */
        for (uint64_t until = 0;
             times_heard(line) < lines[i].times && sotto_test_waits(&until, 25);)
            ;
        CHECK_EQUAL(t, lines[i].times, times_heard(line));
    }
    CHECK(t, times_heard("info hpke_key.state config_id=") >= 2);
}

/* Held at first; then the jobs are dropped of which the leader does not know. */
static void collect(sotto_test *t)
{
    uint64_t reports, counts[16];
    sotto_dap_collection_resp resp;

    sotto_test_do(t, s.leader->db, "UPDATE task SET population = 1");
    s.patience = 1;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    await(t, "batch.held");
    sotto_test_do(t, s.leader->db, "UPDATE task SET population = NULL");
    s.patience = 400;
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK(t, was_heard("collection.repaired") && was_heard("batch.repaired"));
    CHECK_OK(t, sotto_dap_collection_resp_decode(&resp, s.answer, &t->err));
    keep_secret(t, resp.leader.payload);
    keep_secret(t, resp.helper.payload);
    leave_a_trail(t);
}

static void damage_a_segment(sotto_test *t)
{
    s.bucket--;
    sotto_test_do(t, s.leader->db,
                  "ALTER TABLE job RENAME COLUMN added TO away"); /* it stays one */
    atomic_fetch_add(&sotto_leader_of(s.leader)->cached_bytes,
                     (size_t)1 << 40); /* and is read back */
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, make(t, 2, SOTTO_TEST_SOUND)).status);
    sotto_test_do(t, s.leader->db,
                  "UPDATE segment_body SET body = segment_key.secret FROM segment_key");
    sotto_test_want(t, &s);
    await(t, "segment.unreadable");
    sotto_test_do(t, s.leader->db, "ALTER TABLE job RENAME COLUMN away TO added");
}

/* Readiness and metrics are for operators, as the log is. */
static void read_pages(sotto_test *t, sotto_server *server)
{
    bool ready;
    const char *text = sotto_test_pages(t, server, &ready);

    (void)pthread_mutex_lock(&telling);
    tell(text, strlen(text));
    (void)pthread_mutex_unlock(&telling);
}

static void no_log_tells_of_reports_or_secrets(sotto_test *t)
{
    const sotto_log_sink log = {hear, NULL, SOTTO_LOG_DEBUG};

    window_count = told_len = 0;
    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 50, .log = &log});
    keep_keys_secret(t);
    start_anew(t);
    upload_all_kinds(t);
    send_jobs(t);
    fail_to_store(t);
    lose_the_helper(t);
    collect(t);
    damage_a_segment(t);
    read_pages(t, s.leader);
    read_pages(t, s.helper);
    sotto_test_service_close(&s);
    nothing_was_told(t);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(each_way_of_writing_is_found),
        CASE(no_log_tells_of_reports_or_secrets),
    };

    return RUN_TESTS(argc, argv, cases);
}
