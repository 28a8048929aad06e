/* account/gauss/sgm_method.h - which computation answers a question, in one direction.
 *
 * Callers:  account/gauss/sgm.c, account/gauss/sgm_guess.c.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_METHOD_H
#define SOTTO_ACCOUNT_GAUSS_SGM_METHOD_H

#include "account/gauss/sgm_saddle.h"

/* q: parts, count, add and enough are the caller's; the rest is chosen. Both always answer; without memory, or where nothing better is known, with a looser bound. */
void sotto_sgm_method_epsilon(sotto_sgm_answer *out, sotto_sgm_question *q, double log_delta);
void sotto_sgm_method_log_delta(sotto_sgm_answer *out, sotto_sgm_question *q, double eps);

/* An upper bound on eps for a record that is removed, near enough to look further from. */
double sotto_sgm_method_rough(sotto_sgm *mechanism, uint64_t rounds, double log_delta);

#endif
