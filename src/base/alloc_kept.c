/* Blocks that were released, kept for the next who wants that size: large ones in one list, small ones on a shelf for each size. */
#include "base/alloc_kept.h"

#include "base/alloc.h"

#ifdef __GLIBC__
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#endif

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

enum { LARGE = 64 << 10, MAPPED = 256 << 10, KEPT = 256 };
/* Up to SMALL bytes, in steps of STEP; SHELVED bytes of all sizes together. The C library aligns each such block anew, which takes
 * longer than most of them are used for, and joins and splits what threads release for each other. */
enum { STEP = 64, SMALL = 16 << 10, SHELVES = SMALL / STEP, SHELVED = 8 << 20 };

/* ---- large blocks ------------------------------------------------------------------------------------------ */

static struct {
    atomic_size_t most; /* bytes that may be kept; 0: none are */
    pthread_mutex_t lock;
    size_t bytes, count;
    struct {
        void *memory;
        size_t size;
        bool wiped;
    } blocks[KEPT];
} large = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Eight sizes between a power of two and the next, so that few differ. */
static size_t block_size(size_t rounded)
{
    size_t step = LARGE / 8;

    if (rounded < LARGE)
        return rounded;
    while (rounded > 16 * step)
        step *= 2;
    return (rounded + step - 1) / step * step;
}

/* Out of the list, which stays in the order in which blocks were released; the lock is held. */
static void *take_out(size_t i)
{
    void *memory = large.blocks[i].memory;

    large.bytes -= large.blocks[i].size;
    large.count--;
    memmove(&large.blocks[i], &large.blocks[i + 1], (large.count - i) * sizeof large.blocks[0]);
    return memory;
}

/* The newest that was wiped, or was not; the lock is held. */
static void *find_large(size_t size, bool wiped)
{
    for (size_t i = large.count; i > 0; i--)
        if (large.blocks[i - 1].size == size && large.blocks[i - 1].wiped == wiped)
            return take_out(i - 1);
    return NULL;
}

static void *take_large(size_t size, bool *wiped)
{
    void *memory;

    (void)pthread_mutex_lock(&large.lock);
    memory = find_large(size, *wiped);
    if (!memory) {
        *wiped = !*wiped;
        memory = find_large(size, *wiped);
    }
    (void)pthread_mutex_unlock(&large.lock);
    return memory;
}

/* The one that nobody has wanted for longest, if there is no room for one more of this size; else NULL. */
static void *make_way(size_t size, size_t most)
{
    void *oldest = NULL;

    if (large.count == KEPT || large.bytes > most - size)
        oldest = take_out(0);
    return oldest;
}

static bool keep_large(void *memory, size_t size, bool wiped)
{
    size_t most = atomic_load_explicit(&large.most, memory_order_relaxed);
    void *oldest;

    if (size > most)
        return false;
    do {
        (void)pthread_mutex_lock(&large.lock);
        oldest = make_way(size, most);
        if (!oldest) {
            large.blocks[large.count].memory = memory;
            large.blocks[large.count].wiped = wiped;
            large.blocks[large.count++].size = size;
            large.bytes += size;
        }
        (void)pthread_mutex_unlock(&large.lock);
        free(oldest);
    } while (oldest);
    return true;
}

/* ---- small blocks ------------------------------------------------------------------------------------------- */

/* How a block begins while it is on its shelf; all other bytes of it are 0. */
typedef struct shelved_block {
    struct shelved_block *next;
} shelved_block;

static struct {
    pthread_mutex_t lock;
    shelved_block *first;
} shelves[SHELVES];
static atomic_size_t shelved;    /* bytes on all of them     */
static atomic_uint next_to_give; /* which shelf makes way    */
static pthread_once_t shelves_made = PTHREAD_ONCE_INIT;

static void make_shelves(void)
{
    for (size_t i = 0; i < SHELVES; i++)
        (void)pthread_mutex_init(&shelves[i].lock, NULL);
}

static void *take_small(size_t shelf)
{
    shelved_block *block;

    (void)pthread_mutex_lock(&shelves[shelf].lock);
    block = shelves[shelf].first;
    if (block)
        shelves[shelf].first = block->next;
    (void)pthread_mutex_unlock(&shelves[shelf].lock);
    if (!block)
        return NULL;
    block->next = NULL;
    atomic_fetch_sub_explicit(&shelved, (shelf + 1) * STEP, memory_order_relaxed);
    return block;
}

/* Frees one block of each shelf in turn until there is room: sizes that nobody wants any more go in the end. */
static void make_room(void)
{
    for (unsigned i = 0;
         i < SHELVES && atomic_load_explicit(&shelved, memory_order_relaxed) > SHELVED; i++)
        free(take_small(atomic_fetch_add_explicit(&next_to_give, 1, memory_order_relaxed) %
                        SHELVES));
}

static void keep_small(void *memory, size_t shelf)
{
    shelved_block *block = memory;

    (void)pthread_mutex_lock(&shelves[shelf].lock);
    block->next = shelves[shelf].first;
    shelves[shelf].first = block;
    (void)pthread_mutex_unlock(&shelves[shelf].lock);
    if (atomic_fetch_add_explicit(&shelved, (shelf + 1) * STEP, memory_order_relaxed) +
            (shelf + 1) * STEP >
        SHELVED)
        make_room();
}

/* ---- both --------------------------------------------------------------------------------------------------- */

static void *take(size_t *rounded, bool *wiped)
{
    *rounded = block_size(*rounded);
    if (*rounded <= SMALL) {
        *wiped = true;
        return take_small(*rounded / STEP - 1);
    }
    return *rounded < LARGE ? NULL : take_large(*rounded, wiped);
}

static bool keep(void *memory, size_t rounded, bool wiped)
{
    size_t size = block_size(rounded);

    if (size <= SMALL && wiped) {
        keep_small(memory, size / STEP - 1);
        return true;
    }
    /* Made before any were kept, it may be shorter than its size is now. */
    return size >= LARGE && malloc_usable_size(memory) >= size && keep_large(memory, size, wiped);
}

void sotto_alloc_keep_blocks(size_t most)
{
    static const sotto_kept_blocks blocks = {take, keep};

    /* The largest are mappings of their own, so that what is not kept goes back to the system. */
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED);
    (void)pthread_once(&shelves_made, make_shelves);
    atomic_store(&large.most, most);
    sotto_alloc_keep(most > 0 ? &blocks : NULL);
}

#else

void sotto_alloc_keep_blocks(size_t most)
{
    (void)most;
}

#endif
