#include "privacy/bound.h"

/* Every number of this room is meant as IEEE double arithmetic, evaluated as written. */
#if defined(__FAST_MATH__)
#error "the accountant's bounds do not survive -ffast-math"
#endif

_Static_assert(sizeof(double) == 8, "IEEE double");
