#include "recipe/participation.h"

#include "account/claims.h"
#include "base/rule.h"

#include <math.h>

static uint64_t slots_of(const sotto_participation *p)
{
    return p->slots ? p->slots : 1;
}

/* The first slot that ends after `time`. */
static uint64_t slot_at(const sotto_participation *p, int64_t time)
{
    uint64_t at = time > p->start ? (uint64_t)(time - p->start) / p->length : 0;

    return at < p->slots ? at : p->slots;
}

sotto_slot_range sotto_participation_slots(const sotto_participation *p, int64_t from, int64_t to)
{
    if (p->slots == 0 || p->length == 0)
        return (sotto_slot_range){0, 1};
    uint64_t first = slot_at(p, from), end = to > p->start ? slot_at(p, to - 1) + 1 : 0;

    end = end < p->slots ? end : p->slots;
    return (sotto_slot_range){first, end > first ? end : first};
}

/* The chance that a device tossed no head before this slot. */
static double tails_before(const sotto_participation *p, uint64_t slot)
{
    return exp((double)slot * log1p(-1 / (double)p->slots));
}

static double even_part(const sotto_participation *p, sotto_slot_range slots)
{
    return (double)(slots.end - slots.first) / (double)slots_of(p);
}

double sotto_participation_chance(const sotto_participation *p, sotto_slot_range slots)
{
    switch (p->type) {
    case SOTTO_DONATION:
        return p->rate * (tails_before(p, slots.first) - tails_before(p, slots.end));
    case SOTTO_IMPORTANCE:
        return (p->default_share * p->rate + (1 - p->default_share) * p->rate_other) *
               even_part(p, slots);
    default:
        return p->rate * even_part(p, slots);
    }
}

double sotto_participation_sends(const sotto_participation *p, sotto_slot_range slots,
                                 double dummies)
{
    const sotto_slot_range all = {0, slots_of(p)};
    const double silent = 1 - sotto_participation_chance(p, all);

    return fmin(1, sotto_participation_chance(p, slots) + dummies * silent * even_part(p, slots));
}

/* Servers add up all reports of a slot, but for rounds of learning (recipe/learning_slots.h). Theorems 3.2 and 4.3 of Balle et al. 2020 are about servers that use one report a slot
 * and put a dummy into empty ones. Theorem 4.1 adds up all of them, and needs everybody to check in. */
const char *sotto_participation_refused(const sotto_participation *p)
{
    if (p->of_rounds)
        return NULL;
    if (SOTTO_RULE(theorem_for_servers) && p->type == SOTTO_CHECK_IN_SLIDING_WINDOW)
        return "no theorem covers sliding windows whose slots are added up whole";
    if (SOTTO_RULE(theorem_for_servers) && p->type == SOTTO_CHECK_IN_FIXED_WINDOW && p->rate < 1)
        return "no theorem covers check-ins below probability 1 whose slots are added up whole";
    return NULL;
}

/* Whether a device answers depends on its value, so nobody may see who does. Its report must have a local epsilon of its own,
 * to which what silence tells is added. */
const char *sotto_importance_refused(const sotto_recipe *recipe)
{
    const sotto_anonymity *a = &recipe->anonymity;
    const sotto_participation *p = &recipe->participation;

    if (p->type != SOTTO_IMPORTANCE)
        return NULL;
    if (SOTTO_RULE(importance_hidden) && !(a->relay && a->tokens && a->log) && !a->assumed)
        return "whether a device answers would depend on its value, and be seen";
    if (SOTTO_RULE(importance_by_crowd) && recipe->by != SOTTO_BY_CROWD)
        return "importance sampling needs reports that devices randomise themselves";
    if (SOTTO_RULE(importance_of_counts) && recipe->statistic != SOTTO_STATISTIC_HISTOGRAM &&
        recipe->statistic != SOTTO_STATISTIC_COUNT)
        return "importance sampling is for histograms and counts, which its rates divide";
    if (SOTTO_RULE(importance_without_dummies) && recipe->dummies > 0)
        return "importance sampling has no dummies: they would be drawn before the value";
    if (SOTTO_RULE(importance_without_silence) && recipe->on_no_match == SOTTO_NO_MATCH_SILENCE)
        return "importance sampling draws about silence: on_no_match can't ask for it, too";
    if (SOTTO_RULE(importance_below_one) && p->rate_other >= 1)
        return "a rate_other of 1 makes silence tell that a value is the default";
    /* One more than SOTTO_NO_VALUE is 0. A count has one figure, of devices with a value: none of them is the default. */
    if (SOTTO_RULE(importance_of_a_bin) &&
        p->default_bin + 1 >
            (recipe->statistic == SOTTO_STATISTIC_COUNT ? 0 : recipe->encoding.bins))
        return "default is no bin of the recipe";
    return NULL;
}

/* Chances are rounded down to multiples of 2^-64, and are at least 10^-9: their logarithms move by less than 10^-10. */
double sotto_importance_extra(const sotto_participation *p)
{
    if (p->type != SOTTO_IMPORTANCE)
        return 0;
    return sotto_importance_price(p->rate, p->rate_other) + 2e-10;
}

const char *sotto_participation_differs(const sotto_participation *a, const sotto_participation *b)
{
    if (a->slots == 0 && b->slots == 0)
        return NULL; /* each recipe is drawn for */
    if (a->type != b->type)
        return "type";
    if (a->slots != b->slots)
        return a->type == SOTTO_DONATION ? "slots" : "window";
    if (a->start != b->start)
        return "start";
    if (a->length != b->length)
        return "slot";
    if (a->rate != b->rate)
        return a->type == SOTTO_DONATION ? "rate" : "probability";
    return NULL;
}
