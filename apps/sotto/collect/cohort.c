#include "cohort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sotto_cohort_find(const sotto_recipe *recipe, size_t *cohort, const char *text)
{
    char copy[1024], *at = copy;
    const char *values[SOTTO_MAX_COHORT_FIELDS];
    size_t count = 0;
    char *end;

    if (strlen(text) >= sizeof copy)
        return false;
    if (text[0] && strspn(text, "0123456789") == strlen(text)) {
        *cohort = strtoul(text, &end, 10);
        return *cohort < sotto_recipe_cohorts(recipe);
    }
    memcpy(copy, text, strlen(text) + 1);
    while (at && count < SOTTO_MAX_COHORT_FIELDS) {
        char *comma = strchr(at, ',');

        values[count++] = at;
        if (comma)
            *comma++ = 0;
        at = comma;
    }
    return !at && count == recipe->cohort_count &&
           sotto_recipe_cohort_of(recipe, cohort, values, NULL) == SOTTO_OK;
}

void sotto_cohort_list(const sotto_recipe *recipe, const char *flag)
{
    enum { MOST = 20 };
    uint64_t count = sotto_recipe_cohorts(recipe);
    char text[SOTTO_COHORT_TEXT];
    sotto_cohort cohort;

    for (size_t i = 0; i < count && i < MOST; i++) {
        sotto_recipe_cohort(recipe, &cohort, i);
        (void)fprintf(stderr, "  %s %zu  %s\n", flag, i, sotto_cohort_text(text, &cohort));
    }
    if (count > MOST)
        (void)fprintf(stderr, "  and %llu more\n", (unsigned long long)(count - MOST));
}
