/* Sums of vectors: every set of kernels against additions one by one. */
#include "support/test.h"

#include "math/kernels128.h"
#include "math/vectors.h"

#include <string.h>

enum { LONGEST = 70, MOST = 40 };

static const char *const sets[] = {"portable", "avx2", "ifma"};

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Near 0, near p, near 2^64, or anything. */
static sotto_f128 element(uint64_t *state)
{
    uint64_t small = next(state) % 4;

    switch (next(state) % 4) {
    case 0:
        return sotto_f128_from(small);
    case 1:
        return sotto_f128_narrow(sotto_f128_p() - 1 - small);
    case 2:
        return sotto_f128_narrow(((sotto_u128)1 << 64) - small);
    default:
        return (sotto_f128){next(state), next(state) >> 1};
    }
}

static void check_sum(sotto_test *t, size_t len, size_t count, uint64_t *state)
{
    static uint8_t others[MOST][LONGEST * SOTTO_F128_SIZE], total[sizeof others[0]];
    uint8_t wanted[sizeof total], got[sizeof total];
    const uint8_t *at[MOST];

    for (size_t i = 0; i < LONGEST; i++) {
        sotto_f128 sum = element(state);

        sotto_f128_store(total + i * SOTTO_F128_SIZE, sum);
        for (size_t s = 0; s < count; s++) {
            sotto_f128 x = element(state);

            at[s] = others[s];
            sotto_f128_store(others[s] + i * SOTTO_F128_SIZE, x);
            sum = sotto_f128_add(sum, x);
        }
        if (i < len)
            sotto_f128_store(wanted + i * SOTTO_F128_SIZE, sum);
        else /* what follows the vector stays as it was */
            memcpy(wanted + i * SOTTO_F128_SIZE, total + i * SOTTO_F128_SIZE, SOTTO_F128_SIZE);
    }
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        if (!sotto_f128_use(sets[s]))
            continue;
        memcpy(got, total, sizeof got);
        sotto_f128_vectors_add(got, len, at, count);
        CHECK_BYTES(t, wanted, got, sizeof got);
    }
    CHECK(t, sotto_f128_use(NULL));
}

static void all_sets_add_vectors_of_every_length(sotto_test *t)
{
    uint64_t state = 1;

    for (size_t len = 0; len <= LONGEST; len++)
        for (size_t count = 0; count <= MOST; count += count < 9 ? 1 : 31)
            for (unsigned again = 0; again < 4; again++)
                check_sum(t, len, count, &state);
}

static void sums_at_the_modulus_are_canonical(sotto_test *t)
{
    sotto_f128 half = sotto_f128_narrow((sotto_f128_p() - 1) / 2);
    uint8_t total[9 * SOTTO_F128_SIZE], other[sizeof total], zero[sizeof total] = {0};
    const uint8_t *at[3] = {other, other, other};

    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        if (!sotto_f128_use(sets[s]))
            continue;
        for (size_t i = 0; i < 9; i++) { /* 1 + (p - 1) / 2 * 2 = p */
            sotto_f128_store(total + i * SOTTO_F128_SIZE, sotto_f128_one());
            sotto_f128_store(other + i * SOTTO_F128_SIZE, half);
        }
        sotto_f128_vectors_add(total, 9, at, 2);
        CHECK_BYTES(t, zero, total, sizeof total);
    }
    CHECK(t, sotto_f128_use(NULL));
}

static void field64_adds_vectors(sotto_test *t)
{
    uint8_t total[3 * SOTTO_F64_SIZE], other[sizeof total];
    const uint8_t *at[2] = {other, other};

    for (size_t i = 0; i < 3; i++) {
        sotto_f64_store(total + i * SOTTO_F64_SIZE, sotto_f64_from(i + 3));
        sotto_f64_store(other + i * SOTTO_F64_SIZE, sotto_f64_neg(sotto_f64_one()));
    }
    sotto_f64_vectors_add(total, 3, at, 2);
    for (size_t i = 0; i < 3; i++)
        CHECK_EQUAL(t, i + 1, sotto_load64(total + i * SOTTO_F64_SIZE));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(all_sets_add_vectors_of_every_length),
        CASE(sums_at_the_modulus_are_canonical),
        CASE(field64_adds_vectors),
    };

    return RUN_TESTS(argc, argv, cases);
}
