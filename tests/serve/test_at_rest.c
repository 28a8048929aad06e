/* What lies in the databases of leader and helper: it is sealed, erased once it was added up, and gone on with after a kill. */
#define _POSIX_C_SOURCE 200809L
#include "support/steps.h"

#include "dap/upload.h"
#include "db/sealed.h"
#include "support/database.h"

#include <stdio.h>
#include <string.h>

static void reports_are_erased_once_they_are_added_up(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1});
    sotto_test_upload_some(t, &s, 30, 1, SOTTO_TEST_SOUND);
    sotto_test_await(t, s.leader->db,
                     "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM sub_aggregate", 30);
    /* In the transaction that adds them up. */
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM segment_key"));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM segment"));
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 30, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM mark"));
    sotto_test_service_close(&s);
}

enum { KEYS = 150, SEALED_KEY = SOTTO_COLUMN_KEY_SIZE + SOTTO_COLUMN_OVERHEAD };

typedef struct stored {
    uint8_t keys[KEYS][SEALED_KEY];
    size_t count;
} stored;

static sotto_status read_keys(sotto_tx *tx, void *context, sotto_err *err)
{
    stored *s = context;
    sotto_sql q;
    bool row;

    s->count = 0;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT secret FROM segment_key", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row && s->count < KEYS) {
        SOTTO_TRY(sotto_sql_column_fixed(&q, 0, s->keys[s->count++], SEALED_KEY, err));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

/* All of an SQLite database's file, or of the one behind it that ends with this; until the next call. */
static sotto_bytes file_of(sotto_test *t, const char *database, const char *suffix)
{
    static uint8_t all[32 << 20];
    char path[512];
    size_t size;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s%s", database + strlen("sqlite:"), suffix);
    file = fopen(path, "rb");
    if (!file)
        return sotto_bytes_of(NULL, 0);
    size = fread(all, 1, sizeof all, file);
    CHECK(t, size < sizeof all);
    CHECK_EQUAL(t, 0, fclose(file));
    return sotto_bytes_of(all, size);
}

/* How many of the keys stand anywhere in it. */
static size_t keys_in(sotto_test *t, const sotto_test_service *s, const char *suffix,
                      const stored *keys)
{
    sotto_bytes all = file_of(t, s->leader_options.host.database, suffix);
    size_t found = 0;

    for (size_t i = 0; i < keys->count; i++)
        found += sotto_test_holds(all, sotto_bytes_of(keys->keys[i], SEALED_KEY));
    return found;
}

/* The keys' bytes, sealed as they were, are in no file once the reports were added up, while the server runs on. There are
 * more of them than one page holds, so that pages become free when they go. */
static void destroyed_keys_are_gone_from_every_file(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};
    static stored keys;
    size_t left = KEYS;

    if (sotto_test_on_postgres()) /* decision 42 */
        NOT_FOR_THIS_DATABASE(t, "PostgreSQL's files are its own, and its old rows go by VACUUM");
    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 1000});
    s.leader_options.host.erase_ms = 200;
    sotto_test_leader_restart(t, &s);
    for (unsigned i = 0; i < KEYS; i++)
        sotto_test_upload_some(t, &s, 1, 1, SOTTO_TEST_SOUND);
    CHECK_OK(t, sotto_db_read(s.leader->db, read_keys, &keys, &t->err));
    CHECK_EQUAL(t, KEYS, keys.count);
    sotto_test_leader_restart(t, &s); /* what the WAL held is in the file now */
    CHECK_EQUAL(t, KEYS, keys_in(t, &s, "", &keys));
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, KEYS, reports);
    for (uint64_t until = 0; left > 0 && sotto_test_waits(&until, 100);)
        left = keys_in(t, &s, "", &keys) + keys_in(t, &s, "-wal", &keys);
    CHECK_EQUAL(t, 0, left);
    sotto_test_service_close(&s);
}

#define SHARES "SELECT count(*) FROM sub_aggregate WHERE length(share) > 0"
#define ERASED "SELECT count(*) FROM release WHERE erased = 1"
#define COUNTS "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM sub_aggregate"

/* Nothing of this share is in any file of the server's any more, soon. */
static void share_is_gone(sotto_test *t, const char *database, sotto_bytes share)
{
    bool there = !sotto_test_on_postgres();

    for (uint64_t until = 0; there && sotto_test_waits(&until, 100);)
        there = sotto_test_holds(file_of(t, database, ""), share) ||
                sotto_test_holds(file_of(t, database, "-wal"), share);
    CHECK(t, !there);
}

/* Each job's sum is kept apart until then, and some have few reports: whoever got both servers' would see them. */
static void what_single_jobs_added_goes_with_the_collection(sotto_test *t)
{
    static const char one[] = "SELECT share FROM sub_aggregate LIMIT 1";
    sotto_test_service s;
    sotto_bytes leaders, helpers;
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 10});
    s.leader_options.host.erase_ms = s.helper_options.host.erase_ms = 200;
    sotto_test_leader_restart(t, &s);
    sotto_test_helper_restart(t, &s);
    sotto_test_upload_some(t, &s, 10, 1, SOTTO_TEST_SOUND);
    sotto_test_upload_some(t, &s, 10, 1, SOTTO_TEST_SOUND);
    sotto_test_await(t, s.leader->db, SHARES, 2);
    CHECK_EQUAL(t, 2, sotto_test_ask_number(t, s.helper->db, SHARES));
    leaders = sotto_test_ask_bytes(t, s.leader->db, one);
    helpers = sotto_test_ask_bytes(t, s.helper->db, one);
    CHECK(t, leaders.len > 0 && helpers.len > 0);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 20, reports);
    sotto_test_await(t, s.leader->db, SHARES, 0);
    sotto_test_await(t, s.helper->db, SHARES, 0);
    sotto_test_await(t, s.leader->db, ERASED, 1);
    sotto_test_await(t, s.helper->db, ERASED, 1);
    CHECK_EQUAL(t, 20, sotto_test_ask_number(t, s.leader->db, COUNTS));
    CHECK_EQUAL(t, 20, sotto_test_ask_number(t, s.helper->db, COUNTS));
    share_is_gone(t, s.leader_options.host.database, leaders);
    share_is_gone(t, s.helper_options.host.database, helpers);
    sotto_test_service_close(&s);
}

/* ---- a leader that was killed ------------------------------------------------------------------------------------- */

/* A job that its leader still held when it was killed: on disk, and leased for another ten minutes. */
static sotto_bytes leave_a_job(sotto_test *t, sotto_test_service *s, sotto_bytes *request)
{
    sotto_bytes reports = sotto_test_sealed_reports(t, s, 25, 2, SOTTO_TEST_SOUND);
    sotto_db *db;

    s->leader_options.host.lease_seconds = 600;
    sotto_test_leader_restart(t, s);
    sotto_server_close(s->helper);
    s->helper = NULL;
    CHECK_EQUAL(t, 200, sotto_test_upload(t, s, reports).status);
    CHECK(t, sotto_test_comes(t, s->leader->db, "SELECT count(*) FROM job WHERE state = 1"));
    *request = sotto_test_ask_bytes(t, s->leader->db, "SELECT request FROM job WHERE state = 1");
    CHECK(t, request->len > 0);
    sotto_server_close(s->leader);
    s->leader = NULL;
    db = sotto_test_db_at(t, s->leader_options.host.database);
    sotto_test_do(t, db, "UPDATE sotto_lease SET held = 1, ready_at = {now} + 600000");
    sotto_db_close(db);
    return reports;
}

static void what_a_killed_leader_had_under_way_goes_on_at_once(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[16] = {0};
    sotto_bytes request;
    unsigned helper_port, leader_port;
    char at[2][32];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    helper_port = sotto_server_port(s.helper);
    leader_port = sotto_server_port(s.leader);
    (void)leave_a_job(t, &s, &request);
    (void)snprintf(at[0], sizeof at[0], "127.0.0.1:%u", leader_port);
    (void)snprintf(at[1], sizeof at[1], "127.0.0.1:%u", helper_port);
    s.leader_options.host.listen = at[0];
    s.helper_options.host.listen = at[1];
    CHECK_OK(t, sotto_server_open(&s.helper, &s.helper_options, &t->err));
    CHECK_OK(t, sotto_server_open(&s.leader, &s.leader_options, &t->err));
    s.patience = sotto_test_on_postgres() ? 20 : sotto_test_patience();
    if (sotto_test_on_postgres()) { /* another replica may hold it: nobody is alone there */
        CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    } else {
        CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
        CHECK_EQUAL(t, 25, reports);
        CHECK_EQUAL(t, 25, counts[2]);
    }
    sotto_test_service_close(&s);
}

/* Without the datastore key a stored request tells not even which reports are in it. */
static void a_stored_request_is_sealed(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes request;
    sotto_bytes reports;
    sotto_dap_report first;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    reports = leave_a_job(t, &s, &request);
    CHECK_OK(t, sotto_dap_report_decode(&first, sotto_bytes_of(reports.data, reports.len / 25),
                                        &t->err));
    CHECK(t, !sotto_test_holds(request, sotto_bytes_of(first.metadata.report_id,
                                                       sizeof first.metadata.report_id)));
    CHECK(t, !sotto_test_holds(request, first.helper.payload));
    sotto_test_service_close(&s);
}

static void is_sealed(sotto_test *t, sotto_server *server, const char *column, sotto_bytes value)
{
    const sotto_pairing *p = sotto_tasks_at(server->tasks, 0)->pairing;
    char name[SOTTO_COLUMN_KEY_NAME], head[SOTTO_COLUMN_KEY_NAME] = "";

    if (value.len <= SOTTO_COLUMN_OVERHEAD)
        (void)fprintf(stderr, "%s: %zu bytes\n", column, value.len);
    CHECK(t, value.len > SOTTO_COLUMN_OVERHEAD);
    sotto_column_key_name(name, server->columns->key[0]);
    for (size_t i = 0; i < 4; i++)
        (void)snprintf(head + 2 * i, 3, "%02x", value.data[i]);
    CHECK_BYTES(t, name, head, sizeof name); /* by which key, as everything sealed begins */
    CHECK(t, !sotto_test_holds(value, sotto_bytes_of(p->verify_seed, sizeof p->verify_seed)));
    CHECK(t, !sotto_test_holds(value, sotto_bytes_of(p->leader_token, strlen(p->leader_token))));
}

/* Whoever has the database without its key has no key, no token and no share. */
static void every_column_of_secrets_is_sealed(sotto_test *t)
{
    static const struct {
        const char *column, *sql;
        bool leader, helper;
    } columns[] = {
        {"pairing.secrets", "SELECT secrets FROM pairing", true, true},
        {"hpke_key.secret", "SELECT secret FROM hpke_key LIMIT 1", true, true},
        {"sub_aggregate.share", "SELECT share FROM sub_aggregate LIMIT 1", true, true},
        {"segment_key.secret", "SELECT secret FROM segment_key LIMIT 1", true, false},
        {"job.request", "SELECT request FROM job WHERE state = 1", true, false},
    };
    sotto_test_service s;
    sotto_bytes request;

    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 25});
    sotto_test_upload_some(t, &s, 25, 1, SOTTO_TEST_SOUND);
    sotto_test_await(t, s.leader->db, SHARES, 1);
    (void)leave_a_job(t, &s, &request);
    CHECK_OK(t, sotto_server_open(&s.leader, &s.leader_options, &t->err));
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (columns[i].leader)
            is_sealed(t, s.leader, columns[i].column,
                      sotto_test_ask_bytes(t, s.leader->db, columns[i].sql));
    CHECK_OK(t, sotto_server_open(&s.helper, &s.helper_options, &t->err));
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (columns[i].helper)
            is_sealed(t, s.helper, columns[i].column,
                      sotto_test_ask_bytes(t, s.helper->db, columns[i].sql));
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(destroyed_keys_are_gone_from_every_file),
        CASE(what_single_jobs_added_goes_with_the_collection),
        CASE(what_a_killed_leader_had_under_way_goes_on_at_once),
        CASE(a_stored_request_is_sealed),
        CASE(every_column_of_secrets_is_sealed),
        CASE(reports_are_erased_once_they_are_added_up),
    };

    return RUN_TESTS(argc, argv, cases);
}
