/* Claims about locally randomised reports, held against the accountant's own questions. */
#include "account/claims.h"
#include "account/local/checkin.h"
#include "account/local/sampling.h"
#include "support/test.h"

#include <string.h>

static const double LOG_DELTA = -13.815510557964274; /* log 1e-6 */

/* Any randomizer of this epsilon: it has no law of its own. */
static sotto_report_law any_of(double eps)
{
    return (sotto_report_law){.local = eps, .replacement = eps};
}

static sotto_claim_question of(const sotto_report_law *law, uint64_t honest)
{
    return (sotto_claim_question){law, SOTTO_TRUST_SPLIT, true, honest, LOG_DELTA, 1000000000};
}

static sotto_question question(sotto_mechanism mechanism)
{
    return (sotto_question){.adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                            .trust = SOTTO_TRUST_SPLIT,
                            .dishonest = {0, 1},
                            .delta = 1e-6,
                            .participation_is_hidden = true,
                            .mechanism = mechanism};
}

static void a_claim_is_the_accountants_answer(sotto_test *t)
{
    static const double rates[] = {1, 0.1};
    const sotto_report_law law = any_of(2);
    const sotto_claim_question q = of(&law, 20000);
    sotto_question asked = question(SOTTO_MECHANISM_SHUFFLED);
    sotto_answer claim, answer;

    for (size_t i = 0; i < 2; i++) {
        asked.of.local.local_epsilon = 2;
        asked.of.local.cohort = 20000;
        asked.of.local.rate = rates[i];
        CHECK_OK(t, sotto_privacy_epsilon(&answer, &asked, NULL, &t->err));
        CHECK_OK(t, sotto_claim_cohort(&claim, &q, rates[i], &t->err));
        CHECK_NEAR(t, answer.high, claim.high, 1e-12 * answer.high);
        CHECK(t, claim.honest == 20000);
    }
    asked = question(SOTTO_MECHANISM_CHECK_IN);
    asked.of.check_in.variant = SOTTO_CHECK_IN_AVERAGED;
    asked.of.check_in.local_epsilon = 0.5;
    asked.of.check_in.window = 1000;
    asked.of.check_in.cohort = 10000000;
    asked.of.check_in.probability = 1;
    const sotto_report_law weak = any_of(0.5);
    const sotto_claim_question r = of(&weak, 10000000);
    CHECK_OK(t, sotto_privacy_epsilon(&answer, &asked, NULL, &t->err));
    CHECK_OK(t, sotto_claim_check_in(&claim, &r, 1000, &t->err));
    CHECK_NEAR(t, answer.high, claim.high, 1e-12 * answer.high);
    CHECK(t, claim.high < 0.5);
}

/* A randomizer's own law never costs more than any randomizer of its epsilon does. */
static void a_known_law_costs_no_more(sotto_test *t)
{
    const sotto_report_law any = any_of(2);
    const sotto_claim_question q = of(&any, 20000);
    sotto_report_law choice;
    sotto_answer of_any, own;

    CHECK_OK(t, sotto_report_law_choice(&choice, 2, 2, &t->err));
    const sotto_claim_question known = of(&choice, 20000);
    CHECK_OK(t, sotto_claim_cohort(&of_any, &q, 1, &t->err));
    CHECK_OK(t, sotto_claim_cohort(&own, &known, 1, &t->err));
    CHECK(t, own.high < of_any.high && own.low <= own.high);
    CHECK(t, strstr(own.theorem, "this randomizer's own") != NULL);
}

static void nothing_is_claimed_that_trust_has_not_earned(sotto_test *t)
{
    static const sotto_trust trusts[] = {SOTTO_TRUST_FLAMINGO, SOTTO_TRUST_AERO};
    const sotto_report_law law = any_of(0.5);
    sotto_claim_question q = of(&law, 20000);
    sotto_answer claim;

    for (size_t i = 0; i < 2; i++) {
        q.trust = trusts[i];
        q.hidden = false;
        CHECK_OK(t, sotto_claim_cohort(&claim, &q, 1, &t->err));
        CHECK(t, claim.high == 0.5 && claim.honest == 0);
        CHECK(t, strstr(claim.theorem, "whoever adds up") != NULL);
        CHECK_STATUS(t, SOTTO_DENIED, sotto_claim_sampled(&claim, &q, 0.1, &t->err));
        CHECK_STATUS(t, SOTTO_DENIED, sotto_claim_donation(&claim, &q, 8, 1, &t->err));
        CHECK_STATUS(t, SOTTO_DENIED, sotto_claim_check_in(&claim, &q, 100, &t->err));
    }
}

static void a_moment_that_is_seen_gains_nothing(sotto_test *t)
{
    const sotto_report_law law = any_of(0.5);
    sotto_claim_question q = of(&law, 20000);
    sotto_answer claim;

    q.hidden = false;
    CHECK_OK(t, sotto_claim_cohort(&claim, &q, 1, &t->err));
    CHECK(t, claim.high < 0.5); /* adding up needs nobody hidden */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_claim_cohort(&claim, &q, 0.1, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_claim_sampled(&claim, &q, 0.1, &t->err));
    CHECK_REASON(t, "participation is seen");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_claim_donation(&claim, &q, 8, 1, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_claim_check_in(&claim, &q, 100, &t->err));
}

static void a_gain_below_a_thousandth_is_not_told(sotto_test *t)
{
    const sotto_report_law law = any_of(8);
    const sotto_claim_question few = of(&law, 10), nobody = of(&law, 0);
    sotto_answer claim;

    CHECK_OK(t, sotto_claim_cohort(&claim, &few, 1, &t->err));
    CHECK(t, claim.high == 8 && claim.no_gain && strstr(claim.theorem, "too few") != NULL);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_claim_cohort(&claim, &nobody, 1, &t->err));
    CHECK_REASON(t, "no honest");
}

/* One function: what a device claims is what the accountant answers. */
static void a_check_in_is_claimed_as_the_accountant_answers(sotto_test *t)
{
    const sotto_report_law law = any_of(0.01);
    const sotto_claim_question q = of(&law, 20000);
    const sotto_question asked = {.mechanism = SOTTO_MECHANISM_CHECK_IN,
                                  .delta = exp(LOG_DELTA),
                                  .adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                                  .trust = SOTTO_TRUST_SPLIT,
                                  .participation_is_hidden = true,
                                  .dishonest = {0, 1},
                                  .of.check_in = {SOTTO_CHECK_IN_AVERAGED, 0.01, 100000, 20000, 1}};
    sotto_answer claim, answer;

    CHECK_OK(t, sotto_claim_check_in(&claim, &q, 100000, &t->err));
    CHECK_OK(t, sotto_privacy_epsilon(&answer, &asked, NULL, &t->err));
    CHECK_NEAR(t, answer.high, claim.high, 1e-12);
    CHECK(t, claim.high < 0.01);
    CHECK(t, strcmp(claim.theorem, answer.theorem) == 0);
    CHECK(t, strstr(claim.theorem, "Balle et al. 2020, Theorem 4.1") != NULL);
}

static void noise_whose_draws_cost_too_much_is_not_claimed(sotto_test *t)
{
    sotto_answer claim;

    CHECK_OK(t, sotto_claim_server_noise(&claim, 100, 2, 1e-6, LOG_DELTA, 0x1p-90, &t->err));
    CHECK(t, claim.high > 0 && claim.high < 0.2);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_claim_server_noise(&claim, 100, 2, 1e-6, LOG_DELTA, 1e-9, &t->err));
}

/* Hockey-stick divergence of a difference of two Poisson numbers and the same with a shift, by its own sum. */
static double share_delta(double variance, int shift, double eps)
{
    enum { FAR = 2000 };
    static double p[2 * FAR + 1];
    double r = 0, total, delta = 0;

    /* P(x) / P(x - 1) = I_x / I_(x-1) at `variance`, from far out where it is 0. */
    p[FAR] = 1;
    for (int x = FAR; x > 0; x--)
        p[FAR + x] = r = 1 / (2 * x / variance + r);
    total = 1;
    for (int x = 1; x <= FAR; x++) {
        p[FAR + x] *= p[FAR + x - 1];
        p[FAR - x] = p[FAR + x];
        total += 2 * p[FAR + x];
    }
    for (int x = -FAR + shift; x <= FAR; x++)
        delta += fmax(0, p[FAR + x] - exp(eps) * p[FAR + x - shift]) / total;
    return delta;
}

/* True, and not by far more than needed. */
static void noise_in_shares_is_priced_above_what_it_costs(sotto_test *t)
{
    static const struct {
        double variance;
        int shift;
    } rows[] = {{4, 1}, {25, 1}, {400, 1}, {400, 10}, {2500, 25}, {10000, 100}, {10000, 20}};
    sotto_answer claim;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double low = 0, high = 60;

        CHECK_OK(t, sotto_claim_share_noise(&claim, rows[i].variance, rows[i].shift, rows[i].shift,
                                            1e-6, LOG_DELTA, 0, &t->err));
        for (unsigned j = 0; j < 60; j++) {
            const double middle = (low + high) / 2;

            *(share_delta(rows[i].variance, rows[i].shift, middle) > 1e-6 ? &low : &high) = middle;
        }
        CHECK(t, claim.high >= high);
        CHECK(t, claim.high < (rows[i].variance < 25 ? 1.75 : 1.35) * high);
    }
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_claim_share_noise(&claim, 400, 1, 1, 1e-6, LOG_DELTA, 1e-9, &t->err));
}

/* Lint and receipts print a claim's theorem: it must not be the name of an amplification that gave nothing. */
static void what_gains_nothing_is_not_called_amplified(sotto_test *t)
{
    const sotto_report_law law = any_of(4);
    const sotto_claim_question q = of(&law, 20);
    sotto_answer claim;

    CHECK_OK(t, sotto_claim_cohort(&claim, &q, 1, &t->err));
    CHECK(t, claim.no_gain && claim.high == 4 && strstr(claim.theorem, "own local DP") != NULL);
    CHECK_OK(t, sotto_claim_sampled(&claim, &q, 1, &t->err));
    CHECK(t, claim.no_gain && claim.high == 4 && strstr(claim.theorem, "own local DP") != NULL);
    CHECK_OK(t, sotto_claim_check_in(&claim, &q, 10, &t->err));
    CHECK(t, claim.no_gain && claim.high == 4 && strstr(claim.theorem, "own local DP") != NULL);
    CHECK_OK(t, sotto_claim_donation(&claim, &q, 2, 1, &t->err));
    CHECK(t, claim.no_gain && claim.high == 4 && strstr(claim.theorem, "own DP") != NULL);
    const sotto_report_law weak = any_of(0.5);
    const sotto_claim_question many = of(&weak, 10000000);
    CHECK_OK(t, sotto_claim_check_in(&claim, &many, 1000, &t->err));
    CHECK(t, !claim.no_gain && strstr(claim.theorem, "Balle et al. 2020") != NULL);
}

/* The number of reports is released, and tells how large a share of the population took part. */
static void a_sample_is_priced_at_the_share_that_it_may_be(sotto_test *t)
{
    static const uint64_t populations[] = {40000, 1000000, 100000000};
    const sotto_report_law law = any_of(2);
    sotto_claim_question q = of(&law, 2000);
    sotto_answer claim, nominal;
    double before = INFINITY;

    q.population = 0;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_claim_sampled(&claim, &q, 0.05, &t->err));
    CHECK_REASON(t, "no population is stated");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_claim_donation(&claim, &q, 8, 1, &t->err));
    CHECK_OK(t, sotto_claim_cohort(&nominal, &q, 0.05, &t->err));
    for (size_t i = 0; i < sizeof populations / sizeof populations[0]; i++) {
        q.population = populations[i];
        CHECK_OK(t, sotto_claim_sampled(&claim, &q, 0.05, &t->err));
        CHECK(t, claim.high > nominal.high && claim.high <= before);
        before = claim.high;
    }
    /* A batch of 2,000 honest reports may be all that 38,000 devices sent, whatever is stated. */
    CHECK(t, claim.high > 1.05 * nominal.high && claim.high < 1.25 * nominal.high);
    q.honest = 2000000;
    CHECK_OK(t, sotto_claim_cohort(&nominal, &q, 0.05, &t->err));
    CHECK_OK(t, sotto_claim_sampled(&claim, &q, 0.05, &t->err));
    CHECK(t, claim.high < 1.02 * nominal.high);
}

/* A sixteenth of delta is for larger samples than the one that is priced, and what is left for the rest: together no more than delta. */
static void samples_that_are_larger_are_paid_out_of_delta(sotto_test *t)
{
    const sotto_report_law law = any_of(2);
    sotto_claim_question q = of(&law, 2000000), left;
    sotto_answer claim, same, whole;
    double share;

    q.population = 1000000;
    CHECK_OK(t, sotto_claim_sampled(&claim, &q, 0.05, &t->err));
    CHECK_OK(t, sotto_sampled_share(&share, 1e6, 0.05, q.log_delta - log(16), &t->err));
    left = q;
    left.log_delta = q.log_delta + log1p(-1.0 / 16);
    CHECK_OK(t, sotto_claim_cohort(&same, &left, share, &t->err));
    CHECK_NEAR(t, same.high, claim.high, 1e-9);
    CHECK_OK(t, sotto_claim_cohort(&whole, &q, share, &t->err));
    CHECK(t, claim.high > whole.high);
}

static void donors_are_priced_at_the_share_that_they_may_be(sotto_test *t)
{
    const sotto_report_law law = any_of(2);
    sotto_claim_question q = of(&law, 20000);
    sotto_answer few, many, sampled, cohort;

    CHECK_OK(t, sotto_claim_cohort(&cohort, &q, 1, &t->err));
    CHECK_OK(t, sotto_claim_donation(&many, &q, 1000, 1, &t->err));
    q.population = 10000000;
    CHECK_OK(t, sotto_claim_donation(&few, &q, 1000, 1, &t->err));
    CHECK_OK(t, sotto_claim_donation(&sampled, &q, 1000, 0.1, &t->err));
    CHECK(t, many.high <= few.high && few.high < cohort.high);
    CHECK(t, sampled.high < 0.3 * few.high && sampled.high > 0.1 * few.high);
    CHECK(t, strstr(sampled.theorem, "of a secret sample") != NULL);
    CHECK(t, !strstr(few.theorem, "of a secret sample"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_claim_is_the_accountants_answer),
        CASE(a_known_law_costs_no_more),
        CASE(nothing_is_claimed_that_trust_has_not_earned),
        CASE(a_moment_that_is_seen_gains_nothing),
        CASE(a_gain_below_a_thousandth_is_not_told),
        CASE(noise_in_shares_is_priced_above_what_it_costs),
        CASE(what_gains_nothing_is_not_called_amplified),
        CASE(a_check_in_is_claimed_as_the_accountant_answers),
        CASE(a_sample_is_priced_at_the_share_that_it_may_be),
        CASE(samples_that_are_larger_are_paid_out_of_delta),
        CASE(donors_are_priced_at_the_share_that_they_may_be),
        CASE(noise_whose_draws_cost_too_much_is_not_claimed),
    };
    return RUN_TESTS(argc, argv, cases);
}
