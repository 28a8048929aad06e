/* account/gauss/sgm_contour_plan.h - which line, how fine and how far: what an answer will cost.
 *
 * Callers:  account/gauss/sgm_transform.c, sgm_lattice.c, sgm_method.c.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_CONTOUR_PLAN_H
#define SOTTO_ACCOUNT_GAUSS_SGM_CONTOUR_PLAN_H

#include "account/gauss/sgm_saddle.h"

/* Where the aliases of a line at j are bounded: at j + these. */
extern const int sotto_sgm_alias_at[SOTTO_CONTOUR_ALIASES];

/* best: where Chernoff's bound is least. */
sotto_sgm_plan sotto_sgm_plan_for(const sotto_sgm_question *q, int best, double log_delta,
                                  double eps);
/* Of a lattice for this period: on a grid, so that neighbouring questions meet. */
double sotto_sgm_lattice_period(double period);
/* Whether the lattice of a plan like this serves the question, whose eps is about p->eps, from below. Its period
 * may be shorter than it should be by `slack`. If false, the plan is for another question. */
bool sotto_sgm_fit_lattice(sotto_sgm_plan *p, const sotto_sgm_question *q, double slack);
/* So few rounds that no power of M falls fast enough for a line of nodes. */
bool sotto_sgm_is_short(const sotto_sgm_question *q);
/* Log of a bound on |M/M(c)| at every t from here on. */
double sotto_sgm_decay(const sotto_sgm_question *q, int j, double t);

#endif
