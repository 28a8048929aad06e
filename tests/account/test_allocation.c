/* One slot of t: known values, the reduction of k of t, fallbacks and refusals. */
#include "account/gauss/allocation.h"
#include "account/gauss/allocation_contour.h"
#include "account/gauss/allocation_fourier.h"
#include "account/gauss/allocation_truncation.h"
#include "account/gauss/gaussian.h"
#include "allocation_reference.h"
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

static const sotto_allocation_inflate as_proved = {1, 1, 1};

/* Two ways to the same number that share neither contour, arithmetic nor quadrature. */
static void both_lines_agree(sotto_test *t)
{
    static sotto_allocation_contour tilted;
    static sotto_lognormal y;
    static sotto_line line;
    const double sigma[] = {1.6, 2, 3}, slots = 100, log_delta = log(1e-6);

    for (size_t i = 0; i < 3; i++) {
        double deviation = sqrt(slots * expm1(1 / (sigma[i] * sigma[i])));

        CHECK_OK(t,
                 sotto_allocation_contour_open(&tilted, 1, 1 / sigma[i], slots, log_delta, 0, 1e7,
                                               SOTTO_ALLOCATION_MARGIN_MOST, &as_proved, &t->err));
        CHECK_OK(t, sotto_lognormal_open(&y, sigma[i], 66, &t->err));
        CHECK_OK(t, sotto_line_tabulate(&line, &y, slots, 0.9 / deviation, 60 * deviation, 52, 1e7,
                                        &as_proved, &t->err));
        for (double share = 0.9; share < 1.05; share += 0.1) {
            double eps = share * tilted.guess, error;
            dd above = dd_mul(dd_of(slots), dd_expm1(dd_of(eps)));
            dd put = sotto_line_put(&line, above, &error);
            double other = log(dd_sub(put, above).hi / slots);

            CHECK_NEAR(t, other, sotto_allocation_contour_log_delta(&tilted, eps, 1), 1e-5);
            CHECK(t, sotto_allocation_contour_log_delta(&tilted, eps, -1) <= other + 1e-8);
            CHECK(t, sotto_allocation_contour_log_delta(&tilted, eps, 1) >= other - 1e-8);
        }
    }
}

/* Where one term alone can exceed, all that lies above it counts in full, from below as well: values of the slow line. */
static void a_single_large_term_is_counted_in_full(sotto_test *t)
{
    static const struct {
        double sigma, slots, log_delta, eps;
    } at[] = {{0.8, 100, -18.42068, 2.870895324},
              {0.9239, 52, -19.82, 2.692188076},
              {0.6754, 28371, -28.2, 1.320391845},
              {0.5919, 283392, -26.21, 0.702465131},
              {0.8438, 24146, -33.96, 0.525690167}};

    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        sotto_bound b;

        CHECK_OK(t, sotto_allocation_eps(&b, SOTTO_ALLOCATION_MAX, at[i].sigma, at[i].slots,
                                         at[i].log_delta, &t->err));
        CHECK(t, b.low <= at[i].eps + 3e-9 && b.high >= at[i].eps - 3e-9);
        CHECK(t, b.high - b.low < 1e-5 * b.high);
    }
}

/* delta(0) is half the mean deviation, and that no more than half the standard deviation. */
static void a_sum_that_hardly_moves_costs_nothing(sotto_test *t)
{
    double half = sqrt(expm1(1) / 1e6) / 2;

    CHECK(t, eps_of(t, SOTTO_ALLOCATION_MAX, 1, 1e6, half * 1.0001).high == 0);
    CHECK(t, eps_of(t, SOTTO_ALLOCATION_MAX, 1, 1e6, half * 0.7).high > 0);
}

static void each_error_term_moves_the_tilted_line(sotto_test *t)
{
    const sotto_allocation_inflate inflated[] = {{1e6, 1, 1}, {1, 1e6, 1}, {1, 1, 1e6}};
    static sotto_allocation_contour line;

    for (int sign = -1; sign <= 1; sign += 2) {
        CHECK_OK(t,
                 sotto_allocation_contour_open(&line, sign, 0.5, 50, log(1e-6), 0, 1e7,
                                               SOTTO_ALLOCATION_MARGIN_MOST, &as_proved, &t->err));
        double high = sotto_allocation_contour_log_delta(&line, 0.2, 1),
               low = sotto_allocation_contour_log_delta(&line, 0.2, -1);

        for (size_t i = 0; i < 3; i++) {
            CHECK_OK(t, sotto_allocation_contour_open(&line, sign, 0.5, 50, log(1e-6), 0, 1e7,
                                                      SOTTO_ALLOCATION_MARGIN_MOST, &inflated[i],
                                                      &t->err));
            CHECK(t, sotto_allocation_contour_log_delta(&line, 0.2, 1) > high);
            CHECK(t, sotto_allocation_contour_log_delta(&line, 0.2, -1) < low);
        }
    }
}

/* Against the transform itself, out to where it is bounded by total variation alone. */
static void the_line_ends_where_the_transform_is_small(sotto_test *t)
{
    static sotto_lognormal y;
    const double small[] = {0.9, 0.5, 0.1};

    CHECK_OK(t, sotto_lognormal_open(&y, 1.5, 60, &t->err));
    for (double c = 0.05; c < 20; c *= 3) {
        double whole = sotto_lognormal_cumulant(&y, c);
        sotto_tilted_law law = {1 / 1.5, -1, c, 40, 40, 0, whole};

        for (size_t i = 0; i < 3; i++) {
            double end = sotto_tilted_law_truncation(&law, small[i]);

            for (double v = end; v < 50 * end; v *= 1.07)
                CHECK(t, sotto_lognormal_size(&y, c, v) <= small[i] * exp(whole - c) * (1 + 1e-6));
            CHECK(t, sotto_lognormal_size(&y, c, end / 12) > small[i] * exp(whole - c));
        }
    }
}

/* Blocks and runs that are full, that are not, and one of each; far out the angles are some hundreds of turns. */
static void sums_at_all_nodes_are_within_their_bound(sotto_test *t)
{
    enum { POINTS = 200, NODES = 120 };
    static const size_t many[][2] = {{200, 120}, {128, 49}, {8, 1}, {136, 25}, {72, 74}};
    double z[POINTS], weight[POINTS], re[NODES], im[NODES];
    const double u = 0x1p-53, step = 0.37;

    for (int i = 0; i < POINTS; i++) {
        z[i] = i % 9 == 0 ? -0.9 / (1 + i) : 0.04 * i;
        weight[i] = 1.0 / (1 + i);
    }
    for (size_t run = 0; run < sizeof many / sizeof many[0]; run++) {
        size_t points = many[run][0], nodes = many[run][1];

        sotto_fourier_sums(re, im, nodes, step, z, weight, points);
        CHECK(t, re[0] == 0 && im[0] == 0);
        for (size_t k = 1; k < nodes; k++) {
            long double down = 0, side = 0, size = 0;

            for (size_t j = 0; j < points; j++) {
                long double angle = (long double)k * step * z[j], half = sinl(angle / 2);

                down -= weight[j] * 2 * half * half;
                side += weight[j] * sinl(angle);
                size += weight[j] * fabs(z[j]);
            }
            double reach =
                (double)(k > SOTTO_FOURIER_REACH ? k + 2 * SOTTO_FOURIER_REACH : k) * step;
            double off = SOTTO_FOURIER_ERROR * u * reach * (double)size;

            CHECK_NEAR(t, (double)down, re[k], off);
            CHECK_NEAR(t, (double)side, im[k], off);
        }
    }
}

/* Sums with NaN promise nothing. */
static void a_line_that_went_wrong_bounds_nothing(sotto_test *t)
{
    static sotto_allocation_contour line;

    CHECK_OK(t, sotto_allocation_contour_open(&line, 1, 0.5, 50, log(1e-6), 0, 1e7,
                                              SOTTO_ALLOCATION_MARGIN_MOST, &as_proved, &t->err));
    line.re[3] = NAN;
    CHECK(t, sotto_allocation_contour_log_delta(&line, 0.2, 1) == INFINITY);
    CHECK(t, sotto_allocation_contour_log_delta(&line, 0.2, -1) == -INFINITY);
}

/* With much noise in few slots the transform passes through nearly 0, and what is off there is as little to the power t. */
static void a_transform_that_vanishes_hides_nothing(sotto_test *t)
{
    sotto_bound b;

    CHECK_OK(t, sotto_allocation_eps(&b, SOTTO_ALLOCATION_ADD, 647.79667564808153, 7,
                                     -10.450055330537069, &t->err));
    CHECK_NEAR(t, 0.0007348573025, b.high, 1e-8 * b.high);
    CHECK(t, b.high - b.low < 1e-6 * b.high);
}

/* Little noise: when adding, terms are 1 less numbers up to e^28, which no sine is taken of. */
static void huge_terms_do_not_turn_the_line(sotto_test *t)
{
    for (double sigma = 0.35; sigma < 0.7; sigma += 0.1) {
        sotto_bound b = eps_of(t, SOTTO_ALLOCATION_ADD, sigma, 3000, 1e-6);

        CHECK(t, b.low > 0 && b.high - b.low < 1e-4 * b.high);
        CHECK(t, b.high < eps_of(t, SOTTO_ALLOCATION_REMOVE, sigma, 3000, 1e-6).high);
    }
}

/* Between two sigmas where it may, it does not. */
static void answers_leap_where_they_are_said_to(sotto_test *t)
{
    for (double sigma = 0.4; sigma < 0.43; sigma *= 1.003) {
        double at = sotto_allocation_leap(sigma);

        CHECK_NEAR(t, 1, at / sigma, 3e-3);
        CHECK_NEAR(t, at, sotto_allocation_leap(at * (1 + 1e-9)), 3e-3 * at);
    }
}

static void few_slots_have_answers_of_their_own(sotto_test *t)
{
    for (double slots = 9; slots < 12; slots++) {
        sotto_bound b = eps_of(t, SOTTO_ALLOCATION_MAX, 4, slots, 1e-6);

        CHECK(t, b.low > 0 && b.high - b.low < 1e-5 * b.high);
        CHECK(t, b.high < eps_of(t, SOTTO_ALLOCATION_MAX, 4, slots - 1, 1e-6).high);
    }
}

/* Sums of many slots with much noise are all but Gaussian: E (S - K)+ of a normal law is known. */
static void much_noise_in_many_slots_is_gaussian(sotto_test *t)
{
    const double slots = 1e9, sigma = 300, z = 5;
    static sotto_allocation_contour line;
    double a = 1 / sigma, deviation = sqrt(expm1(a * a) / slots);
    double wanted = deviation * (exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846) -
                                 z * erfc(z / sqrt(2.0)) / 2);

    CHECK_OK(t, sotto_allocation_contour_open(&line, 1, a, slots, log(wanted), 0, 1e7,
                                              SOTTO_ALLOCATION_MARGIN_MOST, &as_proved, &t->err));
    CHECK_NEAR(t, 0,
               sotto_allocation_contour_log_delta(&line, log1p(z * deviation), 1) - log(wanted),
               1e-5);
    CHECK_NEAR(t, 0,
               sotto_allocation_contour_log_delta(&line, log1p(z * deviation), -1) - log(wanted),
               1e-5);
}

static void rough_answers_lead_to_the_certified(sotto_test *t)
{
    /* At ease, near the end of lines, on the grid. */
    static const double at[][4] = {{1, 100, 1e-6, 1e-6},           {0.6667, 23168, 1.8e-9, 1e-6},
                                   {0.3742, 274399, 2.5e-5, 1e-4}, {0.7468, 505, 1.5e-12, 1e-3},
                                   {0.5048, 766965, 8e-13, 1e-3},  {0.6271, 20, 5.8e-5, 1e-3}};

    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        sotto_bound b;

        CHECK_OK(t, sotto_allocation_eps(&b, SOTTO_ALLOCATION_MAX, at[i][0], at[i][1],
                                         log(at[i][2]), &t->err));
        double rough = sotto_allocation_rough(1.001 * b.high, at[i][0], at[i][1], log(at[i][2]));

        CHECK_NEAR(t, 1, rough / b.high, at[i][3]);
    }
    CHECK(t, isnan(sotto_allocation_rough(1, NAN, 100, -10)));
    CHECK(t, isnan(sotto_allocation_rough(1, 1, 0, -10)));
    CHECK(t, isnan(sotto_allocation_rough(1, 1, 100, 0)));
}

/* Where lines and grids end an answer goes over into what is known of any: one release, and that less log t. */
static void a_smaller_delta_than_lines_reach_is_answered_by_a_single_release(sotto_test *t)
{
    const double log_deltas[] = {-90.5, -300, -690};
    sotto_bound reached, b, one;

    CHECK_OK(t, sotto_allocation_eps(&reached, SOTTO_ALLOCATION_MAX, 2, 1000, -90, &t->err));
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(t,
                 sotto_allocation_eps(&b, SOTTO_ALLOCATION_MAX, 2, 1000, log_deltas[i], &t->err));
        CHECK_OK(t, sotto_gaussian_epsilon(&one, 2, 1, 1, log_deltas[i], &t->err));
        CHECK(t, b.high == one.high && b.high >= reached.high);
        CHECK_NEAR(t, fmax(0, one.low - log(1000)), b.low, 1e-12);
        CHECK_OK(t,
                 sotto_allocation_eps(&b, SOTTO_ALLOCATION_ADD, 2, 1000, log_deltas[i], &t->err));
        CHECK(t, b.low == 0 && b.high == one.high);
    }
    /* The same bound from below holds where it can be compared. */
    CHECK_OK(t, sotto_gaussian_epsilon(&one, 2, 1, 1, -90, &t->err));
    CHECK(t, reached.high >= one.low - log(1000) && reached.high <= one.high);
}

/* Rounding t down costs what log t falls by: with eight digits, 4e-4 of the first answer. The exact values are by an
 * independent evaluation (sigma 0.605), and what 2^k - 1 slots have by the grid with all digits. */
static void slots_are_not_rounded_down_far(sotto_test *t)
{
    sotto_bound b, more;

    CHECK_OK(t,
             sotto_allocation_eps(&b, SOTTO_ALLOCATION_MAX, 0.605, 509, log(1.077e-10), &t->err));
    CHECK(t, b.high >= 5.22514409 && b.high <= 5.22514409 * (1 + 1e-4));
    for (double t_all = 255; t_all < 5000; t_all = 2 * t_all + 1) {
        CHECK_OK(t,
                 sotto_allocation_eps(&b, SOTTO_ALLOCATION_MAX, 0.5, t_all, log(1e-12), &t->err));
        CHECK_OK(t, sotto_allocation_eps(&more, SOTTO_ALLOCATION_MAX, 0.5, t_all + 1, log(1e-12),
                                         &t->err));
        CHECK(t, b.high >= more.high * (1 - 1e-9));
        CHECK(t, b.high - more.high < log1p(1 / t_all) * 1.1 + 1e-4 * b.high);
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
    CHECK_REASON(t, "delta");
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
        CASE(both_lines_agree),
        CASE(a_single_large_term_is_counted_in_full),
        CASE(a_sum_that_hardly_moves_costs_nothing),
        CASE(each_error_term_moves_the_tilted_line),
        CASE(the_line_ends_where_the_transform_is_small),
        CASE(sums_at_all_nodes_are_within_their_bound),
        CASE(a_line_that_went_wrong_bounds_nothing),
        CASE(a_transform_that_vanishes_hides_nothing),
        CASE(huge_terms_do_not_turn_the_line),
        CASE(answers_leap_where_they_are_said_to),
        CASE(few_slots_have_answers_of_their_own),
        CASE(much_noise_in_many_slots_is_gaussian),
        CASE(rough_answers_lead_to_the_certified),
        CASE(a_smaller_delta_than_lines_reach_is_answered_by_a_single_release),
        CASE(slots_are_not_rounded_down_far),
        CASE(bad_input_is_named),
    };
    return RUN_TESTS(argc, argv, cases);
}
