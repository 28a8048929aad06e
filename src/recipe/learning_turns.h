/* recipe/learning_turns.h - how many reports each round of a session may expect: devices that took part stay away from later rounds.
 *
 * Callers:  lint of learning recipes; `sotto learn check`.
 * Memory:   in the arena.
 * Secrets:  none: all of it follows from the recipe.
 *
 * What sums are divided by is another number, sotto_learning_divisor: that of a round in which every device has its turn.
 */
#ifndef SOTTO_RECIPE_LEARNING_TURNS_H
#define SOTTO_RECIPE_LEARNING_TURNS_H

#include "recipe/learning_slots.h"

/* Rounds that are looked at, and steps that this may take: strangers write recipes, and a device judges them. */
enum { SOTTO_TURNS_ROUNDS = 1 << 16, SOTTO_TURNS_STEPS = 1 << 26 };

typedef struct sotto_turns {
    const double *reports; /* expected in each round, with the population that the recipe states */
    uint64_t rounds;       /* of the recipe's, the first ones; all of them but for limits */
} sotto_turns;

SOTTO_MUST_USE sotto_status sotto_learning_turns(sotto_turns *out, const sotto_learning *learning,
                                                 sotto_arena *arena, sotto_err *err);
/* Room for it. */
size_t sotto_learning_turns_room(const sotto_learning *learning);

#endif
