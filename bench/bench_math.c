/* The two fields' multiplications, which the proof system is made of. */
#include "bench.h"

#include "math/field128.h"
#include "math/field64.h"

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
}
