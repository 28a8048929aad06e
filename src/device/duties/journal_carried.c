/* What a member takes from a round of a session to the next one: a share of a key that is handed over. One row for a session. */
#include "device/duties/journal_inside.h"

#include "base/rule.h"

#include <string.h>

/* Inside a transaction: in place of what there was; nothing: that is erased. */
sotto_status sotto_journal_store_carried(sotto_journal *j, const sotto_round *round,
                                         sotto_bytes what, sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(j, &q, "DELETE FROM carried WHERE session = ?1", err));
    sotto_journal_bind(q, 1, sotto_bytes_of(round->session, sizeof round->session));
    SOTTO_TRY(sotto_journal_run(q, err));
    if (what.len == 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_journal_prepare(j, &q, "INSERT INTO carried VALUES (?1, ?2, ?3, ?4)", err));
    sotto_journal_bind(q, 1, sotto_bytes_of(round->session, sizeof round->session));
    (void)sqlite3_bind_int64(q, 2, (int64_t)round->number);
    (void)sqlite3_bind_int64(q, 3, (int64_t)(round->release_by + SOTTO_JOURNAL_CARRIED_MS));
    sotto_journal_bind(q, 4, what);
    return sotto_journal_run(q, err);
}

sotto_status sotto_journal_carried(sotto_journal *j, const uint8_t session[32], sotto_bytes *out,
                                   sotto_arena *arena, sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    *out = (sotto_bytes){NULL, 0};
    SOTTO_TRY(sotto_journal_prepare(j, &q, "SELECT share FROM carried WHERE session = ?1", err));
    sotto_journal_bind(q, 1, sotto_bytes_of(session, 32));
    if (sotto_journal_row(q, &status, err))
        status = sotto_journal_column(q, 0, out, arena, err);
    sqlite3_finalize(q);
    return status;
}

/* So that nothing is written where nothing is to be erased. */
static sotto_status any(sotto_journal *j, bool *found, const char *sql, sotto_bytes session,
                        uint64_t bound, sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    *found = false;
    SOTTO_TRY(sotto_journal_prepare(j, &q, sql, err));
    sotto_journal_bind(q, 1, session);
    (void)sqlite3_bind_int64(q, 2, (int64_t)bound);
    *found = sotto_journal_row(q, &status, err);
    sqlite3_finalize(q);
    return status;
}

static sotto_status erase(sotto_journal *j, const char *sql, sotto_bytes session, uint64_t bound,
                          sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_begin(j, err));
    sotto_status status = sotto_journal_prepare(j, &q, sql, err);
    if (status == SOTTO_OK) {
        sotto_journal_bind(q, 1, session);
        (void)sqlite3_bind_int64(q, 2, (int64_t)bound);
        status = sotto_journal_run(q, err);
    }
    return sotto_journal_finish_erased(j, status, err);
}

sotto_status sotto_journal_erase_carried(sotto_journal *j, const sotto_round *round, sotto_err *err)
{
    const sotto_bytes session = sotto_bytes_of(round->session, sizeof round->session);
    bool found;

    SOTTO_TRY(any(j, &found, "SELECT 1 FROM carried WHERE session = ?1 AND number < ?2", session,
                  round->number, err));
    /* A member that was away while its share was due has no use for it any more. */
    if (SOTTO_RULE(duties_carried_ends) && found)
        return erase(j, "DELETE FROM carried WHERE session = ?1 AND number < ?2", session,
                     round->number, err);
    return SOTTO_OK;
}

sotto_status sotto_journal_expire_carried(sotto_journal *j, uint64_t now_ms, sotto_err *err)
{
    const sotto_bytes nothing = {NULL, 0};
    bool found;

    SOTTO_TRY(any(j, &found, "SELECT 1 FROM carried WHERE ?1 = ?1 AND until <= ?2", nothing, now_ms,
                  err));
    if (SOTTO_RULE(duties_carried_expires) && found)
        return erase(j, "DELETE FROM carried WHERE ?1 = ?1 AND until <= ?2", nothing, now_ms, err);
    return SOTTO_OK;
}
