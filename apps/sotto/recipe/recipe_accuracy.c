/* What an answer will be worth, as lint and price say it. */
#include "recipe.h"

#include "recipe/model.h"

#include <math.h>
#include <stdio.h>

static bool has_counts(const sotto_recipe *recipe)
{
    return recipe->statistic == SOTTO_STATISTIC_HISTOGRAM ||
           recipe->statistic == SOTTO_STATISTIC_COUNT;
}

void sotto_recipe_accuracy_members(sotto_json *j, const sotto_accuracy *a,
                                   const sotto_recipe *recipe)
{
    const sotto_statistic s = recipe->statistic;

    sotto_json_object(j, "accuracy");
    sotto_json_real(j, "reports", a->reports);
    sotto_json_real(j, "confidence", a->confidence);
    sotto_json_real(j, "deviation", a->deviation);
    sotto_json_real(j, "half_width", a->half_width);
    if (s == SOTTO_STATISTIC_HISTOGRAM) {
        sotto_json_real(j, "half_width_most", a->half_width_most);
        sotto_json_real(j, "largest_error", a->largest);
    }
    if (has_counts(recipe))
        sotto_json_real(j, "seen", a->seen);
    if (s == SOTTO_STATISTIC_QUANTILES)
        sotto_json_real(j, "rank_most", a->rank_most);
    sotto_json_end(j);
}

static double part(const sotto_accuracy *a, double x)
{
    return 100 * x / a->reports;
}

static void print_bins(const sotto_accuracy *a)
{
    printf("each bin +-%.4g (%.3g%% of the reports), +-%.4g for one that has\n"
           "                  all of them; no bin at all is off by more than %.4g (%.3g%%)\n",
           a->half_width, part(a, a->half_width), a->half_width_most, a->largest,
           part(a, a->largest));
}

static void print_seen(const sotto_accuracy *a)
{
    if (isfinite(a->seen))
        printf("                  a count of %.0f (%.3g%%) has an interval of its own above 0, "
               "with the same chance\n",
               ceil(a->seen), part(a, a->seen));
    else
        printf("                  no count has an interval of its own above 0 with that chance\n");
}

void sotto_recipe_print_accuracy(const sotto_accuracy *a, const sotto_recipe *recipe)
{
    if (!(a->reports > 0))
        return;
    printf("  accuracy        at %.4g%%, with %.0f reports: ", 100 * a->confidence, a->reports);
    switch (recipe->statistic) {
    case SOTTO_STATISTIC_HISTOGRAM:
        print_bins(a);
        break;
    case SOTTO_STATISTIC_COUNT:
        printf("the count +-%.4g (%.3g%% of the reports)\n", a->half_width, part(a, a->half_width));
        break;
    case SOTTO_STATISTIC_SUM:
        printf("the sum +-%.4g\n", a->half_width);
        break;
    case SOTTO_STATISTIC_MEAN:
        printf(
            "the mean +-%.4g\n"
            "                  if every report has a number, and twice that if half of them have\n",
            a->half_width);
        break;
    case SOTTO_STATISTIC_QUANTILES:
        printf("the median's rank +-%.3g%%\n"
               "                  of the numbers, and no other quantile's more where they are "
               "spread evenly;\n"
               "                  +-%.3g%% for any of them, wherever it is\n",
               100 * a->half_width, 100 * a->rank_most);
        break;
    }
    if (has_counts(recipe))
        print_seen(a);
}
