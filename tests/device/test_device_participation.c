/* Who answers, and when: consent, eligibility, secret draws and dummies. */
#include "support/devices.h"

#include <string.h>

static sotto_test_phone phone;

static void offer(sotto_test *t, sotto_bytes recipe)
{
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
}

/* Drawn for by all, and answered by next to none. */
/* Answered once in 2 million draws, so that a phone in files, whose draws are real, may be expected not to. */
static sotto_bytes rare_recipe(sotto_test *t, const char *dummies)
{
    sotto_bytes text = sotto_test_sure_recipe(t, "50001", "\"rate\": 1", "\"rate\": 0.0000005");

    text = sotto_test_replace(t, (const char *)text.data, "\"population\": 1000000",
                              "\"population\": 100000000000");
    return sotto_test_replace(t, (const char *)text.data, "\"on_no_match\"", dummies);
}

/* ---- consent ---------------------------------------------------------------------------------------------- */

static void nothing_happens_before_the_person_said_yes(sotto_test *t)
{
    bool given;

    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consented(phone.device, &given, &t->err));
    CHECK(t, !given);
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 0, phone.sends);
    CHECK_EQUAL(t, 0, sotto_test_lines(&phone, NULL, SOTTO_RECORD_DECIDED));
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_NO_CONSENT);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
}

static void a_no_erases_what_waits_and_stays_after_a_restart(sotto_test *t)
{
    bool given;

    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consented(phone.device, &given, &t->err));
    CHECK(t, given);
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    phone.answer = SOTTO_DELIVERY_LATER;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    CHECK_OK(t, sotto_device_consent(phone.device, false, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, "50001", SOTTO_RECORD_GIVEN_UP));
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone)); /* nobody can prove that it did not arrive */
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consented(phone.device, &given, &t->err));
    CHECK(t, !given);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, phone.sends);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made); /* nor does a later yes answer again */
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_GIVEN_UP);
    CHECK_EQUAL(t, 2, sotto_test_lines(&phone, NULL, SOTTO_RECORD_CONSENTED));
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_WITHDRAWN));
    sotto_test_phone_close(&phone);
}

static sotto_status count_row(void *context, const sotto_value *values, size_t count,
                              sotto_err *err)
{
    (void)values, (void)count, (void)err;
    ++*(uint64_t *)context;
    return SOTTO_OK;
}

static uint64_t events_kept(sotto_test *t)
{
    uint64_t rows = 0;

    CHECK_OK(t,
             sotto_device_events(phone.device, "keyboard_ngrams", 100, count_row, &rows, &t->err));
    return rows;
}

/* How long events are kept was said to everybody; that somebody takes part in nothing makes it no longer. */
static void a_tick_without_consent_only_erases_what_is_too_old(sotto_test *t)
{
    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, events_kept(t));
    phone.now += INT64_C(100) * 365 * 86400;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 0, events_kept(t));
    phone.now = SOTTO_TEST_OPENS + 3600;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 0, phone.sends);
    CHECK(t, sotto_test_why(&phone, "50001") ==
                 SOTTO_WHY_NO_CONSENT); /* it is known, and that is all */
    for (int kind = SOTTO_RECORD_SEEN + 1; kind <= SOTTO_RECORD_FORGOTTEN; kind++)
        CHECK_EQUAL(t, 0, sotto_test_lines(&phone, NULL, (sotto_record_kind)kind));
    sotto_test_phone_close(&phone);
}

static sotto_status check_time(void *context, const sotto_record_line *line, sotto_err *err)
{
    (void)err;
    CHECK(context, line->at >= 0 && line->at <= INT64_C(253402300799));
    return SOTTO_OK;
}

/* Nothing that is computed with them may pass the end of the numbers, and nothing leaves for it. */
static void a_clock_that_is_far_off_does_no_harm(sotto_test *t)
{
    static const int64_t times[] = {INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX};

    for (size_t i = 0; i < 6; i++) {
        sotto_test_phone_start(t, &phone, sotto_test_generous_policy);
        CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
        offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
        for (size_t j = 0; j < 6; j++) {
            phone.now = times[(i + j) % 6];
            CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
            (void)sotto_test_why(&phone, "50001");
            CHECK_OK(t, sotto_device_retain(phone.device, &t->err));
            CHECK_OK(t, sotto_device_consent(phone.device, j % 2 != 0, &t->err));
        }
        CHECK_OK(t, sotto_device_record(phone.device, NULL, 0, check_time, t, &t->err));
        CHECK_EQUAL(t, 0, phone.sends);
        sotto_test_phone_close(&phone);
    }
}

static void nothing_happens_at_a_bad_time(sotto_test *t)
{
    static const sotto_conditions bad[] = {
        {false, true, true}, {true, false, true}, {true, true, false}};

    sotto_test_phone_start(t, &phone, NULL);
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(t, sotto_device_tick(phone.device, NULL, bad[i], &t->err));
        CHECK_EQUAL(t, 0, phone.sends);
        CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_NOT_ELIGIBLE);
    }
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
}

/* A settings page is another process than the service that ticks. */
static void a_bad_time_is_told_after_a_restart(sotto_test *t)
{
    const sotto_conditions offline = {true, true, false}, good = {true, true, true};

    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    phone.now = SOTTO_TEST_OPENS;
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_READY);
    CHECK_OK(t, sotto_device_tick(phone.device, NULL, offline, &t->err));
    sotto_test_phone_open(&phone);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_NOT_ELIGIBLE);
    phone.now = SOTTO_TEST_OPENS - 1; /* nothing to answer yet, but a good time */
    CHECK_OK(t, sotto_device_tick(phone.device, NULL, good, &t->err));
    sotto_test_phone_open(&phone);
    phone.now = SOTTO_TEST_OPENS;
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_READY);
    sotto_test_phone_close(&phone);
}

static void a_recipe_is_answered_within_its_window(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, NULL);
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    phone.now = SOTTO_TEST_OPENS - 1;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_NOT_OPEN_YET);
    phone.now = SOTTO_TEST_CLOSES;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_CLOSED);
    CHECK_STATUS(
        t, SOTTO_STALE,
        sotto_device_offer(phone.device, sotto_test_sure_recipe(t, "50002", NULL, NULL), &t->err));
    phone.now = SOTTO_TEST_CLOSES + 8 * 86400;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made); /* the recipe is gone, and why still tells */
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_CLOSED);
    CHECK_EQUAL(t, 0, phone.sends);
    sotto_test_phone_close(&phone);
}

/* ---- draws ------------------------------------------------------------------------------------------------ */

static void a_device_that_is_not_sampled_makes_no_call(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, NULL);
    offer(t, rare_recipe(t, "\"on_no_match\""));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 0, phone.sends);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_NOT_SAMPLED);
    CHECK_EQUAL(t, 0, sotto_test_charged(&phone));
    sotto_test_phone_close(&phone);
}

/* Long after the recipe is gone the person may ask. */
static void why_is_told_after_the_recipe_is_gone(sotto_test *t)
{
    for (int sampled = 0; sampled < 2; sampled++) {
        sotto_why why = sampled ? SOTTO_WHY_ANSWERED : SOTTO_WHY_NOT_SAMPLED;

        sotto_test_phone_start(t, &phone, NULL);
        offer(t, sampled ? sotto_test_sure_recipe(t, "50001", NULL, NULL)
                         : rare_recipe(t, "\"on_no_match\""));
        CHECK_EQUAL(t, sampled, sotto_test_tick(&phone).made);
        CHECK(t, sotto_test_why(&phone, "50001") == why);
        phone.now = SOTTO_TEST_CLOSES + 8 * 86400;
        CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
        CHECK(t, sotto_test_why(&phone, "50001") == why);
        sotto_test_phone_close(&phone);
    }
}

static void a_draw_outlives_restarts_policies_and_versions(sotto_test *t)
{
    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    offer(t, rare_recipe(t, "\"on_no_match\""));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    phone.options.policy = sotto_test_policy_text(t, "\"version\": 1", "\"version\": 2");
    sotto_test_phone_open(&phone);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    offer(t, sotto_test_sure_recipe(t, "50001", "\"version\": 1", "\"version\": 2"));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made); /* whatever chance it has now */
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_NOT_SAMPLED);
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_DECIDED));
    sotto_test_phone_close(&phone);
}

static void check_a_quarter_sends(sotto_test *t, sotto_bytes text)
{
    uint64_t made = 0;

    for (int i = 0; i < 160; i++) {
        sotto_test_phone_start(t, &phone, NULL);
        offer(t, text);
        made += sotto_test_tick(&phone).made;
        sotto_test_phone_close(&phone);
    }
    CHECK_NEAR(t, 40, (double)made, 28); /* five standard deviations */
}

static void as_many_take_part_as_the_rate_says(sotto_test *t)
{
    check_a_quarter_sends(t, sotto_test_sure_recipe(t, "50001", "\"rate\": 1", "\"rate\": 0.25"));
}

static void poisson_draws_for_each_recipe(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, sotto_test_generous_policy);
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    offer(t, sotto_test_sure_recipe(t, "50002", NULL, NULL));
    CHECK_EQUAL(t, 2, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 2, sotto_test_lines(&phone, NULL, SOTTO_RECORD_DECIDED));
    sotto_test_phone_close(&phone);
}

static void importance_sampling_is_refused(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, sotto_test_generous_policy);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_device_offer(
                     phone.device,
                     sotto_test_sure_recipe(t, "50001", "{\"type\": \"poisson\", \"rate\": 1}",
                                            "{\"type\": \"importance\", \"rate_default\": 0.1, "
                                            "\"rate_other\": 0.12}"),
                     &t->err));
    CHECK_REASON(t, "depend on its value");
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_POLICY);
    sotto_test_phone_close(&phone);
}

/* ---- dummies ---------------------------------------------------------------------------------------------- */

typedef struct bits {
    sotto_record_kind kind;
    uint64_t set;
} bits;

static sotto_status count_bits(void *context, const sotto_record_line *line, sotto_err *err)
{
    bits *b = context;

    (void)err;
    for (size_t i = 0; line->kind == b->kind && i < 8 * line->randomised.len; i++)
        b->set += line->randomised.data[i / 8] >> i % 8 & 1;
    return SOTTO_OK;
}

static void a_dummy_reads_nothing_costs_nothing_and_looks_like_a_report(sotto_test *t)
{
    const sotto_bytes text = rare_recipe(t, "\"dummies\": 1, \"on_no_match\"");
    bits drawn = {.kind = SOTTO_RECORD_DUMMY};
    sotto_test_report report;
    sotto_uint128 sum[512];
    sotto_task task;

    sotto_test_phone_start(t, &phone, NULL);
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
    offer(t, text);
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, phone.sends);
    CHECK_EQUAL(t, 0, sotto_test_charged(&phone));
    CHECK_EQUAL(t, 0, sotto_test_lines(&phone, NULL, SOTTO_RECORD_SPENT));
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_DUMMY));
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_NOT_SAMPLED);
    CHECK_STATUS(t, SOTTO_OK,
                 sotto_test_receive(t, &report, &task, &phone.uploaded[0], text, 0, 1));
    CHECK_EQUAL(t, task.report_bytes, phone.uploaded[0].body.len);
    sotto_test_add_up(t, sum, &task, &report, 1); /* and its proof holds */
    CHECK_OK(t, sotto_device_record(phone.device, NULL, 0, count_bits, &drawn, &t->err));
    /* Never plain zeros: each bin with the chance of those who don't have it, six deviations around. */
    CHECK_NEAR(t, task.q * (double)task.bins, (double)drawn.set, 32);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
}

/* Drawn while there was nobody to send one to; then comes a version without dummies. */
static void as_many_dummies_are_sent_as_their_rate_says(sotto_test *t)
{
    check_a_quarter_sends(t, rare_recipe(t, "\"dummies\": 0.25, \"on_no_match\""));
}

static void a_dummy_is_not_sent_for_a_version_that_has_none(sotto_test *t)
{
    sotto_bytes second = rare_recipe(t, "\"on_no_match\"");

    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_in_files(&phone);
    const sotto_bytes parties = phone.options.parties;
    phone.options.parties =
        sotto_test_replace(t, (const char *)parties.data, "key:helper-2026a", "key:helper-2027z");
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    offer(t, rare_recipe(t, "\"dummies\": 1, \"on_no_match\""));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_PARTIES);
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, "50001", SOTTO_RECORD_DECIDED));
    phone.options.parties = parties;
    sotto_test_phone_open(&phone);
    second = sotto_test_replace(t, (const char *)second.data, "\"version\": 1", "\"version\": 2");
    offer(t, second);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 0, phone.sends);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_NOT_SAMPLED);
    second = rare_recipe(t, "\"dummies\": 1, \"on_no_match\"");
    offer(t, sotto_test_replace(t, (const char *)second.data, "\"version\": 1", "\"version\": 3"));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made); /* the draw stands, where there are some */
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_DECIDED));
    CHECK_EQUAL(t, 0, sotto_test_charged(&phone));
    sotto_test_phone_close(&phone);
}

/* ---- where and what --------------------------------------------------------------------------------------- */

static void a_value_that_is_not_listed_means_no_report(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, NULL);
    CHECK_OK(t, sotto_device_describe(phone.device, "locale", "de_DE", &t->err));
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_COHORT_VALUE);
    CHECK_OK(t, sotto_device_describe(phone.device, "locale", NULL, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 0, phone.sends);
    CHECK_EQUAL(t, 0, sotto_test_lines(&phone, NULL, SOTTO_RECORD_DECIDED));
    sotto_test_phone_close(&phone);
}

static void a_recipe_for_others_is_not_answered(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, sotto_test_generous_policy);
    offer(t, sotto_test_sure_recipe(t, "50001", "\"cohorts\": {\"locale\": [\"en_US\", \"en_GB\"]}",
                                    "\"targeting\": {\"locale\": [\"en_GB\"]}"));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_NOT_TARGETED);
    CHECK_OK(t, sotto_device_describe(phone.device, "locale", "en_GB", &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
}

static void a_recipe_has_one_text_a_version_and_versions_ascend(sotto_test *t)
{
    const sotto_bytes first = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    const sotto_bytes second =
        sotto_test_sure_recipe(t, "50001", "\"version\": 1", "\"version\": 2");

    sotto_test_phone_start(t, &phone, NULL);
    offer(t, first);
    offer(t, first);
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, "50001", SOTTO_RECORD_SEEN));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_device_offer(phone.device,
                                    sotto_test_sure_recipe(t, "50001", "40000", "40001"), &t->err));
    offer(t, second);
    CHECK_STATUS(t, SOTTO_STALE, sotto_device_offer(phone.device, first, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
}

static void randomness_that_can_be_repeated_stays_in_memory(sotto_test *t)
{
    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_in_files(&phone);
    phone.options.simulation = &phone.simulation;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_device_open(&phone.device, &phone.options, &t->err));
    CHECK(t, phone.device == NULL);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(nothing_happens_before_the_person_said_yes),
        CASE(a_no_erases_what_waits_and_stays_after_a_restart),
        CASE(a_tick_without_consent_only_erases_what_is_too_old),
        CASE(a_clock_that_is_far_off_does_no_harm),
        CASE(nothing_happens_at_a_bad_time),
        CASE(a_bad_time_is_told_after_a_restart),
        CASE(a_recipe_is_answered_within_its_window),
        CASE(a_device_that_is_not_sampled_makes_no_call),
        CASE(why_is_told_after_the_recipe_is_gone),
        CASE(a_draw_outlives_restarts_policies_and_versions),
        CASE(as_many_take_part_as_the_rate_says),
        CASE(poisson_draws_for_each_recipe),
        CASE(importance_sampling_is_refused),
        CASE(a_dummy_reads_nothing_costs_nothing_and_looks_like_a_report),
        CASE(as_many_dummies_are_sent_as_their_rate_says),
        CASE(a_dummy_is_not_sent_for_a_version_that_has_none),
        CASE(a_value_that_is_not_listed_means_no_report),
        CASE(a_recipe_for_others_is_not_answered),
        CASE(a_recipe_has_one_text_a_version_and_versions_ascend),
        CASE(randomness_that_can_be_repeated_stays_in_memory),
    };
    return RUN_TESTS(argc, argv, cases);
}
