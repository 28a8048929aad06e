/* Sums over bins: by one column of several, and by the phrases of a prefix tree. */
#include "analyse/bins.h"

#include "base/arena.h"
#include "base/writer.h"
#include "recipe/encoding.h"

size_t sotto_recipe_columns(const sotto_recipe *recipe)
{
    return recipe->encoding.count;
}

const char *sotto_recipe_column(const sotto_recipe *recipe, size_t column)
{
    return column < recipe->encoding.count ? recipe->encoding.encoders[column].column : NULL;
}

static sotto_status check_column(const sotto_result *result, const sotto_recipe *recipe,
                                 size_t column, sotto_err *err)
{
    if (column >= recipe->encoding.count || result->count != recipe->encoding.bins)
        return sotto_fail(err, SOTTO_MISSING, "no column %zu among the bins", column);
    return SOTTO_OK;
}

/* Sums and adjusted counts of each bin of a column. The bin of a row is that of its first column times the bins of the second,
 * plus that of the second, and so on. */
static sotto_status add_up(int64_t **sums, double **adjusted, const sotto_result *result,
                           const sotto_recipe *recipe, size_t column, sotto_arena *arena,
                           sotto_err *err)
{
    const sotto_encoding *e = &recipe->encoding;
    const uint64_t bins = e->encoders[column].bins;
    uint64_t behind = 1;

    for (size_t i = column + 1; i < e->count; i++)
        behind *= e->encoders[i].bins;
    *sums = sotto_arena_take_array(arena, (size_t)bins, sizeof **sums);
    *adjusted = sotto_arena_take_array(arena, (size_t)bins, sizeof **adjusted);
    if (!*sums || !*adjusted)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the bins of a column");
    for (size_t i = 0; i < result->count; i++) {
        const size_t at = (size_t)(i / behind % bins);

        (*sums)[at] += result->bins[i].sum;
        (*adjusted)[at] += result->bins[i].adjusted;
    }
    return SOTTO_OK;
}

/* Whether bins were drawn at different rates. */
static bool two_rates(const sotto_result *r)
{
    return r->rate_default > 0 && r->default_bin != SOTTO_NO_VALUE;
}

sotto_status sotto_result_marginal(sotto_result *out, const sotto_result *result,
                                   const sotto_recipe *recipe, size_t column, sotto_arena *arena,
                                   sotto_err *err)
{
    sotto_err_clear(err);

    sotto_report_content content;
    int64_t *sums;
    double *adjusted;

    SOTTO_TRY(check_column(result, recipe, column, err));
    const size_t bins = (size_t)recipe->encoding.encoders[column].bins;
    SOTTO_TRY(sotto_recipe_content(&content, recipe, err));
    SOTTO_TRY(add_up(&sums, &adjusted, result, recipe, column, arena, err));
    *out = *result;
    out->figure_count = 0;
    out->count = bins;
    out->bins = sotto_arena_take_array(arena, bins, sizeof *out->bins);
    out->wholes = NULL;
    if (two_rates(result)) /* a sum over values of both has no rate of its own */
        out->rate = out->rate_default = 0;
    if (out->rate > 0)
        out->wholes = sotto_arena_take_array(arena, bins, sizeof *out->wholes);
    if (!out->bins || (out->rate > 0 && !out->wholes))
        return sotto_fail(err, SOTTO_NO_MEMORY, "a result of %zu bins", bins);
    const sotto_sum_law law =
        sotto_result_law(result, &content, recipe, (double)result->count / (double)bins);
    SOTTO_TRY(
        sotto_result_fill(out->bins, out->wholes, sums, bins, out, &law, (double)bins, arena, err));
    for (size_t i = 0; i < bins; i++)
        out->bins[i].adjusted = adjusted[i];
    return SOTTO_OK;
}

sotto_status sotto_recipe_column_label(const sotto_recipe *recipe, sotto_buf *out, size_t column,
                                       uint64_t bin, sotto_err *err)
{
    sotto_err_clear(err);

    const sotto_encoding *e = &recipe->encoding;
    sotto_writer w = sotto_writer_on(out);

    if (column >= e->count || bin >= e->encoders[column].bins)
        return sotto_fail(err, SOTTO_MISSING, "no such bin of a column");
    sotto_encoder_label(&w, &e->encoders[column], bin);
    return sotto_writer_finish(&w, "label", err);
}

/* ---- prefix trees ----------------------------------------------------------------------------------- */

/* The root has every leaf below it; <oov> of the whole tree is no phrase, and in no node. */
static void add_leaves(sotto_result_node *nodes, const sotto_encoder *e, const int64_t *sums,
                       const double *adjusted)
{
    const uint64_t each = sotto_tree_leaf_bins(e), first = e->oov ? 1 : 0;

    for (size_t leaf = 0; leaf < e->as.tree.leaf_count; leaf++) {
        sotto_result_node *n = &nodes[e->as.tree.leaves[leaf]];

        for (uint64_t i = first + leaf * each; i < first + (leaf + 1) * each; i++) {
            n->estimate.sum += sums[i];
            n->estimate.adjusted += adjusted[i];
        }
        n->bins = each;
    }
}

static void add_upward(sotto_result_node *nodes, const sotto_encoder *e)
{
    for (size_t i = 0; i < e->as.tree.node_count; i++) {
        const sotto_tree_node *node = &e->as.tree.nodes[i];

        nodes[i].phrase = node->phrase;
        for (uint32_t c = node->first; c < node->first + node->count; c++) {
            nodes[c].parent = i;
            nodes[c].depth = nodes[i].depth + 1;
        }
    }
    for (size_t i = e->as.tree.node_count; i-- > 1;) {
        nodes[nodes[i].parent].estimate.sum += nodes[i].estimate.sum;
        nodes[nodes[i].parent].estimate.adjusted += nodes[i].estimate.adjusted;
        nodes[nodes[i].parent].bins += nodes[i].bins;
    }
}

sotto_status sotto_result_tree(sotto_result_node **out, size_t *count, const sotto_result *result,
                               const sotto_recipe *recipe, size_t column, sotto_arena *arena,
                               sotto_err *err)
{
    sotto_err_clear(err);

    sotto_report_content content;
    int64_t *sums;
    double *adjusted;

    SOTTO_TRY(check_column(result, recipe, column, err));
    const sotto_encoder *e = &recipe->encoding.encoders[column];
    if (e->type != SOTTO_ENCODER_PREFIX_TREE || e->as.tree.salt)
        return sotto_fail(err, SOTTO_MISSING, "column %zu is no prefix tree of phrases", column);
    SOTTO_TRY(sotto_recipe_content(&content, recipe, err));
    SOTTO_TRY(add_up(&sums, &adjusted, result, recipe, column, arena, err));
    *count = e->as.tree.node_count;
    *out = sotto_arena_take_array(arena, *count, sizeof **out);
    if (!*out)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a tree of %zu nodes", *count);
    add_leaves(*out, e, sums, adjusted);
    add_upward(*out, e);
    for (size_t i = 0; i < *count; i++) {
        const uint64_t others = result->count / e->bins;
        const sotto_sum_law law =
            sotto_result_law(result, &content, recipe, (double)(others * (*out)[i].bins));
        const int64_t sum = (*out)[i].estimate.sum;
        const double kept = (*out)[i].estimate.adjusted;

        SOTTO_TRY(sotto_result_fill(&(*out)[i].estimate, NULL, &sum, 1, result, &law,
                                    (double)*count, arena, err));
        (*out)[i].estimate.bin = i;
        (*out)[i].estimate.adjusted = kept;
        (*out)[i].bins *= others;
    }
    return SOTTO_OK;
}
