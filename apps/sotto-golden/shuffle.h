/* sotto-golden/shuffle.h - clone bounds by the name the reference numbers give them. */
#ifndef SOTTO_GOLDEN_SHUFFLE_H
#define SOTTO_GOLDEN_SHUFFLE_H

#include "account/numeric/bound.h"

/* SOTTO_MISSING: no such variant. Everybody is honest. */
SOTTO_MUST_USE sotto_status sotto_golden_clones(sotto_bound *out, const char *variant, double eps0,
                                                double n, double log_delta, sotto_err *err);

#endif
