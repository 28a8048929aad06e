/* account/numeric/parameter.h - parameters are refused by name, with what would have been accepted. */
#ifndef SOTTO_ACCOUNT_NUMERIC_PARAMETER_H
#define SOTTO_ACCOUNT_NUMERIC_PARAMETER_H

#include "account/numeric/bound.h"

/* Deltas are logarithms: from 1e-304 to just below 1. */
#define SOTTO_LOG_DELTA_MIN -700.0

/* SOTTO_MALFORMED unless low <= value <= high; NaN never is. */
SOTTO_MUST_USE sotto_status sotto_check_range(const char *name, double value, double low,
                                              double high, sotto_err *err);

/* As above, and value is an integer. */
SOTTO_MUST_USE sotto_status sotto_check_count(const char *name, double value, double low,
                                              double high, sotto_err *err);

/* SOTTO_MALFORMED unless SOTTO_LOG_DELTA_MIN <= log_delta < 0. */
SOTTO_MUST_USE sotto_status sotto_check_log_delta(double log_delta, sotto_err *err);

/* log of a delta in (0, 1), rounded down: a smaller delta is the harder promise. */
SOTTO_MUST_USE sotto_status sotto_log_delta_of(double *out, double delta, sotto_err *err);

#endif
