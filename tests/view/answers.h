/* tests/view/answers.h - an answer to show: every bin of a recipe, with made-up counts that fall off into what chance makes of nothing. */
#ifndef SOTTO_TESTS_VIEW_ANSWERS_H
#define SOTTO_TESTS_VIEW_ANSWERS_H

#include "support/recipes.h"
#include "view/view.h"

typedef struct answer {
    const sotto_recipe *recipe;
    sotto_result result;
    sotto_receipt receipt;
    sotto_answer_view view;
} answer;

/* What was shown last, with an ending 0. */
extern char shown[1 << 20];

/* The encoder of one column of the example's two, and one whose labels are hostile: for make_of. */
extern const char OLD[], HOSTILE[];

/* Of the example, with `new` in the place of `old`; NULL: as it is. */
void make_of(sotto_test *t, answer *a, const char *old, const char *new);
sotto_bytes show(sotto_test *t, const answer *a, sotto_view_format format, size_t most);
/* As a page without its first line, which XML does not know; the rest is well-formed. */
sotto_bytes show_html(sotto_test *t, const answer *a, size_t most);

#endif
