/* Pages of the WAL that wait in memory until it is synced: what becomes of those that a transaction left behind. */
#include "db/sqlite_join.h"
#include "support/database.h"

#include <sqlite3.h>
#include <string.h>

static sqlite3 *open_as(sotto_test *t, const char *path, const char *vfs)
{
    sqlite3 *db = NULL;

    CHECK_EQUAL(t, SQLITE_OK,
                sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs));
    CHECK_EQUAL(t, SQLITE_OK,
                sqlite3_exec(
                    db,
                    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0",
                    NULL, NULL, NULL));
    return db;
}

static void run(sotto_test *t, sqlite3 *db, const char *sql)
{
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

static int64_t number(sotto_test *t, sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t value;

    CHECK_EQUAL(t, SQLITE_OK, sqlite3_prepare_v2(db, sql, -1, &statement, NULL));
    CHECK_EQUAL(t, SQLITE_ROW, sqlite3_step(statement));
    value = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return value;
}

static void check_whole(sotto_test *t, sqlite3 *db, int64_t rows)
{
    CHECK_EQUAL(t, rows, number(t, db, "SELECT count(*) FROM t"));
    CHECK_EQUAL(t, 1,
                number(t, db,
                       "SELECT count(*) FROM pragma_integrity_check"
                       " WHERE integrity_check = 'ok'"));
}

static void one_name_for_one_vfs(sotto_test *t)
{
    const char *name = sotto_lite_joined(NULL);

    CHECK(t, strncmp(name, "sotto-joined", 12) == 0);
    CHECK(t, sotto_lite_joined(NULL) == name);
    CHECK(t, strcmp(sotto_lite_joined("no such"), "no such") == 0);
}

static void others_see_what_was_committed(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    sqlite3 *db = open_as(t, path, sotto_lite_joined(NULL)), *other;

    run(t, db, "CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)");
    run(t, db, "INSERT INTO t (b) VALUES (randomblob(300000)), (randomblob(5000))");
    other = open_as(t, path, NULL);
    check_whole(t, other, 2);
    run(t, db, "BEGIN; INSERT INTO t (b) VALUES (randomblob(9000))");
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_db_cacheflush(db)); /* its own pages are read back */
    CHECK_EQUAL(t, 3, number(t, db, "SELECT count(*) FROM t WHERE length(b) > 0"));
    check_whole(t, other, 2);
    run(t, db, "COMMIT");
    check_whole(t, other, 3);
    (void)sqlite3_close(other);
    (void)sqlite3_close(db);
}

/* Another process commits in the same place of the WAL before this one writes again. */
static void what_was_taken_back_is_never_written(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    sqlite3 *db = open_as(t, path, sotto_lite_joined(NULL)), *other;

    run(t, db, "CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)");
    other = open_as(t, path, NULL);
    run(t, db, "PRAGMA wal_checkpoint(TRUNCATE)"); /* so that ROLLBACK reads nothing of the WAL */
    run(t, db, "BEGIN; INSERT INTO t (b) VALUES (zeroblob(9000))");
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_db_cacheflush(db));
    run(t, db, "ROLLBACK");
    run(t, other, "INSERT INTO t (b) VALUES (randomblob(9000))");
    sotto_lite_join_forget(db);
    run(t, db, "INSERT INTO t (b) VALUES (randomblob(100))");
    (void)sqlite3_close(other);
    other = open_as(t, path, NULL);
    check_whole(t, other, 2);
    CHECK_EQUAL(t, 0, number(t, other, "SELECT count(*) FROM t WHERE b = zeroblob(9000)"));
    (void)sqlite3_close(other);
    (void)sqlite3_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(one_name_for_one_vfs),
        CASE(others_see_what_was_committed),
        CASE(what_was_taken_back_is_never_written),
    };
    return RUN_TESTS(argc, argv, cases);
}
