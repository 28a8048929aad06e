#include "device/record.h"

#include "device/ledger_internal.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    "",       "seen",  "decided",   "silent",       "spent",
    "dummy",  "left",  "resealed",  "acknowledged", "given up",
    "policy", "reset", "consented", "withdrawn",    "forgotten",
};

const char *sotto_record_kind_name(sotto_record_kind kind)
{
    size_t index = (size_t)kind;

    return index > 0 && index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

sotto_status sotto_record_write(sotto_ledger *ledger, const sotto_record_entry *entry,
                                int64_t *number, sotto_err *err)
{
    int64_t id;

    SOTTO_TRY(sotto_ledger_run(
        ledger, &id, err, "INSERT INTO record VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        "iittttubbuuuu", entry->at, (int64_t)entry->kind, entry->recipe, entry->analysis,
        entry->fields, entry->note, entry->round,
        sotto_bytes_of(entry->report, sizeof entry->report), entry->randomised,
        entry->epsilon.units, entry->delta.units, entry->local.units, entry->bytes));
    if (number)
        *number = id;
    return sotto_ledger_fold(ledger, "record", id, err);
}

sotto_status sotto_record_append(sotto_ledger *ledger, const sotto_record_entry *entry,
                                 sotto_err *err)
{
    if (entry->kind != SOTTO_RECORD_SEEN && entry->kind != SOTTO_RECORD_SILENT)
        return sotto_fail(err, SOTTO_BUG, "record: the ledger writes that itself");
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, sotto_record_write(ledger, entry, NULL, err), err);
}

static sotto_record_entry take_entry(sqlite3_stmt *row)
{
    sotto_record_entry entry = {
        .number = (uint64_t)sqlite3_column_int64(row, 0),
        .at = sqlite3_column_int64(row, 1),
        .kind = (sotto_record_kind)sqlite3_column_int64(row, 2),
        .recipe = sotto_ledger_text(row, 3),
        .analysis = sotto_ledger_text(row, 4),
        .fields = sotto_ledger_text(row, 5),
        .note = sotto_ledger_text(row, 6),
        .round = (uint64_t)sqlite3_column_int64(row, 7),
        .randomised = sotto_ledger_blob(row, 9),
        .epsilon = {(uint64_t)sqlite3_column_int64(row, 10)},
        .delta = {(uint64_t)sqlite3_column_int64(row, 11)},
        .local = {(uint64_t)sqlite3_column_int64(row, 12)},
        .bytes = (uint64_t)sqlite3_column_int64(row, 13),
    };
    sotto_bytes report = sotto_ledger_blob(row, 8);

    if (report.len == sizeof entry.report)
        memcpy(entry.report, report.data, sizeof entry.report);
    return entry;
}

sotto_status sotto_record_show(sotto_ledger *ledger, const char *recipe, uint64_t after,
                               sotto_record_fn *show, void *context, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;

    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status =
        sotto_ledger_find(ledger, &statement, &row, err,
                          "SELECT * FROM record WHERE id>?1 AND (?2='' OR recipe=?2) ORDER BY id",
                          "ut", after > INT64_MAX ? (uint64_t)INT64_MAX : after, recipe);
    while (status == SOTTO_OK && row) {
        const sotto_record_entry entry = take_entry(statement);

        status = show(context, &entry, err);
        if (status == SOTTO_OK)
            status = sotto_ledger_next(statement, &row, err);
    }
    sotto_ledger_release(ledger, statement);
    return status;
}

/* ---- looking back ----------------------------------------------------------------------------------------- */

sotto_status sotto_record_last(sotto_ledger *ledger, bool *found, uint64_t *round,
                               char note[SOTTO_RECORD_NOTE], sotto_record_kind kind,
                               const char *recipe, sotto_err *err)
{
    sqlite3_stmt *statement;

    *found = false;
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status = sotto_ledger_find(
        ledger, &statement, found, err,
        "SELECT round, note FROM record WHERE recipe=? AND kind=? ORDER BY id DESC LIMIT 1", "ti",
        recipe, (int64_t)kind);
    if (status == SOTTO_OK && *found) {
        *round = (uint64_t)sqlite3_column_int64(statement, 0);
        (void)snprintf(note, SOTTO_RECORD_NOTE, "%s", sotto_ledger_text(statement, 1));
    }
    sotto_ledger_release(ledger, statement);
    return status;
}

sotto_status sotto_record_outcome(sotto_ledger *ledger, sotto_outcome *out, const char *recipe,
                                  sotto_err *err)
{
    char ignored[SOTTO_RECORD_NOTE];
    sqlite3_stmt *statement;
    uint64_t round;
    bool row;

    *out = (sotto_outcome){0};
    SOTTO_TRY(
        sotto_record_last(ledger, &out->dummy, &round, ignored, SOTTO_RECORD_DUMMY, recipe, err));
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &row, err,
        "SELECT kind, note FROM record WHERE recipe=? AND kind BETWEEN ? AND ? ORDER BY id DESC"
        " LIMIT 1",
        "tii", recipe, (int64_t)SOTTO_RECORD_SPENT, (int64_t)SOTTO_RECORD_GIVEN_UP);
    if (status == SOTTO_OK && row) {
        out->kind = (sotto_record_kind)sqlite3_column_int64(statement, 0);
        (void)snprintf(out->note, sizeof out->note, "%s", sotto_ledger_text(statement, 1));
    }
    sotto_ledger_release(ledger, statement);
    return status;
}

sotto_status sotto_record_answered(sotto_ledger *ledger, bool *answered, const char *analysis,
                                   sotto_err *err)
{
    sqlite3_stmt *statement;

    *answered = false;
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status = sotto_ledger_find(
        ledger, &statement, answered, err,
        "SELECT 1 FROM record WHERE analysis=? AND kind IN (?,?) AND round>0 LIMIT 1", "tii",
        analysis, (int64_t)SOTTO_RECORD_SPENT, (int64_t)SOTTO_RECORD_DUMMY);
    sotto_ledger_release(ledger, statement);
    return status;
}
