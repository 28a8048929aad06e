/* tlog/merkle_list.h - the tree over a list of leaf hashes that is in memory: small logs need no tiles.
 *
 * Callers:  the aggregator, for boards of rounds.
 * Memory:   nothing is allocated or kept.
 */
#ifndef SOTTO_TLOG_MERKLE_LIST_H
#define SOTTO_TLOG_MERKLE_LIST_H

#include "tlog/merkle.h"

void sotto_merkle_list_root(sotto_merkle_hash *out, const sotto_merkle_hash *leaves, size_t count);
/* What sotto_merkle_check_consistency takes, for the first `before` of the leaves and all of them: at least one, at most `count`. */
void sotto_merkle_list_consistency(sotto_merkle_proof *out, const sotto_merkle_hash *leaves,
                                   size_t before, size_t count);
/* What sotto_merkle_check_inclusion takes, for the leaf at this index. */
void sotto_merkle_list_inclusion(sotto_merkle_proof *out, const sotto_merkle_hash *leaves,
                                 size_t index, size_t count);

#endif
