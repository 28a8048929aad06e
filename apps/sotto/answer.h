/* apps/sotto/answer.h - an answer for people, or as JSON: what `sotto collect` and the demo print. */
#ifndef SOTTO_APPS_ANSWER_H
#define SOTTO_APPS_ANSWER_H

#include "sotto/analyse.h"

/* Of an answer that the demo made for itself. */
typedef struct sotto_answer_trial {
    uint64_t devices, seconds;
    uint64_t answered;                    /* reports that should count                     */
    uint64_t tampered, replayed, forged;  /* what hostile devices sent                     */
    double epsilon_left, epsilon_allowed; /* of each device's budget for this analysis      */
} sotto_answer_trial;

typedef struct sotto_answer_view {
    const sotto_recipe *recipe;
    const sotto_result *result;
    const sotto_receipt *receipt;
    const sotto_result_check *check; /* NULL: nobody knows the truth     */
    const uint64_t *truth;           /* for each bin; NULL likewise      */
    const sotto_answer_trial *trial; /* for JSON; NULL: it is no trial   */
    size_t most;                     /* bars, the largest first; 0: all. JSON has all bins */
} sotto_answer_view;

/* Bars with their intervals, then the receipt. */
SOTTO_MUST_USE sotto_status sotto_answer_print(const sotto_answer_view *view, sotto_arena *arena,
                                               sotto_err *err);
/* One object. */
SOTTO_MUST_USE sotto_status sotto_answer_print_json(const sotto_answer_view *view, sotto_err *err);

#endif
