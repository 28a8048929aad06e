#include "tlog/prover.h"

#include "base/alloc.h"

#include <string.h>

enum { WAYS = 4, NODES = 2 * SOTTO_TILE_WIDTH - 2, LEAST = 4, MOST = 1 << 20 };

/* A tile with the nodes above its hashes, level by level, as far as it has two below. */
typedef struct cached {
    unsigned level, width; /* width 0: empty */
    uint64_t index, used;
    sotto_merkle_hash nodes[NODES];
} cached;

struct sotto_prover {
    sotto_tile_read *read;
    void *context;
    size_t sets, size;
    uint64_t clock;
    cached tiles[];
};

sotto_status sotto_prover_new(sotto_prover **prover, size_t tiles, sotto_tile_read *read,
                              void *context, sotto_err *err)
{
    const size_t sets = (tiles < LEAST ? LEAST : tiles > MOST ? MOST : tiles) / WAYS;
    const size_t size = sizeof **prover + sets * WAYS * sizeof(cached);

    *prover = sotto_alloc(size);
    if (!*prover)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu tiles", sets * WAYS);
    (*prover)->read = read;
    (*prover)->context = context;
    (*prover)->sets = sets;
    (*prover)->size = size;
    return SOTTO_OK;
}

void sotto_prover_free(sotto_prover *prover)
{
    sotto_release(prover, prover ? prover->size : 0);
}

void sotto_prover_forget(sotto_prover *prover)
{
    for (size_t i = 0; i < prover->sets * WAYS; i++)
        prover->tiles[i].width = 0, prover->tiles[i].used = 0;
}

/* ---- tiles ---------------------------------------------------------------------------------------------------------- */

/* Where the nodes of that height begin within a tile. */
static size_t base_of(unsigned height)
{
    return 2 * SOTTO_TILE_WIDTH - ((size_t)2 * SOTTO_TILE_WIDTH >> height);
}

static void expand(cached *tile)
{
    for (unsigned height = 1; height < SOTTO_TILE_HEIGHT; height++) {
        const sotto_merkle_hash *below = tile->nodes + base_of(height - 1);

        for (unsigned i = 0; i < tile->width >> height; i++)
            sotto_merkle_node(&tile->nodes[base_of(height) + i], &below[(size_t)2 * i],
                              &below[(size_t)2 * i + 1]);
    }
}

/* A tile with at least the width that a tree of that size has: more of the same leaves is as good. */
static sotto_status find(sotto_prover *p, const cached **out, unsigned level, uint64_t index,
                         uint64_t size, sotto_err *err)
{
    const sotto_tile wanted = {
        .level = level, .index = index, .width = sotto_tile_width(level, index, size)};
    cached *set = &p->tiles[(index * 31 + level) % p->sets * WAYS], *tile = set;
    sotto_status status;

    for (cached *other = set; other < set + WAYS; other++) {
        if (other->width > 0 && other->level == level && other->index == index) {
            tile = other;
            break;
        }
        if (other->used < tile->used)
            tile = other; /* the one that was not wanted for longest, or is empty */
    }
    *out = tile;
    tile->used = ++p->clock;
    if (tile->width >= wanted.width && tile->level == level && tile->index == index)
        return SOTTO_OK;
    tile->width = 0;
    status = p->read(p->context, &wanted, tile->nodes, err);
    if (status != SOTTO_OK) {
        tile->used = 0;
        return status;
    }
    tile->level = level;
    tile->index = index;
    tile->width = wanted.width;
    expand(tile);
    return SOTTO_OK;
}

/* The root of the whole subtree with the leaves from index * 2^height on. */
static sotto_status node_at(sotto_prover *p, sotto_merkle_hash *out, unsigned height,
                            uint64_t index, uint64_t size, sotto_err *err)
{
    const unsigned level = height / SOTTO_TILE_HEIGHT, inside = height % SOTTO_TILE_HEIGHT;
    const unsigned shift = SOTTO_TILE_HEIGHT - inside;
    const cached *tile;

    SOTTO_TRY(find(p, &tile, level, index >> shift, size, err));
    *out = tile->nodes[base_of(inside) + (index & (((uint64_t)1 << shift) - 1))];
    return SOTTO_OK;
}

/* ---- ranges of leaves ------------------------------------------------------------------------------------------------ */

static unsigned height_of(uint64_t count) /* of the largest whole subtree within so many leaves */
{
    unsigned height = 0;

    while (count >> height > 1)
        height++;
    return height;
}

/* Whole subtrees from the left, the largest first; begin is a multiple of the first one's leaves. */
static sotto_status split(sotto_prover *p, sotto_merkle_tree *tree, uint64_t begin, uint64_t end,
                          uint64_t size, sotto_err *err)
{
    tree->size = end - begin;
    for (uint64_t at = begin; at < end;) {
        const unsigned height = height_of(end - at);

        SOTTO_TRY(node_at(p, &tree->edge[height], height, at >> height, size, err));
        at += (uint64_t)1 << height;
    }
    return SOTTO_OK;
}

static sotto_status push(sotto_prover *p, sotto_merkle_proof *proof, uint64_t begin, uint64_t end,
                         uint64_t size, sotto_err *err)
{
    sotto_merkle_tree tree;

    SOTTO_TRY(split(p, &tree, begin, end, size, err));
    sotto_merkle_root(&proof->hashes[proof->count++], &tree);
    return SOTTO_OK;
}

/* Proofs are found from the root down, and written from the leaf up. */
static void reverse(sotto_merkle_proof *proof)
{
    for (size_t i = 0, j = proof->count; i + 1 < j; i++) {
        const sotto_merkle_hash hash = proof->hashes[i];

        proof->hashes[i] = proof->hashes[--j];
        proof->hashes[j] = hash;
    }
}

/* Leaves of the left half (RFC 6962, 2.1): the largest power of two below count, which is at least 2. */
static uint64_t left_of(uint64_t count)
{
    return (uint64_t)1 << height_of(count - 1);
}

sotto_status sotto_prover_inclusion(sotto_prover *p, sotto_merkle_proof *proof, uint64_t index,
                                    uint64_t size, sotto_err *err)
{
    uint64_t begin = 0, end = size;

    proof->count = 0;
    if (index >= size || size > INT64_MAX)
        return sotto_fail(err, SOTTO_MISSING, "the tree has no such entry");
    while (end - begin > 1) {
        const uint64_t middle = begin + left_of(end - begin);

        if (index < middle) {
            SOTTO_TRY(push(p, proof, middle, end, size, err));
            end = middle;
        } else {
            SOTTO_TRY(push(p, proof, begin, middle, size, err));
            begin = middle;
        }
    }
    reverse(proof);
    return SOTTO_OK;
}

sotto_status sotto_prover_consistency(sotto_prover *p, sotto_merkle_proof *proof, uint64_t size1,
                                      uint64_t size2, sotto_err *err)
{
    uint64_t begin = 0, end = size2;

    proof->count = 0;
    if (size1 == 0 || size1 > size2 || size2 > INT64_MAX)
        return sotto_fail(err, SOTTO_MISSING, "no consistency proof between such sizes");
    while (size1 != end) {
        const uint64_t middle = begin + left_of(end - begin);

        if (size1 <= middle) {
            SOTTO_TRY(push(p, proof, middle, end, size2, err));
            end = middle;
        } else {
            SOTTO_TRY(push(p, proof, begin, middle, size2, err));
            begin = middle;
        }
    }
    if (begin > 0) /* else it is the old tree itself, whose root is known */
        SOTTO_TRY(push(p, proof, begin, end, size2, err));
    reverse(proof);
    return SOTTO_OK;
}

sotto_status sotto_prover_tree(sotto_prover *p, sotto_merkle_tree *tree, uint64_t size,
                               uint64_t within, sotto_err *err)
{
    if (size > within || within > INT64_MAX)
        return sotto_fail(err, SOTTO_MISSING, "no tree is that large");
    return split(p, tree, 0, size, within, err);
}

/* The largest subtrees that begin where the last one ended and go no further than `end`. */
static sotto_status write_steps(sotto_prover *p, sotto_writer *w, uint64_t at, uint64_t end,
                                uint64_t size, sotto_err *err)
{
    sotto_merkle_hash hash;

    while (at < end) {
        unsigned height = height_of(end - at);

        while (at & (((uint64_t)1 << height) - 1))
            height--;
        SOTTO_TRY(node_at(p, &hash, height, at >> height, size, err));
        sotto_write_uint(w, height, 1);
        sotto_write_bytes(w, sotto_bytes_of(hash.bytes, sizeof hash.bytes));
        at += (uint64_t)1 << height;
    }
    return SOTTO_OK;
}

sotto_status sotto_prover_growth(sotto_prover *p, sotto_buf *steps, const uint64_t *sizes,
                                 size_t count, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(steps);
    uint64_t at = 0;

    for (size_t i = 0; i < count; i++) {
        if (sizes[i] < at || sizes[i] > sizes[count - 1] || sizes[i] > INT64_MAX)
            return sotto_fail(err, SOTTO_MISSING, "sizes of a log's growth do not ascend");
        SOTTO_TRY(write_steps(p, &w, at, sizes[i], sizes[count - 1], err));
        at = sizes[i];
    }
    return sotto_writer_finish(&w, "growth of a log", err);
}

sotto_status sotto_prover_root(sotto_prover *p, sotto_merkle_hash *root, uint64_t size,
                               sotto_err *err)
{
    sotto_merkle_tree tree;

    SOTTO_TRY(sotto_prover_tree(p, &tree, size, size, err));
    sotto_merkle_root(root, &tree);
    return SOTTO_OK;
}
