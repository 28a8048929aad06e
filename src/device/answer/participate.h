/* device/answer/participate.h - whether and when a device answers: drawn in secret, before it looks at any event.
 *
 * Callers:  the device's judgement of a recipe.
 * Secrets:  what is drawn.
 *
 * Poisson draws once a recipe. Check-ins and donations draw once for the whole analysis, whose rounds are slots of
 * time: those of a check-in divide the recipe's schedule evenly (a sliding window begins when the device drew), those
 * of a donation follow each other from the moment of the draw. So an analysis that asks adaptively, by new versions
 * or new recipes over the same schedule, meets each device once, in a round that nobody can tell.
 */
#ifndef SOTTO_DEVICE_PARTICIPATE_H
#define SOTTO_DEVICE_PARTICIPATE_H

#include "device/ledger/ledger.h"
#include "noise/entropy.h"
#include "recipe/model.h"

sotto_decision_scope sotto_participation_scope(const sotto_participation *participation);

/* What sotto_participation_draw draws from: the context of a sotto_draw_fn. */
typedef struct sotto_lot {
    const sotto_recipe *recipe;
    sotto_entropy *entropy;
} sotto_lot;
SOTTO_MUST_USE sotto_status sotto_participation_draw(void *lot, sotto_decision *out,
                                                     sotto_err *err);

typedef enum sotto_turn { SOTTO_TURN_TO_COME = 1, SOTTO_TURN_NOW, SOTTO_TURN_MISSED } sotto_turn;

/* Whether the slot that was drawn is now. Without slots it always is. */
sotto_turn sotto_participation_turn(const sotto_recipe *recipe, const sotto_decision *decision,
                                    int64_t now);
/* Of the charge: 0 where each recipe is drawn for, else the slot, counted from 1. */
uint64_t sotto_participation_round(const sotto_recipe *recipe, const sotto_decision *decision);

#endif
