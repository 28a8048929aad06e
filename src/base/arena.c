#include "base/alloc.h"

#include <string.h>

/* A block's header sits in its own cache line, so what follows keeps the allocator's alignment. */
typedef struct sotto_arena_block {
    struct sotto_arena_block *next;
    size_t size; /* usable bytes after the header */
    size_t used;
} sotto_arena_block;

enum { ALIGN = 64, HEADER = 64, SMALLEST_BLOCK = 4096 };

_Static_assert(sizeof(sotto_arena_block) <= HEADER, "the header must fit its cache line");

void sotto_arena_init(sotto_arena *arena, size_t ceiling)
{
    *arena = (sotto_arena){.ceiling = ceiling};
}

static sotto_arena_block *add_block(sotto_arena *arena, size_t wanted)
{
    /* Small requests share blocks that double; a large one gets exactly what it needs. */
    size_t size = arena->held > SMALLEST_BLOCK ? arena->held : SMALLEST_BLOCK;
    size_t room = arena->ceiling - arena->held;

    if (size > 16 * wanted && wanted > SMALLEST_BLOCK)
        size = 16 * wanted;
    if (wanted > SMALLEST_BLOCK * 8 || size < wanted)
        size = wanted;
    if (room < HEADER || size > room - HEADER)
        size = wanted;
    if (room < HEADER || size > room - HEADER)
        return NULL;

    sotto_arena_block *block = sotto_alloc(HEADER + size);
    if (!block)
        return NULL;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->held += HEADER + size;
    if (arena->held > arena->peak)
        arena->peak = arena->held;
    return block;
}

static sotto_arena_block *block_with_room(sotto_arena *arena, size_t size)
{
    for (sotto_arena_block *b = arena->blocks; b; b = b->next)
        if (b->size - b->used >= size)
            return b;
    return add_block(arena, size);
}

void *sotto_arena_take(sotto_arena *arena, size_t size)
{
    if (size > SIZE_MAX - ALIGN)
        return NULL;
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (size == 0)
        size = ALIGN;

    sotto_arena_block *block = block_with_room(arena, size);
    if (!block)
        return NULL;
    void *memory = (uint8_t *)block + HEADER + block->used;
    block->used += size;
    return memory;
}

void *sotto_arena_take_array(sotto_arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return sotto_arena_take(arena, count * size);
}

void sotto_arena_reset(sotto_arena *arena)
{
    for (sotto_arena_block *b = arena->blocks; b; b = b->next) {
        sotto_wipe((uint8_t *)b + HEADER, b->used); /* wiped is zeroed: ready to be handed out again */
        b->used = 0;
    }
}

void sotto_arena_clear(sotto_arena *arena)
{
    for (sotto_arena_block *b = arena->blocks, *next; b; b = next) {
        next = b->next;
        sotto_release(b, HEADER + b->size);
    }
    *arena = (sotto_arena){.ceiling = arena->ceiling, .peak = arena->peak};
}
