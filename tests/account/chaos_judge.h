/* chaos_judge.h - asks, counts, and tells what is wrong with an answer or with two of them together. */
#ifndef SOTTO_TESTS_ACCOUNT_CHAOS_JUDGE_H
#define SOTTO_TESTS_ACCOUNT_CHAOS_JUDGE_H

#include "chaos_question.h"
#include "support/test.h"

typedef struct chaos {
    sotto_test *t;
    sotto_sim_random random;
    uint64_t seed;
    sotto_mechanism only; /* 0: all of them */
    sotto_accountant *tables;
    uint64_t answered, refused, pairs, lies;
} chaos;

/* Tells all of what is wrong; the test fails at the end, so that one run shows every kind. b, x, y may be NULL. */
void chaos_lie(chaos *c, const char *what, const sotto_question *a, const sotto_question *b,
               const sotto_answer *x, const sotto_answer *y);

/* Whether there is an answer; a refusal must be one, and an answer an enclosure. */
bool chaos_settled(chaos *c, sotto_status status, const sotto_err *err, const sotto_question *q,
                   const sotto_answer *a);

bool chaos_ask(chaos *c, sotto_answer *a, const sotto_question *q);
bool chaos_ask_delta(chaos *c, sotto_answer *a, const sotto_question *q, double epsilon);

/* The second costs at most what the first does, in truth; so its low is not above the first's high. */
void chaos_compare(chaos *c, const char *what, const sotto_question *dear, const sotto_answer *x,
                   const sotto_question *safe, const sotto_answer *y);

#endif
