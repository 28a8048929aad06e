#include "device/ledger/rounds.h"

#include "base/hex.h"
#include "base/rule.h"
#include "device/ledger/ledger_internal.h"
#include "device/ledger/rounds_rows.h"
#include "device/ledger/session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- accounts of zCDP ------------------------------------------------------------------------------------------
 *
 * They are rows of the table of accounts, whose columns then mean:
 *   name      "rho recipe HASH PARTICIPATIONS NAME", "rho analysis NAME" or "rho field NAME"
 *   epsilon   the sum of rho
 *   delta     of a recipe: rho of all participations
 *   squares   of a recipe: the last round
 *   reports   updates
 *   last      when the last one was made; of a recipe: when its whole epsilon was last charged; -1: not known, since the period changed
 *
 * A row "rho paid HASH STREAM.FIELD" says when a field was last charged the whole epsilon of a recipe. A row "rho whole HASH NAME" says
 * when the analysis was, of a recipe whose session was charged before (session.h): its own row then says nothing of that.
 */

static void name_recipe(char out[SOTTO_RHO_NAME], const sotto_round_charge *round)
{
    char hex[2 * SOTTO_RHO_HASH + 1];

    sotto_hex_encode(hex, sotto_bytes_of(round->hash, SOTTO_RHO_HASH));
    (void)snprintf(out, SOTTO_RHO_NAME, "rho recipe %s %" PRIu64 " %.*s", hex,
                   round->participations, SOTTO_ROUND_RECIPE, round->recipe);
}

/* A sum that leaves the range of a database's integers stays at its end: it is shown, and decides nothing. */
static uint64_t add_up(uint64_t a, uint64_t b)
{
    const uint64_t most = (uint64_t)INT64_MAX;

    return a > most - (b < most ? b : most) ? most : a + b;
}

static sotto_status add_sum(sotto_ledger *ledger, const char *kind, const char *what, uint64_t rho,
                            int64_t now, sotto_err *err)
{
    char name[SOTTO_RHO_NAME];
    sotto_rho_row s;

    (void)snprintf(name, sizeof name, "rho %s %s", kind, what);
    SOTTO_TRY(sotto_rho_row_read(ledger, &s, name, err));
    s.rho = add_up(s.rho, rho);
    s.updates++;
    s.last = now > s.last ? now : s.last;
    return sotto_rho_row_write(ledger, &s, name, err);
}

/* ---- how often ------------------------------------------------------------------------------------------------- */

static sotto_status refuse(sotto_refusal *refusal, const sotto_round_charge *round, sotto_err *err,
                           const char *format, ...) SOTTO_PRINTF(4, 5);
static sotto_status refuse(sotto_refusal *refusal, const sotto_round_charge *round, sotto_err *err,
                           const char *format, ...)
{
    sotto_refusal r = {.check = SOTTO_CHECK_ROUNDS};
    va_list args;

    va_start(args, format);
    (void)vsnprintf(r.text, sizeof r.text, format, args);
    va_end(args);
    (void)snprintf(r.subject, sizeof r.subject, "%s", round->recipe);
    if (refusal)
        *refusal = r;
    return sotto_fail(err, SOTTO_DENIED, "recipe %.63s: %s", round->recipe, r.text);
}

static uint64_t last_round_of(const sotto_rho_row *recipe)
{
    return (uint64_t)recipe->squares;
}

/* The claim is for so many updates, so far apart. Rounds come in their order: an earlier one is as near as a later one. */
static sotto_status check_turns(const sotto_ledger *ledger, const sotto_rho_row *s,
                                const sotto_round_charge *round, sotto_refusal *refusal,
                                sotto_err *err)
{
    if (SOTTO_RULE(rounds_end_with_their_ledger) && ledger->meta.lost &&
        ledger->meta.lost_at >= round->opens)
        return refuse(refusal, round, err,
                      "The ledger was lost after this recipe opened: how often this device took "
                      "part is not known.");
    if (round->turnless)
        return SOTTO_OK;
    if (SOTTO_RULE(participations_bounded) && s->updates >= round->participations)
        return refuse(refusal, round, err,
                      "This device has taken part in %" PRIu64 " rounds, which are all that the "
                      "recipe gives it.",
                      s->updates);
    if (s->updates == 0)
        return SOTTO_OK;
    if (SOTTO_RULE(rounds_ascend) && round->round <= last_round_of(s))
        return refuse(refusal, round, err,
                      "This device has taken part in round %" PRIu64 ": no earlier one follows.",
                      last_round_of(s));
    if (SOTTO_RULE(rounds_apart) && round->round > last_round_of(s) &&
        round->round - last_round_of(s) < round->separation)
        return refuse(refusal, round, err,
                      "This device took part in round %" PRIu64 ": the recipe keeps %" PRIu64
                      " rounds between two updates of a device.",
                      last_round_of(s), round->separation);
    return SOTTO_OK;
}

/* ---- paying ---------------------------------------------------------------------------------------------------- */

/* One update as it is judged and paid for. */
typedef struct turn {
    const sotto_round_charge *round;
    const sotto_charge *whole; /* of all participations                                      */
    sotto_charge part;         /* what is asked of the accounts                              */
    bool paid;                 /* the whole was charged before, in this period               */
    bool after_session;        /* a session of it was charged, now or under an earlier policy */
    bool field_paid[SOTTO_QUERY_MAX_ACCESSED]; /* ... to this field                          */
    sotto_rho_row sums;
} turn;

/* What all participations cost was computed when the recipe was judged, for the policy's honest part. */
static sotto_status recompute(void *context, const sotto_charge *charge, uint64_t honest,
                              double *epsilon, sotto_err *err)
{
    const turn *t = context;

    (void)charge;
    if (honest < t->round->honest)
        return sotto_fail(err, SOTTO_DENIED, "fewer honest reports than were counted on");
    *epsilon = t->paid ? 0 : t->round->epsilon;
    return SOTTO_OK;
}

static void name_paid(char out[SOTTO_RHO_NAME], const turn *t, size_t field)
{
    char what[2 * SOTTO_STORE_MAX_NAME + 2];

    (void)snprintf(what, sizeof what, "%s.%s", t->whole->fields[field].stream,
                   t->whole->fields[field].field);
    sotto_rho_name(out, "paid", t->round->hash, what);
}

/* What a row says of a charge for all participations. After a change of the period it is not known (ledger_spend.c), so the charge is
 * made again. */
static bool is_charged(const sotto_ledger *ledger, const sotto_rho_row *row, int64_t now)
{
    if (SOTTO_RULE(rounds_charged_after_another_period) && row->last == -1)
        return false;
    return row->id && !sotto_ledger_is_over(ledger, row->last, now);
}

/* Whether the analysis was charged for all participations, in this period. A session that was charged is no such charge: it is of
 * another theorem, which the policy in force may not count on. */
static sotto_status whole_paid(sotto_ledger *ledger, turn *t, int64_t now, sotto_err *err)
{
    char name[SOTTO_RHO_NAME];
    sotto_rho_row whole;

    SOTTO_TRY(sotto_session_known(ledger, &t->after_session, t->round, err));
    t->paid = is_charged(ledger, &t->sums, now);
    if (!t->after_session)
        return SOTTO_OK;
    sotto_rho_name(name, "whole", t->round->hash, t->round->recipe);
    SOTTO_TRY(sotto_rho_row_read(ledger, &whole, name, err));
    t->paid = is_charged(ledger, &whole, now);
    return SOTTO_OK;
}

static sotto_status write_whole(sotto_ledger *ledger, const turn *t, int64_t now, sotto_err *err)
{
    char name[SOTTO_RHO_NAME];
    sotto_rho_row whole;

    if (t->paid || !t->after_session)
        return SOTTO_OK;
    sotto_rho_name(name, "whole", t->round->hash, t->round->recipe);
    SOTTO_TRY(sotto_rho_row_read(ledger, &whole, name, err));
    whole.last = now > whole.last ? now : whole.last;
    return sotto_rho_row_write(ledger, &whole, name, err);
}

/* What this update asks of the accounts: everything; or, where that was paid in this period, one more report and the smallest
 * amount, since a charge of nothing is none. That amount is given back first (settle), so that nothing is added. */
static sotto_status due(sotto_ledger *ledger, turn *t, int64_t now, sotto_err *err)
{
    char name[SOTTO_RHO_NAME];
    sotto_rho_row s;

    t->part = *t->whole;
    if (t->round->session)
        SOTTO_TRY(sotto_session_paid(ledger, &t->paid, t->whole, t->round, now, err));
    else
        SOTTO_TRY(whole_paid(ledger, t, now, err));
    if (!t->paid)
        return SOTTO_OK;
    t->part.epsilon.units = 1;
    t->part.delta.units = 0;
    for (size_t i = 0; i < t->whole->field_count; i++) {
        if (t->round->session) { /* all accounts were charged at once */
            t->field_paid[i] = true;
            continue;
        }
        name_paid(name, t, i);
        SOTTO_TRY(sotto_rho_row_read(ledger, &s, name, err));
        t->field_paid[i] = is_charged(ledger, &s, now);
    }
    return SOTTO_OK;
}

/* Makes room for the part in an account that paid for the whole. A field that did not, since another policy found it not
 * sensitive, gets all but the part. */
static sotto_status settle(sotto_spent *spent, const turn *t, bool paid, sotto_err *err)
{
    if (!paid) {
        SOTTO_TRY(sotto_spent_add(spent, t->whole->epsilon, t->whole->delta, err));
        spent->reports--;
    }
    if (spent->epsilon.units > 0)
        spent->epsilon.units -= t->part.epsilon.units;
    if (t->round->session && spent->reports > 0) /* all of them were counted with the session */
        spent->reports--;
    /* The part's square is too small to count; rounding up adds the step that is taken off here. */
    if (spent->squares > 0)
        spent->squares = nextafter(spent->squares, 0);
    return SOTTO_OK;
}

static sotto_status settle_account(sotto_ledger *ledger, const turn *t, const char *name, bool paid,
                                   int64_t now, sotto_err *err)
{
    sotto_spent spent = {0};
    sotto_rho_row s;

    SOTTO_TRY(sotto_rho_row_read(ledger, &s, name, err));
    if (s.id && !sotto_ledger_is_over(ledger, s.last, now))
        spent = (sotto_spent){
            .epsilon = {s.rho}, .delta = {s.allowed}, .squares = s.squares, .reports = s.updates};
    SOTTO_TRY(settle(&spent, t, paid, err));
    if (s.id)
        sotto_ledger_fold_digest(ledger, s.digest);
    return sotto_ledger_insert(ledger, "accounts", &s.id, err,
                               "INSERT OR REPLACE INTO accounts VALUES(?,?,?,?,?,?,?)", "tuudui",
                               name, spent.epsilon.units, spent.delta.units, spent.squares,
                               spent.reports, now > s.last ? now : s.last);
}

static sotto_status settle_accounts(sotto_ledger *ledger, const turn *t, int64_t now,
                                    sotto_err *err)
{
    char name[SOTTO_RHO_NAME];

    (void)snprintf(name, sizeof name, "analysis %s", t->whole->analysis);
    SOTTO_TRY(settle_account(ledger, t, name, true, now, err));
    for (size_t i = 0; i < t->whole->field_count; i++) {
        if (!sotto_charge_counts(t->whole, i))
            continue;
        (void)snprintf(name, sizeof name, "field %s.%s", t->whole->fields[i].stream,
                       t->whole->fields[i].field);
        SOTTO_TRY(settle_account(ledger, t, name, t->field_paid[i], now, err));
    }
    return SOTTO_OK;
}

/* A round within its turns, whether in a transaction or before one. */
static sotto_status check(sotto_ledger *ledger, turn *t, int64_t now, sotto_refusal *refusal,
                          sotto_err *err)
{
    char name[SOTTO_RHO_NAME];

    name_recipe(name, t->round);
    SOTTO_TRY(sotto_rho_row_read(ledger, &t->sums, name, err));
    SOTTO_TRY(check_turns(ledger, &t->sums, t->round, refusal, err));
    return due(ledger, t, now, err);
}

/* As sotto_ledger_check, with accounts as they are after settle_accounts. A round that was answered is no later one: check_turns. */
static sotto_status check_settled(sotto_ledger *ledger, const turn *t, int64_t now,
                                  sotto_refusal *refusal, sotto_err *err)
{
    sotto_spent analysis, fields[SOTTO_QUERY_MAX_ACCESSED] = {0};

    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    if (!ledger->table)
        return sotto_fail(err, SOTTO_DENIED, "no policy has given this device a budget");
    SOTTO_TRY(sotto_charge_check(&t->part, err));
    SOTTO_TRY(sotto_ledger_spent_by_analysis(ledger, &analysis, t->whole->analysis, now, err));
    SOTTO_TRY(settle(&analysis, t, true, err));
    for (size_t i = 0; i < t->whole->field_count; i++) {
        SOTTO_TRY(sotto_ledger_spent_on_field(ledger, &fields[i], &t->whole->fields[i], now, err));
        SOTTO_TRY(settle(&fields[i], t, t->field_paid[i], err));
    }
    return sotto_budget_check(ledger->table, &t->part, &analysis, fields, &ledger->recompute,
                              refusal, err);
}

static sotto_status check_all(sotto_ledger *ledger, turn *t, int64_t now, sotto_refusal *refusal,
                              sotto_err *err)
{
    const sotto_round_charge *round = t->round;

    if (strlen(round->recipe) > SOTTO_ROUND_RECIPE || round->rho.units == 0 ||
        round->rho.units > INT64_MAX / 1000000 || round->participations > 1000000 ||
        t->whole->field_count > SOTTO_QUERY_MAX_ACCESSED)
        return sotto_fail(err, SOTTO_MALFORMED, "recipe %.63s: no charge for a round",
                          round->recipe);
    SOTTO_TRY(sotto_ledger_refresh(ledger, err));
    SOTTO_TRY(check(ledger, t, now, refusal, err));
    if (round->session && !t->paid)
        return sotto_session_check(ledger, t->whole, round, now, refusal, err);
    return t->paid ? check_settled(ledger, t, now, refusal, err)
                   : sotto_ledger_check(ledger, &t->part, now, refusal, err);
}

/* Runs one of the steps with the third check that is a round's. */
typedef sotto_status step(sotto_ledger *ledger, turn *t, const sotto_report *report, int64_t now,
                          sotto_refusal *refusal, sotto_err *err);
static sotto_status with_rounds(step *run, sotto_ledger *ledger, const sotto_charge *charge,
                                const sotto_round_charge *round, const sotto_report *report,
                                int64_t now, sotto_refusal *refusal, sotto_err *err)
{
    const sotto_recompute kept = ledger->recompute;
    turn t = {.round = round, .whole = charge};

    if (refusal)
        *refusal = (sotto_refusal){0};
    ledger->recompute = (sotto_recompute){recompute, &t};
    const sotto_status status = run(ledger, &t, report, now, refusal, err);
    ledger->recompute = kept;
    return status;
}

static sotto_status look(sotto_ledger *ledger, turn *t, const sotto_report *report, int64_t now,
                         sotto_refusal *refusal, sotto_err *err)
{
    (void)report;
    return check_all(ledger, t, now, refusal, err);
}

sotto_status sotto_ledger_check_round(sotto_ledger *ledger, const sotto_charge *charge,
                                      const sotto_round_charge *round, int64_t now,
                                      sotto_refusal *refusal, sotto_err *err)
{
    return with_rounds(look, ledger, charge, round, NULL, now, refusal, err);
}

static sotto_status write_rho(sotto_ledger *ledger, const sotto_charge *charge,
                              const sotto_round_charge *round, int64_t now, sotto_err *err)
{
    char field[2 * SOTTO_STORE_MAX_NAME + 2];

    SOTTO_TRY(add_sum(ledger, "analysis", charge->analysis, round->rho.units, now, err));
    for (size_t i = 0; i < charge->field_count; i++) {
        if (!sotto_charge_counts(charge, i))
            continue;
        (void)snprintf(field, sizeof field, "%s.%s", charge->fields[i].stream,
                       charge->fields[i].field);
        SOTTO_TRY(add_sum(ledger, "field", field, round->rho.units, now, err));
    }
    return SOTTO_OK;
}

/* Fields that paid for the whole now. */
static sotto_status write_paid(sotto_ledger *ledger, const turn *t, int64_t now, sotto_err *err)
{
    char name[SOTTO_RHO_NAME];
    sotto_rho_row s;

    for (size_t i = 0; i < t->whole->field_count; i++) {
        if (t->round->session || !sotto_charge_counts(t->whole, i) || (t->paid && t->field_paid[i]))
            continue;
        name_paid(name, t, i);
        SOTTO_TRY(sotto_rho_row_read(ledger, &s, name, err));
        s.last = now > s.last ? now : s.last;
        SOTTO_TRY(sotto_rho_row_write(ledger, &s, name, err));
    }
    return SOTTO_OK;
}

static sotto_status pay(sotto_ledger *ledger, turn *t, const sotto_report *report, int64_t now,
                        sotto_refusal *refusal, sotto_err *err)
{
    const sotto_round_charge *round = t->round;
    char name[SOTTO_RHO_NAME];
    sotto_rho_row *s = &t->sums;

    SOTTO_TRY(check(ledger, t, now, refusal, err));
    if (round->session && !t->paid)
        return sotto_fail(err, SOTTO_BUG, "recipe %.63s: its session was not paid", round->recipe);
    if (t->paid)
        SOTTO_TRY(settle_accounts(ledger, t, now, err));
    SOTTO_TRY(sotto_ledger_pay(ledger, &t->part, report, now, refusal, err));
    s->rho = add_up(s->rho, round->rho.units);
    s->allowed = round->rho.units * round->participations;
    s->squares = (double)round->round;
    s->updates++;
    s->last = t->paid || now < s->last ? s->last : now;
    SOTTO_TRY(write_whole(ledger, t, now, err));
    name_recipe(name, round);
    SOTTO_TRY(sotto_rho_row_write(ledger, s, name, err));
    SOTTO_TRY(write_paid(ledger, t, now, err));
    return write_rho(ledger, t->whole, round, now, err);
}

/* Checked before the transaction, and in it again: another process may have spent in between. */
static sotto_status spend(sotto_ledger *ledger, turn *t, const sotto_report *report, int64_t now,
                          sotto_refusal *refusal, sotto_err *err)
{
    SOTTO_TRY(check_all(ledger, t, now, refusal, err));
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, pay(ledger, t, report, now, refusal, err), err);
}

sotto_status sotto_ledger_spend_round(sotto_ledger *ledger, const sotto_charge *charge,
                                      const sotto_round_charge *round, const sotto_report *report,
                                      int64_t now, sotto_refusal *refusal, sotto_err *err)
{
    return with_rounds(spend, ledger, charge, round, report, now, refusal, err);
}

/* ---- showing --------------------------------------------------------------------------------------------------- */

/* Of what its analysis was charged: session.c. */
static bool session_of(sotto_rho_line *out, sqlite3_stmt *row)
{
    if (strlen(out->name) < 2 * SOTTO_RHO_HASH + 2)
        return false;
    out->name += 2 * SOTTO_RHO_HASH + 1;
    out->rho = 0;
    out->epsilon = sotto_decimal_up((sotto_decimal){(uint64_t)sqlite3_column_int64(row, 1)});
    out->delta = sotto_decimal_up((sotto_decimal){(uint64_t)sqlite3_column_int64(row, 2)});
    return true;
}

/* The name without what stands before it; false: no account of zCDP. */
static bool line_of(sotto_rho_line *out, sqlite3_stmt *row)
{
    static const struct {
        const char *word;
        sotto_rho_account account;
    } kinds[] = {{"rho recipe ", SOTTO_RHO_RECIPE},
                 {"rho session ", SOTTO_RHO_SESSION},
                 {"rho analysis ", SOTTO_RHO_ANALYSIS},
                 {"rho field ", SOTTO_RHO_FIELD}};
    const char *name = sotto_ledger_text(row, 0);
    char *end = NULL;

    *out = (sotto_rho_line){0};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(name, kinds[i].word, strlen(kinds[i].word)) == 0) {
            out->account = kinds[i].account;
            out->name = name + strlen(kinds[i].word);
        }
    if (!out->name)
        return false;
    out->rho = sotto_decimal_up((sotto_decimal){(uint64_t)sqlite3_column_int64(row, 1)});
    out->participations = (uint64_t)sqlite3_column_int64(row, 4);
    if (out->account == SOTTO_RHO_SESSION)
        return session_of(out, row);
    if (out->account != SOTTO_RHO_RECIPE)
        return true;
    out->rho_allowed = sotto_decimal_up((sotto_decimal){(uint64_t)sqlite3_column_int64(row, 2)});
    out->last_round = (uint64_t)sqlite3_column_double(row, 3);
    if (strlen(out->name) < 2 * SOTTO_RHO_HASH + 4)
        return false;
    out->allowed = strtoull(out->name + 2 * SOTTO_RHO_HASH + 1, &end, 10);
    out->name = end + (*end == ' ');
    return true;
}

sotto_status sotto_ledger_rho(sotto_ledger *ledger, sotto_rho_line_fn *show, void *context,
                              sotto_err *err)
{
    sqlite3_stmt *statement = NULL;
    sotto_rho_line line;
    bool row;

    SOTTO_TRY(sotto_ledger_refresh(ledger, err));
    sotto_status status =
        sotto_ledger_find(ledger, &statement, &row, err,
                          "SELECT name, epsilon, delta, squares, reports FROM accounts"
                          " WHERE name>='rho ' AND name<'rho!' ORDER BY name<'rho recipe',"
                          " name>='rho field', id",
                          "");
    while (status == SOTTO_OK && row) {
        if (line_of(&line, statement))
            status = show(context, &line, err);
        if (status == SOTTO_OK)
            status = sotto_ledger_next(statement, &row, err);
    }
    sotto_ledger_release(ledger, statement);
    return status;
}
