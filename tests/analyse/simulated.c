#include "analyse/simulated.h"

#include "recipe/claim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sotto_simulated_init(sotto_test *t, sotto_simulated *s, const char *randomizer,
                          uint64_t reports)
{
    static const char own[] =
        "\"type\": \"one-hot\", \"form\": \"asymmetric\", \"epsilon_local\": 2.0";
    uint64_t left = reports - reports / 10;

    memset(s, 0, sizeof *s);
    s->recipe =
        randomizer ? sotto_test_recipe(t, own, randomizer) : sotto_test_recipe(t, NULL, NULL);
    sotto_report_content content;
    CHECK_OK(t, sotto_recipe_content(&content, s->recipe, &t->err));
    s->randomizer = content.randomizer;
    s->entries = content.entries;
    s->reports = reports;
    s->truth = sotto_arena_take_array(&t->arena, s->randomizer.values + 1, sizeof *s->truth);
    s->sums = sotto_arena_take_array(&t->arena, s->randomizer.bytes + 1, sizeof *s->sums);
    CHECK(t, s->truth && s->sums);
    for (uint64_t bin = 0; bin < s->randomizer.values; bin += 3) {
        s->truth[bin] = left / 2;
        left -= left / 2;
    }
    s->truth[s->randomizer.values] = left + reports / 10;
}

static uint64_t binomial(sotto_sim_random *random, uint64_t n, double p)
{
    uint64_t k = 0;

    for (uint64_t i = 0; i < n; i++)
        k += sotto_sim_random_chance(random, p);
    return k;
}

void sotto_simulated_draw(sotto_simulated *s, sotto_sim_random *random)
{
    for (uint64_t bin = 0; bin < s->randomizer.values; bin++)
        s->sums[bin] =
            (sotto_uint128){binomial(random, s->truth[bin], s->randomizer.p) +
                                binomial(random, s->reports - s->truth[bin], s->randomizer.q),
                            0};
}

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

void sotto_simulated_run(sotto_test *t, sotto_simulated *s, sotto_sim_random *random)
{
    uint8_t *report = sotto_arena_take(&t->arena, s->randomizer.bytes);
    sotto_entropy entropy;

    sotto_entropy_init(&entropy, fill, random);
    memset(s->sums, 0, s->randomizer.bytes * sizeof *s->sums);
    for (uint64_t value = 0; value <= s->randomizer.values; value++)
        for (uint64_t i = 0; i < s->truth[value]; i++) {
            CHECK_OK(t, sotto_randomizer_run(&s->randomizer, report,
                                             value < s->randomizer.values ? value : SOTTO_NO_VALUE,
                                             &entropy, &t->err));
            for (size_t j = 0; j < s->randomizer.bytes; j++)
                s->sums[j].low += report[j];
        }
}

/* "No value" is one more entry. */
void sotto_simulated_noisy(sotto_test *t, sotto_simulated *s, unsigned sigma)
{
    static sotto_mistakes mistakes;
    char by[128];

    memset(&mistakes, 0, sizeof mistakes);
    (void)snprintf(by, sizeof by, "\"servers\", \"sigma\": %u", sigma);
    CHECK_OK(t, sotto_recipe_read(&s->recipe, sotto_test_recipe_text_by(t, by), &t->arena,
                                  &mistakes, &t->err));
    CHECK_OK(t, sotto_noise_gaussian(&s->noise, (uint64_t)sigma * sigma, 1, &t->arena, &t->err));
    s->randomizer.p = 1;
    s->randomizer.q = 0;
    s->entries = s->randomizer.values + 1;
}

void sotto_simulated_add_noise(sotto_test *t, sotto_simulated *s, sotto_sim_random *random)
{
    sotto_entropy entropy;

    sotto_entropy_init(&entropy, fill, random);
    s->sums[s->randomizer.values] = (sotto_uint128){s->truth[s->randomizer.values], 0};
    for (size_t i = 0; i < s->entries; i++) {
        int64_t drawn[2], sum;

        CHECK_OK(t, sotto_noise_draw(&s->noise, drawn, 2, &entropy, &t->err));
        sum = (int64_t)s->sums[i].low + drawn[0] + drawn[1];
        s->sums[i] = (sotto_uint128){(uint64_t)sum, sum < 0 ? UINT64_MAX : 0};
    }
}

void sotto_simulated_estimate(sotto_test *t, const sotto_simulated *s, sotto_result *result)
{
    CHECK_OK(t, sotto_result_estimate(result, s->recipe, s->sums, s->entries, s->reports, NULL,
                                      &t->arena, &t->err));
}
