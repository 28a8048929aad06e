/* How much noise would do. Devices link none of it: they only refuse. */
#include "recipe/claim.h"
#include "recipe/encrypted.h"

#include <stdio.h>
#include <string.h>

enum {
    LEAST = 500,
    MOST = 1000000000,
    FINE = 60000000
}; /* thousandths, as recipe/statistic.c reads them */

/* The most that devices can add, or a committee that encrypts it, within a factor of two. */
static uint64_t most_of(const sotto_recipe *recipe)
{
    sotto_recipe other = *recipe;
    sotto_report_content content;
    sotto_encrypted sums;
    uint64_t milli = MOST;

    for (; milli > LEAST; milli /= 2) {
        other.sigma_milli = (uint32_t)milli;
        if (sotto_recipe_content(&content, &other, NULL) == SOTTO_OK &&
            (recipe->by != SOTTO_BY_COMMITTEE ||
             sotto_encrypted_plan(&sums, &other, NULL) == SOTTO_OK))
            break;
    }
    return milli;
}

static sotto_status keeps(bool *holds, const sotto_recipe *recipe, uint64_t honest, uint64_t milli,
                          sotto_err *err)
{
    sotto_recipe other = *recipe;
    sotto_report_content content;
    sotto_err why = {0};
    const char *theorem;
    double epsilon;

    *holds = false;
    other.sigma_milli = (uint32_t)milli;
    sotto_status status = sotto_recipe_content(&content, &other, &why);
    if (status == SOTTO_OK)
        status = sotto_recipe_cohort_epsilon(&epsilon, &theorem, &other, &content, honest,
                                             sotto_recipe_log_delta(&other), &why);
    if (status == SOTTO_DENIED) /* too little */
        return SOTTO_OK;
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s", why.reason);
    *holds = epsilon <= sotto_decimal_down(recipe->epsilon);
    return SOTTO_OK;
}

sotto_status sotto_recipe_smallest_sigma(double *out, const sotto_recipe *recipe, uint64_t honest,
                                         sotto_err *err)
{
    uint64_t low = LEAST - 1, high = most_of(recipe);
    bool holds = false;

    *out = 0;
    if (recipe->by == SOTTO_BY_CROWD)
        return SOTTO_OK;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;

        SOTTO_TRY(keeps(&holds, recipe, honest, middle, err));
        *(holds ? &high : &low) = middle;
    }
    if (high > FINE)
        high = (high + 999) / 1000 * 1000;
    SOTTO_TRY(keeps(&holds, recipe, honest, high, err));
    *out = holds ? (double)high / 1000 : 0;
    return SOTTO_OK;
}

sotto_status sotto_recipe_say_sigma(sotto_mistakes *mistakes, const sotto_recipe_claim *claim,
                                    const sotto_recipe *recipe, sotto_err *err)
{
    double sigma;

    if (recipe->by == SOTTO_BY_CROWD ||
        claim->epsilon_cohort <= sotto_decimal_down(recipe->epsilon))
        return SOTTO_OK;
    SOTTO_TRY(sotto_recipe_smallest_sigma(&sigma, recipe, claim->honest, err));
    for (size_t i = 0; i < mistakes->count && sigma > 0; i++) {
        char *accepted = mistakes->items[i].accepted;
        const size_t len = strlen(accepted), cap = sizeof mistakes->items[i].accepted;

        if (strcmp(mistakes->items[i].path, "privacy.epsilon") == 0 &&
            strstr(mistakes->items[i].what, "claims less"))
            (void)snprintf(accepted + len, cap - len, "%sa sigma of %.10g or more",
                           len ? ", or " : "", sigma);
    }
    return SOTTO_OK;
}
