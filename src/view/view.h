/* view/view.h - what the views share. */
#ifndef SOTTO_VIEW_INTERNAL_H
#define SOTTO_VIEW_INTERNAL_H

#include "view/json.h"
#include "view/text.h"

/* Shows one thing in one format. Failures stay in the text. */
typedef void sotto_show(sotto_text *t, const void *thing);
enum { SOTTO_VIEW_FORMATS = SOTTO_VIEW_SVG + 1 };

/* Calls the function of the view's format; NULL: there is none, and SOTTO_DENIED says so of `what`. */
SOTTO_MUST_USE sotto_status sotto_view_run(const sotto_view *view,
                                           sotto_show *const formats[SOTTO_VIEW_FORMATS],
                                           const void *thing, const char *what, sotto_err *err);

/* An answer on its way: its bins by size, and labels one at a time. */
typedef struct sotto_answer_page {
    const sotto_view *view;
    const sotto_answer_view *of;
    const sotto_result_bin *sorted; /* the largest counts first: for text and SVG */
    size_t most;                    /* of them to show */
} sotto_answer_page;

enum { SOTTO_VIEW_LABEL = 4096 };

/* Of a sotto_answer_page. */
sotto_show sotto_answer_as_text, sotto_answer_as_json, sotto_answer_as_csv, sotto_answer_as_svg;

/* The label of a bin. Where it has none that fits, "" ; text that people read says "bin 7" then. */
sotto_bytes sotto_answer_label(char memory[SOTTO_VIEW_LABEL], const sotto_recipe *recipe,
                               uint64_t bin);
sotto_bytes sotto_answer_name(char memory[SOTTO_VIEW_LABEL], const sotto_recipe *recipe,
                              uint64_t bin);

/* The part of all reports that a bin's count is; below 0 or above 1 by chance, as counts are. */
double sotto_answer_share(const sotto_result *result, const sotto_result_bin *bin);

/* Of a sotto_receipt. */
sotto_show sotto_receipt_as_text;
/* The members of a receipt's object. */
void sotto_receipt_members(sotto_json *j, const sotto_receipt *receipt);
/* Those of an answered question that do not depend on a claim or a place in a list. */
void sotto_account_members(sotto_json *j, const sotto_account_view *account);

/* Characters that XML can't hold become U+FFFD; the others are escaped for text and attributes. */
void sotto_text_xml(sotto_text *t, sotto_bytes text);
/* A field of RFC 4180, in quotes if it needs them. */
void sotto_text_csv(sotto_text *t, sotto_bytes text);

#endif
