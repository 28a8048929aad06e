/* account/local/sampling.h - amplification by a secret choice of whether and when to take part.
 *
 * Callers:  the accountant.
 * Trust:    nobody who sees the result learns who took part (relay and tokens); the device's coins are secret.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_SAMPLING_H
#define SOTTO_ACCOUNT_LOCAL_SAMPLING_H

#include "account/local/clone.h"

/* Talwar et al. 2024, Theorem 4: a mechanism that is (eps, delta)-DP, on a sample taken at `rate`, is
 * (log(1 + rate (e^eps - 1)), rate delta)-DP. */
SOTTO_MUST_USE sotto_status sotto_sampled_eps(sotto_bound *out, sotto_bound eps, double rate,
                                              sotto_err *err);

/* Shuffled or aggregated reports of a sampled cohort (Talwar et al. 2024, Example 6). `cohort` is who reports at least,
 * `rate` the largest share of the honest population that a cohort is. Replacement adjacency; the size of the cohort may
 * be public. The clone bound is taken at delta / rate. */
SOTTO_MUST_USE sotto_status sotto_sampled_clone_eps(sotto_bound *out, const sotto_clone_law *law,
                                                    const sotto_crowd *cohort, double rate,
                                                    double log_delta, sotto_err *err);

/* The largest share that a sample is of `population` devices or more, each in it with chance `rate` by its own coin, but for a
 * chance of e^log_miss. Rounded up, at most 1. The size of a sample is released with its sum. Given the size, every subset of
 * that size is as likely where all chances are equal, so what hides a device is this share, not the rate. */
SOTTO_MUST_USE sotto_status sotto_sampled_share(double *out, double population, double rate,
                                                double log_miss, sotto_err *err);

/* The fewest devices of whom `sample` or more are in a sample at this rate, but for a chance of e^log_miss. Whoever sees so many
 * reports knows that there were so many devices at least, whatever population is stated. Rounded down. */
SOTTO_MUST_USE sotto_status sotto_sampled_fewest(double *out, double sample, double rate,
                                                 double log_miss, sotto_err *err);

/* Importance sampling (Talwar et al. 2024, section 3): default values are kept at one rate, the others at a higher one. */
typedef struct sotto_importance {
    double rate_default; /* M / 2N                */
    double rate_other;   /* min(M / (2 gamma N), 1) */
} sotto_importance;

/* M reports wanted of N people of whom a share gamma has another value than the default; 0 < gamma <= 1,
 * M <= 2N. Rates are rounded up. */
SOTTO_MUST_USE sotto_status sotto_importance_rates(sotto_importance *out, double wanted,
                                                   double population, double gamma, sotto_err *err);

/* Of a mechanism that is (eps, delta)-DP for adding or removing a report: delta becomes *log_delta.
 *   add/remove of a person: the larger rate; replacement: a removal at one rate and an addition at the other. */
typedef enum sotto_importance_adjacency {
    SOTTO_IMPORTANCE_ADD_REMOVE = 1,
    SOTTO_IMPORTANCE_REPLACEMENT
} sotto_importance_adjacency;

SOTTO_MUST_USE sotto_status sotto_importance_eps(sotto_bound *out, double *log_delta,
                                                 sotto_bound eps, double log_delta_each,
                                                 const sotto_importance *rates,
                                                 sotto_importance_adjacency adjacency,
                                                 sotto_err *err);

/* Donation time (Talwar et al. 2024, Appendix A): take part in a random one of m rounds, each (eps, delta_each)-DP. The
 * formula as printed, for delta (m + 1) delta_each; it can exceed eps, which holds as well because a device takes
 * part at most once: sotto_donation_promise takes the smaller. */
SOTTO_MUST_USE sotto_status sotto_donation_eps(sotto_bound *out, double eps, double m,
                                               double log_delta_each, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_donation_promise(sotto_bound *out, double eps, double m,
                                                   double log_delta_each, sotto_err *err);
/* The same where a device takes part in each of m rounds with a chance of at most `share`, whatever was released before. That chance
 * may differ between neighbours, since what was released tells whether the device took part already. So a round's ratio
 * is at most (1 + share (e^eps - 1)) / (1 - share (1 - e^-eps)). */
SOTTO_MUST_USE sotto_status sotto_donation_share_promise(sotto_bound *out, double eps, double m,
                                                         double share, double log_delta_each,
                                                         sotto_err *err);

#endif
