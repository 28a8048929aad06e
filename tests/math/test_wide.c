/* What is spelled out for one machine against what every machine can do. */
#include "support/test.h"

#include "math/field128.h"

enum { ROUNDS = 200000 };

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Often all ones or nearly, all zeros or nearly: where carries are. */
static uint64_t word(uint64_t *state)
{
    uint64_t small = next(state) % 64;

    switch (next(state) % 4) {
    case 0:
        return small;
    case 1:
        return 0 - small;
    default:
        return next(state);
    }
}

static sotto_f128 element(uint64_t *state)
{
    sotto_f128 a = {word(state), word(state)};
    sotto_u128 x = sotto_f128_wide(a);

    return sotto_f128_narrow(x < sotto_f128_p() ? x : x - sotto_f128_p());
}

static void products_are_added_the_same_way(sotto_test *t)
{
    uint64_t state = 1;

    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t got[3] = {word(&state), word(&state), next(&state) >> 1};
        uint64_t wanted[3] = {got[0], got[1], got[2]};
        uint64_t x = word(&state), y = word(&state);

        sotto_add_product(got, x, y);
        sotto_add_product_portable(wanted, x, y);
        CHECK_BYTES(t, wanted, got, sizeof wanted);
    }
}

static void elements_are_multiplied_the_same_way(sotto_test *t)
{
    uint64_t state = 2;

    for (unsigned i = 0; i < ROUNDS; i++) {
        sotto_f128 a = element(&state), b = element(&state);
        sotto_f128 got = sotto_f128_mul(a, b), wanted = sotto_f128_mul_portable(a, b);

        CHECK_BYTES(t, &wanted, &got, sizeof wanted);
    }
}

/* Long division, bit by bit, knows nothing of Montgomery. */
static void a_product_is_what_long_division_says(sotto_test *t)
{
    uint64_t state = 3;

    for (unsigned i = 0; i < 2000; i++) {
        sotto_f128 a = element(&state), b = element(&state), sum = sotto_f128_zero();

        for (unsigned bit = 128; bit-- > 0;) {
            uint64_t set = (uint64_t)(sotto_f128_wide(b) >> bit) & 1;

            sum = sotto_f128_add(sum, sum);
            sum = sotto_f128_add(sum, sotto_f128_mask(a, sotto_ct_mask(set)));
        }
        sotto_f128 got = sotto_f128_mul(a, sotto_f128_to_weight(b));
        CHECK_BYTES(t, &sum, &got, sizeof sum);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(products_are_added_the_same_way),
        CASE(elements_are_multiplied_the_same_way),
        CASE(a_product_is_what_long_division_says),
    };

    return RUN_TESTS(argc, argv, cases);
}
