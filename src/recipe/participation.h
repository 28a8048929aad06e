/* recipe/participation.h - the law by which devices take part, as devices draw it and as everybody else counts on it.
 *
 * Callers:  lint, claim, task and the device; the servers' rate check.
 * Memory:   plain values.
 *
 * Check-ins and donations have slots of time. They belong to the analysis: `start`, `slot` and their number are the same in
 * every recipe of it. So a device that draws once has drawn for all of them.
 */
#ifndef SOTTO_RECIPE_PARTICIPATION_H
#define SOTTO_RECIPE_PARTICIPATION_H

#include "recipe/model.h"

/* Slots from `first` to before `end`. */
typedef struct sotto_slot_range {
    uint64_t first, end;
} sotto_slot_range;

/* The slots that a span of time touches; without slots the one that stands for all of it. */
sotto_slot_range sotto_participation_slots(const sotto_participation *p, int64_t from, int64_t to);

/* The chance that a device takes part in one of these slots. Of importance sampling it is the mean over devices, of whom
 * default_share have the default value. */
double sotto_participation_chance(const sotto_participation *p, sotto_slot_range slots);
/* The chance that it sends a report in one of these slots. It takes part; or it takes part in no slot and sends a dummy,
 * at the rate `dummies` of the recipe. Every expected number of reports is computed by this. */
double sotto_participation_sends(const sotto_participation *p, sotto_slot_range slots,
                                 double dummies);

/* NULL, or why no theorem covers what servers make of such reports. */
const char *sotto_participation_refused(const sotto_participation *p);

/* NULL, or why no device answers this recipe, which samples by importance; NULL for all other recipes. */
const char *sotto_importance_refused(const sotto_recipe *recipe);
/* Importance sampling: what answering or not adds to the epsilon of a report, rounded up; 0 for all other recipes. */
double sotto_importance_extra(const sotto_participation *p);

/* Adds mistakes where a device that drew for another recipe of the analysis, or another version of this one, would refuse this:
 * for its slots, its rate or its dummies. */
void sotto_participation_lint(const sotto_recipe *recipe, const sotto_recipe *other,
                              sotto_mistakes *mistakes);

/* NULL, or the key in which two recipes of one analysis differ where they must not. */
const char *sotto_participation_differs(const sotto_participation *a, const sotto_participation *b);

#endif
