/* Training on made-up digits with noise by shares: projected to a fifth of the numbers, a model is nearly as good. All of a round is
 * played here: devices train, project, clip, round and add their noise; the sum is lifted, and the session steps. */
#include "learn/projection.h"
#include "learn/session.h"
#include "learn/train.h"
#include "learn_digits.h"
#include "noise/randomizer_vector.h"
#include "sim/random.h"
#include "support/test.h"

#include <string.h>

enum { USERS = 150, ROWS = 20, TEST = 1000, ROUNDS = 10, PARAMETERS = 7850, TO = 1500 };

static const double CLIP = 1, SCALE = 4096, MULTIPLIER = 0.65;
static const uint8_t seed[SOTTO_PROJECTION_SEED] = {9};

typedef struct play {
    sotto_dataset data;
    sotto_model model;
    sotto_learner learner;
    sotto_session session;
    sotto_vector_randomizer randomizer;
    size_t numbers;
    bool lifted_by_another; /* matrix than the devices' */
} play;

static void open_play(sotto_test *t, play *p, size_t numbers)
{
    const sotto_step_config step = {SOTTO_OPTIMIZER_SGD, 1, 1, 0.9, 0.99, 1e-3};
    const sotto_vector_config config = {.law = SOTTO_SHARE_GAUSSIAN,
                                        .adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                                        .dimension = numbers,
                                        .clip = CLIP,
                                        .scale = SCALE,
                                        .sigma = MULTIPLIER * CLIP,
                                        .honest = USERS};

    *p = (play){.numbers = numbers};
    CHECK_OK(t, learn_digits_make(&p->data, USERS, ROWS, TEST, 1, &t->arena, &t->err));
    CHECK_OK(t, sotto_dataset_model(&p->model, &p->data, "logistic", &t->err));
    CHECK_EQUAL(t, PARAMETERS, p->model.parameters);
    CHECK_OK(t, sotto_learner_init(&p->learner, &p->model, TEST, &t->arena, &t->err));
    CHECK_OK(t, sotto_session_init(&p->session, &p->model, &step, sotto_bytes_of("digits", 6), 1, 1,
                                   &t->arena, &t->err));
    CHECK_OK(t, sotto_vector_randomizer_init(&p->randomizer, &config, &t->arena, &t->err));
}

static void answer(sotto_test *t, play *p, const sotto_projection *projection, size_t user,
                   int64_t *sum)
{
    static float delta[PARAMETERS];
    static double update[PARAMETERS];
    static int64_t sent[PARAMETERS];
    const uint64_t coins = p->session.round * USERS + user;
    const sotto_training training = {
        .epochs = 3, .batch = 10, .rate = 0.2, .clip = CLIP, .seed = coins};
    const sotto_examples rows = sotto_dataset_rows(&p->data, user * ROWS, ROWS);
    sotto_training_facts facts;
    sotto_sim_random random;
    sotto_entropy entropy;

    sotto_train(&p->learner, p->session.weights, &rows, &training, delta, &facts);
    if (p->numbers < PARAMETERS)
        CHECK_OK(t, sotto_projection_apply(projection, update, delta, &t->err));
    for (size_t i = 0; i < PARAMETERS && p->numbers == PARAMETERS; i++)
        update[i] = (double)delta[i];
    sotto_sim_random_init(&random, coins);
    sotto_entropy_init(&entropy, sotto_sim_random_fill, &random);
    CHECK_OK(t, sotto_vector_randomizer_run(&p->randomizer, sent, update, 1, &entropy, &t->err));
    for (size_t i = 0; i < p->numbers; i++)
        sum[i] += sent[i];
}

static void close_round(sotto_test *t, play *p)
{
    static int64_t sum[PARAMETERS], lifted[PARAMETERS];
    const int64_t *all = sum;
    sotto_projection projection;

    memset(sum, 0, sizeof sum);
    if (p->numbers < PARAMETERS)
        CHECK_OK(t, sotto_projection_init(&projection, PARAMETERS, p->numbers, seed,
                                          p->session.round, &t->err));
    for (size_t user = 0; user < USERS; user++)
        answer(t, p, &projection, user, sum);
    if (p->numbers < PARAMETERS) {
        projection.round += p->lifted_by_another;
        CHECK_OK(t, sotto_projection_lift(&projection, lifted, sum, &t->err));
        all = lifted;
    }
    sotto_session_close_round(&p->session, all, 1 / (SCALE * USERS), USERS);
}

static double train(sotto_test *t, play *p)
{
    const sotto_examples rows = sotto_dataset_rows(&p->data, (size_t)USERS * ROWS, TEST);
    sotto_score score = {0};

    while (p->session.round < ROUNDS)
        close_round(t, p);
    sotto_model_gradient(&p->learner, p->session.weights, &rows, NULL, 0, TEST, NULL, &score);
    return (double)score.right / (double)score.answers;
}

/* By fixed seeds: 84.1 percent both with all numbers and with a fifth of them. The bound is five points. */
static void a_projected_model_is_nearly_as_good(sotto_test *t)
{
    static play p;

    open_play(t, &p, PARAMETERS);
    const double whole = train(t, &p);
    open_play(t, &p, TO);
    const double projected = train(t, &p);
    CHECK(t, whole > 0.75);
    CHECK(t, projected > whole - 0.05);
}

/* Lifted by the matrix of the next round, a sum is noise. */
static void a_sum_that_is_lifted_by_another_matrix_teaches_nothing(sotto_test *t)
{
    static play p;

    open_play(t, &p, TO);
    p.lifted_by_another = true;
    CHECK(t, train(t, &p) < 0.3);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_projected_model_is_nearly_as_good),
        CASE(a_sum_that_is_lifted_by_another_matrix_teaches_nothing),
    };

    return RUN_TESTS(argc, argv, cases);
}
