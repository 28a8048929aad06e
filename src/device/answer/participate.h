/* device/answer/participate.h - whether and when a device answers: drawn in secret, before it looks at any event, but for importance sampling.
 *
 * Callers:  the device's judgement of a recipe.
 * Secrets:  what is drawn.
 *
 * Poisson draws once a recipe. Check-ins and donations draw once for the whole analysis, whose slots every recipe of it
 * states alike; they are kept with the draw, which holds for no others. So an analysis that asks adaptively, by new
 * versions or new recipes, meets each device at most once, in a slot that nobody can predict. A device whose slot has
 * passed does not answer at all.
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
    int64_t now;
} sotto_lot;
SOTTO_MUST_USE sotto_status sotto_participation_draw(void *lot, sotto_decision *out,
                                                     sotto_err *err);

/* Importance sampling draws after the value: whether a device with this bin stays silent. Both are spends alike. */
SOTTO_MUST_USE sotto_status sotto_participation_weigh(bool *silent, const sotto_participation *p,
                                                      uint64_t bin, sotto_entropy *entropy,
                                                      sotto_err *err);

typedef enum sotto_turn { SOTTO_TURN_TO_COME = 1, SOTTO_TURN_NOW, SOTTO_TURN_MISSED } sotto_turn;

/* Whether a draw, of a recipe or for the whole analysis, was one for these slots, by this law and at this rate. */
bool sotto_participation_drawn_for(const sotto_participation *p, const sotto_window *window);
/* Whether the slot that was drawn is now. Without slots it always is. */
sotto_turn sotto_participation_turn(const sotto_decision *decision, int64_t now);
/* Of the charge: 0 where each recipe is drawn for, else the slot, counted from 1. */
uint64_t sotto_participation_round(const sotto_recipe *recipe, const sotto_decision *decision);

#endif
