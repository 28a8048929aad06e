/* One slot of t: known values, the reduction of k of t, fallbacks and refusals. */
#include "privacy/allocation.h"
#include "support/test.h"

#include <math.h>

static sotto_bound eps_of(sotto_test *t, sotto_allocation_direction way, double sigma, double slots,
                          double delta)
{
    sotto_bound b = {-1, -1};

    CHECK_OK(t, sotto_allocation_eps(&b, way, sigma, slots, log(delta), &t->err));
    CHECK(t, b.low <= b.high);
    return b;
}

static void exact_values_are_enclosed(sotto_test *t)
{
    sotto_bound b = eps_of(t, SOTTO_ALLOCATION_REMOVE, 1, 100, 1e-6);

    CHECK_NEAR(t, 0.85798597655, b.high, 1e-8);
    CHECK_NEAR(t, 0.85798597655, b.low, 1e-8);
    b = eps_of(t, SOTTO_ALLOCATION_ADD, 1, 100, 1e-6);
    CHECK_NEAR(t, 0.486425089629, b.high, 1e-8);
    b = eps_of(t, SOTTO_ALLOCATION_MAX, 2, 100, 1e-8);
    CHECK_NEAR(t, 0.259241753155, b.high, 1e-8);
    b = eps_of(t, SOTTO_ALLOCATION_MAX, 3, 1000, 1e-6);
    CHECK_NEAR(t, 0.0367629673419, b.high, 1e-9);
}

static void more_slots_and_more_noise_never_cost_more(sotto_test *t)
{
    double before = INFINITY;

    for (double slots = 40; slots < 3000; slots *= 4) {
        sotto_bound b = eps_of(t, SOTTO_ALLOCATION_MAX, 2, slots, 1e-6);

        CHECK(t, b.low <= before);
        before = b.high;
    }
    CHECK(t, eps_of(t, SOTTO_ALLOCATION_MAX, 3, 200, 1e-6).high <
                 eps_of(t, SOTTO_ALLOCATION_MAX, 2, 200, 1e-6).low);
}

static void a_single_slot_is_the_gaussian_mechanism(sotto_test *t)
{
    /* sigma(1, 1e-6) = 4.22468 */
    CHECK_NEAR(t, 1, eps_of(t, SOTTO_ALLOCATION_MAX, 4.22468, 1, 1e-6).high, 1e-5);
}

static void few_slots_fall_back_to_what_always_holds(sotto_test *t)
{
    sotto_bound one = eps_of(t, SOTTO_ALLOCATION_MAX, 1, 1, 1e-6);

    CHECK(t, eps_of(t, SOTTO_ALLOCATION_MAX, 1, 2, 1e-6).high <= one.high);
    CHECK(t, eps_of(t, SOTTO_ALLOCATION_MAX, 0.3, 50, 1e-6).high <=
                 eps_of(t, SOTTO_ALLOCATION_MAX, 0.3, 1, 1e-6).high);
}

static void all_slots_cost_at_least_all_gaussians(sotto_test *t)
{
    const double slots = 16, sigma = 8;
    sotto_bound b, all = eps_of(t, SOTTO_ALLOCATION_MAX, sigma / 4, 1, 1e-6); /* sqrt(16) = 4 */

    CHECK_OK(t, sotto_allocation_blocks_eps(&b, slots, slots, sigma, log(1e-6), &t->err));
    CHECK(t, b.high >= all.high * (1 - 1e-8));
    for (double k = 1; k <= 200; k *= 5) {
        sotto_allocation_blocks blocks;

        CHECK_OK(t, sotto_allocation_reduce(&blocks, k, 200, &t->err));
        CHECK(t, blocks.blocks == k && blocks.slots == floor(200 / k));
        CHECK_OK(t, sotto_allocation_blocks_eps(&b, k, 200, 2, log(1e-6), &t->err));
        /* never as if k were one */
        CHECK(t, b.high >= eps_of(t, SOTTO_ALLOCATION_MAX, 2, 200, 1e-6).low);
    }
}

static void each_error_term_moves_the_bound(sotto_test *t)
{
    const sotto_allocation_inflate inflated[] = {{1e18, 1, 1}, {1, 1e15, 1}, {1, 1, 1e15}};
    sotto_bound as_is = eps_of(t, SOTTO_ALLOCATION_REMOVE, 2, 100, 1e-6), b;

    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(t, sotto_allocation_eps_inflated(&b, SOTTO_ALLOCATION_REMOVE, 2, 100, log(1e-6),
                                                  &inflated[i], &t->err));
        CHECK(t, b.high > as_is.high * (1 + 1e-8));
    }
}

static void bad_input_is_named(sotto_test *t)
{
    sotto_allocation_blocks blocks;
    sotto_bound b;

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_allocation_eps(&b, (sotto_allocation_direction)9, 1, 10, -10, &t->err));
    CHECK_REASON(t, "direction");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_allocation_eps(&b, SOTTO_ALLOCATION_MAX, NAN, 10, -10, &t->err));
    CHECK_REASON(t, "sigma");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_allocation_eps(&b, SOTTO_ALLOCATION_MAX, 1, 0, -10, &t->err));
    CHECK_REASON(t, "t = ");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_allocation_eps(&b, SOTTO_ALLOCATION_MAX, 1, 10, 0.1, &t->err));
    CHECK_REASON(t, "log_delta");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_allocation_reduce(&blocks, 11, 10, &t->err));
    CHECK_REASON(t, "k = ");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(exact_values_are_enclosed),
        CASE(more_slots_and_more_noise_never_cost_more),
        CASE(a_single_slot_is_the_gaussian_mechanism),
        CASE(few_slots_fall_back_to_what_always_holds),
        CASE(all_slots_cost_at_least_all_gaussians),
        CASE(each_error_term_moves_the_bound),
        CASE(bad_input_is_named),
    };
    return RUN_TESTS(argc, argv, cases);
}
