/* Inverse questions: the value found keeps its promise and is the least that does. */
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
        CASE(a_plan_that_cannot_be_is_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
