#include "device/ledger_internal.h"

#include "base/rule.h"

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
    const sotto_sqlite_options options = {.storage = &ledger->storage,
                                          .path = name,
                                          .application = SOTTO_SQLITE_LEDGER,
                                          .version = SOTTO_LEDGER_VERSION,
                                          .max_value = SOTTO_LEDGER_MAX_VALUE,
                                          .must_exist = must_exist};

    name_file(name, ledger, ending, "");
    return sotto_sqlite_open(db, &options, err);
}

static sotto_status note_reset(sotto_ledger *ledger, sotto_ledger *from, int64_t now,
                               sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, sotto_record_begin_anew(ledger, from, now, err), err);
}

/* Whoever began a transaction before the marker was there may end it, and is carried over too. */
static sotto_status open_old(const sotto_ledger *ledger, sotto_ledger *old, sotto_err *err)
{
    int persist = 1;

    SOTTO_TRY(open_database(&old->db, ledger, "", true, err));
    /* SQLite deletes a WAL in a way that a power loss may undo, and beside the new file the old WAL would be played
     * into it. Kept, it is erased with the rest. */
    (void)sqlite3_file_control(old->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
    return SOTTO_RULE(reset_waits_for_others)
               ? sotto_sqlite_run(old->db, "BEGIN IMMEDIATE", "ledger", err)
               : SOTTO_OK;
}

/* With the record of the old one, as far as there is one that can be read. */
static sotto_status fill_database(const sotto_ledger *ledger, sotto_ledger *fresh, int64_t now,
                                  sotto_err *err)
{
    sotto_ledger old = {0};

    SOTTO_TRY(sotto_ledger_lay_out(fresh->db, &fresh->meta, err));
    sotto_status status = open_old(ledger, &old, err);
    if (status != SOTTO_NO_MEMORY)
        status = note_reset(fresh, status == SOTTO_OK ? &old : NULL, now, err);
    sotto_ledger_drop_statements(&old);
    if (old.db)
        sotto_sqlite_rollback(old.db);
    sotto_sqlite_close(old.db);
    return status;
}

/* An empty one without `first`. */
static sotto_status make_database(const sotto_ledger *ledger, const char *ending,
                                  const sotto_ledger_meta *first, int64_t now, sotto_err *err)
{
    sotto_ledger fresh = {0};

    SOTTO_TRY(open_database(&fresh.db, ledger, ending, false, err));
    sotto_status status = SOTTO_OK;
    if (first) {
        fresh.meta = *first;
        status = fill_database(ledger, &fresh, now, err);
    }
    sotto_ledger_drop_statements(&fresh);
    if (status == SOTTO_OK) /* it is about to be renamed, which takes nothing beside it along */
        status = sotto_sqlite_truncate_wal(fresh.db, err);
    sotto_sqlite_close(fresh.db);
    return status;
}

/* Whether an interrupted reset had its new ledger ready: the old one may be half erased, and the record be here alone. */
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

/* While the marker is there the ledger stays closed: no moment of the exchange looks like a first run. */
static sotto_status exchange(sotto_ledger *ledger, const sotto_ledger_meta *first, bool resumed,
                             int64_t now, sotto_err *err)
{
    char fresh[SOTTO_VFS_PATH];

    if (!resumed || !is_ready(ledger)) {
        SOTTO_TRY(erase_database(ledger, ".new", err));
        SOTTO_TRY(make_database(ledger, ".new", first, now, err));
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
    return *there ? SOTTO_OK : make_database(ledger, ".reset", NULL, 0, err);
}

static sotto_status start_over(sotto_ledger *ledger, const sotto_ledger_meta *first, int64_t now,
                               sotto_err *err)
{
    bool resumed;

    if (ledger->memory) {
        const sotto_sqlite_options options = {.path = ledger->path,
                                              .memory = true,
                                              .application = SOTTO_SQLITE_LEDGER,
                                              .version = SOTTO_LEDGER_VERSION};

        sotto_sqlite_memory_name(ledger->path, sizeof ledger->path);
        SOTTO_TRY(sotto_sqlite_open(&ledger->db, &options, err));
        SOTTO_TRY(sotto_ledger_lay_out(ledger->db, first, err));
        return note_reset(ledger, NULL, now, err);
    }
    SOTTO_TRY(leave_marker(ledger, &resumed, err));
    SOTTO_TRY(exchange(ledger, first, resumed, now, err));
    return sotto_ledger_load(ledger, err);
}

sotto_status sotto_ledger_reset(sotto_ledger *ledger, int64_t now, sotto_err *err)
{
    sotto_ledger_meta first = {.lost = true, .lost_at = now};

    SOTTO_TRY(sotto_ledger_remembered(ledger, &first.generation, err));
    if (first.generation < ledger->meta.generation)
        first.generation = ledger->meta.generation;
    first.generation++;
    first.period = ledger->meta.period;
    (void)sotto_ledger_shut(ledger, "resetting the ledger was interrupted", NULL);
    return start_over(ledger, &first, now, err);
}
