/* privacy/sgm_single.h - one round of the subsampled Gaussian, in closed form.
 *
 * Callers:  privacy/sgm.c.
 */
#ifndef SOTTO_PRIVACY_SGM_SINGLE_H
#define SOTTO_PRIVACY_SGM_SINGLE_H

#include "privacy/sgm_law.h"

/* log delta(eps), eps >= 0; -INFINITY on both sides beyond the largest loss. */
sotto_bound sotto_sgm_single_log_delta(const sotto_sgm_law *law, double eps);
sotto_bound sotto_sgm_single_epsilon(const sotto_sgm_law *law, double log_delta);
/* Its high side alone. */
double sotto_sgm_single_high(const sotto_sgm_law *law, double log_delta);

#endif
