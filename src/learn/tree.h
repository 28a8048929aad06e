/* learn/tree.h - noise that is correlated over rounds, so that it largely cancels: a binary tree that begins anew (DP-FTRL).
 *
 * Callers:  sotto-sim: the noise of one server, from its own secret.
 * Memory:   none is kept. A node's noise is drawn again from its own seed whenever it is needed.
 * Secrets:  all noise of the tree.
 *
 * After t rounds the released sums together hold the noise of the nodes that cover rounds 1 to t. There is one for each 1 in t,
 * at most one plus log2 t of them (Kairouz et al. 2021). A tree covers `restart` rounds; then another begins. Who takes part in at most
 * one round of a tree is in one node of each of its levels.
 */
#ifndef SOTTO_LEARN_TREE_H
#define SOTTO_LEARN_TREE_H

#include "learn/update.h"

/* Starts a stream of bytes for one node; the same node always gives the same bytes. */
typedef struct sotto_tree_source {
    SOTTO_MUST_USE sotto_status (*start)(void *context, sotto_entropy *out, uint64_t tree,
                                         unsigned level, uint64_t node, sotto_err *err);
    void *context;
} sotto_tree_source;

/* Levels of a tree of so many rounds: 1 + floor(log2 restart). */
unsigned sotto_tree_levels(uint64_t restart);

/* Adds to sum the noise of rounds 0 to `round` of its tree, less that of the rounds before `round`. */
SOTTO_MUST_USE sotto_status sotto_tree_add_noise(const sotto_update *update, int64_t *sum,
                                                 uint64_t round, uint64_t restart,
                                                 const sotto_tree_source *source, sotto_err *err);

#endif
