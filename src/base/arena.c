#include "base/arena.h"

#include "base/alloc.h"

/* A block's header has a cache line of its own, so what follows keeps the allocator's alignment. */
typedef struct sotto_arena_block {
    struct sotto_arena_block *next;
    size_t size; /* usable bytes after the header */
    size_t used;
    bool wanted; /* since the last reset */
} sotto_arena_block;

enum {
    ALIGN = 64,
    HEADER = 64,
    SMALL = 4096,                /* requests up to this share blocks */
    SHARED = 4 * SMALL - HEADER, /* ... of this size                 */
};

_Static_assert(sizeof(sotto_arena_block) <= HEADER, "the header must fit its cache line");

void sotto_arena_init(sotto_arena *arena, size_t ceiling)
{
    *arena = (sotto_arena){.ceiling = ceiling};
}

/* Takes a spare block out of the list that holds `size` without wasting more than an eighth. Blocks
 * become spare in the order in which they were handed out, so a caller that repeats its requests
 * finds each at the head. */
static sotto_arena_block *claim_spare(sotto_arena *arena, size_t size)
{
    for (sotto_arena_block **at = &arena->spare; *at; at = &(*at)->next) {
        sotto_arena_block *block = *at;
        if (block->size >= size && block->size - size <= size / 8) {
            *at = block->next;
            return block;
        }
    }
    return NULL;
}

/* What was handed out of it is wiped already, and the rest was never touched. */
static void give_back(sotto_arena *arena, sotto_arena_block *block)
{
    size_t size = HEADER + block->size;

    arena->held -= size;
    sotto_wipe(block, sizeof *block);
    sotto_release_wiped(block, size);
}

static void give_back_one_spare(sotto_arena *arena)
{
    sotto_arena_block *block = arena->spare;

    arena->spare = block->next;
    give_back(arena, block);
}

/* Gives spare blocks back until `size` more fits under the ceiling, so that an arena that was reset
 * never refuses what a fresh one would have granted. */
static bool fits_under_ceiling(sotto_arena *arena, size_t size)
{
    if (arena->ceiling < HEADER || size > arena->ceiling - HEADER)
        return false;
    while (arena->held > arena->ceiling - HEADER - size && arena->spare)
        give_back_one_spare(arena);
    return arena->held <= arena->ceiling - HEADER - size;
}

static sotto_arena_block *new_block(sotto_arena *arena, size_t size)
{
    if (!fits_under_ceiling(arena, size))
        return NULL;
    sotto_arena_block *block = sotto_alloc(HEADER + size);
    if (!block)
        return NULL;
    block->size = size;
    arena->held += HEADER + size;
    if (arena->held > arena->peak)
        arena->peak = arena->held;
    return block;
}

static sotto_arena_block *add_block(sotto_arena *arena, size_t size)
{
    sotto_arena_block *block = claim_spare(arena, size);

    if (!block)
        block = new_block(arena, size);
    if (block) {
        block->wanted = true;
        block->next = arena->used;
        arena->used = block;
    }
    return block;
}

/* Near the ceiling, where no shared block fits any more, a small request gets a block of its own. */
static sotto_arena_block *block_for_small(sotto_arena *arena, size_t size)
{
    if (arena->open && arena->open->size - arena->open->used >= size)
        return arena->open;
    sotto_arena_block *block = add_block(arena, SHARED);
    if (block)
        arena->open = block;
    return block ? block : add_block(arena, size);
}

void *sotto_arena_take(sotto_arena *arena, size_t size)
{
    if (size > SIZE_MAX - ALIGN)
        return NULL;
    size = size ? (size + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;

    sotto_arena_block *block =
        size <= SMALL ? block_for_small(arena, size) : add_block(arena, size);
    if (!block)
        return NULL;
    void *memory = (uint8_t *)block + HEADER + block->used;
    block->used += size;
    return memory;
}

bool sotto_arena_expect(sotto_arena *arena, size_t size)
{
    sotto_arena_block *block;

    if (size > SHARED)
        return true;
    block = add_block(arena, (size + ALIGN - 1) & ~(size_t)(ALIGN - 1));
    if (block)
        arena->open = block;
    return block != NULL;
}

void *sotto_arena_take_array(sotto_arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return sotto_arena_take(arena, count * size);
}

/* Wiped is zeroed: ready to be handed out again. */
static void spare_newest(sotto_arena *arena)
{
    sotto_arena_block *block = arena->used;

    arena->used = block->next;
    sotto_wipe((uint8_t *)block + HEADER, block->used);
    block->used = 0;
    block->next = arena->spare;
    arena->spare = block;
}

sotto_status sotto_buf_take(sotto_buf *out, sotto_arena *arena, size_t size, sotto_err *err)
{
    uint8_t *data = sotto_arena_take(arena, size);

    *out = sotto_buf_over(data, data ? size : 0);
    return data ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu bytes", size);
}

sotto_arena_mark sotto_arena_here(const sotto_arena *arena)
{
    return (sotto_arena_mark){arena->used, arena->open, arena->open ? arena->open->used : 0};
}

void sotto_arena_rollback(sotto_arena *arena, sotto_arena_mark mark)
{
    while (arena->used != mark.used)
        spare_newest(arena);
    arena->open = mark.open;
    if (mark.open) {
        sotto_wipe((uint8_t *)mark.open + HEADER + mark.open_used,
                   mark.open->used - mark.open_used);
        mark.open->used = mark.open_used;
    }
}

void sotto_arena_reset(sotto_arena *arena)
{
    sotto_arena_block **at = &arena->spare;

    sotto_arena_rollback(arena, (sotto_arena_mark){NULL, NULL, 0});
    /* What a whole round had no use for goes back: rounds of ever new sizes must not pile up. */
    while (*at) {
        sotto_arena_block *block = *at;

        if (block->wanted) {
            block->wanted = false;
            at = &block->next;
        } else {
            *at = block->next;
            give_back(arena, block);
        }
    }
}

void sotto_arena_clear(sotto_arena *arena)
{
    sotto_arena_rollback(arena, (sotto_arena_mark){NULL, NULL, 0});
    while (arena->spare)
        give_back_one_spare(arena);
}
