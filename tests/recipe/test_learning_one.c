/* Learning recipes that one server adds up: what lint asks of them, what they claim, and what they say. */
#include "recipe/learning_slots.h"

#include "recipe/claim.h"
#include "recipe/one_server.h"
#include "support/judged.h"
#include "support/one_learning.h"
#include "support/recipes.h"

#include <math.h>
#include <string.h>

typedef sotto_test_judged judged;

static const uint8_t model[32] = {7};

static const judged *judge(sotto_test *t, const char *old, const char *new,
                           const sotto_policy *policy)
{
    return sotto_test_judge(t, sotto_test_one_learning(t, model, old, new), policy);
}

static const sotto_policy *policy_of(sotto_test *t, const char *old, const char *new)
{
    const char *text = sotto_test_one_learning_policy;
    const sotto_bytes read =
        old ? sotto_test_replace(t, text, old, new) : sotto_bytes_of(text, strlen(text));
    static sotto_mistakes mistakes;
    const sotto_policy *policy;

    CHECK_OK(t, sotto_policy_read(&policy, read, &t->arena, &mistakes, &t->err));
    return policy;
}

static void refused(sotto_test *t, const char *old, const char *new, const char *path,
                    const char *what)
{
    const judged *j = judge(t, old, new, NULL);

    CHECK(t, j->status != SOTTO_OK);
    CHECK(t, sotto_test_has_mistake(&j->mistakes, path, what));
}

/* 0.75 of ten are seven: each device has a seventh of the variance. */
static void noise_is_shared_by_those_who_stay(sotto_test *t)
{
    const judged *j = judge(t, NULL, NULL, policy_of(t, NULL, NULL));

    CHECK_STATUS(t, SOTTO_OK, j->status);
    CHECK(t, sotto_learning_one_server(j->learning));
    CHECK_EQUAL(t, 7, j->claim.honest);
    CHECK_NEAR(t, 8 * 0.5 * 4096, j->claim.device_sigma * sqrt(7), 1);
    /* 2 clips over 8 of them: (1 / 4)^2 / 2 each, and more by the rounding to the grid. */
    CHECK(t, j->claim.rho >= 0.03125 && j->claim.rho < 0.0345);
    CHECK(t, j->claim.epsilon > 2 && j->claim.epsilon <= 3);
    CHECK(t, j->claim.bound == 0 && j->claim.factor_needed <= 0);
    /* A tenth of twelve may be lost. */
    CHECK_NEAR(t, 10.8, j->claim.expected_reports, 1e-9);
    CHECK_NEAR(t, 10.8, sotto_learning_divisor(j->learning, 0), 1e-9);
    CHECK(t, j->claim.report_bytes > 4 * ONE_LEARNING_PARAMETERS);
}

/* Half of ten are honest where no policy says otherwise: less noise is counted on. */
static void fewer_honest_devices_cost_more(sotto_test *t)
{
    static const char old[] = "\"epsilon\": 3", new[] = "\"epsilon\": 2.4";
    const judged *stated = judge(t, old, new, policy_of(t, NULL, NULL)),
                 *half = judge(t, old, new, policy_of(t, "\"honest\": 0.75", "\"honest\": 0.5"));

    CHECK_STATUS(t, SOTTO_OK, stated->status);
    CHECK_EQUAL(t, 5, half->claim.honest);
    CHECK(t, half->claim.rho > 1.39 * stated->claim.rho);
    CHECK_STATUS(t, SOTTO_DENIED, half->status);
    CHECK(t, sotto_test_has_mistake(&half->mistakes, "privacy.epsilon", "5 honest reports"));
}

static void lint_asks_what_it_asks_of_statistics(sotto_test *t)
{
    refused(t, "\"by\": \"shares\"", "\"by\": \"servers\"", "privacy.by", "no amplification");
    refused(t, "\"honest\": 0.75", "\"honest\": 0.86", "privacy.honest", "must stay");
    refused(t, "\"corrupt\": 0.05", "\"corrupt\": 0.3", "privacy.honest", "6 are sure");
    refused(t, "\"population\": 12", "\"population\": 12, \"anonymity\": {\"log\": \"main\"}",
            "anonymity", "can't hide");
    refused(t, "\"trust\": \"flamingo\"", "\"trust\": \"central\"", "aggregation.trust",
            "not known");
}

static void a_sum_has_room_for_the_cohort(sotto_test *t)
{
    refused(t, "\"largest\": 12", "\"largest\": 11", "rounds.largest", "all of a cohort of 12");
}

static void turns_are_not_hidden_from_one_server(sotto_test *t)
{
    refused(t, "\"largest\": 12", "\"largest\": 12, \"on_no_turn\": \"zeros\"", "rounds.on_no_turn",
            "the one server sees");
}

/* A hundred thousand entries with their noise do not fit into 32 bits. They do into 64. */
static void numbers_fit_the_ring(sotto_test *t)
{
    const sotto_bytes narrow =
        sotto_test_one_learning(t, model, "\"largest\": 12", "\"largest\": 100000");
    const judged *none = sotto_test_judge(t, narrow, NULL);

    CHECK(t, none->status != SOTTO_OK);
    CHECK(t, sotto_test_has_mistake(&none->mistakes, "learn.update.scale", "half of the ring"));
    CHECK(t, isinf(none->claim.epsilon) && none->claim.report_bytes == 0);
    const judged *wide =
        sotto_test_judge(t, sotto_test_replace(t, (const char *)narrow.data, "z32", "z64"), NULL);
    CHECK_STATUS(t, SOTTO_OK, wide->status);
}

static void nothing_is_gained_by_taking_part_at_random(sotto_test *t)
{
    const judged *j = judge(t, NULL, NULL, policy_of(t, NULL, NULL));

    CHECK(t, strstr(j->claim.unsampled_why, "the one server sees who takes part") != NULL);
    CHECK(t, isinf(j->claim.sampled_epsilon));
}

static void rounds_that_would_never_be_released_are_refused(sotto_test *t)
{
    refused(t, "\"rate\": 1.0", "\"rate\": 0.5", "privacy.min_cohort", "about 5 reports");
}

static void a_policy_must_allow_it(sotto_test *t)
{
    const judged *j =
        judge(t, NULL, NULL, policy_of(t, "\"trusts\": [\"flamingo\"]", "\"trusts\": [\"split\"]"));

    CHECK_STATUS(t, SOTTO_DENIED, j->status);
    CHECK(t, sotto_test_has_mistake(&j->mistakes, "aggregation.trust", "does not allow"));
}

static void a_round_of_one_server_is_no_task(sotto_test *t)
{
    const judged *j = judge(t, NULL, NULL, NULL);
    sotto_round_record record = {.round = 0, .recipe = j->learning->head.text};
    static sotto_mistakes mistakes;
    const sotto_parties *parties;
    sotto_task task;

    memcpy(record.model, model, sizeof model);
    CHECK_OK(t, sotto_round_record_check(j->learning, &record, &t->err));
    CHECK_OK(t,
             sotto_parties_read(&parties, sotto_bytes_of("{}", 2), &t->arena, &mistakes, &t->err));
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_round_task_compile(&task, j->learning, &record, parties, &t->arena, &t->err));
    CHECK_REASON(t, "only split has DAP tasks");
}

static void it_is_explained(sotto_test *t)
{
    static const char *const words[] = {
        "One server, key:aggregator, adds up masked updates, and a committee of 12 devices",
        "The server sees who takes part",
        "a client can send anything, and its clip is a promise",
        "That counts on 7 honest devices of every 10",
        "A gain by taking part at random is not claimed",
    };
    static char memory[8192];
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    const judged *j = judge(t, NULL, NULL, policy_of(t, NULL, NULL));

    CHECK_OK(t, sotto_learning_explain(&out, j->learning, &j->claim, &t->err));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        CHECK(t, strstr(memory, words[i]) != NULL);
    CHECK(t, strstr(memory, "Both servers") == NULL);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(noise_is_shared_by_those_who_stay),
        CASE(fewer_honest_devices_cost_more),
        CASE(lint_asks_what_it_asks_of_statistics),
        CASE(a_sum_has_room_for_the_cohort),
        CASE(turns_are_not_hidden_from_one_server),
        CASE(numbers_fit_the_ring),
        CASE(nothing_is_gained_by_taking_part_at_random),
        CASE(rounds_that_would_never_be_released_are_refused),
        CASE(a_policy_must_allow_it),
        CASE(a_round_of_one_server_is_no_task),
        CASE(it_is_explained),
    };

    return RUN_TESTS(argc, argv, cases);
}
