#include "coverage_batch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

const sotto_recipe *sotto_coverage_recipe_of(sotto_test *t, const char *statistic,
                                             const char *encode, const char *randomizer,
                                             const char *by)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe;
    char text[2048];

    mistakes = (sotto_mistakes){0};
    (void)snprintf(
        text, sizeof text,
        "{\"recipe\": \"1\", \"version\": 1, \"analysis\": \"a\", \"query\": \"SELECT x FROM y\","
        "\"statistic\": \"%s\",%s%s%s %s \"participation\": {\"type\": \"poisson\", \"rate\": 0.5},"
        "\"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 3, \"delta\": 1e-6, "
        "\"min_cohort\": 200, \"by\": %s},"
        "\"aggregation\": {\"trust\": \"split\", \"leader\": \"a\", \"helper\": \"b\"},"
        "\"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": \"2026-11-27T00:00:00Z\", "
        "\"precision\": \"1h\"}, \"population\": 1000000, \"on_no_match\": \"no-value\"}",
        statistic, encode ? "\"encode\": " : "", encode ? encode : "", encode ? "," : "",
        randomizer ? randomizer : "", by);
    CHECK_OK(t, sotto_recipe_read(&recipe, sotto_bytes_of(text, strlen(text)), &t->arena, &mistakes,
                                  &t->err));
    return recipe;
}

void sotto_coverage_open_batch(sotto_test *t, sotto_coverage_batch *b, const sotto_recipe *recipe,
                               uint64_t seed)
{
    memset(b, 0, sizeof *b);
    b->recipe = recipe;
    CHECK_OK(t, sotto_recipe_content(&b->content, recipe, &t->err));
    CHECK(t, b->content.entries <= SOTTO_COVERAGE_ENTRIES);
    sotto_sim_random_init(&b->random, seed);
    sotto_entropy_init(&b->entropy, fill, &b->random);
    sotto_arena_init(&b->arena, (size_t)64 << 20);
}

void sotto_coverage_close_batch(sotto_coverage_batch *b)
{
    sotto_entropy_clear(&b->entropy);
    sotto_arena_clear(&b->arena);
}

/* Counts reports and sums, and sets up noise for so many. */
void sotto_coverage_settle(sotto_test *t, sotto_coverage_batch *b)
{
    const sotto_report_content *c = &b->content;
    const uint64_t sigma = b->recipe->sigma_milli;

    b->reports = 0;
    memset(b->exact, 0, sizeof b->exact);
    for (size_t v = 0; v <= c->values; v++) {
        const uint64_t devices = b->truth[v];
        const bool has = v < c->values;

        b->reports += devices;
        if (c->numbers) {
            b->exact[0] += (int64_t)(devices * (has ? v : c->none));
            b->exact[1] += (int64_t)(has ? devices * c->most : 0);
        } else if (has || c->entries > c->values) {
            b->exact[v] = (int64_t)devices;
        }
    }
    if (c->by == SOTTO_BY_SERVERS && b->sources == 0)
        CHECK_OK(t, sotto_noise_gaussian(&b->noise, sigma * sigma, 1000000, &t->arena, &t->err));
    if (c->by == SOTTO_BY_SHARES)
        CHECK_OK(t,
                 sotto_noise_skellam(&b->noise, (uint64_t)(c->variance * (double)b->reports * 500),
                                     1000, &t->arena, &t->err));
    b->sources = c->by == SOTTO_BY_SERVERS ? 2 : 1;
}

static void randomize(sotto_test *t, sotto_coverage_batch *b, sotto_uint128 *sums)
{
    const sotto_randomizer *r = &b->content.randomizer;
    uint8_t report[SOTTO_COVERAGE_ENTRIES];

    for (size_t v = 0; v <= r->values; v++)
        for (uint64_t i = 0; i < b->truth[v]; i++) {
            CHECK_OK(t, sotto_randomizer_run(r, report, v < r->values ? v : SOTTO_NO_VALUE,
                                             &b->entropy, &t->err));
            for (size_t j = 0; j < r->bytes; j++)
                sums[j].low += report[j];
        }
}

/* Sums of one draw, without offsets. */
void sotto_coverage_draw_sums(sotto_test *t, sotto_coverage_batch *b, int64_t *out)
{
    sotto_uint128 sums[SOTTO_COVERAGE_ENTRIES] = {{0}};

    if (b->content.by == SOTTO_BY_CROWD)
        randomize(t, b, sums);
    for (size_t i = 0; i < b->content.entries; i++) {
        int64_t drawn[2] = {0, 0};

        if (b->content.by != SOTTO_BY_CROWD)
            CHECK_OK(t, sotto_noise_draw(&b->noise, drawn, b->sources, &b->entropy, &t->err));
        out[i] = b->content.by == SOTTO_BY_CROWD ? (int64_t)sums[i].low
                                                 : b->exact[i] + drawn[0] + drawn[1];
    }
}

void sotto_coverage_estimate(sotto_test *t, sotto_coverage_batch *b, const int64_t *sums,
                             const sotto_result_options *options, sotto_result *out)
{
    sotto_uint128 wire[SOTTO_COVERAGE_ENTRIES];

    sotto_arena_reset(&b->arena);
    for (size_t i = 0; i < b->content.entries; i++) {
        const int64_t sum = sums[i] + (int64_t)(b->reports * b->content.offset);

        wire[i] = (sotto_uint128){(uint64_t)sum, sum < 0 ? UINT64_MAX : 0};
    }
    CHECK_OK(t, sotto_result_estimate(out, b->recipe, wire, b->content.entries, b->reports, options,
                                      &b->arena, &t->err));
}

/* Bins of one draw, "no value" behind the last if it is counted. What a bin is depends on its sum alone, and is kept. */
void sotto_coverage_draw_bins(sotto_test *t, sotto_coverage_batch *b, sotto_coverage_memory *m,
                              sotto_result_bin *out)
{
    const size_t entries = b->content.entries;
    int64_t sums[SOTTO_COVERAGE_ENTRIES];
    bool known = true;

    sotto_coverage_draw_sums(t, b, sums);
    for (size_t i = 0; i < entries; i++) {
        CHECK(t, sums[i] + SOTTO_COVERAGE_KEPT / 2 >= 0 && sums[i] < SOTTO_COVERAGE_KEPT / 2);
        known = known && m->known[sums[i] + SOTTO_COVERAGE_KEPT / 2];
    }
    if (!known) {
        sotto_result result;

        sotto_coverage_estimate(t, b, sums, NULL, &result);
        CHECK_EQUAL(t, entries, result.count + result.has_no_value);
        for (size_t i = 0; i < entries; i++) {
            m->known[sums[i] + SOTTO_COVERAGE_KEPT / 2] = true;
            m->bins[sums[i] + SOTTO_COVERAGE_KEPT / 2] =
                i < result.count ? result.bins[i] : result.no_value;
        }
    }
    for (size_t i = 0; i < entries; i++)
        out[i] = m->bins[sums[i] + SOTTO_COVERAGE_KEPT / 2];
}
