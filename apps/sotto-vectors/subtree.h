/* sotto-vectors/subtree.h - proofs about a range of a log's leaves (draft-ietf-plants-merkle-tree-certs, 4).
 *
 * A subtree has the leaves from `start` up to `end`, and `start` is a multiple of the smallest power of two that holds them all.
 * Logs, witnesses and devices use no such proofs: whole trees are enough for them.
 */
#ifndef SOTTO_VECTORS_SUBTREE_H
#define SOTTO_VECTORS_SUBTREE_H

#include "tlog/merkle.h"

typedef struct sotto_subtree {
    uint64_t start, end;
    sotto_merkle_hash root;
} sotto_subtree;

/* Whether the leaf is the index-th of the log, in this subtree. SOTTO_REJECTED: it is not shown to be. */
SOTTO_MUST_USE sotto_status sotto_subtree_check_inclusion(const sotto_merkle_proof *proof,
                                                          const sotto_merkle_hash *leaf,
                                                          uint64_t index,
                                                          const sotto_subtree *subtree,
                                                          sotto_err *err);
/* Whether a tree of this size and root has the subtree. One without leaves is in every tree.
 *   SOTTO_REJECTED  it is not shown to be
 */
SOTTO_MUST_USE sotto_status sotto_subtree_check_consistency(const sotto_merkle_proof *proof,
                                                            const sotto_subtree *subtree,
                                                            uint64_t size,
                                                            const sotto_merkle_hash *root,
                                                            sotto_err *err);

#endif
