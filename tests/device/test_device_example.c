/* The keyboard example from donated events to an answer: three words by age, two servers, Table 1. */
#include "support/devices.h"

#include <string.h>

enum { PHONES = 150 };

static sotto_test_report received[PHONES];

/* Everybody of 35 types "i went home"; the answer shows it, and nobody's report does. */
static void events_of_many_become_an_answer(sotto_test *t)
{
    static sotto_test_phone phone;
    const sotto_bytes text = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);
    static sotto_uint128 sum[512];
    uint64_t wanted, most = 0;
    sotto_task task;

    for (size_t i = 0; i < PHONES; i++) {
        sotto_test_phone_start(t, &phone, NULL);
        CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
        CHECK_OK(t, sotto_device_offer(phone.device, text, &t->err));
        CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
        CHECK_EQUAL(t, 1, phone.uploads);
        CHECK(t, strcmp(phone.uploaded[0].url, "https://leader.example.com/") == 0);
        CHECK_STATUS(t, SOTTO_OK,
                     sotto_test_receive(t, &received[i], &task, &phone.uploaded[0], text, 0, 1));
        CHECK(t, memcmp(task.id, phone.uploaded[0].task, sizeof task.id) == 0);
        CHECK_EQUAL(t, task.report_bytes, phone.uploaded[0].body.len);
        CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_ANSWERED);
        sotto_test_phone_close(&phone);
    }
    CHECK(t, task.sizes.outputs <= 512);
    sotto_test_add_up(t, sum, &task, received, PHONES);
    CHECK_OK(
        t, sotto_recipe_bin(recipe, &wanted, sotto_bytes_of("[30,40) | i went home", 21), &t->err));
    for (uint64_t bin = 0; bin < task.bins; bin++)
        most = sum[bin].low > sum[most].low ? bin : most;
    CHECK_EQUAL(t, wanted, most);
    /* Half of those who have it say so, and one in 1 + e^2 of those who don't. */
    CHECK_NEAR(t, task.p * PHONES, (double)sum[wanted].low, 35);
    CHECK_NEAR(t, task.q * PHONES, (double)sum[wanted + 1].low, 25);
}

static void each_cohort_has_its_own_task(sotto_test *t)
{
    static sotto_test_phone phone;
    const sotto_bytes text = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    sotto_test_report report;
    sotto_task task;

    sotto_test_phone_start(t, &phone, NULL);
    CHECK_OK(t, sotto_device_describe(phone.device, "locale", "en_GB", &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, text, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_STATUS(t, SOTTO_OK,
                 sotto_test_receive(t, &report, &task, &phone.uploaded[0], text, 1, 1));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_test_receive(t, &report, &task, &phone.uploaded[0], text, 0, 1));
    sotto_test_phone_close(&phone);
}

/* The task's configuration, and B with it, is in every seal. */
static void a_share_opens_for_the_task_it_was_made_for_alone(sotto_test *t)
{
    static sotto_test_phone phone;
    const sotto_bytes text = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    const sotto_bytes other = sotto_test_sure_recipe(t, "50001", "40000", "40001");
    sotto_test_report report;
    sotto_task task;

    sotto_test_phone_start(t, &phone, NULL);
    CHECK_OK(t, sotto_device_offer(phone.device, text, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_STATUS(t, SOTTO_OK,
                 sotto_test_receive(t, &report, &task, &phone.uploaded[0], text, 0, 1));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_test_receive(t, &report, &task, &phone.uploaded[0], other, 0, 1));
    sotto_test_phone_close(&phone);
}

/* ---- Table 1 ---------------------------------------------------------------------------------------------- */

/* Besides its id a report says in clear when it was made, in the recipe's hours, and that nothing else is said. */
static void a_report_tells_the_hour_and_nothing_more(sotto_test *t)
{
    static sotto_test_phone phone;

    sotto_test_phone_start(t, &phone, NULL);
    phone.now += 1234;
    CHECK_OK(t, sotto_device_offer(phone.device, sotto_test_sure_recipe(t, "50001", NULL, NULL),
                                   &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    sotto_reader in = sotto_reader_over(phone.uploaded[0].body);
    (void)sotto_read_bytes(&in, SOTTO_REPORT_ID_SIZE);
    CHECK_EQUAL(t, phone.now / 3600, sotto_read_uint(&in, 8));
    CHECK_EQUAL(t, 0, sotto_read_uint(&in, 2)); /* bytes of extensions */
    sotto_test_phone_close(&phone);
}

static void table_1_as_printed_refuses_the_second_recipe_by_check_1(sotto_test *t)
{
    static sotto_test_phone phone;
    sotto_explanation why;

    sotto_test_phone_start(t, &phone, NULL);
    CHECK_OK(t, sotto_device_offer(phone.device, sotto_test_sure_recipe(t, "50001", NULL, NULL),
                                   &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, sotto_test_sure_recipe(t, "50002", NULL, NULL),
                                   &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_OK(t, sotto_device_why(phone.device, &why, "50002", &t->err));
    CHECK(t, why.why == SOTTO_WHY_BUDGET && why.check == 1);
    CHECK(t, strcmp(why.subject, "com.example.keyboard-ngrams") == 0);
    CHECK(t, strstr(why.sentence, "1") != NULL);
    CHECK_EQUAL(t, 1, phone.uploads);
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, "50002", SOTTO_RECORD_SILENT));
    CHECK_EQUAL(t, 0,
                sotto_test_tick(&phone).made); /* nor later, and the reason stands there once */
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, "50002", SOTTO_RECORD_SILENT));
    sotto_test_phone_close(&phone);
}

/* Table 1 with room for three reports, in all but the epsilon of age. */
static const char *three_reports(sotto_test *t)
{
    const char *text = sotto_policy_example();

    for (int i = 0; i < 4; i++) {
        sotto_bytes next = sotto_test_replace(t, text, "\"reports\": 1", "\"reports\": 3");

        next = sotto_test_replace(t, (const char *)next.data, "1e-6", "3e-6");
        text = (const char *)next.data;
    }
    return (const char *)sotto_test_replace(t, text, "\"epsilon\": 0.5", "\"epsilon\": 0.9").data;
}

static void with_three_reports_check_2_refuses_on_age(sotto_test *t)
{
    static sotto_test_phone phone;
    sotto_explanation why;

    sotto_test_phone_start(t, &phone, three_reports(t));
    CHECK_OK(t, sotto_device_offer(phone.device, sotto_test_sure_recipe(t, "50001", NULL, NULL),
                                   &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, sotto_test_sure_recipe(t, "50002", NULL, NULL),
                                   &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_OK(t, sotto_device_why(phone.device, &why, "50002", &t->err));
    CHECK(t, why.why == SOTTO_WHY_BUDGET && why.check == 2);
    CHECK(t, strcmp(why.subject, "keyboard_ngrams.age") == 0);
    sotto_test_phone_close(&phone);
}

static void a_cohort_too_small_is_refused_by_check_3_which_says_what_would_do(sotto_test *t)
{
    static sotto_test_phone phone;
    sotto_explanation why;

    sotto_test_phone_start(
        t, &phone,
        (const char *)sotto_test_policy_text(t, "\"min_cohort\": 20000", "\"min_cohort\": 100")
            .data);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_device_offer(phone.device,
                                    sotto_test_sure_recipe(t, "50001", "40000", "3000"), &t->err));
    CHECK_REASON(t, "min_cohort of ");
    CHECK_OK(t, sotto_device_why(phone.device, &why, "50001", &t->err));
    CHECK(t, why.why == SOTTO_WHY_BUDGET && why.check == 3);
    CHECK(t, strstr(why.sentence, "would do") != NULL);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
}

/* A host may bring a sotto_err that it never zeroed, or use one again: it speaks of the last call alone. */
static void an_error_speaks_of_the_last_call_alone(sotto_test *t)
{
    static sotto_test_phone phone;
    sotto_err err;

    sotto_test_phone_start(t, &phone, NULL);
    memset(&err, 'A', sizeof err);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_device_offer(phone.device, sotto_bytes_of("{", 1), &err));
    CHECK(t, err.status == SOTTO_MALFORMED && !strstr(err.reason, "AAAA"));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_device_forget(phone.device, "nowhere", &err));
    CHECK(t, err.status == SOTTO_MISSING && strstr(err.reason, "nowhere"));
    CHECK_OK(t, sotto_device_consent(phone.device, true, &err));
    CHECK(t, err.status == SOTTO_OK && err.reason[0] == 0);
    sotto_test_phone_close(&phone);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(events_of_many_become_an_answer),
        CASE(each_cohort_has_its_own_task),
        CASE(a_share_opens_for_the_task_it_was_made_for_alone),
        CASE(a_report_tells_the_hour_and_nothing_more),
        CASE(table_1_as_printed_refuses_the_second_recipe_by_check_1),
        CASE(with_three_reports_check_2_refuses_on_age),
        CASE(an_error_speaks_of_the_last_call_alone),
        CASE(a_cohort_too_small_is_refused_by_check_3_which_says_what_would_do),
    };
    return RUN_TESTS(argc, argv, cases);
}
