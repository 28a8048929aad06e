#include "subtree.h"

static bool is_subtree(const sotto_subtree *s)
{
    uint64_t room = 1;

    if (s->start >= s->end)
        return false;
    while (room < s->end - s->start && room < (uint64_t)1 << 63)
        room <<= 1;
    return room >= s->end - s->start && s->start % room == 0;
}

sotto_status sotto_subtree_check_inclusion(const sotto_merkle_proof *proof,
                                           const sotto_merkle_hash *leaf, uint64_t index,
                                           const sotto_subtree *subtree, sotto_err *err)
{
    if (!is_subtree(subtree) || index < subtree->start || index >= subtree->end)
        return sotto_fail(err, SOTTO_REJECTED, "subtree: no such leaf");
    return sotto_merkle_check_inclusion(proof, leaf, index - subtree->start,
                                        subtree->end - subtree->start, &subtree->root, err);
}

/* Places of a level: of the subtree's first and last node, and of the tree's last one. */
typedef struct level {
    uint64_t first, last, end;
} level;

static void go_up(level *l)
{
    l->first >>= 1;
    l->last >>= 1;
    l->end >>= 1;
}

/* To where the proof begins: at the subtree's own root, if a node of the tree has it. */
static void skip_whole(level *l)
{
    const bool last = l->last == l->end;

    while (l->first != l->last && (last || (l->last & 1) != 0))
        go_up(l);
}

static sotto_status check_path(level l, const sotto_merkle_proof *proof,
                               const sotto_subtree *subtree, const sotto_merkle_hash *root,
                               sotto_err *err)
{
    const bool whole = l.first == l.last;
    sotto_merkle_hash part = subtree->root, all = subtree->root;

    if (!whole && proof->count == 0)
        return sotto_fail(err, SOTTO_REJECTED, "subtree: too few hashes");
    if (!whole)
        part = all = proof->hashes[0];
    for (size_t i = whole ? 0 : 1; i < proof->count; i++) {
        const sotto_merkle_hash *next = &proof->hashes[i];

        if (l.end == 0)
            return sotto_fail(err, SOTTO_REJECTED, "subtree: too many hashes");
        if ((l.last & 1) != 0 || l.last == l.end) {
            if (l.first < l.last)
                sotto_merkle_node(&part, next, &part);
            sotto_merkle_node(&all, next, &all);
            while (l.last != 0 && (l.last & 1) == 0)
                go_up(&l);
        } else {
            sotto_merkle_node(&all, &all, next);
        }
        go_up(&l);
    }
    if (l.end != 0)
        return sotto_fail(err, SOTTO_REJECTED, "subtree: too few hashes");
    return sotto_merkle_equal(&part, &subtree->root) && sotto_merkle_equal(&all, root)
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_REJECTED, "subtree: another root");
}

sotto_status sotto_subtree_check_consistency(const sotto_merkle_proof *proof,
                                             const sotto_subtree *subtree, uint64_t size,
                                             const sotto_merkle_hash *root, sotto_err *err)
{
    level l = {subtree->start, subtree->end - 1, size - 1};
    sotto_merkle_hash none;

    if (subtree->end > size)
        return sotto_fail(err, SOTTO_REJECTED, "subtree: not in a tree of this size");
    if (subtree->start == subtree->end) {
        sotto_merkle_empty(&none);
        return proof->count == 0 && sotto_merkle_equal(&subtree->root, &none)
                   ? SOTTO_OK
                   : sotto_fail(err, SOTTO_REJECTED, "subtree: without leaves, and not empty");
    }
    if (!is_subtree(subtree))
        return sotto_fail(err, SOTTO_REJECTED, "subtree: not one of a tree");
    skip_whole(&l);
    return check_path(l, proof, subtree, root, err);
}
