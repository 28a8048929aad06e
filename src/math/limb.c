#include "math/limb.h"

#include "base/backends.h"
#include "base/cpu.h"

/* b w modulo p, below 2p. */
static inline uint64_t product(uint64_t b, uint64_t w, uint64_t over, uint64_t p, unsigned shift)
{
    uint64_t quotient = shift == 32 ? (b * over) >> 32 : sotto_u128_high(sotto_mul_wide(b, over));

    return b * w - quotient * p;
}

static inline uint64_t below(uint64_t x, uint64_t p)
{
    return x - (p & ~sotto_ct_less(x, p));
}

static inline void forward_blocks(uint64_t *v, size_t t, const uint64_t *z, const uint64_t *over,
                                  size_t count, uint64_t p, unsigned shift)
{
    for (size_t i = 0; i < count; i++, v += 2 * t) {
        for (size_t k = 0; k < t; k++) {
            uint64_t a = v[k], b = product(v[k + t], z[i], over[i], p, shift);

            v[k] = a + b;
            v[k + t] = a - b + 2 * p;
        }
    }
}

static inline void inverse_blocks(uint64_t *v, size_t t, const uint64_t *z, const uint64_t *over,
                                  size_t count, uint64_t p, unsigned shift)
{
    for (size_t i = 0; i < count; i++, v += 2 * t) {
        for (size_t k = 0; k < t; k++) {
            uint64_t a = v[k], b = v[k + t];

            v[k] = below(a + b, 2 * p);
            v[k + t] = product(a - b + 2 * p, z[i], over[i], p, shift);
        }
    }
}

static inline void finish_all(uint64_t *v, size_t n, uint64_t one, uint64_t p, unsigned shift)
{
    for (size_t k = 0; k < n; k++)
        v[k] = below(product(v[k], 1, one, p, shift), p);
}

/* ---- kernels for a shift of 32, and the one way for 64 ----------------------------------------------- */

static void forward32(uint64_t *v, size_t t, const uint64_t *z, const uint64_t *over, size_t count,
                      uint64_t p)
{
    forward_blocks(v, t, z, over, count, p, 32);
}

static void inverse32(uint64_t *v, size_t t, const uint64_t *z, const uint64_t *over, size_t count,
                      uint64_t p)
{
    inverse_blocks(v, t, z, over, count, p, 32);
}

static void finish32(uint64_t *v, size_t n, uint64_t one, uint64_t p)
{
    finish_all(v, n, one, p, 32);
}

static void forward64(uint64_t *v, size_t t, const uint64_t *z, const uint64_t *over, size_t count,
                      uint64_t p)
{
    forward_blocks(v, t, z, over, count, p, 64);
}

static void inverse64(uint64_t *v, size_t t, const uint64_t *z, const uint64_t *over, size_t count,
                      uint64_t p)
{
    inverse_blocks(v, t, z, over, count, p, 64);
}

static void finish64(uint64_t *v, size_t n, uint64_t one, uint64_t p)
{
    finish_all(v, n, one, p, 64);
}

static const sotto_limb_kernels portable = {"portable", forward32, inverse32, finish32};
static const sotto_limb_kernels wide = {"wide", forward64, inverse64, finish64};

static const sotto_backend rows[] = {
#if defined(__x86_64__)
    {SOTTO_CPU_AVX2, &sotto_limb_avx2},
#endif
    {0, &portable},
};
static sotto_backends backends = {rows, sizeof rows / sizeof rows[0], NULL};

bool sotto_limb_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}

static const sotto_limb_kernels *kernels_of(const sotto_limb *limb)
{
    return limb->shift == 32 ? sotto_backends_chosen(&backends) : &wide;
}

/* ---- tables ------------------------------------------------------------------------------------------ */

uint64_t sotto_limb_pow(const sotto_limb *limb, uint64_t a, uint64_t exponent)
{
    uint64_t result = 1;

    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = sotto_limb_mul(limb, result, a);
        a = sotto_limb_mul(limb, a, a);
    }
    return result;
}

uint64_t sotto_limb_from(const sotto_limb *limb, uint64_t x)
{
    uint64_t low = x & ((UINT64_C(1) << (limb->bits - 1)) - 1), r = 0;

    /* Digits of bits - 1 bits, the highest first; each is below p. */
    for (unsigned digits = 63 / (limb->bits - 1); digits > 0; digits--) {
        uint64_t digit = x >> (digits * (limb->bits - 1));

        digit &= (UINT64_C(1) << (limb->bits - 1)) - 1;
        r = sotto_limb_mul(limb, below(r + digit, limb->p), UINT64_C(1) << (limb->bits - 1));
    }
    return below(r + low, limb->p);
}

static void fill(const sotto_limb *limb, uint64_t *powers, uint64_t *over, uint64_t psi)
{
    size_t n = (size_t)1 << limb->log;

    for (size_t i = 0; i < n; i++) {
        size_t reversed = 0;

        for (unsigned b = 0; b < limb->log; b++)
            reversed |= (i >> b & 1) << (limb->log - 1 - b);
        powers[i] = sotto_limb_pow(limb, psi, reversed);
        over[i] = (uint64_t)(((sotto_u128)powers[i] << limb->shift) / limb->p);
    }
}

sotto_status sotto_limb_init(sotto_limb *limb, uint64_t p, uint64_t psi, unsigned log,
                             sotto_arena *arena, sotto_err *err)
{
    size_t n = (size_t)1 << log;
    uint64_t *tables = sotto_arena_take_array(arena, 4 * n, sizeof *tables);

    if (!tables)
        return sotto_fail(err, SOTTO_NO_MEMORY, "limb: no room for tables");
    *limb = (sotto_limb){.p = p, .log = log};
    while (p >> limb->bits)
        limb->bits++;
    limb->mu = (uint64_t)(((sotto_u128)1 << (2 * limb->bits)) / p);
    limb->shift = limb->bits <= 26 ? 32 : 64;
    limb->one = (uint64_t)(((sotto_u128)1 << limb->shift) / p);
    if (limb->bits < 16 || limb->bits > 46 || log > SOTTO_LIMB_MOST_LOG ||
        sotto_limb_pow(limb, psi, n) != p - 1)
        return sotto_fail(err, SOTTO_BUG, "limb: no such prime or root");
    fill(limb, tables, tables + n, psi);
    fill(limb, tables + 2 * n, tables + 3 * n, sotto_limb_pow(limb, psi, 2 * n - 1));
    limb->factors = tables;
    limb->factors_over = tables + n;
    limb->inverses = tables + 2 * n;
    limb->inverses_over = tables + 3 * n;
    return SOTTO_OK;
}

/* ---- transforms -------------------------------------------------------------------------------------- */

void sotto_limb_forward(const sotto_limb *limb, uint64_t *v)
{
    const sotto_limb_kernels *set = kernels_of(limb);
    size_t n = (size_t)1 << limb->log;

    for (size_t m = 1; m < n; m *= 2)
        set->forward(v, n / (2 * m), limb->factors + m, limb->factors_over + m, m, limb->p);
    set->finish(v, n, limb->one, limb->p);
}

void sotto_limb_inverse(const sotto_limb *limb, uint64_t *v)
{
    const sotto_limb_kernels *set = kernels_of(limb);
    size_t n = (size_t)1 << limb->log;

    for (size_t m = n / 2; m > 0; m /= 2)
        set->inverse(v, n / (2 * m), limb->inverses + m, limb->inverses_over + m, m, limb->p);
    set->finish(v, n, limb->one, limb->p);
}
