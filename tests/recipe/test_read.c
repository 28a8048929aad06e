/* Reading recipes: what is refused, where it says so, and what the plain form then holds. */
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

static sotto_mistakes mistakes;

static sotto_status read_text(sotto_test *t, sotto_bytes text)
{
    const sotto_recipe *recipe;

    memset(&mistakes, 0, sizeof mistakes);
    return sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err);
}

static void the_example_becomes_its_plain_form(sotto_test *t)
{
    const sotto_recipe *r = sotto_test_recipe(t, NULL, NULL);

    CHECK(t, strcmp(r->name, "50001") == 0);
    CHECK(t, strcmp(r->analysis, "com.example.keyboard-ngrams") == 0);
    CHECK_EQUAL(t, 272, r->encoding.bins);
    CHECK_EQUAL(t, 300000000000, r->epsilon.units);
    CHECK_EQUAL(t, 1000000, r->delta.units);
    CHECK_EQUAL(t, 2000000000000, r->epsilon_local.units);
    CHECK_EQUAL(t, 40000, r->min_cohort);
    CHECK_EQUAL(t, SOTTO_POISSON, r->participation.type);
    CHECK_EQUAL(t, SOTTO_ONE_HOT_ASYMMETRIC, r->randomizer);
    CHECK_EQUAL(t, 1795132800, r->opens);
    CHECK_EQUAL(t, 3600, r->precision);
    CHECK_EQUAL(t, 1, r->batch_mode); /* a default */
    CHECK_EQUAL(t, 2, sotto_recipe_cohorts(r));
    CHECK(t, strcmp(r->cohorts[0].values[1], "en_GB") == 0);
}

static void budgets_are_the_digits_as_written(sotto_test *t)
{
    /* As a double, 0.3 is a little less than three tenths. */
    const sotto_recipe *r = sotto_test_recipe(t, "0.30", "3e-1");

    CHECK_EQUAL(t, 300000000000, r->epsilon.units);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_recipe_text(t, "0.30", "0.3000000000001")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.epsilon", "more digits"));
}

static void syntax_is_told_with_line_and_column(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_recipe_text(t, "\"version\": 1,", "\"version\": 1")));
    CHECK_EQUAL(t, 1, mistakes.count);
    CHECK_EQUAL(t, 4, mistakes.items[0].line);
    CHECK(t, mistakes.items[0].column > 0);
}

static void a_key_that_stands_twice_is_named(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_recipe_text(t, "\"version\": 1,",
                                                     "\"version\": 1, \"version\": 2,")));
    CHECK_EQUAL(t, 1, mistakes.count);
    CHECK_EQUAL(t, 3, mistakes.items[0].line);
    CHECK(t, strstr(mistakes.items[0].what, "duplicate") != NULL);
    CHECK(t, strstr(mistakes.items[0].what, "version") != NULL);
}

static void bytes_behind_the_end_are_refused(sotto_test *t)
{
    char text[8192];
    size_t len = strlen(sotto_recipe_example());

    memcpy(text, sotto_recipe_example(), len);
    text[len] = 'x';
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, sotto_bytes_of(text, len + 1)));
    text[len] = 0; /* nor a NUL */
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, sotto_bytes_of(text, len + 1)));
}

static void unknown_keys_are_named_with_their_place(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_recipe_text(t, "\"precision\"", "\"precison\"")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "schedule.precison", "unknown key \"precison\""));
    CHECK_EQUAL(t, 24, mistakes.items[0].line);
    CHECK(t, strstr(mistakes.items[0].accepted, "precision") != NULL);
}

static void all_mistakes_are_found_at_once(sotto_test *t)
{
    sotto_bytes text = sotto_test_recipe_text(t, "\"version\": 1", "\"version\": 0");

    text = sotto_test_replace(t, (const char *)text.data, "\"pick\": \"one-at-random\"",
                              "\"pick\": \"best\"");
    text = sotto_test_replace(t, (const char *)text.data, "40, 50", "40, 40");
    text = sotto_test_replace(t, (const char *)text.data, "\"a\", \"and\"", "\"and\", \"and\"");
    text = sotto_test_replace(t, (const char *)text.data, "\"rate\": 0.1", "\"rate\": 1.5");
    text = sotto_test_replace(t, (const char *)text.data, "\"delta\": 1e-6", "\"delta\": -1");
    text = sotto_test_replace(t, (const char *)text.data, "2026-11-27", "2026-11-19");
    text = sotto_test_replace(t, (const char *)text.data, "\"helper\": ", "\"helpr\": ");
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, text));
    CHECK(t, sotto_test_has_mistake(&mistakes, "version", "too small"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "pick", "not one of the words"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "encode.age.boundaries[3]", "not above"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "encode.ngram.tokens[1]", "twice") ||
                 sotto_test_has_mistake(&mistakes, "encode.ngram.tokens[0]", "twice"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "participation.rate", "too large"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.delta", "negative"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "schedule.closes", "closes before"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "aggregation.helpr", "unknown key"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "aggregation.helper", "missing"));
    CHECK_EQUAL(t, 9, mistakes.errors);
    for (size_t i = 0; i < mistakes.count; i++)
        CHECK(t, mistakes.items[i].line > 0 && *mistakes.items[i].accepted);
}

static void a_flood_of_mistakes_is_counted_not_kept(sotto_test *t)
{
    char *list = sotto_arena_take(&t->arena, 100000);
    size_t len = 0;

    for (int i = 0; i < 1000; i++) {
        memcpy(list + len, i ? ", []" : "[[]", i ? 4 : 3);
        len += i ? 4 : 3;
    }
    memcpy(list + len, "]", 2);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_recipe_text(t, "[\"en_US\", \"en_GB\"]", list)));
    CHECK_EQUAL(t, SOTTO_MAX_MISTAKES, mistakes.count);
    CHECK_EQUAL(t, 1000, mistakes.errors);
    CHECK_EQUAL(t, 1000 - SOTTO_MAX_MISTAKES, mistakes.dropped);
}

static void terminals_are_safe_from_keys(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_recipe_text(t, "\"pick\"", "\"\\u001b[2J\\u009b\"")));
    for (const char *p = mistakes.items[0].what; *p; p++)
        CHECK(t, *p >= 0x20 && *p < 0x7f);
    for (const char *p = mistakes.items[0].path; *p; p++)
        CHECK(t, *p >= 0x20 && *p < 0x7f);
}

static void deep_and_long_files_are_not_parsed(sotto_test *t)
{
    char *text = sotto_arena_take(&t->arena, SOTTO_RECIPE_MAX_BYTES + 1);

    memset(text, ' ', SOTTO_RECIPE_MAX_BYTES + 1);
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 read_text(t, sotto_bytes_of(text, SOTTO_RECIPE_MAX_BYTES + 1)));
    memset(text, '[', 100000);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, read_text(t, sotto_bytes_of(text, 100000)));
    CHECK_REASON(t, "column 13");
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, sotto_bytes_of("", 0)));
}

static void one_bin_proofs_have_no_dummies(sotto_test *t)
{
    sotto_bytes text = sotto_test_recipe_text(t, "\"type\": \"one-hot\", \"form\": \"asymmetric\"",
                                              "\"type\": \"choice\"");

    CHECK_OK(t, read_text(t, text));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_replace(t, (const char *)text.data, "\"population\"",
                                                 "\"dummies\": 0.1, \"population\"")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "dummies", "can't be dummies"));
}

static void leader_and_helper_are_two(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_recipe_text(t, "key:helper-2026a", "key:leader-2026a")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "aggregation.helper", "are one"));
}

static void noise_is_read_exactly(sotto_test *t)
{
    const sotto_recipe *crowd = sotto_test_recipe(t, NULL, NULL);
    const sotto_recipe *servers = sotto_test_recipe_of(t, "sum", "\"servers\", \"sigma\": 512.345");
    const sotto_recipe *shares =
        sotto_test_recipe_of(t, "mean", "\"shares\", \"sigma\": 40000, \"honest\": 0.25");

    CHECK(t, crowd->by == SOTTO_BY_CROWD && crowd->sigma_milli == 0);
    CHECK_EQUAL(t, SOTTO_STATISTIC_HISTOGRAM, crowd->statistic);
    CHECK(t, servers->by == SOTTO_BY_SERVERS && servers->statistic == SOTTO_STATISTIC_SUM);
    CHECK_EQUAL(t, 512345, servers->sigma_milli);
    CHECK_EQUAL(t, 500000000000, servers->honest.units);
    CHECK(t, servers->randomizer == 0 && servers->epsilon_local.units == 0);
    CHECK(t, shares->by == SOTTO_BY_SHARES && shares->statistic == SOTTO_STATISTIC_MEAN);
    CHECK_EQUAL(t, 40000000, shares->sigma_milli);
    CHECK_EQUAL(t, 250000000000, shares->honest.units);
}

/* A key of one way to add up is no key of another. */
static void every_way_to_add_up_has_its_own_keys(sotto_test *t)
{
    static const char *const keys[] = {
        [SOTTO_TRUST_SPLIT] = "helper",
        [SOTTO_TRUST_FLAMINGO] = "decryptors",
        [SOTTO_TRUST_AERO] = "rekey",
    };

    for (sotto_trust trust = SOTTO_TRUST_SPLIT; trust <= SOTTO_TRUST_AERO; trust++) {
        const char *text = (const char *)sotto_test_recipe_text_trusting(t, trust).data;

        CHECK_OK(t, read_text(t, sotto_bytes_of(text, strlen(text))));
        for (unsigned other = SOTTO_TRUST_SPLIT; other <= SOTTO_TRUST_AERO; other++) {
            char quoted[32], renamed[32], path[48];

            (void)snprintf(quoted, sizeof quoted, "\"%s\":", keys[trust]);
            (void)snprintf(renamed, sizeof renamed, "\"%s\":", keys[other]);
            (void)snprintf(path, sizeof path, "aggregation.%s", keys[other]);
            if (other == trust)
                continue;
            CHECK_STATUS(t, SOTTO_MALFORMED,
                         read_text(t, sotto_test_replace(t, text, quoted, renamed)));
            CHECK(t, sotto_test_has_mistake(&mistakes, path, "unknown key"));
            (void)snprintf(path, sizeof path, "aggregation.%s", keys[trust]);
            CHECK(t, sotto_test_has_mistake(&mistakes, path, "missing"));
        }
    }
}

static void analysts_are_told_what_a_missing_key_is_for(sotto_test *t)
{
    const sotto_mistake *first = &mistakes.items[0];

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_recipe_text(t, "\"recipe\": \"50001\",", "")));
    CHECK(t, mistakes.count == 1 && strcmp(first->what, "missing") == 0);
    sotto_mistakes_explain(&mistakes);
    CHECK(t, strcmp(first->what, "missing: names this recipe") == 0);
    sotto_mistakes_explain(&mistakes); /* says it once */
    CHECK(t, strcmp(first->what, "missing: names this recipe") == 0);

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_recipe_text(t, "\"version\": 1,", "\"version\": 0,")));
    CHECK(t, mistakes.count == 1 && first->missing == 0);
    sotto_mistakes_explain(&mistakes);
    CHECK(t, strcmp(first->what, "too small") == 0);
}

/* One mistake, not one for each key that learning does not have. */
static void learning_is_refused_by_one_mistake(sotto_test *t)
{
    static const char learning[] =
        "{\"recipe\": \"next-char-7\", \"version\": 1, \"analysis\": \"com.example.model\", "
        "\"learn\": {\"model\": {\"type\": \"lenet\"}}, \"rounds\": {\"count\": 150}}";

    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, sotto_bytes_of(learning, strlen(learning))));
    CHECK_EQUAL(t, 1, mistakes.count);
    CHECK(t, sotto_test_has_mistake(&mistakes, "learn",
                                    "not yet: learning recipes can't be asked by this version"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_recipe_text(t, "\"query\"",
                                                     "\"rounds\": {\"count\": 10}, \"query\"")));
    CHECK_EQUAL(t, 1, mistakes.count);
    CHECK(t, sotto_test_has_mistake(&mistakes, "rounds", "not yet"));
}

static void a_round_of_donations_is_within_a_slot(sotto_test *t)
{
    static const char poisson[] = "{\"type\": \"poisson\", \"rate\": 0.1}";
    const char *donation =
        (const char *)sotto_test_recipe_text(t, poisson,
                                             "{\"type\": \"donation\", \"slots\": 10, \"start\": "
                                             "\"2026-11-20T00:00:00Z\", \"slot\": \"1h\"}")
            .data;

    CHECK_OK(t, read_text(t, sotto_bytes_of(donation, strlen(donation))));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_replace(t, donation, "\"trust\": \"split\"",
                                                 "\"trust\": \"split\", \"batch_mode\": "
                                                 "\"leader-selected\"")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "aggregation.batch_mode", "outlast a slot"));
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        read_text(t, sotto_test_replace(t, donation, "\"slot\": \"1h\"", "\"slot\": \"59m\"")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "participation.slot", "outlast a slot"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_replace(t, donation, "00:00:00Z\", \"slot\"",
                                                 "00:30:00Z\", \"slot\"")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "participation.start", "next slot"));
}

/* The schedule is the week from 2026-11-20. */
static void slots_are_within_the_schedule(sotto_test *t)
{
    static const struct {
        const char *start;
        sotto_status status;
    } rows[] = {
        {"2026-11-20T00:00:00Z", SOTTO_OK},        {"2026-11-19T22:00:00Z", SOTTO_MALFORMED},
        {"2026-11-19T22:00:01Z", SOTTO_OK},        {"2026-11-26T23:59:59Z", SOTTO_OK},
        {"2026-11-27T00:00:00Z", SOTTO_MALFORMED}, {"1970-01-01T00:00:00Z", SOTTO_MALFORMED}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char participation[200];

        (void)snprintf(participation, sizeof participation,
                       "{\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": 2, "
                       "\"start\": \"%s\", \"slot\": \"1h\"}",
                       rows[i].start);
        CHECK_STATUS(t, rows[i].status,
                     read_text(t, sotto_test_recipe_text(
                                      t, "{\"type\": \"poisson\", \"rate\": 0.1}", participation)));
        CHECK(t, rows[i].status == SOTTO_OK ||
                     sotto_test_has_mistake(&mistakes, "participation.start", "no slot"));
    }
}

static void no_memory_is_an_answer_too(sotto_test *t)
{
    sotto_bytes text = sotto_test_recipe_text(t, NULL, NULL);

    for (size_t ceiling = 0; ceiling < 32768; ceiling += 256) {
        const sotto_recipe *recipe;
        sotto_arena small;
        sotto_err err = {0};

        memset(&mistakes, 0, sizeof mistakes);
        sotto_arena_init(&small, ceiling);
        sotto_status status = sotto_recipe_read(&recipe, text, &small, &mistakes, &err);
        CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY);
        CHECK(t, (status == SOTTO_OK) == (recipe != NULL));
        sotto_arena_clear(&small);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_example_becomes_its_plain_form),
        CASE(budgets_are_the_digits_as_written),
        CASE(syntax_is_told_with_line_and_column),
        CASE(a_key_that_stands_twice_is_named),
        CASE(bytes_behind_the_end_are_refused),
        CASE(unknown_keys_are_named_with_their_place),
        CASE(all_mistakes_are_found_at_once),
        CASE(a_flood_of_mistakes_is_counted_not_kept),
        CASE(terminals_are_safe_from_keys),
        CASE(deep_and_long_files_are_not_parsed),
        CASE(one_bin_proofs_have_no_dummies),
        CASE(leader_and_helper_are_two),
        CASE(noise_is_read_exactly),
        CASE(every_way_to_add_up_has_its_own_keys),
        CASE(analysts_are_told_what_a_missing_key_is_for),
        CASE(learning_is_refused_by_one_mistake),
        CASE(a_round_of_donations_is_within_a_slot),
        CASE(slots_are_within_the_schedule),
        CASE(no_memory_is_an_answer_too),
    };

    return RUN_TESTS(argc, argv, cases);
}
