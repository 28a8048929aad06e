#include "device/ledger/session.h"

#include "base/rule.h"
#include "device/ledger/consent.h"
#include "device/ledger/rounds_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what is known of it -----------------------------------------------------------------------------------------
 *
 * Rows "rho session HASH NAME" of the analysis and "rho hidden HASH STREAM.FIELD" of a field. Their columns mean:
 *   epsilon, delta  what was charged last
 *   squares         when, by the clock at that time
 *   reports         how often
 *   last            the same time. A change of the period makes it later (ledger_spend.c): then it is not known whether the account still
 *                   has the charge, and it is charged again
 */

static void name_row(char out[SOTTO_RHO_NAME], const sotto_charge *charge,
                     const sotto_round_charge *round, size_t field)
{
    char what[2 * SOTTO_STORE_MAX_NAME + 2];

    if (field == charge->field_count) {
        sotto_rho_name(out, "session", round->hash, round->recipe);
        return;
    }
    (void)snprintf(what, sizeof what, "%s.%s", charge->fields[field].stream,
                   charge->fields[field].field);
    sotto_rho_name(out, "hidden", round->hash, what);
}

static bool is_paid(const sotto_ledger *ledger, const sotto_rho_row *row,
                    const sotto_charge *charge, int64_t now)
{
    return row->id && row->rho >= charge->epsilon.units && row->allowed >= charge->delta.units &&
           row->last <= (int64_t)row->squares && !sotto_ledger_is_over(ledger, row->last, now);
}

sotto_status sotto_session_known(sotto_ledger *ledger, bool *known, const sotto_round_charge *round,
                                 sotto_err *err)
{
    char name[SOTTO_RHO_NAME];
    sotto_rho_row row;

    sotto_rho_name(name, "session", round->hash, round->recipe);
    SOTTO_TRY(sotto_rho_row_read(ledger, &row, name, err));
    *known = row.id != 0;
    return SOTTO_OK;
}

/* A round's name is the recipe's and a #, and nothing else has one. */
static sotto_status was_drawn(sotto_ledger *ledger, bool *drawn, const sotto_round_charge *round,
                              sotto_err *err)
{
    char from[SOTTO_RHO_NAME], to[SOTTO_RHO_NAME];
    sqlite3_stmt *statement;

    (void)snprintf(from, sizeof from, "recipe %.*s#", SOTTO_ROUND_RECIPE, round->recipe);
    (void)snprintf(to, sizeof to, "recipe %.*s$", SOTTO_ROUND_RECIPE, round->recipe);
    const sotto_status status = sotto_ledger_find(
        ledger, &statement, drawn, err,
        "SELECT scope FROM decisions WHERE scope>=? AND scope<? LIMIT 1", "tt", from, to);
    sotto_ledger_release(ledger, statement);
    return status;
}

sotto_status sotto_session_may(sotto_ledger *ledger, bool *may, const sotto_round_charge *round,
                               sotto_err *err)
{
    char name[SOTTO_RHO_NAME];
    sotto_rho_row whole;
    bool known, drawn;

    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    SOTTO_TRY(sotto_session_known(ledger, &known, round, err));
    sotto_rho_name(name, "whole", round->hash, round->recipe);
    SOTTO_TRY(sotto_rho_row_read(ledger, &whole, name, err));
    SOTTO_TRY(was_drawn(ledger, &drawn, round, err));
    *may = known ? whole.id == 0 : !drawn;
    return SOTTO_OK;
}

/* ---- the accounts -------------------------------------------------------------------------------------------- */

/* All accounts that pay: fields that count, and behind them the analysis. */
static bool pays(const sotto_charge *charge, size_t field)
{
    return field == charge->field_count || sotto_charge_counts(charge, field);
}

sotto_status sotto_session_paid(sotto_ledger *ledger, bool *paid, const sotto_charge *charge,
                                const sotto_round_charge *round, int64_t now, sotto_err *err)
{
    char name[SOTTO_RHO_NAME];
    sotto_rho_row row;

    *paid = true;
    for (size_t i = 0; i <= charge->field_count && *paid; i++) {
        if (!pays(charge, i))
            continue;
        name_row(name, charge, round, i);
        SOTTO_TRY(sotto_rho_row_read(ledger, &row, name, err));
        *paid = is_paid(ledger, &row, charge, now);
    }
    return SOTTO_OK;
}

/* What is asked of an account is one report with the charge. Before it come the other reports, or, where all was paid, what was paid is
 * taken off. */
static void stand_before(sotto_spent *spent, const sotto_charge *charge,
                         const sotto_round_charge *round, bool paid)
{
    const double epsilon = sotto_decimal_down(charge->epsilon);

    if (!paid) {
        spent->reports += round->participations - 1;
        return;
    }
    spent->epsilon.units -=
        charge->epsilon.units < spent->epsilon.units ? charge->epsilon.units : spent->epsilon.units;
    spent->delta.units -=
        charge->delta.units < spent->delta.units ? charge->delta.units : spent->delta.units;
    spent->squares = fmax(0, nextafter(spent->squares - epsilon * epsilon, 0));
    spent->reports -= spent->reports > 0;
}

static sotto_status look_at(sotto_ledger *ledger, sotto_rho_row *account, sotto_rho_row *row,
                            const sotto_charge *charge, const sotto_round_charge *round,
                            size_t field, sotto_err *err)
{
    char name[SOTTO_RHO_NAME];

    name_row(name, charge, round, field);
    SOTTO_TRY(sotto_rho_row_read(ledger, row, name, err));
    sotto_rho_account_name(name, charge, field);
    return sotto_rho_row_read(ledger, account, name, err);
}

/* The epsilon of the session was computed when the recipe was judged, for the policy's honest part. */
static sotto_status recompute(void *context, const sotto_charge *charge, uint64_t honest,
                              double *epsilon, sotto_err *err)
{
    const sotto_round_charge *round = context;

    (void)charge;
    if (honest < round->honest)
        return sotto_fail(err, SOTTO_DENIED, "fewer honest reports than were counted on");
    *epsilon = round->epsilon;
    return SOTTO_OK;
}

static sotto_status check(sotto_ledger *ledger, const sotto_charge *charge,
                          const sotto_round_charge *round, int64_t now, sotto_refusal *refusal,
                          sotto_err *err)
{
    sotto_round_charge counted = *round;
    const sotto_recompute again = {recompute, &counted};
    sotto_spent spent[SOTTO_QUERY_MAX_ACCESSED + 1] = {0};
    sotto_rho_row account, row;

    for (size_t i = 0; i <= charge->field_count; i++) {
        if (!pays(charge, i))
            continue;
        SOTTO_TRY(look_at(ledger, &account, &row, charge, round, i, err));
        spent[i] = sotto_rho_row_spent(ledger, &account, now);
        stand_before(&spent[i], charge, round, is_paid(ledger, &row, charge, now));
    }
    return sotto_budget_check(ledger->table, charge, &spent[charge->field_count], spent, &again,
                              refusal, err);
}

static sotto_status ready(sotto_ledger *ledger, const sotto_charge *charge,
                          const sotto_round_charge *round, sotto_refusal *refusal, sotto_err *err)
{
    if (refusal)
        *refusal = (sotto_refusal){0};
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    if (!ledger->table)
        return sotto_fail(err, SOTTO_DENIED, "no policy has given this device a budget");
    if (!round->session || round->participations == 0 || round->participations > 1000000 ||
        strlen(round->recipe) > SOTTO_ROUND_RECIPE ||
        charge->field_count > SOTTO_QUERY_MAX_ACCESSED)
        return sotto_fail(err, SOTTO_MALFORMED, "recipe %.63s: no charge for a session",
                          round->recipe);
    SOTTO_TRY(sotto_charge_check(charge, err));
    return sotto_ledger_refresh(ledger, err);
}

sotto_status sotto_session_check(sotto_ledger *ledger, const sotto_charge *charge,
                                 const sotto_round_charge *round, int64_t now,
                                 sotto_refusal *refusal, sotto_err *err)
{
    SOTTO_TRY(ready(ledger, charge, round, refusal, err));
    return check(ledger, charge, round, now, refusal, err);
}

/* ---- paying ---------------------------------------------------------------------------------------------------- */

static sotto_status charge_account(sotto_ledger *ledger, const sotto_charge *charge,
                                   const sotto_round_charge *round, size_t field, int64_t now,
                                   bool *charged, sotto_err *err)
{
    char name[SOTTO_RHO_NAME];
    sotto_rho_row account, row;

    SOTTO_TRY(look_at(ledger, &account, &row, charge, round, field, err));
    if (is_paid(ledger, &row, charge, now))
        return SOTTO_OK;
    *charged = true;
    sotto_spent spent = sotto_rho_row_spent(ledger, &account, now);
    SOTTO_TRY(sotto_spent_add(&spent, charge->epsilon, charge->delta, err));
    account.rho = spent.epsilon.units;
    account.allowed = spent.delta.units;
    account.squares = spent.squares;
    account.updates = spent.reports + round->participations - 1;
    account.last = now > account.last ? now : account.last;
    sotto_rho_account_name(name, charge, field);
    SOTTO_TRY(sotto_rho_row_write(ledger, &account, name, err));
    row.rho = charge->epsilon.units;
    row.allowed = charge->delta.units;
    row.updates++;
    row.last = account.last;
    row.squares = (double)row.last;
    name_row(name, charge, round, field);
    return sotto_rho_row_write(ledger, &row, name, err);
}

static sotto_status write_record(sotto_ledger *ledger, const sotto_charge *charge,
                                 const sotto_round_charge *round, int64_t now, sotto_err *err)
{
    char note[SOTTO_RECORD_NOTE], epsilon[SOTTO_DECIMAL_TEXT];
    const sotto_record_entry entry = {.at = now,
                                      .kind = SOTTO_RECORD_SESSION,
                                      .recipe = round->recipe,
                                      .analysis = charge->analysis,
                                      .note = note,
                                      .round = round->round,
                                      .epsilon = charge->epsilon,
                                      .delta = charge->delta,
                                      .asked = charge->asked};

    sotto_decimal_format(epsilon, charge->epsilon);
    (void)snprintf(note, sizeof note, "all its rounds, before a coin: epsilon %s", epsilon);
    return sotto_record_write(ledger, &entry, NULL, err);
}

static sotto_status pay(sotto_ledger *ledger, const sotto_charge *charge,
                        const sotto_round_charge *round, int64_t now, sotto_refusal *refusal,
                        sotto_err *err)
{
    bool charged = false;

    SOTTO_TRY(sotto_consent_check(ledger, err));
    SOTTO_TRY(check(ledger, charge, round, now, refusal, err));
    for (size_t i = 0; i <= charge->field_count; i++)
        if (pays(charge, i))
            SOTTO_TRY(charge_account(ledger, charge, round, i, now, &charged, err));
    return charged ? write_record(ledger, charge, round, now, err) : SOTTO_OK;
}

/* Checked again in the transaction: another process may have spent in between, or paid. */
sotto_status sotto_session_spend(sotto_ledger *ledger, const sotto_charge *charge,
                                 const sotto_round_charge *round, int64_t now,
                                 sotto_refusal *refusal, sotto_err *err)
{
    bool paid;

    SOTTO_TRY(ready(ledger, charge, round, refusal, err));
    SOTTO_TRY(check(ledger, charge, round, now, refusal, err));
    SOTTO_TRY(sotto_session_paid(ledger, &paid, charge, round, now, err));
    if (paid)
        return SOTTO_OK;
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, pay(ledger, charge, round, now, refusal, err), err);
}
