#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#include <pthread.h>
#endif

static _Atomic long allocations_left = -1;
static atomic_size_t failing_size;

/* ---- large blocks, kept for the next who wants one --------------------------------------------------------- */

enum { LARGE = 64 << 10, MAPPED = 256 << 10, KEPT = 256 };

/* gcc defines macros, clang has features. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

static struct {
    atomic_size_t most; /* bytes that may be kept; 0: none are */
    pthread_mutex_t lock;
    size_t bytes, count;
    struct {
        void *memory;
        size_t size;
        bool wiped;
    } blocks[KEPT];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sotto_alloc_keep_large(size_t most)
{
    /* The largest are mappings of their own, so that what is not kept goes back to the system. */
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED);
    atomic_store(&kept.most, most);
}

/* Eight sizes between a power of two and the next, so that few differ. */
static size_t block_size(size_t rounded)
{
    size_t step = LARGE / 8;

    if (rounded < LARGE || atomic_load_explicit(&kept.most, memory_order_relaxed) == 0)
        return rounded;
    while (rounded > 16 * step)
        step *= 2;
    return (rounded + step - 1) / step * step;
}

/* Out of the list, which stays in the order in which blocks were released; the lock is held. */
static void *take_out(size_t i)
{
    void *memory = kept.blocks[i].memory;

    kept.bytes -= kept.blocks[i].size;
    kept.count--;
    memmove(&kept.blocks[i], &kept.blocks[i + 1], (kept.count - i) * sizeof kept.blocks[0]);
    return memory;
}

/* The newest that was wiped, or was not; the lock is held. */
static void *find_kept(size_t size, bool wiped)
{
    for (size_t i = kept.count; i > 0; i--)
        if (kept.blocks[i - 1].size == size && kept.blocks[i - 1].wiped == wiped)
            return take_out(i - 1);
    return NULL;
}

/* *wiped: which of both it had better be, then which it is. */
static void *take_kept(size_t size, bool *wiped)
{
    void *memory;

    if (size < LARGE || atomic_load_explicit(&kept.most, memory_order_relaxed) == 0)
        return NULL;
    (void)pthread_mutex_lock(&kept.lock);
    memory = find_kept(size, *wiped);
    if (!memory) {
        *wiped = !*wiped;
        memory = find_kept(size, *wiped);
    }
    (void)pthread_mutex_unlock(&kept.lock);
    return memory;
}

/* The one that nobody has wanted for longest, if there is no room for one more of this size; else NULL. */
static void *make_way(size_t size, size_t most)
{
    void *oldest = NULL;

    if (kept.count == KEPT || kept.bytes > most - size)
        oldest = take_out(0);
    return oldest;
}

/* False: the block is to be freed, as one that was made before any were kept. */
static bool keep(void *memory, size_t size, bool wiped)
{
    size_t most = atomic_load_explicit(&kept.most, memory_order_relaxed);
    void *oldest;

    if (size < LARGE || size > most || malloc_usable_size(memory) < size)
        return false;
    do {
        (void)pthread_mutex_lock(&kept.lock);
        oldest = make_way(size, most);
        if (!oldest) {
            kept.blocks[kept.count].memory = memory;
            kept.blocks[kept.count].wiped = wiped;
            kept.blocks[kept.count++].size = size;
            kept.bytes += size;
        }
        (void)pthread_mutex_unlock(&kept.lock);
        free(oldest);
    } while (oldest);
    return true;
}

#else

void sotto_alloc_keep_large(size_t most)
{
    (void)most;
}

static size_t block_size(size_t rounded)
{
    return rounded;
}

static void *take_kept(size_t size, bool *wiped)
{
    (void)size;
    (void)wiped;
    return NULL;
}

static bool keep(void *memory, size_t size, bool wiped)
{
    (void)memory;
    (void)size;
    (void)wiped;
    return false;
}

#endif

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
    size_t rounded = block_size((size + 63) & ~(size_t)63);
    bool wiped = true;
    void *memory = take_kept(rounded, &wiped);
    if (memory && wiped)
        return memory; /* as good as new */
    if (!memory)
        memory = aligned_alloc(64, rounded);
    if (memory)
        memset(memory, 0, rounded);
    return memory;
}

void *sotto_alloc_kept(size_t size)
{
    bool wiped = false;

    if (size == 0 || size > PTRDIFF_MAX - 63 || told_to_fail(size))
        return NULL;
    return take_kept(block_size((size + 63) & ~(size_t)63), &wiped);
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
    if (memory && !keep(memory, block_size((size + 63) & ~(size_t)63), wiped))
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
