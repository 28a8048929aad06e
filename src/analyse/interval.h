/* analyse/interval.h - which true counts a sum agrees with.
 *
 * Callers:  estimate.c, figures.c, groups.c.
 * Memory:   a table lives in the arena it was made in.
 *
 * The interval of a sum is every f whose law does not make the sum a surprise. What is a surprise is divided between both tails
 * by the likelihood ratio (Feldman and Cousins 1998). Far from the bounds of f that is half and half. At f = 0 all of it is
 * above, since a sum below that agrees with 0 best. So an interval holds the truth as often at a bound as elsewhere. It is
 * never empty, and begins at 0 exactly where nothing tells the count from 0. docs/decisions/0118 has the reasons.
 */
#ifndef SOTTO_ANALYSE_INTERVAL_H
#define SOTTO_ANALYSE_INTERVAL_H

#include "analyse/law.h"
#include "recipe/deviation.h"

/* The chance that an interval misses. */
typedef struct sotto_alpha {
    double chance;
    double z; /* deviations that have half of it beyond them */
} sotto_alpha;
sotto_alpha sotto_alpha_of(double chance);

/* How much of it each tail gets at a truth so many deviations from its bounds. */
typedef struct sotto_tail_split {
    double lower, upper;       /* chances */
    double lower_at, upper_at; /* deviations below and above the truth that have them */
} sotto_tail_split;
sotto_tail_split sotto_alpha_split(sotto_alpha alpha, double from_low, double from_high);

sotto_ends sotto_interval_of(const sotto_sum_law *law, sotto_alpha alpha, double sum);

/* The same for many sums of one law. Few sums have each their own row; for more there are rows at chosen sums, and straight lines
 * between them. */
typedef struct sotto_interval_table {
    double *sums;
    sotto_ends *ranges;
    size_t count;
} sotto_interval_table;

SOTTO_MUST_USE sotto_status sotto_interval_table_init(sotto_interval_table *out,
                                                      const sotto_sum_law *law, sotto_alpha alpha,
                                                      const int64_t *sums, size_t count,
                                                      sotto_arena *arena, sotto_err *err);
/* sum: one of those that the table was made for. */
sotto_ends sotto_interval_look_up(const sotto_interval_table *table, double sum);

#endif
