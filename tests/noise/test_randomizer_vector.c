/* Vectors with shares of noise: the sum is right, its noise is what was asked for, the norm is kept. */
#include "noise/estimate.h"
#include "noise/randomizer_vector.h"
#include "noise_support.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

enum { DIMENSION = 40 };

static sotto_vector_config usual(sotto_share_law law)
{
    return (sotto_vector_config){.law = law,
                                 .adjacency = SOTTO_ADJACENCY_ADD_REMOVE,
                                 .dimension = DIMENSION,
                                 .clip = 1,
                                 .scale = 100,
                                 .sigma = 2,
                                 .honest = 1000};
}

static void claims_follow_from_the_parameters(sotto_test *t)
{
    sotto_vector_config c = usual(SOTTO_SHARE_GAUSSIAN);
    sotto_vector_randomizer r, replaced;

    CHECK_OK(t, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    CHECK_NEAR(t, sqrt(40), r.device_sigma, 1e-3);
    CHECK(t, r.sigma >= 2 && r.sigma < 2.001);
    /* The smaller of (100 + sqrt 40)^2 and 100^2 + 10 + 7.447 (100 + sqrt(10)) */
    CHECK_NEAR(t, 10778.3, (double)r.norm2, 1);
    CHECK_NEAR(t, sqrt((double)r.norm2) / 100, r.sensitivity, 1e-12);
    CHECK(t, r.tau < 1e-100);
    c.adjacency = SOTTO_ADJACENCY_REPLACEMENT;
    CHECK_OK(t, sotto_vector_randomizer_init(&replaced, &c, &t->arena, &t->err));
    CHECK_NEAR(t, 2 * r.sensitivity, replaced.sensitivity, 1e-12);
    c.scale = 100 / sqrt(10); /* a share of exactly two grid units */
    CHECK_OK(t, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    CHECK(t, r.tau > 6e-17 && r.tau < 8e-17);
}

/* Half of the people have a vector, longer than the clip; the others have none. */
static void check_sums(sotto_test *t, sotto_share_law law, uint64_t seed)
{
    enum { ROUNDS = 100, PEOPLE = 200 };
    sotto_vector_config c = usual(law);
    sotto_vector_randomizer r;
    sotto_sim_random random;
    sotto_entropy entropy;
    double x[DIMENSION], length = 0, bias = 0, squares = 0, expected = 0;

    CHECK_OK(t, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    sotto_sim_random_init(&random, seed);
    sotto_entropy_init(&entropy, noise_fill_sim, &random);
    for (size_t i = 0; i < DIMENSION; i++) {
        x[i] = (i % 2 ? -1.0 : 1.0) * (double)(i + 1) / 7;
        length += x[i] * x[i];
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        double sum[DIMENSION] = {0};

        for (unsigned p = 0; p < PEOPLE; p++) {
            int64_t out[DIMENSION];

            CHECK_OK(t, sotto_vector_randomizer_run(&r, out, x, p % 2, &entropy, &t->err));
            for (size_t i = 0; i < DIMENSION; i++) {
                CHECK(t, (uint64_t)llabs(out[i]) <= r.most);
                sum[i] += (double)out[i];
            }
        }
        for (size_t i = 0; i < DIMENSION; i++) {
            sotto_estimate e = sotto_estimate_coordinate(&r, sum[i], PEOPLE);
            double off = e.value - PEOPLE / 2 * x[i] / sqrt(length);

            bias += x[i] < 0 ? -off : off; /* errors that shrink or stretch do not cancel */
            squares += off * off;
            expected = e.variance;
        }
    }
    CHECK_NEAR(t, 0, bias / (ROUNDS * DIMENSION), 5 * sqrt(expected / (ROUNDS * DIMENSION)));
    /* Rounding adds up to 1/4 where it is 40 without. */
    CHECK_NEAR(t, 1, squares / (ROUNDS * DIMENSION) / expected,
               5 * sqrt(2.0 / (ROUNDS * DIMENSION)) + 0.007);
}

static void sums_are_unbiased_with_the_stated_variance(sotto_test *t)
{
    check_sums(t, SOTTO_SHARE_GAUSSIAN, 1);
    check_sums(t, SOTTO_SHARE_SKELLAM, 2);
}

static uint64_t always_up(uint64_t position)
{
    (void)position;
    return 0;
}

/* A tenth of a grid unit in each of 10,000 coordinates, all rounded up: a norm of 100 where 10 came in. */
static void a_vector_that_rounding_makes_too_long_is_left_out(sotto_test *t)
{
    enum { MANY = 10000 };
    static double x[MANY];
    static int64_t with[MANY], without[MANY];
    sotto_vector_config c = usual(SOTTO_SHARE_GAUSSIAN);
    sotto_vector_randomizer r;
    noise_words words = {0, always_up};
    sotto_entropy entropy;

    c.dimension = MANY;
    CHECK_OK(t, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    for (size_t i = 0; i < MANY; i++)
        x[i] = 1e-3;
    sotto_entropy_init(&entropy, noise_fill_words, &words);
    CHECK_OK(t, sotto_vector_randomizer_run(&r, with, x, 1, &entropy, &t->err));
    CHECK_OK(t, sotto_vector_randomizer_run(&r, without, x, 0, &entropy, &t->err));
    CHECK(t, r.norm2 >= MANY); /* all ones still fit */
    CHECK(t, with[0] == without[0] + 1);
    c.clip = 0.1; /* ten grid units */
    CHECK_OK(t, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    CHECK(t, r.norm2 < MANY);
    CHECK_OK(t, sotto_vector_randomizer_run(&r, with, x, 1, &entropy, &t->err));
    CHECK_OK(t, sotto_vector_randomizer_run(&r, without, x, 0, &entropy, &t->err));
    CHECK_BYTES(t, without, with, sizeof with);
}

static void numbers_that_are_none_count_as_zeros(sotto_test *t)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e200};
    sotto_vector_config c = usual(SOTTO_SHARE_GAUSSIAN);
    sotto_vector_randomizer r;

    CHECK_OK(t, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double x[DIMENSION] = {0.1, bad[i], 0.3}, zeros[DIMENSION] = {0};
        int64_t with[DIMENSION], without[DIMENSION];
        noise_words words = {0, always_up};
        sotto_entropy entropy;

        sotto_entropy_init(&entropy, noise_fill_words, &words);
        CHECK_OK(t, sotto_vector_randomizer_run(&r, with, x, 1, &entropy, &t->err));
        CHECK_OK(t, sotto_vector_randomizer_run(&r, without, zeros, 1, &entropy, &t->err));
        CHECK_BYTES(t, without, with, sizeof with);
        CHECK_OK(t, sotto_vector_randomizer_run(&r, without, x, 0, &entropy, &t->err));
        CHECK_BYTES(t, without, with, sizeof with);
    }
}

/* Both signs, and far longer than the clip; noise by servers, so that what is sent is the vector alone. */
static void a_long_vector_is_clipped_and_then_weighed(sotto_test *t)
{
    static const double weights[] = {1, 0.25, 0};
    sotto_vector_config c = usual(SOTTO_SHARE_NONE);
    sotto_vector_randomizer r;

    CHECK_OK(t, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    for (size_t k = 0; k < sizeof weights / sizeof weights[0]; k++) {
        noise_words words = {0, always_up};
        sotto_entropy entropy;
        int64_t out[DIMENSION];
        double x[DIMENSION];

        for (size_t i = 0; i < DIMENSION; i++)
            x[i] = (i % 2 ? 1e6 : -1e6) * c.clip;
        sotto_entropy_init(&entropy, noise_fill_words, &words);
        CHECK_OK(t, sotto_vector_randomizer_run(&r, out, x, weights[k], &entropy, &t->err));
        for (size_t i = 0; i < DIMENSION; i++) {
            const double wanted = weights[k] * c.clip * c.scale / sqrt(DIMENSION);

            CHECK_NEAR(t, i % 2 ? wanted : -wanted, (double)out[i], 1);
        }
    }
}

static void bad_parameters_are_refused_by_name(sotto_test *t)
{
    sotto_vector_randomizer r;
    sotto_vector_config c = usual(SOTTO_SHARE_GAUSSIAN);

    c.honest = 0;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    CHECK_REASON(t, "honest");
    c = usual(SOTTO_SHARE_GAUSSIAN);
    c.honest = 100000;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    CHECK_REASON(t, "scale");
    c = usual(SOTTO_SHARE_SKELLAM);
    c.sigma = NAN;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    CHECK_REASON(t, "sigma");
    c = usual(SOTTO_SHARE_SKELLAM);
    c.adjacency = (sotto_adjacency)0;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    CHECK_REASON(t, "adjacency");
    c = usual((sotto_share_law)0);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    c = usual(SOTTO_SHARE_SKELLAM);
    c.clip = INFINITY;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    CHECK_REASON(t, "clip");
}

/* ---- the norm after rounding --------------------------------------------------------------------------- */

enum { COORDINATES = 400, SQUARES = 40000 };

/* P(the square of the norm is above limit), exactly: coordinates are added one at a time, and what has passed the
 * limit never comes back. x in grid units. */
static double chance_above(const double *x, size_t count, double limit)
{
    static double law[SQUARES], next[SQUARES];
    size_t most = (size_t)limit;
    double above = 0;

    memset(law, 0, sizeof law);
    law[0] = 1;
    for (size_t i = 0; i < count; i++) {
        double floor_x = floor(x[i]), up = x[i] - floor_x;
        size_t low = (size_t)(floor_x * floor_x), high = (size_t)((floor_x + 1) * (floor_x + 1));

        memset(next, 0, sizeof next);
        for (size_t s = 0; s <= most; s++) {
            if (s + low <= most)
                next[s + low] += law[s] * (1 - up);
            else
                above += law[s] * (1 - up);
            if (s + high <= most)
                next[s + high] += law[s] * up;
            else
                above += law[s] * up;
        }
        memcpy(law, next, sizeof law);
    }
    return above;
}

/* Vectors of length c: even, of one large coordinate, random, of either sign. */
static void make_vector(double *x, size_t count, double c, unsigned shape, sotto_sim_random *random)
{
    double length = 0;

    for (size_t i = 0; i < count; i++) {
        double unit = sotto_sim_random_unit(random);

        x[i] = shape == 0 ? 1 : shape == 1 ? (i == 0 ? 30 : 0.1) : shape == 2 ? unit : unit - 0.5;
        length += x[i] * x[i];
    }
    for (size_t i = 0; i < count; i++)
        x[i] *= c / sqrt(length);
}

/* The decision 0015 proves it; here the formula with other chances, since 2^-40 is far from what happens. */
static void rounding_exceeds_the_likely_norm_as_rarely_as_proved(sotto_test *t)
{
    static const double betas[] = {0.6, 0.1, 1e-3, 1e-6, 0x1p-40};
    static const double lengths[] = {0.5, 3, 10, 60};
    static const size_t sizes[] = {1, 4, 60, COORDINATES};
    double x[COORDINATES], often = 0;
    sotto_sim_random random;

    sotto_sim_random_init(&random, 15);
    for (size_t l = 0; l < 4; l++)
        for (size_t d = 0; d < 4; d++)
            for (unsigned shape = 0; shape < 4; shape++) {
                double c = lengths[l], size = (double)sizes[d];

                make_vector(x, sizes[d], c, shape, &random);
                for (size_t b = 0; b < 5; b++) {
                    double norm2 =
                        c * c + size / 4 + sqrt(-2 * log(betas[b])) * (c + sqrt(size) / 2);
                    double chance = chance_above(x, sizes[d], norm2);

                    CHECK(t, chance <= betas[b]);
                    often = fmax(often, b == 0 ? chance : 0);
                }
                CHECK(t, chance_above(x, sizes[d], pow(c + sqrt(size), 2)) == 0);
            }
    CHECK(t, often > 0.1); /* so the bound is not idle */
}

static void a_randomizer_keeps_the_norm_as_often_as_it_says(sotto_test *t)
{
    double x[COORDINATES];
    sotto_sim_random random;

    sotto_sim_random_init(&random, 16);
    for (size_t dimension = 4; dimension <= COORDINATES; dimension *= 10)
        for (unsigned shape = 0; shape < 4; shape++) {
            sotto_vector_config c = usual(SOTTO_SHARE_GAUSSIAN);
            sotto_vector_randomizer r;

            c.dimension = dimension;
            CHECK_OK(t, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
            make_vector(x, dimension, c.clip * c.scale, shape, &random);
            CHECK(t, chance_above(x, dimension, (double)r.norm2) <= exp2(r.log2_miss));
        }
}

static uint64_t rounding_word;

/* The first word decides the rounding; the noise that follows is the same every time. */
static uint64_t rounding_first(uint64_t position)
{
    return position == 0 ? rounding_word << 48 : position * UINT64_C(0x9e3779b97f4a7c15);
}

static int64_t run_with_word(sotto_test *t, const sotto_vector_randomizer *r, double x,
                             double weight, uint64_t word)
{
    noise_words words = {0, rounding_first};
    sotto_entropy entropy;
    int64_t out = 0;

    rounding_word = word;
    sotto_entropy_init(&entropy, noise_fill_words, &words);
    CHECK_OK(t, sotto_vector_randomizer_run(r, &out, &x, weight, &entropy, &t->err));
    return out;
}

static void every_16_bit_number_rounds_as_its_fraction_says(sotto_test *t)
{
    static const double places[] = {0, 0.25, -0.25, 3.0625, -3.0625, 7.5, 0.0000152587890625};
    sotto_vector_config c = usual(SOTTO_SHARE_GAUSSIAN);
    sotto_vector_randomizer r;

    c.dimension = 1;
    c.scale = 128; /* a power of two, so that places on the grid are exact */
    CHECK_OK(t, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        double below = floor(places[i]);
        uint64_t up = 0;

        for (uint64_t word = 0; word < 65536; word++) {
            int64_t moved =
                run_with_word(t, &r, places[i] / 128, 1, word) - run_with_word(t, &r, 0, 0, word);

            CHECK(t, moved == (int64_t)below || moved == (int64_t)below + 1);
            up += moved > (int64_t)below;
        }
        CHECK_EQUAL(t, (uint64_t)((places[i] - below) * 65536), up);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(claims_follow_from_the_parameters),
        CASE(sums_are_unbiased_with_the_stated_variance),
        CASE(a_vector_that_rounding_makes_too_long_is_left_out),
        CASE(numbers_that_are_none_count_as_zeros),
        CASE(a_long_vector_is_clipped_and_then_weighed),
        CASE(bad_parameters_are_refused_by_name),
        CASE(rounding_exceeds_the_likely_norm_as_rarely_as_proved),
        CASE(a_randomizer_keeps_the_norm_as_often_as_it_says),
        CASE(every_16_bit_number_rounds_as_its_fraction_says),
    };
    return RUN_TESTS(argc, argv, cases);
}
