/* account/local/clone_pair.h - how far a report can be told from its neighbour's among c clones of both.
 *
 * Callers:  clone.c, which averages over the number of clones.
 * Memory:   nothing is kept but what the caller's walk holds.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_CLONE_PAIR_H
#define SOTTO_ACCOUNT_LOCAL_CLONE_PAIR_H

#include "account/local/clone.h"

/* What is the same for every number of clones. */
typedef struct sotto_pair_question {
    double gain; /* of a report that tells */
    double cost; /* (e^eps - 1) times the chance that it tells */
    double edge; /* the last count that gains is this share of the clones */
} sotto_pair_question;

sotto_pair_question sotto_pair_ask(const sotto_clone_law *law, double eps);

/* A binomial mass b(k; c, 1/2) and what lies below k, carried from one number of clones to the next by additions.
 * Start from all zeros; the numbers of clones asked for must rise. */
typedef struct sotto_pair_walk {
    double c, k;
    double at, at_error;       /* b(k), relative error           */
    double below, below_error; /* P(X < k), absolute error       */
    double inflate;            /* of both errors: 1 in use (and 0 means 1) */
} sotto_pair_walk;

/* The hockey-stick divergence of the two counts with c clones, enclosed. It falls with c. */
sotto_bound sotto_pair_delta(const sotto_pair_question *q, sotto_pair_walk *walk, double c);

/* The same roughly and fast, for finding where to look. */
double sotto_pair_delta_rough(const sotto_pair_question *q, double c);

#endif
