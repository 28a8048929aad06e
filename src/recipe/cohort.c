/* Which devices a task is about, in the recipe's own words. */
#include "recipe/task.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int)SOTTO_COHORT_FIELDS == (int)SOTTO_MAX_COHORT_FIELDS,
               "a cohort has a value a field");

/* The first field's values change the slowest, as in sotto_recipe_cohort_of. */
void sotto_recipe_cohort(const sotto_recipe *recipe, sotto_cohort *out, size_t number)
{
    size_t rest = number;

    *out = (sotto_cohort){.number = number, .count = recipe->cohort_count};
    for (size_t i = recipe->cohort_count; i-- > 0;) {
        const sotto_listed *listed = &recipe->cohorts[i];

        out->fields[i] = listed->field;
        out->values[i] = listed->count > 0 ? listed->values[rest % listed->count] : "";
        rest = listed->count > 0 ? rest / listed->count : rest;
    }
}

/* Control characters, also those of two bytes (U+0080 to U+009F), would move a terminal's cursor. */
static bool is_control(const char *at)
{
    const unsigned char first = (unsigned char)at[0], second = first ? (unsigned char)at[1] : 0;

    return first < 0x20 || first == 0x7f || (first == 0xc2 && second >= 0x80 && second <= 0x9f);
}

const char *sotto_cohort_text(char out[SOTTO_COHORT_TEXT], const sotto_cohort *cohort)
{
    size_t len = 0;

    out[0] = 0;
    for (size_t i = 0; i < cohort->count && len < SOTTO_COHORT_TEXT; i++) {
        int more = snprintf(out + len, SOTTO_COHORT_TEXT - len, "%s%s %s", i ? ", " : "",
                            cohort->fields[i], cohort->values[i]);

        len += more > 0 ? (size_t)more : 0;
    }
    for (char *at = out; *at; at++)
        if (is_control(at))
            *at = '?';
    return out;
}
