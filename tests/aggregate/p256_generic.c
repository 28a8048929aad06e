/* Sums of points as they are made in lanes of IFMA, over the compiler's own vectors. */
#include "p256_generic.h"

#include "crypto/generic52.h"

typedef int64_t signed_lane __attribute__((vector_size(16)));

#define SAR(a, n)    ((lane)((signed_lane)(a) >> (n)))
#define BOTH(c, d)   ((c) & (d))
#define EITHER(c, d) ((c) | (d))
#define OTHER(c)     (~(c))

#include "aggregate/shared/p256_lanes.h"

const sotto_p256_set sotto_p256_generic = {"generic", sum_in_lanes};

static number number_of(const uint64_t limbs[LIMBS])
{
    number out;

    for (unsigned i = 0; i < LIMBS; i++)
        out.limb[i] = ALL(limbs[i]);
    return out;
}

/* The second lane: both have the same. */
static void give(uint64_t out[WORDS], number a)
{
    const number tight = number_tight(a);
    row words[WORDS];

    to_words(words, number_pick(is_below_p(tight), number_sub(tight, same_in_all(P), 0), tight));
    for (unsigned i = 0; i < WORDS; i++)
        out[i] = words[i].of[1];
}

void sotto_p256_generic_multiply(uint64_t product[4], uint64_t square[4], const uint64_t a[5],
                                 const uint64_t b[5])
{
    give(product, number_mul(number_of(a), number_of(b)));
    give(square, number_sqr(number_of(a)));
}
