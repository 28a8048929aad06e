/* apps/sotto/show.h - views, texts and JSON on standard output or another stream. */
#ifndef SOTTO_APPS_SHOW_H
#define SOTTO_APPS_SHOW_H

#include "view/json.h"

#include <stdio.h>

/* Standard output, in colours where that is a terminal. */
sotto_view sotto_show_view(sotto_view_format format);
/* A new file, or another in the place of one. False: it can't be written; `errno` says why. */
typedef sotto_status sotto_show_fn(const sotto_view *view, const void *thing, sotto_err *err);
bool sotto_show_save(const char *path, sotto_view_format format, sotto_show_fn *show,
                     const void *thing);
/* Where an answer is written besides; NULL: not. */
typedef struct sotto_answer_files {
    const char *json, *csv, *svg, *html;
} sotto_answer_files;
/* most: bars of SVG and HTML; 0: all. SOTTO_MISSING: the reason names the file that can't be written. */
sotto_status sotto_show_files(const sotto_answer_files *files, const sotto_answer_view *answer,
                              size_t most, sotto_err *err);
/* A stream; a failure stays in the text, and in the stream. */
sotto_text sotto_show_text(FILE *out);

/* Memory; what does not fit is SOTTO_TOO_LARGE. */
sotto_view sotto_show_into(sotto_buf *out, sotto_view_format format);
sotto_json sotto_show_json_into(sotto_buf *out, sotto_json_layout layout);

/* An object that stands alone, opened; sotto_show_end closes it and ends its line. False: it could not be written. */
sotto_json sotto_show_object(FILE *out, sotto_json_layout layout);
bool sotto_show_end(sotto_json *j);

#endif
