/* Which view has which format, and where its text goes. */
#include "view/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers ------------------------------------------------------------------------------------------- */

static sotto_status append(void *context, sotto_bytes text, sotto_err *err)
{
    sotto_buf *out = context;

    if (text.len > out->cap - out->len)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a view does not fit into %zu bytes", out->cap);
    memcpy(out->data + out->len, text.data, text.len);
    out->len += text.len;
    return SOTTO_OK;
}

sotto_view sotto_view_into(sotto_buf *out, sotto_view_format format)
{
    return (sotto_view){.format = format, .write = append, .context = out};
}

sotto_status sotto_view_run(const sotto_view *view, sotto_show *const formats[SOTTO_VIEW_FORMATS],
                            const void *thing, const char *what, sotto_err *err)
{
    sotto_text t = sotto_text_on(view->write, view->context, err);
    sotto_buf *buffer = view->write == append ? view->context : NULL;
    size_t held = buffer ? buffer->len : 0;
    unsigned format = (unsigned)view->format;

    if (format >= SOTTO_VIEW_FORMATS || !formats[format])
        return sotto_fail(err, SOTTO_DENIED, "%s can't be shown in this format", what);
    formats[format](&t, thing);
    if (buffer && t.status != SOTTO_OK)
        buffer->len = held;
    return sotto_text_finish(&t);
}

/* ---- answers ------------------------------------------------------------------------------------------- */

sotto_bytes sotto_answer_label(char memory[SOTTO_VIEW_LABEL], const sotto_recipe *recipe,
                               uint64_t bin)
{
    sotto_buf label = sotto_buf_over(memory, SOTTO_VIEW_LABEL);

    if (sotto_recipe_label(recipe, &label, bin, NULL) != SOTTO_OK)
        label.len = 0;
    return sotto_buf_bytes(&label);
}

sotto_bytes sotto_answer_name(char memory[SOTTO_VIEW_LABEL], const sotto_recipe *recipe,
                              uint64_t bin)
{
    sotto_bytes label = sotto_answer_label(memory, recipe, bin);

    if (label.len > 0)
        return label;
    return sotto_bytes_of(memory, (size_t)snprintf(memory, SOTTO_VIEW_LABEL, "bin %" PRIu64, bin));
}

double sotto_answer_share(const sotto_result *result, const sotto_result_bin *bin)
{
    return result->reports > 0 ? bin->count / (double)result->reports : 0;
}

static int larger_first(const void *a, const void *b)
{
    const sotto_result_bin *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->bin < y->bin ? -1 : 1;
}

static sotto_status sort(sotto_answer_page *page, sotto_arena *arena, sotto_err *err)
{
    const sotto_result *r = page->of->result;
    sotto_result_bin *sorted = sotto_arena_take_array(arena, r->count, sizeof *sorted);

    if (!sorted)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer of %zu bins", r->count);
    memcpy(sorted, r->bins, r->count * sizeof *sorted);
    qsort(sorted, r->count, sizeof *sorted, larger_first);
    page->sorted = sorted;
    page->most = page->view->most == 0 || page->view->most > r->count ? r->count : page->view->most;
    return SOTTO_OK;
}

sotto_status sotto_view_answer(const sotto_view *view, const sotto_answer_view *answer,
                               sotto_arena *arena, sotto_err *err)
{
    sotto_err_clear(err);

    static sotto_show *const formats[SOTTO_VIEW_FORMATS] = {
        [SOTTO_VIEW_TEXT] = sotto_answer_as_text,
        [SOTTO_VIEW_JSON] = sotto_answer_as_json,
        [SOTTO_VIEW_CSV] = sotto_answer_as_csv,
        [SOTTO_VIEW_SVG] = sotto_answer_as_svg,
    };
    sotto_answer_page page = {.view = view, .of = answer};

    if (view->format == SOTTO_VIEW_SVG && answer->result->figure_count > 0 &&
        answer->result->count == 0)
        return sotto_fail(err, SOTTO_DENIED, "an answer without bins has no SVG");
    if ((answer->result->count > 0 || answer->result->figure_count == 0) &&
        (view->format == SOTTO_VIEW_TEXT || view->format == SOTTO_VIEW_SVG))
        SOTTO_TRY(sort(&page, arena, err));
    return sotto_view_run(view, formats, &page, "an answer", err);
}
