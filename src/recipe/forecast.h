/* recipe/forecast.h - what to expect of a recipe before it is asked: whether enough answers will come, and what their number
 * reveals.
 *
 * Callers:  `sotto recipe`. Devices have no use for it, and link none of it.
 * Memory:   plain values.
 *
 * Devices are taken to be as many as the recipe says, spread evenly over the combinations of cohort values, and to take part by
 * its law. Only what is said of the number of reports is a privacy claim, and rounded as one.
 */
#ifndef SOTTO_RECIPE_FORECAST_H
#define SOTTO_RECIPE_FORECAST_H

#include "recipe/model.h"

typedef struct sotto_forecast {
    double devices; /* of each combination of cohort values                                     */
    double
        expected; /* reports of them in a release, dummies included; in the first slot of donations */
    double
        reach; /* chance that these are min_cohort or more, at least; in the last slot of donations */
    uint64_t slots; /* within the schedule; 0: there are none                                */
    double empty;   /* of these, expected to have no report                                  */
    double dummies; /* expected of honest devices in a release; 0: the recipe has none       */
    double
        epsilon_count; /* of the number of reports at the recipe's delta; INFINITY: no epsilon  */
    double epsilon_wanted; /* the recipe's own */
    bool donations;        /* a release is of one slot, else of the whole schedule */
    double dummies_needed; /* expected, for that epsilon; INFINITY: every device sending
                               one would not do                                                      */
    double rate_needed; /* the recipe's `dummies` for that                                       */
} sotto_forecast;

/* Warnings go to `mistakes`. honest: share of the devices whose dummies count. */
SOTTO_MUST_USE sotto_status sotto_recipe_forecast(sotto_forecast *out, const sotto_recipe *recipe,
                                                  sotto_decimal honest, sotto_mistakes *mistakes,
                                                  sotto_err *err);

/* The chance that of so many devices, each of which sends a report with this chance, at least `least` do: a lower bound. */
SOTTO_MUST_USE sotto_status sotto_forecast_chance(double *out, double least, double devices,
                                                  double chance, sotto_err *err);

/* Appends it in plain words. */
SOTTO_MUST_USE sotto_status sotto_forecast_explain(sotto_buf *out, const sotto_forecast *forecast,
                                                   const sotto_recipe *recipe, sotto_err *err);

#endif
