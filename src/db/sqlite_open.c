/* Opening a database file so that commits last, and copying it while it is in use. */
#define _POSIX_C_SOURCE 200809L

#include "base/alloc.h"
#include "base/file.h"
#include "base/rule.h"
#include "base/sqlite_status.h"
#include "db/sqlite.h"
#include "db/sqlite_join.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    APPLICATION = 0x736f7474, /* "sott": a server's file, never a device's */
    BUSY_MS = 1000,           /* for the command line beside the server; the store tries again */
    ADOPT_MS = 3000,          /* ... and where a new file becomes ours */
    PAUSE_MS = 10,
    PATH_BYTES = 512,
    MAX_VALUE = 256 * 1024 * 1024,
    CHECKPOINT_PAGES =
        16384, /* 64 MiB: most bodies come and go in that time, and are never copied */
};

sotto_status sotto_lite_status(int code)
{
    /* Statements of ours rely on constraints, and whoever ran one is told that it was refused. */
    return (code & 0xff) == SQLITE_CONSTRAINT ? SOTTO_DENIED : sotto_status_of_sqlite(code);
}

static sotto_status fail(sotto_err *err, int code, const char *what)
{
    return sotto_fail(err, sotto_lite_status(code), "sqlite: %s: %s", what, sqlite3_errstr(code));
}

static sotto_status run(sqlite3 *db, const char *sql, const char *what, sotto_err *err)
{
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? SOTTO_OK : fail(err, code, what);
}

/* The first row's first columns. */
static sotto_status numbers(sqlite3 *db, int64_t *out, int count, const char *sql, sotto_err *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    for (int i = 0; i < count; i++)
        out[i] = code == SQLITE_ROW ? sqlite3_column_int64(statement, i) : 0;
    (void)sqlite3_finalize(statement);
    return code == SQLITE_ROW ? SOTTO_OK : fail(err, code, "header");
}

/* Leases end by this clock. One machine, one clock: every process over the file reads the same. */
static void now(sqlite3_context *context, int count, sqlite3_value **values)
{
    const sotto_lite *lite = sqlite3_user_data(context);

    (void)count;
    (void)values;
    sqlite3_result_int64(context, (int64_t)(sotto_clock_wall(lite->clock) / 1000000U));
}

/* A commit into a fresh WAL also syncs the WAL's header. */
static int on_commit(void *context, sqlite3 *db, const char *name, int pages)
{
    sotto_lite *lite = context;

    (void)db;
    (void)name;
    bool fresh = pages <= lite->wal_pages || lite->wal_pages == 0;
    lite->syncs += fresh ? 2U : 1U;
    if (fresh)
        lite->tidy_at = lite->checkpoint;
    lite->wal_pages = pages;
    return SQLITE_OK;
}

static bool protect(sqlite3 *db)
{
    static const struct {
        int option;
        int value;
    } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
    };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (sqlite3_db_config(db, settings[i].option, settings[i].value, NULL) != SQLITE_OK)
            return false;
    }
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_VALUE);
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    return true;
}

/* An empty file may become ours; any other must say that it is. Both are read in one statement: in between, another
 * may have made an empty one its own. */
static sotto_status check_owner(sqlite3 *db, sotto_err *err)
{
    int64_t found[2]; /* application, tables */

    SOTTO_TRY(numbers(db, found, 2,
                      "SELECT (SELECT application_id FROM pragma_application_id),"
                      " (SELECT count(*) FROM sqlite_schema)",
                      err));
    if (found[0] == APPLICATION)
        return SOTTO_OK;
    if (found[0] != 0 || found[1] != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "sqlite: not a database of a sotto server");
    char sql[48];
    (void)snprintf(sql, sizeof sql, "PRAGMA application_id=%d", APPLICATION);
    return run(db, sql, "header", err);
}

static sotto_status adopt_once(sqlite3 *db, bool read_only, sotto_err *err)
{
    if (!read_only)
        SOTTO_TRY(check_owner(db, err));
    return run(db, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0", "WAL", err);
}

/* Where several open a new file at once, one of two that would write its header must give way, and is told so at once:
 * no busy timeout covers that. */
static sotto_status adopt(sqlite3 *db, bool read_only, sotto_err *err)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    uint64_t end = sotto_clock_monotonic(&sotto_clock_system) + ADOPT_MS * UINT64_C(1000000);

    do {
        if (adopt_once(db, read_only, NULL) == SOTTO_OK)
            return SOTTO_OK;
        if ((sqlite3_errcode(db) & 0xff) != SQLITE_BUSY)
            break;
        (void)nanosleep(&pause, NULL);
    } while (sotto_clock_monotonic(&sotto_clock_system) < end);
    return adopt_once(db, read_only, err);
}

/* EXTRA is FULL, and also syncs the directory where a rollback journal is deleted: the file lives through one
 * such transaction before it is in WAL mode. Checkpoints are ours, between transactions (tidy). */
static sotto_status set_up(sotto_lite *lite, bool read_only, sotto_err *err)
{
    int64_t level;

    if (!protect(lite->db))
        return sotto_fail(err, SOTTO_BUG, "this SQLite lacks a protection that sotto needs");
    (void)sqlite3_busy_timeout(lite->db, BUSY_MS);
    int code = sqlite3_create_function(lite->db, "sotto_now", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                       lite, now, NULL, NULL);
    if (code != SQLITE_OK)
        return fail(err, code, "clock");
    SOTTO_TRY(run(lite->db,
                  "PRAGMA synchronous=EXTRA; PRAGMA fullfsync=ON; PRAGMA temp_store=MEMORY;"
                  "PRAGMA mmap_size=0; PRAGMA secure_delete=FAST;"
                  /* 16 MiB of pages: a commit of many reports is written out once, at its end. */
                  "PRAGMA cache_size=-16384",
                  "settings", err));
    SOTTO_TRY(adopt(lite->db, read_only, err));
    SOTTO_TRY(numbers(lite->db, &level, 1, "PRAGMA synchronous", err));
    if (SOTTO_RULE(server_commits_synced) && level < 2)
        return sotto_fail(err, SOTTO_DENIED, "sqlite: commits would not be synced");
    if (read_only)
        return run(lite->db, "PRAGMA query_only=ON", "settings", err);
    (void)sqlite3_wal_hook(lite->db, on_commit, lite);
    return SOTTO_OK;
}

/* A new file is its owner's alone, and the files that SQLite puts beside it get its mode. */
static sotto_status make_private(const char *path, sotto_err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0 && errno != EEXIST)
        return sotto_fail(err, SOTTO_IO, "%.80s: %s", path, strerror(errno));
    if (fd < 0)
        return SOTTO_OK;
    (void)close(fd);
    return SOTTO_OK;
}

static void close_db(sotto_lite *lite)
{
    for (size_t i = 0; i < SOTTO_LITE_FIXED; i++)
        (void)sqlite3_finalize(lite->fixed[i]);
    (void)sqlite3_close(lite->db);
}

void sotto_lite_close(sotto_conn *conn)
{
    if (!conn)
        return;
    sotto_conn_forget(conn);
    sotto_lite_sweeper_close(((sotto_lite *)conn)->sweeper);
    close_db((sotto_lite *)conn);
    sotto_release(conn, sizeof(sotto_lite));
}

sotto_status sotto_lite_connect(sotto_conn **out, const sotto_db_options *options, bool read_only,
                                sotto_err *err)
{
    const char *path = options->address + strlen("sqlite:");
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;

    *out = NULL;
    if (!path[0] || strlen(path) > PATH_BYTES - 16)
        return sotto_fail(err, SOTTO_MALFORMED, "sqlite: a path of %zu bytes", strlen(path));
    if (!options->vfs) /* a VFS of somebody's own looks after its files itself */
        SOTTO_TRY(make_private(path, err));
    sotto_lite *lite = sotto_alloc(sizeof *lite);
    if (!lite)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a connection");
    lite->common.driver = &sotto_driver_sqlite;
    lite->checkpoint =
        options->checkpoint_pages ? (int)(options->checkpoint_pages & INT_MAX) : CHECKPOINT_PAGES;
    lite->clock = options->clock ? options->clock : &sotto_clock_system;
    int code = sqlite3_open_v2(path, &lite->db, flags, sotto_lite_joined(options->vfs));
    sotto_status status = code == SQLITE_OK ? SOTTO_OK : fail(err, code, "open");
    if (status == SOTTO_OK)
        status = set_up(lite, read_only, err);
    /* A VFS of somebody's own may want to see one writer, as tests of power loss do. */
    if (status == SOTTO_OK && !read_only && !options->vfs)
        status = sotto_lite_sweeper_open(&lite->sweeper, options, err);
    if (status == SOTTO_OK)
        *out = &lite->common;
    else
        sotto_lite_close(&lite->common);
    return status;
}

/* ---- backup ------------------------------------------------------------------------------------------ */

/* All pages in one step: one snapshot, which in WAL mode keeps nobody from writing. In several steps a busy
 * database would make it start again and again. */
static sotto_status copy(sqlite3 *from, const char *path, sotto_err *err)
{
    sqlite3 *to = NULL;
    int code = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

    if (code == SQLITE_OK) {
        sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
        code = backup ? sqlite3_backup_step(backup, -1) : sqlite3_errcode(to);
        int end = backup ? sqlite3_backup_finish(backup) : code;
        code = code == SQLITE_DONE ? end : code;
    }
    (void)sqlite3_close(to);
    return code == SQLITE_OK ? SOTTO_OK : fail(err, code, "backup");
}

sotto_status sotto_lite_backup(sotto_conn *conn, const char *path, sotto_err *err)
{
    if (strlen(path) > PATH_BYTES - 16)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a path of %zu bytes", strlen(path));
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == EEXIST ? sotto_fail(err, SOTTO_STALE, "%.80s: exists already", path)
                               : sotto_fail(err, SOTTO_IO, "%.80s: %s", path, strerror(errno));
    (void)close(fd);
    sotto_status status = copy(((sotto_lite *)conn)->db, path, err);
    if (status == SOTTO_OK && !sotto_file_sync(path))
        status = sotto_fail(err, SOTTO_IO, "backup: the copy could not be synced");
    if (status != SOTTO_OK)
        (void)unlink(path);
    return status;
}
