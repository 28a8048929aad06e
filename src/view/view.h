/* view/view.h - what the views share. */
#ifndef SOTTO_VIEW_INTERNAL_H
#define SOTTO_VIEW_INTERNAL_H

#include "view/json.h"
#include "view/text.h"

/* Shows one thing in one format. Failures stay in the text. */
typedef void sotto_show(sotto_text *t, const void *thing);
enum { SOTTO_VIEW_FORMATS = SOTTO_VIEW_HTML + 1 };

/* Calls the function of the view's format; NULL: there is none, and SOTTO_DENIED says so of `what`. */
SOTTO_MUST_USE sotto_status sotto_view_run(const sotto_view *view,
                                           sotto_show *const formats[SOTTO_VIEW_FORMATS],
                                           const void *thing, const char *what, sotto_err *err);

/* Bins to show: those of the answer, or of one column. */
typedef struct sotto_answer_page {
    const sotto_view *view;
    const sotto_answer_view *of;
    const sotto_result *result;
    size_t column;                  /* whose bins they are; SOTTO_ALL_COLUMNS       */
    const uint64_t *truth;          /* NULL: nobody knows it                        */
    const sotto_result_bin *sorted; /* as they are shown, in text, SVG and HTML: see page.c */
    size_t most;                    /* of them to show */
    /* For JSON and HTML: the bins of each column, where there are several; and the first prefix tree. */
    const struct sotto_answer_page *columns;
    size_t column_count;
    const sotto_result_node *tree;
    size_t tree_count, tree_column;
    /* For text and HTML, where two columns are combined: the rows of a table of one by the other, and its columns. */
    const struct sotto_answer_page *cross;
} sotto_answer_page;

#define SOTTO_ALL_COLUMNS SIZE_MAX

enum { SOTTO_VIEW_LABEL = 4096 };

/* Of a sotto_answer_page. */
sotto_show sotto_answer_as_text, sotto_answer_as_json, sotto_answer_as_csv, sotto_answer_as_svg,
    sotto_answer_as_html;

/* The label of a bin. Where it has none that fits, "" ; text that people read says "bin 7" then. */
sotto_bytes sotto_answer_label(char memory[SOTTO_VIEW_LABEL], const sotto_answer_page *page,
                               uint64_t bin);
sotto_bytes sotto_answer_name(char memory[SOTTO_VIEW_LABEL], const sotto_answer_page *page,
                              uint64_t bin);
/* page.c: what the format needs of the answer, in the arena. */
SOTTO_MUST_USE sotto_status sotto_answer_page_init(sotto_answer_page *out, const sotto_view *view,
                                                   const sotto_answer_view *answer,
                                                   sotto_arena *arena, sotto_err *err);

/* answer_cross.c: a page's cross, which is not NULL. */
void sotto_answer_cross_text(sotto_text *t, const sotto_answer_page *page);
void sotto_answer_cross_html(sotto_text *t, const sotto_answer_page *page);
/* Columns of it that a text has room for. */
size_t sotto_answer_cross_fit(const sotto_result *result);

/* The part of all reports that a bin's count is; below 0 or above 1 by chance, as counts are. */
double sotto_answer_share(const sotto_result *result, const sotto_result_bin *bin);

/* answer_scale.c: figures as marks, each on a scale of its own. Of all devices, too, where the result has a rate. */
typedef struct sotto_figure_mark {
    const char *name, *of; /* "mean", "" or ", of all devices" */
    double deviation, value, low, high;
    double from, to, step; /* of the scale; a mark at each step */
} sotto_figure_mark;
enum { SOTTO_FIGURE_MARKS = 2 * SOTTO_RESULT_FIGURES };
size_t sotto_figure_marks(sotto_figure_mark out[SOTTO_FIGURE_MARKS], const sotto_result *result);
/* Where x is on the scale, from 0 to 1. */
double sotto_figure_place(const sotto_figure_mark *mark, double x);
/* Of 1, 2 or 5 times a power of ten, the smallest step of which at most `ticks` fit into `most`. */
double sotto_scale_step(double most, unsigned ticks);
/* Digits that count, beside this deviation. */
int sotto_answer_digits(double deviation);

/* Of a sotto_receipt. */
sotto_show sotto_receipt_as_text;
/* The members of a receipt's object. */
void sotto_receipt_members(sotto_json *j, const sotto_receipt *receipt);
/* Those of an answered question that do not depend on a claim or a place in a list. */
void sotto_account_members(sotto_json *j, const sotto_account_view *account);

/* Characters that XML can't hold become U+FFFD; the others are escaped for text and attributes. */
void sotto_text_xml(sotto_text *t, sotto_bytes text);
/* The same for text of several lines, whose line feeds stay. */
void sotto_text_xml_lines(sotto_text *t, sotto_bytes text);
/* SHA-256 of the style of an HTML page, in base64: what its policy allows, and nothing else. */
extern const char sotto_html_style[], sotto_html_style_hash[];
/* A field of RFC 4180, in quotes if it needs them. What a spreadsheet would take for a formula has an apostrophe before it. */
void sotto_text_csv(sotto_text *t, sotto_bytes text);

#endif
