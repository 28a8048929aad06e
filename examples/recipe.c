/* Judging a recipe before anybody is asked: what it may claim, and what is wrong with it. */
#include <stdio.h>
#include <string.h>

#include <sotto/lint.h>

int main(void)
{
    static sotto_mistakes mistakes; /* all zeros is an empty list; too large for a small stack */
    const char *text = sotto_recipe_example();
    const sotto_recipe *recipe;
    sotto_recipe_claim claim;
    sotto_arena arena;
    sotto_err err = {0};

    sotto_arena_init(&arena, SOTTO_RECIPE_ARENA);
    sotto_status status =
        sotto_recipe_read(&recipe, sotto_bytes_of(text, strlen(text)), &arena, &mistakes, &err);
    if (status == SOTTO_OK)
        status = sotto_recipe_lint(&claim, recipe, NULL, &mistakes, &err);
    if (status == SOTTO_OK)
        printf("epsilon %.3f among %llu honest reports, %zu bytes each\n", claim.epsilon_cohort,
               (unsigned long long)claim.honest, claim.report_bytes);
    else
        printf("%s: %s\n", sotto_status_name(status), err.reason);
    for (size_t i = 0; i < mistakes.count; i++)
        printf("line %u: %s\n", mistakes.items[i].line, mistakes.items[i].what);
    sotto_arena_clear(&arena);
    return status == SOTTO_OK ? 0 : 1;
}
