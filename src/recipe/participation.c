#include "recipe/participation.h"

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
        return 1;
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

/* Servers add up all reports of a slot. Theorems 3.2 and 4.3 of Balle et al. 2020 are about servers that use one report a slot
 * and put a dummy into empty ones. Theorem 4.1 adds up all of them, and needs everybody to check in. */
const char *sotto_participation_refused(const sotto_participation *p)
{
    if (SOTTO_RULE(theorem_for_servers) && p->type == SOTTO_CHECK_IN_SLIDING_WINDOW)
        return "no theorem covers sliding windows whose slots are added up whole";
    if (SOTTO_RULE(theorem_for_servers) && p->type == SOTTO_CHECK_IN_FIXED_WINDOW && p->rate < 1)
        return "no theorem covers check-ins below probability 1 whose slots are added up whole";
    return NULL;
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
