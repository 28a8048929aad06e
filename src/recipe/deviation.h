/* recipe/deviation.h - how far an answer is expected to be off by the noise that protects it.
 *
 * Callers:  accuracy.c, for what to expect of a recipe. Answers are held by the exact law of their sums (analyse/law.h), and
 *           tests hold the two together. Devices link none of it.
 * Memory:   plain values.
 *
 * All of it is about the reports of one batch: not about devices that are not in it, and not about liars.
 */
#ifndef SOTTO_RECIPE_DEVIATION_H
#define SOTTO_RECIPE_DEVIATION_H

#include "recipe/content.h"

typedef struct sotto_deviation_law {
    double reports;
    double p, q;   /* chance that a report supports its own value, and any other            */
    double noise;  /* variance in each sum, by both servers together or by all devices; 0: none */
    double values; /* bins, or steps of a number                                  */
    double pair_own, pair_other; /* covariance of two entries of a report: its own and another,
                                      and two others; 0 where each is drawn by itself            */
    double most, none;           /* sum and mean: the largest entry, and that of no number       */
} sotto_deviation_law;

/* What is in each sum beside the values: its variance, by the law of those who add it. */
typedef struct sotto_sum_noise {
    double gaussian; /* of servers or a committee, all of them together ... */
    double sigma;    /* ... and of one of them, as a deviation              */
    double skellam;  /* of all devices that report                          */
} sotto_sum_noise;
sotto_sum_noise sotto_recipe_sum_noise(const sotto_recipe *recipe,
                                       const sotto_report_content *content, double reports);

/* Of a batch of so many reports of this recipe. */
sotto_deviation_law sotto_deviation_of(const sotto_recipe *recipe,
                                       const sotto_report_content *content, double reports);

/* How many deviations an interval has on either side: P(|N| > z) = 1 - confidence. */
double sotto_deviation_z(double confidence);

typedef struct sotto_ends {
    double low, high;
} sotto_ends;

/* Variance of the estimate of a bin's count, or of a count, where the true one is f. */
double sotto_deviation_count(const sotto_deviation_law *law, double f);
/* The true counts for which a sum as far off as this one is no surprise. They may be below 0 and above the reports. */
sotto_ends sotto_deviation_count_ends(const sotto_deviation_law *law, double sum, double z);

/* Half of the interval of a sum, in steps. */
double sotto_deviation_sum(const sotto_deviation_law *law, double z);

/* A mean: `off` is what all numbers together are off the middle, in steps, and `count` how many numbers there are. */
double sotto_deviation_mean(const sotto_deviation_law *law, double off, double count);
/* Infinite on both sides where the count may be 0. */
sotto_ends sotto_deviation_mean_ends(const sotto_deviation_law *law, double off, double count,
                                     double z);

/* A quantile: variance of (1 - t) times the estimated count of the first `bins` bins less t times that of the others,
 * where the true counts are `up_to` and `above`. */
double sotto_deviation_rank(const sotto_deviation_law *law, double t, double bins, double up_to,
                            double above);

#endif
