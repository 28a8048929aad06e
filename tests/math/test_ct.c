#include "math/ct.h"
#include "sim/random.h"
#include "support/test.h"

static const uint64_t yes = ~(uint64_t)0;

static void check_pair(sotto_test *t, uint64_t a, uint64_t b)
{
    CHECK_EQUAL(t, a == b ? yes : 0, sotto_ct_equal(a, b));
    CHECK_EQUAL(t, a < b ? yes : 0, sotto_ct_less(a, b));
    CHECK_EQUAL(t, a == 0 ? yes : 0, sotto_ct_is_zero(a));
    CHECK_EQUAL(t, a, sotto_ct_select(yes, a, b));
    CHECK_EQUAL(t, b, sotto_ct_select(0, a, b));
    CHECK_EQUAL(t, a, sotto_ct_hide(a));
}

static void a_mask_is_all_ones_or_nothing(sotto_test *t)
{
    CHECK_EQUAL(t, 0, sotto_ct_mask(0));
    CHECK_EQUAL(t, yes, sotto_ct_mask(1));
}

static void decisions_are_right_for_every_pair_of_small_numbers(sotto_test *t)
{
    for (uint64_t a = 0; a < 300; a++)
        for (uint64_t b = 0; b < 300; b++)
            check_pair(t, a, b);
}

/* Every power of two, its neighbours, and the same seen from the top. */
static uint64_t edge(unsigned i)
{
    uint64_t x = ((uint64_t)1 << (i / 6)) + i % 3 - 1;

    return i / 3 % 2 ? x : ~x;
}

static void decisions_are_right_around_every_bit(sotto_test *t)
{
    for (unsigned i = 0; i < 64 * 6; i++)
        for (unsigned j = 0; j < 64 * 6; j++)
            check_pair(t, edge(i), edge(j));
}

static void decisions_are_right_for_random_numbers(sotto_test *t)
{
    sotto_sim_random random;

    sotto_sim_random_init(&random, 1);
    for (int i = 0; i < 100000; i++) {
        uint64_t a = sotto_sim_random_u64(&random), b = sotto_sim_random_u64(&random);

        check_pair(t, a, b);
        check_pair(t, a, a);
        check_pair(t, a, a ^ ((uint64_t)1 << (b & 63))); /* one bit apart */
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_mask_is_all_ones_or_nothing),
        CASE(decisions_are_right_for_every_pair_of_small_numbers),
        CASE(decisions_are_right_around_every_bit),
        CASE(decisions_are_right_for_random_numbers),
    };
    return RUN_TESTS(argc, argv, cases);
}
