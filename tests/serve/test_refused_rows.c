/* Rows that the database itself refuses to read: which it does with a failure that ends the transaction, so that nothing beside
 * them can be read in it either. */
#define _POSIX_C_SOURCE 200809L
#include "serve/leader/leader.h"
#include "serve/leader/unreadable.h"
#include "support/database.h"
#include "support/service.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LONG_MS = 3600000, SEGMENTS = 4 }; /* nothing leaves before a collection asks */

static const char noted[] = "SELECT count(*) FROM segment WHERE unreadable IS NOT NULL";
static const char rest_added_up[] = "SELECT CASE WHEN sum(reports) = 90 THEN 1 ELSE 0 END"
                                    " FROM sub_aggregate";
static sotto_test_service s;

static void say(sotto_test *t, const char *sql)
{
    CHECK_OK(t, sotto_db_run(s.leader->db, sotto_test_say, (void *)(uintptr_t)sql, &t->err));
}

/* Past the store, whose connections do not write what SQLite relies on. */
static void say_to_sqlite(sotto_test *t, const char *sql)
{
    sqlite3 *db = NULL;

    CHECK_EQUAL(t, SQLITE_OK, sqlite3_open(strchr(s.leader_options.host.database, ':') + 1, &db));
    (void)sqlite3_busy_timeout(db, 5000);
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_exec(db, sql, NULL, NULL, NULL));
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_close(db));
}

/* Something to read that the database finds damaged: SQLITE_CORRUPT, or XX001. */
static const char *make_damage(sotto_test *t)
{
    if (!sotto_test_on_postgres()) {
        say_to_sqlite(t, "CREATE VIRTUAL TABLE harm USING rtree(id, low, high);"
                         "INSERT INTO harm VALUES (1, 0, 1);"
                         "UPDATE harm_node SET data = x'00'");
        return "(SELECT CAST(low AS BLOB) FROM harm WHERE low < 5)";
    }
    say(t, "CREATE FUNCTION harm() RETURNS BYTEA LANGUAGE plpgsql AS"
           " 'BEGIN RAISE EXCEPTION USING ERRCODE = ''XX001''; END'");
    return "harm()";
}

/* In place of the table: what stands in this column of this row can't be read. */
static void refuse(sotto_test *t, const char *table, const char *key, const char *columns,
                   const char *column, int64_t row)
{
    const char *damage = make_damage(t);
    char sql[600];

    (void)snprintf(sql, sizeof sql, "ALTER TABLE %s RENAME TO sound", table);
    say(t, sql);
    (void)snprintf(sql, sizeof sql,
                   "CREATE VIEW %s AS SELECT %s, CASE WHEN %s = %lld THEN %s ELSE %s END AS %s"
                   " FROM sound",
                   table, columns, key, (long long)row, damage, column, column);
    say(t, sql);
}

static int64_t ask_sqlite(sotto_test *t, sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q = NULL;
    int64_t answer;

    CHECK_EQUAL(t, SQLITE_OK, sqlite3_prepare_v2(db, sql, -1, &q, NULL));
    CHECK_EQUAL(t, SQLITE_ROW, sqlite3_step(q));
    answer = sqlite3_column_int64(q, 0);
    (void)sqlite3_finalize(q);
    return answer;
}

/* Where the rest of a body lies that does not fit into its page: that page says where the one after it is, which is nowhere. */
static void break_chain(sotto_test *t, int64_t segment)
{
    static const uint8_t nowhere[4] = {0xff, 0xff, 0xff, 0xff};
    const char *path = strchr(s.leader_options.host.database, ':') + 1;
    char sql[400];
    sqlite3 *db = NULL;
    int64_t page, size;
    FILE *file;

    CHECK_EQUAL(t, SQLITE_OK, sqlite3_open(path, &db));
    (void)snprintf(sql, sizeof sql,
                   "SELECT pageno FROM dbstat WHERE name = 'segment_body' AND path LIKE '%%+000000'"
                   " ORDER BY path LIMIT 1 OFFSET (SELECT count(*) FROM segment_body WHERE rowid <"
                   " (SELECT rowid FROM segment_body WHERE segment = %lld))",
                   (long long)segment);
    page = ask_sqlite(t, db, sql);
    size = ask_sqlite(t, db, "PRAGMA page_size");
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_close(db));
    file = fopen(path, "r+b");
    CHECK(t, file && fseek(file, (long)((page - 1) * size), SEEK_SET) == 0);
    CHECK_EQUAL(t, 1, fwrite(nowhere, sizeof nowhere, 1, file));
    CHECK_EQUAL(t, 0, fclose(file));
}

/* And the leader has none of them in memory. */
static void refuse_body(sotto_test *t, int64_t segment)
{
    char listen[32];

    if (sotto_test_on_postgres()) {
        refuse(t, "segment_body", "segment", "segment", "body", segment);
        sotto_test_leader_restart(t, &s);
        return;
    }
    (void)snprintf(listen, sizeof listen, "127.0.0.1:%u", sotto_server_port(s.leader));
    s.leader_options.host.listen = listen;
    sotto_server_close(s.leader);
    break_chain(t, segment);
    CHECK_OK(t, sotto_server_open(&s.leader, &s.leader_options, &t->err));
}

static void mend(sotto_test *t, const char *table)
{
    char sql[200];

    (void)snprintf(sql, sizeof sql, "DROP VIEW %s", table);
    say(t, sql);
    (void)snprintf(sql, sizeof sql, "ALTER TABLE sound RENAME TO %s", table);
    say(t, sql);
}

static void upload(sotto_test *t, size_t count)
{
    sotto_bytes reports = sotto_test_sealed_reports(t, &s, count, 1, SOTTO_TEST_SOUND);

    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, reports).status);
}

static void check_sum(sotto_test *t, uint64_t wanted)
{
    uint64_t reports = 0, counts[16] = {0};

    s.patience = sotto_test_patience();
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, wanted, reports);
    CHECK_EQUAL(t, wanted, counts[1]);
}

/* Asks once, so that jobs are formed. */
static void want(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};

    s.patience = 1;
    (void)sotto_test_collect(t, &s, 1, &reports, counts);
}

/* Who was called unreadable: a job that claims a segment clears its note, so that the log is asked. */
typedef struct blame {
    int64_t segment; /* that is */
    atomic_uint right, wrong;
} blame;

static void hear_blame(void *context, const sotto_log_event *event)
{
    blame *b = context;

    if (strcmp(event->name, "segment.unreadable") != 0)
        return;
    for (size_t i = 0; i < event->count; i++)
        if (strcmp(event->fields[i].key, "segment") == 0)
            atomic_fetch_add(event->fields[i].value.sint == b->segment ? &b->right : &b->wrong, 1);
}

/* Several that are read together, the first of them refused. What is said of it is said of no other, which an operator might throw
 * away for it, and they are added up. */
static void a_refused_row_holds_up_no_other(sotto_test *t)
{
    static blame b;
    sotto_giving_up g = {.reason = "the disk is gone"};

    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS, .job_reports = 1000});
    for (size_t i = 0; i < SEGMENTS; i++)
        upload(t, 30);
    b.segment = sotto_test_ask_number(t, s.leader->db, "SELECT min(n) FROM segment");
    s.leader_options.host.log = (sotto_log_sink){hear_blame, &b, SOTTO_LOG_INFO};
    refuse_body(t, b.segment);
    want(t);
    CHECK(t, sotto_test_comes(t, s.leader->db, rest_added_up));
    CHECK(t, sotto_test_comes(t, s.leader->db, noted));
    CHECK(t, atomic_load(&b.right) > 0 && atomic_load(&b.wrong) == 0);
    g.segment = b.segment;
    CHECK_EQUAL(t, b.segment, sotto_test_ask_number(t, s.leader->db, "SELECT n FROM segment"));
    if (sotto_test_on_postgres()) { /* SQLite deletes nothing that it can't read */
        CHECK_OK(t, sotto_db_run(s.leader->db, sotto_unreadable_give_up, &g, &t->err));
        check_sum(t, 90);
    }
    sotto_test_service_close(&s);
}

/* The job that was sent rests, its segments are listed, and it goes on once its row can be read. */
static void a_refused_job_is_noted(sotto_test *t)
{
    char listen[32];

    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS, .job_reports = 30});
    (void)snprintf(listen, sizeof listen, "127.0.0.1:%u", sotto_server_port(s.helper));
    s.helper_options.host.listen = listen;
    sotto_server_close(s.helper);
    upload(t, 30);
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM job WHERE state = 1"));
    refuse(t, "job", "n",
           "n, task, id, state, bucket, batch, answer, reports, added, refusals, fold", "request",
           sotto_test_ask_number(t, s.leader->db, "SELECT n FROM job"));
    sotto_test_leader_restart(t, &s);
    CHECK(t, sotto_test_comes(t, s.leader->db, noted));
    mend(t, "job");
    CHECK_OK(t, sotto_server_open(&s.helper, &s.helper_options, &t->err));
    check_sum(t, 30);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_refused_row_holds_up_no_other),
        CASE(a_refused_job_is_noted),
    };

    return RUN_TESTS(argc, argv, cases);
}
