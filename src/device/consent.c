#include "device/consent.h"

#include "base/rule.h"
#include "device/ledger_internal.h"

sotto_status sotto_consent_get(sotto_ledger *ledger, bool *given, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;

    *given = false;
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &row, err,
        "SELECT kind FROM record WHERE recipe='' AND kind IN (?,?) ORDER BY id DESC LIMIT 1", "ii",
        (int64_t)SOTTO_RECORD_CONSENTED, (int64_t)SOTTO_RECORD_WITHDRAWN);
    if (status == SOTTO_OK)
        *given = row ? sqlite3_column_int64(statement, 0) == SOTTO_RECORD_CONSENTED
                     : !SOTTO_RULE(off_until_consent);
    sotto_ledger_release(ledger, statement);
    return status;
}

static sotto_status write(sotto_ledger *ledger, bool given, int64_t now, sotto_err *err)
{
    const sotto_record_entry entry = {
        .at = now, .kind = given ? SOTTO_RECORD_CONSENTED : SOTTO_RECORD_WITHDRAWN};

    return sotto_record_write(ledger, &entry, NULL, err);
}

sotto_status sotto_consent_set(sotto_ledger *ledger, bool given, int64_t now, sotto_err *err)
{
    bool already;

    SOTTO_TRY(sotto_consent_get(ledger, &already, err));
    if (already == given)
        return SOTTO_OK;
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, write(ledger, given, now, err), err);
}
