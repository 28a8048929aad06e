/* chaos_question.h - questions to the accountant as a table of parameters, and random ones, sane and absurd. */
#ifndef SOTTO_TESTS_ACCOUNT_CHAOS_QUESTION_H
#define SOTTO_TESTS_ACCOUNT_CHAOS_QUESTION_H

#include "sim/random.h"
#include "sotto/privacy.h"

typedef struct chaos_parameter {
    sotto_mechanism of;
    const char *name; /* as a refusal says it */
    size_t at;
    bool count;
    double low, high; /* drawn from, mostly; a little wider than what is accepted */
    int safer; /* 1: more of it never costs more epsilon, -1: less of it, 0: neither is claimed */
} chaos_parameter;

enum { CHAOS_PARAMETERS = 44 };
extern const chaos_parameter chaos_parameters[CHAOS_PARAMETERS];

double chaos_get(const sotto_question *q, const chaos_parameter *p);
void chaos_put_real(sotto_question *q, const chaos_parameter *p, double value);
void chaos_put_count(sotto_question *q, const chaos_parameter *p, uint64_t value);
/* Whichever of the two it is. */
void chaos_put(sotto_question *q, const chaos_parameter *p, double value);

const chaos_parameter *chaos_any_parameter(sotto_sim_random *random, sotto_mechanism of);

double chaos_log_uniform(sotto_sim_random *random, double low, double high);

/* One of the randomizers whose reports hide among others'. */
bool chaos_is_local(const sotto_question *q);

/* odd: how likely each field is absurd. only: that mechanism alone; 0 is any. */
sotto_question chaos_draw(sotto_sim_random *random, double odd, sotto_mechanism only);

/* Moved to an adjacency for which there is a theorem: most draws should be answered. */
void chaos_choose_adjacency(sotto_question *q);

#endif
