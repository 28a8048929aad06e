/* Amplification by shuffling: refusals, caps, direction of every error, and mechanisms whose answer is known. */
#include "account/local/clone.h"
#include "account/local/clone_pair.h"
#include "support/test.h"

#include <math.h>

static sotto_bound eps_of(sotto_test *t, const sotto_clone_law *law, double n, double f,
                          double delta)
{
    sotto_crowd crowd = {n, f};
    sotto_bound b = {-1, -1};

    CHECK_OK(t, sotto_clone_eps(&b, law, &crowd, log(delta), &t->err));
    CHECK(t, b.low <= b.high);
    return b;
}

static sotto_clone_law generic(sotto_test *t, double eps0)
{
    sotto_clone_law law = {0};

    CHECK_OK(t, sotto_clone_law_generic(&law, eps0, &t->err));
    return law;
}

static void honest_count_rounds_against_us(sotto_test *t)
{
    double n = 0;

    CHECK_OK(t, sotto_crowd_honest(&n, &(sotto_crowd){1000, 0}, &t->err));
    CHECK(t, n == 1000);
    CHECK_OK(t, sotto_crowd_honest(&n, &(sotto_crowd){1000, 0.5}, &t->err));
    CHECK(t, n == 500);
    CHECK_OK(t, sotto_crowd_honest(&n, &(sotto_crowd){1001, 0.5}, &t->err));
    CHECK(t, n == 500);
    CHECK_OK(t, sotto_crowd_honest(&n, &(sotto_crowd){10, 0.01}, &t->err));
    CHECK(t, n == 9);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_crowd_honest(&n, &(sotto_crowd){3, 0.9}, &t->err));
}

static void generic_bound_has_its_known_value(sotto_test *t)
{
    /* 80-bit reference sums, eps0 = 4, delta = 1e-8 */
    const double n[] = {1e4, 1e5, 1e6, 1e7, 1e9};
    const double wanted[] = {0.7546292, 0.2149280, 0.0641968, 0.0191879, 0.0016837};
    sotto_clone_law law = generic(t, 4);

    for (size_t i = 0; i < 5; i++)
        CHECK_NEAR(t, wanted[i], eps_of(t, &law, n[i], 0, 1e-8).high, 6e-8 + 1e-5 * wanted[i]);
}

static void more_people_never_cost_more(sotto_test *t)
{
    for (double eps0 = 0.5; eps0 <= 12; eps0 += 3.5) {
        sotto_clone_law law = generic(t, eps0);
        double before = INFINITY;

        for (double n = 1; n <= 1e12; n = floor(n * 7.3) + 1) {
            sotto_bound b = eps_of(t, &law, n, 0, 1e-7);

            CHECK(t, b.low <= before);
            CHECK(t, b.high <= eps0);
            before = b.high;
        }
    }
}

static void dishonest_people_hide_nobody(sotto_test *t)
{
    sotto_clone_law law = generic(t, 2);
    sotto_bound half = eps_of(t, &law, 20000, 0.5, 1e-6), alone = eps_of(t, &law, 10000, 0, 1e-6);

    CHECK(t, half.high == alone.high && half.low == alone.low);
}

static void one_person_alone_gets_no_amplification(sotto_test *t)
{
    sotto_clone_law law = generic(t, 3);
    sotto_bound b = eps_of(t, &law, 1, 0, 1e-9);

    CHECK(t, b.high <= 3 && b.low > 3 - 1e-6);
}

static void enough_delta_makes_epsilon_exactly_zero(sotto_test *t)
{
    sotto_clone_law law = generic(t, 0.1);
    sotto_bound b = eps_of(t, &law, 1e9, 0, 1e-3);

    CHECK(t, b.low == 0 && b.high == 0);
}

/* delta of k-ary randomized response by summing over all counts, for a batch small enough. */
static double kary_delta(double eps0, int k, int n, double eps)
{
    /* others are blanket with probability k/(e^eps0 + k - 1) each: enumerate clones c, ones a, and the own report */
    double all = exp(eps0) + k - 1, p = 2 / all, sum = 0;
    double own[3] = {exp(eps0) / all, 1 / all, 1 - (exp(eps0) + 1) / all};

    for (int x = 0; x <= n; x++)
        for (int y = 0; x + y <= n; y++) {
            double here = 0, there = 0;

            for (int which = 0; which < 3; which++) {
                int a = x - (which == 0), b = y - (which == 1), c = a + b;

                if (a < 0 || b < 0 || c > n - 1)
                    continue;
                double law = exp(lgamma(n) - lgamma(a + 1) - lgamma(b + 1) - lgamma(n - c)) *
                             pow(p / 2, c) * pow(1 - p, n - 1 - c);

                here += own[which] * law;
                there += own[which == 2 ? 2 : 1 - which] * law;
            }
            sum += fmax(0, here - exp(eps) * there);
        }
    return sum;
}

/* With two values the bound is the enumeration. With more, a report of a third value hides among the others' of
 * third values, which the bound does not count on: it is above, and never below. */
static void kary_response_is_bounded_by_enumeration_from_below(sotto_test *t)
{
    const int k[] = {2, 3, 10};

    for (size_t i = 0; i < 3; i++) {
        sotto_clone_law law = {0};

        CHECK_OK(t, sotto_clone_law_kary(&law, 1.5, k[i], &t->err));
        for (double eps = 0.2; eps < 1.3; eps += 0.35) {
            sotto_bound b = eps_of(t, &law, 40, 0, kary_delta(1.5, k[i], 40, eps));

            CHECK(t, b.high >= eps * (1 - 1e-9));
            if (k[i] == 2) {
                CHECK(t, b.low <= eps * (1 + 1e-9));
                CHECK_NEAR(t, eps, b.high, 1e-6);
            }
        }
    }
}

static void knowing_the_mechanism_never_hurts(sotto_test *t)
{
    sotto_clone_law any = generic(t, 3), kary = {0}, onehot = {0}, subset = {0};

    CHECK_OK(t, sotto_clone_law_kary(&kary, 3, 2, &t->err));
    CHECK_OK(t, sotto_clone_law_onehot(&onehot, 0.5, 1 / (exp(3) + 1), &t->err));
    CHECK_OK(t, sotto_clone_law_subset(&subset, 3, 40, 2, &t->err));
    double generic_eps = eps_of(t, &any, 1e5, 0, 1e-8).high;

    CHECK(t, eps_of(t, &kary, 1e5, 0, 1e-8).high < generic_eps);
    CHECK(t, eps_of(t, &onehot, 1e5, 0, 1e-8).high < generic_eps);
    CHECK(t, eps_of(t, &subset, 1e5, 0, 1e-8).high < generic_eps);
    CHECK_NEAR(t, 3, onehot.eps0, 1e-12);
    CHECK_NEAR(t, 0.5, onehot.tells, 1e-12);
    /* subset selection of one value is k-ary randomized response */
    CHECK_OK(t, sotto_clone_law_subset(&subset, 3, 17, 1, &t->err));
    CHECK_OK(t, sotto_clone_law_kary(&kary, 3, 17, &t->err));
    CHECK_NEAR(t, kary.clone, subset.clone, 1e-15);
    CHECK_NEAR(t, kary.tells, subset.tells, 1e-15);
}

static void closed_forms_refuse_outside_their_conditions(sotto_test *t)
{
    sotto_bound b;
    double log_delta = log(1e-6);

    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_clone_closed_2021(&b, 4, &(sotto_crowd){1000, 0}, log_delta, &t->err));
    CHECK_REASON(t, "eps0");
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_clone_closed_2022_restricted_class(&b, 3, &(sotto_crowd){2440, 0}, log_delta,
                                                          &t->err));
    CHECK_OK(t, sotto_clone_closed_2022_restricted_class(&b, 3, &(sotto_crowd){2450, 0}, log_delta,
                                                         &t->err));
    CHECK_OK(t, sotto_clone_closed_2021(&b, 0.1, &(sotto_crowd){1000, 0}, log_delta, &t->err));
    CHECK_NEAR(t, 0.0509263361097902, b.high, 1e-14);
}

static void bad_input_is_named(sotto_test *t)
{
    sotto_clone_law law = generic(t, 1);
    sotto_crowd crowd = {1000, 0};
    sotto_bound b;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_clone_law_generic(&law, NAN, &t->err));
    CHECK_REASON(t, "eps0");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_clone_law_generic(&law, -1, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_clone_law_kary(&law, 1, 2.5, &t->err));
    CHECK_REASON(t, "k = ");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_clone_law_onehot(&law, 0.2, 0.3, &t->err));
    CHECK_REASON(t, "one_if_own");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_clone_law_subset(&law, 1, 5, 5, &t->err));
    law = generic(t, 1);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_clone_eps(&b, &law, &crowd, 0, &t->err));
    CHECK_REASON(t, "delta");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_clone_eps(&b, &law, &crowd, NAN, &t->err));
    crowd.n_total = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_clone_eps(&b, &law, &crowd, -10, &t->err));
    CHECK_REASON(t, "n_total");
    crowd = (sotto_crowd){100, -0.5};
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_clone_eps(&b, &law, &crowd, -10, &t->err));
    CHECK_REASON(t, "dishonest_fraction");
}

static void each_error_term_moves_the_bound(sotto_test *t)
{
    sotto_clone_law law = generic(t, 2);
    sotto_crowd crowd = {1e7, 0};
    sotto_bound as_is, b;
    sotto_clone_inflate stride = {1e4, 1, 1}, rounding = {1, 1e9, 1}, tail = {1, 1, 1e306};

    CHECK_OK(t, sotto_clone_eps(&as_is, &law, &crowd, log(1e-8), &t->err));
    CHECK_OK(t, sotto_clone_eps_inflated(&b, &law, &crowd, log(1e-8), &stride, &t->err));
    CHECK(t, b.high > as_is.high * (1 + 1e-8));
    CHECK_OK(t, sotto_clone_eps_inflated(&b, &law, &crowd, log(1e-8), &rounding, &t->err));
    CHECK(t, b.high > as_is.high * (1 + 1e-8));
    CHECK_OK(t, sotto_clone_eps_inflated(&b, &law, &crowd, log(1e-8), &tail, &t->err));
    CHECK(t, b.high > as_is.high * (1 + 1e-8));
}

/* Walking from c to c + 1 must give what starting afresh at c gives, and both must fall. */
static void walking_over_clones_agrees_with_starting_afresh(sotto_test *t)
{
    const double from[] = {1, 9000, 9990, 2e6}, eps[] = {1e-4, 0.02, 0.3, 1.5};
    sotto_clone_law law = generic(t, 2);

    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            sotto_pair_question q = sotto_pair_ask(&law, eps[j]);
            sotto_pair_walk walk = {0};
            double before = INFINITY;

            for (double c = from[i]; c < from[i] + 400; c++) {
                sotto_pair_walk fresh = {0};
                sotto_bound walked = sotto_pair_delta(&q, &walk, c);
                sotto_bound anew = sotto_pair_delta(&q, &fresh, c);

                CHECK(t, walked.low <= anew.high && anew.low <= walked.high);
                CHECK(t, walked.high - walked.low <= 1e-7 * walked.high + 1e-280);
                CHECK(t, walked.low <= before);
                before = walked.high;
            }
        }
}

/* delta with c clones by summing every term. */
static void few_clones_are_enclosed(sotto_test *t)
{
    sotto_clone_law law = generic(t, 2);
    const double eps = 0.4;
    double a = exp(2.0) / (exp(2.0) + 1);
    sotto_pair_question q = sotto_pair_ask(&law, eps);

    for (int c = 1; c <= 60; c++) {
        sotto_pair_walk walk = {0};
        sotto_bound d = sotto_pair_delta(&q, &walk, c);
        double sum = 0;

        for (int x = 0; x <= c + 1; x++) {
            double here = x > 0 ? exp(lgamma(c + 1) - lgamma(x) - lgamma(c - x + 2)) : 0;
            double next = x <= c ? exp(lgamma(c + 1) - lgamma(x + 1) - lgamma(c - x + 1)) : 0;
            double p = a * here + (1 - a) * next, r = (1 - a) * here + a * next;

            sum += fmax(0, p - exp(eps) * r) * pow(0.5, c);
        }
        CHECK_NEAR(t, sum, d.high, 1e-9);
        CHECK(t, d.low <= sum * (1 + 1e-10) && sum <= d.high * (1 + 1e-10));
    }
}

/* In walks of single clones, too, where the other test has wide cells. */
static void rounding_moves_the_bound_of_a_walk(sotto_test *t)
{
    sotto_clone_law law = generic(t, 2);
    sotto_crowd crowd = {3e4, 0};
    sotto_bound as_is, b;
    sotto_clone_inflate rounding = {1, 1e6, 1};

    CHECK_OK(t, sotto_clone_eps(&as_is, &law, &crowd, log(1e-8), &t->err));
    CHECK_OK(t, sotto_clone_eps_inflated(&b, &law, &crowd, log(1e-8), &rounding, &t->err));
    CHECK(t, b.high > as_is.high * (1 + 1e-8));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(honest_count_rounds_against_us),
        CASE(generic_bound_has_its_known_value),
        CASE(more_people_never_cost_more),
        CASE(dishonest_people_hide_nobody),
        CASE(one_person_alone_gets_no_amplification),
        CASE(enough_delta_makes_epsilon_exactly_zero),
        CASE(kary_response_is_bounded_by_enumeration_from_below),
        CASE(knowing_the_mechanism_never_hurts),
        CASE(closed_forms_refuse_outside_their_conditions),
        CASE(bad_input_is_named),
        CASE(each_error_term_moves_the_bound),
        CASE(walking_over_clones_agrees_with_starting_afresh),
        CASE(few_clones_are_enclosed),
        CASE(rounding_moves_the_bound_of_a_walk),
    };
    return RUN_TESTS(argc, argv, cases);
}
