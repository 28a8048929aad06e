#define SOTTO_FIELD 64
#include "math/ntt64.h"

/* What is built for size keeps the plain transforms: libsotto-device has no room for others. */
#ifndef __OPTIMIZE_SIZE__
#define TRANSFORMS_ELSEWHERE

#include "math/poly.h"

void sotto_f64_to_coefficients(sotto_f64 *v, unsigned log, const sotto_f64 *roots)
{
    sotto_ntt64_cyclic_forward(v, log, roots);
}

void sotto_f64_to_values(sotto_f64 *v, unsigned log, const sotto_f64 *roots)
{
    sotto_ntt64_cyclic_inverse(v, log, roots);
}
#endif

#include "math/poly_template.h"
