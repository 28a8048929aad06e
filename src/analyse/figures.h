/* analyse/figures.h - sums, means and quantiles with their intervals. */
#ifndef SOTTO_ANALYSE_FIGURES_H
#define SOTTO_ANALYSE_FIGURES_H

#include "recipe/deviation.h"
#include "sotto/analyse.h"

/* Adds the figures of a sum, a mean or quantiles to a result whose bins, if it has any, are estimated.
 *   sums  one for each entry of a report, without offsets
 *   z     deviations that an interval has on either side */
void sotto_result_figures(sotto_result *result, const sotto_recipe *recipe,
                          const sotto_deviation_law *law, const int64_t *sums, double z);

#endif
