/* Eight nodes at a time. */
#include "math/kernels128.h"
#include "math/lanes128_ifma.h"

enum { LANES = SOTTO_F128_LANES };

/* The roots that w^(-k 2^s) are for eight k from `first` on. Which ones, everybody may know. */
static inline sotto_f128x8 gather_roots(const sotto_f128 *roots, size_t first, unsigned log,
                                        unsigned s)
{
    const sotto_v8 lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    sotto_v8 k = _mm512_add_epi64(sotto_v8_of((int64_t)first), lanes);
    sotto_v8 back = _mm512_sll_epi64(k, _mm_cvtsi32_si128((int)s));
    sotto_v8 at = _mm512_and_si512(_mm512_sub_epi64(_mm512_setzero_si512(), back),
                                   sotto_v8_of((INT64_C(1) << log) - 1));
    sotto_v8 word = _mm512_slli_epi64(at, 1);

    return sotto_f128x8_of_words(_mm512_i64gather_epi64(word, &roots->low, 8),
                                 _mm512_i64gather_epi64(word, &roots->high, 8));
}

void sotto_f128_factor_level_ifma(sotto_f128 *out, unsigned log, unsigned s, sotto_f128 power,
                                  const sotto_f128 *roots)
{
    size_t half = (size_t)1 << (log - s - 1);
    /* Times a root, with its 2^128, this gives a weight for lanes. */
    sotto_f128x8 adapted = sotto_f128x8_all(sotto_f128_mul(power, sotto_f128x8_adapter()));
    /* 4p, so that a difference isn't negative. */
    const sotto_v8 lent[3] = {sotto_v8_of(4), sotto_v8_of(-4 * SOTTO_LIMB_K), sotto_v8_of(1 << 26)};

    if (half < LANES) {
        sotto_f128_factor_level_portable(out, log, s, power, roots);
        return;
    }
    for (size_t k = 0; k < half; k += LANES) {
        sotto_f128x8 root = gather_roots(roots, k, log, s);
        sotto_f128x8 x = sotto_f128x8_load(&out[k], LANES), sum, difference;
        sotto_f128x8 u = sotto_f128x8_mul(&root, &adapted);
        sotto_f128x8 v = sotto_f128x8_exact(sotto_f128x8_mul(&x, &u));

        x = sotto_f128x8_exact(x);
        for (unsigned i = 0; i < 3; i++) {
            sum.limb[i] = _mm512_add_epi64(x.limb[i], v.limb[i]);
            difference.limb[i] = _mm512_add_epi64(_mm512_sub_epi64(x.limb[i], v.limb[i]), lent[i]);
        }
        sotto_f128x8_store(&out[k], sum);
        sotto_f128x8_store(&out[k + half], difference);
    }
}
