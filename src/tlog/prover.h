/* tlog/prover.h - proofs from tiles: a few hashes for each level, from a cache of tiles that were read before.
 *
 * Callers:  logs and `sotto log`, which give a function that reads tiles from a disk or a server.
 * Memory:   16 KiB for each tile that may be cached, taken once.
 * Threads:  a prover belongs to one thread at a time.
 *
 * Tiles are not verified here: check the proof against a signed root if they came from somebody else.
 */
#ifndef SOTTO_TLOG_PROVER_H
#define SOTTO_TLOG_PROVER_H

#include "tlog/tile.h"

/* Reads the hashes of a tile, which is never one of entries. */
typedef sotto_status sotto_tile_read(void *context, const sotto_tile *tile,
                                     sotto_merkle_hash out[SOTTO_TILE_WIDTH], sotto_err *err);

typedef struct sotto_prover sotto_prover;

/* tiles: how many are cached, 4 to 2^20. SOTTO_NO_MEMORY: there is none. */
SOTTO_MUST_USE sotto_status sotto_prover_new(sotto_prover **prover, size_t tiles,
                                             sotto_tile_read *read, void *context, sotto_err *err);
void sotto_prover_free(sotto_prover *prover); /* NULL is fine */
/* Forgets tiles that may have changed: partial ones of a tree that was never signed. */
void sotto_prover_forget(sotto_prover *prover);

/* These return SOTTO_MISSING where the tree has no such entry or size, or whatever `read` returned. size < 2^63. */
SOTTO_MUST_USE sotto_status sotto_prover_inclusion(sotto_prover *prover, sotto_merkle_proof *proof,
                                                   uint64_t index, uint64_t size, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_prover_consistency(sotto_prover *prover,
                                                     sotto_merkle_proof *proof, uint64_t size1,
                                                     uint64_t size2, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_prover_root(sotto_prover *prover, sotto_merkle_hash *root,
                                              uint64_t size, sotto_err *err);
/* Appends the steps of tlog/growth.h, which end at each of the sizes. They ascend; the last is that of the tree whose tiles are read. */
SOTTO_MUST_USE sotto_status sotto_prover_growth(sotto_prover *prover, sotto_buf *steps,
                                                const uint64_t *sizes, size_t count,
                                                sotto_err *err);
/* The right edge of a tree of that size, from which it can grow; within: the size of the tree whose tiles are read, no less. */
SOTTO_MUST_USE sotto_status sotto_prover_tree(sotto_prover *prover, sotto_merkle_tree *tree,
                                              uint64_t size, uint64_t within, sotto_err *err);

#endif
