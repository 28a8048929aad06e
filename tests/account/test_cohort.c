#include "account/cohort.h"
#include "support/test.h"

static const sotto_decimal half = {500000000000};

static void the_honest_are_rounded_down(sotto_test *t)
{
    CHECK_EQUAL(t, 20000, sotto_honest_count(40000, half));
    CHECK_EQUAL(t, 20000, sotto_honest_count(40001, half));
    CHECK_EQUAL(t, 0, sotto_honest_count(1, half));
    CHECK_EQUAL(t, 900000000, sotto_honest_count(1000000000, (sotto_decimal){900000000000}));
    CHECK_EQUAL(t, SOTTO_COHORT_MAX,
                sotto_honest_count(SOTTO_COHORT_MAX, (sotto_decimal){1000000000000}));
}

/* Six digits of a policy's honest part count; what is behind them is not counted on. */
static void an_honest_part_is_cut_to_millionths(sotto_test *t)
{
    CHECK_EQUAL(t, 999999000, sotto_honest_count(1000000000, (sotto_decimal){999999999999}));
    CHECK_EQUAL(t, 333333000, sotto_honest_count(1000000000, (sotto_decimal){333333333333}));
    CHECK_EQUAL(t, 0, sotto_honest_count(1000000000, (sotto_decimal){999999}));
    CHECK_EQUAL(t, 1000, sotto_honest_count(1000000000, (sotto_decimal){1000000}));
}

static void nobody_is_counted_on_out_of_range(sotto_test *t)
{
    CHECK_EQUAL(t, 0, sotto_honest_count(0, half));
    CHECK_EQUAL(t, 0, sotto_honest_count(SOTTO_COHORT_MAX + 1, half));
    CHECK_EQUAL(t, 0, sotto_honest_count(1000, (sotto_decimal){0}));
    /* More than everybody is everybody. */
    CHECK_EQUAL(t, 1000, sotto_honest_count(1000, (sotto_decimal){2000000000000}));
}

static sotto_status at_least(void *context, uint64_t honest, bool *holds, sotto_err *err)
{
    (void)err;
    *holds = honest >= *(const uint64_t *)context;
    return SOTTO_OK;
}

static sotto_status give_up(void *context, uint64_t honest, bool *holds, sotto_err *err)
{
    (void)context;
    *holds = true;
    return honest < 1000 ? sotto_fail(err, SOTTO_NO_MEMORY, "gave up") : SOTTO_OK;
}

static void the_smallest_cohort_is_the_edge(sotto_test *t)
{
    static const uint64_t wanted[] = {1, 2, 19601, 499999999, 500000000};
    uint64_t cohort = 0;

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        uint64_t least = wanted[i];

        CHECK_OK(t, sotto_smallest_cohort(&cohort, half, at_least, &least, &t->err));
        CHECK_EQUAL(t, 2 * least, cohort);
    }
}

static void no_cohort_may_be_large_enough(sotto_test *t)
{
    uint64_t least = 500000001, cohort = 7;

    CHECK_OK(t, sotto_smallest_cohort(&cohort, half, at_least, &least, &t->err));
    CHECK_EQUAL(t, 0, cohort);
    CHECK_STATUS(t, SOTTO_NO_MEMORY, sotto_smallest_cohort(&cohort, half, give_up, NULL, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_honest_are_rounded_down),       CASE(an_honest_part_is_cut_to_millionths),
        CASE(nobody_is_counted_on_out_of_range), CASE(the_smallest_cohort_is_the_edge),
        CASE(no_cohort_may_be_large_enough),
    };
    return RUN_TESTS(argc, argv, cases);
}
