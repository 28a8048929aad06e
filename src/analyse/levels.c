/* Counts of a tree, measured more than once, that add up: generalized least squares on a tree (Hay, Rastogi, Miklau and
 * Suciu 2010). What is below a node is gathered into it from the leaves up. What it then is goes down again. */
#include "sotto/analyse.h"

#include "base/arena.h"

#include <math.h>

/* Of the children of a node. */
typedef struct gathered {
    double sum, variance;
    bool any;
} gathered;

/* Two estimates of one number. */
static void combine(sotto_level_node *n, double other, double variance)
{
    const double a = 1 / n->fitted_variance, b = 1 / variance;

    if (a + b > 0 && isfinite(a + b)) {
        n->fitted = (n->fitted * a + other * b) / (a + b);
        n->fitted_variance = 1 / (a + b);
    } else if (isfinite(variance) && variance < n->fitted_variance) {
        n->fitted = other;
        n->fitted_variance = variance;
    }
}

static sotto_status gather(sotto_level_node *nodes, gathered *below, size_t count, sotto_err *err)
{
    for (size_t i = count; i-- > 0;) {
        sotto_level_node *n = &nodes[i];

        n->fitted_variance = isfinite(n->value) ? n->variance : INFINITY;
        n->fitted = isfinite(n->fitted_variance) ? n->value : 0;
        if (below[i].any)
            combine(n, below[i].sum, below[i].variance);
        if (!isfinite(n->fitted_variance))
            return sotto_fail(err, SOTTO_MALFORMED, "node %zu of a tree was not measured", i);
        if (i == 0)
            break;
        below[n->parent].sum += n->fitted;
        below[n->parent].variance += n->fitted_variance;
        below[n->parent].any = true;
    }
    return SOTTO_OK;
}

sotto_status sotto_levels_fit(sotto_level_node *nodes, size_t count, sotto_arena *arena,
                              sotto_err *err)
{
    sotto_err_clear(err);

    gathered *below = sotto_arena_take_array(arena, count, sizeof *below);

    if (!below)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a tree of %zu nodes", count);
    for (size_t i = 0; i < count; i++)
        if ((i > 0 && nodes[i].parent >= i) || !(nodes[i].variance >= 0))
            return sotto_fail(err, SOTTO_MALFORMED,
                              "node %zu of a tree: its parent or variance can't be", i);
    SOTTO_TRY(gather(nodes, below, count, err));
    for (size_t i = 1; i < count; i++) {
        const gathered *g = &below[nodes[i].parent];
        const double part = g->variance > 0 ? nodes[i].fitted_variance / g->variance : 0,
                     off = nodes[nodes[i].parent].fitted - g->sum;

        nodes[i].fitted += part * off;
        nodes[i].fitted_variance = nodes[i].fitted_variance * (1 - part) +
                                   part * part * nodes[nodes[i].parent].fitted_variance;
    }
    return SOTTO_OK;
}
