/* Projections of updates: what they keep on average, what they never exceed, and the law of a release that is lifted. */
#include "learn/projection.h"
#include "noise/randomizer_vector.h"
#include "sim/random.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { FROM = 1000, TO = 96, GROUPS = 11 };

static const uint8_t seed[SOTTO_PROJECTION_SEED] = {3, 1, 4};

static sotto_projection of(sotto_test *t, uint64_t round)
{
    sotto_projection p;

    CHECK_OK(t, sotto_projection_init(&p, FROM, TO, seed, round, &t->err));
    return p;
}

static void start(sotto_entropy *out, sotto_sim_random *random, uint64_t number)
{
    sotto_sim_random_init(random, number);
    sotto_entropy_init(out, sotto_sim_random_fill, random);
}

/* Some large numbers, many small ones. */
static double draw_vector(float x[FROM], uint64_t number)
{
    sotto_sim_random random;
    double square = 0;

    sotto_sim_random_init(&random, number);
    for (size_t i = 0; i < FROM; i++) {
        int8_t byte;

        sotto_sim_random_bytes(&random, &byte, 1);
        x[i] = (float)byte * (i % 50 ? 0.001F : 0.02F);
        square += (double)x[i] * (double)x[i];
    }
    return square;
}

static double square_of(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sum;
}

static void lifting_is_the_transpose_of_projecting(sotto_test *t)
{
    const sotto_projection p = of(t, 7);
    float x[FROM];
    double there[TO], left = 0, right = 0;
    int64_t y[TO], back[FROM];

    (void)draw_vector(x, 1);
    for (size_t i = 0; i < TO; i++)
        y[i] = (int64_t)(i * i % 37) - 18;
    CHECK_OK(t, sotto_projection_apply(&p, there, x, &t->err));
    CHECK_OK(t, sotto_projection_lift(&p, back, y, &t->err));
    for (size_t i = 0; i < TO; i++)
        left += there[i] * (double)y[i];
    for (size_t i = 0; i < FROM; i++)
        right += (double)x[i] * (double)back[i];
    CHECK_NEAR(t, left, right, 1e-9);
}

/* Each number has a parameter of every group but for the last, whose parameters are 40 of them. So the norm of the lift is exact. */
static void a_lifted_sum_is_as_long_as_is_counted(sotto_test *t)
{
    for (uint64_t round = 0; round < 20; round++) {
        const sotto_projection p = of(t, round);
        unsigned longest = 0;

        for (size_t i = 0; i < TO; i++) {
            int64_t y[TO] = {0}, back[FROM];
            unsigned square = 0;

            y[i] = 1;
            CHECK_OK(t, sotto_projection_lift(&p, back, y, &t->err));
            for (size_t k = 0; k < FROM; k++) {
                CHECK(t, back[k] >= -1 && back[k] <= 1);
                square += back[k] != 0;
            }
            CHECK(t, square == GROUPS || square == GROUPS - 1);
            longest = square > longest ? square : longest;
        }
        CHECK_EQUAL(t, GROUPS, longest);
    }
}

/* Over matrices, the mean of what is projected and lifted is the vector, and the mean of the square of the norm is the vector's. The
 * variance of that square is at most 2 |x|^4 / TO. */
static void means_are_kept_over_rounds(sotto_test *t)
{
    enum { ROUNDS = SOTTO_TEST_DRAWS(4000) };
    float x[FROM];
    static double mean[FROM];
    const double square = draw_vector(x, 2), spread = 2 * square * square / TO;
    double norms = 0, squares = 0, far = 0;

    memset(mean, 0, sizeof mean);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const sotto_projection p = of(t, round);
        double there[TO];
        int64_t steps[TO], back[FROM];

        CHECK_OK(t, sotto_projection_apply(&p, there, x, &t->err));
        const double norm = square_of(there, TO) / square;
        norms += norm / ROUNDS;
        squares += (norm - 1) * (norm - 1) / ROUNDS;
        for (size_t i = 0; i < TO; i++)
            steps[i] = llround(there[i] * 0x1p40);
        CHECK_OK(t, sotto_projection_lift(&p, back, steps, &t->err));
        for (size_t i = 0; i < FROM; i++)
            mean[i] += (double)back[i] * 0x1p-40 / ROUNDS;
    }
    /* Five deviations of a mean of ROUNDS. */
    CHECK_NEAR(t, 1, norms, 5 * sqrt(spread / ROUNDS) / square);
    CHECK(t, squares * square * square <= 1.3 * spread);
    for (size_t i = 0; i < FROM; i++)
        far += (mean[i] - (double)x[i]) * (mean[i] - (double)x[i]);
    /* A single one is off by up to GROUPS - 1 times the vector; the mean of all by that over ROUNDS. */
    CHECK(t, far <= 1.2 * (GROUPS - 1) * square / ROUNDS);
    CHECK(t, far > 0);
}

/* Devices and whoever lifts derive it by themselves: the numbers are pinned. */
static void recipe_and_round_say_which_matrix_it_is(sotto_test *t)
{
    static const int64_t wanted[8] = {-81, 3, 66, 60, 87, 70, 62, 96};
    int64_t y[TO], first[FROM], again[FROM], other[FROM];
    uint8_t another[SOTTO_PROJECTION_SEED] = {3, 1, 5};
    sotto_projection p = of(t, 5);

    for (size_t i = 0; i < TO; i++)
        y[i] = (int64_t)i + 1;
    CHECK_OK(t, sotto_projection_lift(&p, first, y, &t->err));
    CHECK_OK(t, sotto_projection_lift(&p, again, y, &t->err));
    CHECK(t, memcmp(first, again, sizeof first) == 0);
    for (size_t i = 0; i < 8; i++)
        CHECK_EQUAL(t, wanted[i], first[i * 120]);
    p = of(t, 6);
    CHECK_OK(t, sotto_projection_lift(&p, other, y, &t->err));
    CHECK(t, memcmp(first, other, sizeof first) != 0);
    CHECK_OK(t, sotto_projection_init(&p, FROM, TO, another, 5, &t->err));
    CHECK_OK(t, sotto_projection_lift(&p, other, y, &t->err));
    CHECK(t, memcmp(first, other, sizeof first) != 0);
}

static void a_projection_has_fewer_numbers(sotto_test *t)
{
    sotto_projection p;

    CHECK_STATUS(t, SOTTO_DENIED, sotto_projection_init(&p, TO, TO, seed, 0, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_projection_init(&p, FROM, 0, seed, 0, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_projection_init(&p, ((size_t)1 << 24) + 1, TO, seed, 0, &t->err));
    CHECK_OK(t, sotto_projection_init(&p, TO + 1, TO, seed, 0, &t->err));
}

/* ---- clip and noise ------------------------------------------------------------------------------------------------- */

enum { DEVICES = 40, CELLS = 16 };

static const double CLIP = 1, SCALE = 400, SIGMA = 2;

static void open_randomizer(sotto_test *t, sotto_vector_randomizer *r)
{
    const sotto_vector_config config = {.law = SOTTO_SHARE_GAUSSIAN,
                                        .adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                                        .dimension = TO,
                                        .clip = CLIP,
                                        .scale = SCALE,
                                        .sigma = SIGMA,
                                        .honest = DEVICES};

    CHECK_OK(t, sotto_vector_randomizer_init(r, &config, &t->arena, &t->err));
}

/* A vector that lies in one number alone gets as long as the root of the groups, and is sent as long as the clip. */
static void what_a_projection_makes_longer_is_clipped(sotto_test *t)
{
    const sotto_projection p = of(t, 9);
    sotto_vector_randomizer r;
    sotto_sim_random random;
    sotto_entropy entropy;
    int64_t one[TO] = {0}, row[FROM], sent[TO];
    float x[FROM];
    double there[TO], square = 0;

    open_randomizer(t, &r);
    r.config.law = SOTTO_SHARE_NONE;
    start(&entropy, &random, 4);
    one[0] = 1;
    CHECK_OK(t, sotto_projection_lift(&p, row, one, &t->err));
    for (size_t i = 0; i < FROM; i++)
        square += (double)(row[i] * row[i]);
    for (size_t i = 0; i < FROM; i++)
        x[i] = (float)(CLIP * (double)row[i] / sqrt(square)); /* as long as the clip */
    CHECK_OK(t, sotto_projection_apply(&p, there, x, &t->err));
    CHECK_NEAR(t, CLIP * sqrt(square), sqrt(square_of(there, TO)), 1e-5);
    CHECK_OK(t, sotto_vector_randomizer_run(&r, sent, there, 1, &entropy, &t->err));
    square = 0;
    for (size_t i = 0; i < TO; i++)
        square += (double)(sent[i] * sent[i]);
    CHECK(t, square <= (double)r.norm2);
    CHECK(t, fabs((double)sent[0]) > 0.99 * CLIP * SCALE);
}

/* How many standard deviations a chi-square is off, by Wilson and Hilferty. */
static double chi_off(const double *seen, size_t cells, double each)
{
    const double freedom = (double)cells - 1, spread = 2 / (9 * freedom);
    double chi = 0;

    for (size_t i = 0; i < cells; i++)
        chi += (seen[i] - each) * (seen[i] - each) / each;
    return (cbrt(chi / freedom) - (1 - spread)) / sqrt(spread);
}

/* One of CELLS that are equally likely. */
static size_t cell_of(int64_t noise)
{
    const double below = CELLS * erfc(-(double)noise / (SIGMA * SCALE) / sqrt(2)) / 2;

    return below < CELLS ? (size_t)below : CELLS - 1;
}

/* What is released of a round, less what was rounded, is Gaussian noise of sigma on every number. Lifted, it is so on every
 * parameter of a group. By chi-square, over cells that are equally likely. */
static void noise_on_a_lifted_release_has_the_law_that_is_claimed(sotto_test *t)
{
    enum { ROUNDS = SOTTO_TEST_DRAWS(200) };
    double cells[CELLS] = {0}, lifted_cells[CELLS] = {0};
    sotto_vector_randomizer r;
    sotto_sim_random random;
    sotto_entropy entropy;

    open_randomizer(t, &r);
    sotto_vector_randomizer quiet = r;
    quiet.config.law = SOTTO_SHARE_NONE;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const sotto_projection p = of(t, round);
        int64_t noise[TO] = {0}, lifted[FROM], numbers[TO], rounded[TO];
        float x[FROM];
        double there[TO];

        (void)draw_vector(x, round);
        CHECK_OK(t, sotto_projection_apply(&p, there, x, &t->err));
        for (unsigned device = 0; device < DEVICES; device++) {
            const uint64_t coins = round * DEVICES + device;

            /* The same coins twice, once without noise: rounding draws its coins first. */
            start(&entropy, &random, coins);
            CHECK_OK(t, sotto_vector_randomizer_run(&quiet, rounded, there, 1, &entropy, &t->err));
            start(&entropy, &random, coins);
            CHECK_OK(t, sotto_vector_randomizer_run(&r, numbers, there, 1, &entropy, &t->err));
            for (size_t i = 0; i < TO; i++)
                noise[i] += numbers[i] - rounded[i];
        }
        CHECK_OK(t, sotto_projection_lift(&p, lifted, noise, &t->err));
        /* Of the parameters those of one group, which are of different numbers. */
        for (size_t i = 0; i < TO; i++) {
            cells[cell_of(noise[i])]++;
            lifted_cells[cell_of(lifted[i])]++;
        }
    }
    CHECK(t, fabs(chi_off(cells, CELLS, (double)ROUNDS * TO / CELLS)) < 4.9);
    CHECK(t, fabs(chi_off(lifted_cells, CELLS, (double)ROUNDS * TO / CELLS)) < 4.9);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(lifting_is_the_transpose_of_projecting),
        CASE(a_lifted_sum_is_as_long_as_is_counted),
        CASE(means_are_kept_over_rounds),
        CASE(recipe_and_round_say_which_matrix_it_is),
        CASE(a_projection_has_fewer_numbers),
        CASE(what_a_projection_makes_longer_is_clipped),
        CASE(noise_on_a_lifted_release_has_the_law_that_is_claimed),
    };

    return RUN_TESTS(argc, argv, cases);
}
