#include "learn/tree.h"

unsigned sotto_tree_levels(uint64_t restart)
{
    unsigned levels = 0;

    for (; restart > 0; restart /= 2)
        levels++;
    return levels;
}

/* The noise of a prefix of t rounds: one node for each 1 in t. Node n of level l covers rounds n 2^l + 1 to (n + 1) 2^l. */
static sotto_status add_prefix(const sotto_update *u, int64_t *sum, uint64_t tree, uint64_t t,
                               uint64_t without, int64_t sign, const sotto_tree_source *source,
                               sotto_err *err)
{
    for (unsigned level = 0; level < 64; level++) {
        const uint64_t node = (t >> level) - 1;
        sotto_entropy entropy;

        if (!(t >> level & 1))
            continue;
        /* In both prefixes: it would be added and taken away again. */
        if ((without >> level & 1) && (without >> level) - 1 == node)
            continue;
        SOTTO_TRY(source->start(source->context, &entropy, tree, level, node, err));
        const sotto_status status = sotto_update_add_noise(u, sum, sign, &entropy, err);
        sotto_entropy_clear(&entropy);
        if (status != SOTTO_OK)
            return status;
    }
    return SOTTO_OK;
}

sotto_status sotto_tree_add_noise(const sotto_update *u, int64_t *sum, uint64_t round,
                                  uint64_t restart, const sotto_tree_source *source, sotto_err *err)
{
    const uint64_t tree = round / restart, t = round % restart + 1;

    SOTTO_TRY(add_prefix(u, sum, tree, t, t - 1, 1, source, err));
    return add_prefix(u, sum, tree, t - 1, t, -1, source, err);
}
