/* recipe/price_rates.h - importance sampling: which two rates show rare values best, at a given epsilon and number of reports.
 *
 * Callers:  `sotto recipe price`. Devices link none of it.
 * Memory:   what is found lives in the arena.
 *
 * The higher the rate of rare values, the more of them are heard of. But silence then tells more, which takes from the epsilon
 * that is left for a report (docs/decisions/0165). What is minimised is the squared error of counts of all devices. It is added
 * up over all bins but the default one, and has two parts: by the randomizer, and by the draw of who answers.
 */
#ifndef SOTTO_RECIPE_PRICE_RATES_H
#define SOTTO_RECIPE_PRICE_RATES_H

#include "recipe/price.h"

typedef enum sotto_rates_kind {
    SOTTO_RATES_ONE,     /* one rate for all values                                           */
    SOTTO_RATES_EVEN,    /* as many reports of rare values as of the default (Talwar et al. 2024) */
    SOTTO_RATES_WRITTEN, /* the recipe's own                                                   */
    SOTTO_RATES_BEST
} sotto_rates_kind;
enum { SOTTO_RATES_KINDS = 4 };

typedef struct sotto_rates {
    bool found; /* a local epsilon keeps the promise, and leaves something for a report */
    double rate_default, rate_other;
    double silence;       /* what it adds to a report's epsilon            */
    double epsilon_local; /* of a report                                   */
    double reports;       /* expected                                      */
    double noise, draw;   /* squared errors, of all rare bins together, in devices */
    double off;           /* root of their mean over rare bins: how far a count is off */
    sotto_recipe recipe;
} sotto_rates;

typedef struct sotto_rates_plan {
    double devices, rare; /* of all devices, how many have another value than the default */
    double bins;          /* rare ones                                                    */
    sotto_rates rates[SOTTO_RATES_KINDS];
    sotto_bytes text, fragment; /* of the recipe with the best rates; empty: there are none */
} sotto_rates_plan;

/* Question: epsilon, delta, cohort, population and policy; rate is the part of all devices that is to answer, or 0 for as many as
 * the recipe's own rates make.
 *   SOTTO_DENIED  devices refuse such recipes; or the recipe has no default_share, or no cohort is filled */
SOTTO_MUST_USE sotto_status sotto_price_rates(sotto_rates_plan *out,
                                              const sotto_price_question *question,
                                              const sotto_recipe *recipe, sotto_arena *arena,
                                              sotto_err *err);

#endif
