#include "recipe/price.h"

#include "base/rule.h"
#include "recipe/claim.h"
#include "recipe/participation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- ways --------------------------------------------------------------------------------------------- */

typedef struct kind {
    sotto_noise_source by;
    sotto_randomizer_kind randomizer;
} kind;

static size_t list_kinds(kind out[SOTTO_PRICE_WAYS], const sotto_recipe *recipe)
{
    const sotto_statistic statistic = recipe->statistic;
    static const sotto_randomizer_kind of_bins[] = {SOTTO_ONE_HOT_ASYMMETRIC,
                                                    SOTTO_ONE_HOT_SYMMETRIC, SOTTO_CHOICE_RESPONSE,
                                                    SOTTO_SUBSET_SELECTION};
    const bool bins =
        statistic == SOTTO_STATISTIC_HISTOGRAM || statistic == SOTTO_STATISTIC_QUANTILES;
    size_t count = 0;

    if (recipe->trust == SOTTO_TRUST_AERO) { /* nobody else adds noise to encrypted sums */
        out[count++] = (kind){.by = SOTTO_BY_COMMITTEE};
        return count;
    }
    for (size_t i = 0; bins && i < sizeof of_bins / sizeof of_bins[0]; i++)
        out[count++] = (kind){SOTTO_BY_CROWD, of_bins[i]};
    if (statistic == SOTTO_STATISTIC_COUNT)
        out[count++] = (kind){SOTTO_BY_CROWD, SOTTO_BINARY_RESPONSE};
    out[count++] = (kind){.by = SOTTO_BY_SHARES};
    out[count++] = (kind){.by = SOTTO_BY_SERVERS};
    return count;
}

/* ---- as lint has it ------------------------------------------------------------------------------------- */

/* The part of the schedule after which the cohort is filled, by halving. */
static sotto_status fill_days(double *out, const sotto_recipe *r, double devices, sotto_err *err)
{
    const sotto_participation *p = &r->participation;
    const double all = sotto_participation_sends(
                     p, sotto_participation_slots(p, r->opens, r->closes), r->dummies),
                 length = (double)(r->closes - r->opens) / 86400;
    double low = 0, high = 1, chance;

    if (p->type == SOTTO_DONATION) { /* a release is of one slot */
        *out = (double)p->length / 86400;
        return SOTTO_OK;
    }
    for (int i = 0; i < 20; i++) {
        const double part = (low + high) / 2;

        SOTTO_TRY(sotto_forecast_chance(&chance, (double)r->min_cohort, devices, all * part, err));
        *(chance >= SOTTO_PRICE_FILLED ? &high : &low) = part;
    }
    *out = high * length;
    return SOTTO_OK;
}

static void take_why(sotto_price_way *way, const sotto_mistakes *list)
{
    for (size_t i = 0; i < list->count && !way->why[0]; i++) {
        const sotto_mistake *m = &list->items[i];

        if (m->severity == SOTTO_MISTAKE)
            (void)snprintf(way->why, sizeof way->why, "%.60s: %.120s%s%.80s", m->path, m->what,
                           *m->accepted ? "; accepted: " : "", m->accepted);
    }
}

static bool is_of_machine(sotto_status status)
{
    return status == SOTTO_IO || status == SOTTO_NO_MEMORY || status == SOTTO_BUG ||
           status == SOTTO_AGAIN;
}

/* Reads and judges the text that a search ended with. */
static sotto_status judge(sotto_price_way *way, const sotto_price_question *q, sotto_arena *arena,
                          sotto_err *err)
{
    const sotto_decimal honest = q->policy ? q->policy->honest : SOTTO_HONEST_UNSAID;
    sotto_mistakes *list = sotto_arena_take(arena, sizeof *list);
    sotto_err why = {0};

    if (!list)
        return sotto_fail(err, SOTTO_NO_MEMORY, "price");
    sotto_status status = sotto_recipe_read(&way->recipe, way->text, arena, list, &why);
    if (status == SOTTO_OK)
        status = sotto_recipe_judge(&way->verdict, &way->claim, way->recipe, q->policy, q->streams,
                                    list, &why);
    if (is_of_machine(status))
        return sotto_fail(err, status, "%s", why.reason);
    way->allowed = status == SOTTO_OK;
    take_why(way, list);
    if (!way->allowed && !way->why[0])
        (void)snprintf(way->why, sizeof way->why, "%.200s", why.reason);
    way->found = way->recipe != NULL;
    if (!way->found)
        return SOTTO_OK;
    memset(list, 0, sizeof *list);
    SOTTO_TRY(sotto_recipe_forecast(&way->forecast, way->recipe, honest, list, err));
    way->fills = way->forecast.reach >= SOTTO_PRICE_FILLED;
    way->days = INFINITY;
    if (way->fills)
        SOTTO_TRY(fill_days(&way->days, way->recipe, way->forecast.devices, err));
    return sotto_recipe_accuracy(&way->accuracy, way->recipe,
                                 sotto_recipe_release_reports(way->recipe, &way->forecast),
                                 &q->options, err);
}

/* ---- the verdict ---------------------------------------------------------------------------------------- */

static double reached(const sotto_price_way *way, const sotto_price_question *q)
{
    return sotto_price_reached(q, &way->accuracy, way->forecast.devices);
}

/* "1.3%", "2500 devices", "0.05". */
static const char *reached_text(char out[48], const sotto_price_way *way,
                                const sotto_price_question *q, sotto_statistic statistic)
{
    const bool part = q->unit == SOTTO_UNIT_PART || statistic == SOTTO_STATISTIC_QUANTILES;

    (void)snprintf(out, 48, "%.4g%s", reached(way, q) * (part ? 100 : 1),
                   part                                                                ? "%"
                   : q->unit == SOTTO_UNIT_DEVICES && statistic != SOTTO_STATISTIC_SUM ? " devices"
                                                                                       : "");
    return out;
}

static void say_too_few(sotto_price_way *way, const sotto_price_search *s,
                        const sotto_price_question *q)
{
    const double tasks = (double)sotto_recipe_cohorts(&s->recipe);
    char text[48];

    way->needs_devices = true;
    if (way->found)
        (void)snprintf(way->why, sizeof way->why,
                       "needs at least %.0f devices; with %" PRIu64
                       ", all of them asked, it reaches %s",
                       (double)s->needed * tasks, q->population,
                       reached_text(text, way, q, s->recipe.statistic));
    else
        (void)snprintf(way->why, sizeof way->why,
                       "needs at least %.0f devices, and there are %" PRIu64,
                       (double)s->needed * tasks, q->population);
}

static void conclude(sotto_price_way *way, const sotto_price_search *s,
                     const sotto_price_question *q)
{
    const double most = floor(way->forecast.devices);
    char text[48];

    way->meets = way->found;
    if (SOTTO_RULE(price_within_policy) && !way->allowed)
        way->meets = false;
    if (SOTTO_RULE(price_fills_cohorts) && !way->fills)
        way->meets = false;
    if (SOTTO_RULE(price_reaches_goal) && q->goal != SOTTO_GOAL_NONE && way->found &&
        !(reached(way, q) <= q->wanted))
        way->meets = false;
    if (s->too_few) {
        way->why[0] = 0;
        say_too_few(way, s, q);
        return;
    }
    way->needs_devices = way->found && !way->fills;
    if (!way->meets && !way->why[0] && way->found && !way->fills)
        (void)snprintf(way->why, sizeof way->why,
                       "a cohort of %" PRIu64 " is not filled by %.0f devices; ask for a smaller "
                       "--cohort, or a larger --rate or --population",
                       way->recipe->min_cohort, most);
    else if (!way->meets && !way->why[0] && way->found)
        (void)snprintf(way->why, sizeof way->why,
                       "it reaches %s; choose a coarser goal, or a larger --epsilon or --cohort",
                       reached_text(text, way, q, s->recipe.statistic));
    if (way->meets)
        way->why[0] = 0;
}

static sotto_status price_one(sotto_price_way *way, const sotto_price_question *q,
                              const sotto_recipe *recipe, sotto_decimal local_most,
                              sotto_arena *arena, sotto_err *err)
{
    sotto_price_search s;

    sotto_price_begin(&s, q, recipe, way->by, way->randomizer, local_most);
    SOTTO_TRY(sotto_price_run(&s, err));
    memcpy(way->why, s.why, sizeof way->why);
    if (s.found) {
        SOTTO_TRY(sotto_price_write(&way->text, &way->fragment, recipe, &s.recipe, arena, err));
        SOTTO_TRY(judge(way, q, arena, err));
    }
    conclude(way, &s, q);
    return SOTTO_OK;
}

sotto_status sotto_price_ways(sotto_price_way ways[SOTTO_PRICE_WAYS], size_t *count,
                              const sotto_price_question *q, const sotto_recipe *recipe,
                              sotto_arena *arena, sotto_err *err)
{
    sotto_recipe_verdict *verdict = sotto_arena_take(arena, sizeof *verdict);
    sotto_recipe_claim claim;
    sotto_mistakes *list = sotto_arena_take(arena, sizeof *list);
    sotto_err why = {0};
    kind kinds[SOTTO_PRICE_WAYS];

    *count = 0;
    if (!verdict || !list)
        return sotto_fail(err, SOTTO_NO_MEMORY, "price");
    if (recipe->participation.type == SOTTO_IMPORTANCE)
        return sotto_fail(err, SOTTO_DENIED,
                          "participation: how many answer by importance depends on their values");
    /* For what the query reads; what else it says is about numbers that will change. */
    const sotto_status status =
        sotto_recipe_judge(verdict, &claim, recipe, q->policy, q->streams, list, &why);
    if (is_of_machine(status))
        return sotto_fail(err, status, "%s", why.reason);
    const sotto_decimal local_most = sotto_price_local_most(q->policy, verdict);
    *count = list_kinds(kinds, recipe);
    for (size_t i = 0; i < *count; i++) {
        ways[i] = (sotto_price_way){.by = kinds[i].by, .randomizer = kinds[i].randomizer};
        SOTTO_TRY(price_one(&ways[i], q, recipe, local_most, arena, err));
    }
    return SOTTO_OK;
}

/* ---- the best --------------------------------------------------------------------------------------------- */

/* Smaller is better. */
static double cost_of(const sotto_price_way *way, const sotto_price_question *q)
{
    if (q->find == SOTTO_PRICE_FIND_COHORT && way->meets)
        return (double)way->recipe->min_cohort;
    if (q->find == SOTTO_PRICE_FIND_EPSILON && way->meets)
        return sotto_decimal_up(way->recipe->epsilon);
    return q->goal == SOTTO_GOAL_NONE ? way->accuracy.half_width : reached(way, q);
}

const sotto_price_way *sotto_price_best(const sotto_price_way *ways, size_t count,
                                        const sotto_price_question *q, unsigned by)
{
    const sotto_price_way *best = NULL;

    for (size_t i = 0; i < count; i++) {
        const sotto_price_way *w = &ways[i];

        if (!w->found || !(by >> w->by & 1))
            continue;
        if (!best || w->meets > best->meets ||
            (w->meets == best->meets && cost_of(w, q) < cost_of(best, q)))
            best = w;
    }
    return best;
}

bool sotto_price_best_randomizer(sotto_best_randomizer *out, const sotto_recipe *recipe,
                                 const sotto_policy *policy, const sotto_recipe_verdict *verdict,
                                 double reports)
{
    const sotto_price_question q = {.find = SOTTO_PRICE_FIND_ACCURACY,
                                    .epsilon = recipe->epsilon,
                                    .delta = recipe->delta,
                                    .cohort = recipe->min_cohort,
                                    .population = recipe->population,
                                    .rate = recipe->participation.rate,
                                    .policy = policy};
    kind kinds[SOTTO_PRICE_WAYS];
    sotto_price_search s;
    sotto_accuracy a;

    *out = (sotto_best_randomizer){0};
    if (recipe->participation.type == SOTTO_IMPORTANCE)
        return false;
    const size_t count = list_kinds(kinds, recipe);
    for (size_t i = 0; i < count && kinds[i].by == SOTTO_BY_CROWD; i++) {
        sotto_price_begin(&s, &q, recipe, kinds[i].by, kinds[i].randomizer,
                          sotto_price_local_most(policy, verdict));
        if (sotto_price_run(&s, NULL) != SOTTO_OK || !s.found ||
            sotto_recipe_accuracy(&a, &s.recipe, reports, NULL, NULL) != SOTTO_OK)
            continue;
        if (!out->name || a.half_width < out->accuracy.half_width)
            *out = (sotto_best_randomizer){sotto_randomizer_name(kinds[i].randomizer),
                                           sotto_decimal_up(s.recipe.epsilon_local), a};
    }
    return out->name != NULL;
}
