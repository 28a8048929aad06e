/* Transforms of Field64 and of small primes: every set of kernels against schoolbook products, and against the portable set. */
#include "math/limb.h"
#include "math/ntt64.h"
#include "math/poly.h"
#include "sim/random.h"
#include "support/test.h"

#include <string.h>

enum { LOG = 12, N = 1 << LOG, SCHOOL = 256 };

static const char *const sets[] = {"portable", "avx2"};

typedef struct prime {
    uint64_t p, psi; /* psi has order 2^13 */
} prime;

static const prime primes[] = {{8380417, 283817},
                               {UINT64_C(35184371884033), UINT64_C(19095220364083)}};

/* 0, p - 1, values around 2^32 that make carries, or any. */
static uint64_t residue(sotto_sim_random *random, uint64_t p)
{
    static const uint64_t edges[] = {0, 1, UINT64_C(0xffffffff), UINT64_C(0x100000000),
                                     UINT64_C(0xfffffffeffffffff)};
    uint64_t kind = sotto_sim_random_below(random, 16);

    if (kind < 5)
        return edges[kind] % p;
    return kind == 5 ? p - 1 : sotto_sim_random_below(random, p);
}

static void fill64(sotto_f64 *v, size_t n, uint64_t seed)
{
    sotto_sim_random random;

    sotto_sim_random_init(&random, seed);
    for (size_t k = 0; k < n; k++)
        v[k].v = residue(&random, SOTTO_F64_P);
}

/* a b modulo x^n + 1, coefficient k. */
static sotto_f64 schoolbook(const sotto_f64 *a, const sotto_f64 *b, size_t n, size_t k)
{
    sotto_f64 sum = sotto_f64_zero();

    for (size_t i = 0; i < n; i++) {
        sotto_f64 product = sotto_f64_mul(a[i], b[(k + n - i) % n]);

        sum = i <= k ? sotto_f64_add(sum, product) : sotto_f64_sub(sum, product);
    }
    return sum;
}

static void products_modulo_x_to_n_plus_1_are_those_of_the_schoolbook(sotto_test *t)
{
    static sotto_f64 factors[N], inverses[N], a[N], b[N], x[N], y[N];

    for (size_t s = 0; s < 2; s++) {
        if (!sotto_ntt64_use(sets[s]))
            continue;
        for (unsigned log = 2; log <= LOG; log += log == 2 ? 1 : 3) {
            size_t n = (size_t)1 << log, step = n > SCHOOL ? n / SCHOOL : 1;
            sotto_f64 part = sotto_f64_inv(sotto_f64_from(n));

            sotto_ntt64_negacyclic_factors(factors, inverses, log);
            fill64(a, n, log);
            fill64(b, n, log + 100);
            memcpy(x, a, sizeof x);
            memcpy(y, b, sizeof y);
            sotto_ntt64_negacyclic_forward(x, log, factors);
            sotto_ntt64_negacyclic_forward(y, log, factors);
            sotto_ntt64_best()->multiply(x, x, y, n);
            sotto_ntt64_negacyclic_inverse(x, log, inverses);
            for (size_t k = 0; k < n; k += step)
                CHECK_EQUAL(t, schoolbook(a, b, n, k).v, sotto_f64_mul(x[k], part).v);
        }
    }
    CHECK(t, sotto_ntt64_use(NULL));
}

/* Also of inputs that are all p - 1, where every sum carries. */
static void every_set_of_kernels_gives_the_same_bytes(sotto_test *t)
{
    static sotto_f64 factors[2 * N], inverses[2 * N], roots[2 * N], v[2 * N], wanted[2 * N];

    if (!sotto_ntt64_use("avx2"))
        SKIP(t, "this machine has no AVX2");
    for (unsigned log = 0; log <= LOG + 1; log++) {
        size_t n = (size_t)1 << log;

        sotto_ntt64_negacyclic_factors(factors, inverses, log);
        sotto_f64_roots(roots, log);
        for (uint64_t seed = 0; seed < 3; seed++) {
            for (size_t s = 0; s < 2; s++) {
                CHECK(t, sotto_ntt64_use(sets[s]));
                fill64(v, n, 7 * log + seed);
                for (size_t k = 0; k < n && seed == 0; k++)
                    v[k].v = SOTTO_F64_P - 1;
                sotto_ntt64_negacyclic_forward(v, log, factors);
                sotto_ntt64_cyclic_inverse(v, log, roots);
                if (n >= 4)
                    sotto_ntt64_best()->multiply(v, v, roots, n);
                sotto_ntt64_negacyclic_inverse(v, log, inverses);
                sotto_ntt64_cyclic_forward(v, log, roots);
                if (s == 0)
                    memcpy(wanted, v, n * sizeof *v);
                CHECK_BYTES(t, wanted, v, n * sizeof *v);
            }
        }
    }
    CHECK(t, sotto_ntt64_use(NULL));
}

static void residues_are_exact(sotto_test *t)
{
    for (size_t i = 0; i < sizeof primes / sizeof primes[0]; i++) {
        uint64_t p = primes[i].p;
        sotto_sim_random random;
        sotto_limb limb;

        CHECK_OK(t, sotto_limb_init(&limb, p, primes[i].psi, 4 + 8, &t->arena, &t->err));
        sotto_sim_random_init(&random, p);
        for (int k = 0; k < 20000; k++) {
            uint64_t a = residue(&random, p), b = residue(&random, p);
            uint64_t x = sotto_sim_random_u64(&random) >> (1 + k % 60);

            CHECK_EQUAL(t, (uint64_t)((sotto_u128)a * b % p), sotto_limb_mul(&limb, a, b));
            CHECK_EQUAL(t, x % p, sotto_limb_from(&limb, x));
        }
        CHECK_EQUAL(t, 0, sotto_limb_from(&limb, p * (INT64_MAX / p)));
        CHECK_STATUS(t, SOTTO_BUG, sotto_limb_init(&limb, p, 1, 12, &t->arena, &t->err));
    }
}

static uint64_t limb_schoolbook(const sotto_limb *limb, const uint64_t *a, const uint64_t *b,
                                size_t n, size_t k)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t product = sotto_limb_mul(limb, a[i], b[(k + n - i) % n]);

        sum = (sum + (i <= k ? product : limb->p - product)) % limb->p;
    }
    return sum;
}

static void small_primes_multiply_as_the_schoolbook_does(sotto_test *t)
{
    static uint64_t a[N], b[N], x[N], y[N];

    for (size_t i = 0; i < sizeof primes / sizeof primes[0]; i++) {
        for (size_t s = 0; s < 2; s++) {
            sotto_sim_random random;
            sotto_limb limb;

            if (!sotto_limb_use(sets[s]))
                continue;
            CHECK_OK(t,
                     sotto_limb_init(&limb, primes[i].p, primes[i].psi, LOG, &t->arena, &t->err));
            sotto_sim_random_init(&random, i + 1);
            for (size_t k = 0; k < N; k++) {
                /* All p - 1 in the first factor: the largest sums that there can be. */
                a[k] = x[k] = s == 0 ? residue(&random, limb.p) : limb.p - 1;
                b[k] = y[k] = residue(&random, limb.p);
            }
            sotto_limb_forward(&limb, x);
            sotto_limb_forward(&limb, y);
            for (size_t k = 0; k < N; k++)
                x[k] = sotto_limb_mul(&limb, x[k], y[k]);
            sotto_limb_inverse(&limb, x);
            uint64_t part = sotto_limb_pow(&limb, N, limb.p - 2);
            for (size_t k = 0; k < N; k += N / 128)
                CHECK_EQUAL(t, limb_schoolbook(&limb, a, b, N, k),
                            sotto_limb_mul(&limb, x[k], part));
        }
    }
    CHECK(t, sotto_limb_use(NULL));
}

static void small_primes_have_the_same_bytes_in_every_set(sotto_test *t)
{
    static uint64_t v[N], wanted[N];
    sotto_sim_random random;
    sotto_limb limb;

    if (!sotto_limb_use("avx2"))
        SKIP(t, "this machine has no AVX2");
    CHECK_OK(t, sotto_limb_init(&limb, primes[0].p, primes[0].psi, LOG, &t->arena, &t->err));
    for (uint64_t seed = 0; seed < 3; seed++) {
        for (size_t s = 0; s < 2; s++) {
            CHECK(t, sotto_limb_use(sets[s]));
            sotto_sim_random_init(&random, seed);
            for (size_t k = 0; k < N; k++)
                v[k] = seed == 0 ? limb.p - 1 : residue(&random, limb.p);
            sotto_limb_forward(&limb, v);
            sotto_limb_inverse(&limb, v);
            sotto_limb_inverse(&limb, v);
            if (s == 0)
                memcpy(wanted, v, sizeof wanted);
            CHECK_BYTES(t, wanted, v, sizeof v);
        }
    }
    CHECK(t, sotto_limb_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(products_modulo_x_to_n_plus_1_are_those_of_the_schoolbook),
        CASE(every_set_of_kernels_gives_the_same_bytes),
        CASE(residues_are_exact),
        CASE(small_primes_multiply_as_the_schoolbook_does),
        CASE(small_primes_have_the_same_bytes_in_every_set),
    };
    return RUN_TESTS(argc, argv, cases);
}
