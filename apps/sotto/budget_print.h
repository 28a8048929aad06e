/* apps/sotto/budget_print.h - answers for people and for programs. */
#ifndef SOTTO_APPS_BUDGET_PRINT_H
#define SOTTO_APPS_BUDGET_PRINT_H

#include "budget_form.h"

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

void sotto_budget_print(const sotto_question *q, const sotto_budget_result *r);
/* The members of an answer's object that do not depend on what was asked for: `"mechanism":... "seconds":...`. */
void sotto_budget_print_members(const sotto_question *q, const sotto_budget_result *r);
/* One object on one line. */
void sotto_budget_print_json(const sotto_question *q, const sotto_budget_result *r);

/* On standard error, with a way out of it if there is one. */
void sotto_budget_print_refusal(const char *before, const sotto_question *q,
                                const sotto_budget_result *r);

/* In quotes, escaped. */
void sotto_print_json_string(const char *text);
/* null where it is not finite. */
void sotto_print_json_number(double x);

/* All of a form's mistakes, on standard error, or as one JSON object on standard output. */
void sotto_budget_print_mistakes(const char *verb, const sotto_form *form, bool json,
                                 const char *place, size_t line);

/* What a status means for the exit code. */
int sotto_budget_exit(sotto_status status);

/* Whether somebody's claim was judged and is not certified to hold. */
bool sotto_budget_claim_fails(const sotto_budget_result *r);

/* With so many digits, the last of them up or down: what is read off a screen must be as true as the number behind it. */
void sotto_print_up(double x, int digits);
void sotto_print_down(double x, int digits);

#endif
