/* Which rows a query sees, which of them is answered with, and what stands in for a missing one. */
#include "support/devices.h"

#include <stdio.h>
#include <string.h>

static sotto_test_phone phone;

static void offer(sotto_test *t, sotto_bytes recipe)
{
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
}

static uint64_t bin_of(sotto_test *t, const char *label)
{
    uint64_t bin;

    CHECK_OK(t, sotto_recipe_bin(sotto_test_recipe(t, NULL, NULL), &bin,
                                 sotto_bytes_of(label, strlen(label)), &t->err));
    return bin;
}

/* Answers the recipe on a fresh phone with these phrases typed at 35, and gives what it told. */
static uint64_t tell(sotto_test *t, sotto_bytes recipe, const char *const *phrases, size_t count)
{
    sotto_test_phone_start(t, &phone, sotto_test_generous_policy);
    for (size_t i = 0; i < count; i++)
        CHECK_OK(t, sotto_test_phone_type(&phone, i + 1, 35, phrases[i]));
    offer(t, recipe);
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, phone.uploads);
    uint64_t told = sotto_test_told(t, &phone.uploaded[0], recipe);
    sotto_test_phone_close(&phone);
    return told;
}

/* ---- a class of the host's own --------------------------------------------------------------------------------- */

static sotto_status verdict;
static unsigned asked;

static sotto_status verify(void *context, const sotto_query_shown *query, sotto_err *err)
{
    sotto_test *t = ((sotto_test_phone *)context)->t;

    asked++;
    CHECK_EQUAL(t, sizeof *query, query->size);
    CHECK(t, strcmp(query->recipe, "own") == 0 && strstr(query->analysis, "keyboard"));
    CHECK(t, strcmp(query->query, "SELECT age, ngram FROM keyboard_ngrams") == 0);
    CHECK_EQUAL(t, 2, query->field_count);
    CHECK(t, strcmp(query->fields[0].stream, "keyboard_ngrams") == 0 && query->fields[0].sensitive);
    CHECK(t, strcmp(query->fields[1].field, "ngram") == 0);
    return verdict == SOTTO_OK ? SOTTO_OK : sotto_fail(err, verdict, "only on Sundays");
}

static void a_class_of_the_hosts_own_narrows_the_policys(sotto_test *t)
{
    const sotto_bytes recipe = sotto_test_clear_recipe(t, "own", "{", "{");
    sotto_explanation why;

    asked = 0;
    sotto_test_phone_init(t, &phone, sotto_test_generous_policy);
    phone.options.host.verify = verify;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "how are you"));
    verdict = SOTTO_DENIED;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_REASON(t, "only on Sundays");
    CHECK_EQUAL(t, 1, asked);
    verdict = SOTTO_OK;
    offer(t, recipe);
    phone.now = SOTTO_TEST_OPENS;
    /* A host of a later version may know better than the one to which the recipe was offered. */
    verdict = SOTTO_DENIED;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 0, sotto_test_charged(&phone));
    CHECK_OK(t, sotto_device_why(phone.device, &why, "own", &t->err));
    CHECK(t, why.why == SOTTO_WHY_FIELD && strstr(why.sentence, "only on Sundays"));
    verdict = SOTTO_OK;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
}

/* The policy's own rules come first: the host is not even asked. */
static void a_class_of_the_hosts_own_allows_nothing_more(sotto_test *t)
{
    asked = 0;
    verdict = SOTTO_OK;
    sotto_test_phone_init(t, &phone, NULL);
    phone.options.host.verify = verify;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_device_offer(phone.device,
                                    sotto_test_sure_recipe(t, "own", "SELECT age, ngram",
                                                           "SELECT event_time AS age, ngram"),
                                    &t->err));
    CHECK_EQUAL(t, 0, asked);
    sotto_test_phone_close(&phone);
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

static void a_row_becomes_its_bin(sotto_test *t)
{
    static const char *const phrases[] = {"hello world a"};
    const sotto_bytes recipe = sotto_test_clear_recipe(t, "50001", NULL, NULL);

    CHECK_EQUAL(t, bin_of(t, "[30,40) | hello world a"), tell(t, recipe, phrases, 1));
}

/* The hash of "i went", by sha256sum: see tests/recipe/test_encoding.c. */
static void a_phrase_is_found_by_its_hash(sotto_test *t)
{
    static const char *const phrases[] = {"i went home"};
    static const char label[] = "[30,40) | 67f63b79e037ad34 home";
    static sotto_mistakes mistakes;
    const sotto_bytes text = sotto_test_clear_recipe(
        t, "50001",
        "\"type\": \"prefix-tree\",\n      \"tree\": {\"root\": [\"hello\", \"i\"], \"hello\": "
        "[\"world\"], "
        "\"i\": [\"went\", \"got\"]},",
        "\"type\": \"hashed-prefixes\", \"salt\": \"keyboard-2026\", \"words\": 2, \"hashes\": "
        "[\"a41cc78df4812694\", \"67f63b79e037ad34\"],");
    const sotto_recipe *recipe;
    uint64_t bin;
    unsigned told = 0;

    CHECK_OK(t, sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_recipe_bin(recipe, &bin, sotto_bytes_of(label, strlen(label)), &t->err));
    for (int i = 0; i < 6; i++)
        told += tell(t, text, phrases, 1) == bin;
    CHECK(t, told >= 5);
}

static void one_row_at_random_is_any_of_them(sotto_test *t)
{
    static const char *const phrases[] = {"i went home", "i went a", "i went and", "i got home"};
    const sotto_bytes recipe = sotto_test_clear_recipe(t, "50001", NULL, NULL);
    unsigned seen = 0;

    for (int i = 0; i < 40; i++) {
        uint64_t told = tell(t, recipe, phrases, 4);

        for (unsigned p = 0; p < 4; p++) {
            char label[64];

            (void)snprintf(label, sizeof label, "[30,40) | %s", phrases[p]);
            seen |= (told == bin_of(t, label)) ? 1U << p : 0;
        }
    }
    CHECK_EQUAL(t, 15, seen);
}

static sotto_bytes matching_recipe(sotto_test *t)
{
    return sotto_test_clear_recipe(t, "50001", "\"pick\": \"one-at-random\"",
                                   "\"pick\": \"one-matching-at-random\"");
}

/* By chance alone each of them is told between 20 and 80 times in 150: the seed is fixed, and 50 expected. */
static void one_matching_row_at_random_is_any_that_matches(sotto_test *t)
{
    static const char *const phrases[] = {"good bye now", "i went home", "no way",    "i went zzz",
                                          "you",          "i got home",  "what then", "why not"};
    static const char *const labels[] = {"[30,40) | i went home", "[30,40) | i went <oov>",
                                         "[30,40) | i got home"};
    const sotto_bytes recipe = matching_recipe(t);
    unsigned told[3] = {0}, others = 0;

    for (int i = 0; i < 150; i++) {
        uint64_t bin = tell(t, recipe, phrases, 8);
        bool known = false;

        for (unsigned p = 0; p < 3; p++) {
            known = known || bin == bin_of(t, labels[p]);
            told[p] += bin == bin_of(t, labels[p]);
        }
        others += !known;
    }
    CHECK(t, others <= 8); /* now and then a report has noise in it */
    for (unsigned p = 0; p < 3; p++)
        CHECK(t, told[p] >= 20 && told[p] <= 80);
}

static void without_a_matching_row_any_is_answered_with(sotto_test *t)
{
    static const char *const phrases[] = {"good bye now", "no way"};
    const sotto_bytes recipe = matching_recipe(t);
    unsigned oov = 0;

    for (int i = 0; i < 8; i++)
        oov += tell(t, recipe, phrases, 2) == bin_of(t, "[30,40) | <oov>");
    CHECK(t, oov >= 6);
    CHECK_EQUAL(t, SOTTO_NO_VALUE, tell(t, recipe, phrases, 0));
}

/* The generous policy, with a budget for times as well. */
static const char *timed_policy(sotto_test *t)
{
    sotto_bytes text =
        sotto_test_replace(t, sotto_test_generous_policy, "[\"keyboard_ngrams.ngram\",",
                           "[\"keyboard_ngrams.event_time\", \"keyboard_ngrams.ngram\",");

    text = sotto_test_replace(t, (const char *)text.data, "\"fields\": {",
                              "\"fields\": {\"keyboard_ngrams.event_time\": {\"epsilon_local\": 30,"
                              " \"epsilon\": 10000, \"delta\": 0.001, \"reports\": 100}, ");
    return (const char *)text.data;
}

static sotto_bytes interval_recipe(sotto_test *t, const char *name, const char *interval)
{
    char with[128];

    (void)snprintf(with, sizeof with, "\"interval\": {\"type\": %s}, \"pick\"", interval);
    return sotto_test_clear_recipe(t, name, "\"pick\"", with);
}

/* What the newest report tells. */
static uint64_t told_last(sotto_test *t, sotto_bytes recipe)
{
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    return sotto_test_told(t, &phone.uploaded[phone.uploads - 1], recipe);
}

static void an_interval_shows_recent_events_alone(sotto_test *t)
{
    const sotto_bytes recent = interval_recipe(t, "1", "\"last\", \"duration\": \"1h\"");
    const sotto_bytes all = interval_recipe(t, "2", "\"since-beginning\"");
    const char *policy = timed_policy(t);
    unsigned told = 0, old = 0;

    for (int i = 0; i < 12; i++) {
        sotto_test_phone_start(t, &phone, policy);
        CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
        phone.now += 7200;
        CHECK_OK(t, sotto_test_phone_type(&phone, 2, 35, "i got home"));
        phone.now += 600;
        offer(t, recent);
        told += told_last(t, recent) == bin_of(t, "[30,40) | i got home");
        offer(t, all);
        old += told_last(t, all) == bin_of(t, "[30,40) | i went home");
        sotto_test_phone_close(&phone);
    }
    CHECK(t, told >= 11);
    CHECK(t, old > 1 && old < 11);
}

static void an_interval_may_begin_with_the_last_answer(sotto_test *t)
{
    const char *policy = timed_policy(t);
    unsigned first = 0, second = 0;

    for (int i = 0; i < 12; i++) {
        const sotto_bytes one = interval_recipe(t, "1", "\"since-last-answer\"");
        const sotto_bytes two = interval_recipe(t, "2", "\"since-last-answer\"");

        sotto_test_phone_start(t, &phone, policy);
        CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
        offer(t, one);
        first += told_last(t, one) == bin_of(t, "[30,40) | i went home"); /* there was none */
        phone.now += 3600;
        CHECK_OK(t, sotto_test_phone_type(&phone, 2, 35, "i got home"));
        offer(t, two);
        second += told_last(t, two) == bin_of(t, "[30,40) | i got home");
        sotto_test_phone_close(&phone);
    }
    CHECK(t, first >= 11 && second >= 11);
}

static sotto_status look_for_time(void *context, const sotto_record_line *line, sotto_err *err)
{
    (void)err;
    *(unsigned *)context += strstr(line->fields, "keyboard_ngrams.event_time") != NULL;
    return SOTTO_OK;
}

static void an_interval_reads_the_time_of_events(sotto_test *t)
{
    const sotto_bytes recipe = interval_recipe(t, "1", "\"last\", \"duration\": \"1d\"");
    unsigned lines = 0;

    sotto_test_phone_start(t, &phone, sotto_test_generous_policy);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_REASON(t, "keyboard_ngrams.event_time");
    sotto_test_phone_close(&phone);
    sotto_test_phone_start(t, &phone, timed_policy(t));
    offer(t, recipe);
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_OK(t, sotto_device_record(phone.device, "1", 0, look_for_time, &lines, &t->err));
    CHECK_EQUAL(t, 1, lines);
    sotto_test_phone_close(&phone);
}

/* Of the query's own order, or else of the values, whatever was donated first. */
static void the_first_row_is_the_first(sotto_test *t)
{
    static const char *const phrases[] = {"i went home", "i got home", "i went and", "i went a"};
    static const struct {
        const char *order, *first;
    } cases[] = {{"", "[30,40) | i got home"},
                 {" ORDER BY ngram DESC", "[30,40) | i went home"},
                 {" ORDER BY length(ngram)", "[30,40) | i went a"}};

    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        sotto_bytes recipe = sotto_test_clear_recipe(t, "50001", "\"pick\": \"one-at-random\"",
                                                     "\"pick\": \"first\"");
        uint64_t first = 0;
        char from[64];

        (void)snprintf(from, sizeof from, "FROM keyboard_ngrams%s\"", cases[c].order);
        recipe = sotto_test_replace(t, (const char *)recipe.data, "FROM keyboard_ngrams\"", from);
        for (int i = 0; i < 8; i++) {
            uint64_t told = tell(t, recipe, phrases, 4);

            first += told == bin_of(t, cases[c].first);
            CHECK(t, told != bin_of(t, "[30,40) | i went and"));
        }
        CHECK(t, first >= 6); /* now and then a report has noise in it */
    }
}

/* ---- no value --------------------------------------------------------------------------------------------- */

static sotto_bytes without(sotto_test *t, const char *on_no_match)
{
    return sotto_test_clear_recipe(t, "50001", "\"no-value\"", on_no_match);
}

static void a_device_without_a_value_sends_a_report_on_none(sotto_test *t)
{
    CHECK_EQUAL(t, SOTTO_NO_VALUE, tell(t, without(t, "\"no-value\""), NULL, 0));
    CHECK_EQUAL(t, 1, phone.sends);
}

static void a_device_without_a_value_may_count_as_oov(sotto_test *t)
{
    CHECK_EQUAL(t, 0, tell(t, without(t, "\"oov\""), NULL, 0));
}

static void a_device_without_a_value_may_draw_a_bin(sotto_test *t)
{
    uint64_t first = tell(t, without(t, "\"random-bin\""), NULL, 0);
    bool differs = false;

    for (int i = 0; i < 6; i++) {
        uint64_t next = tell(t, without(t, "\"random-bin\""), NULL, 0);

        CHECK(t, next != SOTTO_NO_VALUE);
        differs = differs || next != first;
    }
    CHECK(t, differs);
}

static void silence_needs_the_policy_and_is_paid_for(sotto_test *t)
{
    const sotto_bytes policy = sotto_test_replace(t, sotto_test_generous_policy, "\"version\": 1",
                                                  "\"version\": 1, \"silence\": true");

    sotto_test_phone_start(t, &phone, sotto_test_generous_policy);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_device_offer(phone.device, without(t, "\"silence\""), &t->err));
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_POLICY);
    sotto_test_phone_close(&phone);

    sotto_test_phone_start(t, &phone, (const char *)policy.data);
    offer(t, without(t, "\"silence\""));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 0, phone.sends);
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_NO_VALUE);
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made); /* it has answered */
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    sotto_test_phone_close(&phone);

    sotto_test_phone_start(t, &phone, (const char *)policy.data);
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
    offer(t, without(t, "\"silence\""));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, phone.sends);
    sotto_test_phone_close(&phone);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_class_of_the_hosts_own_narrows_the_policys),
        CASE(a_class_of_the_hosts_own_allows_nothing_more),
        CASE(a_row_becomes_its_bin),
        CASE(a_phrase_is_found_by_its_hash),
        CASE(one_row_at_random_is_any_of_them),
        CASE(one_matching_row_at_random_is_any_that_matches),
        CASE(without_a_matching_row_any_is_answered_with),
        CASE(an_interval_shows_recent_events_alone),
        CASE(an_interval_may_begin_with_the_last_answer),
        CASE(an_interval_reads_the_time_of_events),
        CASE(the_first_row_is_the_first),
        CASE(a_device_without_a_value_sends_a_report_on_none),
        CASE(a_device_without_a_value_may_count_as_oov),
        CASE(a_device_without_a_value_may_draw_a_bin),
        CASE(silence_needs_the_policy_and_is_paid_for),
    };

    return RUN_TESTS(argc, argv, cases);
}
