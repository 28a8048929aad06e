/* Sums of points in lanes against the crypto library, by the thousand. A few points are drawn again and again, and some with the other
 * sign, so that equal and opposite ones meet. SOTTO_CHAOS_SUMS and SOTTO_CHAOS_SEED choose how many and which. */
#include "p256_sets.h"

#include <stdlib.h>

enum { FEW = 5 };

static table all;

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* Every other sum is of few points. */
static void draw(sotto_test *t)
{
    uint8_t few[FEW][SOTTO_P256_WIDE];

    for (size_t i = 0; i < FEW; i++)
        make_point(t, &all, few[i]);
    for (size_t j = 0; j < TERMS; j++)
        for (size_t i = 0; i < COUNT; i++) {
            uint8_t *row = all.rows[j][i];

            if (i % 2) {
                make_point(t, &all, row);
                continue;
            }
            memcpy(row, few[sotto_sim_random_below(&all.random, FEW)], SOTTO_P256_WIDE);
            if (sotto_sim_random_chance(&all.random, 0.3))
                negate(row);
        }
}

static void sums_are_those_of_the_crypto_library(sotto_test *t)
{
    const uint64_t count = setting("SOTTO_CHAOS_SUMS", SOTTO_TEST_DRAWS(1024));
    static bool first[COUNT];
    uint64_t done = 0;

    set_up(t, &all, setting("SOTTO_CHAOS_SEED", 1), 0);
    for (uint64_t at = 0; at < count; at += COUNT) {
        draw(t);
        CHECK(t, add_up(&all, P256_SETS - 1, TERMS, COUNT));
        memcpy(first, all.done, sizeof first);
        for (size_t set = 0; set < P256_SETS; set++) {
            if (!add_up(&all, set, TERMS, COUNT))
                continue;
            CHECK_BYTES(t, first, all.done, sizeof first);
            for (size_t i = 0; i < COUNT; i++) {
                CHECK(t, !all.done[i] || is_right(&all, TERMS, i));
                CHECK(t, all.done[i] || i % 2 == 0);
                done += all.done[i];
            }
        }
    }
    CHECK(t, done > count / 2);
    clear(t, &all);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(sums_are_those_of_the_crypto_library)};

    return RUN_TESTS(argc, argv, cases);
}
