#include "device/ledger/ledger_internal.h"

#include <stdio.h>

static const char *const beside[] = {"-wal", "-shm", "-journal", ""};

static void name_file(char out[SOTTO_VFS_PATH], const sotto_ledger *ledger, const char *ending,
                      const char *more)
{
    (void)snprintf(out, SOTTO_VFS_PATH, "%.*s%s%s", SOTTO_VFS_PATH - 24, ledger->path, ending,
                   more);
}

/* The file and what SQLite keeps beside it. */
static sotto_status erase_database(const sotto_ledger *ledger, const char *ending, sotto_err *err)
{
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        char name[SOTTO_VFS_PATH];

        name_file(name, ledger, ending, beside[i]);
        SOTTO_TRY(sotto_vfs_erase(&ledger->storage, name, err));
    }
    return SOTTO_OK;
}

static sotto_status open_database(sqlite3 **db, const sotto_ledger *ledger, const char *ending,
                                  bool must_exist, sotto_err *err)
{
    char name[SOTTO_VFS_PATH];

    name_file(name, ledger, ending, "");
    sotto_sqlite_options options = sotto_ledger_file(ledger, name);
    options.must_exist = must_exist;
    return sotto_sqlite_open(db, &options, err);
}

/* What a reset makes, and how. */
typedef struct renewal {
    sotto_ledger_meta first;
    int64_t now;
    bool
        anyhow; /* a reset was begun before and did not end: from now on an unreadable old record is skipped */
} renewal;

static sotto_status note_reset(sotto_ledger *ledger, sotto_ledger *from, const renewal *how,
                               sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger,
                            sotto_record_begin_anew(ledger, from, how->anyhow, how->now, err), err);
}

/* A transaction that began before the marker was there may end, and is carried over too. */
static sotto_status open_old(const sotto_ledger *ledger, sotto_ledger *old, sotto_err *err)
{
    int persist = 1;

    SOTTO_TRY(open_database(&old->db, ledger, "", true, err));
    /* SQLite deletes a WAL in a way that a power loss may undo, and beside the new file the old WAL would be played
     * into it. Kept, it is erased with the rest. */
    (void)sqlite3_file_control(old->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
    /* The record is read in this version's form. */
    SOTTO_TRY(sotto_ledger_upgrade(old->db, err));
    return sotto_sqlite_run(old->db, "BEGIN IMMEDIATE", "ledger", err);
}

/* With the record of the old one, as far as there is one that can be read. */
static sotto_status fill_database(const sotto_ledger *ledger, sotto_ledger *fresh,
                                  const renewal *how, sotto_err *err)
{
    sotto_ledger old = {0};

    SOTTO_TRY(sotto_ledger_lay_out(fresh->db, &fresh->meta, err));
    sotto_status status = open_old(ledger, &old, NULL);
    if (status == SOTTO_NO_MEMORY)
        status = sotto_fail(err, SOTTO_NO_MEMORY, "ledger");
    else if (status == SOTTO_IO && !how->anyhow)
        status = sotto_fail(err, SOTTO_IO, "the old record can't be read now");
    else
        status = note_reset(fresh, status == SOTTO_OK ? &old : NULL, how, err);
    sotto_statements_drop(&old.statements);
    if (old.db)
        sotto_sqlite_rollback(old.db);
    sotto_sqlite_close(old.db);
    return status;
}

/* An empty one without `how`. */
static sotto_status make_database(const sotto_ledger *ledger, const char *ending,
                                  const renewal *how, sotto_err *err)
{
    sotto_ledger fresh = {0};

    SOTTO_TRY(open_database(&fresh.db, ledger, ending, false, err));
    sotto_status status = SOTTO_OK;
    if (how) {
        fresh.meta = how->first;
        status = fill_database(ledger, &fresh, how, err);
    }
    sotto_statements_drop(&fresh.statements);
    if (status == SOTTO_OK) /* it is about to be renamed, without any file beside it */
        status = sotto_sqlite_truncate_wal(fresh.db, err);
    sotto_sqlite_close(fresh.db);
    return status;
}

/* Whether an interrupted reset had its new ledger ready: the old one may be half erased, and the record be here
 * alone. */
static bool is_ready(const sotto_ledger *ledger)
{
    sqlite3 *db = NULL;
    int64_t last = 0;
    bool ready = open_database(&db, ledger, ".new", true, NULL) == SOTTO_OK &&
                 sotto_sqlite_check(db, NULL) == SOTTO_OK &&
                 sotto_sqlite_number(db, &last,
                                     "SELECT kind FROM record, meta WHERE lost=1"
                                     " ORDER BY record.id DESC LIMIT 1",
                                     "ledger", NULL) == SOTTO_OK &&
                 last == SOTTO_RECORD_RESET && sotto_sqlite_truncate_wal(db, NULL) == SOTTO_OK;

    sotto_sqlite_close(db);
    return ready;
}

/* While the marker is there, the ledger stays closed, so no moment of the replacement looks like a first
 * run. */
static sotto_status exchange(sotto_ledger *ledger, const renewal *how, sotto_err *err)
{
    char fresh[SOTTO_VFS_PATH];

    if (!how->anyhow || !is_ready(ledger)) {
        SOTTO_TRY(erase_database(ledger, ".new", err));
        SOTTO_TRY(make_database(ledger, ".new", how, err));
    }
    SOTTO_TRY(erase_database(ledger, "", err));
    name_file(fresh, ledger, ".new", "");
    SOTTO_TRY(sotto_vfs_rename(&ledger->storage, fresh, ledger->path, err));
    return erase_database(ledger, ".reset", err);
}

/* An interrupted reset may have left a marker that is no database. */
static sotto_status leave_marker(const sotto_ledger *ledger, bool *there, sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_resetting(ledger, there, err));
    return *there ? SOTTO_OK : make_database(ledger, ".reset", NULL, err);
}

static sotto_status start_over(sotto_ledger *ledger, renewal *how, sotto_err *err)
{
    if (ledger->memory) {
        sotto_sqlite_memory_name(ledger->path, sizeof ledger->path);
        const sotto_sqlite_options options = sotto_ledger_file(ledger, ledger->path);
        SOTTO_TRY(sotto_sqlite_open(&ledger->db, &options, err));
        SOTTO_TRY(sotto_ledger_lay_out(ledger->db, &how->first, err));
        return note_reset(ledger, NULL, how, err);
    }
    SOTTO_TRY(leave_marker(ledger, &how->anyhow, err));
    SOTTO_TRY(exchange(ledger, how, err));
    return sotto_ledger_load(ledger, err);
}

sotto_status sotto_ledger_reset(sotto_ledger *ledger, int64_t now, sotto_err *err)
{
    renewal how = {.first = {.lost = true, .lost_at = now}, .now = now};

    SOTTO_TRY(sotto_ledger_remembered(ledger, &how.first.generation, err));
    if (how.first.generation < ledger->meta.generation)
        how.first.generation = ledger->meta.generation;
    how.first.generation++;
    how.first.period = ledger->meta.period;
    (void)sotto_ledger_shut(ledger, "resetting the ledger was interrupted", NULL);
    return start_over(ledger, &how, err);
}
