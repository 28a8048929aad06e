/* Who has a message that must not be kept off the board: the server, and witnesses by place. */
#include "device/duties/journal_inside.h"

sotto_status sotto_journal_handed(sotto_journal *j, int64_t row, unsigned place, bool *has,
                                  sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    SOTTO_TRY(
        sotto_journal_prepare(j, &q, "SELECT 1 FROM handed WHERE row = ?1 AND place = ?2", err));
    (void)sqlite3_bind_int64(q, 1, row);
    (void)sqlite3_bind_int64(q, 2, place);
    *has = sotto_journal_row(q, &status, err);
    sqlite3_finalize(q);
    return status;
}

static sotto_status insert(sotto_journal *j, int64_t row, unsigned place, sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(
        j, &q, "INSERT INTO handed (row, place) VALUES (?1, ?2) ON CONFLICT DO NOTHING", err));
    (void)sqlite3_bind_int64(q, 1, row);
    (void)sqlite3_bind_int64(q, 2, place);
    return sotto_journal_run(q, err);
}

sotto_status sotto_journal_hand(sotto_journal *j, int64_t row, unsigned place, unsigned all,
                                sotto_err *err)
{
    bool has = true;

    SOTTO_TRY(sotto_journal_begin(j, err));
    sotto_status status = insert(j, row, place, err);
    for (unsigned i = 0; status == SOTTO_OK && has && i < all; i++)
        status = sotto_journal_handed(j, row, i, &has, err);
    if (status == SOTTO_OK && has)
        status = sotto_journal_forget(j, row, err);
    return sotto_journal_finish(j, status, err);
}
