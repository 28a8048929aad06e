/* db/spool_blocks.h - which blocks of a spool are in use.
 *
 * Callers:  spool.c, under its lock.
 */
#ifndef SOTTO_DB_SPOOL_BLOCKS_H
#define SOTTO_DB_SPOOL_BLOCKS_H

#include "sotto/base.h"

/* Eight terabytes: a place behind them is a damaged one, and no reason to ask for the memory of that many bits. */
#define SOTTO_SPOOL_MOST_BLOCKS (UINT64_C(1) << 31)

/* One bit a block. Zeroed: none in use. */
typedef struct sotto_spool_blocks {
    uint64_t *words;
    size_t word_count;
    uint64_t high;   /* blocks that the file has: those behind were never in use          */
    uint64_t used;   /* blocks                                                    */
    uint64_t cursor; /* where the last search ended: the next one goes on from there */
} sotto_spool_blocks;

void sotto_spool_blocks_clear(sotto_spool_blocks *b);
/* Finds `count` free blocks in a row and takes them. False: no memory, or no room. */
bool sotto_spool_blocks_take(sotto_spool_blocks *b, uint64_t *first, uint64_t count);
/* Takes these. SOTTO_MALFORMED: one of them was taken before. */
SOTTO_MUST_USE sotto_status sotto_spool_blocks_claim(sotto_spool_blocks *b, uint64_t first,
                                                     uint64_t count, sotto_err *err);
void sotto_spool_blocks_give_back(sotto_spool_blocks *b, uint64_t first, uint64_t count);

#endif
