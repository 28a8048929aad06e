#define _GNU_SOURCE
#include "base/alloc.h"

#include "base/alloc_kept.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__) && !defined(__OPTIMIZE_SIZE__)
#include <sys/mman.h>
#endif

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

static void *take_kept(size_t *rounded, bool *wiped)
{
    const sotto_kept_blocks *blocks = atomic_load_explicit(&kept, memory_order_acquire);

    return blocks ? blocks->take(rounded, wiped) : NULL;
}

/* aligned_alloc wants a multiple of the alignment; 64 covers every vector type we use. Where one of the system's large pages is filled,
 * memory is asked for in such pages. 10 MB in small pages take 3.5 ms until they are there, and in large ones 0.7 ms. A device keeps to
 * small ones. */
static void *allocate(size_t rounded)
{
#if defined(__linux__) && !defined(__OPTIMIZE_SIZE__)
    const size_t page = (size_t)2 << 20;
    void *memory = NULL;

    if (rounded >= page) {
        if (posix_memalign(&memory, page, rounded) != 0)
            return NULL;
        (void)madvise(memory, rounded, MADV_HUGEPAGE); /* a wish */
        return memory;
    }
#endif
    return aligned_alloc(64, rounded);
}

void *sotto_alloc(size_t size)
{
    /* No object may be larger than pointers can be apart. */
    if (size == 0 || size > PTRDIFF_MAX - 63 || told_to_fail(size))
        return NULL;
    size_t rounded = (size + 63) & ~(size_t)63;
    bool wiped = true;
    void *memory = take_kept(&rounded, &wiped);
    if (memory && wiped)
        return memory; /* as good as new */
    if (!memory)
        memory = allocate(rounded);
    if (memory)
        memset(memory, 0, rounded);
    return memory;
}

void *sotto_alloc_kept(size_t size)
{
    size_t rounded = (size + 63) & ~(size_t)63;
    bool wiped = false;

    if (size == 0 || size > PTRDIFF_MAX - 63 || told_to_fail(size))
        return NULL;
    uint8_t *memory = take_kept(&rounded, &wiped);
    /* Whoever releases it wipes `size` bytes, after which every byte of it must be 0. */
    if (memory && !wiped)
        memset(memory + size, 0, rounded - size);
    return memory;
}

void sotto_release(void *memory, size_t size)
{
    if (!memory)
        return;
    sotto_wipe(memory, size);
    sotto_release_wiped(memory, size);
}

static void let_go(void *memory, size_t size, bool wiped)
{
    const sotto_kept_blocks *blocks = atomic_load_explicit(&kept, memory_order_acquire);

    if (memory && !(blocks && blocks->keep(memory, (size + 63) & ~(size_t)63, wiped)))
        free(memory);
}

void sotto_release_wiped(void *memory, size_t size)
{
    let_go(memory, size, true);
}

void sotto_release_sealed(void *memory, size_t size)
{
    let_go(memory, size, false);
}

void sotto_alloc_fail_after(long n)
{
    atomic_store(&allocations_left, n);
}

void sotto_alloc_fail_size(size_t size)
{
    atomic_store(&failing_size, size);
}

void *sotto_alloc_grow(void *old, size_t before, size_t count, size_t room, size_t size)
{
    void *more = room <= SIZE_MAX / size ? sotto_alloc(room * size) : NULL;

    if (!more)
        return NULL;
    if (count > 0)
        memcpy(more, old, count * size);
    sotto_release(old, before * size);
    return more;
}
