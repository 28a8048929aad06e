/* From a bin to the numbers of a report. */
#include "device/answer/measure.h"

#include "sim/random.h"
#include "support/recipes.h"

#include <math.h>

#define SERVERS "\"servers\", \"sigma\": 500"
#define SHARES  "\"shares\", \"sigma\": 500"

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

static sotto_report_content content_of(sotto_test *t, const char *statistic, const char *by)
{
    sotto_report_content content;

    CHECK_OK(t, sotto_recipe_content(&content, sotto_test_recipe_of(t, statistic, by), &t->err));
    return content;
}

/* In an arena of its own, which is reset: tables of the noise are large. */
static void measure(sotto_test *t, uint64_t *out, const sotto_report_content *content, uint64_t bin,
                    sotto_sim_random *random)
{
    sotto_measurement m;
    sotto_entropy entropy;
    sotto_arena arena;
    sotto_bytes bits;

    sotto_arena_init(&arena, (size_t)4 << 20);
    sotto_entropy_init(&entropy, fill, random);
    CHECK_OK(t, sotto_measure(&m, &bits, content, bin, &entropy, &arena, &t->err));
    CHECK_EQUAL(t, content->one ? 1 : content->entries, m.count);
    CHECK_EQUAL(t, 0, bits.len);
    for (size_t i = 0; i < m.count; i++)
        out[i] = m.values[i];
    sotto_arena_clear(&arena);
}

static void values_are_where_they_belong(sotto_test *t)
{
    sotto_report_content c = content_of(t, "quantiles", SERVERS);
    sotto_sim_random random;
    uint64_t v[102];

    sotto_sim_random_init(&random, 1);
    measure(t, v, &c, 7, &random);
    CHECK_EQUAL(t, 7, v[0]);
    measure(t, v, &c, SOTTO_NO_VALUE, &random);
    CHECK_EQUAL(t, 101, v[0]); /* one more bin */
    c = content_of(t, "count", SERVERS);
    measure(t, v, &c, 0, &random);
    CHECK_EQUAL(t, 1, v[0]);
    measure(t, v, &c, SOTTO_NO_VALUE, &random);
    CHECK_EQUAL(t, 0, v[0]);
    c = content_of(t, "sum", SERVERS);
    measure(t, v, &c, 77, &random);
    CHECK_EQUAL(t, 77, v[0]);
    measure(t, v, &c, SOTTO_NO_VALUE, &random);
    CHECK_EQUAL(t, 0, v[0]);
    c = content_of(t, "mean", SERVERS);
    measure(t, v, &c, 77, &random);
    CHECK(t, v[0] == 77 && v[1] == 100);
    measure(t, v, &c, SOTTO_NO_VALUE, &random);
    CHECK(t, v[0] == 50 && v[1] == 0);
}

/* P(X = x) of a difference of two Poisson numbers of mean mu each. */
static double skellam(int64_t x, double mu)
{
    double sum = 0;

    for (int64_t k = x < 0 ? -x : 0; k < 400; k++)
        sum += exp((double)(2 * k + x) * log(mu) - lgamma((double)(k + x) + 1) -
                   lgamma((double)k + 1) - 2 * mu);
    return sum;
}

enum { FAR = 14, RUNS = 60 };

/* Cells of -FAR .. FAR, and all beyond in the outermost: chi-square by its cube root, which is nearly normal. */
static double chi_square(const double *seen, double runs, double mu)
{
    double chi = 0, cells = 0;

    for (int64_t x = -FAR; x <= FAR; x++) {
        double p = skellam(x, mu);

        for (int64_t y = FAR + 1; (x == FAR || x == -FAR) && y < 60; y++)
            p += skellam(y, mu);
        chi += pow(seen[x + FAR] - runs * p, 2) / (runs * p);
        cells++;
    }
    const double spread = 2 / (9 * (cells - 1));

    return (cbrt(chi / (cells - 1)) - (1 - spread)) / sqrt(spread);
}

static int64_t held(int64_t x)
{
    return x < -FAR ? -FAR : x > FAR ? FAR : x;
}

/* Setting up the law takes most of the time, so each report has many numbers. */
static void noise_in_shares_has_the_law_that_is_charged_for(sotto_test *t)
{
    const sotto_report_content c = content_of(t, "quantiles", SHARES);
    double seen[2 * FAR + 1] = {0};
    sotto_sim_random random;
    uint64_t v[101];

    sotto_sim_random_init(&random, 2);
    for (unsigned i = 0; i < RUNS; i++) {
        const uint64_t bin = i % 3 ? 77 : SOTTO_NO_VALUE;

        measure(t, v, &c, bin, &random);
        for (size_t j = 0; j < 101; j++) {
            CHECK(t, v[j] <= c.max);
            seen[held((int64_t)(v[j] - (j == bin) - c.offset)) + FAR]++;
        }
    }
    CHECK_NEAR(t, 12.5, c.variance, 0.001);
    CHECK_NEAR(t, 0, chi_square(seen, 101.0 * RUNS, c.variance / 2), 4.9);
}

static void noise_is_cut_to_the_range_of_the_proof(sotto_test *t)
{
    sotto_report_content c = content_of(t, "quantiles", SHARES);
    sotto_sim_random random;
    uint64_t v[101], ends = 0;

    c.offset = 2;
    c.max = c.most + 2 * c.offset;
    sotto_sim_random_init(&random, 3);
    measure(t, v, &c, 5, &random);
    for (size_t i = 0; i < 101; i++) {
        CHECK(t, v[i] <= (i == 5 ? c.max : c.max - 1));
        ends += v[i] == 0 || v[i] == 4;
    }
    CHECK(t, ends > 40);
}

/* Of a billion devices each adds almost nothing; of a few, a great deal. */
static void the_smallest_and_the_largest_parts_can_be_drawn(sotto_test *t)
{
    sotto_recipe recipe = *sotto_test_recipe_of(t, "count", SHARES);
    sotto_report_content c;
    sotto_sim_random random;
    uint64_t v[1];

    sotto_sim_random_init(&random, 4);
    recipe.min_cohort = 1000000000;
    recipe.sigma_milli = 500;
    CHECK_OK(t, sotto_recipe_content(&c, &recipe, &t->err));
    CHECK(t, c.num >= 1 && c.offset < 10);
    measure(t, v, &c, 0, &random);
    CHECK(t, v[0] <= c.max);
    recipe.min_cohort = 10;
    recipe.sigma_milli = 990000;
    CHECK_OK(t, sotto_recipe_content(&c, &recipe, &t->err));
    CHECK(t, c.num <= UINT32_MAX && c.den <= UINT32_MAX);
    measure(t, v, &c, 0, &random);
    CHECK(t, v[0] <= c.max);
    recipe.sigma_milli = 1010000;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_recipe_content(&c, &recipe, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(values_are_where_they_belong),
        CASE(noise_in_shares_has_the_law_that_is_charged_for),
        CASE(noise_is_cut_to_the_range_of_the_proof),
        CASE(the_smallest_and_the_largest_parts_can_be_drawn),
    };

    return RUN_TESTS(argc, argv, cases);
}
