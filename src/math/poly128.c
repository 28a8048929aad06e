#define SOTTO_FIELD 128
#include "math/kernels128.h"
#include "math/several128.h"

#ifndef __OPTIMIZE_SIZE__
#include "math/poly.h"

size_t sotto_f128_several_room(unsigned log)
{
    return sotto_several128_best()->room(log);
}

void sotto_f128_several_prepare(sotto_f128 *room, unsigned log, const sotto_f128 *roots,
                                const sotto_f128 *shift)
{
    sotto_several128_best()->prepare(room, log, roots, shift);
}

void sotto_f128_several_to_odd_values(sotto_f128 *v, size_t count, unsigned log,
                                      const sotto_f128 *roots, const sotto_f128 *shift,
                                      sotto_f128 *room)
{
    sotto_several128_best()->to_odd_values(v, count, log, roots, shift, room);
}
#endif

#define FACTOR_LEVEL sotto_f128_best()->factor_level
#include "math/poly_template.h"

void sotto_f128_factor_level_portable(fe *out, unsigned log, unsigned s, fe power, const fe *roots)
{
    factor_level(out, log, s, power, roots);
}
