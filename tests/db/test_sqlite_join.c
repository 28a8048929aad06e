/* Pages of the WAL that wait in memory until it is synced: what becomes of those that a transaction left behind. */
#include "db/sqlite_join.h"

#include "db/sqlite.h"
#include "support/database.h"

#include <sqlite3.h>
#include <stdio.h>
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

/* The driver itself, which next reads: a checkpoint would do the same. */
static void a_driver_forgets_what_it_took_back(sotto_test *t)
{
    const char *address = sotto_test_temp(t, "store.db");
    char text[600];
    sotto_conn *conn = NULL;
    sqlite3 *db, *other;

    (void)snprintf(text, sizeof text, "sqlite:%s", address);
    const sotto_db_options options = {.address = text, .erase_ms = 3600000};
    CHECK_STATUS(t, SOTTO_OK, sotto_driver_sqlite.connect(&conn, &options, false, NULL));
    db = ((sotto_lite *)conn)->db;
    run(t, db, "CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)");
    other = open_as(t, address, NULL);
    run(t, db, "PRAGMA wal_checkpoint(TRUNCATE)"); /* so that ROLLBACK reads nothing of the WAL */
    CHECK_STATUS(t, SOTTO_OK, conn->driver->begin(conn, false, NULL));
    run(t, db, "INSERT INTO t (b) VALUES (zeroblob(9000))");
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_db_cacheflush(db));
    conn->driver->rollback(conn);
    run(t, other, "INSERT INTO t (b) VALUES (randomblob(9000))");
    CHECK_EQUAL(t, 1, number(t, db, "SELECT count(*) FROM t"));
    (void)sqlite3_close(other);
    other = open_as(t, address, NULL);
    check_whole(t, other, 1);
    CHECK_EQUAL(t, 0, number(t, other, "SELECT count(*) FROM t WHERE b = zeroblob(9000)"));
    (void)sqlite3_close(other);
    conn->driver->close(conn);
}

/* ---- a disk that tears sectors ----------------------------------------------------------------------------- */

static sqlite3_io_methods tearing[2]; /* of a database, and of a WAL */

static int no_traits(sqlite3_file *file)
{
    (void)file;
    return 0;
}

static int open_tearing(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *got)
{
    sqlite3_vfs *real = vfs->pAppData;
    int code = real->xOpen(real, name, file, flags, got);
    sqlite3_io_methods *methods = &tearing[(flags & SQLITE_OPEN_WAL) != 0];

    if (!file->pMethods || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)))
        return code;
    *methods = *file->pMethods;
    methods->xDeviceCharacteristics = no_traits;
    file->pMethods = methods;
    return code;
}

static void readers_find_pages_whole_where_sectors_tear(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    sqlite3_vfs *real = sqlite3_vfs_find(NULL), torn = *real;
    sqlite3 *db, *other;

    torn.zName = "tearing";
    torn.pAppData = real;
    torn.xOpen = open_tearing;
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_vfs_register(&torn, 0));
    db = open_as(t, path, sotto_lite_joined("tearing"));
    run(t, db, "CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)");
    run(t, db, "INSERT INTO t (b) VALUES (randomblob(3000))");
    other = open_as(t, path, NULL);
    check_whole(t, other, 1);
    (void)sqlite3_close(other);
    (void)sqlite3_close(db);
    (void)sqlite3_vfs_unregister(sqlite3_vfs_find(sotto_lite_joined("tearing")));
    (void)sqlite3_vfs_unregister(&torn);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(one_name_for_one_vfs),
        CASE(others_see_what_was_committed),
        CASE(what_was_taken_back_is_never_written),
        CASE(a_driver_forgets_what_it_took_back),
        CASE(readers_find_pages_whole_where_sectors_tear),
    };
    return RUN_TESTS(argc, argv, cases);
}
