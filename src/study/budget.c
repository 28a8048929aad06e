#include "study/budget.h"

#include "account/budget_decision.h"
#include "base/arena.h"
#include "base/rule.h"
#include "recipe/judge.h"

#include <stdio.h>
#include <string.h>

/* Which limit it is, what is left of it, and what is asked for. */
static sotto_status refuse(const sotto_budget_decision *d, const sotto_budget_limit *limit,
                           const sotto_spent *spent, const char *name, const sotto_recipe *next,
                           sotto_err *err)
{
    const bool epsilon = d->against & SOTTO_BUDGET_EPSILON;
    char allowed[SOTTO_DECIMAL_TEXT], left[SOTTO_DECIMAL_TEXT], asked[SOTTO_DECIMAL_TEXT];

    if (d->against & SOTTO_BUDGET_REPORTS)
        return sotto_fail(err, SOTTO_DENIED, "%.50s allows %llu reports, and %llu steps took them",
                          name, (unsigned long long)limit->reports,
                          (unsigned long long)spent->reports);
    sotto_decimal_format(allowed, epsilon ? limit->epsilon : d->delta_limit);
    sotto_decimal_format(left, epsilon ? d->epsilon_fits : d->delta_fits);
    sotto_decimal_format(asked, epsilon ? next->epsilon : next->delta);
    return sotto_fail(
        err, SOTTO_DENIED,
        "%.50s allows %s %s: after %llu steps %s would fit, and the next one asks for "
        "%s",
        name, epsilon ? "epsilon" : "delta", allowed, (unsigned long long)spent->reports, left,
        asked);
}

static sotto_status fits(const sotto_budget_limit *limit, const char *name,
                         const sotto_recipe *const *before, size_t count, const sotto_recipe *next,
                         sotto_err *err)
{
    sotto_budget_decision decision;
    sotto_spent spent = {0};

    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(sotto_spent_add(&spent, before[i]->epsilon, before[i]->delta, err));
    SOTTO_TRY(sotto_budget_decide(&decision, limit, &spent, next->epsilon, next->delta, err));
    if (SOTTO_RULE(study_one_budget) && decision.against)
        return refuse(&decision, limit, &spent, name, next, err);
    return SOTTO_OK;
}

/* ---- who pays ------------------------------------------------------------------------------------------------------- */

/* Steps that one budget pays for. */
typedef struct paid {
    const sotto_recipe **steps;
    size_t count;
} paid;

typedef struct reading {
    sotto_query_finding finding;
    sotto_mistakes mistakes; /* of a query that was asked: nobody reads them */
} reading;

static bool has(const sotto_query_finding *finding, const sotto_policy_field *f)
{
    for (size_t i = 0; i < finding->accessed_count; i++)
        if (strcmp(finding->accessed[i].stream, f->stream) == 0 &&
            strcmp(finding->accessed[i].field, f->field) == 0)
            return true;
    return false;
}

/* A query that can't be read any more may have read everything. */
static bool reads(const sotto_recipe *step, const sotto_policy *policy, const sotto_policy_field *f,
                  reading *memory)
{
    *memory = (reading){0};
    return sotto_recipe_judge_query(&memory->finding, step, policy, NULL, &memory->mistakes,
                                    NULL) != SOTTO_OK ||
           memory->mistakes.errors > 0 || memory->finding.open || has(&memory->finding, f);
}

static void of_analysis(paid *out, const sotto_recipe *const *before, size_t count,
                        const char *analysis)
{
    out->count = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(before[i]->analysis, analysis) == 0)
            out->steps[out->count++] = before[i];
}

static void of_field(paid *out, const sotto_recipe *const *before, size_t count,
                     const sotto_policy *policy, const sotto_policy_field *f, reading *memory)
{
    out->count = 0;
    for (size_t i = 0; i < count; i++)
        if (reads(before[i], policy, f, memory))
            out->steps[out->count++] = before[i];
}

sotto_status sotto_study_afford(const sotto_policy *policy, const sotto_recipe_verdict *verdict,
                                const sotto_recipe *const *before, size_t count,
                                const sotto_recipe *next, sotto_arena *arena, sotto_err *err)
{
    const sotto_policy_analysis *a = sotto_policy_find(policy, next->analysis);
    paid own = {.steps = sotto_arena_take_array(arena, count + 1, sizeof(void *))};
    reading *memory = sotto_arena_take(arena, sizeof *memory);
    char name[SOTTO_VERDICT_NAME];

    if (!own.steps || !memory)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%zu steps", count);
    if (a) {
        const sotto_budget_limit limit = {
            a->epsilon, a->delta, a->reports, policy->composition, {0}};

        of_analysis(&own, before, count, a->name);
        SOTTO_TRY(fits(&limit, a->name, own.steps, own.count, next, err));
    }
    for (size_t i = 0; i < verdict->read_count; i++)
        for (size_t j = 0; j < policy->field_count; j++) {
            const sotto_policy_field *f = &policy->fields[j];
            const sotto_budget_limit limit = {
                f->epsilon, f->delta, f->reports, policy->composition, {0}};

            (void)snprintf(name, sizeof name, "%s.%s", f->stream, f->field);
            if (strcmp(name, verdict->reads[i]) != 0)
                continue;
            of_field(&own, before, count, policy, f, memory);
            SOTTO_TRY(fits(&limit, name, own.steps, own.count, next, err));
        }
    return SOTTO_OK;
}
