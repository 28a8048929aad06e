/* account/local/count.h - what the number of reports tells about one device, where others send dummies.
 *
 * Callers:  the accountant; recipe/forecast.c.
 * Trust:    nobody sees who sends what (relay and tokens); each of `others` honest devices, which do not take part, sends a
 *           dummy with chance `rate` by its own secret coin. Whoever looks knows who else takes part, and all but these coins.
 *
 * A device that takes part adds one report, otherwise it is one of those who may send a dummy. So the number of reports is
 * 1 + Bin(others, rate) or Bin(others + 1, rate), and the ratio of their chances at k is k / ((others + 1) rate). The
 * ratio grows with k. So delta in each direction is a tail of the one less e^eps of the same tail of the other, exactly.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_COUNT_H
#define SOTTO_ACCOUNT_LOCAL_COUNT_H

#include "account/numeric/bound.h"

#define SOTTO_COUNT_MOST 1e12

/* Of the pair at this eps, both directions: the larger. */
SOTTO_MUST_USE sotto_status sotto_count_delta(sotto_bound *out, double others, double rate,
                                              double eps, sotto_err *err);

/* The smallest eps at this delta; `high` is what was certified. INFINITY, both: none up to 100. */
SOTTO_MUST_USE sotto_status sotto_count_eps(sotto_bound *out, double others, double rate,
                                            double log_delta, sotto_err *err);

/* A rate that keeps (eps, delta), and below which by a thousandth it was not found to; at most 1, which always does. */
SOTTO_MUST_USE sotto_status sotto_count_rate(double *out, double others, double eps,
                                             double log_delta, sotto_err *err);

#endif
