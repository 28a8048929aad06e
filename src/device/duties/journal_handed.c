/* Who has a message that must not be kept off the board: the server, and witnesses by their keys. */
#include "device/duties/journal_inside.h"

sotto_status sotto_journal_handed(sotto_journal *j, int64_t row, const sotto_journal_holder *who,
                                  bool *has, sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    SOTTO_TRY(
        sotto_journal_prepare(j, &q, "SELECT 1 FROM handed_to WHERE row = ?1 AND who = ?2", err));
    (void)sqlite3_bind_int64(q, 1, row);
    sotto_journal_bind(q, 2, sotto_bytes_of(who->key, sizeof who->key));
    *has = sotto_journal_row(q, &status, err);
    sqlite3_finalize(q);
    return status;
}

static sotto_status insert(sotto_journal *j, int64_t row, const sotto_journal_holder *who,
                           sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(
        j, &q, "INSERT INTO handed_to (row, who) VALUES (?1, ?2) ON CONFLICT DO NOTHING", err));
    (void)sqlite3_bind_int64(q, 1, row);
    sotto_journal_bind(q, 2, sotto_bytes_of(who->key, sizeof who->key));
    return sotto_journal_run(q, err);
}

sotto_status sotto_journal_hand(sotto_journal *j, int64_t row, const sotto_journal_holder *who,
                                const sotto_journal_holder *all, size_t count, bool *all_have,
                                sotto_err *err)
{
    *all_have = true;
    SOTTO_TRY(sotto_journal_begin(j, err));
    sotto_status status = insert(j, row, who, err);
    for (size_t i = 0; status == SOTTO_OK && *all_have && i < count; i++)
        status = sotto_journal_handed(j, row, &all[i], all_have, err);
    if (status == SOTTO_OK && *all_have)
        status = sotto_journal_forget(j, row, err);
    return sotto_journal_finish(j, status, err);
}
