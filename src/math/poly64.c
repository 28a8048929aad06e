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

/* One vector fills the lanes that the machine has. */
size_t sotto_f64_several_room(unsigned log)
{
    (void)log;
    return 0;
}

void sotto_f64_several_prepare(sotto_f64 *room, unsigned log, const sotto_f64 *roots,
                               const sotto_f64 *shift)
{
    (void)room;
    (void)log;
    (void)roots;
    (void)shift;
}

void sotto_f64_several_to_odd_values(sotto_f64 *v, size_t count, unsigned log,
                                     const sotto_f64 *roots, const sotto_f64 *shift,
                                     sotto_f64 *room)
{
    (void)room;
    for (size_t i = 0; i < count; i++)
        sotto_f64_to_odd_values(v + (i << log), log, roots, shift);
}
#endif

#include "math/poly_template.h"
