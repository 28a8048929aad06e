/* One slot of t by a grid of sums: against the lines where both answer, against integrals where only it does. */
#include "account/gauss/allocation.h"
#include "account/gauss/allocation_convolution.h"
#include "support/test.h"

#include <math.h>

static const sotto_allocation_inflate as_proved = {1, 1, 1};

static double tail(double x)
{
    return erfc(x / sqrt(2.0)) / 2;
}

/* E (Y - k)+ for one lognormal of mean 1. */
static double call(double a, double k)
{
    double d = a / 2 - log(k) / a;

    return k <= 0 ? 1 - k : tail(-d) - k * tail(a - d);
}

/* Two slots: E (Y + Y' - K)+ / 2 or E (1 - (Y + Y')/K)+, one of the two integrals in closed form. */
static double two_slots(double a, double eps, bool remove)
{
    double K = 2 * exp(remove ? eps : -eps), sum = 0, h = 1e-3;

    for (double w = -12; w < 12 + a; w += h) {
        double y = exp(a * w - a * a / 2), density = exp(-w * w / 2) / sqrt(2 * acos(-1.0));
        double put = y < K ? call(a, K - y) - 1 + (K - y) : 0;

        sum += h * density * (remove ? call(a, K - y) / 2 : put / K);
    }
    return sum;
}

static void two_slots_are_an_integral(sotto_test *t)
{
    static const double sigmas[] = {0.4, 1, 3};

    for (size_t i = 0; i < 3; i++) {
        double a = 1 / sigmas[i], delta = 1e-5;
        sotto_bound one, b, add;

        CHECK_OK(
            t, sotto_allocation_eps(&one, SOTTO_ALLOCATION_MAX, sigmas[i], 1, log(delta), &t->err));
        CHECK_OK(t, sotto_allocation_eps(&b, SOTTO_ALLOCATION_REMOVE, sigmas[i], 2, log(delta),
                                         &t->err));
        CHECK(t, b.high < 0.95 * one.high);
        CHECK(t, two_slots(a, b.high, true) <= delta * (1 + 1e-6));
        CHECK(t, two_slots(a, b.high * (1 - 1e-3), true) > delta);
        CHECK(t, two_slots(a, b.low, true) >= delta * (1 - 1e-6));
        CHECK_OK(
            t, sotto_allocation_eps(&add, SOTTO_ALLOCATION_ADD, sigmas[i], 2, log(delta), &t->err));
        CHECK(t, two_slots(a, add.high, false) <= delta * (1 + 1e-5));
        /* Sums far below their mean: the grid is coarse there, and removal costs more anyway. */
        CHECK(t, two_slots(a, add.high * 0.8, false) > delta);
    }
}

static void the_grid_is_just_above_the_lines(sotto_test *t)
{
    static const struct {
        double sigma, slots, delta;
    } at[] = {{1, 100, 1e-6}, {2, 100, 1e-6}, {4, 10, 1e-6}, {0.8, 100, 1e-8}, {3, 5000, 1e-7}};

    for (size_t i = 0; i < 5; i++) {
        sotto_bound line, add_line, grid;
        double add, most;

        CHECK_OK(t, sotto_allocation_eps(&line, SOTTO_ALLOCATION_REMOVE, at[i].sigma, at[i].slots,
                                         log(at[i].delta), &t->err));
        CHECK_OK(t, sotto_allocation_eps(&add_line, SOTTO_ALLOCATION_ADD, at[i].sigma, at[i].slots,
                                         log(at[i].delta), &t->err));
        sotto_convolution_remove(&grid, &most, 1 / at[i].sigma, at[i].slots, log(at[i].delta), 50,
                                 &as_proved);
        add = sotto_convolution_add(1 / at[i].sigma, at[i].slots, log(at[i].delta), 50, &as_proved);
        CHECK(t, grid.high >= line.low && grid.high <= line.high * 1.01);
        CHECK(t, grid.low <= line.high);
        CHECK(t, most >= add_line.low);
        CHECK(t, add >= add_line.low && add <= add_line.high * 1.05);
    }
}

/* Chernoff's bound says no more than is true, and enough where adding costs much less than removing. */
static void what_is_said_to_cost_less_does(sotto_test *t)
{
    const double delta = 1e-5;

    for (double a = 0.3; a < 3; a *= 2) {
        for (double eps = 0.1; eps < 12; eps *= 1.1)
            if (sotto_convolution_adds_less(a, 2, log(delta), eps, &as_proved))
                CHECK(t, two_slots(a, eps, false) <= delta);
        CHECK(t, sotto_convolution_adds_less(a, 2, log(delta), 12 * a, &as_proved));
    }
    const sotto_allocation_inflate cut = {1e15, 1, 1}, rounding = {1, 1, 1e12};

    CHECK(t, sotto_convolution_adds_less(2, 500, log(delta), 2, &as_proved));
    CHECK(t, !sotto_convolution_adds_less(2, 500, log(delta), 2, &cut));
    CHECK(t, !sotto_convolution_adds_less(2, 500, log(delta), 2, &rounding));
}

/* A cap that the sum would not come below is left as it is. */
static void no_sum_is_made_for_nothing(sotto_test *t)
{
    sotto_bound b, lower;
    double most;

    sotto_convolution_remove(&b, &most, 2, 500, log(1e-6), 50, &as_proved);
    sotto_convolution_remove(&lower, &most, 2, 500, log(1e-6), 0.99 * b.high, &as_proved);
    CHECK(t, lower.high == 0.99 * b.high && most == lower.high);
    CHECK(t, lower.low > 0.9 * lower.high && lower.low <= lower.high);
}

static void little_noise_is_a_single_jump(sotto_test *t)
{
    sotto_bound b, one;

    /* One slot in fifty is large or none is: eps is that of one release at the same delta, less log 50. */
    CHECK_OK(t, sotto_allocation_eps(&one, SOTTO_ALLOCATION_MAX, 0.3, 1, log(1e-6), &t->err));
    CHECK_OK(t, sotto_allocation_eps(&b, SOTTO_ALLOCATION_MAX, 0.3, 50, log(1e-6), &t->err));
    CHECK(t, b.high >= one.high - log(50) && b.high < one.high - log(50) + 0.01);
    CHECK(t, b.low > b.high - 0.01);
}

static void slots_are_rounded_down_never_up(sotto_test *t)
{
    double before = INFINITY;

    for (double slots = 1000; slots < 1024; slots += 4) {
        sotto_bound b;
        double most;

        sotto_convolution_remove(&b, &most, 2, slots, log(1e-8), 50, &as_proved);
        CHECK(t, b.high <= before * (1 + 1e-3) && b.low <= b.high);
        before = b.high;
    }
}

static void each_error_term_moves_the_grid(sotto_test *t)
{
    static const sotto_allocation_inflate inflated[] = {{1e6, 1, 1}, {1, 1, 1e6}};
    sotto_bound as_is, b;
    double most_as_is, most, add_as_is = sotto_convolution_add(1, 5, log(1e-6), 50, &as_proved);

    sotto_convolution_remove(&as_is, &most_as_is, 1, 5, log(1e-6), 50, &as_proved);
    for (size_t i = 0; i < 2; i++) {
        double add = sotto_convolution_add(1, 5, log(1e-6), 50, &inflated[i]);

        sotto_convolution_remove(&b, &most, 1, 5, log(1e-6), 50, &inflated[i]);
        CHECK(t, b.high > as_is.high * (1 + 1e-8));
        CHECK(t, add > add_as_is * (1 + 1e-8));
    }
}

static void a_large_delta_costs_nothing(sotto_test *t)
{
    sotto_bound b;
    double most;

    sotto_convolution_remove(&b, &most, 0.1, 5, log(0.5), 50, &as_proved);
    CHECK(t, b.high == 0 && b.low == 0 && most == 0);
    CHECK(t, sotto_convolution_add(0.1, 5, log(0.5), 50, &as_proved) == 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_is_said_to_cost_less_does), CASE(no_sum_is_made_for_nothing),
        CASE(two_slots_are_an_integral),      CASE(the_grid_is_just_above_the_lines),
        CASE(little_noise_is_a_single_jump),  CASE(slots_are_rounded_down_never_up),
        CASE(each_error_term_moves_the_grid), CASE(a_large_delta_costs_nothing),
    };
    return RUN_TESTS(argc, argv, cases);
}
