#define SOTTO_FIELD 128
#include "math/kernels128.h"

#define FACTOR_LEVEL sotto_f128_best()->factor_level
#include "math/poly_template.h"

void sotto_f128_factor_level_portable(fe *out, unsigned log, unsigned s, fe power, const fe *roots)
{
    factor_level(out, log, s, power, roots);
}
