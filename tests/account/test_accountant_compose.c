/* Several mechanisms about the same person: what composes optimally, what adds up, and what is refused. */
#include "question_support.h"
#include "support/test.h"

#include <math.h>

static void mixed_claims_have_no_composition(sotto_test *t)
{
    sotto_question q[2] = {question_gaussian(), question_gaussian()};
    sotto_answer a;

    q[1].participation_is_hidden = false;
    q[1].trust = SOTTO_TRUST_FLAMINGO;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_privacy_compose(&a, q, 2, &t->err));
    CHECK_REASON(t, "trust");
    q[1] = question_gaussian();
    q[1].adjacency = SOTTO_ADJACENCY_REPLACEMENT;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_privacy_compose(&a, q, 2, &t->err));
    CHECK_REASON(t, "adjacency");
    q[1] = question_gaussian();
    q[1].dishonest = (sotto_share){1, 2};
    CHECK_STATUS(t, SOTTO_DENIED, sotto_privacy_compose(&a, q, 2, &t->err));
    CHECK_REASON(t, "dishonest");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_compose(&a, q, 0, &t->err));
}

static void gaussians_compose_optimally(sotto_test *t)
{
    sotto_question q[2] = {question_gaussian(), question_gaussian()}, both = question_gaussian();
    sotto_answer a, wanted;

    q[0].of.gaussian.releases = 3;
    q[1].of.gaussian.releases = 5;
    both.of.gaussian.releases = 8;
    CHECK_OK(t, sotto_privacy_compose(&a, q, 2, &t->err));
    CHECK_OK(t, sotto_privacy_epsilon(&wanted, &both, NULL, &t->err));
    CHECK(t, a.high >= wanted.low && a.high <= wanted.high * (1 + 1e-4));

    sotto_question halves[2] = {question_sampled(), question_sampled()}, whole = question_sampled();
    halves[0].of.sampled.rounds = 1000;
    halves[1].of.sampled.rounds = 1500;
    CHECK_OK(t, sotto_privacy_compose(&a, halves, 2, &t->err));
    CHECK_OK(t, sotto_privacy_epsilon(&wanted, &whole, NULL, &t->err));
    CHECK(t, a.high >= wanted.low && a.high <= wanted.high * (1 + 1e-4));
}

static sotto_question pure_of(double epsilon, uint64_t rounds)
{
    sotto_question q = question_gaussian();

    q.mechanism = SOTTO_MECHANISM_PURE;
    q.of.pure.epsilon = epsilon;
    q.of.pure.rounds = rounds;
    return q;
}

static void pure_releases_compose_optimally(sotto_test *t)
{
    sotto_question q[2] = {pure_of(0.1, 40), pure_of(0.1, 60)}, both = pure_of(0.1, 100);
    sotto_answer a, wanted;

    CHECK_OK(t, sotto_privacy_compose(&a, q, 2, &t->err));
    CHECK_OK(t, sotto_privacy_epsilon(&wanted, &both, NULL, &t->err));
    CHECK(t, a.optimal);
    CHECK(t, a.low <= wanted.high && a.high >= wanted.low && a.high <= wanted.high * (1 + 1e-4));
}

static double normal_delta(double eps, double mu)
{
    const double root = sqrt(2.0);

    return erfc((eps / mu - mu / 2) / root) / 2 - exp(eps) * erfc((eps / mu + mu / 2) / root) / 2;
}

/* One binary law and one shift: delta is a sum of two terms. */
static void a_pure_release_and_a_gaussian_compose_optimally(sotto_test *t)
{
    const double eps0[] = {0.01, 0.5, 3};

    for (size_t i = 0; i < 3; i++) {
        sotto_question q[2] = {question_gaussian(), pure_of(eps0[i], 1)};
        sotto_answer a;
        double p = 1 / (1 + exp(-eps0[i])), mu = q[0].of.gaussian.clip / q[0].of.gaussian.sigma;

        mu *= sqrt((double)q[0].of.gaussian.releases);
        q[0].delta = 1e-5;
        CHECK_OK(t, sotto_privacy_compose(&a, q, 2, &t->err));
        double above =
            p * normal_delta(a.high - eps0[i], mu) + (1 - p) * normal_delta(a.high + eps0[i], mu);
        double below =
            p * normal_delta(a.low - eps0[i], mu) + (1 - p) * normal_delta(a.low + eps0[i], mu);

        CHECK(t, above <= 1e-5 * (1 + 1e-9) && below >= 1e-5 * (1 - 1e-9));
        CHECK(t, a.optimal && a.high - a.low < 1e-4 * a.high);
    }
}

/* What a sum may not be below, and what it must not exceed. */
static void mixtures_cost_more_than_a_part_and_less_than_the_sum(sotto_test *t)
{
    sotto_question parts[] = {question_sampled(), pure_of(0.05, 30), question_gaussian(),
                              pure_of(0.01, 400)};

    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++) {
            sotto_question q[2] = {parts[i], parts[k]};
            sotto_answer both, first, one, other;

            q[0].delta = q[1].delta = 1e-8;
            CHECK_OK(t, sotto_privacy_compose(&both, q, 2, &t->err));
            CHECK_OK(t, sotto_privacy_epsilon(&first, &q[0], NULL, &t->err));
            CHECK(t, both.high >= first.low);
            q[0].delta = q[1].delta = 0.5e-8;
            CHECK_OK(t, sotto_privacy_epsilon(&one, &q[0], NULL, &t->err));
            CHECK_OK(t, sotto_privacy_epsilon(&other, &q[1], NULL, &t->err));
            CHECK(t, both.high <= (one.high + other.high) * (1 + 1e-9));
        }
}

/* Renyi's sum: of a sampled Gaussian and pure releases it must be far below what adding up gives. */
static void many_kinds_gain_from_composition(sotto_test *t)
{
    sotto_question q[6] = {question_sampled(), pure_of(0.02, 50),  question_gaussian(),
                           pure_of(0.1, 10),   question_sampled(), question_gaussian()};
    sotto_answer a;
    double sum = 0;

    q[2].of.gaussian.sigma = q[5].of.gaussian.sigma = 20;
    q[0].delta = 1e-6;
    CHECK_OK(t, sotto_privacy_compose(&a, q, 6, &t->err));
    for (size_t i = 0; i < 6; i++) {
        sotto_answer one;

        q[i].delta = 1e-6 / 6;
        CHECK_OK(t, sotto_privacy_epsilon(&one, &q[i], NULL, &t->err));
        sum += one.high;
    }
    CHECK(t, a.high < 0.75 * sum);
}

static void a_part_that_cannot_be_asked_is_named(sotto_test *t)
{
    sotto_question q[2] = {question_gaussian(), pure_of(0, 1)};
    sotto_answer a;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_compose(&a, q, 2, &t->err));
    CHECK_REASON(t, "epsilon");
}

static void other_mechanisms_add_up(sotto_test *t)
{
    sotto_question q[2] = {question_local(SOTTO_MECHANISM_SHUFFLED),
                           question_local(SOTTO_MECHANISM_SYMMETRIC_ONE_HOT)};
    sotto_answer a, first, second;

    CHECK_OK(t, sotto_privacy_compose(&a, q, 2, &t->err));
    q[0].delta = q[1].delta = 5e-11;
    CHECK_OK(t, sotto_privacy_epsilon(&first, &q[0], NULL, &t->err));
    CHECK_OK(t, sotto_privacy_epsilon(&second, &q[1], NULL, &t->err));
    CHECK_NEAR(t, first.high + second.high, a.high, 1e-9);
    CHECK(t, !a.optimal);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(mixed_claims_have_no_composition),
        CASE(gaussians_compose_optimally),
        CASE(pure_releases_compose_optimally),
        CASE(a_pure_release_and_a_gaussian_compose_optimally),
        CASE(mixtures_cost_more_than_a_part_and_less_than_the_sum),
        CASE(many_kinds_gain_from_composition),
        CASE(a_part_that_cannot_be_asked_is_named),
        CASE(other_mechanisms_add_up),
    };
    return RUN_TESTS(argc, argv, cases);
}
