/* noise/estimate.h - from sums of randomised reports back to counts, with their variance.
 *
 * Callers:  analyse/. Floating point throughout: nothing here is secret or decides what is drawn.
 */
#ifndef SOTTO_NOISE_ESTIMATE_H
#define SOTTO_NOISE_ESTIMATE_H

#include "noise/randomizer.h"
#include "noise/randomizer_vector.h"

typedef struct sotto_estimate {
    double value;
    double variance; /* of value, were the true count the nearest possible one */
} sotto_estimate;

/* How many of n people have the value that `supporting` reports support; "no value" counts among the n.
 *     value    = (supporting - n q) / (p - q)
 *     variance = (n q (1-q) + f (p (1-p) - q (1-q))) / (p - q)^2     for a true count f
 * For the asymmetric one-hot form that is 2 (e^eps + 1)/(e^eps - 1) supporting - 2 n/(e^eps - 1). */
sotto_estimate sotto_estimate_count(const sotto_randomizer *r, double supporting, double n);

/* The variance for a true count f. */
double sotto_estimate_variance(const sotto_randomizer *r, double f, double n);

/* One coordinate of a sum of so many reports, dishonest ones included, in the vectors' units.
 *     value    = sum / scale
 *     variance = reports (v + 1/4) / scale^2     for v one device's variance; rounding adds at most 1/4 */
sotto_estimate sotto_estimate_coordinate(const sotto_vector_randomizer *r, double sum,
                                         double reports);

#endif
