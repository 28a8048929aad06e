#include "device/ledger_internal.h"

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

static sotto_status make_database(const sotto_ledger *ledger, const char *ending,
                                  const sotto_ledger_meta *first, sotto_err *err)
{
    char name[SOTTO_VFS_PATH];
    const sotto_sqlite_options options = {.storage = &ledger->storage,
                                          .path = name,
                                          .application = SOTTO_SQLITE_LEDGER,
                                          .version = SOTTO_LEDGER_VERSION};
    sqlite3 *db;

    name_file(name, ledger, ending, "");
    SOTTO_TRY(sotto_sqlite_open(&db, &options, err));
    sotto_status status = first ? sotto_ledger_lay_out(db, first, err) : SOTTO_OK;
    if (status == SOTTO_OK) /* it is about to be renamed, which takes nothing beside it along */
        status = sotto_sqlite_truncate_wal(db, err);
    sotto_sqlite_close(db);
    return status;
}

/* While the marker is there the ledger stays closed: no moment of the exchange looks like a first run. */
static sotto_status exchange(sotto_ledger *ledger, const sotto_ledger_meta *first, sotto_err *err)
{
    char fresh[SOTTO_VFS_PATH];

    SOTTO_TRY(erase_database(ledger, ".new", err));
    SOTTO_TRY(make_database(ledger, ".new", first, err));
    SOTTO_TRY(erase_database(ledger, "", err));
    name_file(fresh, ledger, ".new", "");
    SOTTO_TRY(sotto_vfs_rename(&ledger->storage, fresh, ledger->path, err));
    return erase_database(ledger, ".reset", err);
}

/* An interrupted reset may have left a marker that is no database. */
static sotto_status leave_marker(const sotto_ledger *ledger, sotto_err *err)
{
    char name[SOTTO_VFS_PATH];
    bool there;

    name_file(name, ledger, ".reset", "");
    SOTTO_TRY(sotto_vfs_exists(&ledger->storage, name, &there, err));
    return there ? SOTTO_OK : make_database(ledger, ".reset", NULL, err);
}

static sotto_status start_over(sotto_ledger *ledger, const sotto_ledger_meta *first, sotto_err *err)
{
    if (ledger->memory) {
        const sotto_sqlite_options options = {.path = ledger->path,
                                              .memory = true,
                                              .application = SOTTO_SQLITE_LEDGER,
                                              .version = SOTTO_LEDGER_VERSION};

        sotto_sqlite_memory_name(ledger->path, sizeof ledger->path);
        SOTTO_TRY(sotto_sqlite_open(&ledger->db, &options, err));
        SOTTO_TRY(sotto_ledger_lay_out(ledger->db, first, err));
        return sotto_ledger_read_meta(ledger, err);
    }
    SOTTO_TRY(leave_marker(ledger, err));
    SOTTO_TRY(exchange(ledger, first, err));
    return sotto_ledger_load(ledger, err);
}

static sotto_status note_reset(sotto_ledger *ledger, int64_t now, sotto_err *err)
{
    const sotto_record_entry entry = {
        .at = now, .kind = SOTTO_RECORD_RESET, .note = "every budget counts as fully spent"};

    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, sotto_record_write(ledger, &entry, NULL, err), err);
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
    SOTTO_TRY(start_over(ledger, &first, err));
    return note_reset(ledger, now, err);
}
