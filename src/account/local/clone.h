/* account/local/clone.h - how far other randomized reports hide one: amplification by shuffling and
 * aggregation.
 *
 * Callers:  the accountant. Adjacency is replacement of one person's data throughout.
 * Trust:    whoever sees the reports sees them shuffled, or sees only their sum; the n_honest people counted
 *           run the randomizer as stated and keep its randomness to themselves. Everybody else's report is
 *           taken to be known to the adversary.
 * Answers:  `high` is an upper bound on the epsilon of the theorem named, and so of the mechanism. `low` is
 *           a lower bound on what that theorem can give, not on the mechanism itself.
 * Memory:   about 150 kB of stack, whatever n. No global state.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_CLONE_H
#define SOTTO_ACCOUNT_LOCAL_CLONE_H

#include "account/numeric/bound.h"

#define SOTTO_CLONE_MAX_EPS0 30.0
#define SOTTO_CROWD_MAX      1e12
#define SOTTO_MIN_LOG_DELTA  (-692.0) /* half of 1e-300, and a little less */

/* A batch of n_total reports, of which a fraction may lie, drop out or collude. Neither has a
 * default. */
typedef struct sotto_crowd {
    double n_total;
    double dishonest_fraction;
} sotto_crowd;

/* How many count as honest, the person in question among them: n - ceil(n f), exactly.
 *   SOTTO_MALFORMED  n_total is not a whole number from 1 to 10^12, or the fraction is not in [0,
 *                    1)
 *   SOTTO_DENIED     nobody is left */
SOTTO_MUST_USE sotto_status sotto_crowd_honest(double *n_honest, const sotto_crowd *crowd,
                                               sotto_err *err);

/* How well one report may be told from a neighbour's, and how often somebody else's is a clone of either.
 * docs/decisions/0013 proves that a randomizer with these three numbers is bounded by what they give:
 *   eps0    log of the largest ratio, over the outputs that tell the two inputs apart
 *   tells   probability that the report falls among those outputs (the same for both inputs)
 *   clone   probability that anybody's report, whatever their data, is replaced by a fair coin between the two */
typedef struct sotto_clone_law {
    double eps0;
    double tells;
    double clone;
} sotto_clone_law;

/* Any eps0-DP local randomizer, adaptive or not (2021 reduction): clone e^-eps0. */
SOTTO_MUST_USE sotto_status sotto_clone_law_generic(sotto_clone_law *out, double eps0,
                                                    sotto_err *err);
/* Restricted class only (2022 reduction, after its erratum): clone 2/(e^eps0 + 1). Not an answer for a caller who
 * has not shown that the randomizer qualifies; sotto_clone_law_kary with k = 2 does. */
SOTTO_MUST_USE sotto_status sotto_clone_law_restricted_class(sotto_clone_law *out, double eps0,
                                                             sotto_err *err);
/* k-ary randomized response: the truth with probability e^eps0/(e^eps0 + k - 1), else another value. */
SOTTO_MUST_USE sotto_status sotto_clone_law_kary(sotto_clone_law *out, double eps0, double k,
                                                 sotto_err *err);
/* One bit a value, set with probability `one_if_own` for one's own value and `one_if_other` for the others;
 * 0 < one_if_other < one_if_own < 1. Asymmetric one-hot is (1/2, 1/(e^eps0 + 1)). */
SOTTO_MUST_USE sotto_status sotto_clone_law_onehot(sotto_clone_law *out, double one_if_own,
                                                   double one_if_other, sotto_err *err);
/* Subset selection: a set of `size` among k values, each set that holds one's own value e^eps0 times as likely
 * as each that doesn't; 1 <= size < k <= 10^9. */
SOTTO_MUST_USE sotto_status sotto_clone_law_subset(sotto_clone_law *out, double eps0, double k,
                                                   double size, sotto_err *err);

/* Epsilon at log_delta; never above law->eps0, and 0 where delta(0) <= delta. */
SOTTO_MUST_USE sotto_status sotto_clone_eps(sotto_bound *out, const sotto_clone_law *law,
                                            const sotto_crowd *crowd, double log_delta,
                                            sotto_err *err);

/* Its upper end alone. Above `enough` any valid bound may be returned. */
SOTTO_MUST_USE sotto_status sotto_clone_eps_high(double *out, const sotto_clone_law *law,
                                                 const sotto_crowd *crowd, double log_delta,
                                                 double enough, sotto_err *err);

/* What the evaluation may be wrong by, multiplied; all 1 in use. Tests move each and see `high` move. */
typedef struct sotto_clone_inflate {
    double stride;   /* the relative width of the masses of cells     */
    double rounding; /* the relative error of one conditional term    */
    double tail;     /* what is kept back for cells taken as negligible */
} sotto_clone_inflate;

SOTTO_MUST_USE sotto_status sotto_clone_eps_inflated(sotto_bound *out, const sotto_clone_law *law,
                                                     const sotto_crowd *crowd, double log_delta,
                                                     const sotto_clone_inflate *inflate,
                                                     sotto_err *err);

/* Closed forms, not capped at eps0: each within a few ulps of the formula.
 *   SOTTO_DENIED  the side condition fails; the reason says by how much */
SOTTO_MUST_USE sotto_status sotto_clone_closed_2021(sotto_bound *out, double eps0,
                                                    const sotto_crowd *crowd, double log_delta,
                                                    sotto_err *err);
/* Restricted class only, as above. */
SOTTO_MUST_USE sotto_status sotto_clone_closed_2022_restricted_class(sotto_bound *out, double eps0,
                                                                     const sotto_crowd *crowd,
                                                                     double log_delta,
                                                                     sotto_err *err);

#endif
