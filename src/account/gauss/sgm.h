/* account/gauss/sgm.h - what T rounds of Poisson-subsampled Gaussian noise cost, certified from both sides.
 *
 * Adjacency is add/remove of one record of norm <= 1; sigma is the noise's deviation. A mixed sequence is a
 * list of mechanisms with their rounds, fixed in advance (for adaptive choices see the filters).
 *
 * Callers:  the accountant and its tests.
 * Memory:   a mechanism keeps tables that make the next question about it fast; it owns at most some
 *           tens of megabytes, whatever the number of rounds. sotto_sgm_free gives them back.
 * Threads:  a mechanism belongs to one thread at a time; different ones never interfere.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_H
#define SOTTO_ACCOUNT_GAUSS_SGM_H

#include "account/gauss/contour.h"
#include "account/numeric/bound.h"

#define SOTTO_SGM_MOST_ROUNDS UINT64_C(1000000000000)
#define SOTTO_SGM_MOST_PARTS  64

typedef struct sotto_sgm sotto_sgm;

typedef enum sotto_direction {
    SOTTO_REMOVE, /* the record was there: mixture against Gaussian */
    SOTTO_ADD,    /* Gaussian against mixture                       */
    SOTTO_EITHER  /* the larger of the two: what a guarantee states */
} sotto_direction;

typedef struct sotto_sgm_part {
    sotto_sgm *mechanism;
    uint64_t rounds;
} sotto_sgm_part;

typedef struct sotto_sgm_answer {
    sotto_bound value;
    const char *route; /* the theorem behind `high`, for people */
} sotto_sgm_answer;

/*   rate   chance that a record takes part, 1e-9..1
 *   sigma  0.1..1e6
 *   SOTTO_MALFORMED  names the parameter and its range */
SOTTO_MUST_USE sotto_status sotto_sgm_new(sotto_sgm **out, double rate, double sigma,
                                          sotto_err *err);
void sotto_sgm_free(sotto_sgm *mechanism);

/* The smallest eps with delta(eps) <= exp(log_delta). log_delta in [-690.7, 0): down to 1e-300. */
SOTTO_MUST_USE sotto_status sotto_sgm_epsilon(sotto_sgm_answer *out, const sotto_sgm_part *parts,
                                              size_t count, double log_delta,
                                              sotto_direction direction, sotto_err *err);

/* log delta at eps >= 0. */
SOTTO_MUST_USE sotto_status sotto_sgm_log_delta(sotto_sgm_answer *out, const sotto_sgm_part *parts,
                                                size_t count, double eps, sotto_direction direction,
                                                sotto_err *err);

/* Renyi divergence of one round at a real order > 1; SOTTO_EITHER gives the larger. */
SOTTO_MUST_USE sotto_status sotto_sgm_renyi(sotto_bound *out, const sotto_sgm *mechanism,
                                            double order, sotto_direction direction,
                                            sotto_err *err);

/* For tests: later answers of this mechanism carry these inflated terms. */
void sotto_sgm_inflate(sotto_sgm *mechanism, sotto_contour_terms terms);

#endif
