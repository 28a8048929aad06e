/* noise/tree.h - noise that is correlated over rounds, so that it largely cancels: a binary tree that begins anew (DP-FTRL).
 *
 * Callers:  serve/ (each server's own noise on the sums of a learning recipe), recipe/ (what it costs), sotto-sim.
 * Memory:   the caller's. A node's noise is drawn again from its own seed whenever it is needed.
 * Secrets:  all noise of the tree. Which rounds were released is public.
 *
 * Rounds 0 to restart-1 are one tree, then another begins. Round t of a tree, counted from 1, ends the node that covers the 2^l
 * rounds up to t, where 2^l is the largest power of two that divides t. So each round ends one node. Its release has that
 * node's noise, which is fresh, less the noise of the nodes within that one that are still in the model. After t rounds the
 * released sums together hold one node for each 1 in t, at most one plus log2 t of them (Kairouz et al. 2021).
 *
 * A round that was never released ends no node. Those that it would have taken away stay until a later node covers them. So
 * nothing is taken away that was not added, and a round is in one node of each level at most (docs/decisions/0260).
 */
#ifndef SOTTO_NOISE_TREE_H
#define SOTTO_NOISE_TREE_H

#include "noise/noise.h"

/* Levels of a tree of so many rounds: 1 + floor(log2 restart). */
unsigned sotto_tree_levels(uint64_t restart);
/* Most nodes that one release holds, its own included, whichever rounds were released before. */
uint64_t sotto_tree_most_nodes(uint64_t restart);
/* What one participation costs, in times that of a round with fresh noise. It is for a device with at most `participations` of
 * them, any two at least `separation` rounds apart. That many times this bounds their squared L2 sensitivity together, in squares of
 * one update. Of a device that is in a tree once at most, these are the levels. */
uint64_t sotto_tree_price(uint64_t restart, uint64_t separation, uint64_t participations);

/* Whether the node that ends with `round` covers that of an `earlier` round. */
bool sotto_tree_covers(uint64_t restart, uint64_t round, uint64_t earlier);

/* Nodes of one tree whose noise is in the model, each by the round that ends it, ascending. */
typedef struct sotto_tree_nodes {
    uint64_t *rounds; /* borrowed; room for one more at every release */
    size_t count;
} sotto_tree_nodes;

/* After the release of a round, in their order: what it took away goes, and all of a tree before. */
void sotto_tree_release(sotto_tree_nodes *nodes, uint64_t restart, uint64_t round);

/* Starts a stream of bytes for the node that a round ends; the same node always gives the same bytes. */
typedef struct sotto_tree_source {
    SOTTO_MUST_USE sotto_status (*start)(void *context, sotto_entropy *out, uint64_t round,
                                         sotto_err *err);
    void *context;
} sotto_tree_source;

/* Adds `count` numbers to a sum from its number `first` on. */
typedef struct sotto_tree_sink {
    SOTTO_MUST_USE sotto_status (*add)(void *context, size_t first, const int64_t *values,
                                       size_t count, sotto_err *err);
    void *context;
} sotto_tree_sink;

/* Adds the noise of a round's release to `numbers` sums: a draw for each number of the node that it ends, less those of the
 * nodes that it covers. `nodes` are those before the round, and stay as they are. */
SOTTO_MUST_USE sotto_status sotto_tree_add_noise(const sotto_noise *noise, size_t numbers,
                                                 const sotto_tree_nodes *nodes, uint64_t restart,
                                                 uint64_t round, const sotto_tree_source *source,
                                                 const sotto_tree_sink *sink, sotto_err *err);

#endif
