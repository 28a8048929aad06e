#include "device/ledger/record.h"

#include "base/rule.h"
#include "device/ledger/consent.h"
#include "device/ledger/ledger_internal.h"
#include "recipe/signed_parties.h"
#include "tlog/bundle.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    "",          "seen",         "decided",  "silent", "spent", "dummy",     "left",
    "resealed",  "acknowledged", "given up", "policy", "reset", "consented", "withdrawn",
    "forgotten", "parties",      "token",    "log",    "fork",  "session",
};

const char *sotto_record_kind_name(sotto_record_kind kind)
{
    size_t index = (size_t)kind;

    return index > 0 && index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

static bool is_passing(sotto_record_kind kind)
{
    return kind == SOTTO_RECORD_SEEN || kind == SOTTO_RECORD_DECIDED ||
           kind == SOTTO_RECORD_SILENT || kind == SOTTO_RECORD_TOKEN;
}

/* The oldest entry that may go, where there are more than should be kept. That is one about an unknown recipe, or one
 * with a newer entry of its kind about the same recipe. The second is needed since versions of a known recipe can be
 * published without end too. Decisions themselves are kept elsewhere, for good. */
static sotto_status find_oldest(sotto_ledger *ledger, int64_t *id, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &row, err,
        "SELECT id FROM record r WHERE kind IN (?1,?2,?3,?5) AND (NOT EXISTS (SELECT 1 FROM recipes"
        " WHERE name=r.recipe) OR EXISTS (SELECT 1 FROM record n WHERE n.recipe=r.recipe"
        " AND n.kind=r.kind AND n.id>r.id)) AND (SELECT count(*) FROM record"
        " WHERE kind IN (?1,?2,?3,?5))>?4 ORDER BY id LIMIT 1",
        "iiiii", (int64_t)SOTTO_RECORD_SEEN, (int64_t)SOTTO_RECORD_DECIDED,
        (int64_t)SOTTO_RECORD_SILENT, (int64_t)SOTTO_RECORD_KEPT, (int64_t)SOTTO_RECORD_TOKEN);

    *id = status == SOTTO_OK && row ? sqlite3_column_int64(statement, 0) : 0;
    sotto_ledger_release(ledger, statement);
    return status;
}

static sotto_status drop_oldest(sotto_ledger *ledger, sotto_err *err)
{
    int64_t id;

    for (;;) {
        SOTTO_TRY(find_oldest(ledger, &id, err));
        if (id == 0)
            return SOTTO_OK;
        SOTTO_TRY(sotto_ledger_fold(ledger, "record", id, err));
        SOTTO_TRY(sotto_ledger_run(ledger, err, "DELETE FROM record WHERE id=?", "i", id));
        SOTTO_TRY(sotto_ledger_fold(ledger, "asked", id, err));
        SOTTO_TRY(sotto_ledger_run(ledger, err, "DELETE FROM asked WHERE id=?", "i", id));
    }
}

static sotto_status write_asked(sotto_ledger *ledger, const sotto_asked *asked, int64_t id,
                                sotto_err *err)
{
    return sotto_ledger_insert(ledger, "asked", &id, err, "INSERT INTO asked VALUES(?,?,?,?)",
                               "bbu", sotto_bytes_of(asked->recipe, sizeof asked->recipe),
                               sotto_bytes_of(asked->query, sizeof asked->query),
                               asked->min_cohort);
}

sotto_status sotto_record_write(sotto_ledger *ledger, const sotto_record_entry *entry,
                                int64_t *number, sotto_err *err)
{
    int64_t id = 0;

    SOTTO_TRY(sotto_ledger_insert(
        ledger, "record", &id, err, "INSERT INTO record VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        "iittttubbuuuu", entry->at, (int64_t)entry->kind, entry->recipe, entry->analysis,
        entry->fields, entry->note, entry->round,
        sotto_bytes_of(entry->report, sizeof entry->report), entry->randomised,
        entry->epsilon.units, entry->delta.units, entry->local.units, entry->bytes));
    if (entry->asked)
        SOTTO_TRY(write_asked(ledger, entry->asked, id, err));
    if (number)
        *number = id;
    /* The check takes time, so it is made only now and then. */
    if (SOTTO_RULE(record_bounded) && is_passing(entry->kind) && id % SOTTO_RECORD_SLACK == 0)
        return drop_oldest(ledger, err);
    return SOTTO_OK;
}

sotto_status sotto_record_append(sotto_ledger *ledger, const sotto_record_entry *entry,
                                 sotto_err *err)
{
    if (entry->kind != SOTTO_RECORD_SEEN && entry->kind != SOTTO_RECORD_SILENT)
        return sotto_fail(err, SOTTO_BUG, "record: the ledger writes that itself");
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, sotto_record_write(ledger, entry, NULL, err), err);
}

sotto_status sotto_record_last_report(sotto_ledger *ledger, int64_t *at, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    const sotto_status status =
        sotto_ledger_find(ledger, &statement, &row, err,
                          "SELECT at FROM record WHERE kind IN (?,?,?) ORDER BY id DESC LIMIT 1",
                          "iii", (int64_t)SOTTO_RECORD_LEFT, (int64_t)SOTTO_RECORD_ACKNOWLEDGED,
                          (int64_t)SOTTO_RECORD_GIVEN_UP);

    *at = status == SOTTO_OK && row ? sqlite3_column_int64(statement, 0) : -1;
    sotto_ledger_release(ledger, statement);
    return status;
}

/* Behind the record's own columns; false: no such row. */
static bool take_asked(sqlite3_stmt *row, sotto_asked *asked)
{
    asked->min_cohort = (uint64_t)sqlite3_column_int64(row, 16);
    return sotto_ledger_digest(row, 14, asked->recipe) &&
           sotto_ledger_digest(row, 15, asked->query);
}

static sotto_record_entry take_entry(sqlite3_stmt *row, sotto_asked *asked)
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
        .asked = take_asked(row, asked) ? asked : NULL,
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
                          "SELECT r.*, a.recipe, a.query, a.min_cohort FROM record r"
                          " LEFT JOIN asked a ON a.id=r.id WHERE r.id>?1 AND (?2='' OR r.recipe=?2)"
                          " ORDER BY r.id",
                          "ut", after > INT64_MAX ? (uint64_t)INT64_MAX : after, recipe);
    while (status == SOTTO_OK && row) {
        sotto_asked asked;
        const sotto_record_entry entry = take_entry(statement, &asked);

        status = show(context, &entry, err);
        if (status == SOTTO_OK)
            status = sotto_ledger_next(statement, &row, err);
    }
    sotto_ledger_release(ledger, statement);
    return status;
}

/* ---- after a reset ---------------------------------------------------------------------------------------- */

typedef struct carrying {
    sotto_ledger *to;
    sotto_status status; /* of writing */
    bool any;
} carrying;

/* Whether the serial in the entry is that of its file. */
static bool has_serial_of_file(const sotto_record_entry *entry)
{
    sotto_bundle bundle = {.object = entry->randomised};
    sotto_signed_parties file;

    if (sotto_bundle_is(entry->randomised))
        (void)!sotto_bundle_decode(&bundle, entry->randomised, NULL);
    return sotto_signed_parties_decode(&file, bundle.object, NULL) == SOTTO_OK &&
           file.serial == entry->round;
}

/* A damaged file may hold anything. Invalid entries are left out. A wrong entry can only make a device answer
 * less. A wrong serial of a parties file is worse: it would block later files for good, so it is checked. */
static sotto_status carry_entry(void *context, const sotto_record_entry *entry, sotto_err *err)
{
    carrying *c = context;

    if (!sotto_record_kind_name(entry->kind))
        return SOTTO_OK;
    if (SOTTO_RULE(carried_serial_of_its_file) && entry->kind == SOTTO_RECORD_PARTIES &&
        !has_serial_of_file(entry))
        return SOTTO_OK;
    c->any = true;
    c->status = sotto_record_write(c->to, entry, NULL, err);
    return c->status;
}

/* Reports that waited are gone with the old file. */
static sotto_status give_up_waiting(sotto_ledger *ledger, int64_t now, bool *found, sotto_err *err)
{
    char recipe[SOTTO_BUDGET_MAX_NAME + 1];
    sotto_record_entry entry = {
        .at = now, .kind = SOTTO_RECORD_GIVEN_UP, .recipe = recipe, .note = "the ledger was reset"};
    sqlite3_stmt *statement;
    sotto_status status = sotto_ledger_find(
        ledger, &statement, found, err,
        "SELECT report, recipe, bytes FROM record r WHERE kind IN (?,?) AND bytes>0 AND NOT EXISTS"
        " (SELECT 1 FROM record e WHERE e.report=r.report AND e.kind IN (?,?)) LIMIT 1",
        "iiii", (int64_t)SOTTO_RECORD_SPENT, (int64_t)SOTTO_RECORD_DUMMY,
        (int64_t)SOTTO_RECORD_ACKNOWLEDGED, (int64_t)SOTTO_RECORD_GIVEN_UP);

    if (status == SOTTO_OK && *found) {
        sotto_bytes report = sotto_ledger_blob(statement, 0);

        if (report.len == sizeof entry.report)
            memcpy(entry.report, report.data, sizeof entry.report);
        (void)snprintf(recipe, sizeof recipe, "%s", sotto_ledger_text(statement, 1));
        entry.bytes = (uint64_t)sqlite3_column_int64(statement, 2);
    }
    sotto_ledger_release(ledger, statement);
    return status == SOTTO_OK && *found ? sotto_record_write(ledger, &entry, NULL, err) : status;
}

/* Reading ends where the old file can't be read any further; that must not keep a device closed for good. */
static sotto_status carry(carrying *c, sotto_ledger *from, bool anyhow, sotto_err *err)
{
    sotto_status status = from ? sotto_record_show(from, NULL, 0, carry_entry, c, NULL) : SOTTO_OK;

    if (c->status != SOTTO_OK || status == SOTTO_NO_MEMORY)
        return sotto_fail(err, c->status != SOTTO_OK ? c->status : status, "record");
    if (status == SOTTO_IO && !anyhow)
        return sotto_fail(err, SOTTO_IO, "the old record can't be read now");
    return SOTTO_OK;
}

sotto_status sotto_record_begin_anew(sotto_ledger *ledger, sotto_ledger *from, bool anyhow,
                                     int64_t now, sotto_err *err)
{
    const sotto_record_entry no = {
        .at = now, .kind = SOTTO_RECORD_WITHDRAWN, .note = "the ledger was reset"};
    sotto_record_entry reset = {
        .at = now,
        .kind = SOTTO_RECORD_RESET,
        .note = "every budget counts as fully spent; what was recorded before is lost"};
    carrying c = {.to = ledger};
    bool more = true, given;

    SOTTO_TRY(carry(&c, from, anyhow, err));
    while (c.any && more)
        SOTTO_TRY(give_up_waiting(ledger, now, &more, err));
    ledger->said_at = 0; /* the words were written past consent.c */
    SOTTO_TRY(sotto_consent_read(ledger, &given, err));
    ledger->said_at = 0;
    if (given)
        SOTTO_TRY(sotto_record_write(ledger, &no, NULL, err));
    if (c.any)
        reset.note = "every budget counts as fully spent; what stands above may lack entries";
    return sotto_record_write(ledger, &reset, NULL, err);
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
        "SELECT round, note FROM record WHERE recipe=?1 AND kind=?2 AND id>coalesce"
        "((SELECT max(id) FROM record WHERE recipe='' AND kind=?3),0) ORDER BY id DESC LIMIT 1",
        "tii", recipe, (int64_t)kind, (int64_t)SOTTO_RECORD_RESET);
    if (status == SOTTO_OK && *found) {
        *round = (uint64_t)sqlite3_column_int64(statement, 0);
        (void)snprintf(note, SOTTO_RECORD_NOTE, "%s", sotto_ledger_text(statement, 1));
    }
    sotto_ledger_release(ledger, statement);
    return status;
}

sotto_status sotto_record_find(sotto_ledger *ledger, sqlite3_stmt **out, bool *row,
                               const char *recipe, sotto_record_kind first, sotto_record_kind last,
                               sotto_err *err)
{
    return sotto_ledger_find(
        ledger, out, row, err,
        "SELECT id, kind, round, note FROM record WHERE recipe=? AND kind BETWEEN ? AND ?", "tii",
        recipe, (int64_t)first, (int64_t)last);
}

sotto_status sotto_record_outcome(sotto_ledger *ledger, sotto_outcome *out, const char *recipe,
                                  sotto_err *err)
{
    sqlite3_stmt *statement;
    int64_t newest = 0;
    bool row;

    *out = (sotto_outcome){0};
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status = sotto_record_find(ledger, &statement, &row, recipe, SOTTO_RECORD_SPENT,
                                            SOTTO_RECORD_GIVEN_UP, err);
    while (status == SOTTO_OK && row) {
        int64_t id = sqlite3_column_int64(statement, 0);
        sotto_record_kind kind = (sotto_record_kind)sqlite3_column_int64(statement, 1);

        out->dummy = out->dummy || kind == SOTTO_RECORD_DUMMY;
        if (id > newest) {
            newest = id;
            out->kind = kind;
            (void)snprintf(out->note, sizeof out->note, "%s", sotto_ledger_text(statement, 3));
        }
        status = sotto_ledger_next(statement, &row, err);
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

sotto_status sotto_record_last_answer(sotto_ledger *ledger, int64_t *at, const char *analysis,
                                      sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;

    *at = -1;
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status =
        sotto_ledger_find(ledger, &statement, &row, err,
                          "SELECT coalesce(max(at),-1) FROM record WHERE analysis=? AND kind=?",
                          "ti", analysis, (int64_t)SOTTO_RECORD_SPENT);
    if (status == SOTTO_OK && row)
        *at = sqlite3_column_int64(statement, 0);
    sotto_ledger_release(ledger, statement);
    return status;
}
