#include "device/ledger/consent.h"

#include "base/rule.h"
#include "device/ledger/ledger_internal.h"

static sotto_status read_words(sotto_ledger *ledger, sotto_consent_words *out, sotto_err *err)
{
    int64_t yes = 0, no = 0;
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_record_find(ledger, &statement, &row, "", SOTTO_RECORD_CONSENTED,
                                            SOTTO_RECORD_FORGOTTEN, err);

    *out = (sotto_consent_words){0};
    while (status == SOTTO_OK && row) {
        int64_t id = sqlite3_column_int64(statement, 0), kind = sqlite3_column_int64(statement, 1);

        yes = kind == SOTTO_RECORD_CONSENTED && id > yes ? id : yes;
        no = kind == SOTTO_RECORD_WITHDRAWN && id > no ? id : no;
        out->last = id > out->last ? id : out->last;
        status = sotto_ledger_next(statement, &row, err);
    }
    sotto_ledger_release(ledger, statement);
    out->given = yes > no;
    return status;
}

/* Every transaction has its number, also those of another process: while it is the same, so is the record. */
static sotto_status look(sotto_ledger *ledger, sotto_consent_words *out, sotto_err *err)
{
    if (ledger->said_at != ledger->meta.generation) {
        SOTTO_TRY(read_words(ledger, &ledger->said, err));
        ledger->said_at = ledger->meta.generation;
    }
    *out = ledger->said;
    return SOTTO_OK;
}

sotto_status sotto_consent_read(sotto_ledger *ledger, bool *given, sotto_err *err)
{
    sotto_consent_words said;

    *given = false;
    SOTTO_TRY(look(ledger, &said, err));
    *given = said.given && !ledger->withdrawn;
    return SOTTO_OK;
}

sotto_status sotto_consent_get(sotto_ledger *ledger, bool *given, sotto_err *err)
{
    *given = false;
    SOTTO_TRY(sotto_ledger_refresh(ledger, err));
    return sotto_consent_read(ledger, given, err);
}

/* ---- saying ------------------------------------------------------------------------------------------------- */

static sotto_status write(sotto_ledger *ledger, sotto_record_kind kind, const char *note,
                          int64_t now, sotto_err *err)
{
    const sotto_record_entry entry = {.at = now, .kind = kind, .note = note};

    ledger->said_at = 0;
    return sotto_record_write(ledger, &entry, NULL, err);
}

/* Another process may have said the same meanwhile. */
static sotto_status say(sotto_ledger *ledger, bool given, int64_t now, sotto_err *err)
{
    sotto_consent_words said;

    SOTTO_TRY(look(ledger, &said, err));
    if (said.given == given)
        return SOTTO_OK;
    if (!given)
        return write(ledger, SOTTO_RECORD_WITHDRAWN, NULL, now, err);
    /* Reports that an interrupted withdrawal left must not be sent after a later yes. */
    SOTTO_TRY(sotto_outbox_drop(ledger, NULL, "consent was withdrawn", now, err));
    return write(ledger, SOTTO_RECORD_CONSENTED, NULL, now, err);
}

static sotto_status set(sotto_ledger *ledger, bool given, int64_t now, sotto_err *err)
{
    sotto_consent_words said;

    SOTTO_TRY(sotto_ledger_refresh(ledger, err));
    SOTTO_TRY(look(ledger, &said, err));
    if (said.given != given) {
        SOTTO_TRY(sotto_ledger_begin(ledger, err));
        SOTTO_TRY(sotto_ledger_end(ledger, say(ledger, given, now, err), err));
    }
    ledger->withdrawn = false; /* the record has it now, and a yes in another process may follow */
    return SOTTO_OK;
}

sotto_status sotto_consent_settle(sotto_ledger *ledger, int64_t now, sotto_err *err)
{
    return ledger->withdrawn ? set(ledger, false, now, err) : SOTTO_OK;
}

sotto_status sotto_consent_set(sotto_ledger *ledger, bool given, int64_t now, sotto_err *err)
{
    if (!given)
        ledger->withdrawn = true; /* whatever the disk says */
    else
        SOTTO_TRY(sotto_consent_settle(ledger, now, err));
    return set(ledger, given, now, err);
}

sotto_status sotto_consent_forget(sotto_ledger *ledger, const char *stream, int64_t now,
                                  sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(
        ledger, write(ledger, SOTTO_RECORD_FORGOTTEN, stream ? stream : "everything", now, err),
        err);
}

/* ---- keeping to it ------------------------------------------------------------------------------------------ */

sotto_status sotto_consent_hold(sotto_ledger *ledger, bool *given, sotto_err *err)
{
    sotto_consent_words said;

    *given = false;
    SOTTO_TRY(sotto_ledger_refresh(ledger, err));
    SOTTO_TRY(look(ledger, &said, err));
    ledger->held = said.last;
    *given = said.given && !ledger->withdrawn;
    return SOTTO_OK;
}

sotto_status sotto_consent_check_since(sotto_ledger *ledger, int64_t paid, sotto_err *err)
{
    sotto_consent_words said;

    SOTTO_TRY(look(ledger, &said, err));
    if (!said.given || ledger->withdrawn || (int64_t)said.last > paid)
        return sotto_fail(err, SOTTO_DENIED,
                          "the person withdrew, or had events erased, meanwhile");
    return SOTTO_OK;
}

sotto_status sotto_consent_check(sotto_ledger *ledger, sotto_err *err)
{
    sotto_consent_words said;

    SOTTO_TRY(look(ledger, &said, err));
    if (SOTTO_RULE(nothing_paid_after_a_no) && (!said.given || ledger->withdrawn))
        return sotto_fail(err, SOTTO_DENIED, "nobody has agreed that this device takes part");
    if (SOTTO_RULE(nothing_paid_for_the_forgotten) && ledger->held && ledger->held != said.last)
        return sotto_fail(err, SOTTO_DENIED,
                          "the person withdrew, or had events erased, meanwhile");
    return SOTTO_OK;
}
