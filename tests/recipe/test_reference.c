/* docs/recipe.md is what the table prints; examples in it are valid. */
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

static void the_reference_page_is_the_table(sotto_test *t)
{
    static uint8_t printed[1 << 18], kept[1 << 18];
    sotto_buf out = sotto_buf_over(printed, sizeof printed);
    FILE *file = fopen(SOTTO_SOURCE "/docs/recipe.md", "rb");
    size_t len;

    CHECK_OK(t, sotto_recipe_reference(&out, &t->err));
    CHECK(t, file != NULL);
    len = fread(kept, 1, sizeof kept, file);
    (void)fclose(file);
    if (len != out.len || memcmp(kept, printed, len) != 0)
        (void)fprintf(stderr, "run: sotto recipe reference > docs/recipe.md\n");
    CHECK_EQUAL(t, out.len, len);
    CHECK_BYTES(t, printed, kept, len);
}

static void every_object_is_documented(sotto_test *t)
{
    static uint8_t printed[1 << 18];
    sotto_buf out = sotto_buf_over(printed, sizeof printed - 1);

    CHECK_OK(t, sotto_recipe_reference(&out, &t->err));
    printed[out.len] = 0;
    CHECK(t, strstr((char *)printed, "`fraction_bits`") != NULL);
    CHECK(t, strstr((char *)printed, "`start`") != NULL);
    CHECK(t, strstr((char *)printed, "`period_days`") != NULL);
    CHECK(t, strstr((char *)printed, "`config`") != NULL);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_reference_page_is_the_table),
        CASE(every_object_is_documented),
    };

    return RUN_TESTS(argc, argv, cases);
}
