/* From the plain form of files to the tables of query's verifier and the device's ledger: names are the same, nothing is decided here. */
#include "recipe/policy_tables.h"

#include "base/rule.h"
#include "recipe/claim.h"
#include "recipe/participation.h"
#include "recipe/statistic.h"

#include <math.h>

static sotto_status no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "policy: no memory for its tables");
}

sotto_status sotto_policy_budgets(sotto_budget_table *out, const sotto_policy *policy,
                                  sotto_arena *arena, sotto_err *err)
{
    sotto_analysis_budget *analyses =
        sotto_arena_take_array(arena, policy->analysis_count + 1, sizeof *analyses);
    sotto_field_budget *fields =
        sotto_arena_take_array(arena, policy->field_count + 1, sizeof *fields);

    if (!analyses || !fields)
        return no_memory(err);
    for (size_t i = 0; i < policy->analysis_count; i++) {
        const sotto_policy_analysis *a = &policy->analyses[i];

        analyses[i] = (sotto_analysis_budget){a->name, a->epsilon, a->delta, a->reports};
    }
    for (size_t i = 0; i < policy->field_count; i++) {
        const sotto_policy_field *f = &policy->fields[i];

        fields[i] = (sotto_field_budget){
            .stream = f->stream,
            .field = f->field,
            .not_by = ~f->by,
            .local_none = f->local_none,
            .local = f->epsilon_local,
            .epsilon = f->epsilon,
            .delta = f->delta,
            .reports = f->reports,
        };
    }
    *out = (sotto_budget_table){
        .analyses = analyses,
        .analysis_count = policy->analysis_count,
        .fields = fields,
        .field_count = policy->field_count,
        .composition = policy->composition,
        .period = policy->period_days * 86400,
        .honest = policy->honest,
        .min_cohort = policy->min_cohort,
    };
    return SOTTO_OK;
}

/* Names of fields in streams; the device's own are not for queries. */
static const sotto_field_name *copy_names(const sotto_policy_name *names, size_t count,
                                          size_t *kept, sotto_arena *arena)
{
    sotto_field_name *copy = sotto_arena_take_array(arena, count + 1, sizeof *copy);

    *kept = 0;
    for (size_t i = 0; copy && i < count; i++)
        if (*names[i].stream)
            copy[(*kept)++] = (sotto_field_name){names[i].stream, names[i].field};
    return copy;
}

sotto_status sotto_policy_query_class(sotto_query_policy *out, const sotto_policy *policy,
                                      const char *analysis, sotto_arena *arena, sotto_err *err)
{
    const sotto_policy_analysis *a = sotto_policy_find(policy, analysis);

    *out = (sotto_query_policy){0};
    if (!a)
        return sotto_fail(err, SOTTO_DENIED, "the policy knows no analysis \"%.100s\"", analysis);
    if (a->query_count > 0) {
        out->queries = a->queries;
        out->query_count = a->query_count;
    } else {
        out->fields = copy_names(a->fields, a->field_count, &out->field_count, arena);
        if (!out->fields)
            return no_memory(err);
    }
    out->non_sensitive =
        copy_names(a->non_sensitive, a->non_sensitive_count, &out->non_sensitive_count, arena);
    return out->non_sensitive ? SOTTO_OK : no_memory(err);
}

sotto_status sotto_recipe_mechanism_init(sotto_recipe_mechanism *out, const sotto_recipe *recipe,
                                         sotto_err *err)
{
    *out = (sotto_recipe_mechanism){.recipe = recipe};
    return sotto_recipe_content(&out->content, recipe, err);
}

/* What a report, or that there is none, tells of a value by itself. */
static sotto_decimal local_of(const sotto_recipe_mechanism *m)
{
    const double extra = sotto_importance_extra(&m->recipe->participation);
    sotto_decimal out = m->recipe->epsilon_local;

    if (SOTTO_RULE(silence_costs_its_price) && extra > 0) {
        const double sum = (sotto_randomizer_replacement_epsilon(&m->content.randomizer) + extra) /
                           SOTTO_DECIMAL_UNIT;

        out.units = sum < 0x1p63 ? (uint64_t)ceil(sum) + 1 : UINT64_MAX;
    }
    return out;
}

sotto_charge sotto_recipe_charge(const sotto_recipe_mechanism *mechanism, uint64_t round,
                                 const sotto_access *fields, size_t field_count)
{
    const sotto_recipe *recipe = mechanism->recipe;

    return (sotto_charge){
        .recipe = recipe->name,
        .analysis = recipe->analysis,
        .round = round,
        .fields = fields,
        .field_count = field_count,
        .by = recipe->by,
        .by_name = sotto_noise_source_name(recipe->by),
        .unprotected = recipe->by != SOTTO_BY_CROWD,
        .local = local_of(mechanism),
        .local_adjacency = recipe->adjacency,
        .epsilon = recipe->epsilon,
        .delta = recipe->delta,
        .adjacency = recipe->adjacency,
        .min_cohort = recipe->min_cohort,
        .population = recipe->population,
        .mechanism = mechanism,
    };
}

sotto_status sotto_recipe_recompute(void *context, const sotto_charge *charge, uint64_t honest,
                                    double *epsilon, sotto_err *err)
{
    const sotto_recipe_mechanism *m = charge->mechanism;
    const char *theorem;

    (void)context;
    if (honest != 0 && honest == m->known.honest) {
        *epsilon = m->known.epsilon;
        return SOTTO_OK;
    }
    return sotto_recipe_cohort_epsilon(epsilon, &theorem, m->recipe, &m->content, honest,
                                       sotto_recipe_log_delta(m->recipe), err);
}

sotto_status sotto_recipe_affordable(const sotto_recipe *recipe, const sotto_budget_table *table,
                                     sotto_known_epsilon known, const sotto_access *fields,
                                     size_t field_count, sotto_refusal *refusal, sotto_err *err)
{
    static sotto_spent nothing
        [SOTTO_QUERY_MAX_ACCESSED]; /* never written; constant, it would take room in the file */
    static const sotto_recompute recompute = {sotto_recipe_recompute, NULL};
    sotto_recipe_mechanism mechanism;

    *refusal = (sotto_refusal){0};
    SOTTO_TRY(sotto_recipe_mechanism_init(&mechanism, recipe, err));
    mechanism.known = known;
    const sotto_charge charge = sotto_recipe_charge(&mechanism, 0, fields, field_count);
    SOTTO_TRY(sotto_charge_check(&charge, err));
    return sotto_budget_check(table, &charge, &nothing[0], nothing, &recompute, refusal, err);
}
