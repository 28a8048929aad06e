/* What a device makes of an update before it is sealed: weighed by its rows, projected to fewer numbers, and clipped after both. */
#include "device/answer/shape.h"
#include "learn/update.h"
#include "support/learners.h"

#include <math.h>
#include <string.h>

static sotto_test_learner one;

/* The numbers of the update of a round, as both servers find them; `count` of them. */
static void answer(sotto_test *t, int64_t *update, const char *shape, float entry, uint64_t round)
{
    sotto_test_learner_start(t, &one, "\"scale\": 4096", shape);
    one.entry = entry;
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, round));
    CHECK_EQUAL(t, 2, one.rows);
    CHECK_STATUS(t, SOTTO_OK,
                 sotto_test_learner_update(
                     &one, update, 0, sotto_test_round_record(t, one.recipe, round, one.model)));
}

static void check_all(sotto_test *t, const char *shape, float entry, int64_t steps)
{
    int64_t update[SOTTO_TEST_PARAMETERS];

    answer(t, update, shape, entry, 0);
    for (size_t i = 0; i < SOTTO_TEST_PARAMETERS; i++)
        CHECK(t, update[i] == steps || update[i] == steps + 1);
    sotto_test_phone_close(&one.phone);
}

#define CAPPED "\"scale\": 4096, \"weights\": \"capped\", \"cap\": "

/* The device has two rows. With a cap of one or two it counts fully, as with equal weights. */
static void a_device_with_the_caps_rows_counts_as_with_equal_weights(sotto_test *t)
{
    check_all(t, "\"scale\": 4096", 0.01F, 40); /* 0.01 times 4,096 */
    check_all(t, CAPPED "1", 0.01F, 40);
    check_all(t, CAPPED "2", 0.01F, 40);
}

/* most_rows is raised to ten: there are three rows, and a cap of ten. */
static void a_device_with_fewer_rows_counts_less(sotto_test *t)
{
    int64_t update[SOTTO_TEST_PARAMETERS];
    const sotto_bytes recipe = sotto_test_learning_recipe(t, sotto_test_model(t, 0.5F),
                                                          "\"most_rows\": 2", "\"most_rows\": 10");
    char *text = sotto_test_take(t, 4096);

    memcpy(text, recipe.data, recipe.len);
    text[recipe.len] = 0;
    sotto_test_learner_start(t, &one, NULL, NULL);
    one.recipe = sotto_test_replace(t, text, "\"scale\": 4096", CAPPED "10");
    one.model = sotto_test_model(t, 0.5F);
    one.entry = 0.01F;
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    CHECK_EQUAL(t, 3, one.rows);
    CHECK_STATUS(t, SOTTO_OK,
                 sotto_test_learner_update(&one, update, 0,
                                           sotto_test_round_record(t, one.recipe, 0, one.model)));
    for (size_t i = 0; i < SOTTO_TEST_PARAMETERS; i++)
        CHECK(t, update[i] == 12 || update[i] == 13); /* three tenths of 40.96 */
    /* A long update is clipped first: its weight is one of the clip, 0.5 over the root of 120 entries. */
    one.entry = 7;
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 2));
    CHECK_STATUS(t, SOTTO_OK,
                 sotto_test_learner_update(&one, update, 1,
                                           sotto_test_round_record(t, one.recipe, 2, one.model)));
    for (size_t i = 0; i < SOTTO_TEST_PARAMETERS; i++)
        CHECK(t, update[i] == 56 || update[i] == 57); /* 0.3 * 186.95 */
    sotto_test_phone_close(&one.phone);
}

#define PROJECTED "\"scale\": 4096, \"projection\": {\"dimension\": 50}"

/* What leaves is the projection of the round, which whoever has the recipe derives. */
static void a_projected_update_is_of_its_round(sotto_test *t)
{
    int64_t update[SOTTO_TEST_PARAMETERS] = {0};
    float delta[SOTTO_TEST_PARAMETERS];
    double wanted[SOTTO_TEST_PARAMETERS], other[SOTTO_TEST_PARAMETERS];
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);
    const sotto_learning *l;
    bool differs = false;

    answer(t, update, PROJECTED, 0.01F, 3);
    CHECK_OK(t, sotto_learning_read(&l, one.recipe, &t->arena, mistakes, &t->err));
    CHECK_EQUAL(t, 50, sotto_learning_length(l));
    for (size_t i = 0; i < SOTTO_TEST_PARAMETERS; i++)
        delta[i] = 0.01F;
    CHECK_OK(t, sotto_update_shape(wanted, l, 3, delta, &t->err));
    CHECK_OK(t, sotto_update_shape(other, l, 4, delta, &t->err));
    for (size_t i = 0; i < 50; i++) {
        CHECK(t, fabs((double)update[i] - 4096 * wanted[i]) < 1);
        differs |= fabs((double)update[i] - 4096 * other[i]) >= 1;
    }
    CHECK(t, differs);
    sotto_test_phone_close(&one.phone);
}

/* An update far longer than the clip: what leaves is as long as the clip, whatever the projection made of it. */
static void a_projection_that_is_too_long_is_clipped(sotto_test *t)
{
    int64_t update[SOTTO_TEST_PARAMETERS] = {0};
    double square = 0;

    answer(t, update, PROJECTED, 70, 0);
    for (size_t i = 0; i < 50; i++)
        square += (double)(update[i] * update[i]);
    /* 0.5 * 4,096, and what rounding of 50 numbers adds. */
    CHECK(t, sqrt(square) > 2040 && sqrt(square) < 2060);
    sotto_test_phone_close(&one.phone);
}

/* The generator's stream from before a round on, as far as the seed that the trainer was told: what follows rounds the update. */
static void skip_to_rounding(sotto_test *t, sotto_sim_random *random)
{
    uint64_t word = 0;

    for (int i = 0; i < 4096 && word != one.seed; i++)
        sotto_sim_random_bytes(random, &word, sizeof word);
    CHECK_EQUAL(t, one.seed, word);
}

/* What the simulator adds up where a device of its own has this update and these coins. */
static void encode_as_simulated(sotto_test *t, int64_t *out, sotto_sim_random *random)
{
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);
    double numbers[SOTTO_TEST_PARAMETERS];
    float delta[SOTTO_TEST_PARAMETERS];
    const sotto_learning *l;
    sotto_projection matrix;
    sotto_entropy entropy;
    sotto_update update;
    uint64_t weight;

    CHECK_OK(t, sotto_learning_read(&l, one.recipe, &t->arena, mistakes, &t->err));
    const sotto_update_config config = {.dimension = (size_t)sotto_learning_length(l),
                                        .weights = l->weights,
                                        .cap = l->cap,
                                        .clip = l->clip,
                                        .scale = (double)l->scale,
                                        .most = 1000,
                                        .bits = 62};
    CHECK_OK(t, sotto_update_init(&update, &config, &t->arena, &t->err));
    for (size_t i = 0; i < SOTTO_TEST_PARAMETERS; i++) {
        delta[i] = one.entry + one.slope * (float)i;
        numbers[i] = (double)delta[i];
    }
    if (l->projected > 0) {
        CHECK_OK(t, sotto_update_projection(&matrix, l, 0, &t->err));
        CHECK_OK(t, sotto_projection_apply(&matrix, numbers, delta, &t->err));
    }
    sotto_entropy_init(&entropy, sotto_sim_random_fill, random);
    CHECK_OK(t, sotto_update_encode(&update, out, &weight, numbers, one.rows, &entropy, &t->err));
}

/* One function rounds for both. A device is clipped, weighed and projected; its update has entries of both signs. */
static void a_simulated_device_has_the_same_integers(sotto_test *t)
{
    static const char *const shapes[] = {"\"scale\": 4096", CAPPED "2", CAPPED "1", PROJECTED};
    static const float sizes[] = {1e-4F, 0.1F}; /* below the clip, and above */

    for (size_t i = 0; i < 2 * sizeof shapes / sizeof shapes[0]; i++) {
        int64_t sent[SOTTO_TEST_PARAMETERS] = {0}, simulated[SOTTO_TEST_PARAMETERS] = {0};

        sotto_test_learner_start(t, &one, "\"scale\": 4096", shapes[i / 2]);
        one.entry = -50 * sizes[i % 2];
        one.slope = sizes[i % 2];
        sotto_sim_random random = one.phone.random;
        CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
        CHECK_STATUS(t, SOTTO_OK,
                     sotto_test_learner_update(
                         &one, sent, 0, sotto_test_round_record(t, one.recipe, 0, one.model)));
        skip_to_rounding(t, &random);
        encode_as_simulated(t, simulated, &random);
        CHECK_BYTES(t, simulated, sent, sizeof sent);
        CHECK(t, sent[0] != 0);
        sotto_test_phone_close(&one.phone);
    }
}

/* The step adds up what devices sent, and gets one number for each parameter. */
static void a_sum_is_lifted_by_the_matrix_of_its_round(sotto_test *t)
{
    int64_t sum[SOTTO_TEST_PARAMETERS], lifted[SOTTO_TEST_PARAMETERS], back[SOTTO_TEST_PARAMETERS];
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);
    const sotto_learning *l;
    sotto_projection p;

    const sotto_bytes recipe =
        sotto_test_learning_recipe(t, sotto_test_model(t, 0.5F), "\"scale\": 4096", PROJECTED);
    CHECK_OK(t, sotto_learning_read(&l, recipe, &t->arena, mistakes, &t->err));
    for (size_t i = 0; i < SOTTO_TEST_PARAMETERS; i++)
        sum[i] = (int64_t)i * 17 - 400;
    CHECK_OK(t, sotto_update_projection(&p, l, 5, &t->err));
    CHECK_OK(t, sotto_projection_lift(&p, lifted, sum, &t->err));
    CHECK_OK(t, sotto_update_unshape(back, l, 5, sum, &t->err));
    CHECK(t, memcmp(lifted, back, sizeof lifted) == 0);
    CHECK_OK(t, sotto_update_unshape(back, l, 6, sum, &t->err));
    CHECK(t, memcmp(lifted, back, sizeof lifted) != 0);
    sotto_learning plain = *l;
    plain.projected = 0;
    CHECK_OK(t, sotto_update_unshape(back, &plain, 5, sum, &t->err));
    CHECK(t, memcmp(sum, back, sizeof sum) == 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_device_with_the_caps_rows_counts_as_with_equal_weights),
        CASE(a_device_with_fewer_rows_counts_less),
        CASE(a_projected_update_is_of_its_round),
        CASE(a_projection_that_is_too_long_is_clipped),
        CASE(a_sum_is_lifted_by_the_matrix_of_its_round),
        CASE(a_simulated_device_has_the_same_integers),
    };

    return RUN_TESTS(argc, argv, cases);
}
