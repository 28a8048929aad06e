/* Which view has which format, and where its text goes. */
#include "view/view.h"

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

sotto_status sotto_view_answer(const sotto_view *view, const sotto_answer_view *answer,
                               sotto_arena *arena, sotto_err *err)
{
    sotto_err_clear(err);

    static sotto_show *const formats[SOTTO_VIEW_FORMATS] = {
        [SOTTO_VIEW_TEXT] = sotto_answer_as_text, [SOTTO_VIEW_JSON] = sotto_answer_as_json,
        [SOTTO_VIEW_CSV] = sotto_answer_as_csv,   [SOTTO_VIEW_SVG] = sotto_answer_as_svg,
        [SOTTO_VIEW_HTML] = sotto_answer_as_html,
    };
    sotto_answer_page page;

    SOTTO_TRY(sotto_answer_page_init(&page, view, answer, arena, err));
    return sotto_view_run(view, formats, &page, "an answer", err);
}
