/* account/gauss/known_size.h - rounds of noise on secret samples of a size that is known.
 *
 * Callers:  recipe/learning_sampled.c.
 * Theorem:  Wang, Balle and Kasiviswanathan 2019, theorem 9. It is of a mechanism whose Renyi divergence is bounded at whole orders, on a sample
 *           without replacement, for one element in place of another. With zCDP of rho its divergence of order j is rho j.
 *
 * The sampled Gaussian (sgm.h) is for samples of unknown size, with one element more or less. Who releases how many took part, and hides which
 * data they have, needs this one. Answers are upper bounds.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_KNOWN_SIZE_H
#define SOTTO_ACCOUNT_GAUSS_KNOWN_SIZE_H

#include "account/numeric/bound.h"

/* The divergence of one round. share: sample over population, above 0 and up to 1; rho up to 1000; alpha 2 to 2048. */
double sotto_known_size_divergence(double share, double rho, unsigned alpha);

/* Of so many rounds, each a fresh sample of at most that share. Low is 0.
 *   SOTTO_DENIED  a number is out of its range; or rho is too large for any bound */
SOTTO_MUST_USE sotto_status sotto_known_size_epsilon(sotto_bound *out, double share, double rho,
                                                     uint64_t rounds, double log_delta,
                                                     sotto_err *err);

#endif
