/* The two fields' multiplications, which the proof system is made of, and the loops over Field128. */
#include "bench.h"

#include "math/field128.h"
#include "math/field64.h"
#include "math/kernels128.h"
#include "math/power_sums.h"

#include <stdio.h>

enum { COUNT = 1024 };

typedef struct vectors {
    sotto_f64 a64[COUNT], b64[COUNT];
    sotto_f128 a128[COUNT], b128[COUNT];
    sotto_f64_acc acc64;
    sotto_f128_acc acc128;
} vectors;

static void mul64(void *arg)
{
    vectors *v = arg;

    for (size_t i = 0; i < COUNT; i++)
        v->a64[i] = sotto_f64_mul(v->a64[i], v->b64[i]);
}

static void mul128(void *arg)
{
    vectors *v = arg;

    for (size_t i = 0; i < COUNT; i++)
        v->a128[i] = sotto_f128_mul(v->a128[i], v->b128[i]);
}

static void dot64(void *arg)
{
    vectors *v = arg;

    for (size_t i = 0; i < COUNT; i++)
        sotto_f64_acc_mul(&v->acc64, v->a64[i], v->b64[i]);
}

static void dot128(void *arg)
{
    vectors *v = arg;
    sotto_f128_acc acc = {0};

    for (size_t i = 0; i < COUNT; i++)
        sotto_f128_acc_mul(&acc, v->a128[i], v->b128[i]);
    v->acc128 = acc;
}

/* ---- loops over Field128, in every set of kernels -------------------------------------------------- */

enum { SIDE = 100, SCRATCH = 16 * 104 + 4 };

typedef struct matrix {
    size_t side;
    uint8_t m[SIDE * SIDE * SOTTO_F128_SIZE];
    sotto_f128 f[SIDE], r[SIDE], out[2 * SIDE], scratch[SCRATCH];
} matrix;

static void power_sums(void *arg)
{
    matrix *x = arg;

    sotto_f128_power_sums(x->out, NULL, x->m, x->side * x->side, x->side, x->f, x->r, x->scratch);
}

static void bench_power_sums(const sotto_bench *b, const char *set)
{
    static const size_t sides[] = {10, 32, 100};
    static matrix x;
    char name[64];

    for (size_t i = 0; i < sizeof x.m; i++)
        x.m[i] = (uint8_t)(i * i >> 3);
    for (size_t i = 0; i < SIDE; i++)
        x.f[i] = x.r[i] = (sotto_f128){i * UINT64_C(0x94d049bb133111eb), i << 50};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        x.side = sides[i];
        (void)snprintf(name, sizeof name, "math/field128/power_sums-%zu/%s", x.side, set);
        sotto_bench_run(b, name, power_sums, &x, (double)(x.side * x.side));
    }
}

static void bench_kernels(const sotto_bench *b)
{
    static const char *const sets[] = {"portable", "avx2", "ifma"};

    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++)
        if (sotto_f128_use(sets[s]))
            bench_power_sums(b, sets[s]);
    sotto_bench_expect(sotto_f128_use(NULL), "going back to the best kernels");
}

void sotto_bench_math(const sotto_bench *b)
{
    static vectors v;

    for (size_t i = 0; i < COUNT; i++) {
        v.a64[i] = sotto_f64_from(i * UINT64_C(0x9e3779b97f4a7c15));
        v.b64[i] = sotto_f64_from(i * UINT64_C(0xbf58476d1ce4e5b9));
        v.a128[i] = (sotto_f128){i * UINT64_C(0x94d049bb133111eb), i << 50};
        v.b128[i] = (sotto_f128){i * UINT64_C(0xd6e8feb86659fd93), i << 49};
    }
    sotto_bench_run(b, "math/field64/mul", mul64, &v, COUNT);
    sotto_bench_run(b, "math/field64/dot", dot64, &v, COUNT);
    sotto_bench_run(b, "math/field128/mul", mul128, &v, COUNT);
    sotto_bench_run(b, "math/field128/dot", dot128, &v, COUNT);
    bench_kernels(b);
}
