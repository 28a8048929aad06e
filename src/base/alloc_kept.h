/* base/alloc_kept.h - between base/alloc.c and the blocks that a server keeps for reuse. The device library keeps none, and leaves
 * them out.
 */
#ifndef SOTTO_BASE_ALLOC_KEPT_H
#define SOTTO_BASE_ALLOC_KEPT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sotto_kept_blocks {
    /* NULL: the caller makes one of *rounded bytes, a multiple of 64 that this may raise. *wiped: whether one in which every
     * byte is 0 is preferred, then whether this is one. */
    void *(*take)(size_t *rounded, bool *wiped);
    /* Takes over a block. If it was wiped, every byte of it is 0. False: the caller frees it. */
    bool (*keep)(void *memory, size_t rounded, bool wiped);
} sotto_kept_blocks;

/* From now on; NULL: none are kept. */
void sotto_alloc_keep(const sotto_kept_blocks *blocks);

#endif
