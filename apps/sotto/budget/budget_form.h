/* apps/sotto/budget/budget_form.h - a question as people write it: named values from flags, CSV or JSON.
 *
 * One table of options makes the parser, the ranges in complaints, --help and the columns of a batch.
 * Mistakes are collected, so that all of them can be told at once.
 */
#ifndef SOTTO_APPS_BUDGET_FORM_H
#define SOTTO_APPS_BUDGET_FORM_H

#include "sotto/privacy.h"

typedef enum sotto_option {
    OPTION_MECHANISM,
    OPTION_ADJACENCY,
    OPTION_TRUST,
    OPTION_DISHONEST,
    OPTION_HIDDEN,
    OPTION_DELTA,
    OPTION_SIGMA,
    OPTION_SCALE,
    OPTION_CLIP,
    OPTION_ONE_HOT,
    OPTION_RATE,
    OPTION_ROUNDS,
    OPTION_RELEASES,
    OPTION_SLOTS,
    OPTION_SENSITIVITY,
    OPTION_DIMENSION,
    OPTION_COHORT,
    OPTION_LOCAL_EPSILON,
    OPTION_RELEASE_EPSILON,
    OPTION_DELTA_EACH,
    OPTION_VARIANT,
    OPTION_WINDOW,
    OPTION_PROBABILITY,
    OPTION_REPETITIONS,
    OPTIONS
} sotto_option;

enum { FORM_MISTAKES = 24, FORM_TEXT = 64, FORM_ACCEPTS = 96, FORM_RANGES = 4 };

typedef struct sotto_form {
    bool given[OPTIONS];
    bool tried[OPTIONS];    /* a value was there, right or wrong */
    double number[OPTIONS]; /* of options that are numbers or choices */
    double exact[OPTIONS];  /* of numbers: as written, not rounded against the claim */
    sotto_share dishonest;
    char mistakes[FORM_MISTAKES][200];
    size_t mistake_count;
    bool unread; /* it is no question at all, so that nothing is missing from it */
} sotto_form;

/* Takes one named value; a mistake is added to the form. False: no option has that name. A flag without a value
 * is given NULL. */
bool sotto_form_set(sotto_form *form, const char *name, const char *text);

/* Sets a number directly, as a sweep does. */
void sotto_form_put(sotto_form *form, sotto_option option, double x);

/* Builds the question; what is missing or has no place in it is added to the mistakes. `unknown` need not be
 * given (OPTIONS for none), and delta need not if `without_delta`. Check mistake_count afterwards. */
void sotto_form_question(sotto_form *form, sotto_question *out, sotto_option unknown,
                         bool without_delta);

/* "" or one more mistake, for those who check more than the form does. */
void sotto_form_complain(sotto_form *form, const char *format, ...) SOTTO_PRINTF(2, 3);

/* By name or alias, with - or _ between words; OPTIONS for none. */
sotto_option sotto_form_find(const char *name);
const char *sotto_form_name(sotto_option option);
bool sotto_form_is_flag(sotto_option option);
bool sotto_form_is_whole(sotto_option option);
bool sotto_form_is_number(sotto_option option);

const char *sotto_form_alias(sotto_option option); /* "" for none */
const char *sotto_form_help(sotto_option option);

/* ---- budget_help.c: the lists for --help, the last two with their headings ------------------------------------------------------------ */

void sotto_form_print_options(void);
void sotto_form_print_mechanisms(void);
void sotto_form_print_trusts(void);

/* ---- budget_mechanisms.c: which options a mechanism takes ----------------------------------------- */

typedef struct sotto_form_range {
    sotto_option option;
    double low, high;
    bool per_clip; /* in units of --clip */
} sotto_form_range;

typedef struct sotto_form_mechanism {
    const char *alias; /* besides sotto_mechanism_name; "" for none */
    sotto_mechanism mechanism;
    unsigned long needs; /* 1 << sotto_option each */
    unsigned long takes;
    const char *help;
    void (*fill)(sotto_question *out, const sotto_form *form);
    sotto_form_range ranges[FORM_RANGES]; /* narrower than the options' own; ended by zeros */
} sotto_form_mechanism;

extern const sotto_form_mechanism sotto_form_mechanisms[];
extern const size_t sotto_form_mechanism_count;

/* What is accepted, in words: by this mechanism, or, with NULL, by any. */
void sotto_form_accepts(char out[FORM_ACCEPTS], sotto_option option, const sotto_form_mechanism *m);

/* Complains of a number that is not. */
void sotto_form_check_number(sotto_form *form, sotto_option option, const sotto_form_mechanism *m);

#endif
