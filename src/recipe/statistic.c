/* Which statistic goes with which encoder, randomizer and source of noise. */
#include "recipe/statistic.h"

#include "base/rule.h"
#include "recipe/claim.h"
#include "recipe/content.h"

#include <math.h>
#include <string.h>

static const char *const statistics[] = {"histogram", "count", "sum", "mean", "quantiles"};
static const char *const sources[] = {"crowd", "shares", "servers", "committee"};
enum { SOURCES = sizeof sources / sizeof sources[0] };

const char *sotto_statistic_name(sotto_statistic statistic)
{
    return statistics[statistic];
}

const char *sotto_noise_source_name(sotto_noise_source source)
{
    return sources[source];
}

unsigned sotto_noise_source_bit(const char *word)
{
    for (unsigned i = 0; i < SOURCES; i++)
        if (strcmp(sources[i], word) == 0)
            return 1U << i;
    return 0;
}

/* ---- noise ------------------------------------------------------------------------------------------ */

static const sotto_place privacy = {NULL, "privacy", 0};

/* In thousandths, or whole where they are large, so that samplers have the variance as an exact fraction. */
static void read_sigma(sotto_reading *r, sotto_recipe *out)
{
    enum { MILLI = 1000000000, WHOLE = 60000 }; /* units of 1e-12 */
    static const sotto_place place = {&privacy, "sigma", 0};
    const sotto_decimal sigma = sotto_reading_decimal(r, &privacy, "sigma");
    const uint64_t milli = sigma.units / MILLI;

    if (sigma.units % MILLI != 0 || (milli > WHOLE * 1000 && milli % 1000 != 0))
        sotto_reading_mistake(r, &place, "at most three digits behind the point, above 60000 none",
                              "has too many digits");
    out->sigma_milli = (uint32_t)milli;
}

static void wants(sotto_reading *r, const json_t *json, const char *key, bool wanted, bool must)
{
    const sotto_place place = {&privacy, key, 0};
    const bool there = json_object_get(json, key) != NULL;

    if (must && !there)
        sotto_reading_mistake(r, &place, "a number", "missing: the noise that is added");
    if (SOTTO_RULE(noise_keys_of_their_source) && there && !wanted)
        sotto_reading_mistake(r, &place, "a recipe without this key",
                              "`by` says that nobody adds such noise");
}

void sotto_recipe_read_noise(sotto_reading *r, sotto_recipe *out)
{
    const json_t *json = json_object_get(r->root, "privacy");
    const bool shares = out->by == SOTTO_BY_SHARES, noise = out->by != SOTTO_BY_CROWD;

    wants(r, json, "sigma", noise, noise);
    wants(r, json, "honest", shares, false);
    if (noise)
        read_sigma(r, out);
    out->honest = shares && json_object_get(json, "honest")
                      ? sotto_reading_decimal(r, &privacy, "honest")
                      : SOTTO_HONEST_UNSAID;
}

static void check_randomizer(sotto_reading *r, const sotto_recipe *recipe)
{
    static const sotto_place place = {NULL, "randomizer", 0}, type = {&place, "type", 0},
                             by = {&privacy, "by", 0};
    const bool there = recipe->randomizer != 0, count = recipe->statistic == SOTTO_STATISTIC_COUNT;

    if (recipe->by != SOTTO_BY_CROWD) {
        if (SOTTO_RULE(randomizer_of_the_crowd) && there)
            sotto_reading_mistake(r, &place, "a recipe without this key, or by crowd",
                                  "reports are not randomised: others add the noise");
        return;
    }
    if (SOTTO_RULE(sums_not_by_crowd) &&
        (recipe->statistic == SOTTO_STATISTIC_SUM || recipe->statistic == SOTTO_STATISTIC_MEAN)) {
        sotto_reading_mistake(r, &by, "servers or shares",
                              "no randomizer of this version protects a %s by itself",
                              sotto_statistic_name(recipe->statistic));
        return;
    }
    if (!there)
        sotto_reading_missing(r, "randomizer");
    if (SOTTO_RULE(binary_for_counts) && there &&
        count != (recipe->randomizer == SOTTO_BINARY_RESPONSE))
        sotto_reading_mistake(r, &type, count ? "binary" : "one-hot, choice or subset",
                              "not a randomizer of a %s", sotto_statistic_name(recipe->statistic));
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

sotto_number_grid sotto_recipe_grid(const sotto_recipe *recipe)
{
    const sotto_encoder *e = &recipe->encoding.encoders[0];

    if (e->type == SOTTO_ENCODER_INTEGER)
        return (sotto_number_grid){(double)e->as.integer.min, (double)e->as.integer.step};
    return (sotto_number_grid){e->as.real.min, ldexp(1, -(int)e->as.real.fraction_bits)};
}

uint64_t sotto_recipe_zero(const sotto_recipe *recipe)
{
    const sotto_number_grid grid = sotto_recipe_grid(recipe);
    const double bin = -grid.min / grid.step;

    if (bin < 0 || bin > (double)(recipe->encoding.bins - 1) || bin != floor(bin))
        return SOTTO_NO_VALUE;
    return (uint64_t)bin;
}

static bool is_of_numbers(const sotto_recipe *recipe)
{
    return recipe->statistic == SOTTO_STATISTIC_SUM || recipe->statistic == SOTTO_STATISTIC_MEAN ||
           recipe->statistic == SOTTO_STATISTIC_QUANTILES;
}

static void check_numbers(sotto_reading *r, const sotto_recipe *recipe)
{
    static const sotto_place encode = {NULL, "encode", 0};
    const sotto_encoder *e = &recipe->encoding.encoders[0];
    const sotto_place column = {&encode, e->column, 0}, min = {&column, "min", 0};
    const bool numbers = recipe->encoding.count == 1 &&
                         (e->type == SOTTO_ENCODER_INTEGER || e->type == SOTTO_ENCODER_REAL);

    if (SOTTO_RULE(numbers_in_one_column) && !numbers) {
        sotto_reading_mistake(r, &encode, "one column of type integer or real",
                              "a %s is of one number of each device",
                              sotto_statistic_name(recipe->statistic));
        return;
    }
    if (SOTTO_RULE(sums_have_a_zero) && recipe->statistic == SOTTO_STATISTIC_SUM &&
        sotto_recipe_zero(recipe) == SOTTO_NO_VALUE)
        sotto_reading_mistake(r, &min, "0, or below 0 by whole steps",
                              "a device without a number adds 0, which is not among these numbers");
}

static void check_absence(sotto_reading *r, const sotto_recipe *recipe)
{
    static const sotto_place no_match = {NULL, "on_no_match", 0}, dummies = {NULL, "dummies", 0};
    const bool bins = recipe->statistic == SOTTO_STATISTIC_HISTOGRAM ||
                      recipe->statistic == SOTTO_STATISTIC_QUANTILES;
    const bool one =
        recipe->randomizer == SOTTO_CHOICE_RESPONSE || (recipe->by == SOTTO_BY_SERVERS && bins);

    if (SOTTO_RULE(absence_without_bins) && !bins &&
        (recipe->on_no_match == SOTTO_NO_MATCH_OOV ||
         recipe->on_no_match == SOTTO_NO_MATCH_RANDOM_BIN))
        sotto_reading_mistake(r, &no_match, "no-value or silence", "a %s has no such bin",
                              sotto_statistic_name(recipe->statistic));
    /* All who report would have the same value: their number, which is released as it is, would be the answer. */
    if (SOTTO_RULE(count_not_by_silence) && recipe->statistic == SOTTO_STATISTIC_COUNT &&
        recipe->on_no_match == SOTTO_NO_MATCH_SILENCE)
        sotto_reading_mistake(r, &no_match, "no-value",
                              "the number of reports would tell a count without any noise");
    if (SOTTO_RULE(no_dummies_one_hot) && recipe->dummies > 0 && one)
        sotto_reading_mistake(r, &dummies, "0, or another randomizer",
                              "reports that are proved to have one bin can't be dummies");
}

/* Samplers have a largest variance. */
static void check_shares(sotto_reading *r, const sotto_recipe *recipe)
{
    static const sotto_place sigma = {&privacy, "sigma", 0};
    sotto_report_content content;

    if (SOTTO_RULE(shares_can_be_drawn) && recipe->by == SOTTO_BY_SHARES &&
        sotto_recipe_content(&content, recipe, NULL) == SOTTO_DENIED)
        sotto_reading_mistake(r, &sigma, "a smaller sigma, or a larger min_cohort",
                              "each device's part of the noise is too large");
}

void sotto_recipe_check_statistic(sotto_reading *r, const sotto_recipe *recipe)
{
    if (is_of_numbers(recipe))
        check_numbers(r, recipe);
    check_randomizer(r, recipe);
    if (sotto_reading_clean(r, "encode") && sotto_reading_clean(r, "privacy"))
        check_shares(r, recipe);
    if (sotto_reading_clean(r, "dummies") && sotto_reading_clean(r, "on_no_match"))
        check_absence(r, recipe);
}
