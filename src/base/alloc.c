#include "base/alloc.h"

#include "base/alloc_kept.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic long allocations_left = -1;
static atomic_size_t failing_size;

/* Blocks that are kept for the next who wants one, in a process that asked for it (base/alloc_kept.c); NULL: none. */
static const sotto_kept_blocks *_Atomic kept;

void sotto_alloc_keep(const sotto_kept_blocks *blocks)
{
    atomic_store_explicit(&kept, blocks, memory_order_release);
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

static bool told_to_fail(size_t size)
{
    long left = atomic_load_explicit(&allocations_left, memory_order_relaxed);
    if (size == atomic_load_explicit(&failing_size, memory_order_relaxed))
        return true;
    if (left < 0)
        return false;
    if (left == 0)
        return true;
    atomic_store_explicit(&allocations_left, left - 1, memory_order_relaxed);
    return false;
}

void *sotto_alloc(size_t size)
{
    /* aligned_alloc wants a multiple of the alignment; 64 covers every vector type we use. No object
     * may be larger than pointers can be apart. */
    if (size == 0 || size > PTRDIFF_MAX - 63 || told_to_fail(size))
        return NULL;
    const sotto_kept_blocks *blocks = atomic_load_explicit(&kept, memory_order_acquire);
    size_t rounded = (size + 63) & ~(size_t)63;
    void *memory = blocks ? blocks->take(&rounded) : NULL;
    if (memory)
        return memory;
    memory = aligned_alloc(64, rounded);
    if (memory)
        memset(memory, 0, rounded);
    return memory;
}

void sotto_release(void *memory, size_t size)
{
    if (!memory)
        return;
    sotto_wipe(memory, size);
    sotto_release_wiped(memory, size);
}

void sotto_release_wiped(void *memory, size_t size)
{
    const sotto_kept_blocks *blocks = atomic_load_explicit(&kept, memory_order_acquire);

    if (memory && !(blocks && blocks->keep(memory, (size + 63) & ~(size_t)63)))
        free(memory);
}

void sotto_alloc_fail_after(long n)
{
    atomic_store(&allocations_left, n);
}

void sotto_alloc_fail_size(size_t size)
{
    atomic_store(&failing_size, size);
}
