#include "device/ledger/parties_taken.h"

#include "base/rule.h"
#include "device/ledger/ledger_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Entries about the device have no recipe; `round` is the serial. */
sotto_status sotto_parties_taken_serial(sotto_ledger *ledger, uint64_t *serial, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;

    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status =
        sotto_ledger_find(ledger, &statement, &row, err,
                          "SELECT coalesce(max(round),0) FROM record WHERE recipe='' AND kind=?",
                          "i", (int64_t)SOTTO_RECORD_PARTIES);
    *serial = status == SOTTO_OK && row ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    sotto_ledger_release(ledger, statement);
    return status;
}

static sotto_status copy_file(sotto_bytes *out, sqlite3_stmt *row, sotto_arena *arena,
                              sotto_err *err)
{
    const sotto_bytes file = sotto_ledger_blob(row, 0);
    uint8_t *copy = sotto_arena_take(arena, file.len + 1);

    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "parties file");
    if (file.len > 0)
        memcpy(copy, file.data, file.len);
    *out = sotto_bytes_of(copy, file.len);
    return SOTTO_OK;
}

sotto_status sotto_parties_taken_file(sotto_ledger *ledger, sotto_bytes *file, uint64_t serial,
                                      sotto_arena *arena, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;

    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &row, err,
        "SELECT randomised FROM record WHERE recipe='' AND kind=? AND round=? LIMIT 1", "iu",
        (int64_t)SOTTO_RECORD_PARTIES, serial);
    if (status == SOTTO_OK && row)
        status = copy_file(file, statement, arena, err);
    else if (status == SOTTO_OK)
        status = sotto_fail(err, SOTTO_MISSING, "no parties file with this serial");
    sotto_ledger_release(ledger, statement);
    return status;
}

static sotto_status put(sotto_ledger *ledger, uint64_t serial, sotto_bytes file, int64_t now,
                        sotto_err *err)
{
    char note[32];
    const sotto_record_entry entry = {
        .at = now, .kind = SOTTO_RECORD_PARTIES, .note = note, .round = serial, .randomised = file};
    uint64_t last;

    SOTTO_TRY(sotto_parties_taken_serial(ledger, &last, err));
    if (SOTTO_RULE(parties_never_go_back) && serial <= last)
        return sotto_fail(err, SOTTO_STALE, "parties file: serial %" PRIu64 " was taken", last);
    (void)snprintf(note, sizeof note, "serial %" PRIu64, serial);
    return sotto_record_write(ledger, &entry, NULL, err);
}

sotto_status sotto_parties_taken_put(sotto_ledger *ledger, uint64_t serial, sotto_bytes file,
                                     int64_t now, sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, put(ledger, serial, file, now, err), err);
}
