#include "show.h"

#include "base/writer.h"
#include "terminal.h"

#include <errno.h>
#include <string.h>

static sotto_status write_to(void *context, sotto_bytes text, sotto_err *err)
{
    if (fwrite(text.data, 1, text.len, context) != text.len)
        return sotto_fail(err, SOTTO_IO, "the output can't be written");
    return SOTTO_OK;
}

sotto_view sotto_show_view(sotto_view_format format)
{
    return (sotto_view){.format = format,
                        .write = write_to,
                        .context = stdout,
                        .colours = sotto_terminal_colours()};
}

bool sotto_show_save(const char *path, sotto_view_format format, sotto_show_fn *show,
                     const void *thing)
{
    FILE *out = fopen(path, "w");
    const sotto_view view = {.format = format, .write = write_to, .context = out};
    bool shown = out && show(&view, thing, NULL) == SOTTO_OK;

    return out && fclose(out) == 0 && shown;
}

typedef struct page {
    const sotto_answer_view *answer;
    size_t most;
} page;

static sotto_status show_page(const sotto_view *view, const void *thing, sotto_err *err)
{
    const page *p = thing;
    sotto_view with = *view;
    sotto_arena arena;

    with.most = p->most;
    sotto_arena_init(&arena, (size_t)1 << 30);
    const sotto_status status = sotto_view_answer(&with, p->answer, &arena, err);
    sotto_arena_clear(&arena);
    return status;
}

sotto_status sotto_show_files(const sotto_answer_files *files, const sotto_answer_view *answer,
                              size_t most, sotto_err *err)
{
    const struct {
        const char *path;
        sotto_view_format format;
    } all[] = {{files->json, SOTTO_VIEW_JSON},
               {files->csv, SOTTO_VIEW_CSV},
               {files->svg, SOTTO_VIEW_SVG},
               {files->html, SOTTO_VIEW_HTML}};
    const page p = {answer, most};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        errno = 0;
        if (all[i].path && !sotto_show_save(all[i].path, all[i].format, show_page, &p))
            return sotto_fail(err, SOTTO_MISSING, "%.100s can't be written: %s", all[i].path,
                              strerror(errno));
    }
    return SOTTO_OK;
}

sotto_text sotto_show_text(FILE *out)
{
    return sotto_text_on(write_to, out, NULL);
}

static sotto_status write_into(void *context, sotto_bytes text, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(context);

    sotto_write_bytes(&w, text);
    return sotto_writer_finish(&w, "a text", err);
}

sotto_view sotto_show_into(sotto_buf *out, sotto_view_format format)
{
    return (sotto_view){.format = format, .write = write_into, .context = out};
}

sotto_json sotto_show_json_into(sotto_buf *out, sotto_json_layout layout)
{
    sotto_json j = sotto_json_on(sotto_text_on(write_into, out, NULL), layout);

    sotto_json_object(&j, NULL);
    return j;
}

sotto_json sotto_show_object(FILE *out, sotto_json_layout layout)
{
    sotto_json j = sotto_json_on(sotto_show_text(out), layout);

    sotto_json_object(&j, NULL);
    return j;
}

bool sotto_show_end(sotto_json *j)
{
    return sotto_json_finish(j) == SOTTO_OK;
}
