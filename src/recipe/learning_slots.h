/* recipe/learning_slots.h - check-ins in learning recipes: a device takes part once in a session, in a round that it draws in secret.
 *
 * Callers:  the reader, lint and explanation of learning recipes; leader and helper; devices with rounds; `sotto learn run`.
 * Memory:   plain values.
 * Secrets:  none here; what a device draws is its secret (device/answer/participate.h).
 *
 *     policy              participation                  what a round adds up
 *     all                 check-in averaged, donation    every report of the round
 *     one-of              check-in fixed                 one report of each slot, or none; a slot is a bucket of time within a round
 *     all-after-warm-up   check-in sliding               every report; the first rounds are not released
 *
 * Where a device draws its round, the number of reports of a round is not released: with it, whoever knows when all others came would
 * know when this one did. Servers divide no round and release none before its end. docs/decisions/0213 has the reasons.
 */
#ifndef SOTTO_RECIPE_LEARNING_SLOTS_H
#define SOTTO_RECIPE_LEARNING_SLOTS_H

#include "recipe/learning.h"
#include "recipe/read.h"

typedef enum sotto_round_policy {
    SOTTO_ROUND_DRAWN_ANEW = 0, /* by Poisson sampling: each round is drawn for by itself */
    SOTTO_ROUND_ALL,
    SOTTO_ROUND_ONE_OF,
    SOTTO_ROUND_ALL_AFTER_WARM_UP
} sotto_round_policy;

/* learning: NULL is a recipe of statistics, which has none of these policies. */
sotto_round_policy sotto_learning_policy(const sotto_learning *learning);
const char *sotto_round_policy_name(sotto_round_policy policy);
/* What becomes of the reports of a round, for people. Inline: devices say none of it. */
static inline const char *sotto_round_policy_words(sotto_round_policy policy)
{
    switch (policy) {
    case SOTTO_ROUND_ALL:
        return "all reports of a round are added up";
    case SOTTO_ROUND_ONE_OF:
        return "one report of each slot is used";
    case SOTTO_ROUND_ALL_AFTER_WARM_UP:
        return "all reports of a round are added up; the first rounds are not released";
    case SOTTO_ROUND_DRAWN_ANEW:
    default:
        return "each round is drawn for by itself";
    }
}
/* Whether a device draws one round of the session, and takes part in no other. NULL: no. */
bool sotto_learning_once(const sotto_learning *learning);

/* Slots of a round: 1 but for one-of. */
uint64_t sotto_learning_slots(const sotto_learning *learning);
/* Rounds before this one are not released. */
uint64_t sotto_learning_warm_up(const sotto_learning *learning);
/* Rounds of which a device draws one. */
uint64_t sotto_learning_reach(const sotto_learning *learning);
/* Reports that are expected in a round, with the population that the recipe states: a public number. */
double sotto_learning_expected(const sotto_learning *learning, uint64_t round);
/* The same of the round with the fewest. */
double sotto_learning_least_expected(const sotto_learning *learning);
/* What the sum of a round is divided by: public, so it tells nothing about who came. */
double sotto_learning_divisor(const sotto_learning *learning, uint64_t round);

/* Adds mistakes where slots are not the recipe's rounds. */
void sotto_learning_check_slots(sotto_reading *r, const sotto_learning *learning);

/* ---- what drawing a round in secret gains ---------------------------------------------------------------- */

typedef struct sotto_slots_claim {
    double epsilon;      /* of the first rounds, replacement; infinity: no gain is claimed */
    const char *theorem; /* constants */
    const char *honest;
    const char *why; /* nothing is claimed; NULL: it is */
} sotto_slots_claim;

/* Of the rounds before `seen`, 1 to the recipe's rounds.
 *   claim   of the same recipe: as large a part of the population as of min_cohort is taken to be honest */
void sotto_slots_claim_of(sotto_slots_claim *out, const sotto_learning *learning,
                          const sotto_learning_claim *claim, uint64_t seen);

#endif
