/* Inverse questions: the value found keeps its promise and is the least that does. */
#include "account/cohort.h"
#include "question_support.h"
#include "support/test.h"

#include <math.h>

/* The value keeps the promise, and one a little better would not be certified. */
static void check_plan(sotto_test *t, sotto_question q, sotto_unknown unknown, double epsilon)
{
    sotto_plan plan;

    CHECK_OK(t, sotto_privacy_plan(&plan, &q, unknown, epsilon, NULL, &t->err));
    CHECK(t, plan.answer.high <= epsilon);
    CHECK(t, plan.answer.high > 0.99 * epsilon || unknown == SOTTO_FIND_ROUNDS);
    CHECK(t, fabs(plan.limit - plan.value) <= fmax(1, 1e-8 * plan.value));
}

static void plans_keep_their_promise(sotto_test *t)
{
    check_plan(t, question_gaussian(), SOTTO_FIND_SIGMA, 1);
    check_plan(t, question_gaussian(), SOTTO_FIND_ROUNDS, 10);
    check_plan(t, question_sampled(), SOTTO_FIND_SIGMA, 1);
    check_plan(t, question_sampled(), SOTTO_FIND_RATE, 2);
    check_plan(t, question_sampled(), SOTTO_FIND_ROUNDS, 1);
    check_plan(t, question_local(SOTTO_MECHANISM_SHUFFLED), SOTTO_FIND_COHORT, 0.3);
    check_plan(t, question_local(SOTTO_MECHANISM_SHUFFLED), SOTTO_FIND_LOCAL_EPSILON, 0.3);
    check_plan(t, question_local(SOTTO_MECHANISM_SYMMETRIC_ONE_HOT), SOTTO_FIND_COHORT, 0.5);
    check_plan(t, question_pure(), SOTTO_FIND_LOCAL_EPSILON, 1);
}

static void the_least_noise_is_the_known_one(sotto_test *t)
{
    sotto_question q = question_gaussian();
    sotto_plan plan;

    CHECK_OK(t, sotto_privacy_plan(&plan, &q, SOTTO_FIND_SIGMA, 1, NULL, &t->err));
    CHECK_NEAR(t, 5.10030878753, plan.value, 1e-7);
}

static void plans_of_samples_are_the_known_ones(sotto_test *t)
{
    sotto_question q = question_sampled();
    sotto_plan plan;

    q.delta = 1e-6;
    q.of.sampled.rate = 0.01;
    q.of.sampled.rounds = 10000;
    CHECK_OK(t, sotto_privacy_plan(&plan, &q, SOTTO_FIND_SIGMA, 2, NULL, &t->err));
    CHECK_NEAR(t, 2.3556175, plan.value, 1e-5);
    CHECK(t, plan.limit < plan.value && plan.limit > plan.value * (1 - 1e-6));
    q.of.sampled.sigma = 1;
    CHECK_OK(t, sotto_privacy_plan(&plan, &q, SOTTO_FIND_RATE, 0.555139667933, NULL, &t->err));
    CHECK(t, plan.value <= 1e-3 * (1 + 1e-9) && plan.value > 1e-3 * (1 - 1e-6));
    q.of.sampled.rate = 1e-3;
    CHECK_OK(t, sotto_privacy_plan(&plan, &q, SOTTO_FIND_ROUNDS, 0.55514, NULL, &t->err));
    CHECK(t, plan.value == 10000);
    q.delta = 1e-12;
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_privacy_plan(&plan, &q, SOTTO_FIND_ROUNDS, 1e-9, NULL, &t->err));
}

static sotto_status shuffled_holds(void *context, uint64_t honest, bool *holds, sotto_err *err)
{
    sotto_question q = *(const sotto_question *)context;
    sotto_answer answer;

    q.dishonest = (sotto_share){0, 1};
    q.of.local.cohort = honest;
    SOTTO_TRY(sotto_privacy_epsilon(&answer, &q, NULL, err));
    *holds = answer.high <= 0.3;
    return SOTTO_OK;
}

/* What a refusal names is what a plan finds. */
static void the_smallest_cohort_is_the_planned_one(sotto_test *t)
{
    sotto_question q = question_local(SOTTO_MECHANISM_SHUFFLED);
    uint64_t cohort = 0;
    sotto_plan plan;

    q.dishonest = (sotto_share){1, 2};
    CHECK_OK(t, sotto_privacy_plan(&plan, &q, SOTTO_FIND_COHORT, 0.3, NULL, &t->err));
    CHECK_OK(t, sotto_smallest_cohort(&cohort, (sotto_decimal){500000000000}, shuffled_holds, &q,
                                      &t->err));
    CHECK_EQUAL(t, (uint64_t)plan.value, cohort);
}

static sotto_question question_allocated(uint64_t slots, double delta)
{
    sotto_question q =
        question_claim(SOTTO_MECHANISM_ALLOCATED_GAUSSIAN, SOTTO_ADJACENCY_ADD_REMOVE);

    q.delta = delta;
    q.of.allocated.contribution = SOTTO_CLIPPED_VECTOR;
    q.of.allocated.clip = 2.5;
    q.of.allocated.slots = slots;
    return q;
}

/* A single slot, few, lines at ease and at their end, the grid, and from lines to the grid; what steers the search promises nothing. */
static void the_noise_of_an_allocation_is_certified_from_both_sides(sotto_test *t)
{
    static const struct {
        uint64_t slots;
        double delta, epsilon;
    } at[] = {{1, 1e-6, 1},
              {2, 1e-5, 0.7},
              {5, 5e-9, 0.7},
              {6, 6e-13, 0.77},
              {100, 1e-6, 0.858},
              {1000, 1e-9, 0.2},
              {97416, 1.4e-7, 2},
              {505, 1.5e-12, 3.7},
              {766965, 8e-13, 2.1},
              {1000000, 1e-8, 0.1},
              {30583, 6.83039553e-06, 2.55873394},
              {448299, 4.49073522e-14, 1.08540675},
              {2637, 8.15909928e-06, 3.16764402}};

    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        sotto_question q = question_allocated(at[i].slots, at[i].delta);
        sotto_answer answer;
        sotto_plan plan;

        CHECK_OK(t, sotto_privacy_plan(&plan, &q, SOTTO_FIND_SIGMA, at[i].epsilon, NULL, &t->err));
        CHECK(t, plan.value > plan.limit && plan.value - plan.limit <= 1e-6 * plan.value);
        q.of.allocated.sigma = plan.value;
        CHECK_OK(t, sotto_privacy_epsilon(&answer, &q, NULL, &t->err));
        CHECK(t, answer.high <= at[i].epsilon && answer.high == plan.answer.high);
        q.of.allocated.sigma = plan.limit;
        CHECK_OK(t, sotto_privacy_epsilon(&answer, &q, NULL, &t->err));
        CHECK(t, answer.high > at[i].epsilon);
    }
}

static void an_allocation_that_cannot_be_planned_is_refused(sotto_test *t)
{
    sotto_question q = question_allocated(0, 1e-6);
    sotto_plan plan;

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_privacy_plan(&plan, &q, SOTTO_FIND_SIGMA, 1, NULL, &t->err));
    CHECK_REASON(t, "slots");
    q = question_allocated(10, 1e-310); /* below what is accepted */
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_privacy_plan(&plan, &q, SOTTO_FIND_SIGMA, 1, NULL, &t->err));
    CHECK_REASON(t, "delta");
    q = question_allocated(10, 1e-6);
    q.adjacency = SOTTO_ADJACENCY_REPLACEMENT;
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_privacy_plan(&plan, &q, SOTTO_FIND_SIGMA, 1, NULL, &t->err));
    CHECK_REASON(t, "adjacency");
    q = question_allocated(10, 1e-6); /* the least noise there is will do */
    CHECK_OK(t, sotto_privacy_plan(&plan, &q, SOTTO_FIND_SIGMA, 1000, NULL, &t->err));
    CHECK_NEAR(t, 0.25, plan.value, 1e-12);
    CHECK(t, plan.limit == plan.value);
}

static void a_plan_that_cannot_be_is_refused(sotto_test *t)
{
    sotto_question q = question_local(SOTTO_MECHANISM_SHUFFLED);
    sotto_plan plan;

    q.of.local.local_epsilon = 12;
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_privacy_plan(&plan, &q, SOTTO_FIND_COHORT, 1e-8, NULL, &t->err));
    CHECK_REASON(t, "cohort");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_privacy_plan(&plan, &q, SOTTO_FIND_SIGMA, 1, NULL, &t->err));
    CHECK_REASON(t, "sigma");
    q.trust = SOTTO_TRUST_AERO;
    q.participation_is_hidden = false;
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_privacy_plan(&plan, &q, SOTTO_FIND_COHORT, 1, NULL, &t->err));
    CHECK_REASON(t, "aero");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_privacy_plan(&plan, &q, SOTTO_FIND_COHORT, NAN, NULL, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(plans_keep_their_promise),
        CASE(the_least_noise_is_the_known_one),
        CASE(plans_of_samples_are_the_known_ones),
        CASE(the_smallest_cohort_is_the_planned_one),
        CASE(the_noise_of_an_allocation_is_certified_from_both_sides),
        CASE(an_allocation_that_cannot_be_planned_is_refused),
        CASE(a_plan_that_cannot_be_is_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
