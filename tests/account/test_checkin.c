/* Check-ins, sampling and donation time: printed values, caps, refusals. */
#include "account/local/checkin.h"
#include "account/local/checkin_direct.h"
#include "account/local/checkin_groups.h"
#include "account/local/sampling.h"
#include "account/numeric/special.h"
#include "support/test.h"

#include <math.h>

static void theorems_have_their_printed_values(sotto_test *t)
{
    sotto_bound b;

    CHECK_OK(t, sotto_checkin_fixed_window(&b, 0.1, 100, 1, log(1e-6), &t->err));
    CHECK_NEAR(t, 0.0581788796200038, b.high, 1e-14);
    CHECK_OK(t, sotto_checkin_averaged(&b, 0.1, &(sotto_crowd){1000, 0}, 100, log(1e-6), log(1e-6),
                                       &t->err));
    CHECK_NEAR(t, 0.150593455892365, b.high, 1e-13);
    CHECK_OK(t, sotto_checkin_shuffle(&b, 0.1, &(sotto_crowd){1000, 0}, log(1e-6), &t->err));
    CHECK_NEAR(t, 0.0203187926509352, b.high, 1e-14);
    CHECK_OK(t, sotto_checkin_shuffle_2019(&b, 0.1, &(sotto_crowd){1000, 0}, log(1e-6), &t->err));
    CHECK_NEAR(t, 0.0427714349647342, b.high, 1e-14);
    CHECK_OK(t, sotto_checkin_dummies_fixed(&b, 1000, 10, 0.01, &t->err));
    CHECK_NEAR(t, 3.67695424770964, b.high, 1e-11);
    CHECK_OK(t, sotto_checkin_dummies_sliding(&b, 1000, 100, &t->err));
    CHECK_NEAR(t, 329.79513948718, b.high, 1e-9);
}

static void optimum_of_the_proof_is_below_its_closed_form(sotto_test *t)
{
    for (double m = 30; m <= 1e6; m *= 31) {
        sotto_bound printed, best;

        CHECK_OK(t, sotto_checkin_fixed_window(&printed, 1, m, 1, log(1e-6), &t->err));
        CHECK_OK(t, sotto_checkin_fixed_window_optimal(&best, 1, m, 1, log(1e-6), &t->err));
        CHECK(t, best.low <= best.high && best.high < printed.low);
        CHECK(t, best.low > 0.97 * best.high);
    }
}

/* Few slots: all 2^m outcomes. */
static void optimum_encloses_enumeration(sotto_test *t)
{
    const int m = 14;
    const double eps0 = 0.7, delta = 1e-3;
    double eps[14], low = 0, high = 20;
    sotto_bound b;

    for (int i = 0; i < m; i++) {
        double q = exp(eps0) / (m * exp(eps0) - expm1(eps0) * i);

        eps[i] = log1p(q * expm1(eps0));
    }
    for (int step = 0; step < 40; step++) {
        double x = (low + high) / 2, sum = 0;

        for (int bits = 0; bits < 1 << m; bits++) {
            double loss = 0, mass = 1;

            for (int i = 0; i < m; i++) {
                double s = (bits >> i & 1) ? eps[i] : -eps[i];

                loss += s;
                mass /= 1 + exp(-s);
            }
            if (loss > x)
                sum += mass * -expm1(x - loss);
        }
        if (sum > delta)
            low = x;
        else
            high = x;
    }
    CHECK_OK(t, sotto_checkin_fixed_window_optimal(&b, eps0, m, 1, log(delta), &t->err));
    CHECK(t, b.low <= high && b.high >= low);
    CHECK_NEAR(t, high, b.high, 1e-3 * high);
}

static void what_is_promised_never_exceeds_the_local_epsilon(sotto_test *t)
{
    sotto_bound b;

    CHECK_OK(t, sotto_checkin_fixed_window(&b, 3, 100, 1, log(1e-6), &t->err));
    CHECK(t, b.high > 3);
    CHECK(t, sotto_checkin_promise(b, 3).high == 3);
    CHECK_OK(t, sotto_donation_eps(&b, 1, 8, log(1e-6), &t->err));
    CHECK(t, b.high > 3);
    CHECK_OK(t, sotto_donation_promise(&b, 1, 8, log(1e-6), &t->err));
    CHECK(t, b.high == 1);
    CHECK_OK(t, sotto_donation_eps(&b, 0.1, 32, log(1e-6), &t->err));
    CHECK_NEAR(t, 0.0977400453252394, b.high, 1e-14);
}

static void approximate_randomizers_are_refused(sotto_test *t)
{
    sotto_bound b;

    CHECK_STATUS(t, SOTTO_DENIED, sotto_checkin_approximate(&b, 1, 1e-9, &t->err));
    CHECK_REASON(t, "delta0");
    CHECK_OK(t, sotto_checkin_printed_max_delta0(&b, 0.1, log(1e-6), 5, &t->err));
    CHECK_NEAR(t, 1.22626390164222e-09, b.high, 1e-21);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_checkin_printed_max_delta0(&b, 0.1, log(1e-6), 6, &t->err));
}

static void dishonest_clients_do_not_count(sotto_test *t)
{
    sotto_bound half, alone;

    CHECK_OK(t, sotto_checkin_shuffle(&half, 0.5, &(sotto_crowd){2000, 0.5}, -14, &t->err));
    CHECK_OK(t, sotto_checkin_shuffle(&alone, 0.5, &(sotto_crowd){1000, 0}, -14, &t->err));
    CHECK(t, half.high == alone.high);
}

static void sampling_amplifies_a_shuffled_cohort(sotto_test *t)
{
    sotto_clone_law law;
    sotto_crowd cohort = {10000, 0};
    sotto_bound base, sampled, all;

    CHECK_OK(t, sotto_clone_law_generic(&law, 4, &t->err));
    CHECK_OK(t, sotto_clone_eps(&base, &law, &cohort, log(1e-10), &t->err));
    CHECK_OK(t, sotto_sampled_clone_eps(&sampled, &law, &cohort, 0.02, log(1e-10), &t->err));
    CHECK_OK(t, sotto_sampled_clone_eps(&all, &law, &cohort, 1, log(1e-10), &t->err));
    CHECK(t, sampled.high < 0.05 * base.high);
    CHECK_NEAR(t, base.high, all.high, 1e-9);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_sampled_clone_eps(&sampled, &law, &cohort, 0, log(1e-10), &t->err));
    CHECK_REASON(t, "rate");
}

/* Held against the exact tail of the binomial law. */
static void a_share_is_exceeded_as_seldom_as_it_says(sotto_test *t)
{
    static const double populations[] = {1, 30, 1000, 1e6, 1e9},
                        rates[] = {1e-4, 0.01, 0.3, 0.9, 1};
    double share, larger;

    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++) {
            const double n = populations[i], rate = rates[j];
            sotto_bound above;

            CHECK_OK(t, sotto_sampled_share(&share, n, rate, log(1e-6), &t->err));
            CHECK(t, share >= rate && share <= 1);
            CHECK_OK(
                t, sotto_binomial_upper(&above, floor(n * share) + 1, n, rate, 1 - rate, &t->err));
            CHECK(t, above.high <= 1e-6);
            CHECK_OK(t, sotto_sampled_share(&larger, 2 * n, rate, log(1e-6), &t->err));
            CHECK(t, larger <= share);
        }
    CHECK_OK(t, sotto_sampled_share(&share, 1e9, 0.01, log(1e-6), &t->err));
    CHECK(t, share < 0.01003);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sampled_share(&share, 0, 0.01, log(1e-6), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sampled_share(&share, 10, 0, log(1e-6), &t->err));
}

/* Of fewer devices so many are hardly ever in the sample; of a few more they are. */
static void a_sample_shows_how_many_there_are_at_least(sotto_test *t)
{
    static const double samples[] = {1, 20, 2000, 1e6}, rates[] = {1e-4, 0.1, 0.9, 1};
    double fewest, share;

    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            sotto_bound above;

            CHECK_OK(t, sotto_sampled_fewest(&fewest, samples[i], rates[j], log(1e-6), &t->err));
            CHECK(t, fewest >= 1 && fewest * rates[j] <= samples[i] + 1);
            CHECK_OK(t, sotto_sampled_share(&share, fewest + 1, rates[j], log(1e-6), &t->err));
            CHECK(t, (fewest + 1) * share >= samples[i] * (1 - 1e-9) || fewest == 1);
            if (fewest < samples[i] || fewest < 2)
                continue;
            CHECK_OK(t, sotto_binomial_upper(&above, samples[i] + 1, fewest - 1, rates[j],
                                             1 - rates[j], &t->err));
            CHECK(t, above.high <= 1e-6);
        }
}

/* A ratio of two mixtures whose weights differ: never below the appendix's, which has one weight. */
static void a_share_costs_no_less_than_the_appendix(sotto_test *t)
{
    static const double eps[] = {0.01, 0.2, 2, 8};
    sotto_bound printed, ours;

    for (size_t i = 0; i < 4; i++) {
        CHECK_OK(t, sotto_donation_promise(&printed, eps[i], 1000, log(1e-6), &t->err));
        CHECK_OK(t, sotto_donation_share_promise(&ours, eps[i], 1000, 1e-3, log(1e-6), &t->err));
        CHECK(t, ours.high >= printed.high && ours.high <= eps[i]);
        CHECK(t, ours.high <= 2.1 * printed.high);
    }
}

static void importance_sampling_is_charged_for_its_higher_rate(sotto_test *t)
{
    sotto_importance rates;
    sotto_bound eps = {1, 1}, one, both;
    double log_delta;

    CHECK_OK(t, sotto_importance_rates(&rates, 1000, 100000, 0.05, &t->err));
    CHECK_NEAR(t, 0.005, rates.rate_default, 1e-15);
    CHECK_NEAR(t, 0.1, rates.rate_other, 1e-15);
    CHECK_OK(t, sotto_importance_eps(&one, &log_delta, eps, -20, &rates,
                                     SOTTO_IMPORTANCE_ADD_REMOVE, &t->err));
    CHECK_NEAR(t, log1p(0.1 * expm1(1)), one.high, 1e-12);
    CHECK_NEAR(t, -20 + log(0.1), log_delta, 1e-12);
    CHECK_OK(t, sotto_importance_eps(&both, &log_delta, eps, -20, &rates,
                                     SOTTO_IMPORTANCE_REPLACEMENT, &t->err));
    CHECK(t, both.high > one.high);
    CHECK_OK(t, sotto_importance_rates(&rates, 1000, 1000, 0.01, &t->err));
    CHECK(t, rates.rate_other == 1);
}

static void bad_input_is_named(sotto_test *t)
{
    sotto_bound b;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_checkin_fixed_window(&b, 0, 100, 1, log(1e-6), &t->err));
    CHECK_REASON(t, "eps0");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_checkin_fixed_window(&b, 1, 0.5, 1, log(1e-6), &t->err));
    CHECK_REASON(t, "m = ");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_checkin_fixed_window(&b, 1, 100, 1.5, log(1e-6), &t->err));
    CHECK_REASON(t, "p0");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_checkin_sliding_window(&b, 1, 100, NAN, &t->err));
    CHECK_REASON(t, "delta");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_checkin_dummies_sliding(&b, 10, 11, &t->err));
    CHECK_REASON(t, "m = ");
}

/* Slot by slot: the logarithm of the product at c + it over that at c, and half of what the sines alone damp. */
static sotto_slot_log direct_relative(const sotto_slots *s, double m, double t, double *damped)
{
    sotto_slot_log at = {-s->extra * t * t / 2, s->extra * t * (2 * s->c + 1) / 2, 0};

    *damped = 0;
    for (double i = 1; i <= m; i++) {
        double eps = log1p(s->rise / (s->end - i)), a = eps * (s->c + 0.5), b = eps * t;
        double lift = 1 / (cosh(a) * cosh(a));

        at.size += 0.5 * log1p(-sin(b) * sin(b) * lift);
        at.angle += atan2(tanh(a) * sin(b), cos(b));
        *damped += sin(b) * sin(b) * lift;
    }
    return at;
}

static void groups_of_slots_sum_as_single_slots_do(sotto_test *t)
{
    static sotto_slots s;
    const double eps0[] = {0.001, 1, 6}, slots[] = {2, 37, 5000, 60000};

    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) {
            sotto_slots_open(&s, eps0[i], slots[j], 0.7);
            double size = sqrt(s.squares);

            sotto_slots_tilt(&s, 5 / size);
            double slope = sotto_slots_damping_slope(&s), before = 0;
            size_t looked = 0;

            for (double k = 0; k < 40; k += 3.7) {
                double damped, at_t = k / size;
                sotto_slot_log wanted = direct_relative(&s, slots[j], at_t, &damped);
                sotto_slot_log found = sotto_slots_relative(&s, at_t);
                double turn = remainder(wanted.angle - found.angle, 2 * 3.14159265358979323846);

                CHECK_NEAR(t, wanted.size, found.size, 1e-8 * (1 + fabs(wanted.size)) + found.off);
                CHECK_NEAR(t, 0, turn, 1e-8 * (1 + fabs(wanted.angle)) + found.off);
                CHECK(t, sotto_slots_damping(&s, at_t, INFINITY, &looked) <= damped);
                /* Summed until it suffices: no more than all, and past what was asked for if all is. */
                double all = sotto_slots_damping(&s, at_t, INFINITY, &looked);
                double some = sotto_slots_damping(&s, at_t, all / 3, &looked);
                CHECK(t, some <= all && (some > all / 3 * (1 - 1e-9) || all == 0));
                CHECK(t, damped >= before - slope * 3.7 / size * (1 + 1e-9));
                before = damped;
            }
        }
}

/* A group that is left whole although its series is short must say so. */
static void slots_by_themselves_are_what_groups_sum(sotto_test *t)
{
    static sotto_slots s;
    static sotto_checkin_direct flat;

    for (double m = 3; m < 400; m *= 3) {
        sotto_slots_open(&s, 2, m, 0.5);
        sotto_slots_tilt(&s, 5);
        sotto_checkin_direct_open(&flat, &s, 0.7);
        CHECK(t, flat.count >= (size_t)m);
        for (double k = 0; k < 300; k += k < 100 ? 1 : 7) { /* turned, and started afresh */
            double v = 0.7 * k, extra = s.extra * v;
            size_t looked = 0;
            sotto_slot_log one = sotto_checkin_direct_at(&flat, k),
                           all = sotto_slots_relative(&s, v);

            if (one.size < -20)
                continue;
            CHECK_NEAR(t, all.size + extra * v / 2, one.size, 1e-9);
            CHECK_NEAR(t, 1, cos(all.angle - extra * 11 / 2 - one.angle), 1e-9);
            CHECK(t, sotto_checkin_direct_damping(&flat) <= -2 * one.size + 1e-9);
            CHECK(t, sotto_checkin_direct_damping(&flat) >=
                         sotto_slots_damping(&s, v, INFINITY, &looked) * (1 - 1e-6) - 1e-9);
        }
    }
}

static void four_slots_at_a_time_give_the_same_product(sotto_test *t)
{
#if defined(__x86_64__)
    static sotto_slots s;
    static sotto_checkin_direct a, b;
    sotto_checkin_direct_products plain, wide;

    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        SKIP(t, "this processor lacks AVX2 or FMA");
    sotto_slots_open(&s, 3, 37, 1);
    sotto_slots_tilt(&s, 2);
    sotto_checkin_direct_open(&a, &s, 0.3);
    (void)sotto_checkin_direct_at(&a, 5);
    b = a;
    sotto_checkin_direct_rotate(&a, &plain);
    sotto_checkin_direct_rotate_avx2(&b, &wide);
    for (int i = 0; i < SOTTO_CHECKIN_DIRECT_LANES; i++) {
        CHECK_NEAR(t, plain.re[i], wide.re[i], 1e-14);
        CHECK_NEAR(t, plain.im[i], wide.im[i], 1e-14);
        CHECK(t, hypot(plain.re[i], plain.im[i]) < 0.999);
    }
#else
    SKIP(t, "AVX2 is of x86-64");
#endif
}

/* Slots all but alike put the line's weight into far-off places, of which none may be passed over. */
static void slots_all_but_alike_leave_nothing_out(sotto_test *t)
{
    static const struct {
        double eps0, m, p0, log_delta, high;
    } at[] = {{0.0345191446, 88, 1, -9.05273174, 0.00561375158505},
              {0.0338109558, 113, 0.000870114258, -24.5708329, 1.13042360399e-05},
              {0.00167288231, 129, 1, -13.1869267, 0.000271273301955},
              {0.0381103252, 501, 0.000948963594, -26.7862429, 7.28774903038e-06}};

    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        sotto_bound b;

        CHECK_OK(t, sotto_checkin_fixed_window_optimal(&b, at[i].eps0, at[i].m, at[i].p0,
                                                       at[i].log_delta, &t->err));
        CHECK_NEAR(t, 1, b.high / at[i].high, 1e-6);
        CHECK(t, b.low > 0.98 * b.high);
    }
}

static void what_a_series_leaves_out_is_reported(sotto_test *t)
{
    static sotto_slots s;
    double damped;

    sotto_slots_open(&s, 8, 1e5, 1);
    for (size_t i = 0; i < s.count; i++)
        s.groups[i].parts = i == 0 ? s.groups[i].parts : 0;
    sotto_slots_tilt(&s, 5 / sqrt(s.squares));
    double at = 12 / sqrt(s.squares);
    sotto_slot_log wanted = direct_relative(&s, 1e5, at, &damped),
                   found = sotto_slots_relative(&s, at);

    CHECK(t, fabs(wanted.size - found.size) > 1e-8);
    CHECK(t, fabs(wanted.size - found.size) <= found.off);
}

static void each_error_term_moves_the_optimum(sotto_test *t)
{
    static const sotto_checkin_inflate inflated[] = {{1e12, 1, 1}, {1, 1e4, 1}, {1, 1, 1e7}};
    sotto_bound as_is, b;

    CHECK_OK(t, sotto_checkin_fixed_window_optimal(&as_is, 1, 1000, 1, log(1e-6), &t->err));
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(t, sotto_checkin_fixed_window_optimal_inflated(&b, 1, 1000, 1, log(1e-6),
                                                                &inflated[i], &t->err));
        CHECK(t, b.high > as_is.high * (1 + 1e-9));
        CHECK(t, b.low < as_is.low);
    }
}

static void few_slots_at_a_large_delta_are_answered(sotto_test *t)
{
    sotto_bound b;

    CHECK_OK(t, sotto_checkin_fixed_window_optimal(&b, 0.2, 18, 0.02, -7.4, &t->err));
    CHECK(t, b.low <= b.high && b.high <= 0.2);
}

/* Balle et al. 2020, Corollary 3.3: n / m repetitions at p0 = m / n cost about e^(1.5 eps0) / sqrt(n). They cost no more
 * than the closed form of one window of n / m times the squares. */
static void repetitions_compose(sotto_test *t)
{
    static const double repetitions[] = {1, 2, 10, 100};
    const sotto_checkin fixed = {
        .form = SOTTO_CHECKIN_ONE_A_SLOT, .eps0 = 1, .m = 1000, .p0 = 0.01};
    sotto_bound eps, once, squares;
    double last = 0;

    CHECK_OK(t, sotto_checkin_fixed_window_optimal(&once, 1, 1000, 0.01, log(1e-6), &t->err));
    CHECK_OK(t, sotto_checkin_fixed_squares(&squares, 1, 1000, 0.01, &t->err));
    for (size_t i = 0; i < 4; i++) {
        const double r = repetitions[i], a = sqrt(r * squares.high);

        CHECK_OK(t, sotto_checkin_repeated(&eps, &fixed, r, log(1e-6), &t->err));
        CHECK(t, eps.high > last);
        CHECK(t, eps.high <= (a * a / 2 + a * sqrt(2 * log(1e6))) * (1 + 1e-9));
        CHECK(t, i > 0 || eps.high == once.high);
        last = eps.high;
    }
    CHECK(t, last < 12 * sqrt(log(1e6)) * exp(1.5) / sqrt(1e5)); /* n = 100,000 */
}

/* Whatever the form, no less than one window, and no more than plain addition of windows at their part of delta. */
static void repetitions_are_between_one_and_their_sum(sotto_test *t)
{
    for (int form = SOTTO_CHECKIN_ONE_A_SLOT; form <= SOTTO_CHECKIN_OWN_WINDOW; form++)
        for (double eps0 = 0.01; eps0 < 4; eps0 *= 3) {
            const sotto_checkin c = {.form = (sotto_checkin_form)form,
                                     .eps0 = eps0,
                                     .m = 500,
                                     .p0 = 1,
                                     .crowd = {100000, 0}};
            sotto_bound one, many;

            CHECK_OK(t, sotto_checkin_repeated(&one, &c, 1, log(1e-8), &t->err));
            CHECK_OK(t, sotto_checkin_repeated(&many, &c, 20, log(1e-8), &t->err));
            CHECK(t, many.high >= fmin(one.low, eps0));
            CHECK_OK(t, sotto_checkin_repeated(&one, &c, 1, log(1e-8 / 40) - 1e-9, &t->err));
            CHECK(t, many.high <= 20 * fmin(one.high, eps0) * (1 + 1e-9));
        }
}

static long double losses[1 << 14], masses[1 << 14];

/* All 2^m outcomes of the proof's slots. */
static void list_outcomes(double eps0, int m, double p0)
{
    long double e = expl(eps0);

    losses[0] = 0;
    masses[0] = 1;
    for (int i = 0; i < m; i++) {
        long double slot = log1pl(p0 * e * (e - 1) / (m * e - (e - 1) * i));
        long double lie = 1 / (expl(slot) + 1);

        for (size_t k = 0, half = (size_t)1 << i; k < half; k++) {
            losses[k + half] = losses[k] + slot;
            masses[k + half] = masses[k] * (1 - lie);
            losses[k] -= slot;
            masses[k] *= lie;
        }
    }
}

static long double delta_of_outcomes(int m, double eps)
{
    long double delta = 0;

    for (size_t k = 0; k < (size_t)1 << m; k++)
        if (losses[k] > eps)
            delta += masses[k] * -expm1l(eps - losses[k]);
    return delta;
}

/* The Gaussian release that makes the line short used to cost 1.0e-4 of an answer here. */
static void few_slots_at_a_small_delta_are_tight(sotto_test *t)
{
    static const struct {
        double eps0;
        int m;
        double p0, delta;
    } each[] = {{0.3533, 11, 0.0135, 3.067e-9},
                {1, 9, 0.02, 1e-6},
                {0.5, 14, 0.05, 1e-8},
                {2, 12, 0.01, 1e-4}};
    sotto_bound b;

    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        double low = 0, high = each[i].eps0;

        list_outcomes(each[i].eps0, each[i].m, each[i].p0);
        for (int k = 0; k < 45; k++) {
            double middle = (low + high) / 2;

            *(delta_of_outcomes(each[i].m, middle) > each[i].delta ? &low : &high) = middle;
        }
        CHECK_OK(t, sotto_checkin_fixed_window_optimal(&b, each[i].eps0, each[i].m, each[i].p0,
                                                       log(each[i].delta), &t->err));
        CHECK(t, b.high >= low && b.high <= high * (1 + 1e-5));
        CHECK(t, b.low <= high);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(groups_of_slots_sum_as_single_slots_do),
        CASE(slots_by_themselves_are_what_groups_sum),
        CASE(four_slots_at_a_time_give_the_same_product),
        CASE(slots_all_but_alike_leave_nothing_out),
        CASE(what_a_series_leaves_out_is_reported),
        CASE(each_error_term_moves_the_optimum),
        CASE(few_slots_at_a_large_delta_are_answered),
        CASE(few_slots_at_a_small_delta_are_tight),
        CASE(theorems_have_their_printed_values),
        CASE(optimum_of_the_proof_is_below_its_closed_form),
        CASE(optimum_encloses_enumeration),
        CASE(what_is_promised_never_exceeds_the_local_epsilon),
        CASE(approximate_randomizers_are_refused),
        CASE(dishonest_clients_do_not_count),
        CASE(sampling_amplifies_a_shuffled_cohort),
        CASE(a_share_is_exceeded_as_seldom_as_it_says),
        CASE(a_sample_shows_how_many_there_are_at_least),
        CASE(a_share_costs_no_less_than_the_appendix),
        CASE(importance_sampling_is_charged_for_its_higher_rate),
        CASE(bad_input_is_named),
        CASE(repetitions_compose),
        CASE(repetitions_are_between_one_and_their_sum),
    };
    return RUN_TESTS(argc, argv, cases);
}
