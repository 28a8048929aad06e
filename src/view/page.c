/* What of an answer is shown: its bins, or those of one column; sorted; with their labels. */
#include "view/view.h"

#include "base/arena.h"
#include "recipe/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CROSS_ROWS = 100, CROSS_COLUMNS = 8 }; /* of an HTML page, which is also printed */

/* ---- labels -------------------------------------------------------------------------------------------- */

sotto_bytes sotto_answer_label(char memory[SOTTO_VIEW_LABEL], const sotto_answer_page *p,
                               uint64_t bin)
{
    const sotto_recipe *recipe = p->of->recipe;
    sotto_buf label = sotto_buf_over(memory, SOTTO_VIEW_LABEL);
    const sotto_status status =
        p->column == SOTTO_ALL_COLUMNS
            ? sotto_recipe_label(recipe, &label, bin, NULL)
            : sotto_recipe_column_label(recipe, &label, p->column, bin, NULL);

    if (status != SOTTO_OK)
        label.len = 0;
    return sotto_buf_bytes(&label);
}

sotto_bytes sotto_answer_name(char memory[SOTTO_VIEW_LABEL], const sotto_answer_page *p,
                              uint64_t bin)
{
    sotto_bytes label = sotto_answer_label(memory, p, bin);

    if (label.len > 0)
        return label;
    return sotto_bytes_of(memory, (size_t)snprintf(memory, SOTTO_VIEW_LABEL, "bin %" PRIu64, bin));
}

double sotto_answer_share(const sotto_result *result, const sotto_result_bin *bin)
{
    return result->reports > 0 ? bin->count / (double)result->reports : 0;
}

int sotto_answer_digits(double deviation)
{
    return deviation > 0 ? (int)fmin(fmax(1 - floor(log10(deviation)), 0), 6) : 2;
}

/* ---- order --------------------------------------------------------------------------------------------- */

static int larger_first(const void *a, const void *b)
{
    const sotto_result_bin *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->bin < y->bin ? -1 : 1;
}

static int lower_bins_first(const void *a, const void *b)
{
    const sotto_result_bin *x = a, *y = b;

    return x->bin < y->bin ? -1 : x->bin > y->bin;
}

/* Bins of one column whose values are numbers or ranges of them. */
static bool is_of_numbers(const sotto_answer_page *page)
{
    const sotto_encoding *e = &page->of->recipe->encoding;
    const size_t column = page->column != SOTTO_ALL_COLUMNS ? page->column : 0;

    if (column >= e->count || (page->column == SOTTO_ALL_COLUMNS && e->count > 1))
        return false;
    const sotto_encoder_type type = e->encoders[column].type;
    return type == SOTTO_ENCODER_BUCKETS || type == SOTTO_ENCODER_INTEGER ||
           type == SOTTO_ENCODER_REAL;
}

/* Those with the largest counts are shown: the largest first, or along the numbers that they stand for. most: 0: all. */
static sotto_status sort(sotto_answer_page *page, size_t most, sotto_arena *arena, sotto_err *err)
{
    const sotto_result *r = page->result;
    sotto_result_bin *sorted = sotto_arena_take_array(arena, r->count, sizeof *sorted);

    if (!sorted)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer of %zu bins", r->count);
    if (r->count > 0)
        memcpy(sorted, r->bins, r->count * sizeof *sorted);
    qsort(sorted, r->count, sizeof *sorted, larger_first);
    page->sorted = sorted;
    page->most = most == 0 || most > r->count ? r->count : most;
    if (is_of_numbers(page))
        qsort(sorted, page->most, sizeof *sorted, lower_bins_first);
    return SOTTO_OK;
}

/* ---- columns ------------------------------------------------------------------------------------------- */

static sotto_status take_column(sotto_answer_page *out, const sotto_answer_page *all, size_t column,
                                size_t most, sotto_arena *arena, sotto_err *err)
{
    sotto_result *result = sotto_arena_take_array(arena, 1, sizeof *result);

    if (!result)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer by one column");
    *out =
        (sotto_answer_page){.view = all->view, .of = all->of, .result = result, .column = column};
    SOTTO_TRY(sotto_result_marginal(result, all->of->result, all->of->recipe, column, arena, err));
    return sort(out, most, arena, err);
}

static sotto_status take_named(sotto_answer_page *out, const char *name, sotto_arena *arena,
                               sotto_err *err)
{
    const sotto_answer_page all = *out;
    const sotto_recipe *recipe = all.of->recipe;

    for (size_t i = 0; i < sotto_recipe_columns(recipe); i++)
        if (strcmp(sotto_recipe_column(recipe, i), name) == 0)
            return take_column(out, &all, i, all.view->most, arena, err);
    return sotto_fail(err, SOTTO_MISSING, "the recipe's bins have no column %.60s", name);
}

/* Of several columns each by itself, and the first that is a prefix tree. */
static sotto_status take_columns(sotto_answer_page *page, sotto_arena *arena, sotto_err *err)
{
    const size_t count = sotto_recipe_columns(page->of->recipe);
    sotto_answer_page *columns = sotto_arena_take_array(arena, count, sizeof *columns);
    sotto_result_node *tree;

    if (!columns)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer by columns");
    for (size_t i = 0; count > 1 && i < count; i++)
        SOTTO_TRY(take_column(&columns[i], page, i, page->view->most, arena, err));
    page->columns = columns;
    page->column_count = count > 1 ? count : 0;
    for (size_t i = 0; i < count && !page->tree; i++)
        if (sotto_result_tree(&tree, &page->tree_count, page->of->result, page->of->recipe, i,
                              arena, NULL) == SOTTO_OK) {
            page->tree = tree;
            page->tree_column = i;
        }
    return SOTTO_OK;
}

/* The column with more bins goes down the page. */
static sotto_status take_cross(sotto_answer_page *page, sotto_arena *arena, sotto_err *err)
{
    const bool html = page->view->format == SOTTO_VIEW_HTML;
    const sotto_encoding *e = &page->of->recipe->encoding;

    if (e->count != 2 || page->result->count != e->bins)
        return SOTTO_OK;
    sotto_answer_page *cross = sotto_arena_take_array(arena, 2, sizeof *cross);
    const size_t down = e->encoders[0].bins >= e->encoders[1].bins ? 0 : 1;

    if (!cross)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer by two columns");
    SOTTO_TRY(take_column(&cross[0], page, down, html ? CROSS_ROWS : page->view->most, arena, err));
    SOTTO_TRY(take_column(&cross[1], page, 1 - down,
                          html ? CROSS_COLUMNS : sotto_answer_cross_fit(page->result), arena, err));
    page->cross = cross;
    return SOTTO_OK;
}

sotto_status sotto_answer_page_init(sotto_answer_page *out, const sotto_view *view,
                                    const sotto_answer_view *answer, sotto_arena *arena,
                                    sotto_err *err)
{
    const sotto_result *r = answer->result;
    const bool bars = view->format == SOTTO_VIEW_TEXT || view->format == SOTTO_VIEW_SVG ||
                      view->format == SOTTO_VIEW_HTML,
               whole = view->format == SOTTO_VIEW_JSON || view->format == SOTTO_VIEW_HTML;

    *out = (sotto_answer_page){.view = view,
                               .of = answer,
                               .result = r,
                               .column = SOTTO_ALL_COLUMNS,
                               .truth = answer->truth};
    if (answer->by && !whole)
        return take_named(out, answer->by, arena, err);
    if (bars && (r->count > 0 || r->figure_count == 0))
        SOTTO_TRY(sort(out, view->most, arena, err));
    if (r->count > 0 && (view->format == SOTTO_VIEW_TEXT || view->format == SOTTO_VIEW_HTML))
        SOTTO_TRY(take_cross(out, arena, err));
    return whole && r->count > 0 ? take_columns(out, arena, err) : SOTTO_OK;
}
