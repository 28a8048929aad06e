/* recipe/accuracy.h - what an answer will be worth, before it is asked for.
 *
 * Callers:  `sotto recipe lint` and price.c. Devices link none of it.
 * Memory:   plain values.
 *
 * Each number is that of deviation.h, at the number of reports that a release is expected to have. Answers get their
 * intervals from the law of their sums (analyse/law.h); tests hold the two together. It is the error by noise alone: not by
 * who takes part, by clipping and rounding, or by liars.
 */
#ifndef SOTTO_RECIPE_ACCURACY_H
#define SOTTO_RECIPE_ACCURACY_H

#include "recipe/deviation.h"
#include "recipe/forecast.h"

/* The five quantiles that an answer has, and the place of the median among them. */
enum { SOTTO_QUANTILES = 5, SOTTO_MEDIAN = 2 };
extern const double sotto_quantiles[SOTTO_QUANTILES];

typedef struct sotto_accuracy_options {
    double confidence; /* 0: 0.95                                          */
    double have;       /* mean and quantiles: part of the reports that have a number; 0: all */
} sotto_accuracy_options;

/* A figure is a bin's count, where devices are spread evenly over the bins. Or it is the count, the sum, or the mean at the
 * end of its range, where its error is largest. Of quantiles it is the rank of the median, as a part of the devices with a number. */
typedef struct sotto_accuracy {
    double reports;         /* of a release; 0: nothing is known of it */
    double confidence;      /* of all that follows */
    double deviation;       /* of the figure       */
    double half_width;      /* of its interval     */
    double half_width_most; /* histogram: of a bin that has all reports */
    double largest; /* histogram: no bin is off by more, all together, however devices are spread */
    double
        seen; /* histogram, count: with this chance the interval of this count is above 0; INFINITY: no count's is */
    double rank_most; /* quantiles: the half-width of any of them, wherever in the range it is */
} sotto_accuracy;

/* SOTTO_DENIED  as sotto_recipe_content */
SOTTO_MUST_USE sotto_status sotto_recipe_accuracy(sotto_accuracy *out, const sotto_recipe *recipe,
                                                  double reports,
                                                  const sotto_accuracy_options *options,
                                                  sotto_err *err);

/* Reports that a release is expected to have, and has at least where any is made; 0: not known. */
double sotto_recipe_release_reports(const sotto_recipe *recipe, const sotto_forecast *forecast);

/* By how much a part of the reports may differ from the same part of the devices, since only some take part. It is half of
 * the interval, of a part of one half, for which it is widest. */
double sotto_accuracy_sampling(double reports, double devices, double confidence);

/* Half of the interval of quantile t's rank, at the bins where evenly spread numbers have it. */
double sotto_accuracy_rank(const sotto_deviation_law *law, double t, double with, double z);

#endif
