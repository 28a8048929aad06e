/* support/recipe_maker_parts.h - an acceptable recipe with its policy and streams, in parts that recipe_maker.c draws and spoils. */
#ifndef SOTTO_TESTS_SUPPORT_RECIPE_MAKER_PARTS_H
#define SOTTO_TESTS_SUPPORT_RECIPE_MAKER_PARTS_H

#include "support/recipe_maker.h"

#include <stdbool.h>

typedef struct sotto_test_parts {
    sotto_sim_random *random;
    /* the recipe */
    char query[4096], column[64], analysis[64], participation[160], adjacency[16], aggregation[256];
    char cohorts[64], targeting[64], no_match[16], extra[64];
    char statistic[16], by[16];
    double sigma;
    unsigned bins;
    double epsilon_local, epsilon, delta, rate;
    unsigned long min_cohort, population;
    /* the policy */
    char interval[64];
    char queries[4200], allowed[256], non_sensitive[64], composition[8], rules[128];
    char sources[64];
    bool local_none;
    bool no_floor; /* the policy allows no targeting */
    double whole_epsilon, whole_delta, cap, field_epsilon, field_delta, honest;
    unsigned long reports, field_reports, least_cohort, report_bytes;
    const char *unpriced; /* a field without a budget */
    /* the streams: errors(code, kind, seconds, ok) and taps(place, strength) */
    const char *types[4];
    unsigned wide; /* more fields of taps */
} sotto_test_parts;

/* All three texts (recipe_maker_texts.c). */
void sotto_test_write_triple(sotto_test_triple *out, const sotto_test_parts *p);

#endif
