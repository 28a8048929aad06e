#include "account/gauss/sgm_guess.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static sotto_sgm *mechanism(sotto_test *t, double rate, double sigma)
{
    sotto_sgm *m = NULL;

    CHECK_OK(t, sotto_sgm_new(&m, rate, sigma, &t->err));
    return m;
}

static sotto_bound epsilon(sotto_test *t, double rate, double sigma, uint64_t rounds, double delta,
                           sotto_direction direction)
{
    sotto_sgm *m = mechanism(t, rate, sigma);
    sotto_sgm_part part = {m, rounds};
    sotto_sgm_answer a = {{0, 0}, ""};

    CHECK_OK(t, sotto_sgm_epsilon(&a, &part, 1, log(delta), direction, &t->err));
    CHECK(t, a.value.low <= a.value.high);
    sotto_sgm_free(m);
    return a.value;
}

/* Values to ten digits from an evaluation with other means; never below, and tight. */
static void known_compositions_are_met_from_above(sotto_test *t)
{
    static const struct {
        double rate, sigma;
        uint64_t rounds;
        double delta, eps, slack;
    } known[] = {
        {0.02, 5.1, 2500, 1e-8, 1.02039525369, 1e-6},
        {1e-3, 1, 10000, 1e-6, 0.555139667933, 1e-6},
        {1e-3, 1, 1000000, 1e-6, 6.69427265972, 1e-6},
        {1e-5, 1, 1000000, 1e-12, 0.0807356974888, 1e-5},
        {1e-4, 0.7, 100000, 1e-12, 2.11160368207, 1e-5},
        {0.5, 10, 1000, 1e-12, 12.0725489798, 1e-6},
        {0.1, 5.1, 100000, 1e-10, 58.7266301088, 1e-6},
        {1e-3, 0.7, 100, 1e-10, 2.38780248243, 1e-4},
        {1e-5, 5, 1000000, 1e-8, 0.00825202874986, 1e-6},
        {0.3, 2, 1, 1e-12, 2.2348929124134, 1e-9},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sotto_bound b = epsilon(t, known[i].rate, known[i].sigma, known[i].rounds, known[i].delta,
                                SOTTO_EITHER);
        CHECK(t, b.high >= known[i].eps * (1 - 1e-7));
        CHECK(t, b.high <= known[i].eps * (1 + known[i].slack));
        CHECK(t, b.low <= known[i].eps * (1 + 1e-7));
    }
}

/* data/sgm_check.csv: 40 digits, another contour or none; see make_sgm_check.py. */
static void deltas_enclose_the_slow_evaluator(sotto_test *t)
{
    FILE *f = fopen(SOTTO_ACCOUNT_DATA "/sgm_check.csv", "r");
    char line[256];
    unsigned rows = 0;

    CHECK(t, f != NULL);
    while (f && fgets(line, sizeof line, f)) {
        double rate, sigma, eps, delta[2];
        unsigned long long rounds;
        if (sscanf(line, "%lf,%lf,%llu,%lf,%lf,%lf", &rate, &sigma, &rounds, &eps, &delta[0],
                   &delta[1]) != 6)
            continue;
        rows++;
        sotto_sgm *m = mechanism(t, rate, sigma);
        sotto_sgm_part part = {m, rounds};
        for (int add = 0; add < 2; add++) {
            sotto_sgm_answer a;
            CHECK_OK(
                t, sotto_sgm_log_delta(&a, &part, 1, eps, add ? SOTTO_ADD : SOTTO_REMOVE, &t->err));
            CHECK(t, exp(a.value.high) >= delta[add] * (1 - 1e-12));
            CHECK(t, exp(a.value.low) <= delta[add] * (1 + 1e-12));
            if (delta[add] > 1e-40)
                CHECK(t, exp(a.value.high) <= delta[add] * 1.002);
        }
        sotto_sgm_free(m);
    }
    CHECK(t, rows >= 12);
    if (f)
        fclose(f);
}

/* Rare large losses: where the tail is gathered above the answer, and far from where a Chernoff bound would do. */
static void answers_agree_with_delta_at_them(sotto_test *t)
{
    static const struct {
        double rate, sigma;
        uint64_t rounds;
        double delta, width;
    } rare[] = {
        {4.3e-6, 0.74, 8, 2e-15, 0.03},       {1.7e-7, 0.71, 270000, 1.2e-13, 1e-3},
        {6.7e-5, 0.79, 30000, 8e-15, 1e-4},   {5e-7, 0.6, 3, 6e-8, 0.05},
        {6.8e-7, 0.63, 72000, 1.3e-10, 1e-4}, {2e-4, 0.8, 8, 2e-9, 0.03},
        {0.9994, 33, 2, 1e-14, 0.01},
    };

    for (size_t i = 0; i < sizeof rare / sizeof rare[0]; i++) {
        double log_delta = log(rare[i].delta);
        sotto_bound b =
            epsilon(t, rare[i].rate, rare[i].sigma, rare[i].rounds, rare[i].delta, SOTTO_REMOVE);
        sotto_sgm *m = mechanism(t, rare[i].rate, rare[i].sigma);
        sotto_sgm_part part = {m, rare[i].rounds};
        sotto_sgm_answer at_high, at_low;
        CHECK(t, b.low > b.high * (1 - rare[i].width));
        CHECK_OK(t, sotto_sgm_log_delta(&at_high, &part, 1, b.high, SOTTO_REMOVE, &t->err));
        CHECK_OK(t, sotto_sgm_log_delta(&at_low, &part, 1, b.low, SOTTO_REMOVE, &t->err));
        CHECK(t, at_high.value.low <= log_delta + 1e-9);
        CHECK(t, at_low.value.high >= log_delta - 1e-9);
        sotto_sgm_free(m);
    }
}

static void renyi_divergence_holds_at_real_orders(sotto_test *t)
{
    sotto_sgm *m = mechanism(t, 1e-5, 0.5);
    sotto_bound b;

    CHECK_OK(t, sotto_sgm_renyi(&b, m, 1.5, SOTTO_REMOVE, &t->err));
    CHECK(t, b.low <= 4.002834171875e-9 * (1 + 1e-9) && b.high >= 4.002834171875e-9 * (1 - 1e-9));
    CHECK_NEAR(t, 1, b.high / 4.002834171875e-9, 1e-8);
    CHECK_OK(t, sotto_sgm_renyi(&b, m, 1.5, SOTTO_ADD, &t->err));
    CHECK_NEAR(t, 1, b.high / 3.9451849231867e-9, 1e-8);
    sotto_sgm_free(m);
    /* Without sampling it is order / (2 sigma^2). */
    m = mechanism(t, 1, 2);
    CHECK_OK(t, sotto_sgm_renyi(&b, m, 3, SOTTO_EITHER, &t->err));
    CHECK_NEAR(t, 0.375, b.high, 1e-12);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sgm_renyi(&b, m, 1, SOTTO_ADD, &t->err));
    CHECK_REASON(t, "order");
    sotto_sgm_free(m);
}

static void more_noise_fewer_rounds_or_a_smaller_rate_never_cost_more(sotto_test *t)
{
    static const double rates[] = {1e-6, 1e-4, 0.01, 0.3}, sigmas[] = {0.6, 1.3, 6};
    static const uint64_t rounds[] = {1, 3, 40, 3000, 1000000};

    for (size_t q = 0; q < 4; q++) {
        for (size_t s = 0; s < 3; s++) {
            for (size_t n = 0; n < 5; n++) {
                sotto_bound here = epsilon(t, rates[q], sigmas[s], rounds[n], 1e-7, SOTTO_EITHER);
                CHECK(t, isfinite(here.high) && here.low >= 0);
                if (s > 0)
                    CHECK(t, here.low <=
                                 epsilon(t, rates[q], sigmas[s - 1], rounds[n], 1e-7, SOTTO_EITHER)
                                     .high);
                if (n > 0)
                    CHECK(
                        t,
                        here.high >=
                            epsilon(t, rates[q], sigmas[s], rounds[n - 1], 1e-7, SOTTO_EITHER).low);
                if (q > 0)
                    CHECK(
                        t,
                        here.high >=
                            epsilon(t, rates[q - 1], sigmas[s], rounds[n], 1e-7, SOTTO_EITHER).low);
            }
        }
    }
}

static void a_smaller_delta_never_costs_less(sotto_test *t)
{
    sotto_sgm *m = mechanism(t, 2e-3, 1.1);
    sotto_sgm_part part = {m, 700};
    double last = 0;

    for (double digits = 3; digits <= 300; digits *= 1.6) {
        sotto_sgm_answer a;
        CHECK_OK(t, sotto_sgm_epsilon(&a, &part, 1, -digits * log(10), SOTTO_EITHER, &t->err));
        CHECK(t, isfinite(a.value.high) && a.value.high >= last);
        last = a.value.low;
    }
    sotto_sgm_free(m);
}

static void a_mixed_sequence_of_equals_is_the_homogeneous_one(sotto_test *t)
{
    sotto_sgm *a = mechanism(t, 0.01, 1), *b = mechanism(t, 0.01, 1), *c = mechanism(t, 0.05, 3);
    sotto_sgm_part split[2] = {{a, 600}, {b, 400}}, both[2] = {{a, 600}, {c, 400}};
    sotto_sgm_answer mixed, more;
    sotto_bound whole = epsilon(t, 0.01, 1, 1000, 1e-6, SOTTO_EITHER);

    CHECK_OK(t, sotto_sgm_epsilon(&mixed, split, 2, log(1e-6), SOTTO_EITHER, &t->err));
    CHECK_NEAR(t, 1, mixed.value.high / whole.high, 1e-8);
    CHECK(t, mixed.value.low <= whole.high && whole.low <= mixed.value.high);
    CHECK_OK(t, sotto_sgm_epsilon(&more, both, 2, log(1e-6), SOTTO_EITHER, &t->err));
    CHECK(t, more.value.low > epsilon(t, 0.01, 1, 600, 1e-6, SOTTO_EITHER).high);
    CHECK(t, more.value.low > epsilon(t, 0.05, 3, 400, 1e-6, SOTTO_EITHER).high);
    sotto_sgm_free(a);
    sotto_sgm_free(b);
    sotto_sgm_free(c);
}

static void without_sampling_it_is_one_gaussian(sotto_test *t)
{
    /* 100 rounds of sigma 50 are one of sigma 5; delta at eps 1 in closed form. */
    sotto_sgm *m = mechanism(t, 1, 50);
    sotto_sgm_part part = {m, 100};
    sotto_sgm_answer a;
    double z = 5 - 0.1, y = 5 + 0.1;
    double delta = (erfc(z / sqrt(2)) - exp(1) * erfc(y / sqrt(2))) / 2;

    CHECK_OK(t, sotto_sgm_log_delta(&a, &part, 1, 1, SOTTO_EITHER, &t->err));
    CHECK_NEAR(t, log(delta), a.value.high, 1e-9);
    CHECK(t, a.value.low <= log(delta) + 1e-9);
    sotto_sgm_free(m);
}

/* Far beyond where e^eps overflows, and where q is so near 1 that 1 - q must not be formed carelessly. */
static void directions_agree_without_sampling_and_nearly_so_beside_it(sotto_test *t)
{
    sotto_bound remove = epsilon(t, 1, 2, 10000, 1e-6, SOTTO_REMOVE);
    sotto_bound add = epsilon(t, 1, 2, 10000, 1e-6, SOTTO_ADD);

    /* Phi(mu/2 - eps/mu) = 1e-6, about, with mu = 50. */
    CHECK_NEAR(t, 1250 + 50 * 4.7534, remove.high, 10);
    CHECK_NEAR(t, 1, add.high / remove.high, 1e-12);
    for (int digits = 2; digits <= 15; digits++) {
        double rate = 1 - pow(10, -digits);
        sotto_bound whole = epsilon(t, 1, 0.7, 1, 1e-8, SOTTO_ADD);
        sotto_bound near = epsilon(t, rate, 0.7, 1, 1e-8, SOTTO_ADD);
        CHECK(t, near.low <= whole.high && near.low <= near.high);
        CHECK(t, near.high >= fmin(-log1p(-rate), whole.low) * 0.7);
        CHECK(t, epsilon(t, rate, 3, 7, 1e-8, SOTTO_ADD).low <=
                     epsilon(t, 1, 3, 7, 1e-8, SOTTO_ADD).high);
    }
}

static void a_warm_mechanism_answers_as_a_cold_one(sotto_test *t)
{
    sotto_sgm *warm = mechanism(t, 3e-3, 0.9);

    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t rounds = 1; rounds <= 1000000; rounds *= 10) {
            sotto_sgm_part part = {warm, rounds};
            sotto_sgm_answer a;
            sotto_bound cold = epsilon(t, 3e-3, 0.9, rounds, 1e-9, SOTTO_EITHER);
            CHECK_OK(t, sotto_sgm_epsilon(&a, &part, 1, log(1e-9), SOTTO_EITHER, &t->err));
            CHECK(t, a.value.high >= cold.low && cold.high >= a.value.low);
            if (cold.high > 0)
                CHECK_NEAR(t, 1, a.value.high / cold.high, 1e-7);
        }
    }
    sotto_sgm_free(warm);
}

/* A question like one before is settled the same way first: it must be as true, and nearly as tight. */
static void a_question_like_the_last_is_answered_as_well(sotto_test *t)
{
    static const struct {
        double rate, sigma;
        uint64_t rounds;
        double near; /* how close to a cold answer */
    } at[] = {{3e-3, 0.9, 20000, 3e-6},  {0.3, 4, 300000, 3e-6},     {2e-4, 0.63, 2158, 3e-6},
              {1e-2, 20, 5, 3e-4},       {0.999, 8, 90000000, 3e-6}, {4e-6, 0.7, 120000, 1e-4},
              {2.5e-4, 0.52, 570, 1e-4}, {7.6e-6, 1.6, 6895, 1e-4},  {6.4e-4, 1.2, 4, 3e-4}};

    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        sotto_sgm *warm = mechanism(t, at[i].rate, at[i].sigma);
        for (int k = 0; k < 6; k++) {
            sotto_sgm_part part = {warm, at[i].rounds + at[i].rounds * (uint64_t)k / 12};
            double log_delta = log(1e-11) + 0.4 * (k % 3);
            sotto_sgm *fresh = mechanism(t, at[i].rate, at[i].sigma);
            sotto_sgm_part cold_part = {fresh, part.rounds};
            sotto_sgm_answer a, cold, b;
            CHECK_OK(t, sotto_sgm_epsilon(&a, &part, 1, log_delta, SOTTO_EITHER, &t->err));
            CHECK_OK(t, sotto_sgm_epsilon(&cold, &cold_part, 1, log_delta, SOTTO_EITHER, &t->err));
            CHECK(t, a.value.high >= cold.value.low && cold.value.high >= a.value.low);
            CHECK_NEAR(t, 1, a.value.high / cold.value.high, at[i].near);
            CHECK_OK(t, sotto_sgm_log_delta(&b, &part, 1, a.value.high, SOTTO_EITHER, &t->err));
            CHECK(t, b.value.low <= log_delta);
            CHECK_NEAR(t, log_delta, b.value.high, 0.05);
            sotto_sgm_free(fresh);
        }
        sotto_sgm_free(warm);
    }
}

static void each_error_term_is_in_the_upper_bound(sotto_test *t)
{
    sotto_sgm *m = mechanism(t, 1e-3, 1);
    sotto_sgm_part part = {m, 20000};
    sotto_sgm_answer plain, more;

    CHECK_OK(t, sotto_sgm_log_delta(&plain, &part, 1, 0.7, SOTTO_REMOVE, &t->err));
    for (int term = 0; term < 4; term++) {
        sotto_contour_terms terms = SOTTO_CONTOUR_TERMS;
        double *factors[4] = {&terms.aliasing, &terms.truncation, &terms.transform,
                              &terms.rounding};
        /* The nodes are rounded up, which leaves next to no truncation. */
        *factors[term] = term == 1 ? 1e20 : 1e11;
        sotto_sgm_inflate(m, terms);
        CHECK_OK(t, sotto_sgm_log_delta(&more, &part, 1, 0.7, SOTTO_REMOVE, &t->err));
        CHECK(t, more.value.high > plain.value.high + 1e-7);
        CHECK(t, more.value.low < plain.value.low);
    }
    sotto_sgm_free(m);
}

/* Cap and cut are made anew for each question: what the cut leaves out is charged wherever it lies. */
static void what_the_cut_leaves_out_is_in_the_upper_bound(sotto_test *t)
{
    static const struct {
        double rate, sigma, eps;
        uint64_t rounds;
    } at[] = {{1e-3, 1, 0.7, 20000}, {2e-4, 0.8, 0.05, 4}};

    for (size_t i = 0; i < 2; i++) {
        sotto_sgm *m = mechanism(t, at[i].rate, at[i].sigma);
        sotto_sgm_part part = {m, at[i].rounds};
        sotto_sgm_answer plain, more;
        sotto_contour_terms terms = SOTTO_CONTOUR_TERMS;

        CHECK_OK(t, sotto_sgm_log_delta(&plain, &part, 1, at[i].eps, SOTTO_REMOVE, &t->err));
        terms.cut = 1e5;
        sotto_sgm_inflate(m, terms);
        CHECK_OK(t, sotto_sgm_log_delta(&more, &part, 1, at[i].eps, SOTTO_REMOVE, &t->err));
        CHECK(t, more.value.high > plain.value.high + 1e-7);
        sotto_sgm_free(m);
    }
}

/* With rates near one the lattice counts from far below. */
static void where_a_lattice_lies_is_in_the_upper_bound(sotto_test *t)
{
    sotto_sgm *m = mechanism(t, 0.9, 3);
    sotto_sgm_part part = {m, 5};
    sotto_sgm_answer plain, more;
    sotto_contour_terms terms = SOTTO_CONTOUR_TERMS;

    CHECK_OK(t, sotto_sgm_log_delta(&plain, &part, 1, 1, SOTTO_REMOVE, &t->err));
    CHECK(t, strcmp(plain.route, "tilted lattice of losses") == 0);
    terms.place = 1e9;
    sotto_sgm_inflate(m, terms);
    CHECK_OK(t, sotto_sgm_log_delta(&more, &part, 1, 1, SOTTO_REMOVE, &t->err));
    CHECK(t, more.value.high > plain.value.high + 1e-7);
    sotto_sgm_free(m);
}

/* A lattice has hardly any truncation: of its sum over a period only what has faded is left out. */
static void each_error_term_is_in_the_upper_bound_of_a_lattice(sotto_test *t)
{
    sotto_sgm *m = mechanism(t, 2e-4, 0.8);
    sotto_sgm_part part = {m, 4};
    sotto_sgm_answer plain, more;

    CHECK_OK(t, sotto_sgm_log_delta(&plain, &part, 1, 0.05, SOTTO_REMOVE, &t->err));
    CHECK(t, strcmp(plain.route, "tilted lattice of losses") == 0);
    for (int term = 0; term < 3; term++) {
        sotto_contour_terms terms = SOTTO_CONTOUR_TERMS;
        double *factors[3] = {&terms.aliasing, &terms.transform, &terms.rounding};
        *factors[term] = 1e9;
        sotto_sgm_inflate(m, terms);
        CHECK_OK(t, sotto_sgm_log_delta(&more, &part, 1, 0.05, SOTTO_REMOVE, &t->err));
        CHECK(t, more.value.high > plain.value.high + 1e-7);
    }
    sotto_sgm_free(m);
}

/* A lattice whose spacing has no exponential: what is read between two of its losses must still be a number. The loss of
 * all rounds has a mean of 1.5311e11 and is above it half of the time. */
static void a_million_millions_of_rounds_cost_no_less_than_their_mean_loss(sotto_test *t)
{
    CHECK(t, epsilon(t, 0.59159, 1.0548, 912690395592, 2.8169e-44, SOTTO_EITHER).high > 1.531e11);
    CHECK(t, epsilon(t, 0.79527, 0.50739, 396648520385, 4.4393e-24, SOTTO_EITHER).high > 5.209e11);
}

static void epsilon_is_exactly_zero_when_delta_covers_everything(sotto_test *t)
{
    CHECK(t, epsilon(t, 1e-5, 5.1, 1, 1e-6, SOTTO_EITHER).high == 0);
    CHECK(t, epsilon(t, 1e-7, 1, 1000, 1e-3, SOTTO_EITHER).high == 0);
}

static void a_guessed_noise_is_near_what_a_search_finds(sotto_test *t)
{
    double slope, sigma = sotto_sgm_sigma_guess(&slope, 0.01, 10000, 2, log(1e-6));

    CHECK_NEAR(t, 2.3556175, sigma, 0.03);
    CHECK(t, slope < -0.5 && slope > -5);
    CHECK(t, isnan(sotto_sgm_sigma_guess(&slope, 0, 10000, 2, log(1e-6))));
    CHECK(t, isnan(sotto_sgm_sigma_guess(&slope, 0.01, 0, 2, log(1e-6))));
    CHECK(t, isnan(sotto_sgm_sigma_guess(&slope, 0.01, 10000, 0, log(1e-6))));
    CHECK(t, isnan(sotto_sgm_sigma_guess(&slope, 0.01, 10000, 2, 0)));
}

static void bad_input_is_refused_by_name(sotto_test *t)
{
    static const double rates[] = {0, -1, 1.0000001, NAN, INFINITY, 5e-324};
    static const double deltas[] = {0, 0.5, NAN, -INFINITY, INFINITY};
    sotto_sgm *m = NULL;
    sotto_sgm_answer a;

    for (size_t i = 0; i < 6; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sgm_new(&m, rates[i], 1, &t->err));
        CHECK_REASON(t, "rate");
    }
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sgm_new(&m, 0.1, NAN, &t->err));
    CHECK_REASON(t, "sigma");
    m = mechanism(t, 0.1, 1);
    sotto_sgm_part part = {m, 10};
    for (size_t i = 0; i < 5; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_sgm_epsilon(&a, &part, 1, deltas[i], SOTTO_EITHER, &t->err));
        CHECK_REASON(t, "delta");
    }
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sgm_log_delta(&a, &part, 1, -1, SOTTO_EITHER, &t->err));
    CHECK_REASON(t, "eps");
    part.rounds = UINT64_C(1000000000000000000);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sgm_epsilon(&a, &part, 1, -9, SOTTO_EITHER, &t->err));
    CHECK_REASON(t, "rounds");
    part.rounds = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sgm_epsilon(&a, &part, 1, -9, SOTTO_EITHER, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sgm_epsilon(&a, &part, 0, -9, SOTTO_EITHER, &t->err));
    CHECK_REASON(t, "parts");
    sotto_sgm_free(m);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(known_compositions_are_met_from_above),
        CASE(deltas_enclose_the_slow_evaluator),
        CASE(answers_agree_with_delta_at_them),
        CASE(renyi_divergence_holds_at_real_orders),
        CASE(more_noise_fewer_rounds_or_a_smaller_rate_never_cost_more),
        CASE(a_smaller_delta_never_costs_less),
        CASE(a_mixed_sequence_of_equals_is_the_homogeneous_one),
        CASE(without_sampling_it_is_one_gaussian),
        CASE(directions_agree_without_sampling_and_nearly_so_beside_it),
        CASE(a_warm_mechanism_answers_as_a_cold_one),
        CASE(a_question_like_the_last_is_answered_as_well),
        CASE(each_error_term_is_in_the_upper_bound),
        CASE(each_error_term_is_in_the_upper_bound_of_a_lattice),
        CASE(what_the_cut_leaves_out_is_in_the_upper_bound),
        CASE(where_a_lattice_lies_is_in_the_upper_bound),
        CASE(a_million_millions_of_rounds_cost_no_less_than_their_mean_loss),
        CASE(epsilon_is_exactly_zero_when_delta_covers_everything),
        CASE(a_guessed_noise_is_near_what_a_search_finds),
        CASE(bad_input_is_refused_by_name),
    };
    return RUN_TESTS(argc, argv, cases);
}
