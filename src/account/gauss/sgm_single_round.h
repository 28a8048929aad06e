/* account/gauss/sgm_single_round.h - one round of the subsampled Gaussian, in closed form.
 *
 * Callers:  account/gauss/sgm.c.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_SINGLE_ROUND_H
#define SOTTO_ACCOUNT_GAUSS_SGM_SINGLE_ROUND_H

#include "account/gauss/sgm_law.h"

/* log delta(eps), eps >= 0; -INFINITY on both sides beyond the largest loss. */
sotto_bound sotto_sgm_single_log_delta(const sotto_sgm_law *law, double eps);
sotto_bound sotto_sgm_single_epsilon(const sotto_sgm_law *law, double log_delta);
/* Its high side alone. */
double sotto_sgm_single_high(const sotto_sgm_law *law, double log_delta);

#endif
