#include "aggregate/aero/sum_tree.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

enum { LEAF = 0, NODE = 1 }; /* first byte of what is hashed: no leaf is a node */

void sotto_aero_leaf_hash(uint8_t out[32], sotto_bytes leaf)
{
    const uint8_t kind = LEAF;
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(&kind, 1));
    sotto_hash_update(&hash, leaf);
    sotto_hash_final(&hash, out);
}

static void absorb(sotto_hash *hash, const sotto_aero_sum *node, bool adds)
{
    uint8_t word[8];

    sotto_hash_update(hash, sotto_bytes_of(node->hash, sizeof node->hash));
    for (unsigned i = 0; adds && i < SOTTO_AERO_VALUES; i++) {
        sotto_f64_store(word, node->v[i]);
        sotto_hash_update(hash, sotto_bytes_of(word, sizeof word));
    }
}

static void parent(sotto_aero_sum *out, const sotto_aero_sum *left, const sotto_aero_sum *right,
                   bool adds)
{
    const uint8_t kind = NODE;
    sotto_aero_sum node = {.hash = {0}};
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(&kind, 1));
    absorb(&hash, left, adds);
    absorb(&hash, right, adds);
    sotto_hash_final(&hash, node.hash);
    for (unsigned i = 0; adds && i < SOTTO_AERO_VALUES; i++)
        node.v[i] = sotto_f64_add(left->v[i], right->v[i]);
    *out = node;
}

sotto_status sotto_aero_sum_build(sotto_aero_sum_tree *tree, const sotto_aero_sum *leaves,
                                  uint32_t count, bool adds, sotto_arena *arena, sotto_err *err)
{
    memset(tree, 0, sizeof *tree);
    tree->adds = adds;
    if (count == 0 || count > SOTTO_AERO_MOST_LEAVES)
        return sotto_fail(err, SOTTO_DENIED, "aero: a tree of %u leaves", count);
    for (uint32_t level = 0;; level++, count = (count + 1) / 2) {
        sotto_aero_sum *at = sotto_arena_take_array(arena, count, sizeof *at);

        if (!at)
            return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
        tree->level[level] = at;
        tree->count[level] = count;
        tree->levels = level + 1;
        if (level == 0)
            memcpy(at, leaves, count * sizeof *at);
        for (uint32_t i = 0; level > 0 && i < count; i++) {
            const sotto_aero_sum *below = tree->level[level - 1] + 2 * (size_t)i;

            if (2 * i + 1 < tree->count[level - 1])
                parent(&at[i], &below[0], &below[1], adds);
            else
                at[i] = below[0];
        }
        if (count == 1)
            return SOTTO_OK;
    }
}

const sotto_aero_sum *sotto_aero_sum_root(const sotto_aero_sum_tree *tree)
{
    return tree->level[tree->levels - 1];
}

void sotto_aero_sum_path_of(sotto_aero_sum_path *path, const sotto_aero_sum_tree *tree,
                            uint32_t level, uint32_t index)
{
    memset(path, 0, sizeof *path);
    for (; level + 1 < tree->levels; level++, index /= 2) {
        uint32_t other = index ^ 1;

        if (other < tree->count[level])
            path->at[path->count++] = tree->level[level][other];
    }
}

static bool same(const sotto_aero_sum *a, const sotto_aero_sum *b, bool adds)
{
    bool equal = memcmp(a->hash, b->hash, sizeof a->hash) == 0;

    for (unsigned i = 0; adds && i < SOTTO_AERO_VALUES; i++)
        equal &= a->v[i].v == b->v[i].v;
    return equal;
}

bool sotto_aero_sum_holds(const sotto_aero_sum_path *path, const sotto_aero_sum *node,
                          uint32_t index, uint32_t leaves, const sotto_aero_sum *root, bool adds)
{
    sotto_aero_sum at = *node;
    uint32_t used = 0;

    if (index >= leaves)
        return false;
    for (; leaves > 1; leaves = (leaves + 1) / 2, index /= 2) {
        if ((index ^ 1) >= leaves)
            continue;
        if (used == path->count)
            return false;
        const sotto_aero_sum *other = &path->at[used++];
        parent(&at, index % 2 ? other : &at, index % 2 ? &at : other, adds);
    }
    return used == path->count && same(&at, root, adds);
}

/* Only the last of them has a neighbour that is not among them. */
void sotto_aero_sum_first_of(sotto_aero_sum_path *path, const sotto_aero_sum_tree *tree,
                             uint32_t count)
{
    memset(path, 0, sizeof *path);
    for (uint32_t level = 0; level + 1 < tree->levels; level++, count = (count + 1) / 2)
        if (count % 2 && count < tree->count[level])
            path->at[path->count++] = tree->level[level][count];
}

bool sotto_aero_sum_first_holds(const sotto_aero_sum_path *path, sotto_aero_sum *first,
                                uint32_t count, uint32_t leaves, const sotto_aero_sum *root)
{
    uint32_t used = 0;

    if (count == 0 || count > leaves)
        return false;
    for (; leaves > 1; leaves = (leaves + 1) / 2, count = (count + 1) / 2) {
        if (count % 2 && count < leaves) {
            if (used == path->count)
                return false;
            first[count] = path->at[used++];
        }
        const uint32_t whole = count % 2 && count == leaves ? count - 1 : count;
        for (uint32_t i = 0; i < whole; i += 2)
            parent(&first[i / 2], &first[i], &first[i + 1], false);
        if (whole < count)
            first[count / 2] = first[count - 1];
    }
    return used == path->count && same(&first[0], root, false);
}

void sotto_aero_sum_path_write(sotto_writer *w, const sotto_aero_sum_path *path, bool adds)
{
    sotto_write_uint(w, path->count, 1);
    for (uint32_t i = 0; i < path->count; i++) {
        sotto_write_bytes(w, sotto_bytes_of(path->at[i].hash, 32));
        for (unsigned k = 0; adds && k < SOTTO_AERO_VALUES; k++)
            sotto_write_uint(w, path->at[i].v[k].v, 8);
    }
}

void sotto_aero_sum_path_read(sotto_reader *in, sotto_aero_sum_path *path, bool adds,
                              bool *malformed)
{
    memset(path, 0, sizeof *path);
    path->count = (uint32_t)sotto_read_uint(in, 1);
    if (path->count > SOTTO_AERO_DEPTH) {
        *malformed = true;
        path->count = 0;
    }
    for (uint32_t i = 0; i < path->count; i++) {
        sotto_read_fixed(in, path->at[i].hash, 32);
        for (unsigned k = 0; adds && k < SOTTO_AERO_VALUES; k++) {
            path->at[i].v[k] = (sotto_f64){sotto_read_uint(in, 8)};
            *malformed |= path->at[i].v[k].v >= SOTTO_F64_P;
        }
    }
}

/* ---- values --------------------------------------------------------------------------------------------- */

void sotto_aero_points_of(sotto_f64 points[SOTTO_AERO_POINTS], const uint8_t seed[32])
{
    static const char purpose[] = "sotto-aero-points-1";
    uint8_t digest[32];
    sotto_hash hash;

    /* Sixteen bytes each: a point is uniform but for 2^-64. */
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, sotto_bytes_of(seed, 32));
    sotto_hash_final(&hash, digest);
    for (unsigned i = 0; i < SOTTO_AERO_POINTS; i++) {
        const uint8_t *at = digest + (size_t)16 * i;

        points[i] = sotto_f64_reduce(sotto_u128_of(sotto_load64(at), sotto_load64(at + 8)));
    }
}

/* Horner's rule at both points, for both primes at once. */
static void evaluate(sotto_f64 v[SOTTO_AERO_HALF], const sotto_aero_poly *poly,
                     const sotto_f64 points[SOTTO_AERO_POINTS])
{
    for (size_t k = SOTTO_AERO_N; k-- > 0;)
        for (unsigned i = 0; i < SOTTO_AERO_POINTS; i++) {
            sotto_f64 *first = &v[i], *second = &v[SOTTO_AERO_POINTS + i];

            *first = sotto_f64_add(sotto_f64_mul(*first, points[i]), poly->first[k]);
            *second =
                sotto_f64_add(sotto_f64_mul(*second, points[i]), sotto_f64_from(poly->second[k]));
        }
}

void sotto_aero_value_of(sotto_f64 v[SOTTO_AERO_VALUES], const sotto_aero_cipher *ciphers,
                         size_t count, const sotto_f64 points[SOTTO_AERO_POINTS])
{
    for (unsigned i = 0; i < SOTTO_AERO_VALUES; i++)
        v[i] = sotto_f64_zero();
    for (size_t j = count; j-- > 0;) {
        evaluate(v, &ciphers[j].c1, points);
        evaluate(v + SOTTO_AERO_HALF, &ciphers[j].c2, points);
    }
}

void sotto_aero_half_of(sotto_f64 v[SOTTO_AERO_HALF], const sotto_aero_poly *half, size_t count,
                        const sotto_f64 points[SOTTO_AERO_POINTS])
{
    for (unsigned i = 0; i < SOTTO_AERO_HALF; i++)
        v[i] = sotto_f64_zero();
    for (size_t j = count; j-- > 0;)
        evaluate(v, &half[j], points);
}

static void add_total(sotto_aero_poly *sum, const sotto_aero_poly *more)
{
    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        sum->first[k] = sotto_f64_add(sum->first[k], more->first[k]);
        sum->second[k] += more->second[k];
    }
}

void sotto_aero_total_add(sotto_aero_cipher *sum, const sotto_aero_cipher *more)
{
    add_total(&sum->c1, &more->c1);
    add_total(&sum->c2, &more->c2);
}

void sotto_aero_total_reduce(const sotto_aero *aero, sotto_aero_poly *out,
                             const sotto_aero_poly *total)
{
    uint64_t prime = aero->ring.set->second;

    *out = *total;
    for (size_t k = 0; k < SOTTO_AERO_N && prime; k++)
        out->second[k] %= prime;
}
