/* tlog/merkle.h - the Merkle tree of RFC 6962, 2.1: hashes, proofs, and growing at the right edge.
 *
 * Callers:  the rest of tlog/; devices check, logs and witnesses grow and prove.
 * Memory:   nothing is allocated or kept.
 * Secrets:  none: everything here is public.
 */
#ifndef SOTTO_TLOG_MERKLE_H
#define SOTTO_TLOG_MERKLE_H

#include "sotto/base.h"

enum {
    SOTTO_MERKLE_HASH = 32,
    SOTTO_MERKLE_LEVELS = 63, /* sizes stay below 2^63 */
    SOTTO_MERKLE_PROOF = 65   /* more hashes than any proof has: one more than a size has bits */
};

typedef struct sotto_merkle_hash {
    uint8_t bytes[SOTTO_MERKLE_HASH];
} sotto_merkle_hash;

typedef struct sotto_merkle_proof {
    size_t count;
    sotto_merkle_hash hashes[SOTTO_MERKLE_PROOF];
} sotto_merkle_proof;

void sotto_merkle_leaf(sotto_merkle_hash *out, sotto_bytes entry);
/* out may be one of the two. */
void sotto_merkle_node(sotto_merkle_hash *out, const sotto_merkle_hash *left,
                       const sotto_merkle_hash *right);
/* The root of a tree without leaves. */
void sotto_merkle_empty(sotto_merkle_hash *out);
bool sotto_merkle_equal(const sotto_merkle_hash *a, const sotto_merkle_hash *b);

/* Whether the leaf is the index-th of a tree of that size and root.
 *   SOTTO_REJECTED  it is not shown to be: no such leaf, too many or too few hashes, or another root
 */
SOTTO_MUST_USE sotto_status sotto_merkle_check_inclusion(const sotto_merkle_proof *proof,
                                                         const sotto_merkle_hash *leaf,
                                                         uint64_t index, uint64_t size,
                                                         const sotto_merkle_hash *root,
                                                         sotto_err *err);
/* Whether the second tree begins with the leaves of the first. The first must have a leaf: every tree begins with none.
 *   SOTTO_REJECTED  it is not shown to be
 */
SOTTO_MUST_USE sotto_status sotto_merkle_check_consistency(
    const sotto_merkle_proof *proof, uint64_t size1, const sotto_merkle_hash *root1, uint64_t size2,
    const sotto_merkle_hash *root2, sotto_err *err);

/* ---- growing ---------------------------------------------------------------------------------------------- */

/* A tree by its right edge: edge[k] is the root of a whole subtree with 2^k leaves, for each bit k of size. All zeros: no leaf. */
typedef struct sotto_merkle_tree {
    uint64_t size;
    sotto_merkle_hash edge[SOTTO_MERKLE_LEVELS];
} sotto_merkle_tree;

/* Adds a leaf, or the root of a whole subtree with 2^level leaves where size is a multiple of that. size must stay below 2^63. */
void sotto_merkle_append(sotto_merkle_tree *tree, unsigned level, const sotto_merkle_hash *hash);
void sotto_merkle_root(sotto_merkle_hash *out, const sotto_merkle_tree *tree);

#endif
