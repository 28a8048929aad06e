/* support/people_of.h - the rows that a recipe needs, and what fits none of its bins: for programs that have the recipe's table, which this
 * folder's library has not. */
#ifndef SOTTO_APPS_PEOPLE_OF_H
#define SOTTO_APPS_PEOPLE_OF_H

#include "recipe/model.h"
#include "recipe/statistic.h"
#include "recipe/table.h"
#include "support/people.h"

#include <inttypes.h>
#include <stdio.h>

/* Columns by the table, from which they are borrowed; path and all else is the caller's. */
static inline sotto_people_options sotto_people_options_of(const sotto_recipe_table *table)
{
    return (sotto_people_options){.fields = table->fields,
                                  .numbers = table->numbers,
                                  .field_count = table->unread ? 0 : table->stream.field_count,
                                  .described = table->described,
                                  .described_count = table->described_count};
}

/* Reports whose value is <oov> in any column. The bin of <oov> is a column's first one. */
static inline uint64_t sotto_people_unlisted(const sotto_recipe *recipe, const uint64_t *truth)
{
    const sotto_encoding *e = &recipe->encoding;
    uint64_t all = 0;

    for (uint64_t bin = 0; recipe->statistic == SOTTO_STATISTIC_HISTOGRAM && bin < e->bins; bin++) {
        uint64_t rest = e->bins, at = bin;
        bool outside = false;

        for (size_t i = 0; i < e->count; i++, at %= rest) {
            rest /= e->encoders[i].bins;
            outside = outside || (e->encoders[i].oov && at / rest == 0);
        }
        all += outside ? truth[bin] : 0;
    }
    return all;
}

/* Numbers beyond the range of the encoder count as its ends, and many of them make a sum or a mean another one. Said from a fiftieth on. An end of
 * 0 is where people have nothing, and quantiles say `or more` by themselves. */
static inline void sotto_people_say_ends(const sotto_recipe *recipe, const uint64_t *truth)
{
    const bool number =
        recipe->statistic == SOTTO_STATISTIC_SUM || recipe->statistic == SOTTO_STATISTIC_MEAN;
    const uint64_t bins = number ? recipe->encoding.bins : 0;
    uint64_t all = 0, at_end = 0;

    if (bins < 3)
        return;
    const sotto_number_grid grid = sotto_recipe_grid(recipe);
    const double ends[] = {grid.min, grid.min + grid.step * (double)(bins - 1)};
    for (uint64_t i = 0; i < bins; i++)
        all += truth[i];
    at_end += ends[0] != 0 ? truth[0] : 0;
    at_end += ends[1] != 0 ? truth[bins - 1] : 0;
    if (at_end > 0 && 50 * at_end >= all)
        printf("reports at the ends of the range: %" PRIu64 " at %.10g, %" PRIu64
               " at %.10g; numbers beyond count as these\n",
               truth[0], ends[0], truth[bins - 1], ends[1]);
}

/* Says how many reports have no bin, or that of <oov>: a misspelt value or a forgotten one shows in these alone. */
static inline void sotto_people_say_outside(const sotto_recipe *recipe, const uint64_t *truth,
                                            uint64_t without)
{
    const uint64_t unlisted = sotto_people_unlisted(recipe, truth);

    if (without > 0)
        printf("reports of no value: %" PRIu64 "; the query had no row, or its value has no bin\n",
               without);
    if (unlisted > 0)
        printf("reports of <oov>: %" PRIu64 "; they have a value that no bin names\n", unlisted);
    sotto_people_say_ends(recipe, truth);
}

/* Says how many rows of this pass were left out. */
static inline void sotto_people_say_skipped(const sotto_people *people)
{
    if (sotto_people_skipped(people) > 0)
        (void)fprintf(stderr, "bad rows that were left out: %" PRIu64 "\n",
                      sotto_people_skipped(people));
}

/* Says that rows might be grouped. */
static inline void sotto_people_say_likely(const sotto_people *people)
{
    const char *column = sotto_people_likely(people);

    if (column)
        (void)fprintf(
            stderr,
            "each row is a device of its own, and '%s' has the same value in several rows; "
            "if it names devices, add --device-column '%s'\n",
            column, column);
}

#endif
