#include "device/ledger/outbox.h"

#include "base/arena.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "device/ledger/consent.h"
#include "device/ledger/ledger_internal.h"
#include "device/ledger/wallet.h"

#include <string.h>

/* A waiting report, copied out of its row so that no statement is open while the transport works. */
typedef struct waiting {
    int64_t id;
    sotto_report report; /* but for `randomised`, which the record has */
    char recipe[SOTTO_BUDGET_MAX_NAME + 1];
    uint8_t bytes_sum[SOTTO_LEDGER_DIGEST], inputs_sum[SOTTO_LEDGER_DIGEST];
    int64_t spend; /* the entry that paid for it; 0: a dummy's */
    bool tried, resealed;
    bool stopped;  /* consent was withdrawn: no report leaves any more */
    bool finished; /* its row is gone */
} waiting;

static void sum(uint8_t out[SOTTO_LEDGER_DIGEST], sotto_bytes bytes)
{
    sotto_hash_once(out, SOTTO_SHA256, bytes);
}

static const char entries_of_report[] = "SELECT id, kind FROM record WHERE report=?";

/* ---- filling ---------------------------------------------------------------------------------------------- */

sotto_status sotto_outbox_check(sotto_ledger *ledger, const sotto_report *report, sotto_err *err)
{
    const sotto_bytes id = sotto_bytes_of(report->id, sizeof report->id);
    sqlite3_stmt *statement;
    bool row;

    if (report->bytes.len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "a report without bytes");
    if (report->bytes.len > SOTTO_REPORT_MAX / 2 || report->inputs.len > SOTTO_REPORT_MAX / 2 ||
        report->randomised.len > SOTTO_REPORT_MAX / 2 || report->destination.len > 4096)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a report of %zu bytes", report->bytes.len);
    sotto_status status =
        sotto_ledger_find(ledger, &statement, &row, err, entries_of_report, "b", id);
    sotto_ledger_release(ledger, statement);
    if (status == SOTTO_OK && row)
        return sotto_fail(err, SOTTO_STALE, "a report id that was used before");
    return status;
}

sotto_status sotto_outbox_write(sotto_ledger *ledger, const char *recipe,
                                const sotto_report *report, int64_t spend, int64_t now,
                                sotto_err *err)
{
    uint8_t bytes_sum[SOTTO_LEDGER_DIGEST], inputs_sum[SOTTO_LEDGER_DIGEST];
    const int64_t tried = 0, resealed = 0;
    int64_t id = 0;

    if (report->token)
        SOTTO_TRY(sotto_wallet_spend(ledger, report->token, err));
    if (report->shown)
        SOTTO_TRY(sotto_wallet_show(ledger, report->shown, err));
    sum(bytes_sum, report->bytes);
    sum(inputs_sum, report->inputs);
    SOTTO_TRY(sotto_ledger_insert(
        ledger, "outbox", &id, err, "INSERT INTO outbox VALUES(?,?,?,?,?,?,?,?,?,?)", "btbiiiibb",
        sotto_bytes_of(report->id, sizeof report->id), recipe, report->destination, spend, tried,
        resealed, now, sotto_bytes_of(bytes_sum, sizeof bytes_sum),
        sotto_bytes_of(inputs_sum, sizeof inputs_sum)));
    return sotto_ledger_run(ledger, err, "INSERT INTO sealed VALUES(?,?,?)", "ibb", id,
                            report->bytes, report->inputs);
}

static sotto_status put_dummy(sotto_ledger *ledger, const sotto_dummy *dummy,
                              const sotto_report *report, int64_t now, sotto_err *err)
{
    sotto_record_entry entry = {.at = now,
                                .kind = SOTTO_RECORD_DUMMY,
                                .recipe = dummy->recipe,
                                .analysis = dummy->analysis,
                                .round = dummy->round,
                                .randomised = report->randomised,
                                .bytes = report->bytes.len,
                                .asked = dummy->asked};

    memcpy(entry.report, report->id, sizeof entry.report);
    SOTTO_TRY(sotto_consent_check(ledger, err));
    SOTTO_TRY(sotto_ledger_unanswered(ledger, dummy->scope, dummy->recipe, dummy->analysis, err));
    SOTTO_TRY(sotto_outbox_check(ledger, report, err));
    SOTTO_TRY(sotto_record_write(ledger, &entry, NULL, err));
    return sotto_outbox_write(ledger, dummy->recipe, report, 0, now, err);
}

sotto_status sotto_outbox_put_dummy(sotto_ledger *ledger, const sotto_dummy *dummy,
                                    const sotto_report *report, int64_t now, sotto_err *err)
{
    if (strlen(dummy->recipe) > SOTTO_BUDGET_MAX_NAME)
        return sotto_fail(err, SOTTO_MALFORMED, "a name of %zu bytes", strlen(dummy->recipe));
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, put_dummy(ledger, dummy, report, now, err), err);
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

static bool copy_out(sotto_arena *arena, sotto_bytes *out, sotto_bytes from)
{
    uint8_t *copy = sotto_arena_take(arena, from.len ? from.len : 1);

    if (copy && from.len)
        memcpy(copy, from.data, from.len);
    *out = sotto_bytes_of(copy, from.len);
    return copy != NULL;
}

static bool as_paid_for(const uint8_t kept[SOTTO_LEDGER_DIGEST], sotto_bytes bytes)
{
    uint8_t now[SOTTO_LEDGER_DIGEST];

    sum(now, bytes);
    return memcmp(kept, now, sizeof now) == 0;
}

/* A row of the outbox and what is beside it are found by short statements, which others use too. They compile in less
 * than half the time of one that joins. In its columns' order: id, report, recipe, destination, spend, tried, resealed,
 * at, bytes_sum, inputs_sum. */
static const char first_from[] = "SELECT * FROM outbox WHERE id>=? ORDER BY id LIMIT 1";

static sotto_status take_row(sotto_ledger *ledger, waiting *out, sqlite3_stmt *row, sotto_err *err)
{
    sotto_bytes report = sotto_ledger_blob(row, 1);
    const char *recipe = sotto_ledger_text(row, 2);

    *out = (waiting){.id = sqlite3_column_int64(row, 0),
                     .spend = sqlite3_column_int64(row, 4),
                     .tried = sqlite3_column_int64(row, 5) != 0,
                     .resealed = sqlite3_column_int64(row, 6) != 0};
    sotto_arena_reset(&ledger->scratch);
    if (!copy_out(&ledger->scratch, &out->report.destination, sotto_ledger_blob(row, 3)))
        return sotto_fail(err, SOTTO_NO_MEMORY, "a report's destination");
    if (report.len != sizeof out->report.id || strlen(recipe) >= sizeof out->recipe ||
        !sotto_ledger_digest(row, 8, out->bytes_sum) ||
        !sotto_ledger_digest(row, 9, out->inputs_sum))
        return sotto_fail(err, SOTTO_MALFORMED, "a waiting report is damaged");
    memcpy(out->report.id, report.data, sizeof out->report.id);
    memcpy(out->recipe, recipe, strlen(recipe) + 1);
    out->report.recipe = out->recipe;
    return SOTTO_OK;
}

/* One column of a report, so that the database never holds both columns in memory beside our
 * copies. */
static sotto_status take_column(sotto_ledger *ledger, const waiting *w, const char *select,
                                sotto_bytes *out, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row, copied = true;
    sotto_status status = sotto_ledger_find(ledger, &statement, &row, err, select, "i", w->id);

    if (status == SOTTO_OK && row)
        copied = copy_out(&ledger->scratch, out, sotto_ledger_blob(statement, 0));
    sotto_ledger_release(ledger, statement);
    if (status == SOTTO_OK && !copied)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a report of %zu bytes", out->len);
    return status;
}

static sotto_status take_sealed(sotto_ledger *ledger, waiting *out, sotto_err *err)
{
    SOTTO_TRY(
        take_column(ledger, out, "SELECT bytes FROM sealed WHERE id=?", &out->report.bytes, err));
    return take_column(ledger, out, "SELECT inputs FROM sealed WHERE id=?", &out->report.inputs,
                       err);
}

/* A dummy is paid for by its own entry in the record, at no cost. */
static sotto_status find_payment(sotto_ledger *ledger, const waiting *w, bool *paid, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_ledger_find(ledger, &statement, &row, err, entries_of_report, "b",
                                            sotto_bytes_of(w->report.id, sizeof w->report.id));

    *paid = false;
    while (status == SOTTO_OK && row && !*paid) {
        int64_t id = sqlite3_column_int64(statement, 0), kind = sqlite3_column_int64(statement, 1);

        *paid =
            w->spend ? id == w->spend && kind == SOTTO_RECORD_SPENT : kind == SOTTO_RECORD_DUMMY;
        status = sotto_ledger_next(statement, &row, err);
    }
    sotto_ledger_release(ledger, statement);
    return status;
}

static sotto_status take_waiting(sotto_ledger *ledger, waiting *out, bool *found, int64_t after,
                                 sotto_err *err)
{
    sqlite3_stmt *statement;
    sotto_status status =
        sotto_ledger_find(ledger, &statement, found, err, first_from, "i", after + 1);
    bool paid;

    if (status == SOTTO_OK && *found)
        status = take_row(ledger, out, statement, err);
    sotto_ledger_release(ledger, statement);
    if (status != SOTTO_OK || !*found)
        return status;
    SOTTO_TRY(take_sealed(ledger, out, err));
    SOTTO_TRY(find_payment(ledger, out, &paid, err));
    if (!paid || !as_paid_for(out->bytes_sum, out->report.bytes) ||
        !as_paid_for(out->inputs_sum, out->report.inputs))
        return sotto_fail(err, SOTTO_MALFORMED, "a waiting report is not what was paid for");
    return SOTTO_OK;
}

/* All of it as of one moment: half a report that another process is finishing is no damage. */
static sotto_status find_waiting(sotto_ledger *ledger, waiting *out, bool *found, int64_t after,
                                 sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_run(ledger, err, "BEGIN", ""));
    sotto_status status = take_waiting(ledger, out, found, after, err);
    if (status == SOTTO_OK)
        status = sotto_ledger_run(ledger, err, "COMMIT", "");
    if (status != SOTTO_OK)
        sotto_sqlite_rollback(ledger->db);
    return status;
}

/* What has become of the row, which another process may have finished, erased or sealed anew. SQLite gives the number
 * of a row that is gone to another one, so the report's id decides. */
typedef struct row_now {
    bool there;
    bool same_bytes;
    bool tried;
    uint8_t digest[SOTTO_LEDGER_DIGEST]; /* of the row, while it is there */
} row_now;

static sotto_status look_again(sotto_ledger *ledger, const waiting *w, row_now *out, sotto_err *err)
{
    uint8_t bytes_sum[SOTTO_LEDGER_DIGEST];
    sqlite3_stmt *statement;

    *out = (row_now){0};
    sotto_status status =
        sotto_ledger_find(ledger, &statement, &out->there, err, first_from, "i", w->id);
    out->there = out->there && sqlite3_column_int64(statement, 0) == w->id;
    if (status == SOTTO_OK && out->there) {
        out->there = sotto_bytes_equal_vartime(sotto_ledger_blob(statement, 1),
                                               sotto_bytes_of(w->report.id, sizeof w->report.id));
        out->tried = sqlite3_column_int64(statement, 5) != 0;
        out->same_bytes = sotto_ledger_digest(statement, 8, bytes_sum) &&
                          memcmp(bytes_sum, w->bytes_sum, sizeof bytes_sum) == 0;
        sotto_ledger_row_digest(out->digest, "outbox", statement);
    }
    sotto_ledger_release(ledger, statement);
    return status;
}

/* After a change to a row that is known to be there. */
static sotto_status fold_changed(sotto_ledger *ledger, const waiting *w, const row_now *before,
                                 sotto_err *err)
{
    row_now after;

    SOTTO_TRY(look_again(ledger, w, &after, err));
    sotto_ledger_fold_digest(ledger, before->digest);
    sotto_ledger_fold_digest(ledger, after.digest);
    return SOTTO_OK;
}

/* ---- leaving ---------------------------------------------------------------------------------------------- */

static sotto_status note(sotto_ledger *ledger, const waiting *w, sotto_record_kind kind,
                         const char *why, int64_t now, sotto_err *err)
{
    sotto_record_entry entry = {
        .at = now, .kind = kind, .recipe = w->recipe, .note = why, .bytes = w->report.bytes.len};

    memcpy(entry.report, w->report.id, sizeof entry.report);
    return sotto_record_write(ledger, &entry, NULL, err);
}

/* Whether the report may still leave as it was read. */
static sotto_status may_leave(sotto_ledger *ledger, waiting *w, row_now *row, bool *may,
                              sotto_err *err)
{
    bool given;

    SOTTO_TRY(sotto_consent_read(ledger, &given, err));
    SOTTO_TRY(look_again(ledger, w, row, err));
    w->stopped = !given;
    w->tried = row->tried;
    *may = !w->stopped && row->there && row->same_bytes;
    return SOTTO_OK;
}

static sotto_status mark_tried(sotto_ledger *ledger, waiting *w, bool *may, int64_t now,
                               sotto_err *err)
{
    row_now row;

    SOTTO_TRY(may_leave(ledger, w, &row, may, err));
    if (!*may || w->tried)
        return SOTTO_OK;
    SOTTO_TRY(sotto_ledger_run(ledger, err, "UPDATE outbox SET tried=1 WHERE id=?", "i", w->id));
    SOTTO_TRY(fold_changed(ledger, w, &row, err));
    return note(ledger, w, SOTTO_RECORD_LEFT, NULL, now, err);
}

/* The record says that a report left before it does, since afterwards the power may be gone. Then everything is
 * moved into the database itself, so that losing or damaging the WAL loses no spend. Every witness is told, so
 * that a copy made earlier is recognised as old. Only then may the transport see a byte, and only if the person
 * has not said no in another process all that while. */
static sotto_status let_go(sotto_ledger *ledger, waiting *w, bool *may, int64_t now, sotto_err *err)
{
    bool recorded = !w->tried;
    row_now row;

    *may = true;
    if (recorded) {
        SOTTO_TRY(sotto_ledger_begin(ledger, err));
        SOTTO_TRY(sotto_ledger_end(ledger, mark_tried(ledger, w, may, now, err), err));
    }
    if (!*may)
        return SOTTO_OK;
    /* The spend may be another process's. Read before the sync, which covers it: what that process commits afterwards is
     * not on the disk yet, and no witness may hear of it. */
    if (!recorded)
        SOTTO_TRY(sotto_ledger_refresh(ledger, err));
    if (!ledger->memory)
        SOTTO_TRY(sotto_sqlite_truncate_wal(ledger->db, err));
    SOTTO_TRY(sotto_ledger_testify(ledger, err));
    SOTTO_TRY(sotto_ledger_refresh(ledger, err)); /* which may have taken long */
    return may_leave(ledger, w, &row, may, err);
}

/* `digest` is of the row as it is. */
static sotto_status forget_and_note(sotto_ledger *ledger, const waiting *w,
                                    const uint8_t digest[SOTTO_LEDGER_DIGEST],
                                    sotto_record_kind kind, const char *why, int64_t now,
                                    sotto_err *err)
{
    sotto_ledger_fold_digest(ledger, digest);
    SOTTO_TRY(sotto_ledger_run(ledger, err, "DELETE FROM sealed WHERE id=?", "i", w->id));
    SOTTO_TRY(sotto_ledger_run(ledger, err, "DELETE FROM outbox WHERE id=?", "i", w->id));
    return note(ledger, w, kind, why, now, err);
}

/* An acknowledgement is the report's, whatever key it was sealed to; a refusal is of these bytes alone. */
static sotto_status finish_row(sotto_ledger *ledger, waiting *w, sotto_record_kind kind,
                               const char *why, int64_t now, sotto_err *err)
{
    row_now row;

    SOTTO_TRY(look_again(ledger, w, &row, err));
    w->finished = !row.there;
    if (!row.there)
        return SOTTO_OK;
    if (SOTTO_RULE(refused_as_sealed) && kind != SOTTO_RECORD_ACKNOWLEDGED && !row.same_bytes)
        return SOTTO_OK;
    w->finished = true;
    return forget_and_note(ledger, w, row.digest, kind, why, now, err);
}

static sotto_status finish(sotto_ledger *ledger, waiting *w, sotto_record_kind kind,
                           const char *why, int64_t now, sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, finish_row(ledger, w, kind, why, now, err), err);
}

/* ---- another key ------------------------------------------------------------------------------------------ */

/* SOTTO_STALE: another process sealed it anew, or finished it. Its bytes count then, and ours are dropped. */
static sotto_status replace_bytes(sotto_ledger *ledger, waiting *w, sotto_bytes sealed, int64_t now,
                                  sotto_err *err)
{
    row_now row;

    SOTTO_TRY(look_again(ledger, w, &row, err));
    if (SOTTO_RULE(one_seal_for_all) && !(row.there && row.same_bytes))
        return sotto_fail(err, SOTTO_STALE, "sealed again meanwhile");
    w->report.bytes = sealed;
    sum(w->bytes_sum, sealed);
    SOTTO_TRY(sotto_ledger_run(ledger, err, "UPDATE outbox SET resealed=1, bytes_sum=? WHERE id=?",
                               "bi", sotto_bytes_of(w->bytes_sum, sizeof w->bytes_sum), w->id));
    SOTTO_TRY(sotto_ledger_run(ledger, err, "UPDATE sealed SET bytes=? WHERE id=?", "bi",
                               w->report.bytes, w->id));
    SOTTO_TRY(fold_changed(ledger, w, &row, err));
    return note(ledger, w, SOTTO_RECORD_RESEALED, NULL, now, err);
}

static sotto_status reseal(sotto_ledger *ledger, waiting *w, const sotto_transport *transport,
                           int64_t now, sotto_err *err)
{
    size_t room = w->report.bytes.len + 4096; /* room for another key and KEM: never much longer */
    sotto_buf sealed;

    SOTTO_TRY(sotto_buf_take(&sealed, &ledger->scratch, room, err));
    SOTTO_TRY(transport->reseal(transport->context, &w->report, &sealed, err));
    if (sealed.len == 0)
        return sotto_fail(err, SOTTO_BUG, "sealing again: no bytes");
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    SOTTO_TRY(sotto_ledger_end(ledger, replace_bytes(ledger, w, sotto_buf_bytes(&sealed), now, err),
                               err));
    w->resealed = true;
    return SOTTO_OK;
}

/* ---- sending ---------------------------------------------------------------------------------------------- */

/* A report that may not leave any more is not offered, and nothing is recorded about it. */
static sotto_status offer(sotto_ledger *ledger, waiting *w, const sotto_transport *transport,
                          int64_t now, sotto_delivery *delivery, sotto_err *err)
{
    bool may;

    *delivery = SOTTO_DELIVERY_LATER;
    SOTTO_TRY(let_go(ledger, w, &may, now, err));
    if (!may)
        return SOTTO_OK;
    w->tried = true;
    *delivery = transport->send(transport->context, &w->report);
    return SOTTO_OK;
}

static sotto_status deliver(sotto_ledger *ledger, waiting *w, const sotto_transport *transport,
                            int64_t now, sotto_err *err)
{
    sotto_delivery delivery;

    SOTTO_TRY(offer(ledger, w, transport, now, &delivery, err));
    if (delivery == SOTTO_DELIVERY_OUTDATED && transport->reseal && !w->resealed) {
        if (reseal(ledger, w, transport, now, NULL) != SOTTO_OK)
            return sotto_ledger_usable(ledger, err); /* the new key is not known yet: it waits */
        SOTTO_TRY(offer(ledger, w, transport, now, &delivery, err));
    }
    switch (delivery) {
    case SOTTO_DELIVERY_ACCEPTED:
        return finish(ledger, w, SOTTO_RECORD_ACKNOWLEDGED, NULL, now, err);
    case SOTTO_DELIVERY_REFUSED:
        return finish(ledger, w, SOTTO_RECORD_GIVEN_UP, "refused by the other side", now, err);
    case SOTTO_DELIVERY_OUTDATED:
        if (w->resealed)
            return finish(ledger, w, SOTTO_RECORD_GIVEN_UP, "its keys changed twice", now, err);
        return SOTTO_OK;
    default:
        return SOTTO_OK;
    }
}

static bool is_ready(const sotto_transport *transport, const waiting *w)
{
    return !transport->ready || transport->ready(transport->context, &w->report);
}

/* *more: another process may have finished some of them, so their outcome must be looked up. */
static sotto_status send_all(sotto_ledger *ledger, const sotto_transport *transport, int64_t now,
                             bool *more, sotto_err *err)
{
    int64_t after = 0;
    bool found = true, stopped = false;

    *more = false;
    while (found && !stopped) {
        waiting w;

        SOTTO_TRY(find_waiting(ledger, &w, &found, after, err));
        if (!found)
            break;
        if (is_ready(transport, &w))
            SOTTO_TRY(deliver(ledger, &w, transport, now, err));
        stopped = w.stopped;
        *more = *more || !w.finished;
        after = w.id;
    }
    return SOTTO_OK;
}

/* Nothing of this is waited for at its commit, nor told to a witness. What must be on the disk before a report leaves is
 * moved into the database then, which syncs it. If what comes after is lost, the device only sends the same bytes again. */
static sotto_status send_and_settle(sotto_ledger *ledger, const sotto_transport *transport,
                                    int64_t now, bool *more, sotto_err *err)
{
    ledger->hurried = !ledger->memory;
    sotto_status status = send_all(ledger, transport, now, more, err);
    ledger->hurried = false;
    sotto_arena_reset(&ledger->scratch);
    if (status != SOTTO_OK || ledger->memory)
        return status;
    /* What was acknowledged is still in the WAL; if a reader holds on to it, the next sending cuts it. */
    sotto_status settled = sotto_sqlite_truncate_wal(ledger->db, err);
    if (settled == SOTTO_OK)
        sotto_ledger_tell(ledger);
    return settled == SOTTO_MALFORMED ? SOTTO_MALFORMED : SOTTO_OK;
}

sotto_status sotto_outbox_send(sotto_ledger *ledger, const sotto_transport *transport, int64_t now,
                               uint64_t *waiting_count, sotto_err *err)
{
    sotto_err first = {0};
    bool more;

    if (waiting_count)
        *waiting_count = 0;
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status = send_and_settle(ledger, transport, now, &more, &first);
    if (status == SOTTO_MALFORMED)
        return sotto_ledger_shut(ledger, "the ledger is damaged", err);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s", first.reason);
    return waiting_count && more ? sotto_outbox_count(ledger, waiting_count, err) : SOTTO_OK;
}

sotto_status sotto_outbox_count(sotto_ledger *ledger, uint64_t *waiting_count, sotto_err *err)
{
    int64_t count;

    *waiting_count = 0;
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    SOTTO_TRY(sotto_ledger_number(ledger, &count, "SELECT count(*) FROM outbox", err));
    *waiting_count = (uint64_t)count;
    return SOTTO_OK;
}

/* ---- emptying --------------------------------------------------------------------------------------------- */

sotto_status sotto_outbox_drop(sotto_ledger *ledger, const char *recipe, const char *why,
                               int64_t now, sotto_err *err)
{
    bool row = true;

    while (row) {
        waiting w = {0};
        uint8_t digest[SOTTO_LEDGER_DIGEST];
        sqlite3_stmt *statement;
        sotto_status status =
            sotto_ledger_find(ledger, &statement, &row, err,
                              "SELECT * FROM outbox WHERE ?1='' OR recipe=?1 LIMIT 1", "t", recipe);

        if (status == SOTTO_OK && row) {
            sotto_bytes report = sotto_ledger_blob(statement, 1);

            w.id = sqlite3_column_int64(statement, 0);
            sotto_ledger_row_digest(digest, "outbox", statement);
            if (report.len == sizeof w.report.id)
                memcpy(w.report.id, report.data, sizeof w.report.id);
            (void)strncpy(w.recipe, sotto_ledger_text(statement, 2), sizeof w.recipe - 1);
        }
        sotto_ledger_release(ledger, statement);
        SOTTO_TRY(status);
        ledger->lingering = ledger->lingering || row;
        if (row)
            SOTTO_TRY(forget_and_note(ledger, &w, digest, SOTTO_RECORD_GIVEN_UP, why, now, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_outbox_empty(sotto_ledger *ledger, const char *recipe, const char *why,
                                int64_t now, sotto_err *err)
{
    ledger->lingering = true;
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    SOTTO_TRY(sotto_ledger_end(ledger, sotto_outbox_drop(ledger, recipe, why, now, err), err));
    /* As for events: a page that was rebalanced can keep a stale copy, and the WAL keeps old pages. */
    if (!ledger->memory) {
        SOTTO_TRY(sotto_sqlite_run(ledger->db, "VACUUM", "erasing", err));
        SOTTO_TRY(sotto_sqlite_truncate_wal(ledger->db, err));
    }
    ledger->lingering = false;
    return SOTTO_OK;
}

bool sotto_outbox_lingers(const sotto_ledger *ledger)
{
    return ledger->lingering;
}
