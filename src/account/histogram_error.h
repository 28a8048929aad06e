/* account/histogram_error.h - expected squared error of a histogram under noise: a model of utility, no privacy claim.
 *
 * Callers:  planning: how large a cohort or how little noise a histogram needs.
 * Model:    N devices, samples of M, K buckets, T rounds; of each device's values a fraction gamma is not the default
 *           (sparse). Noise of deviation sigma on each bucket's count, L2 sensitivity 1 (add/remove).
 */
#ifndef SOTTO_ACCOUNT_HISTOGRAM_ERROR_H
#define SOTTO_ACCOUNT_HISTOGRAM_ERROR_H

#include "sotto/base.h"

typedef enum sotto_histogram {
    SOTTO_HISTOGRAM_PLAIN,          /* dense, no noise: 1/M                                      */
    SOTTO_HISTOGRAM_AGGREGATE,      /* dense, noise without amplification                        */
    SOTTO_HISTOGRAM_SAMPLED,        /* dense, noise of a secret sample                           */
    SOTTO_HISTOGRAM_SPARSE_UNIFORM, /* gamma/M                                                   */
    SOTTO_HISTOGRAM_SPARSE_IMPORTANCE, /* gamma (1-r)/(r N)                                         */
    SOTTO_HISTOGRAM_SPARSE_IMPORTANCE_APPROXIMATE, /* gamma/(r N)                                   */
    SOTTO_HISTOGRAM_SPARSE_AGGREGATE, /* uniform, noise without amplification                      */
    SOTTO_HISTOGRAM_SPARSE_SAMPLED, /* importance, noise of a secret sample                      */
    SOTTO_HISTOGRAM_SPARSE_SAMPLED_APPROXIMATE /* the same where values are drawn, too: gamma/(r N) */
} sotto_histogram;

typedef struct sotto_histogram_setting {
    double N, M, K, T;
    double gamma; /* sparse only; 0 < gamma <= 1 */
} sotto_histogram_setting;

/* At which rate a device that holds a value takes part in one round: M/N, or min(M/(2 gamma N), 1) for importance
 * sampling. The subsampled Gaussian's sigma for *_SAMPLED is asked for at this rate and T rounds. */
SOTTO_MUST_USE sotto_status sotto_histogram_rate(double *rate, sotto_histogram kind,
                                                 const sotto_histogram_setting *s, sotto_err *err);

/* sigma: for *_AGGREGATE that of one release at the target epsilon and delta; for *_SAMPLED that of all T rounds
 * together. The growth of the first with the ceil(T M/N) rounds that a device joins is added here. Without noise,
 * sigma is not read. */
SOTTO_MUST_USE sotto_status sotto_histogram_error(double *out, sotto_histogram kind,
                                                  const sotto_histogram_setting *s, double sigma,
                                                  sotto_err *err);

#endif
