#include "support/test.h"

#include <string.h>

static void check_equal_both_ways(sotto_test *t, bool wanted, sotto_bytes a, sotto_bytes b)
{
    CHECK_EQUAL(t, wanted, sotto_bytes_equal(a, b));
    CHECK_EQUAL(t, wanted, sotto_bytes_equal_vartime(a, b));
}

static void bytes_are_equal_only_if_every_bit_is(sotto_test *t)
{
    uint8_t a[40], b[40];

    memset(a, 0x5a, sizeof a);
    memcpy(b, a, sizeof b);
    check_equal_both_ways(t, true, sotto_bytes_of(a, sizeof a), sotto_bytes_of(b, sizeof b));
    for (size_t bit = 0; bit < 8 * sizeof b; bit++) {
        b[bit / 8] = (uint8_t)(b[bit / 8] ^ 1U << bit % 8);
        check_equal_both_ways(t, false, sotto_bytes_of(a, sizeof a), sotto_bytes_of(b, sizeof b));
        b[bit / 8] = (uint8_t)(b[bit / 8] ^ 1U << bit % 8);
    }
}

static void bytes_of_other_lengths_differ(sotto_test *t)
{
    check_equal_both_ways(t, false, sotto_bytes_of("ab", 2), sotto_bytes_of("abc", 3));
    check_equal_both_ways(t, false, sotto_bytes_of(NULL, 0), sotto_bytes_of("a", 1));
    check_equal_both_ways(t, true, sotto_bytes_of(NULL, 0), sotto_bytes_of("a", 0));
}

static void wipe_clears_exactly_its_range(sotto_test *t)
{
    uint8_t memory[16];

    memset(memory, 7, sizeof memory);
    sotto_wipe(memory + 4, 8);
    sotto_wipe(NULL, 0);
    for (size_t i = 0; i < sizeof memory; i++)
        CHECK_EQUAL(t, i >= 4 && i < 12 ? 0 : 7, memory[i]);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(bytes_are_equal_only_if_every_bit_is),
        CASE(bytes_of_other_lengths_differ),
        CASE(wipe_clears_exactly_its_range),
    };
    return RUN_TESTS(argc, argv, cases);
}
