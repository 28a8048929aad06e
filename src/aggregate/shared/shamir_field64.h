/* aggregate/shared/shamir_field64.h - Shamir's secret sharing over Field64.
 *
 * Callers:  shamir.c shares seeds, aero/threshold.c keys.
 */
#ifndef SOTTO_AGGREGATE_SHARED_SHAMIR_FIELD64_H
#define SOTTO_AGGREGATE_SHARED_SHAMIR_FIELD64_H

#include "math/field64.h"

static inline sotto_f64 sotto_shamir_times(sotto_f64 a, sotto_f64 b)
{
    return sotto_f64_mul(a, sotto_f64_to_weight(b));
}

#define FE           sotto_f64
#define FE_ADD       sotto_f64_add
#define FE_SUB       sotto_f64_sub
#define FE_MUL       sotto_shamir_times
#define FE_INV       sotto_f64_inv
#define FE_ZERO      sotto_f64_zero()
#define FE_ONE       sotto_f64_one()
#define SHAMIR(name) sotto_shamir_##name
#include "aggregate/shared/shamir_template.h"

#endif
