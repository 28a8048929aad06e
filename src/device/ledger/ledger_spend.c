#include "device/ledger/ledger_internal.h"

#include "base/rule.h"
#include "device/ledger/consent.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* An account as its row has it. */
typedef struct kept {
    int64_t id;   /* 0: no row yet */
    int64_t last; /* when something was last spent, by the clock at that time */
    uint8_t digest[SOTTO_LEDGER_DIGEST]; /* of the row */
    sotto_spent spent;
} kept;

typedef struct statement_of_charge {
    kept analysis;
    kept fields[SOTTO_QUERY_MAX_ACCESSED];
} statement_of_charge;

static void name_analysis(char out[SOTTO_LEDGER_ACCOUNT], const char *analysis)
{
    (void)snprintf(out, SOTTO_LEDGER_ACCOUNT, "analysis %s", analysis);
}

static void name_field(char out[SOTTO_LEDGER_ACCOUNT], const sotto_access *field)
{
    (void)snprintf(out, SOTTO_LEDGER_ACCOUNT, "field %s.%s", field->stream, field->field);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool sotto_ledger_is_over(const sotto_ledger *ledger, int64_t last, int64_t now)
{
    int64_t period = (int64_t)ledger->meta.period;

    if (period == 0)
        return false;
    return now > 0 && now - now % period > last;
}

static void take_account(const sotto_ledger *ledger, kept *out, sqlite3_stmt *statement, bool row,
                         int64_t now)
{
    *out = (kept){.last = INT64_MIN};
    if (row) {
        out->id = sqlite3_column_int64(statement, 0);
        out->last = sqlite3_column_int64(statement, 6);
        sotto_ledger_row_digest(out->digest, "accounts", statement);
    }
    if (row && !sotto_ledger_is_over(ledger, out->last, now)) {
        out->spent.epsilon.units = (uint64_t)sqlite3_column_int64(statement, 2);
        out->spent.delta.units = (uint64_t)sqlite3_column_int64(statement, 3);
        out->spent.squares = sqlite3_column_double(statement, 4);
        out->spent.reports = (uint64_t)sqlite3_column_int64(statement, 5);
    }
    out->spent.unknown =
        ledger->meta.lost && !sotto_ledger_is_over(ledger, ledger->meta.lost_at, now);
}

static sotto_status read_account(sotto_ledger *ledger, kept *out, const char *name, int64_t now,
                                 sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_ledger_find(ledger, &statement, &row, err,
                                            "SELECT * FROM accounts WHERE name=?", "t", name);

    if (status == SOTTO_OK)
        take_account(ledger, out, statement, row, now);
    sotto_ledger_release(ledger, statement);
    return status;
}

static sotto_status read_accounts(sotto_ledger *ledger, statement_of_charge *out,
                                  const sotto_charge *charge, int64_t now, sotto_err *err)
{
    char name[SOTTO_LEDGER_ACCOUNT];

    name_analysis(name, charge->analysis);
    SOTTO_TRY(read_account(ledger, &out->analysis, name, now, err));
    for (size_t i = 0; i < charge->field_count; i++) {
        name_field(name, &charge->fields[i]);
        SOTTO_TRY(read_account(ledger, &out->fields[i], name, now, err));
    }
    return SOTTO_OK;
}

static sotto_status write_account(sotto_ledger *ledger, const kept *account, const char *name,
                                  const sotto_charge *charge, int64_t now, sotto_err *err)
{
    sotto_spent spent = account->spent;
    int64_t id = account->id;
    int64_t last = later(account->last, now);

    SOTTO_TRY(sotto_spent_add(&spent, charge->epsilon, charge->delta, err));
    if (id)
        sotto_ledger_fold_digest(ledger, account->digest);
    return sotto_ledger_insert(
        ledger, "accounts", &id, err, "INSERT OR REPLACE INTO accounts VALUES(?,?,?,?,?,?,?)",
        "tuudui", name, spent.epsilon.units, spent.delta.units, spent.squares, spent.reports, last);
}

static sotto_status write_accounts(sotto_ledger *ledger, const statement_of_charge *accounts,
                                   const sotto_charge *charge, int64_t now, sotto_err *err)
{
    char name[SOTTO_LEDGER_ACCOUNT];

    name_analysis(name, charge->analysis);
    SOTTO_TRY(write_account(ledger, &accounts->analysis, name, charge, now, err));
    for (size_t i = 0; i < charge->field_count; i++) {
        if (!sotto_charge_counts(charge, i))
            continue;
        name_field(name, &charge->fields[i]);
        SOTTO_TRY(write_account(ledger, &accounts->fields[i], name, charge, now, err));
    }
    return SOTTO_OK;
}

/* ---- checking ------------------------------------------------------------------------------------------- */

/* A second answer with fresh noise would let the noise of the first be averaged out. After a crash only
 * the ledger knows that there was a first. */
static sotto_status check_unanswered(sotto_ledger *ledger, const sotto_charge *charge,
                                     sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row, answered = false;
    sotto_status status = sotto_record_find(ledger, &statement, &row, charge->recipe,
                                            SOTTO_RECORD_SPENT, SOTTO_RECORD_SPENT, err);

    while (status == SOTTO_OK && row && !answered) {
        answered = (uint64_t)sqlite3_column_int64(statement, 2) == charge->round;
        status = sotto_ledger_next(statement, &row, err);
    }
    sotto_ledger_release(ledger, statement);
    if (SOTTO_RULE(answered_once) && status == SOTTO_OK && answered)
        return sotto_fail(err, SOTTO_STALE, "recipe %.63s: answered already", charge->recipe);
    return status;
}

static sotto_status check(sotto_ledger *ledger, statement_of_charge *accounts,
                          const sotto_charge *charge, int64_t now, sotto_refusal *refusal,
                          sotto_err *err)
{
    sotto_spent fields[SOTTO_QUERY_MAX_ACCESSED];

    SOTTO_TRY(check_unanswered(ledger, charge, err));
    SOTTO_TRY(read_accounts(ledger, accounts, charge, now, err));
    for (size_t i = 0; i < charge->field_count; i++)
        fields[i] = accounts->fields[i].spent;
    return sotto_budget_check(ledger->table, charge, &accounts->analysis.spent, fields,
                              &ledger->recompute, refusal, err);
}

static sotto_status ready(const sotto_ledger *ledger, const sotto_charge *charge,
                          sotto_refusal *refusal, sotto_err *err)
{
    if (refusal)
        *refusal = (sotto_refusal){0};
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    if (!ledger->table)
        return sotto_fail(err, SOTTO_DENIED, "no policy has given this device a budget");
    if (charge->round > INT64_MAX)
        return sotto_fail(err, SOTTO_MALFORMED, "recipe %.63s: round: out of range",
                          charge->recipe);
    return sotto_charge_check(charge, err);
}

sotto_status sotto_ledger_check(sotto_ledger *ledger, const sotto_charge *charge, int64_t now,
                                sotto_refusal *refusal, sotto_err *err)
{
    statement_of_charge accounts;

    SOTTO_TRY(ready(ledger, charge, refusal, err));
    SOTTO_TRY(sotto_ledger_refresh(ledger, err));
    return check(ledger, &accounts, charge, now, refusal, err);
}

/* ---- spending ------------------------------------------------------------------------------------------- */

static void list_fields(char *out, size_t size, const sotto_charge *charge)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < charge->field_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s.%s", i ? " " : "",
                                 charge->fields[i].stream, charge->fields[i].field);
}

static sotto_status write_spend(sotto_ledger *ledger, const sotto_charge *charge,
                                const sotto_report *report, int64_t now, int64_t *number,
                                sotto_err *err)
{
    char fields[SOTTO_QUERY_MAX_ACCESSED * (2 * SOTTO_STORE_MAX_NAME + 2) + 1];
    sotto_record_entry entry = {.at = now,
                                .kind = SOTTO_RECORD_SPENT,
                                .recipe = charge->recipe,
                                .analysis = charge->analysis,
                                .fields = fields,
                                .note = report->bytes.len ? "" : "no value: said nothing",
                                .round = charge->round,
                                .randomised = report->randomised,
                                .epsilon = charge->epsilon,
                                .delta = charge->delta,
                                .local = charge->local,
                                .bytes = report->bytes.len,
                                .asked = charge->asked};

    list_fields(fields, sizeof fields, charge);
    memcpy(entry.report, report->id, sizeof entry.report);
    return sotto_record_write(ledger, &entry, number, err);
}

/* Without a report, the charge is for silence. One without a destination leaves by another way than the outbox. */
sotto_status sotto_ledger_pay(sotto_ledger *ledger, const sotto_charge *charge,
                              const sotto_report *report, int64_t now, sotto_refusal *refusal,
                              sotto_err *err)
{
    static const sotto_report nothing;
    statement_of_charge accounts;
    int64_t number;

    SOTTO_TRY(sotto_consent_check(ledger, err));
    SOTTO_TRY(
        sotto_ledger_unanswered(ledger, charge->scope, charge->recipe, charge->analysis, err));
    const bool put = report && report->destination.len;
    if (put)
        SOTTO_TRY(sotto_outbox_check(ledger, report, err));
    SOTTO_TRY(check(ledger, &accounts, charge, now, refusal, err));
    SOTTO_TRY(write_accounts(ledger, &accounts, charge, now, err));
    SOTTO_TRY(write_spend(ledger, charge, report ? report : &nothing, now, &number, err));
    return put ? sotto_outbox_write(ledger, charge->recipe, report, number, now, err) : SOTTO_OK;
}

sotto_status sotto_ledger_spend(sotto_ledger *ledger, const sotto_charge *charge,
                                const sotto_report *report, int64_t now, sotto_refusal *refusal,
                                sotto_err *err)
{
    SOTTO_TRY(ready(ledger, charge, refusal, err));
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, sotto_ledger_pay(ledger, charge, report, now, refusal, err),
                            err);
}

sotto_status sotto_ledger_spend_on_silence(sotto_ledger *ledger, const sotto_charge *charge,
                                           int64_t now, sotto_refusal *refusal, sotto_err *err)
{
    return sotto_ledger_spend(ledger, charge, NULL, now, refusal, err);
}

/* ---- a new policy ----------------------------------------------------------------------------------------- */

/* What was spent under another period must not expire by the rules of this one, so it counts as spent now. Whether an account
 * still has the charge for a recipe of rounds is not known then: rows "rho paid", "rho recipe" and "rho whole" say so (rounds.c). */
static sotto_status carry_over(sotto_ledger *ledger, int64_t now, sotto_err *err)
{
    int64_t id = 0;
    bool row = true;

    while (row) {
        sqlite3_stmt *statement;
        sotto_status status =
            sotto_ledger_find(ledger, &statement, &row, err,
                              "SELECT id FROM accounts WHERE id>? ORDER BY id LIMIT 1", "i", id);

        id = status == SOTTO_OK && row ? sqlite3_column_int64(statement, 0) : id;
        sotto_ledger_release(ledger, statement);
        SOTTO_TRY(status);
        if (!row)
            break;
        SOTTO_TRY(sotto_ledger_fold(ledger, "accounts", id, err));
        SOTTO_TRY(sotto_ledger_run(ledger, err,
                                   "UPDATE accounts SET last=CASE WHEN name GLOB 'rho [prw]*' "
                                   "THEN -1 ELSE max(last,?) END WHERE id=?",
                                   "ii", now, id));
        SOTTO_TRY(sotto_ledger_fold(ledger, "accounts", id, err));
    }
    return SOTTO_OK;
}

static sotto_status change_period(sotto_ledger *ledger, uint64_t period, int64_t now,
                                  sotto_err *err)
{
    char note[96] = "budgets don't renew";
    const sotto_record_entry entry = {.at = now, .kind = SOTTO_RECORD_POLICY, .note = note};

    if (period)
        (void)snprintf(note, sizeof note, "budgets renew every %" PRIu64 " seconds", period);
    SOTTO_TRY(carry_over(ledger, now, err));
    ledger->meta.period = period;
    ledger->meta.lost_at = later(ledger->meta.lost_at, now);
    return sotto_record_write(ledger, &entry, NULL, err);
}

sotto_status sotto_ledger_adopt(sotto_ledger *ledger, const sotto_budget_table *table,
                                const sotto_recompute *recompute, int64_t now, sotto_err *err)
{
    SOTTO_TRY(sotto_budget_table_check(table, err));
    SOTTO_TRY(sotto_ledger_refresh(ledger, err));
    if (table->period != ledger->meta.period) {
        SOTTO_TRY(sotto_ledger_begin(ledger, err));
        SOTTO_TRY(sotto_ledger_end(ledger, change_period(ledger, table->period, now, err), err));
    }
    ledger->table = table;
    ledger->recompute = *recompute;
    return SOTTO_OK;
}

/* ---- looking ------------------------------------------------------------------------------------------------ */

static sotto_status look_up(sotto_ledger *ledger, sotto_spent *out, const char *name, int64_t now,
                            sotto_err *err)
{
    kept account = {0};

    SOTTO_TRY(sotto_ledger_refresh(ledger, err));
    SOTTO_TRY(read_account(ledger, &account, name, now, err));
    *out = account.spent;
    return SOTTO_OK;
}

sotto_status sotto_ledger_spent_by_analysis(sotto_ledger *ledger, sotto_spent *out,
                                            const char *analysis, int64_t now, sotto_err *err)
{
    char name[SOTTO_LEDGER_ACCOUNT];

    name_analysis(name, analysis);
    return look_up(ledger, out, name, now, err);
}

sotto_status sotto_ledger_spent_on_field(sotto_ledger *ledger, sotto_spent *out,
                                         const sotto_access *field, int64_t now, sotto_err *err)
{
    char name[SOTTO_LEDGER_ACCOUNT];

    name_field(name, field);
    return look_up(ledger, out, name, now, err);
}
