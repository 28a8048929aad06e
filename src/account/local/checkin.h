/* account/local/checkin.h - amplification by random check-ins (Balle, Kairouz, McMahan, Thakkar, Thakurta 2020).
 *
 * Callers:  the accountant. Adjacency is replacement of one client's data; A_ldp is eps0-DP, pure.
 * Trust:    the server is trusted to hide who checked in when, and channels are not overheard. Where a theorem counts
 *           other clients (4.1, 5.1) they must be honest and not collude, hence a sotto_crowd.
 * Answers:  the theorem's own value within a few ulps, not capped. A client takes part at most once, so what may be
 *           promised is sotto_checkin_promise of it.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_CHECKIN_H
#define SOTTO_ACCOUNT_LOCAL_CHECKIN_H

#include "account/local/clone.h"

#define SOTTO_CHECKIN_MAX_EPS0 12.0

/* The smaller of the theorem's value and eps0: both hold. */
sotto_bound sotto_checkin_promise(sotto_bound theorem, double eps0);

/* Theorem 3.2: each client checks in with probability p0 at one of m slots, one client a slot is used. */
SOTTO_MUST_USE sotto_status sotto_checkin_fixed_window(sotto_bound *out, double eps0, double m,
                                                       double p0, double log_delta, sotto_err *err);

/* The proof of theorem 3.2 with its m binary laws composed optimally instead of by the closed form; `high` is at
 * most the sum of the laws' epsilons. checkin_compose.c. */
SOTTO_MUST_USE sotto_status sotto_checkin_fixed_window_optimal(sotto_bound *out, double eps0,
                                                               double m, double p0,
                                                               double log_delta, sotto_err *err);

/* What the evaluation may be wrong by, multiplied; all 1 in use. Tests move each and see `high` move. */
typedef struct sotto_checkin_inflate {
    double cut;     /* the part of the line that is left out                        */
    double moments; /* what groups of slots leave out of their series and their sums */
    double rounding;
} sotto_checkin_inflate;

SOTTO_MUST_USE sotto_status sotto_checkin_fixed_window_optimal_inflated(
    sotto_bound *out, double eps0, double m, double p0, double log_delta,
    const sotto_checkin_inflate *inflate, sotto_err *err);

/* Theorem 4.1: everybody who checked in at a slot is averaged. The guarantee is at delta + delta2. */
SOTTO_MUST_USE sotto_status sotto_checkin_averaged(sotto_bound *out, double eps0,
                                                   const sotto_crowd *crowd, double m,
                                                   double log_delta, double log_delta2,
                                                   sotto_err *err);

/* Its parts have half of delta each, less a billionth, which covers their rounding. */
SOTTO_MUST_USE sotto_status sotto_checkin_averaged_halves(sotto_bound *out, double eps0,
                                                          const sotto_crowd *crowd, double m,
                                                          double log_delta, sotto_err *err);

/* Theorem 4.3: client j checks in at one of the slots j..j+m-1. */
SOTTO_MUST_USE sotto_status sotto_checkin_sliding_window(sotto_bound *out, double eps0, double m,
                                                         double log_delta, sotto_err *err);

/* ---- repeated (checkin_repeat.c) ---- */

/* The a^2 of the closed form a^2/2 + a sqrt(2 log 1/delta) that theorems 3.2 and 4.3, and 4.1 at its delta2, have. */
SOTTO_MUST_USE sotto_status sotto_checkin_fixed_squares(sotto_bound *out, double eps0, double m,
                                                        double p0, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_checkin_averaged_squares(sotto_bound *out, double eps0,
                                                           const sotto_crowd *crowd, double m,
                                                           double log_delta2, sotto_err *err);

typedef enum sotto_checkin_form {
    SOTTO_CHECKIN_ONE_A_SLOT = 1, /* theorem 3.2 */
    SOTTO_CHECKIN_ALL_OF_A_SLOT,  /* theorem 4.1 */
    SOTTO_CHECKIN_OWN_WINDOW      /* theorem 4.3 */
} sotto_checkin_form;

typedef struct sotto_checkin {
    sotto_checkin_form form;
    double eps0, m;
    double p0;         /* one a slot */
    sotto_crowd crowd; /* all of a slot */
} sotto_checkin;

/* Corollary 3.3: everybody checks in anew in each of so many windows, one after the other. The smaller of all steps in one
 * composition and of whole windows composed optimally; not capped by what a client costs without any gain. */
SOTTO_MUST_USE sotto_status sotto_checkin_repeated(sotto_bound *out, const sotto_checkin *c,
                                                   double repetitions, double log_delta,
                                                   sotto_err *err);

/* Theorem 5.1: shuffling, and the bound of 2019 that it is compared with. Both are looser than clone.h. */
SOTTO_MUST_USE sotto_status sotto_checkin_shuffle(sotto_bound *out, double eps0,
                                                  const sotto_crowd *crowd, double log_delta,
                                                  sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_checkin_shuffle_2019(sotto_bound *out, double eps0,
                                                       const sotto_crowd *crowd, double log_delta,
                                                       sotto_err *err);

/* The largest delta0 of an (eps0, delta0)-DP randomizer by the printed side condition, with the exponent
 * (5 or 8) in it that one chooses to read. For comparison only: the text prints that exponent in two ways, so no
 * guarantee is derived from it. */
SOTTO_MUST_USE sotto_status sotto_checkin_printed_max_delta0(sotto_bound *out, double eps0,
                                                             double log_delta1, int exponent,
                                                             sotto_err *err);

/* Any of the theorems for an (eps0, delta0)-DP randomizer, delta0 > 0: always SOTTO_DENIED, with the reason. */
SOTTO_MUST_USE sotto_status sotto_checkin_approximate(sotto_bound *out, double eps0, double delta0,
                                                      sotto_err *err);

/* Expected number of dummy updates: propositions 3.4, m (1 - p0/m)^n, and 4.4, (n-m+1)(1 - 1/m)^m. Not a privacy
 * claim: n is everybody who takes part. */
SOTTO_MUST_USE sotto_status sotto_checkin_dummies_fixed(sotto_bound *out, double n, double m,
                                                        double p0, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_checkin_dummies_sliding(sotto_bound *out, double n, double m,
                                                          sotto_err *err);

#endif
