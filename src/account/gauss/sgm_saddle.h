/* account/gauss/sgm_saddle.h - a question about a composition, its moments, and where its law may be cut.
 *
 * Callers:  account/gauss/sgm_contour_plan.c, sgm_transform.c, sgm_lattice.c, sgm_method.c.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_SADDLE_H
#define SOTTO_ACCOUNT_GAUSS_SGM_SADDLE_H

#include "account/gauss/sgm_cache.h"

typedef struct sotto_sgm_question {
    const sotto_sgm_part *parts;
    size_t count;
    bool add;
    double enough; /* of an answer: no better one is wanted */
    bool rough;    /* from above, to about a part in a thousand, is all that is wanted */
    /* Chosen by the route: the level of the cut, the cap, and how far below delta, as a power of e, all that is
     * left out must stay. */
    int level;
    int cap;
    double until; /* the cap's `low` holds for eps up to this */
    double digits;
} sotto_sgm_question;

sotto_sgm_side *sotto_sgm_side_of(const sotto_sgm_question *q, size_t i);
double sotto_sgm_rounds(const sotto_sgm_question *q);
/* What the cuts of all rounds may add to delta. */
double sotto_sgm_lost(const sotto_sgm_question *q);
/* log of the product of all M at 2^(j/4), from above. */
double sotto_sgm_log_moment(const sotto_sgm_question *q, int j);

/* Chernoff's bounds at 2^(j/4). The first has `lost` in it, the second has not. */
double sotto_sgm_renyi_epsilon(const sotto_sgm_question *q, int j, double log_delta);
double sotto_sgm_renyi_log_delta(const sotto_sgm_question *q, int j, double eps);

typedef double (*sotto_sgm_objective)(const sotto_sgm_question *q, int j, double given);
/* The j at which an objective of one valley is least. */
int sotto_sgm_lowest(const sotto_sgm_question *q, sotto_sgm_objective f, double given, int start);
int sotto_sgm_first_guess(const sotto_sgm_question *q, double log_delta);

/* About the answer, for planning only: one round's at a share of delta, and a Gaussian's of all losses below. */
double sotto_sgm_estimate(const sotto_sgm_question *q, double log_delta);
/* The same for one mechanism, removal only. */
double sotto_sgm_estimate_one(double rate, double sigma, uint64_t rounds, double log_delta);

void sotto_sgm_choose_cut(sotto_sgm_question *q, double log_delta);
/* Caps the laws for an answer that is read at or below eps, if that spares much. Whatever eps is given,
 * answers from above are true. */
void sotto_sgm_choose_cap(sotto_sgm_question *q, double eps, double log_delta);
/* What the capped law owes a lower bound on delta: the probability that it made infinite, less all by which
 * it may exceed the law itself at eps <= until. */
double sotto_sgm_sure(const sotto_sgm_question *q);

#endif
