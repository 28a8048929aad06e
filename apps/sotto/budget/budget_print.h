/* apps/sotto/budget/budget_print.h - answers for people and for programs. */
#ifndef SOTTO_APPS_BUDGET_PRINT_H
#define SOTTO_APPS_BUDGET_PRINT_H

#include "budget_form.h"

#include "sotto/view.h"

/* A question answered (status SOTTO_OK) or not. */
typedef struct sotto_budget_result {
    sotto_status status;
    sotto_err err;
    sotto_answer answer;
    double seconds;
    bool asks_delta; /* the answer is a delta, at this epsilon */
    double epsilon;
    bool has_claim; /* somebody says that epsilon is this ... */
    double claim;
    sotto_answer claim_delta; /* ... which would be true at this delta */
    sotto_status claim_status;
    size_t line;       /* of a batch, or the place in its array, from 1; 0 otherwise */
    const char *place; /* "line" or "element" */
} sotto_budget_result;

/* An answer, for people or as one object on one line; with `json`, a refusal too. */
void sotto_budget_print(const sotto_question *q, const sotto_budget_result *r, bool json);
/* The same for a view; borrows from both. */
sotto_account_view sotto_budget_account_view(const sotto_question *q, const sotto_budget_result *r);

/* On standard error, with a way out of it if there is one. */
void sotto_budget_print_refusal(const char *before, const sotto_question *q,
                                const sotto_budget_result *r);

/* All of a form's mistakes, on standard error, or as one JSON object on standard output. */
void sotto_budget_print_mistakes(const char *verb, const sotto_form *form, bool json,
                                 const char *place, size_t line);

/* What a status means for the exit code. */
int sotto_budget_exit(sotto_status status);

/* Whether somebody's claim was judged and is not certified to hold. */
bool sotto_budget_claim_fails(const sotto_budget_result *r);

#endif
