#include "math/ntt64.h"

#include "base/backends.h"
#include "base/cpu.h"

/* ---- portable: canonical between stages ------------------------------------------------------------ */

static void leave(sotto_f64 *v, size_t n)
{
    (void)v;
    (void)n;
}

static void forward(sotto_f64 *v, size_t t, const sotto_f64 *z, size_t count)
{
    for (size_t i = 0; i < count; i++, v += 2 * t) {
        for (size_t k = 0; k < t; k++) {
            sotto_f64 a = v[k], b = sotto_f64_mul(v[k + t], z[i]);

            v[k] = sotto_f64_add(a, b);
            v[k + t] = sotto_f64_sub(a, b);
        }
    }
}

static void inverse(sotto_f64 *v, size_t t, const sotto_f64 *z, size_t count)
{
    for (size_t i = 0; i < count; i++, v += 2 * t) {
        for (size_t k = 0; k < t; k++) {
            sotto_f64 a = v[k], b = v[k + t];

            v[k] = sotto_f64_add(a, b);
            v[k + t] = sotto_f64_mul(sotto_f64_sub(a, b), z[i]);
        }
    }
}

static void multiply(sotto_f64 *out, const sotto_f64 *a, const sotto_f64 *b, size_t n)
{
    for (size_t k = 0; k < n; k++)
        out[k] = sotto_f64_mul(a[k], b[k]);
}

const sotto_ntt64 sotto_ntt64_portable = {"portable", leave, forward, inverse, leave, multiply};

static const sotto_backend rows[] = {
#if defined(__x86_64__)
    {SOTTO_CPU_AVX2, &sotto_ntt64_avx2},
#endif
    {0, &sotto_ntt64_portable},
};
static sotto_backends backends = {rows, sizeof rows / sizeof rows[0], NULL};

const sotto_ntt64 *sotto_ntt64_best(void)
{
    return sotto_backends_chosen(&backends);
}

bool sotto_ntt64_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}

/* Lanes are full from eight points on. */
static const sotto_ntt64 *for_size(unsigned log)
{
    return log < 3 ? &sotto_ntt64_portable : sotto_ntt64_best();
}

/* ---- cyclic ------------------------------------------------------------------------------------------ */

enum { SOME = 64 };

/* The next number in bit-reversed order, of so many bits that `top` is the highest. */
static size_t reversed_next(size_t r, size_t top)
{
    size_t bit = top;

    for (; r & bit; bit >>= 1)
        r ^= bit;
    return r | bit;
}

typedef void stage(sotto_f64 *v, size_t t, const sotto_f64 *z, size_t count);

/* One stage of m blocks, whose factors are put in order a few at a time. back: powers of 1/w. */
static void cyclic_stage(sotto_f64 *v, size_t n, size_t m, const sotto_f64 *roots, bool back,
                         stage *run)
{
    size_t t = n / (2 * m), reversed = 0;
    sotto_f64 z[SOME];

    for (size_t at = 0; at < m; at += SOME) {
        size_t some = m - at < SOME ? m - at : SOME;

        for (size_t i = 0; i < some; i++) {
            z[i] = roots[back ? (n - reversed) & (n - 1) : reversed];
            reversed = reversed_next(reversed, n / 4);
        }
        run(v + 2 * t * at, t, z, some);
    }
}

void sotto_ntt64_cyclic_forward(sotto_f64 *v, unsigned log, const sotto_f64 *roots)
{
    const sotto_ntt64 *set = for_size(log);
    size_t n = (size_t)1 << log;

    set->begin(v, n);
    for (size_t m = 1; m < n; m *= 2)
        cyclic_stage(v, n, m, roots, true, set->forward);
    set->finish(v, n);
}

void sotto_ntt64_cyclic_inverse(sotto_f64 *v, unsigned log, const sotto_f64 *roots)
{
    const sotto_ntt64 *set = for_size(log);
    size_t n = (size_t)1 << log;

    set->begin(v, n);
    for (size_t m = n / 2; m > 0; m /= 2)
        cyclic_stage(v, n, m, roots, false, set->inverse);
    set->finish(v, n);
}

/* ---- negacyclic -------------------------------------------------------------------------------------- */

void sotto_ntt64_negacyclic_factors(sotto_f64 *factors, sotto_f64 *inverses, unsigned log)
{
    size_t n = (size_t)1 << log, reversed = 0;
    sotto_f64 psi = sotto_f64_root(log + 1), back = sotto_f64_inv(psi);

    for (size_t i = 0; i < n; i++) {
        factors[i] = sotto_f64_pow(psi, reversed);
        inverses[i] = sotto_f64_pow(back, reversed);
        reversed = reversed_next(reversed, n / 2);
    }
}

void sotto_ntt64_negacyclic_forward(sotto_f64 *v, unsigned log, const sotto_f64 *factors)
{
    const sotto_ntt64 *set = for_size(log);
    size_t n = (size_t)1 << log;

    set->begin(v, n);
    for (size_t m = 1; m < n; m *= 2)
        set->forward(v, n / (2 * m), factors + m, m);
    set->finish(v, n);
}

void sotto_ntt64_negacyclic_inverse(sotto_f64 *v, unsigned log, const sotto_f64 *inverses)
{
    const sotto_ntt64 *set = for_size(log);
    size_t n = (size_t)1 << log;

    set->begin(v, n);
    for (size_t m = n / 2; m > 0; m /= 2)
        set->inverse(v, n / (2 * m), inverses + m, m);
    set->finish(v, n);
}
