#include "query/sqlite.h"

#include "base/clock.h"
#include "base/rule.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* How long a second process (the command line beside the application) may make us wait. */
enum { BUSY_MS = 2000, POLL_MS = 2, SQL_BYTES = 64 * 1024, COLUMNS = 128 };

void sotto_sqlite_memory_name(char *out, size_t size)
{
    static _Atomic unsigned long long next;

    (void)snprintf(out, size, "/sotto-%llu", (unsigned long long)atomic_fetch_add(&next, 1));
}

sotto_status sotto_sqlite_fail(sotto_err *err, int code, const char *what)
{
    return sotto_fail(err, sotto_status_of_sqlite(code), "%s: %s", what, sqlite3_errstr(code));
}

sotto_status sotto_sqlite_run(sqlite3 *db, const char *sql, const char *what, sotto_err *err)
{
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? SOTTO_OK : sotto_sqlite_fail(err, code, what);
}

sotto_status sotto_sqlite_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql,
                                  const char *what, sotto_err *err)
{
    int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);

    return code == SQLITE_OK ? SOTTO_OK : sotto_sqlite_fail(err, code, what);
}

sotto_status sotto_sqlite_prepare_once(sqlite3 *db, sqlite3_stmt **out, const char *sql,
                                       const char *what, sotto_err *err)
{
    int code = sqlite3_prepare_v3(db, sql, -1, 0, out, NULL);

    return code == SQLITE_OK ? SOTTO_OK : sotto_sqlite_fail(err, code, what);
}

sotto_status sotto_sqlite_number(sqlite3 *db, int64_t *out, const char *sql, const char *what,
                                 sotto_err *err)
{
    sqlite3_stmt *statement;

    *out = 0;
    SOTTO_TRY(sotto_sqlite_prepare_once(db, &statement, sql, what, err));
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SOTTO_OK
                                                     : sotto_sqlite_fail(err, code, what);
}

sotto_status sotto_sqlite_done(sqlite3_stmt *statement, const char *what, sotto_err *err)
{
    int code = sqlite3_step(statement);

    (void)sqlite3_reset(statement);
    return code == SQLITE_DONE ? SOTTO_OK : sotto_sqlite_fail(err, code, what);
}

void sotto_sqlite_rollback(sqlite3 *db)
{
    if (!sqlite3_get_autocommit(db)) /* some errors have taken it back already */
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

/* The file itself may be hostile: its schema gets no say, and SQL can't change what SQLite relies on. */
static bool distrust(sqlite3 *db)
{
    static const struct {
        int option;
        int value;
    } settings[] = {
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
    };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (sqlite3_db_config(db, settings[i].option, settings[i].value, NULL) != SQLITE_OK)
            return false;
    }
    return true;
}

static void limit(sqlite3 *db, const sotto_sqlite_options *options)
{
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH,
                        options->max_value ? options->max_value : SOTTO_SQLITE_MAX_VALUE);
    (void)sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES);
    (void)sqlite3_limit(db, SQLITE_LIMIT_COLUMN, COLUMNS);
    (void)sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    (void)sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
    /* VACUUM attaches its scratch database; a reader needs none. */
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, options->read_only ? 0 : 1);
}

/* Sorting and VACUUM stay in memory: a temporary file would hold events outside our reach. */
static sotto_status set_private(sqlite3 *db, const sotto_sqlite_options *options, sotto_err *err)
{
    char sql[96];

    (void)snprintf(sql, sizeof sql, "PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0; PRAGMA %s",
                   options->read_only ? "query_only=ON" : "secure_delete=ON");
    return sotto_sqlite_run(db, sql, "settings", err);
}

/* SQLite waits by itself for a lock, but neither for another process's checkpoint nor for its change to WAL mode. */
static bool wait_for_it(int code, uint64_t since)
{
    uint64_t waited = sotto_clock_monotonic(&sotto_clock_system) - since;

    if ((code & 0xff) != SQLITE_BUSY || waited / 1000000 >= BUSY_MS)
        return false;
    (void)sqlite3_sleep(POLL_MS);
    return true;
}

static int run_patiently(sqlite3 *db, const char *sql)
{
    uint64_t since = sotto_clock_monotonic(&sotto_clock_system);
    int code;

    do
        code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    while (wait_for_it(code, since));
    return code;
}

sotto_status sotto_sqlite_wait(sqlite3 *db, bool wait, sotto_err *err)
{
    return sotto_sqlite_run(db, wait ? "PRAGMA synchronous=EXTRA" : "PRAGMA synchronous=NORMAL",
                            "journal", err);
}

/* EXTRA is FULL, and the directory is synced when a rollback journal is deleted. A new file needs that for
 * its one transaction before WAL mode: a journal that came back after a power loss would undo it, and the
 * WAL with everything since. */
static sotto_status set_durable(sqlite3 *db, const sotto_sqlite_options *options, sotto_err *err)
{
    const char *what = "journal";

    if (options->memory || options->read_only)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sqlite_wait(db, true, err));
    int code = run_patiently(
        db, "PRAGMA fullfsync=ON; PRAGMA cell_size_check=ON; PRAGMA journal_mode=WAL");
    return code == SQLITE_OK ? SOTTO_OK : sotto_sqlite_fail(err, code, what);
}

static bool is_somebodys(int64_t application)
{
    return application == 0 || application == SOTTO_SQLITE_EVENTS ||
           application == SOTTO_SQLITE_LEDGER;
}

/* All three of one moment, since another process may be making the file its own and ours. */
static sotto_status read_header(sqlite3 *db, int64_t *application, int64_t *version,
                                int64_t *tables, sotto_err *err)
{
    const char *what = "database header";

    SOTTO_TRY(sotto_sqlite_run(db, "BEGIN", what, err));
    sotto_status status = sotto_sqlite_number(db, application, "PRAGMA application_id", what, err);
    if (status == SOTTO_OK)
        status = sotto_sqlite_number(db, version, "PRAGMA user_version", what, err);
    if (status == SOTTO_OK)
        status = sotto_sqlite_number(db, tables, "SELECT count(*) FROM sqlite_schema", what, err);
    sotto_sqlite_rollback(db);
    return status;
}

/* An empty file may become ours; any other must say that it is, and is not touched before it has. */
static sotto_status check_owner(sqlite3 *db, const sotto_sqlite_options *options, bool *empty,
                                sotto_err *err)
{
    int64_t application = 0, version = 0, tables = 0;

    SOTTO_TRY(read_header(db, &application, &version, &tables, err));
    *empty = application == 0 && version == 0 && tables == 0 && !options->read_only;
    if (*empty)
        return SOTTO_OK;
    /* A valid file of another program, opened by mistake, must not be treated as a damaged one of ours. */
    if (application != options->application)
        return sotto_fail(err, is_somebodys(application) ? SOTTO_DENIED : SOTTO_MALFORMED,
                          "%.80s: not a file of this kind", options->path);
    if (version > options->version)
        return sotto_fail(err, SOTTO_STALE, "%.80s: written by a newer version", options->path);
    return SOTTO_OK;
}

sotto_status sotto_sqlite_claim(sqlite3 *db, const sotto_sqlite_options *options, sotto_err *err)
{
    char sql[96];

    (void)snprintf(sql, sizeof sql,
                   "BEGIN IMMEDIATE; PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
                   options->application, options->version);
    return sotto_sqlite_run(db, sql, "database header", err);
}

/* A store in memory has a name that nothing had before: there is nobody's file to respect and no disk to wait for,
 * and simulations open millions of them. */
static sotto_status set_up_memory(sqlite3 *db, const sotto_sqlite_options *options, sotto_err *err)
{
    /* Many tables with a row or two each: in small pages a device's stores take less memory to copy, journal and wipe. */
    SOTTO_TRY(sotto_sqlite_run(
        db, "PRAGMA page_size=1024; PRAGMA temp_store=MEMORY; PRAGMA secure_delete=ON", "settings",
        err));
    return options->unclaimed ? SOTTO_OK : sotto_sqlite_claim(db, options, err);
}

static sotto_status set_up(sqlite3 *db, const sotto_sqlite_options *options, sotto_err *err)
{
    bool empty;

    if (!distrust(db))
        return sotto_fail(err, SOTTO_BUG, "this SQLite lacks a protection that sotto needs");
    limit(db, options);
    (void)sqlite3_busy_timeout(db, BUSY_MS);
    if (options->memory && !options->read_only)
        return set_up_memory(db, options, err);
    SOTTO_TRY(set_private(db, options, err));
    SOTTO_TRY(check_owner(db, options, &empty, err));
    SOTTO_TRY(set_durable(db, options, err));
    return empty ? sotto_sqlite_claim(db, options, err) : SOTTO_OK;
}

bool sotto_sqlite_in_place(sqlite3 *db)
{
    int moved = 0;

    return sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || !moved;
}

sotto_status sotto_sqlite_renew(sqlite3 *db, const sotto_sqlite_options *options, sotto_err *err)
{
    bool empty;
    int moved = 0;

    /* Where a host's VFS can't tell, it is opened by its name again, as every query once was. */
    if (SOTTO_RULE(reader_in_place) && !options->memory &&
        (sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || moved))
        return sotto_fail(err, SOTTO_MISSING, "%.80s: was moved or replaced", options->path);
    limit(db, options);
    /* Nothing else can have taken the place of a store in memory. */
    return options->memory ? SOTTO_OK : check_owner(db, options, &empty, err);
}

static sotto_status find_file(const sotto_sqlite_options *options, sotto_err *err)
{
    bool exists;

    if (strlen(options->path) > SOTTO_VFS_PATH - 16)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a path of %zu bytes", strlen(options->path));
    if (options->memory || options->read_only)
        return SOTTO_OK;
    if (options->must_exist) {
        SOTTO_TRY(sotto_vfs_exists(options->storage, options->path, &exists, err));
        if (!exists)
            return sotto_fail(err, SOTTO_MISSING, "%.80s: is missing", options->path);
    }
    return sotto_vfs_make_private(options->storage, options->path, err);
}

sotto_status sotto_sqlite_open(sqlite3 **out, const sotto_sqlite_options *options, sotto_err *err)
{
    const char *vfs = options->memory ? "memdb" : options->storage ? options->storage->vfs : NULL;
    int flags =
        SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE |
        (options->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    sqlite3 *db = NULL;

    *out = NULL;
    SOTTO_TRY(find_file(options, err));
    int code = sqlite3_open_v2(options->path, &db, flags, vfs);
    sotto_status status = code == SQLITE_OK ? SOTTO_OK : sotto_sqlite_fail(err, code, "open");
    if (status == SOTTO_OK)
        status = set_up(db, options, err);
    if (status == SOTTO_OK)
        *out = db;
    else
        sotto_sqlite_close(db);
    return status;
}

void sotto_sqlite_close(sqlite3 *db)
{
    /* sqlite3_close refuses while a statement is in use, and would keep file and locks for good. */
    (void)sqlite3_close_v2(db);
}

sotto_status sotto_sqlite_check(sqlite3 *db, sotto_err *err)
{
    sqlite3_stmt *statement;

    SOTTO_TRY(sotto_sqlite_prepare(db, &statement, "PRAGMA quick_check(1)", "check", err));
    int code = sqlite3_step(statement);
    const char *verdict =
        code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    bool good = verdict && strcmp(verdict, "ok") == 0;
    (void)sqlite3_finalize(statement);
    if (good)
        return SOTTO_OK;
    if (code == SQLITE_ROW)
        return sotto_fail(err, verdict ? SOTTO_MALFORMED : SOTTO_NO_MEMORY, "damaged pages");
    return sotto_sqlite_fail(err, code, "check");
}

/* Bytes of the database or its WAL; UINT64_MAX if that can't be known now. */
static uint64_t size_of(sqlite3 *db, int which)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 size;

    if (sqlite3_file_control(db, "main", which, &file) != SQLITE_OK || !file || !file->pMethods ||
        file->pMethods->xFileSize(file, &size) != SQLITE_OK || size < 0)
        return UINT64_MAX;
    return (uint64_t)size;
}

bool sotto_sqlite_smaller(sqlite3 *db, bool memory, uint64_t bytes)
{
    uint64_t database = size_of(db, SQLITE_FCNTL_FILE_POINTER);
    uint64_t wal = memory ? 0 : size_of(db, SQLITE_FCNTL_JOURNAL_POINTER);

    return database <= bytes && wal <= bytes - database;
}

sotto_status sotto_sqlite_sync(sqlite3 *db, sotto_err *err)
{
    sqlite3_file *wal = NULL;

    if (size_of(db, SQLITE_FCNTL_JOURNAL_POINTER) == 0)
        return SOTTO_OK;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    if (code == SQLITE_OK && wal && wal->pMethods)
        code = wal->pMethods->xSync(wal, SQLITE_SYNC_FULL);
    return code == SQLITE_OK ? SOTTO_OK : sotto_sqlite_fail(err, code, "journal");
}

sotto_status sotto_sqlite_truncate_wal(sqlite3 *db, sotto_err *err)
{
    if (size_of(db, SQLITE_FCNTL_JOURNAL_POINTER) == 0)
        return SOTTO_OK; /* whoever cut it has moved and synced everything before */
    uint64_t since = sotto_clock_monotonic(&sotto_clock_system);
    int code;
    do
        code = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    while (wait_for_it(code, since));
    if ((code & 0xff) == SQLITE_BUSY)
        return sotto_fail(err, SOTTO_AGAIN, "a reader holds on to old pages");
    return code == SQLITE_OK ? SOTTO_OK : sotto_sqlite_fail(err, code, "checkpoint");
}
