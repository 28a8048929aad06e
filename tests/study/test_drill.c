/* The next question about a bin has smaller parts of it, and a step that no ledger would pay for is not asked. */
#include "study/budget.h"
#include "study/drill.h"
#include "support/recipes.h"

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
    for (uint64_t i = 0; i < r->encoding.bins; i++) {
        uint8_t memory[512];
        sotto_buf label = sotto_buf_over(memory, sizeof memory);

        CHECK_OK(t, sotto_recipe_label(r, &label, i, &t->err));
        if (label.len == strlen(wanted) && memcmp(memory, wanted, label.len) == 0)
            return i;
    }
    CHECK(t, false);
    return 0;
}

static const sotto_recipe *drill(sotto_test *t, const sotto_recipe *r, const char *label)
{
    sotto_bytes text = {0};

    CHECK_OK(t, sotto_study_drill(&text, r, bin_of(t, r, label), 5, "finer", r->closes,
                                  2 * r->closes - r->opens, &t->arena, &t->err));
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
    sotto_bytes next;

    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_study_drill(&next, r, bin_of(t, r, "y | <oov> | <oov>"), 5, "finer", 0, 1,
                                   &t->arena, &t->err));
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_study_drill(&next, r, r->encoding.bins, 5, "finer", 0, 1, &t->arena, &t->err));
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
        CASE(steps_share_one_budget),
        CASE(a_step_of_another_analysis_is_paid_for_by_that_one),
        CASE(a_field_pays_for_steps_that_read_it),
    };

    return RUN_TESTS(argc, argv, cases);
}
