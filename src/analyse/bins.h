/* analyse/bins.h - many sums of one law into counts with intervals. */
#ifndef SOTTO_ANALYSE_BINS_H
#define SOTTO_ANALYSE_BINS_H

#include "analyse/interval.h"
#include "recipe/content.h"
#include "sotto/analyse.h"

/* The law of the sum of so many bins of a result, all of them different values. */
sotto_sum_law sotto_result_law(const sotto_result *result, const sotto_report_content *content,
                               const sotto_recipe *recipe, double bins);

/* Fills bins from sums, and wholes where the result has a rate.
 *   together  how many intervals, these among them, are held at once */
SOTTO_MUST_USE sotto_status sotto_result_fill(sotto_result_bin *bins, sotto_result_whole *wholes,
                                              const int64_t *sums, size_t count,
                                              const sotto_result *result, const sotto_sum_law *law,
                                              double together, sotto_arena *arena, sotto_err *err);

/* adjust.c: moves count numbers to the nearest that are 0 or more and have this total. */
SOTTO_MUST_USE sotto_status sotto_adjust(double *numbers, size_t count, double total,
                                         sotto_arena *arena, sotto_err *err);
/* Fills `adjusted` of all bins. */
SOTTO_MUST_USE sotto_status sotto_result_adjust(sotto_result *result, sotto_arena *arena,
                                                sotto_err *err);

#endif
