/* account/local/onehot.h - symmetric one-hot encoding and binary randomized response under aggregation, exactly.
 *
 * Each of n people holds one value; each bit of its one-hot code is flipped with probability 1/(e^eps0 + 1) and
 * only the sum of the reports is seen. eps0 is the parameter of one bit, which is the local epsilon for deletion;
 * replacing a value touches two bits, so the local epsilon for replacement is 2 eps0.
 *
 * Callers:  the accountant.
 * Trust:    as in clone.h: a sum or a shuffle is all that is seen, n_honest keep their coins to themselves.
 * Data:     the loss depends on what the others hold. The exact answers are for others that all hold the same
 *           value. That is the worst case in the limit of a large batch. In a small batch it is not: enumeration
 *           finds data sets with up to a quarter more delta. A promise for whatever the others hold is
 *           sotto_onehot_eps_any_data.
 * Memory:   about 400 kB of stack, whatever n.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_ONEHOT_H
#define SOTTO_ACCOUNT_LOCAL_ONEHOT_H

#include "account/local/clone.h"

#define SOTTO_ONEHOT_MAX_EPS0 12.0

/* Whose data may differ: a type, since mixing the two is a factor of two. */
typedef enum sotto_onehot_adjacency {
    SOTTO_ONEHOT_REPLACEMENT = 1, /* two bits: another value instead                         */
    SOTTO_ONEHOT_DELETION         /* one bit: no value instead; also binary randomized response */
} sotto_onehot_adjacency;

/* The optimal epsilon at log_delta where all others hold the same value. */
SOTTO_MUST_USE sotto_status sotto_onehot_eps(sotto_bound *out, sotto_onehot_adjacency adjacency,
                                             double eps0, const sotto_crowd *crowd,
                                             double log_delta, sotto_err *err);

/* What the evaluation may be wrong by, multiplied; all 1 in use. Tests move each and see `high` move. */
typedef struct sotto_onehot_inflate {
    double masses; /* of outcomes, and how a cell is shared between its ends */
    double sums;   /* of prefixes, and of everything                         */
} sotto_onehot_inflate;

SOTTO_MUST_USE sotto_status sotto_onehot_eps_inflated(sotto_bound *out,
                                                      sotto_onehot_adjacency adjacency, double eps0,
                                                      const sotto_crowd *crowd, double log_delta,
                                                      const sotto_onehot_inflate *inflate,
                                                      sotto_err *err);

/* An epsilon whatever the others hold, by the clone bound with the mechanism's own parameters. For deletion these
 * are the two answers of one bit; for replacement the smaller of the two-bit report as a whole and of two bits
 * composed. Looser than the above; `low` is 0. */
SOTTO_MUST_USE sotto_status sotto_onehot_eps_any_data(sotto_bound *out,
                                                      sotto_onehot_adjacency adjacency, double eps0,
                                                      const sotto_crowd *crowd, double log_delta,
                                                      sotto_err *err);

/* All others equal: Renyi divergence of order alpha > 1 of one bit's sum, the larger direction (rho_2RR). */
SOTTO_MUST_USE sotto_status sotto_onehot_rdp_bit(sotto_bound *out, double eps0,
                                                 const sotto_crowd *crowd, double alpha,
                                                 sotto_err *err);

/* Epsilon by way of the Renyi divergence of one (deletion) or two (replacement) bits, at the best order. It is
 * an upper bound only, looser than sotto_onehot_eps; for comparison and for ledgers kept in Renyi orders. */
SOTTO_MUST_USE sotto_status sotto_onehot_eps_by_rdp(sotto_bound *out,
                                                    sotto_onehot_adjacency adjacency, double eps0,
                                                    const sotto_crowd *crowd, double log_delta,
                                                    sotto_err *err);

#endif
