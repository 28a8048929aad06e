/* coverage_batch.h - reports of a recipe that are drawn from a known truth, and what is estimated from them. */
#ifndef SOTTO_TESTS_COVERAGE_BATCH_H
#define SOTTO_TESTS_COVERAGE_BATCH_H

#include "analyse/bins.h"
#include "noise/noise.h"
#include "sim/random.h"
#include "support/recipes.h"

enum { SOTTO_COVERAGE_ENTRIES = 128, SOTTO_COVERAGE_KEPT = 8192 };

/* Reports of a recipe, drawn from a truth. */
typedef struct sotto_coverage_batch {
    const sotto_recipe *recipe;
    sotto_report_content content;
    sotto_noise noise;
    unsigned sources;
    uint64_t reports;
    uint64_t truth[SOTTO_COVERAGE_ENTRIES]; /* devices by value, "no value" behind the last */
    int64_t exact[SOTTO_COVERAGE_ENTRIES];  /* sums before noise, of what is not randomised */
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_arena arena;
} sotto_coverage_batch;

typedef struct sotto_coverage_memory {
    bool known[SOTTO_COVERAGE_KEPT];
    sotto_result_bin bins[SOTTO_COVERAGE_KEPT];
} sotto_coverage_memory;

const sotto_recipe *sotto_coverage_recipe_of(sotto_test *t, const char *statistic,
                                             const char *encode, const char *randomizer,
                                             const char *by);
void sotto_coverage_open_batch(sotto_test *t, sotto_coverage_batch *b, const sotto_recipe *recipe,
                               uint64_t seed);
void sotto_coverage_close_batch(sotto_coverage_batch *b);
void sotto_coverage_settle(sotto_test *t, sotto_coverage_batch *b);
void sotto_coverage_draw_sums(sotto_test *t, sotto_coverage_batch *b, int64_t *out);
void sotto_coverage_estimate(sotto_test *t, sotto_coverage_batch *b, const int64_t *sums,
                             const sotto_result_options *options, sotto_result *out);
void sotto_coverage_draw_bins(sotto_test *t, sotto_coverage_batch *b, sotto_coverage_memory *m,
                              sotto_result_bin *out);

#endif
