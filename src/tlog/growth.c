#include "tlog/growth.h"

#include "base/rule.h"

#include <inttypes.h>
#include <string.h>

/* Whether a whole subtree with 2^level leaves may come next in a tree of `size`. */
static bool fits(const sotto_merkle_tree *tree, unsigned level, uint64_t size)
{
    const uint64_t leaves = level < SOTTO_MERKLE_LEVELS ? (uint64_t)1 << level : 0;

    return leaves > 0 && tree->size % leaves == 0 && size - tree->size >= leaves;
}

/* met: a step ended at the tree that was seen; same: with its root. */
static sotto_status walk(const sotto_checkpoint *now, const sotto_checkpoint *seen,
                         sotto_bytes steps, bool *met, bool *same, sotto_err *err)
{
    sotto_merkle_tree tree = {0};
    sotto_merkle_hash hash;

    for (; steps.len >= SOTTO_GROWTH_STEP;
         steps = sotto_bytes_of(steps.data + SOTTO_GROWTH_STEP, steps.len - SOTTO_GROWTH_STEP)) {
        if (!fits(&tree, steps.data[0], now->size))
            return sotto_fail(err, SOTTO_MALFORMED, "growth of a log: a step that does not fit");
        memcpy(hash.bytes, steps.data + 1, sizeof hash.bytes);
        sotto_merkle_append(&tree, steps.data[0], &hash);
        if (tree.size != seen->size)
            continue;
        sotto_merkle_root(&hash, &tree);
        *met = true;
        *same = sotto_merkle_equal(&hash, &seen->root);
    }
    if (steps.len > 0)
        return sotto_fail(err, SOTTO_MALFORMED, "growth of a log: cut off");
    sotto_merkle_root(&hash, &tree);
    if (SOTTO_RULE(growth_ends_at_the_signed_tree) &&
        (tree.size != now->size || !sotto_merkle_equal(&hash, &now->root)))
        return sotto_fail(err, SOTTO_REJECTED, "growth of a log: leads to another tree");
    return SOTTO_OK;
}

sotto_status sotto_growth_check(const sotto_checkpoint *now, const sotto_checkpoint *seen,
                                sotto_bytes steps, bool *fork, sotto_err *err)
{
    bool met = false, same = false;

    *fork = false;
    if (seen->size == 0)
        return SOTTO_OK;
    if (SOTTO_RULE(growth_never_goes_back) && now->size < seen->size)
        return sotto_fail(err, SOTTO_STALE,
                          "the log was rolled back: %" PRIu64 " entries, and %" PRIu64 " were seen",
                          now->size, seen->size);
    if (now->size == seen->size)
        same = sotto_merkle_equal(&now->root, &seen->root);
    else if (steps.len > 0)
        SOTTO_TRY(walk(now, seen, steps, &met, &same, err));
    if (SOTTO_RULE(growth_from_the_seen_tree) && now->size != seen->size && !met)
        return sotto_fail(err, SOTTO_MISSING,
                          "nothing shows that the log's tree continues the one of %" PRIu64
                          " entries that was seen: its feed is needed",
                          seen->size);
    if (SOTTO_RULE(forks_are_noticed) && !same) {
        *fork = true;
        return sotto_fail(err, SOTTO_REJECTED,
                          "the log forked: two signed trees, of %" PRIu64 " and %" PRIu64
                          " entries, and neither begins the other",
                          seen->size, now->size);
    }
    return SOTTO_OK;
}
