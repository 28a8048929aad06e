/* account/gauss/sgm_guess.h - about the noise at which subsampled rounds cost a wanted epsilon: to start a search from,
 * never to promise.
 *
 * Callers:  accountant_plan.c, which certifies what it returns.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_GUESS_H
#define SOTTO_ACCOUNT_GAUSS_SGM_GUESS_H

#include "account/gauss/sgm.h"

/* sigma 0.1 to 1e6, mostly within a percent; *slope is that of log eps over log sigma there. NAN where a parameter is
 * outside its range. */
double sotto_sgm_sigma_guess(double *slope, double rate, uint64_t rounds, double eps,
                             double log_delta);

#endif
