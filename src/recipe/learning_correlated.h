/* recipe/learning_correlated.h - recipes whose servers' noise is correlated over rounds: by a tree that begins anew (noise/tree.h).
 *
 * Callers:  the reader, claim, lint and explanation of learning recipes; leader and helper; receipts.
 * Memory:   plain values.
 * Secrets:  none here.
 *
 * Such noise largely cancels over rounds, so less of it is left in the model. It asks more of the one honest server: what it drew for
 * a round is in later ones too. docs/decisions/0260 has the law and its price, 0261 what servers keep.
 */
#ifndef SOTTO_RECIPE_LEARNING_CORRELATED_H
#define SOTTO_RECIPE_LEARNING_CORRELATED_H

#include "recipe/learning.h"
#include "recipe/read.h"

/* Whether noise is correlated over rounds. NULL is a recipe of statistics, where it never is. */
bool sotto_learning_correlated(const sotto_learning *learning);
/* Nodes of one server's noise that a sum has at most; 1: noise is fresh. */
uint64_t sotto_learning_most_nodes(const sotto_learning *learning);
/* What one participation costs, in times that of fresh noise; 1: noise is fresh. */
uint64_t sotto_learning_tree_price(const sotto_learning *learning);
/* What it asks of servers beside what their trust model does, as a sentence. Inline: devices say none of it. */
static inline const char *sotto_learning_correlated_words(void)
{
    return "Noise is correlated over rounds. One server must add its own in every round, and keep "
           "the noise of all rounds secret: who learns that of one round knows some of later ones.";
}

/* Against the other keys of its recipe. */
void sotto_learning_check_correlation(sotto_reading *reading, const sotto_learning *learning);

#endif
