/* What became of an answer that was paid for here and leaves by another way than the outbox. */
#include "device/duties/payment.h"

#include "base/rule.h"
#include "device/ledger/consent.h"
#include "device/ledger/ledger_internal.h"

#include <string.h>

/* The entry that paid for it: its number; 0: there is none. */
static sotto_status find_payment(sotto_ledger *ledger, const char *name, int64_t *number,
                                 sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    const sotto_status status = sotto_record_find(ledger, &statement, &row, name,
                                                  SOTTO_RECORD_SPENT, SOTTO_RECORD_SPENT, err);

    *number = status == SOTTO_OK && row ? sqlite3_column_int64(statement, 0) : 0;
    sotto_ledger_release(ledger, statement);
    return status;
}

static sotto_status note(sotto_ledger *ledger, const char *name, sotto_record_kind kind,
                         const char *why, int64_t now, sotto_err *err)
{
    const sotto_record_entry entry = {.at = now, .kind = kind, .recipe = name, .note = why};

    return sotto_record_write(ledger, &entry, NULL, err);
}

static sotto_status leave(sotto_ledger *ledger, const char *name, int64_t now, sotto_err *err)
{
    sotto_outcome outcome;
    int64_t paid;

    SOTTO_TRY(sotto_record_outcome(ledger, &outcome, name, err));
    SOTTO_TRY(find_payment(ledger, name, &paid, err));
    /* What was not paid for is older than the first yes. */
    const sotto_status said = sotto_consent_check_since(ledger, paid, err);
    if (SOTTO_RULE(payment_after_a_no) && said != SOTTO_OK)
        return said;
    /* The person was told that nothing of it leaves any more. */
    if (SOTTO_RULE(payment_given_up) && outcome.kind == SOTTO_RECORD_GIVEN_UP)
        return sotto_fail(err, SOTTO_DENIED, "%.63s: it was given up", name);
    return outcome.kind == SOTTO_RECORD_SPENT
               ? note(ledger, name, SOTTO_RECORD_LEFT, NULL, now, err)
               : SOTTO_OK;
}

sotto_status sotto_payment_leave(sotto_ledger *ledger, const char *name, int64_t now,
                                 sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    SOTTO_TRY(sotto_ledger_end(ledger, leave(ledger, name, now, err), err));
    if (!ledger->memory)
        SOTTO_TRY(sotto_sqlite_truncate_wal(ledger->db, err));
    return sotto_ledger_testify(ledger, err);
}

static sotto_status end(sotto_ledger *ledger, const char *name, bool taken, const char *why,
                        int64_t now, sotto_err *err)
{
    sotto_outcome outcome;

    SOTTO_TRY(sotto_record_outcome(ledger, &outcome, name, err));
    if (outcome.kind != SOTTO_RECORD_SPENT && outcome.kind != SOTTO_RECORD_LEFT)
        return SOTTO_OK;
    return note(ledger, name, taken ? SOTTO_RECORD_ACKNOWLEDGED : SOTTO_RECORD_GIVEN_UP, why, now,
                err);
}

sotto_status sotto_payment_end(sotto_ledger *ledger, const char *name, bool taken, const char *why,
                               int64_t now, sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, end(ledger, name, taken, why, now, err), err);
}
