#define _POSIX_C_SOURCE 200809L

#include "query/sqlite.h"
#include "support/events.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sqlite3 *open_at(sotto_test *t, const char *path)
{
    const sotto_sqlite_options options = {
        .path = path, .application = SOTTO_SQLITE_LEDGER, .version = 3};
    sqlite3 *db;

    CHECK_OK(t, sotto_sqlite_open(&db, &options, &t->err));
    return db;
}

static int setting(sqlite3 *db, int option)
{
    int value = -1;

    (void)sqlite3_db_config(db, option, -1, &value);
    return value;
}

static int64_t pragma(sotto_test *t, sqlite3 *db, const char *name)
{
    char sql[64];
    int64_t value;

    (void)snprintf(sql, sizeof sql, "PRAGMA %s", name);
    CHECK_OK(t, sotto_sqlite_number(db, &value, sql, name, &t->err));
    return value;
}

static void a_connection_distrusts_its_file(sotto_test *t)
{
    sqlite3 *db = open_at(t, sotto_test_temp(t, "ledger.db"));

    CHECK_EQUAL(t, 1, setting(db, SQLITE_DBCONFIG_DEFENSIVE));
    CHECK_EQUAL(t, 0, setting(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA));
    CHECK_EQUAL(t, 0, setting(db, SQLITE_DBCONFIG_DQS_DML));
    CHECK_EQUAL(t, 0, setting(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION));
    CHECK_EQUAL(t, 0, setting(db, SQLITE_DBCONFIG_ENABLE_VIEW));
    CHECK_EQUAL(t, 0, setting(db, SQLITE_DBCONFIG_ENABLE_TRIGGER));
    sotto_sqlite_close(db);
}

static void deleted_bytes_are_overwritten(sotto_test *t)
{
    sqlite3 *db = open_at(t, sotto_test_temp(t, "ledger.db"));

    CHECK_EQUAL(t, 1, pragma(t, db, "secure_delete"));
    CHECK_EQUAL(t, 2, pragma(t, db, "temp_store")); /* no temporary files either */
    CHECK_EQUAL(t, 3, pragma(t, db, "synchronous"));
    sotto_sqlite_close(db);
}

static void a_file_is_closed_with_its_last_statement(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    char wal[SOTTO_VFS_PATH];
    sqlite3_stmt *statement;
    sqlite3 *db = open_at(t, path);

    (void)snprintf(wal, sizeof wal, "%s-wal", path);
    CHECK_OK(t, sotto_sqlite_run(db, "CREATE TABLE x(y)", "test", &t->err));
    CHECK_OK(t, sotto_sqlite_prepare(db, &statement, "SELECT * FROM x", "test", &t->err));
    sotto_sqlite_close(db);
    CHECK(t, access(wal, F_OK) == 0);
    CHECK(t, sqlite3_finalize(statement) == SQLITE_OK);
    CHECK(t, access(wal, F_OK) != 0); /* which the last connection takes along when it closes */
}

static sotto_status open_as(const char *path, int application, int version, bool must_exist,
                            sotto_err *err)
{
    const sotto_sqlite_options options = {
        .path = path, .application = application, .version = version, .must_exist = must_exist};
    sqlite3 *db;
    sotto_status status = sotto_sqlite_open(&db, &options, err);

    sotto_sqlite_close(db);
    return status;
}

static void a_file_belongs_to_who_created_it(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");

    CHECK_STATUS(t, SOTTO_MISSING, open_as(path, SOTTO_SQLITE_LEDGER, 3, true, &t->err));
    sotto_sqlite_close(open_at(t, path));
    CHECK_OK(t, open_as(path, SOTTO_SQLITE_LEDGER, 3, true, &t->err));
    CHECK_OK(t, open_as(path, SOTTO_SQLITE_LEDGER, 4, false, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, open_as(path, SOTTO_SQLITE_LEDGER, 2, false, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, open_as(path, SOTTO_SQLITE_EVENTS, 3, false, &t->err));
}

static void a_path_that_is_too_long_is_an_error(sotto_test *t)
{
    char path[SOTTO_VFS_PATH + 10];

    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    CHECK_STATUS(t, SOTTO_TOO_LARGE, open_as(path, SOTTO_SQLITE_LEDGER, 1, false, &t->err));
    CHECK_STATUS(t, SOTTO_IO, open_as("/nowhere/at/all", SOTTO_SQLITE_LEDGER, 1, false, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_connection_distrusts_its_file),          CASE(deleted_bytes_are_overwritten),
        CASE(a_file_is_closed_with_its_last_statement), CASE(a_file_belongs_to_who_created_it),
        CASE(a_path_that_is_too_long_is_an_error),
    };
    return RUN_TESTS(argc, argv, cases);
}
