/* The next question about a bin has smaller parts of it, and a step that no ledger would pay for is not asked. */
#include "study/budget.h"
#include "study/drill.h"
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

static const sotto_recipe *read(sotto_test *t, sotto_bytes text)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe = NULL;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err));
    return recipe;
}

static uint64_t bin_of(sotto_test *t, const sotto_recipe *r, const char *wanted)
{
    uint64_t bin = 0;

    CHECK_OK(t, sotto_study_bin_called(&bin, r, sotto_bytes_of(wanted, strlen(wanted)), &t->err));
    return bin;
}

static const sotto_recipe *drill(sotto_test *t, const sotto_recipe *r, const char *label)
{
    sotto_bytes text = {0};

    const sotto_study_next next = {"finer", r->closes, 2 * r->closes - r->opens};

    CHECK_OK(t, sotto_study_drill(&text, r, bin_of(t, r, label), 5, &next, &t->arena, &t->err));
    return read(t, text);
}

static void a_bucket_and_a_phrase_are_divided(sotto_test *t)
{
    const sotto_recipe *r = sotto_test_recipe(t, NULL, NULL);
    const sotto_recipe *n = drill(t, r, "[30,40) | hello world home");

    CHECK(t, strcmp(n->name, "finer") == 0 && n->opens == r->closes);
    /* 30 to 40 in five buckets, and what lies outside. */
    CHECK(t, n->encoding.encoders[0].bins == 6);
    CHECK(t, n->encoding.encoders[0].as.buckets.boundaries[1] == 32);
    CHECK(t, n->encoding.encoders[1].as.tree.leaf_count == 1);
    (void)bin_of(t, n, "[32,34) | hello world home went");
}

static void steps_are_divided_and_lists_keep_one_value(sotto_test *t)
{
    const sotto_bytes text = sotto_test_recipe_text(
        t,
        "\"age\": {\"type\": \"buckets\", \"boundaries\": [20, 30, 40, 50, 60, 70, 80], "
        "\"underflow\": \"oov\", \"overflow\": \"bucket\"}",
        "\"age\": {\"type\": \"integer\", \"min\": 0, \"max\": 100, \"step\": 20}");
    const sotto_recipe *n = drill(t, read(t, text), "40 | <oov>");

    CHECK(t, n->encoding.encoders[0].as.integer.min == 30);
    CHECK(t, n->encoding.encoders[0].as.integer.max == 50);
    CHECK(t, n->encoding.encoders[0].as.integer.step == 4);
}

static void a_bin_without_parts_is_refused(sotto_test *t)
{
    const sotto_bytes text =
        sotto_test_recipe_text(t, "\"combine\": [\"age\", \"ngram\"]",
                               "\"kind\": {\"type\": \"categories\", \"values\": [\"x\", \"y\"]}, "
                               "\"combine\": [\"kind\", \"age\", \"ngram\"]");
    const sotto_recipe *r = read(t, text);
    const sotto_study_next next = {"finer", 0, 1};
    sotto_bytes text_of_next;

    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_study_drill(&text_of_next, r, bin_of(t, r, "y | <oov> | <oov>"), 5, &next,
                                   &t->arena, &t->err));
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_study_drill(&text_of_next, r, r->encoding.bins, 5, &next, &t->arena, &t->err));
    const sotto_recipe *n = drill(t, r, "y | [30,40) | <oov>");
    CHECK(t, n->encoding.encoders[0].bins == 1);
}

static const char listed[] =
    "{\"recipe\": \"codes\", \"version\": 1, \"analysis\": \"com.example.errors\","
    " \"query\": \"SELECT version, code FROM errors\","
    " \"encode\": {\"version\": {\"type\": \"categories\", \"values\": [\"4.7\", \"4.8\"], "
    "\"oov\": false},"
    " \"code\": {\"type\": \"categories\", \"values\": [\"E01\", \"it's\"]},"
    " \"combine\": [\"version\", \"code\"]}, \"participation\": {\"type\": \"poisson\", \"rate\": "
    "1},"
    " \"privacy\": {\"adjacency\": \"replacement\", \"by\": \"servers\", \"sigma\": 9, "
    "\"epsilon\": 1,"
    " \"delta\": 1e-6, \"min_cohort\": 1000},"
    " \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader\", \"helper\": "
    "\"key:helper\"},"
    " \"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": \"2026-11-27T00:00:00Z\","
    " \"precision\": \"1h\"}, \"population\": 20000}";

/* What devices of a bin of listed values have besides is asked by hand, with these words in the query. */
static void listed_values_are_a_condition(sotto_test *t)
{
    const sotto_recipe *r = read(t, sotto_bytes_of(listed, strlen(listed)));
    const char *wanted = "version = '4.8' AND code = 'it''s'";
    uint8_t memory[200];
    sotto_buf where = sotto_buf_over(memory, sizeof memory), none = sotto_buf_over(memory, 200);
    sotto_buf small = sotto_buf_over(memory, 5);

    CHECK(t, !sotto_study_divides(r) && sotto_study_divides(sotto_test_recipe(t, NULL, NULL)));
    CHECK_OK(t, sotto_study_where(&where, r, bin_of(t, r, "4.8 | it's"), &t->err));
    CHECK(t, where.len == strlen(wanted) && memcmp(memory, wanted, where.len) == 0);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_study_where(&none, r, bin_of(t, r, "4.8 | <oov>"), &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_study_where(&small, r, r->encoding.bins - 1, &t->err));
}

/* An exact label is for one bin alone. */
static void a_label_of_two_bins_is_refused(sotto_test *t)
{
    static const char old[] = "[\"4.7\", \"4.8\"]", code[] = "[\"E01\", \"it's\"]";
    static char text[4096];
    const char *first = strstr(listed, old), *second = strstr(listed, code);
    uint64_t bin = 99;

    (void)snprintf(text, sizeof text, "%.*s[\"a\", \"a | b\"]%.*s[\"b | c\", \"c\"]%s",
                   (int)(first - listed), listed, (int)(second - first - (int)strlen(old)),
                   first + strlen(old), second + strlen(code));
    const sotto_recipe *r = read(t, sotto_bytes_of(text, strlen(text)));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_study_bin_called(&bin, r, sotto_bytes_of("a | b | c", 9), &t->err));
    CHECK_REASON(t,
                 "2 bins read like this: write \\ before each \\, | and < that belongs to a value");
    CHECK_EQUAL(t, 1, bin_of(t, r, "a | b \\| c"));
    CHECK_EQUAL(t, 5, bin_of(t, r, "a \\| b | c"));
    CHECK_EQUAL(t, 4, bin_of(t, r, "a | b | b | c"));
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_study_bin_called(&bin, r, sotto_bytes_of("a | d", 5), &t->err));
}

static sotto_status ask_by(sotto_test *t, sotto_bytes *out, const char *query, const char *column)
{
    const sotto_study_next next = {"codes.2", 1795824000, 1796428800};
    static char text[4096];
    const char *at = strstr(listed, "SELECT"), *end = strchr(at, '"');

    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - listed), listed, query, end);
    const sotto_recipe *r = read(t, sotto_bytes_of(text, strlen(text)));
    CHECK_EQUAL(t,
                sotto_study_drill_by(out, r, bin_of(t, r, "4.8 | it's"), "model", "mini,a \"b\"",
                                     &next, &t->arena, NULL) == SOTTO_OK,
                sotto_study_asks_by(r));
    return sotto_study_drill_by(out, r, bin_of(t, r, "4.8 | it's"), column, "mini,a \"b\"", &next,
                                &t->arena, &t->err);
}

static void another_column_is_asked_of_the_rows_in_a_bin(sotto_test *t)
{
    sotto_bytes text;

    CHECK_OK(t, ask_by(t, &text, "SELECT version, code FROM errors", "model"));
    const sotto_recipe *n = read(t, text);
    CHECK(t, strcmp(n->query,
                    "SELECT model FROM errors WHERE version = '4.8' AND code = 'it''s'") == 0);
    CHECK(t, strcmp(n->name, "codes.2") == 0 && n->opens == 1795824000 && n->closes == 1796428800);
    CHECK_EQUAL(t, 3, n->encoding.bins);
    (void)bin_of(t, n, "a \"b\"");
    CHECK_OK(t, ask_by(t, &text, " select version ,\\tcode\\nfrom errors Where day > 3 OR day = 1",
                       "model"));
    CHECK(t, strcmp(read(t, text)->query, "SELECT model FROM errors WHERE (day > 3 OR day = 1) AND "
                                          "version = '4.8' AND code = 'it''s'") == 0);
}

static const sotto_recipe *described(sotto_test *t, const char *description)
{
    static char text[8192];
    const char *at = strstr(listed, "\"query\"");
    const sotto_study_next next = {"codes.2", 1795824000, 1796428800};
    sotto_bytes out;

    (void)snprintf(text, sizeof text, "%.*s\"description\": \"%s\", %s", (int)(at - listed), listed,
                   description, at);
    const sotto_recipe *r = read(t, sotto_bytes_of(text, strlen(text)));
    CHECK_OK(t, sotto_study_drill_by(&out, r, bin_of(t, r, "4.8 | it's"), "model", "mini,\"b\"",
                                     &next, &t->arena, &t->err));
    return read(t, out);
}

/* People are shown it, and the last step's is not about what is asked now. */
static void what_is_asked_now_is_described(sotto_test *t)
{
    static const char condition[] = ", where version = '4.8' AND code = 'it''s'";
    char long_text[1000] = "";

    CHECK(t, strcmp(described(t, "Which \\\"codes\\\" people meet.")->description,
                    "model of: Which \"codes\" people meet, where version = '4.8' AND code = "
                    "'it''s'") == 0);
    CHECK(t, !*described(t, "")->description);
    /* A character of two bytes stays whole. */
    for (size_t i = 0; i < 499; i++)
        memcpy(long_text + 2 * i, "\xc3\xa4", 3);
    for (size_t odd = 0; odd < 2; odd++) {
        long_text[0] = odd ? 'a' : '\xc3';
        if (odd)
            memmove(long_text + 1, long_text + 2, strlen(long_text + 2) + 1);
        const char *about = described(t, long_text)->description;
        const size_t len = strlen(about), end = len - strlen(condition);

        CHECK(t, len <= 1000 && len >= 998);
        CHECK(t, strcmp(about + end, condition) == 0 && memcmp(about + end - 3, "...", 3) == 0);
        CHECK(t, (unsigned char)about[end - 4] == 0xa4);
    }
}

/* Rows of such a query are no rows of a table, or another condition would stand in another place. */
static void no_other_query_is_changed(sotto_test *t)
{
    static const char *const queries[] = {
        "SELECT DISTINCT version, code FROM errors",
        "SELECT v AS version, code FROM errors",
        "SELECT max(version) AS version, code FROM errors",
        "SELECT version, code FROM errors, others",
        "SELECT version, code FROM (SELECT version, code FROM errors)",
        "SELECT version, code FROM errors GROUP BY version",
        "SELECT version, code FROM errors WHERE day > 3 GROUP BY version",
        "SELECT version, code FROM errors WHERE day > 3 order by day LIMIT 1",
        "SELECT version, code FROM errors WHERE day > 3 UNION SELECT version, code FROM others",
        "SELECT version, code FROM errors e WHERE e.day > 3",
        "WITH errors AS (SELECT 1) SELECT version, code FROM errors"};
    sotto_bytes text;

    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        CHECK_STATUS(t, SOTTO_DENIED, ask_by(t, &text, queries[i], "model"));
    CHECK_STATUS(t, SOTTO_DENIED, ask_by(t, &text, "SELECT version, code FROM errors", "Code"));
    CHECK_STATUS(t, SOTTO_MALFORMED, ask_by(t, &text, "SELECT version, code FROM errors", "a b"));
    CHECK_STATUS(t, SOTTO_MALFORMED, ask_by(t, &text, "SELECT version, code FROM errors", "1a"));
}

static void steps_share_one_budget(sotto_test *t)
{
    const sotto_recipe *r = sotto_test_recipe(t, NULL, NULL);
    const sotto_recipe *before[] = {r, r};
    static sotto_recipe_verdict verdict;

    memset(&verdict, 0, sizeof verdict);
    CHECK_OK(t, sotto_study_afford(sotto_test_policy(t, NULL, NULL), &verdict, before, 0, r,
                                   &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_study_afford(sotto_test_policy(t, NULL, NULL), &verdict, before, 1, r,
                                    &t->arena, &t->err));
    /* A field's budget may be the smaller one. */
    verdict.read_count = 1;
    memcpy(verdict.reads[0], "keyboard_ngrams.age", sizeof "keyboard_ngrams.age");
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_study_afford(sotto_test_policy(t,
                                                      "\"epsilon\": 0.5,\n      \"delta\": "
                                                      "1e-6,\n      \"reports\": 1",
                                                      "\"epsilon\": 5,\n      \"delta\": "
                                                      "1e-4,\n      \"reports\": 9"),
                                    &verdict, before, 1, r, &t->arena, &t->err));
}

/* A device's ledger takes nothing from this budget for the question of another analysis. */
static void a_step_of_another_analysis_is_paid_for_by_that_one(sotto_test *t)
{
    const sotto_recipe *r = sotto_test_recipe(t, NULL, NULL);
    sotto_recipe other = *r;
    const sotto_recipe *before[] = {&other};
    static sotto_recipe_verdict verdict;

    memset(&verdict, 0, sizeof verdict);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_study_afford(sotto_test_policy(t, NULL, NULL), &verdict, before, 1, r,
                                    &t->arena, &t->err));
    other.analysis = "com.example.other";
    CHECK_OK(t, sotto_study_afford(sotto_test_policy(t, NULL, NULL), &verdict, before, 1, r,
                                   &t->arena, &t->err));
}

/* ... but what reads the field is paid for by the field, whatever it is for. */
static void a_field_pays_for_steps_that_read_it(sotto_test *t)
{
    const sotto_policy *policy = sotto_test_policy(t, NULL, NULL);
    const sotto_recipe *r = sotto_test_recipe(t, NULL, NULL);
    sotto_recipe same = *r, other = *r;
    const sotto_recipe *before[9];
    static sotto_recipe_verdict verdict;

    same.analysis = "com.example.other";
    other = same;
    other.query = "SELECT ngram FROM keyboard_ngrams";
    other.encoding.encoders[0] = other.encoding.encoders[1];
    other.encoding.count--;
    memset(&verdict, 0, sizeof verdict);
    verdict.read_count = 1;
    memcpy(verdict.reads[0], "keyboard_ngrams.age", sizeof "keyboard_ngrams.age");
    for (size_t i = 0; i < 9; i++)
        before[i] = &other;
    CHECK_OK(t, sotto_study_afford(policy, &verdict, before, 9, r, &t->arena, &t->err));
    for (size_t i = 0; i < 9; i++)
        before[i] = &same;
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_study_afford(policy, &verdict, before, 9, r, &t->arena, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_bucket_and_a_phrase_are_divided),
        CASE(steps_are_divided_and_lists_keep_one_value),
        CASE(a_bin_without_parts_is_refused),
        CASE(listed_values_are_a_condition),
        CASE(a_label_of_two_bins_is_refused),
        CASE(another_column_is_asked_of_the_rows_in_a_bin),
        CASE(what_is_asked_now_is_described),
        CASE(no_other_query_is_changed),
        CASE(steps_share_one_budget),
        CASE(a_step_of_another_analysis_is_paid_for_by_that_one),
        CASE(a_field_pays_for_steps_that_read_it),
    };

    return RUN_TESTS(argc, argv, cases);
}
