/* recipe/learning_correlated.h - recipes whose servers' noise is correlated over rounds: by a tree that begins anew (noise/tree.h), or by
 * buffers (noise/blt.h).
 *
 * Callers:  the reader, claim, lint and explanation of learning recipes; leader and helper; receipts.
 * Memory:   plain values.
 * Secrets:  none here.
 *
 * Such noise largely cancels over rounds, so less of it is left in the model. It asks more of the one honest server: what it drew for
 * a round is in later ones too. docs/decisions/0260 has the tree's law and its price, 0261 what servers keep of it; 0300 and 0301 have both
 * for buffers.
 */
#ifndef SOTTO_RECIPE_LEARNING_CORRELATED_H
#define SOTTO_RECIPE_LEARNING_CORRELATED_H

#include "recipe/learning.h"
#include "recipe/read.h"

enum {
    /* A release draws the noise of all rounds before it again: rounds times numbers of a sum, some seconds of one processor. */
    SOTTO_BUFFERED_DRAWS = 1 << 25,
    SOTTO_BUFFERED_PARTICIPATIONS = 256, /* each of them is priced by going through all rounds */
};

/* Whether noise is correlated over rounds. NULL is a recipe of statistics, where it never is. */
bool sotto_learning_correlated(const sotto_learning *learning);
/* Whether that is by buffers. */
bool sotto_learning_buffered(const sotto_learning *learning);
/* Draws of one server's noise that a sum has at most, in their variance and in how far they reach; 1: noise is fresh. */
uint64_t sotto_learning_most_nodes(const sotto_learning *learning);
/* Draws for each number whose law a claim counts on. */
uint64_t sotto_learning_paid_draws(const sotto_learning *learning);
/* sensitivity: of a round, in steps of the grid. Infinity: the theorem is not about this matrix. */
sotto_learning_price sotto_learning_price_of(const sotto_learning *learning, double sensitivity);

/* What it asks of servers beside what their trust model does, as sentences. Inline: devices say none of it. */
static inline const char *sotto_learning_correlated_words(void)
{
    return "Noise is correlated over rounds. One server must add its own in every round, and keep "
           "the noise of all rounds secret: who learns that of one round knows some of later ones.";
}
/* And of buffers. */
static inline const char *sotto_learning_kept_words(void)
{
    return "Each server keeps the seeds of its noise until its operator clears the session away, "
           "some time after its end. Who has its database of before then, or a backup of that, "
           "and its key, learns its noise of every round.";
}

/* privacy.correlation, with whatever it holds. */
void sotto_learning_read_correlation(sotto_learning *out, const json_t *correlation);
/* Against the other keys of its recipe. */
void sotto_learning_check_correlation(sotto_reading *reading, const sotto_learning *learning);

#endif
