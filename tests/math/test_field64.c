#define SOTTO_FIELD 64
#include "field_cases.h"

/* Both halves of a product take every value near the ends, not only those that products have. */
static void any_128_bit_integer_is_reduced(sotto_test *t)
{
    static const uint64_t words[] = {0,
                                     1,
                                     0xfffffffe,
                                     0xffffffff,
                                     UINT64_C(1) << 32,
                                     SOTTO_F64_P - 1,
                                     SOTTO_F64_P,
                                     SOTTO_F64_P + 1,
                                     UINT64_MAX - 1,
                                     UINT64_MAX};
    enum { WORDS = sizeof words / sizeof words[0] };
    oracle o = open_field(t);

    for (int i = 0; i < WORDS * WORDS + 5000; i++) {
        uint64_t high = sotto_sim_random_u64(&o.random), low = sotto_sim_random_u64(&o.random);

        if (i < WORDS * WORDS)
            high = words[i / WORDS], low = words[i % WORDS];
        (void)BN_set_word(o.x, high);
        (void)BN_lshift(o.x, o.x, 64);
        (void)BN_add_word(o.x, low);
        (void)BN_nnmod(o.x, o.x, o.p, o.ctx);
        check_is_x(t, &o, sotto_f64_reduce(sotto_u128_of(high, low)));
    }
    oracle_close(&o);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {FIELD_CASES, CASE(any_128_bit_integer_is_reduced)};

    return RUN_TESTS(argc, argv, cases);
}
