/* What the accountant does with parameters that no theorem is for. Every one, of every mechanism, is refused by name with
 * what would be accepted. The largest that are accepted cost no more than small ones. */
#include "chaos_question.h"
#include "question_support.h"
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static bool is_averaged(const sotto_question *q)
{
    return q->mechanism == SOTTO_MECHANISM_CHECK_IN &&
           q->of.check_in.variant == SOTTO_CHECK_IN_AVERAGED;
}

/* One of each mechanism, and check-ins that count a cohort. */
static size_t complete_questions(sotto_question out[17])
{
    size_t n = questions_of_each(out);

    for (size_t i = 0; i < n; i++)
        if (out[i].mechanism == SOTTO_MECHANISM_CHECK_IN) {
            out[n] = out[i];
            out[n].of.check_in.variant = SOTTO_CHECK_IN_AVERAGED;
            out[n].of.check_in.cohort = 100000;
        }
    return n + 1;
}

/* Parameters that this question has no use for are refused for another reason. */
static bool is_used(const sotto_question *q, const chaos_parameter *p)
{
    if (p->of != q->mechanism)
        return false;
    if (strcmp(p->name, "clip") == 0)
        return chaos_get(q, p) > 0;
    return q->mechanism != SOTTO_MECHANISM_CHECK_IN || strcmp(p->name, "cohort") != 0 ||
           is_averaged(q);
}

/* Refused as malformed, by name, with the range that is accepted. */
static void check_refused(sotto_test *t, const sotto_question *q, const char *name)
{
    sotto_answer a;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, q, NULL, &t->err));
    if (strstr(t->err.reason, "accepted") == NULL)
        CHECK(t, strstr(t->err.reason, "is not in") != NULL);
    CHECK_REASON(t, name);
}

static void every_real_parameter_refuses_what_is_no_number_of_its_kind(sotto_test *t)
{
    static const double nonsense[] = {NAN, INFINITY, -INFINITY, -1, 5e-324, DBL_MAX};
    sotto_question each[17];
    size_t n = complete_questions(each);

    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < CHAOS_PARAMETERS; p++)
            for (size_t k = 0; k < sizeof nonsense / sizeof nonsense[0]; k++) {
                sotto_question q = each[i];

                if (chaos_parameters[p].count || !is_used(&q, &chaos_parameters[p]))
                    continue;
                chaos_put_real(&q, &chaos_parameters[p], nonsense[k]);
                check_refused(t, &q, chaos_parameters[p].name);
            }
}

static void every_count_refuses_none_and_more_than_any_theorem_is_for(sotto_test *t)
{
    static const uint64_t nonsense[] = {0, UINT64_C(1000000000000000000), UINT64_MAX};
    sotto_question each[17];
    size_t n = complete_questions(each);

    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < CHAOS_PARAMETERS; p++)
            for (size_t k = 0; k < sizeof nonsense / sizeof nonsense[0]; k++) {
                sotto_question q = each[i];

                if (!chaos_parameters[p].count || !is_used(&q, &chaos_parameters[p]))
                    continue;
                chaos_put_count(&q, &chaos_parameters[p], nonsense[k]);
                check_refused(t, &q, chaos_parameters[p].name);
            }
}

static void rates_are_above_zero_and_at_most_one(sotto_test *t)
{
    static const double nonsense[] = {0, -0.0, 1.0000000000000002, 2, 1e-310};
    sotto_question each[17];
    size_t n = complete_questions(each);

    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < CHAOS_PARAMETERS; p++)
            for (size_t k = 0; k < sizeof nonsense / sizeof nonsense[0]; k++) {
                sotto_question q = each[i];

                if (!is_used(&q, &chaos_parameters[p]) ||
                    (strcmp(chaos_parameters[p].name, "rate") != 0 &&
                     strcmp(chaos_parameters[p].name, "probability") != 0))
                    continue;
                chaos_put_real(&q, &chaos_parameters[p], nonsense[k]);
                check_refused(t, &q, chaos_parameters[p].name);
            }
}

static void every_delta_outside_of_its_range_is_refused(sotto_test *t)
{
    static const double nonsense[] = {NAN, INFINITY, -INFINITY, -1e-9, 0, 1, 1.5, 5e-324, 1e-310};
    sotto_question each[17];
    size_t n = complete_questions(each);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof nonsense / sizeof nonsense[0]; k++) {
            each[i].delta = nonsense[k];
            check_refused(t, &each[i], "delta");
        }
}

/* A donation's delta is (slots + 1) of its own, whatever is asked. */
static void every_mechanism_has_an_answer_down_to_the_smallest_delta(sotto_test *t)
{
    sotto_question each[17];
    size_t n = complete_questions(each);
    sotto_answer usual, least;

    for (size_t i = 0; i < n; i++) {
        if (each[i].mechanism == SOTTO_MECHANISM_DONATION)
            continue;
        CHECK_OK(t, sotto_privacy_epsilon(&usual, &each[i], NULL, &t->err));
        each[i].delta = 1e-300;
        CHECK_OK(t, sotto_privacy_epsilon(&least, &each[i], NULL, &t->err));
        CHECK(t, least.high >= usual.low);
    }
}

static void no_epsilon_but_a_finite_one_has_a_delta(sotto_test *t)
{
    static const double nonsense[] = {NAN, INFINITY, -1};
    sotto_question each[17];
    size_t n = complete_questions(each);
    sotto_answer a;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof nonsense / sizeof nonsense[0]; k++) {
            CHECK_STATUS(t, SOTTO_MALFORMED,
                         sotto_privacy_delta(&a, &each[i], nonsense[k], NULL, &t->err));
            CHECK_REASON(t, "epsilon");
        }
}

/* The largest of what draws come from, in powers of ten downwards until a theorem is for it. */
static void ask_for_the_largest(sotto_test *t, sotto_question q, const chaos_parameter *p)
{
    for (double count = 1e12; count >= 1; count /= 10) {
        sotto_answer a;
        sotto_err err = {0};

        chaos_put(&q, p, count);
        sotto_status status = sotto_privacy_epsilon(&a, &q, NULL, &err);
        CHECK(t, status == SOTTO_OK || status == SOTTO_MALFORMED || status == SOTTO_DENIED);
        if (status == SOTTO_OK)
            return;
    }
    CHECK(t, false);
}

/* No loop and no memory follows a count: a million millions of anything take no more than seconds and megabytes. */
static void the_largest_counts_cost_little(sotto_test *t)
{
    sotto_question each[17];
    size_t n = complete_questions(each);
    struct rusage before, after;

    CHECK(t, getrusage(RUSAGE_SELF, &before) == 0);
    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < CHAOS_PARAMETERS; p++) {
            if (!chaos_parameters[p].count || !is_used(&each[i], &chaos_parameters[p]))
                continue;
            clock_t start = clock();
            ask_for_the_largest(t, each[i], &chaos_parameters[p]);
            CHECK(t, (double)(clock() - start) / CLOCKS_PER_SEC < 60);
        }
    CHECK(t, getrusage(RUSAGE_SELF, &after) == 0);
    CHECK(t, after.ru_maxrss - before.ru_maxrss < 512 * 1024);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_real_parameter_refuses_what_is_no_number_of_its_kind),
        CASE(every_count_refuses_none_and_more_than_any_theorem_is_for),
        CASE(rates_are_above_zero_and_at_most_one),
        CASE(every_delta_outside_of_its_range_is_refused),
        CASE(every_mechanism_has_an_answer_down_to_the_smallest_delta),
        CASE(no_epsilon_but_a_finite_one_has_a_delta),
        CASE(the_largest_counts_cost_little),
    };

    return RUN_TESTS(argc, argv, cases);
}
