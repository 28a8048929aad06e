/* math/several128.h - up to four transforms over Field128 at once, in the best way this machine offers.
 *
 * Callers:  math/poly128.c, whose contracts hold; tests and benchmarks choose a set by name.
 * Threads:  the choice is made once and is safe from any thread; sotto_several128_use is for programs that run nothing else
 *           meanwhile.
 * Secrets:  elements. Time depends on sizes only, in every set.
 *
 * All sets give the same bytes.
 */
#ifndef SOTTO_MATH_SEVERAL128_H
#define SOTTO_MATH_SEVERAL128_H

#include "math/field128.h"
#include "sotto/base.h"

typedef struct sotto_several128 {
    const char *name;
    /* As in math/poly.h. */
    size_t (*room)(unsigned log);
    void (*prepare)(sotto_f128 *room, unsigned log, const sotto_f128 *roots,
                    const sotto_f128 *shift);
    void (*to_odd_values)(sotto_f128 *v, size_t count, unsigned log, const sotto_f128 *roots,
                          const sotto_f128 *shift, sotto_f128 *room);
} sotto_several128;

const sotto_several128 *sotto_several128_best(void);

/* "portable" or "avx2"; NULL returns to the best. False: not on this machine. */
SOTTO_MUST_USE bool sotto_several128_use(const char *name);

extern const sotto_several128 sotto_several128_portable;
extern const sotto_several128 sotto_several128_avx2;

#endif
