#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic long allocations_left = -1;

static bool told_to_fail(void)
{
    long left = atomic_load_explicit(&allocations_left, memory_order_relaxed);
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
    if (size == 0 || size > PTRDIFF_MAX - 63 || told_to_fail())
        return NULL;
    size_t rounded = (size + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, rounded);
    if (memory)
        memset(memory, 0, rounded);
    return memory;
}

void sotto_release(void *memory, size_t size)
{
    if (!memory)
        return;
    sotto_wipe(memory, size);
    free(memory);
}

void sotto_alloc_fail_after(long n)
{
    atomic_store(&allocations_left, n);
}
