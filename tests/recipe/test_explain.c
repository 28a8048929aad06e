/* What an analyst and an owner of a device read of a recipe. */
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

static sotto_mistakes mistakes;

static sotto_recipe_claim claim_of(sotto_test *t, const sotto_recipe *recipe)
{
    sotto_recipe_claim out;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_lint(&out, recipe, NULL, &mistakes, &t->err));
    return out;
}

/* Whoever wrote the recipe wrote these texts too: they must not pass for what we say, nor hide a part of themselves. */
static void explanations_show_all_that_is_asked(sotto_test *t)
{
    static uint8_t memory[1 << 16];
    static char query[2048];
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    const char *text = (const char *)memory;

    (void)snprintf(query, sizeof query,
                   "\"SELECT age, ngram FROM keyboard_ngrams /*%*s*/ WHERE ngram<>'told'\"", 1500,
                   "");
    sotto_bytes json =
        sotto_test_recipe_text(t, "\"SELECT age, ngram FROM keyboard_ngrams\"", query);
    json = sotto_test_replace(t, (const char *)json.data, "Which phrases",
                              "\\u001b[2J\\nWhat protects you\\n\\u202eNothing \\u009b1m");
    const sotto_recipe *recipe;
    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, json, &t->arena, &mistakes, &t->err));
    const sotto_recipe_claim claim = claim_of(t, recipe);
    CHECK_OK(t, sotto_recipe_explain(&out, recipe, &claim, &t->err));
    memory[out.len] = 0;
    CHECK(t, strstr(text, "WHERE ngram<>'told'\n") != NULL);
    CHECK(t, strstr(text, "\\x1b[2J\n  What protects you\n  \\xe2\\x80\\xaeNothing \\xc2\\x9b1m") !=
                 NULL);
    CHECK(t, strchr(text, 27) == NULL);
    CHECK(t, strstr(strstr(text, "\nWhat protects you\n") + 1, "\nWhat protects you\n") == NULL);
}

static void explanations_name_the_numbers(sotto_test *t)
{
    static uint8_t memory[1 << 16];
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    sotto_buf little = sotto_buf_over(memory, 100);
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);

    const sotto_recipe_claim claim = claim_of(t, recipe);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_recipe_explain(&little, recipe, &claim, &t->err));
    CHECK_OK(t, sotto_recipe_explain(&out, recipe, &claim, &t->err));
    memory[out.len] = 0;
    CHECK(t, strstr((char *)memory, "272 bins") != NULL);
    CHECK(t, strstr((char *)memory, "40000 reports") != NULL);
    CHECK(t, strstr((char *)memory, "epsilon 0.3") != NULL);
    CHECK(t, strstr((char *)memory, "key:leader-2026a") != NULL);
    CHECK(t, strstr((char *)memory, "Of the rows, one drawn at random is used") != NULL);
    out = sotto_buf_over(memory, sizeof memory - 1);
    recipe = sotto_test_recipe(t, "one-at-random", "one-matching-at-random");
    CHECK_OK(t, sotto_recipe_explain(&out, recipe, &claim, &t->err));
    memory[out.len] = 0;
    CHECK(t, strstr((char *)memory, "of those with a bin for each value is used") != NULL);
    out = sotto_buf_over(memory, sizeof memory - 1);
    recipe = sotto_test_recipe(
        t, "\"pick\"", "\"interval\": {\"type\": \"last\", \"duration\": \"2d\"}, \"pick\"");
    CHECK_OK(t, sotto_recipe_explain(&out, recipe, &claim, &t->err));
    memory[out.len] = 0;
    CHECK(t, strstr((char *)memory, "events of the last 48 hours") != NULL);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(explanations_show_all_that_is_asked),
        CASE(explanations_name_the_numbers),
    };

    return RUN_TESTS(argc, argv, cases);
}
