/* Arithmetic as written: what -ffast-math and its parts would take away. */
#include "account/numeric/bound.h"
#include "account/numeric/parameter.h"
#include "account/numeric/special.h"
#include "support/test.h"

#include <float.h>

/* Operands that no compiler can know; read once, so that it could reorder what is done with them. */
static volatile double known_one = 1, known_zero = 0, known_tiny = 0x1p-60;

static void sums_are_added_in_the_order_written(sotto_test *t)
{
    sotto_sum s = {0, 0};
    double one = known_one, tiny = known_tiny;

    CHECK(t, (one + tiny) - one == 0);
    CHECK(t, (one - one) + tiny == tiny);
    /* The library's own sum keeps what a reordered one would cancel. */
    sotto_sum_add(&s, one);
    for (int i = 0; i < 1024; i++)
        sotto_sum_add(&s, tiny);
    sotto_sum_add(&s, -one);
    CHECK(t, sotto_sum_value(&s) == 1024 * 0x1p-60);
}

static void quotients_are_rounded_once(sotto_test *t)
{
    double three = 3 * known_one, ten = 10 * known_one;

    CHECK(t, ten / three == 0x1.aaaaaaaaaaaabp+1);
    CHECK(t, three / ten == 0x1.3333333333333p-2); /* three times a rounded tenth is one more */
}

static void what_is_no_number_stays_none(sotto_test *t)
{
    double one = known_one, zero = known_zero, none = zero / zero;

    CHECK(t, none != none && isnan(none));
    CHECK(t, isinf(one / zero) && one / zero > DBL_MAX);
    CHECK(t, signbit(-zero) && one / -zero < 0);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_check_range("x", none, -INFINITY, INFINITY, &t->err));
}

static void the_smallest_numbers_are_not_flushed(sotto_test *t)
{
    double least = DBL_MIN * known_one, half = least * 0.5;

    CHECK(t, half > 0 && half + half == least);
    CHECK(t, sotto_round_up(0, 1) == 0x1p-1074);
}

static void rounding_goes_outward(sotto_test *t)
{
    CHECK(t, sotto_round_up(1, 1) == 1 + DBL_EPSILON);
    CHECK(t, sotto_round_down(1, 2) == 1 - DBL_EPSILON);
    CHECK(t, sotto_round_up(-1, 2) == -1 + DBL_EPSILON);
    CHECK(t, sotto_round_up(DBL_MAX, 1) == INFINITY);
    CHECK(t, sotto_round_up(2.5, 0) == 2.5);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sums_are_added_in_the_order_written),
        CASE(quotients_are_rounded_once),
        CASE(what_is_no_number_stays_none),
        CASE(the_smallest_numbers_are_not_flushed),
        CASE(rounding_goes_outward),
    };
    return RUN_TESTS(argc, argv, cases);
}
