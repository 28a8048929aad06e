#include "query/budget.h"

#include "account/cohort.h"
#include "base/rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ONE UINT64_C(1000000000000)
/* What SQLite's integers hold. */
#define MOST ((uint64_t)INT64_MAX)

/* The part that the policy states, or one half. */
static sotto_decimal honest_part(const sotto_budget_table *table)
{
    return table->honest.units ? table->honest : (sotto_decimal){ONE / 2};
}

static uint64_t honest_reports(const sotto_budget_table *table, uint64_t cohort)
{
    return sotto_honest_count(cohort, honest_part(table));
}

bool sotto_charge_counts(const sotto_charge *charge, size_t field)
{
    const sotto_access *at = &charge->fields[field];

    for (size_t i = 0; i < field; i++) {
        if (strcmp(charge->fields[i].stream, at->stream) == 0 &&
            strcmp(charge->fields[i].field, at->field) == 0)
            return false;
    }
    return at->sensitive;
}

/* The lines that apply; NULL where the policy has none. */
static const sotto_analysis_budget *analysis_line(const sotto_budget_table *table,
                                                  const char *analysis)
{
    for (size_t i = 0; i < table->analysis_count; i++) {
        if (strcmp(table->analyses[i].name, analysis) == 0)
            return &table->analyses[i];
    }
    return NULL;
}

static const sotto_field_budget *field_line(const sotto_budget_table *table,
                                            const sotto_access *field)
{
    for (size_t i = 0; i < table->field_count; i++) {
        if (strcmp(table->fields[i].stream, field->stream) == 0 &&
            strcmp(table->fields[i].field, field->field) == 0)
            return &table->fields[i];
    }
    return NULL;
}

/* ---- one account -------------------------------------------------------------------------------- */

typedef struct account {
    const char *what; /* "analysis", "field" */
    const char *name;
    sotto_budget_limit limit;
    const sotto_spent *spent;
} account;

static sotto_budget_limit limit_of(const sotto_budget_table *table, sotto_decimal epsilon,
                                   sotto_decimal delta, uint64_t reports)
{
    return (sotto_budget_limit){epsilon, delta, reports, table->composition, table->slack};
}

/* ---- words ---------------------------------------------------------------------------------------- */

static void say(sotto_refusal *r, const char *format, ...) SOTTO_PRINTF(2, 3);
static void say(sotto_refusal *r, const char *format, ...)
{
    size_t used = strlen(r->text);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(r->text + used, sizeof r->text - used, format, args);
    va_end(args);
}

static void name_refusal(sotto_refusal *r, int check, const char *what, const char *name)
{
    *r = (sotto_refusal){.check = check};
    (void)snprintf(r->subject, sizeof r->subject, "%s", name);
    say(r, "%s %.63s: ", what, name);
}

static sotto_status refuse(const sotto_refusal *r, sotto_refusal *out, sotto_err *err)
{
    if (out)
        *out = *r;
    return sotto_fail(err, SOTTO_DENIED, "%s", r->text);
}

typedef struct words {
    char spent[SOTTO_DECIMAL_TEXT], asked[SOTTO_DECIMAL_TEXT], allowed[SOTTO_DECIMAL_TEXT],
        fits[SOTTO_DECIMAL_TEXT];
} words;

static words in_words(sotto_decimal spent, sotto_decimal asked, sotto_decimal allowed,
                      sotto_decimal fits)
{
    words w = {.spent = ""};

    sotto_decimal_format(w.spent, spent);
    sotto_decimal_format(w.asked, asked);
    sotto_decimal_format(w.allowed, allowed);
    sotto_decimal_format(w.fits, fits);
    return w;
}

static void say_epsilon(sotto_refusal *r, const account *a, const sotto_budget_decision *d,
                        sotto_decimal asked)
{
    words w = in_words(a->spent->epsilon, asked, a->limit.epsilon, d->epsilon_fits);

    /* With a filter, the sum may be above the limit. */
    say(r,
        d->by_filter ? "epsilon: %s in all passed a filter for %s, "
                     : "epsilon: %s of %s is spent, ",
        w.spent, w.allowed);
    say(r, "this asks for %s; %s would still fit", w.asked, w.fits);
}

static void say_delta(sotto_refusal *r, const account *a, const sotto_budget_decision *d,
                      sotto_decimal asked)
{
    words w = in_words(a->spent->delta, asked, d->delta_limit, d->delta_fits);

    say(r, "delta: %s of %s is spent, this asks for %s; %s would still fit", w.spent, w.allowed,
        w.asked, w.fits);
}

/* Reports, epsilon and delta of one account: all that exceeds a limit is reported at once. */
static sotto_status check_account(const sotto_charge *charge, const account *a, int check,
                                  sotto_refusal *refusal, sotto_err *err)
{
    sotto_budget_decision d;
    sotto_refusal r;
    const char *between = "";

    name_refusal(&r, check, a->what, a->name);
    SOTTO_TRY(sotto_budget_decide(&d, &a->limit, a->spent, charge->epsilon, charge->delta, err));
    if (d.against & SOTTO_BUDGET_UNKNOWN) {
        say(&r,
            "the ledger was lost and reset, so this budget counts as fully spent; nothing fits");
        return refuse(&r, refusal, err);
    }
    size_t named = strlen(r.text);
    if (SOTTO_RULE(reports_counted) && (d.against & SOTTO_BUDGET_REPORTS)) {
        say(&r, "%llu of %llu reports are used", (unsigned long long)a->spent->reports,
            (unsigned long long)a->limit.reports);
        between = "; ";
    }
    if (SOTTO_RULE(epsilon_within_budget) && (d.against & SOTTO_BUDGET_EPSILON)) {
        say(&r, "%s", between);
        say_epsilon(&r, a, &d, charge->epsilon);
        between = "; ";
    }
    if (SOTTO_RULE(delta_within_budget) && (d.against & SOTTO_BUDGET_DELTA)) {
        say(&r, "%s", between);
        say_delta(&r, a, &d, charge->delta);
    }
    return strlen(r.text) > named ? refuse(&r, refusal, err) : SOTTO_OK;
}

/* ---- the three checks ----------------------------------------------------------------------------- */

static sotto_status check_analysis(const sotto_budget_table *table, const sotto_charge *charge,
                                   const sotto_spent *spent, sotto_refusal *refusal, sotto_err *err)
{
    const sotto_analysis_budget *budget = analysis_line(table, charge->analysis);
    sotto_refusal r;

    if (!budget) {
        name_refusal(&r, 1, "analysis", charge->analysis);
        say(&r, "the policy of this device has no budget for it");
        return refuse(&r, refusal, err);
    }
    const account a = {"analysis", budget->name,
                       limit_of(table, budget->epsilon, budget->delta, budget->reports), spent};
    return check_account(charge, &a, 1, refusal, err);
}

/* Who may add the noise, and whether a report may do without its own. */
static sotto_status check_source(const sotto_charge *charge, const sotto_field_budget *budget,
                                 sotto_refusal *r, sotto_refusal *refusal, sotto_err *err)
{
    if (SOTTO_RULE(source_allowed) && (budget->not_by >> charge->by & 1)) {
        say(r, "the policy does not allow noise by %s", charge->by_name);
        return refuse(r, refusal, err);
    }
    if (SOTTO_RULE(unprotected_allowed) && charge->unprotected && !budget->local_none) {
        say(r, "the policy insists on a local epsilon, and these reports have none");
        return refuse(r, refusal, err);
    }
    return SOTTO_OK;
}

static sotto_status check_field(const sotto_budget_table *table, const sotto_charge *charge,
                                const sotto_access *field, const sotto_spent *spent,
                                sotto_refusal *refusal, sotto_err *err)
{
    const sotto_field_budget *budget = field_line(table, field);
    char name[2 * SOTTO_STORE_MAX_NAME + 2];
    sotto_decimal local;
    sotto_refusal r;

    (void)snprintf(name, sizeof name, "%s.%s", field->stream, field->field);
    name_refusal(&r, 2, "field", name);
    if (!budget) {
        say(&r, "the policy of this device has no budget for it");
        return refuse(&r, refusal, err);
    }
    SOTTO_TRY(check_source(charge, budget, &r, refusal, err));
    bool fits =
        sotto_budget_local_fits(&local, charge->local, charge->local_adjacency, budget->local);
    if (SOTTO_RULE(local_within_cap) && !fits && !budget->local_none) {
        words w = in_words(local, local, budget->local, budget->local);

        say(&r, "one report may cost %s in the replacement model, this asks for %s; %s would fit",
            w.allowed, w.asked, w.fits);
        return refuse(&r, refusal, err);
    }
    const account a = {"field", name,
                       limit_of(table, budget->epsilon, budget->delta, budget->reports), spent};
    return check_account(charge, &a, 2, refusal, err);
}

typedef struct claim {
    const sotto_charge *charge;
    const sotto_recompute *recompute;
    double epsilon; /* found last */
} claim;

/* A cohort for which the accountant has no theorem does not protect: epsilon is then infinite. */
static sotto_status claim_holds(void *context, uint64_t honest, bool *holds, sotto_err *err)
{
    claim *c = context;
    sotto_err why = {0};
    double found = INFINITY;
    sotto_status status =
        honest ? c->recompute->run(c->recompute->context, c->charge, honest, &found, &why)
               : SOTTO_DENIED;

    if (status != SOTTO_OK && status != SOTTO_DENIED)
        return sotto_fail(err, status, "%s", why.reason);
    c->epsilon = status == SOTTO_OK ? found : INFINITY;
    *holds =
        c->epsilon >= 0 && c->epsilon <= sotto_decimal_down(c->charge->epsilon); /* NaN fails */
    return SOTTO_OK;
}

static sotto_status check_cohort(const sotto_budget_table *table, const sotto_charge *charge,
                                 const sotto_recompute *recompute, sotto_refusal *refusal,
                                 sotto_err *err)
{
    char claimed[SOTTO_DECIMAL_TEXT];
    claim found = {charge, recompute, INFINITY};
    uint64_t honest = honest_reports(table, charge->min_cohort), enough = 0;
    sotto_refusal r;
    bool holds;

    name_refusal(&r, 3, "recipe", charge->recipe);
    if (SOTTO_RULE(smallest_cohort) && charge->min_cohort < table->min_cohort) {
        say(&r, "a cohort of %llu; this device joins none below %llu",
            (unsigned long long)charge->min_cohort, (unsigned long long)table->min_cohort);
        return refuse(&r, refusal, err);
    }
    SOTTO_TRY(claim_holds(&found, honest, &holds, err));
    if (holds)
        return SOTTO_OK;
    double epsilon = found.epsilon;
    /* An accountant that gave up leaves 0: no cohort is named. */
    if (sotto_smallest_cohort(&enough, honest_part(table), claim_holds, &found, NULL) != SOTTO_OK)
        enough = 0;
    sotto_decimal_format(claimed, charge->epsilon);
    say(&r, "claims epsilon %s, but %llu honest of %llu reports give %.6g; ", claimed,
        (unsigned long long)honest, (unsigned long long)charge->min_cohort, epsilon);
    if (enough)
        say(&r, "a cohort of %llu would do", (unsigned long long)enough);
    else
        say(&r, "no cohort would do");
    return refuse(&r, refusal, err);
}

sotto_status sotto_budget_check(const sotto_budget_table *table, const sotto_charge *charge,
                                const sotto_spent *analysis, const sotto_spent *fields,
                                const sotto_recompute *recompute, sotto_refusal *refusal,
                                sotto_err *err)
{
    SOTTO_TRY(check_analysis(table, charge, analysis, refusal, err));
    for (size_t i = 0; i < charge->field_count; i++) {
        if (sotto_charge_counts(charge, i))
            SOTTO_TRY(check_field(table, charge, &charge->fields[i], &fields[i], refusal, err));
    }
    return check_cohort(table, charge, recompute, refusal, err);
}

/* ---- what makes sense ----------------------------------------------------------------------------- */

static bool name_fits(const char *name)
{
    return name && name[0] && strlen(name) <= SOTTO_BUDGET_MAX_NAME;
}

sotto_status sotto_charge_check(const sotto_charge *charge, sotto_err *err)
{
    if (!name_fits(charge->recipe) || !name_fits(charge->analysis))
        return sotto_fail(err, SOTTO_MALFORMED, "a name of 1 to %d bytes is wanted",
                          SOTTO_BUDGET_MAX_NAME);
    if (charge->field_count > SOTTO_QUERY_MAX_ACCESSED)
        return sotto_fail(err, SOTTO_MALFORMED, "recipe %.63s: %zu fields", charge->recipe,
                          charge->field_count);
    if ((charge->local.units == 0) != charge->unprotected || charge->epsilon.units == 0 ||
        charge->delta.units >= ONE)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "recipe %.63s: epsilon must be above 0, delta below 1", charge->recipe);
    if (SOTTO_RULE(replacement_only) && charge->adjacency != SOTTO_ADJACENCY_REPLACEMENT)
        return sotto_fail(err, SOTTO_DENIED, "recipe %.63s: budgets count in the replacement model",
                          charge->recipe);
    if (charge->local_adjacency != SOTTO_ADJACENCY_REPLACEMENT &&
        charge->local_adjacency != SOTTO_ADJACENCY_DELETION)
        return sotto_fail(err, SOTTO_DENIED, "recipe %.63s: unknown local adjacency",
                          charge->recipe);
    if (charge->min_cohort > SOTTO_BUDGET_MAX_COHORT ||
        (charge->population && charge->min_cohort > charge->population))
        return sotto_fail(err, SOTTO_MALFORMED, "recipe %.63s: a cohort larger than its population",
                          charge->recipe);
    return SOTTO_OK;
}

static sotto_status check_limits(const char *name, sotto_decimal epsilon, sotto_decimal delta,
                                 uint64_t reports, sotto_decimal slack, sotto_err *err)
{
    if (epsilon.units > MOST || reports > MOST)
        return sotto_fail(err, SOTTO_MALFORMED, "budget of %.63s: out of range", name);
    if (delta.units >= ONE)
        return sotto_fail(err, SOTTO_MALFORMED, "budget of %.63s: delta: accepted is below 1",
                          name);
    if (slack.units > delta.units)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "budget of %.63s: its delta is below the slack of composing", name);
    return SOTTO_OK;
}

static sotto_status check_field_lines(const sotto_budget_table *table, sotto_err *err)
{
    for (size_t i = 0; i < table->field_count; i++) {
        const sotto_field_budget *line = &table->fields[i];

        if (!line->stream || !line->field || strlen(line->stream) > SOTTO_STORE_MAX_NAME ||
            strlen(line->field) > SOTTO_STORE_MAX_NAME)
            return sotto_fail(err, SOTTO_MALFORMED, "budget of field %zu: not a valid name", i);
        SOTTO_TRY(check_limits(line->field, line->epsilon, line->delta, line->reports, table->slack,
                               err));
        for (size_t j = 0; j < i; j++) {
            if (strcmp(table->fields[j].stream, line->stream) == 0 &&
                strcmp(table->fields[j].field, line->field) == 0)
                return sotto_fail(err, SOTTO_MALFORMED, "budget of %s.%s: twice", line->stream,
                                  line->field);
        }
    }
    return SOTTO_OK;
}

sotto_status sotto_budget_table_check(const sotto_budget_table *table, sotto_err *err)
{
    if (table->composition < SOTTO_COMPOSITION_BASIC || table->composition > SOTTO_COMPOSITION_ZCDP)
        return sotto_fail(err, SOTTO_MALFORMED, "composition: accepted are basic, filter and zcdp");
    if (table->honest.units > ONE || (table->honest.units && table->honest.units < ONE / 1000000))
        return sotto_fail(err, SOTTO_MALFORMED, "honest part: accepted is from 0.000001 to 1");
    if (table->period > MOST)
        return sotto_fail(err, SOTTO_MALFORMED, "period: out of range");
    for (size_t i = 0; i < table->analysis_count; i++) {
        const sotto_analysis_budget *line = &table->analyses[i];

        if (!name_fits(line->name))
            return sotto_fail(err, SOTTO_MALFORMED, "budget of analysis %zu: not a valid name", i);
        SOTTO_TRY(
            check_limits(line->name, line->epsilon, line->delta, line->reports, table->slack, err));
        if (analysis_line(table, line->name) != line)
            return sotto_fail(err, SOTTO_MALFORMED, "budget of %.63s: twice", line->name);
    }
    return check_field_lines(table, err);
}
