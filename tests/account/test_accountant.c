#include "support/test.h"

#include "account/accountant.h"
#include "base/alloc.h"
#include "question_support.h"

#include <math.h>
#include <string.h>

/* ---- names that the caller knows --------------------------------------------------------------------- */

static void refusals_use_the_names_of_the_question(sotto_test *t)
{
    sotto_question q = question_local(SOTTO_MECHANISM_SHUFFLED);
    sotto_answer a;

    q.of.local.local_epsilon = NAN;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_REASON(t, "local_epsilon");
    q = question_pure();
    q.of.pure.rounds = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_REASON(t, "rounds");
    q = question_gaussian();
    q.of.gaussian.releases = UINT64_C(1000000000000000000);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_REASON(t, "releases");
}

/* Nobody else's randomness is counted on in a fixed window, so nobody's honesty is missed. */
static void a_window_needs_nobody_else_to_be_honest(sotto_test *t)
{
    sotto_question each[16] = {{0}}, q = {0};
    size_t n = questions_of_each(each);
    sotto_answer all, some;

    for (size_t i = 0; i < n; i++)
        if (each[i].mechanism == SOTTO_MECHANISM_CHECK_IN)
            q = each[i];
    CHECK_OK(t, sotto_privacy_epsilon(&all, &q, NULL, &t->err));
    q.dishonest = (sotto_share){3, 4};
    CHECK_OK(t, sotto_privacy_epsilon(&some, &q, NULL, &t->err));
    CHECK(t, all.high == some.high && some.honest == 0);
}

/* ---- what cannot be left out ------------------------------------------------------------------------- */

static void a_question_of_zeros_is_refused(sotto_test *t)
{
    sotto_question q = {0};
    sotto_answer a;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_REASON(t, "adjacency");
}

static void adjacency_trust_and_dishonest_have_no_default(sotto_test *t)
{
    sotto_question each[16];
    size_t n = questions_of_each(each);
    sotto_answer a;

    for (size_t i = 0; i < n; i++) {
        sotto_question q = each[i];

        q.adjacency = (sotto_adjacency)0;
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
        CHECK_REASON(t, "adjacency");
        q = each[i];
        q.trust = (sotto_trust)0;
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
        CHECK_REASON(t, "trust");
        q = each[i];
        q.dishonest = (sotto_share){0, 0};
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
        CHECK_REASON(t, "dishonest");
        q.dishonest = (sotto_share){3, 3};
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
        q = each[i];
        q.delta = 0;
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
        CHECK_REASON(t, "delta");
    }
}

static void every_mechanism_answers_with_its_grounds(sotto_test *t)
{
    sotto_question each[16];
    size_t n = questions_of_each(each);
    sotto_answer a;

    CHECK_EQUAL(t, 14, n);
    for (size_t i = 0; i < n; i++) {
        CHECK_OK(t, sotto_privacy_epsilon(&a, &each[i], NULL, &t->err));
        CHECK(t, a.low >= 0 && a.low <= a.high && isfinite(a.high));
        CHECK(t, a.theorem[0] != 0 && a.route[0] != 0);
        CHECK_EQUAL(t, each[i].adjacency, a.adjacency);
        CHECK_EQUAL(t, each[i].trust, a.trust);
    }
}

static void nonsense_is_refused_by_name(sotto_test *t)
{
    static const double nonsense[] = {-1, 0, NAN, INFINITY, -INFINITY, 5e-324, 1e308};
    sotto_answer a;

    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        sotto_question q = question_gaussian();

        q.of.gaussian.sigma = nonsense[i];
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
        CHECK_REASON(t, "sigma");
        q = question_gaussian();
        q.of.gaussian.clip = nonsense[i];
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
        q = question_sampled();
        q.of.sampled.rate = nonsense[i];
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
        CHECK_REASON(t, "rate");
        q = question_local(SOTTO_MECHANISM_SHUFFLED);
        q.of.local.local_epsilon = nonsense[i];
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    }
}

/* ---- unearned amplification --------------------------------------------------------------------------- */

static void servers_that_see_participation_get_no_amplification(sotto_test *t)
{
    static const sotto_mechanism amplified[] = {
        SOTTO_MECHANISM_SAMPLED_GAUSSIAN, SOTTO_MECHANISM_ALLOCATED_GAUSSIAN,
        SOTTO_MECHANISM_SHUFFLED,         SOTTO_MECHANISM_SYMMETRIC_ONE_HOT,
        SOTTO_MECHANISM_BINARY_RESPONSE,  SOTTO_MECHANISM_CHECK_IN,
        SOTTO_MECHANISM_DONATION};
    sotto_question each[16];
    size_t n = questions_of_each(each);
    sotto_answer a;

    for (size_t i = 0; i < n; i++) {
        bool amplifies = false;

        for (size_t j = 0; j < sizeof amplified / sizeof amplified[0]; j++)
            amplifies = amplifies || amplified[j] == each[i].mechanism;
        each[i].participation_is_hidden = false;
        for (sotto_trust trust = SOTTO_TRUST_FLAMINGO; trust <= SOTTO_TRUST_AERO; trust++) {
            each[i].trust = trust;
            CHECK_STATUS(t, amplifies ? SOTTO_DENIED : SOTTO_OK,
                         sotto_privacy_epsilon(&a, &each[i], NULL, &t->err));
        }
    }
}

static void hiding_participation_is_for_split_alone(sotto_test *t)
{
    sotto_question q = question_gaussian();
    sotto_answer a;

    q.trust = SOTTO_TRUST_AERO;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_REASON(t, "aero");
}

/* A trusted server hides participation by itself, and is worth what split trust with relay and tokens is. */
static void central_trust_hides_participation(sotto_test *t)
{
    sotto_question each[16];
    size_t n = questions_of_each(each);
    sotto_answer split, central;

    for (size_t i = 0; i < n; i++) {
        CHECK_OK(t, sotto_privacy_epsilon(&split, &each[i], NULL, &t->err));
        each[i].trust = SOTTO_TRUST_CENTRAL;
        each[i].participation_is_hidden = false;
        CHECK_OK(t, sotto_privacy_epsilon(&central, &each[i], NULL, &t->err));
        CHECK(t, central.high == split.high && central.trust == SOTTO_TRUST_CENTRAL);
    }
}

static void sampling_needs_relay_and_tokens(sotto_test *t)
{
    sotto_question q = question_sampled();
    sotto_answer a;

    q.participation_is_hidden = false;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_REASON(t, "relay and tokens");
    q.mechanism = SOTTO_MECHANISM_COUNTED_GAUSSIAN; /* what is true then */
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_NEAR(t, 9.025963872, a.high, 1e-6);

    q = question_local(SOTTO_MECHANISM_SHUFFLED);
    q.participation_is_hidden = false;
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err)); /* sums hide without a relay */
    q.of.local.rate = 0.5;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
}

static void an_adjacency_without_a_theorem_is_refused(sotto_test *t)
{
    sotto_question q = question_sampled();
    sotto_answer a;

    q.adjacency = SOTTO_ADJACENCY_REPLACEMENT;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_REASON(t, "adjacency replacement");
    q = question_local(SOTTO_MECHANISM_SHUFFLED);
    q.adjacency = SOTTO_ADJACENCY_ADD_REMOVE;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

static void example_5_is_not_eight_tenths(sotto_test *t)
{
    sotto_question q = question_sampled();
    sotto_answer a;

    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK(t, a.optimal);
    CHECK(t, a.low <= 1.02039525370 && a.high >= 1.02039525368);
    CHECK(t, a.high - a.low < 1e-7);
    CHECK_OK(t, sotto_privacy_delta(&a, &q, 0.8, NULL, &t->err));
    CHECK_NEAR(t, 2.01082398e-06, a.high, 1e-12);
}

static void replacing_moves_a_vector_further(sotto_test *t)
{
    sotto_question q = question_gaussian();
    sotto_answer once, twice, a;

    CHECK_OK(t, sotto_privacy_epsilon(&once, &q, NULL, &t->err));
    q.adjacency = SOTTO_ADJACENCY_REPLACEMENT;
    CHECK_OK(t, sotto_privacy_epsilon(&twice, &q, NULL, &t->err));
    q.of.gaussian.sigma = 10.2;
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK(t, twice.high > 2 * once.high);
    CHECK_NEAR(t, once.high, a.high, 1e-8);

    q.of.gaussian.contribution = SOTTO_ONE_HOT_VECTOR;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_REASON(t, "clip");
    q.of.gaussian.clip = 0;
    q.of.gaussian.sigma = 5.1 * sqrt(2.0);
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_NEAR(t, once.high, a.high, 1e-8);
}

static void the_dishonest_are_not_counted_on(sotto_test *t)
{
    sotto_question q = question_local(SOTTO_MECHANISM_SHUFFLED), fewer = q;
    sotto_answer a, b;

    q.of.local.cohort = 20000;
    q.dishonest = (sotto_share){1, 2};
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_EQUAL(t, 10000, a.honest);
    CHECK_OK(t, sotto_privacy_epsilon(&b, &fewer, NULL, &t->err));
    CHECK(t, a.high == b.high);
    CHECK_NEAR(t, 0.893913306316, a.high, 1e-6);
}

static void honest_people_are_counted_exactly(sotto_test *t)
{
    static const struct {
        uint64_t cohort, parts, of, honest;
    } cases[] = {
        {10, 1, 10, 9},
        {10, 3, 10, 7},
        {10, 1, 3, 6}, /* 3.33 round up to 4 */
        {1, 0, 1, 1},
        {1000000000000, 999999999999, 1000000000000, 1},
        {999999999989, 333333333333, 1000000000000, 666666666659},
        {40000, 1, 2, 20000},
    };
    uint64_t honest = 0;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_OK(t, sotto_share_honest(&honest, cases[i].cohort,
                                       (sotto_share){cases[i].parts, cases[i].of}, &t->err));
        CHECK_EQUAL(t, cases[i].honest, honest);
    }
    CHECK_STATUS(t, SOTTO_DENIED, sotto_share_honest(&honest, 1, (sotto_share){1, 2}, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_share_honest(&honest, 0, (sotto_share){0, 1}, &t->err));
}

static void amplification_never_exceeds_the_local_epsilon(sotto_test *t)
{
    sotto_question q = question_claim(SOTTO_MECHANISM_CHECK_IN, SOTTO_ADJACENCY_REPLACEMENT);
    sotto_answer a;

    q.of.check_in.variant = SOTTO_CHECK_IN_AVERAGED;
    q.of.check_in.local_epsilon = 4;
    q.of.check_in.window = 10;
    q.of.check_in.cohort = 10;
    q.of.check_in.probability = 1;
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK(t, a.high <= 4.0000001);
    q.of.check_in.variant = SOTTO_CHECK_IN_SLIDING;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_REASON(t, "cohort");
    q.of.check_in.cohort = 0;
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_EQUAL(t, 0, a.honest);
}

static void delta_and_epsilon_invert_each_other(sotto_test *t)
{
    sotto_question each[16];
    size_t n = questions_of_each(each);
    sotto_answer a, d;

    for (size_t i = 0; i < n; i++) {
        if (each[i].mechanism == SOTTO_MECHANISM_DONATION)
            continue; /* its delta is given, not chosen */
        CHECK_OK(t, sotto_privacy_epsilon(&a, &each[i], NULL, &t->err));
        CHECK_OK(t, sotto_privacy_delta(&d, &each[i], a.high, NULL, &t->err));
        CHECK(t, d.high <= each[i].delta * (1 + 1e-6));
        CHECK(t, d.high > each[i].delta * 0.99);
    }
}

/* What holds whatever the others hold can't be less than what it costs when they all agree. */
static void one_hot_claims_cover_equal_neighbours(sotto_test *t)
{
    static const double epsilons[] = {0.5, 1, 2, 4, 6};
    sotto_answer a;

    for (size_t i = 0; i < sizeof epsilons / sizeof epsilons[0]; i++) {
        for (uint64_t n = 2; n < 100000000000; n *= 7) {
            sotto_question q = question_local(SOTTO_MECHANISM_SYMMETRIC_ONE_HOT);

            q.of.local.local_epsilon = epsilons[i];
            q.of.local.cohort = n;
            CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
            q.adjacency = SOTTO_ADJACENCY_DELETION;
            CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
        }
    }
}

/* ---- warm tables --------------------------------------------------------------------------------------- */

static void an_accountant_changes_no_answer(sotto_test *t)
{
    sotto_accountant *warm = NULL;
    sotto_question q = question_sampled();
    sotto_answer cold, a;

    CHECK_OK(t, sotto_accountant_new(&warm, &t->err));
    for (int i = 0; i < 6; i++) {
        q.of.sampled.rounds = (uint64_t)(100 << i);
        q.of.sampled.rate = i < 4 ? 0.02 : 0.01;
        CHECK_OK(t, sotto_privacy_epsilon(&cold, &q, NULL, &t->err));
        CHECK_OK(t, sotto_privacy_epsilon(&a, &q, warm, &t->err));
        CHECK(t, a.high <= cold.high * (1 + 1e-6) && a.high >= cold.low * (1 - 1e-9));
        CHECK(t, a.low <= cold.high && a.low >= cold.low * (1 - 1e-6));
    }
    sotto_accountant_free(warm);
    sotto_accountant_free(NULL);
}

static void running_out_of_memory_is_not_an_answer(sotto_test *t)
{
    sotto_question q = question_sampled();
    sotto_answer a;
    sotto_status status = SOTTO_NO_MEMORY;
    long n = 0;

    for (; n < 200 && status != SOTTO_OK; n++) {
        sotto_err err = {0};

        sotto_alloc_fail_after(n);
        status = sotto_privacy_epsilon(&a, &q, NULL, &err);
        sotto_alloc_fail_after(-1);
        CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY || status == SOTTO_DENIED);
    }
    CHECK_EQUAL(t, SOTTO_OK, status);
    CHECK(t, n > 1);
    CHECK(t, a.high >= 1.02039525368); /* less memory may cost digits, never truth */
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(refusals_use_the_names_of_the_question),
        CASE(a_window_needs_nobody_else_to_be_honest),
        CASE(a_question_of_zeros_is_refused),
        CASE(adjacency_trust_and_dishonest_have_no_default),
        CASE(every_mechanism_answers_with_its_grounds),
        CASE(nonsense_is_refused_by_name),
        CASE(servers_that_see_participation_get_no_amplification),
        CASE(hiding_participation_is_for_split_alone),
        CASE(central_trust_hides_participation),
        CASE(sampling_needs_relay_and_tokens),
        CASE(an_adjacency_without_a_theorem_is_refused),
        CASE(example_5_is_not_eight_tenths),
        CASE(replacing_moves_a_vector_further),
        CASE(the_dishonest_are_not_counted_on),
        CASE(honest_people_are_counted_exactly),
        CASE(amplification_never_exceeds_the_local_epsilon),
        CASE(delta_and_epsilon_invert_each_other),
        CASE(one_hot_claims_cover_equal_neighbours),
        CASE(an_accountant_changes_no_answer),
        CASE(running_out_of_memory_is_not_an_answer),
    };
    return RUN_TESTS(argc, argv, cases);
}
