#include "support/test.h"

#include <string.h>

#include "sim/random.h"

static void simulated_stream_repeats_from_its_seed(sotto_test *t)
{
    uint8_t a[100], b[100];
    sotto_sim_random first, second, other;

    sotto_sim_random_init(&first, 42);
    sotto_sim_random_init(&second, 42);
    sotto_sim_random_init(&other, 43);
    sotto_sim_random_bytes(&first, a, sizeof a);
    sotto_sim_random_bytes(&second, b, sizeof b);
    CHECK_BYTES(t, a, b, sizeof a);
    sotto_sim_random_bytes(&other, b, sizeof b);
    CHECK(t, memcmp(a, b, sizeof a) != 0);
}

static void forked_streams_differ_and_repeat(sotto_test *t)
{
    sotto_sim_random parent;

    sotto_sim_random_init(&parent, 1);
    for (uint64_t i = 0; i < 100; i++) {
        sotto_sim_random a = sotto_sim_random_fork(&parent, i);
        sotto_sim_random b = sotto_sim_random_fork(&parent, i);
        sotto_sim_random next = sotto_sim_random_fork(&parent, i + 1);
        uint64_t word = sotto_sim_random_u64(&a);

        CHECK_EQUAL(t, word, sotto_sim_random_u64(&b));
        CHECK(t, word != sotto_sim_random_u64(&next));
    }
}

static void numbers_below_a_bound_are_even_over_it(sotto_test *t)
{
    enum { BOUND = 10, DRAWS = 100000 };
    uint64_t counts[BOUND] = {0};
    sotto_sim_random random;

    sotto_sim_random_init(&random, 7);
    for (int i = 0; i < DRAWS; i++)
        counts[sotto_sim_random_below(&random, BOUND)]++;
    for (int i = 0; i < BOUND; i++)
        CHECK_NEAR(t, DRAWS / BOUND, (double)counts[i], 500); /* over five standard deviations */
    CHECK_EQUAL(t, 0, sotto_sim_random_below(&random, 1));
    for (int i = 0; i < 1000; i++)
        CHECK(t, sotto_sim_random_below(&random, UINT64_MAX / 2 + 2) <= UINT64_MAX / 2 + 1);
}

static void unit_and_chance_follow_their_probability(sotto_test *t)
{
    enum { DRAWS = 100000 };
    sotto_sim_random random;
    double sum = 0;
    int hits = 0;

    sotto_sim_random_init(&random, 9);
    for (int i = 0; i < DRAWS; i++) {
        double x = sotto_sim_random_unit(&random);
        CHECK(t, x >= 0 && x < 1);
        sum += x;
        hits += sotto_sim_random_chance(&random, 0.05);
        CHECK(t, !sotto_sim_random_chance(&random, 0));
        CHECK(t, sotto_sim_random_chance(&random, 1));
    }
    CHECK_NEAR(t, 0.5, sum / DRAWS, 0.005);
    CHECK_NEAR(t, 0.05, (double)hits / DRAWS, 0.004);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(simulated_stream_repeats_from_its_seed),
        CASE(forked_streams_differ_and_repeat),
        CASE(numbers_below_a_bound_are_even_over_it),
        CASE(unit_and_chance_follow_their_probability),
    };
    return RUN_TESTS(argc, argv, cases);
}
