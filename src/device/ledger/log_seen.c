#include "device/ledger/log_seen.h"

#include "base/arena.h"
#include "base/rule.h"
#include "device/ledger/ledger_internal.h"
#include "tlog/growth.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { AHEAD = 86400 }; /* seconds that a witness' clock may be ahead of the device's */

/* ---- what was seen ---------------------------------------------------------------------------------------- */

static bool copy(sotto_bytes *out, sotto_bytes from, sotto_arena *arena)
{
    uint8_t *bytes = sotto_arena_take(arena, from.len + 1);

    if (bytes && from.len > 0)
        memcpy(bytes, from.data, from.len);
    *out = sotto_bytes_of(bytes, from.len);
    return bytes != NULL;
}

/* Its columns: kind, at, bytes, randomised, round. A damaged entry is ignored. */
static bool take_row(sotto_log_seen *out, sqlite3_stmt *row, sotto_arena *arena)
{
    const bool fork = sqlite3_column_int64(row, 0) == SOTTO_RECORD_FORK;
    sotto_note note;

    out->forked = fork;
    if (fork)
        return copy(&out->fork, sotto_ledger_blob(row, 3), arena);
    out->at = sqlite3_column_int64(row, 1);
    out->due = sqlite3_column_int64(row, 2);
    if (!copy(&out->note, sotto_ledger_blob(row, 3), arena))
        return false;
    if (sotto_note_decode(&note, out->note, NULL) != SOTTO_OK ||
        sotto_checkpoint_decode(&out->checkpoint, note.text, NULL) != SOTTO_OK)
        out->checkpoint = (sotto_checkpoint){0};
    out->checkpoint.cosigned = (uint64_t)sqlite3_column_int64(row, 4);
    return true;
}

typedef char origin_text[SOTTO_NOTE_NAME_MAX + 1];

static const char *text_of(origin_text out, sotto_bytes origin)
{
    (void)snprintf(out, sizeof(origin_text), "%.*s", (int)origin.len, (const char *)origin.data);
    return out;
}

sotto_status sotto_log_seen_get(sotto_ledger *ledger, sotto_log_seen *out, sotto_bytes origin,
                                sotto_arena *arena, sotto_err *err)
{
    origin_text text;
    sqlite3_stmt *statement;
    bool row;

    *out = (sotto_log_seen){0};
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &row, err,
        "SELECT kind, at, bytes, randomised, round FROM record WHERE recipe='' AND kind IN (?,?)"
        " AND fields=? ORDER BY id",
        "iit", (int64_t)SOTTO_RECORD_LOG, (int64_t)SOTTO_RECORD_FORK, text_of(text, origin));
    while (status == SOTTO_OK && row) {
        if (take_row(out, statement, arena))
            status = sotto_ledger_next(statement, &row, err);
        else
            status = sotto_fail(err, SOTTO_NO_MEMORY, "a log");
    }
    sotto_ledger_release(ledger, statement);
    return status;
}

/* ---- writing it, inside a transaction --------------------------------------------------------------------- */

/* The entry that it replaces goes afterwards, so that numbers of entries only grow. */
static sotto_status drop_before(sotto_ledger *ledger, const char *origin, int64_t last,
                                sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row = true;

    while (row) {
        sotto_status status = sotto_ledger_find(
            ledger, &statement, &row, err,
            "SELECT id FROM record WHERE recipe='' AND kind=? AND fields=? AND id<? LIMIT 1", "iti",
            (int64_t)SOTTO_RECORD_LOG, origin, last);
        const int64_t id = status == SOTTO_OK && row ? sqlite3_column_int64(statement, 0) : 0;

        sotto_ledger_release(ledger, statement);
        SOTTO_TRY(status);
        if (!row)
            break;
        SOTTO_TRY(sotto_ledger_fold(ledger, "record", id, err));
        SOTTO_TRY(sotto_ledger_run(ledger, err, "DELETE FROM record WHERE id=?", "i", id));
    }
    return SOTTO_OK;
}

static sotto_status write(sotto_ledger *ledger, sotto_bytes origin, const sotto_log_seen *seen,
                          sotto_err *err)
{
    origin_text text;
    char note[48];
    const sotto_record_entry entry = {.at = seen->at,
                                      .kind = SOTTO_RECORD_LOG,
                                      .fields = text_of(text, origin),
                                      .note = note,
                                      .round = seen->checkpoint.cosigned,
                                      .randomised = seen->note,
                                      .bytes = (uint64_t)seen->due};
    int64_t number;

    (void)snprintf(note, sizeof note, "%" PRIu64 " entries", seen->checkpoint.size);
    SOTTO_TRY(sotto_record_write(ledger, &entry, &number, err));
    return drop_before(ledger, text, number, err);
}

static sotto_status write_fork(sotto_ledger *ledger, const sotto_log_seen *seen,
                               const sotto_checkpoint *now, sotto_bytes note, sotto_bytes steps,
                               int64_t at, sotto_arena *arena, sotto_err *err)
{
    origin_text text;
    sotto_buf evidence;
    sotto_record_entry entry = {.at = at,
                                .kind = SOTTO_RECORD_FORK,
                                .fields = text_of(text, now->origin),
                                .note = "two signed trees that do not continue each other",
                                .round = now->size};

    if (now->size == seen->checkpoint.size)
        steps.len = 0; /* the two notes say it all */
    SOTTO_TRY(sotto_buf_take(&evidence, arena, seen->note.len + note.len + steps.len + 12, err));
    sotto_writer w = sotto_writer_on(&evidence);
    sotto_write_opaque32(&w, seen->note);
    sotto_write_opaque32(&w, note);
    sotto_write_opaque32(&w, steps);
    SOTTO_TRY(sotto_writer_finish(&w, "evidence", err));
    entry.randomised = sotto_buf_bytes(&evidence);
    return sotto_record_write(ledger, &entry, NULL, err);
}

bool sotto_fork_evidence_decode(sotto_fork_evidence *out, sotto_bytes wire)
{
    sotto_reader in = sotto_reader_over(wire);

    out->seen = sotto_read_opaque32(&in);
    out->now = sotto_read_opaque32(&in);
    out->steps = sotto_read_opaque32(&in);
    return sotto_reader_finish(&in, "evidence", NULL) == SOTTO_OK;
}

/* ---- one transaction each --------------------------------------------------------------------------------- */

/* fork: it was found now, and is kept by this transaction; err says so. */
static sotto_status take(sotto_ledger *ledger, const sotto_checkpoint *now, sotto_bytes note,
                         sotto_bytes steps, int64_t at, bool *fork, sotto_arena *arena,
                         sotto_err *err)
{
    sotto_log_seen seen;

    *fork = false;
    SOTTO_TRY(sotto_log_seen_get(ledger, &seen, now->origin, arena, err));
    if (SOTTO_RULE(nothing_after_a_fork) && seen.forked)
        return sotto_fail(err, SOTTO_DENIED,
                          "log %.*s forked: nothing is taken from it until that is resolved",
                          (int)now->origin.len, (const char *)now->origin.data);
    sotto_status status = sotto_growth_check(now, &seen.checkpoint, steps, fork, err);
    if (SOTTO_RULE(forks_are_kept) && *fork)
        return write_fork(ledger, &seen, now, note, steps, at, arena, NULL);
    if (status != SOTTO_OK)
        return status;
    if (now->size != seen.checkpoint.size || seen.note.len == 0)
        seen.at = at;
    seen.checkpoint = *now;
    seen.note = note;
    return write(ledger, now->origin, &seen, err);
}

/* The same tree once more costs no transaction, unless it was cosigned later: a log that does not grow is no frozen one. */
static sotto_status is_last(sotto_ledger *ledger, const sotto_checkpoint *now, bool *last,
                            sotto_arena *arena, sotto_err *err)
{
    const sotto_arena_mark mark = sotto_arena_here(arena);
    sotto_log_seen seen;
    sotto_status status = sotto_log_seen_get(ledger, &seen, now->origin, arena, err);

    *last = status == SOTTO_OK && !seen.forked && seen.note.len > 0 &&
            now->size == seen.checkpoint.size && now->cosigned <= seen.checkpoint.cosigned &&
            sotto_merkle_equal(&now->root, &seen.checkpoint.root);
    sotto_arena_rollback(arena, mark);
    return status;
}

sotto_status sotto_log_seen_take(sotto_ledger *ledger, const sotto_checkpoint *now,
                                 sotto_bytes note, sotto_bytes steps, int64_t at,
                                 sotto_arena *arena, sotto_err *err)
{
    const sotto_arena_mark mark = sotto_arena_here(arena);
    sotto_err why = {0};
    bool fork, last;

    /* Such a tree would be fresh for as long as its witnesses like: a frozen one stays frozen. */
    if (SOTTO_RULE(cosigned_not_ahead) && now->cosigned > (uint64_t)at + AHEAD)
        return sotto_fail(err, SOTTO_DENIED,
                          "checkpoint: its witnesses' times are more than a day ahead");
    SOTTO_TRY(is_last(ledger, now, &last, arena, err));
    if (last)
        return SOTTO_OK;
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    sotto_status status = take(ledger, now, note, steps, at, &fork, arena, &why);
    sotto_arena_rollback(arena, mark);
    status = sotto_ledger_end(ledger, status, &why);
    if (status == SOTTO_OK && fork)
        status = SOTTO_REJECTED;
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", why.reason);
}

static sotto_status set_due(sotto_ledger *ledger, sotto_bytes origin, int64_t due, int64_t at,
                            sotto_arena *arena, sotto_err *err)
{
    sotto_log_seen seen;

    SOTTO_TRY(sotto_log_seen_get(ledger, &seen, origin, arena, err));
    /* An entry after the fork's would end the fork, so none is written. */
    if (SOTTO_RULE(fetching_resolves_no_fork) && seen.forked)
        return SOTTO_OK;
    seen.due = due;
    seen.at = seen.at ? seen.at : at;
    return write(ledger, origin, &seen, err);
}

sotto_status sotto_log_seen_fetched(sotto_ledger *ledger, sotto_bytes origin, int64_t due,
                                    int64_t at, sotto_arena *arena, sotto_err *err)
{
    const sotto_arena_mark mark = sotto_arena_here(arena);

    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    sotto_status status =
        sotto_ledger_end(ledger, set_due(ledger, origin, due, at, arena, err), err);
    sotto_arena_rollback(arena, mark);
    return status;
}

sotto_status sotto_log_seen_resolve(sotto_ledger *ledger, sotto_bytes origin, int64_t at,
                                    sotto_err *err)
{
    const sotto_log_seen nothing = {.at = at};

    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, write(ledger, origin, &nothing, err), err);
}
