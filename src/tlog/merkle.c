#include "tlog/merkle.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

/* ---- hashes (RFC 6962, 2.1): a leaf and a node never hash the same bytes ------------------------------------- */

void sotto_merkle_leaf(sotto_merkle_hash *out, sotto_bytes entry)
{
    static const uint8_t prefix = 0;
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(&prefix, 1));
    sotto_hash_update(&hash, entry);
    sotto_hash_final(&hash, out->bytes);
}

void sotto_merkle_node(sotto_merkle_hash *out, const sotto_merkle_hash *left,
                       const sotto_merkle_hash *right)
{
    uint8_t text[1 + 2 * SOTTO_MERKLE_HASH] = {1};

    memcpy(text + 1, left->bytes, SOTTO_MERKLE_HASH);
    memcpy(text + 1 + SOTTO_MERKLE_HASH, right->bytes, SOTTO_MERKLE_HASH);
    sotto_hash_once(out->bytes, SOTTO_SHA256, sotto_bytes_of(text, sizeof text));
}

void sotto_merkle_empty(sotto_merkle_hash *out)
{
    sotto_hash_once(out->bytes, SOTTO_SHA256, sotto_bytes_of("", 0));
}

bool sotto_merkle_equal(const sotto_merkle_hash *a, const sotto_merkle_hash *b)
{
    return memcmp(a->bytes, b->bytes, SOTTO_MERKLE_HASH) == 0;
}

/* ---- proofs --------------------------------------------------------------------------------------------------- */

static unsigned bits_of(uint64_t x)
{
    unsigned n = 0;

    for (; x != 0; x >>= 1)
        n++;
    return n;
}

static unsigned ones_of(uint64_t x)
{
    unsigned n = 0;

    for (; x != 0; x &= x - 1)
        n++;
    return n;
}

/* A path from the index-th node of a level with `size` nodes up to the root. Below `inner` levels it has a sibling on each side of
 * some, as the bits of index say. Above, it follows the right edge, where all its siblings are on the left. */
typedef struct path {
    uint64_t index;
    unsigned inner;
    size_t count; /* of its siblings */
} path;

static path path_of(uint64_t index, uint64_t size)
{
    path p = {.index = index, .inner = bits_of(index ^ (size - 1))};

    p.count = p.inner + ones_of(p.inner < 64 ? index >> p.inner : 0);
    return p;
}

/* Climbs along a path. left_only: siblings on the right are left out, which gives the root of the tree that ends with the path. */
static void climb(sotto_merkle_hash *hash, const path *p, const sotto_merkle_hash *siblings,
                  bool left_only)
{
    for (size_t i = 0; i < p->count; i++) {
        const bool left = i >= p->inner || (p->index >> i & 1) != 0;

        if (left)
            sotto_merkle_node(hash, &siblings[i], hash);
        else if (!left_only)
            sotto_merkle_node(hash, hash, &siblings[i]);
    }
}

static sotto_status refuse_count(const char *what, size_t count, size_t wanted, sotto_err *err)
{
    return sotto_fail(err, SOTTO_REJECTED, "%s: %zu hashes, where %zu are needed", what, count,
                      wanted);
}

sotto_status sotto_merkle_check_inclusion(const sotto_merkle_proof *proof,
                                          const sotto_merkle_hash *leaf, uint64_t index,
                                          uint64_t size, const sotto_merkle_hash *root,
                                          sotto_err *err)
{
    sotto_merkle_hash hash = *leaf;
    path p;

    if (index >= size)
        return sotto_fail(err, SOTTO_REJECTED, "inclusion proof: the tree has no such entry");
    p = path_of(index, size);
    if (SOTTO_RULE(inclusion_proof_of_exact_length) && proof->count != p.count)
        return refuse_count("inclusion proof", proof->count, p.count, err);
    climb(&hash, &p, proof->hashes, false);
    if (SOTTO_RULE(inclusion_proof_reaches_the_root) && !sotto_merkle_equal(&hash, root))
        return sotto_fail(err, SOTTO_REJECTED, "inclusion proof: leads to another root");
    return SOTTO_OK;
}

static sotto_status check_same(const sotto_merkle_proof *proof, const sotto_merkle_hash *root1,
                               const sotto_merkle_hash *root2, sotto_err *err)
{
    if (proof->count != 0)
        return refuse_count("consistency proof", proof->count, 0, err);
    if (SOTTO_RULE(one_tree_of_each_size) && !sotto_merkle_equal(root1, root2))
        return sotto_fail(err, SOTTO_REJECTED, "two trees of one size with different roots");
    return SOTTO_OK;
}

sotto_status sotto_merkle_check_consistency(const sotto_merkle_proof *proof, uint64_t size1,
                                            const sotto_merkle_hash *root1, uint64_t size2,
                                            const sotto_merkle_hash *root2, sotto_err *err)
{
    sotto_merkle_hash first, second;
    unsigned shift = 0;
    size_t begin;
    path p;

    if (size1 == 0 || size1 > size2)
        return sotto_fail(err, SOTTO_REJECTED, "consistency proof: no proof leads from %s",
                          size1 == 0 ? "an empty tree" : "a larger tree to a smaller one");
    if (size1 == size2)
        return check_same(proof, root1, root2, err);
    /* Both roots are reached from the last whole subtree of the first tree: 2^shift leaves. It is the first tree itself, or
     * the proof begins with it. */
    while ((size1 >> shift & 1) == 0)
        shift++;
    begin = size1 == (uint64_t)1 << shift ? 0 : 1;
    p = path_of((size1 - 1) >> shift, ((size2 - 1) >> shift) + 1);
    if (SOTTO_RULE(consistency_proof_of_exact_length) && proof->count != begin + p.count)
        return refuse_count("consistency proof", proof->count, begin + p.count, err);
    first = second = begin ? proof->hashes[0] : *root1;
    climb(&first, &p, proof->hashes + begin, true);
    if (SOTTO_RULE(consistency_proof_of_the_old_root) && !sotto_merkle_equal(&first, root1))
        return sotto_fail(err, SOTTO_REJECTED, "consistency proof: leads to another old root");
    climb(&second, &p, proof->hashes + begin, false);
    if (SOTTO_RULE(consistency_proof_of_the_new_root) && !sotto_merkle_equal(&second, root2))
        return sotto_fail(err, SOTTO_REJECTED, "consistency proof: leads to another new root");
    return SOTTO_OK;
}

/* ---- growing ---------------------------------------------------------------------------------------------------- */

void sotto_merkle_append(sotto_merkle_tree *tree, unsigned level, const sotto_merkle_hash *hash)
{
    sotto_merkle_hash whole = *hash;
    unsigned k = level;

    for (; (tree->size >> k & 1) != 0; k++)
        sotto_merkle_node(&whole, &tree->edge[k], &whole);
    tree->edge[k] = whole;
    tree->size += (uint64_t)1 << level;
}

void sotto_merkle_root(sotto_merkle_hash *out, const sotto_merkle_tree *tree)
{
    bool any = false;

    for (unsigned k = 0; k < SOTTO_MERKLE_LEVELS; k++) {
        if ((tree->size >> k & 1) == 0)
            continue;
        if (any)
            sotto_merkle_node(out, &tree->edge[k], out);
        else
            *out = tree->edge[k];
        any = true;
    }
    if (!any)
        sotto_merkle_empty(out);
}
