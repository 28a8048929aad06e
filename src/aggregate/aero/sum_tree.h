/* aggregate/aero/sum_tree.h - hash trees over leaves of a round, of which one kind adds up values on the way to the root.
 *
 * A node of a tree of sums is a hash and nine numbers: what it covers, and the sum of the values below it, modulo the first prime. The
 * hash of a parent covers hashes and values of both children, and its value is their sum. So a path from a leaf to the root
 * checks all additions on its way; a wrong sum anywhere has no valid path from any leaf below it.
 *
 * Four numbers are of the c1 of a group of ciphertexts: one long polynomial at two points. First come the residues modulo the first
 * prime, then those modulo the second as integers. Four are of the c2. So who opens a sum reads its c1 alone, and checks it. The
 * last one counts leaves (Liu and Gupta 2023, 4.3; two points, halves, and integers for the small prime, are ours).
 *
 * Callers:  the aggregator builds; verifiers check.
 * Secrets:  none.
 */
#ifndef SOTTO_AGGREGATE_AERO_SUM_TREE_H
#define SOTTO_AGGREGATE_AERO_SUM_TREE_H

#include "aggregate/aero/encrypt.h"

enum {
    SOTTO_AERO_POINTS = 2,
    SOTTO_AERO_HALF = 2 * SOTTO_AERO_POINTS, /* values of c1; those of c2 follow            */
    SOTTO_AERO_COUNT = 2 * SOTTO_AERO_HALF,  /* the last value: 1 for a leaf that is there */
    SOTTO_AERO_VALUES,
    SOTTO_AERO_DEPTH = 24, /* levels above the leaves, at most */
};
#define SOTTO_AERO_MOST_LEAVES (UINT32_C(1) << SOTTO_AERO_DEPTH)

typedef struct sotto_aero_sum {
    uint8_t hash[32];
    sotto_f64 v[SOTTO_AERO_VALUES];
} sotto_aero_sum;

typedef struct sotto_aero_sum_tree {
    bool adds; /* false: hashes alone, and values are neither hashed nor sent */
    uint32_t levels, count[SOTTO_AERO_DEPTH + 1];
    sotto_aero_sum *level[SOTTO_AERO_DEPTH + 1]; /* 0: leaves */
} sotto_aero_sum_tree;

/* Neighbours on the way up. Nodes without one move up as they are. */
typedef struct sotto_aero_sum_path {
    uint32_t count;
    sotto_aero_sum at[SOTTO_AERO_DEPTH];
} sotto_aero_sum_path;

/* Copies the leaves. SOTTO_DENIED: none, or too many. */
SOTTO_MUST_USE sotto_status sotto_aero_sum_build(sotto_aero_sum_tree *tree,
                                                 const sotto_aero_sum *leaves, uint32_t count,
                                                 bool adds, sotto_arena *arena, sotto_err *err);
const sotto_aero_sum *sotto_aero_sum_root(const sotto_aero_sum_tree *tree);
/* Of a node: level 0 has the leaves. */
void sotto_aero_sum_path_of(sotto_aero_sum_path *path, const sotto_aero_sum_tree *tree,
                            uint32_t level, uint32_t index);
/* Whether this node is there, under this root. `leaves` is the number of nodes of its level. */
bool sotto_aero_sum_holds(const sotto_aero_sum_path *path, const sotto_aero_sum *node,
                          uint32_t index, uint32_t leaves, const sotto_aero_sum *root, bool adds);

/* What is beside the first `count` leaves of a tree of hashes, on the way to the root; and whether these are its first ones. `first` has room for
 * one more, and is overwritten. */
void sotto_aero_sum_first_of(sotto_aero_sum_path *path, const sotto_aero_sum_tree *tree,
                             uint32_t count);
bool sotto_aero_sum_first_holds(const sotto_aero_sum_path *path, sotto_aero_sum *first,
                                uint32_t count, uint32_t leaves, const sotto_aero_sum *root);

void sotto_aero_sum_path_write(sotto_writer *w, const sotto_aero_sum_path *path, bool adds);
/* A path with too many nodes, or a value that is not below the prime, makes *malformed true. */
void sotto_aero_sum_path_read(sotto_reader *in, sotto_aero_sum_path *path, bool adds,
                              bool *malformed);

/* A leaf's hash. */
void sotto_aero_leaf_hash(uint8_t out[32], sotto_bytes leaf);

/* ---- values --------------------------------------------------------------------------------------------- */

/* Two points from what was opened after the roots were posted. */
void sotto_aero_points_of(sotto_f64 points[SOTTO_AERO_POINTS], const uint8_t seed[32]);
/* The value of a group, but for its count, which is 0. Residues modulo the second prime may be sums that were not reduced. */
void sotto_aero_value_of(sotto_f64 v[SOTTO_AERO_VALUES], const sotto_aero_cipher *ciphers,
                         size_t count, const sotto_f64 points[SOTTO_AERO_POINTS]);
/* Those of one half, from polynomials alone. */
void sotto_aero_half_of(sotto_f64 v[SOTTO_AERO_HALF], const sotto_aero_poly *half, size_t count,
                        const sotto_f64 points[SOTTO_AERO_POINTS]);

/* sum += more, where residues modulo the second prime are added as integers. */
void sotto_aero_total_add(sotto_aero_cipher *sum, const sotto_aero_cipher *more);
/* Of one half of a total: what it is modulo both primes. */
void sotto_aero_total_reduce(const sotto_aero *aero, sotto_aero_poly *out,
                             const sotto_aero_poly *total);

#endif
