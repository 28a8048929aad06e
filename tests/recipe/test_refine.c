/* The next recipe of a search asks for all numbers that the interval may mean, in smaller steps, and is else the same. */
#include "recipe/encoding.h"
#include "recipe/refine.h"
#include "sim/random.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const sotto_recipe *read(sotto_test *t, sotto_bytes text)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe = NULL;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err));
    return recipe;
}

static const sotto_recipe *recipe_of(sotto_test *t, const char *encoder)
{
    const char *text =
        (const char *)sotto_test_recipe_text_of(t, "quantiles", "\"servers\", \"sigma\": 20").data;

    return read(
        t, sotto_test_replace(t, text, "\"type\": \"integer\", \"min\": 0, \"max\": 100", encoder));
}

static double bin_of(const sotto_recipe *recipe, double x)
{
    const sotto_datum cell = {.type = SOTTO_DATUM_REAL, .real = x};

    return (double)sotto_encoding_bin_vartime(&recipe->encoding, &cell);
}

static const sotto_recipe *refine(sotto_test *t, sotto_refined *out, const sotto_recipe *recipe,
                                  double low, double high, uint64_t bins)
{
    const sotto_refine_question q = {.low = low, .high = high, .bins = bins};

    CHECK_OK(t, sotto_recipe_refine(out, recipe, &q, &t->arena, &t->err));
    return read(t, out->text);
}

/* What was rounded into the interval is not clipped by the next range. */
static void check_range(sotto_test *t, const char *encoder, double min, double step, double last)
{
    const sotto_recipe *recipe = recipe_of(t, encoder), *next;
    sotto_sim_random random;
    sotto_refined out;
    unsigned seen = 0;

    sotto_sim_random_init(&random, 7);
    for (unsigned i = 0; i < 300; i++) {
        const double a = (double)sotto_sim_random_below(&random, (uint64_t)last / 2),
                     b = a + (double)sotto_sim_random_below(&random, 3);

        next = refine(t, &out, recipe, min + step * a, min + step * b, (uint64_t)last + 1);
        CHECK(t, out.step < step && out.bins <= (uint64_t)last + 1);
        CHECK_EQUAL(t, out.bins, next->encoding.bins);
        for (unsigned j = 0; j < 200; j++) {
            const double far = min + step * (a - 2 + (b - a + 4) * (double)j / 200),
                         x = step > 1 ? floor(far + 0.5) : far, /* whole ones are rounded first */
                bin = bin_of(recipe, x);

            if (x < min || bin < a || bin > b)
                continue;
            seen++;
            CHECK(t, out.min <= x && x <= out.max);
            CHECK(t, fabs(out.min + out.step * bin_of(next, x) - x) <= out.step / 2 + 0.5);
        }
    }
    CHECK(t, seen > 1000);
}

static void the_next_range_has_all_that_was_rounded_into_the_interval(sotto_test *t)
{
    check_range(t, "\"type\": \"integer\", \"min\": 0, \"max\": 640, \"step\": 20", 0, 20, 32);
    check_range(t, "\"type\": \"integer\", \"min\": -70, \"max\": 1050, \"step\": 35", -70, 35, 32);
    check_range(t, "\"type\": \"real\", \"min\": 0.5, \"max\": 64.5", 0.5, 1, 64);
}

/* Clipping moves no number past another: the quantile of the next bins is the bin of the quantile. */
static void ranks_stay_what_they_are(sotto_test *t)
{
    enum { NUMBERS = 999 };
    const sotto_recipe *recipe =
        recipe_of(t, "\"type\": \"integer\", \"min\": 0, \"max\": 640, \"step\": 20");
    double sorted[NUMBERS], bins[3] = {0};
    sotto_refined out;

    for (unsigned i = 0; i < NUMBERS; i++)
        sorted[i] = 640.0 * i * i / (NUMBERS * (double)NUMBERS);
    const double median = sorted[NUMBERS / 2], low = 20 * bin_of(recipe, median);
    const sotto_recipe *next = refine(t, &out, recipe, low, low, 9);
    for (unsigned i = 0; i < NUMBERS; i++) {
        const double a = bin_of(next, sorted[i]), b = bin_of(next, median);

        bins[a < b ? 0 : a > b ? 2 : 1]++;
    }
    CHECK(t, bins[0] < NUMBERS / 2.0 && bins[0] + bins[1] > NUMBERS / 2.0);
    CHECK(t, bins[1] < 50); /* and the bin is a small one */
}

static void all_but_name_encoder_and_schedule_stays(sotto_test *t)
{
    const sotto_recipe *recipe = recipe_of(t, "\"type\": \"integer\", \"min\": 0, \"max\": 640, "
                                              "\"step\": 20"),
                       *next;
    sotto_refined out;
    char text[96];

    next = refine(t, &out, recipe, 200, 220, 0);
    CHECK(t, strcmp(next->name, "50001.2") == 0);
    CHECK_EQUAL(t, recipe->closes, next->opens);
    CHECK_EQUAL(t, recipe->closes - recipe->opens, next->closes - next->opens);
    CHECK(t, !out.from_first && !out.to_last);
    CHECK(t, out.min == 190 && out.max == 230 && out.step == 2);
    (void)snprintf(text, sizeof text, "\"min\": 190, \"max\": 230, \"step\": 2}");
    CHECK(t,
          strstr((const char *)sotto_test_replace(t, (const char *)out.text.data, text, text).data,
                 "Which phrases of three words people type"));
    next = refine(t, &out, next, 190, 192, 0);
    CHECK(t, strcmp(next->name, "50001.3") == 0);
    CHECK(t, out.from_first && !out.to_last && out.min == 190 && out.max == 193);
}

static void refused(sotto_test *t, sotto_status status, const sotto_recipe *recipe, double low,
                    double high, uint64_t bins, const char *name)
{
    const sotto_refine_question q = {.low = low, .high = high, .bins = bins, .name = name};
    sotto_refined out;

    sotto_err_clear(&t->err);
    CHECK_STATUS(t, status, sotto_recipe_refine(&out, recipe, &q, &t->arena, &t->err));
}

static void what_can_not_be_refined_is_refused(sotto_test *t)
{
    const sotto_recipe *recipe =
        recipe_of(t, "\"type\": \"integer\", \"min\": 0, \"max\": 640, \"step\": 20");

    refused(t, SOTTO_DENIED, sotto_test_recipe_of(t, "mean", "\"servers\", \"sigma\": 500"), 1, 2,
            0, NULL);
    refused(t, SOTTO_DENIED, recipe, 0, 640, 0, NULL); /* noise, not steps, makes it so long */
    refused(t, SOTTO_DENIED, recipe_of(t, "\"type\": \"integer\", \"min\": 0, \"max\": 100"), 4, 5,
            0, NULL);
    refused(t, SOTTO_MALFORMED, recipe, 40, 20, 0, NULL);
    refused(t, SOTTO_MALFORMED, recipe, -20, 20, 0, NULL);
    refused(t, SOTTO_MALFORMED, recipe, 600, 660, 0, NULL);
    refused(t, SOTTO_MALFORMED, recipe, NAN, 20, 0, NULL);
    refused(t, SOTTO_MALFORMED, recipe, 20, 40, 2, NULL);
    refused(t, SOTTO_MALFORMED, recipe, 20, 40, 0, "a name");
    refused(t, SOTTO_MALFORMED, recipe, 20, 40, 0, "50001");
    refused(t, SOTTO_MALFORMED, recipe, 20, 40, 0, "");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_next_range_has_all_that_was_rounded_into_the_interval),
        CASE(ranks_stay_what_they_are),
        CASE(all_but_name_encoder_and_schedule_stays),
        CASE(what_can_not_be_refined_is_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
