#include "account/numeric/bound.h"

/* Every number of this room is meant as IEEE double arithmetic, evaluated as written. Parts of -ffast-math are told
 * by macros of their own; what none tells, tests/account/test_bound.c sees at work. */
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) ||     \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "the accountant's bounds do not survive -ffast-math"
#endif

_Static_assert(sizeof(double) == 8, "IEEE double");
