/* privacy/contour_law.h - optimal composition of any laws whose transform can be written down.
 *
 * Nothing is assumed about how the transform falls away from the real axis (laws with atoms: it need not).
 * Instead one tiny Gaussian release is composed with the rest: that can only raise delta, and its own
 * transform ends the integral. The price is some 1e-5 of epsilon.
 *
 * Callers:  the check-in accountant (one binary law a slot), heterogeneous compositions.
 * Memory:   taken and given back within a call.
 */
#ifndef SOTTO_PRIVACY_CONTOUR_LAW_H
#define SOTTO_PRIVACY_CONTOUR_LAW_H

#include "privacy/bound.h"

typedef struct sotto_contour_value {
    double log_modulus;
    double phase;
    double error; /* relative, of the value */
    bool small;   /* log_modulus is only an upper bound, below the floor that was asked for */
} sotto_contour_value;

/* The transform E exp(sL) of a whole composition at s = c + it, c > 0, t >= 0. Work may stop once the modulus is
 * known to lie below exp(floor). */
typedef struct sotto_contour_law {
    void (*at)(void *self, double c, double t, double floor, sotto_contour_value *out);
    void *self;     /* may remember the last c */
    double largest; /* the largest total loss, INFINITY if unbounded */
} sotto_contour_law;

/* The eps at which delta is exp(log_delta), between low and high.
 *   SOTTO_MALFORMED  log_delta is outside [-690.8, 0) */
SOTTO_MUST_USE sotto_status sotto_contour_law_epsilon(sotto_bound *out,
                                                      const sotto_contour_law *law,
                                                      double log_delta, sotto_err *err);

/* A mechanism that is eps-DP and no more: its worst law takes the losses eps and -eps. */
typedef struct sotto_contour_binary {
    double eps;
    uint64_t count;
} sotto_contour_binary;

#define SOTTO_CONTOUR_MOST_BINARY 1000000

/* Optimal composition of pure-DP mechanisms, each with its own eps.
 *   SOTTO_MALFORMED  an eps is not in (0, 700], a count or their number is 0 or above 10^6 parts,
 *                    10^12 mechanisms in all */
SOTTO_MUST_USE sotto_status sotto_contour_binary_epsilon(sotto_bound *out,
                                                         const sotto_contour_binary *parts,
                                                         size_t count, double log_delta,
                                                         sotto_err *err);

#endif
