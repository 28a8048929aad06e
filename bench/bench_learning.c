/* What training costs on one core: a device's update, and a round of a hundred of them. bench/peers/torch_learning.py is the
 * same work in PyTorch. */
#include "bench.h"

#include "learn/random.h"
#include "learn/session.h"
#include "learn/train.h"
#include "learn/update.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 100, DEVICES = 100 };

typedef struct client {
    sotto_arena arena;
    sotto_model model;
    sotto_learner learner;
    sotto_update update;
    sotto_session session;
    sotto_entropy entropy;
    sotto_examples examples;
    uint64_t state;
    float *delta;
    double *shaped;
    int64_t *integers, *sum;
} client;

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    uint64_t *state = context;
    uint8_t *to = out;

    (void)err;
    for (size_t at = 0; at < len; at += 8) {
        const uint64_t number = sotto_learn_number(state);

        memcpy(to + at, &number, len - at < 8 ? len - at : 8);
    }
    return SOTTO_OK;
}

static void *take(client *c, size_t count, size_t size)
{
    void *room = sotto_arena_take_array(&c->arena, count, size);

    if (!room)
        sotto_bench_fail("no memory");
    return room;
}

static void prepare(client *c, const char *name)
{
    const size_t classes = strcmp(name, "lenet") == 0 ? 62 : 10;
    const sotto_step_config step = {SOTTO_OPTIMIZER_SGD, 1, 1, 0, 0, 0};
    sotto_err err = {0};
    uint8_t *bytes, *labels;

    memset(c, 0, sizeof *c);
    sotto_arena_init(&c->arena, (size_t)1 << 30);
    sotto_bench_expect(sotto_model_named(&c->model, name, classes, &err) == SOTTO_OK, err.reason);
    const sotto_update_config update = {.dimension = c->model.parameters,
                                        .weights = SOTTO_WEIGHTS_EQUAL,
                                        .clip = 0.5,
                                        .scale = 32768,
                                        .multiplier = 1,
                                        .draws = 1,
                                        .most = DEVICES,
                                        .bits = 40};
    sotto_bench_expect(
        sotto_learner_init(&c->learner, &c->model, ROWS, &c->arena, &err) == SOTTO_OK &&
            sotto_update_init(&c->update, &update, &c->arena, &err) == SOTTO_OK &&
            sotto_session_init(&c->session, &c->model, &step, sotto_bytes_of("bench", 5), 1, 1,
                               &c->arena, &err) == SOTTO_OK,
        err.reason);
    sotto_entropy_init(&c->entropy, fill, &c->state);
    bytes = take(c, ROWS, c->model.width);
    labels = take(c, ROWS, 1);
    for (size_t i = 0; i < ROWS * c->model.width; i++)
        bytes[i] =
            (uint8_t)sotto_learn_below(&c->state, (uint32_t)(c->model.answers > 1 ? classes : 256));
    for (size_t i = 0; i < ROWS; i++)
        labels[i] = (uint8_t)sotto_learn_below(&c->state, (uint32_t)classes);
    c->examples = (sotto_examples){
        .bytes = bytes, .labels = c->model.answers > 1 ? NULL : labels, .count = ROWS};
    c->delta = take(c, c->model.parameters, sizeof *c->delta);
    c->shaped = take(c, c->model.parameters, sizeof *c->shaped);
    c->integers = take(c, c->model.parameters, sizeof *c->integers);
    c->sum = take(c, c->model.parameters, sizeof *c->sum);
}

/* 100 examples, batches of 20, one epoch, clipped after each batch. */
static void train(void *arg)
{
    client *c = arg;
    const sotto_training training = {
        .epochs = 1, .batch = 20, .rate = 0.1, .clip = 0.5, .seed = c->state++};
    sotto_training_facts facts;

    sotto_train(&c->learner, c->session.weights, &c->examples, &training, c->delta, &facts);
    sotto_bench_expect(!facts.failed && facts.steps == 5, "training failed");
}

/* A hundred of them, rounded, added up, with noise, and a step. */
static void round_of_devices(void *arg)
{
    client *c = arg;
    sotto_err err = {0};
    uint64_t weight;

    memset(c->sum, 0, c->model.parameters * sizeof *c->sum);
    for (int i = 0; i < DEVICES; i++) {
        train(c);
        for (size_t k = 0; k < c->model.parameters; k++)
            c->shaped[k] = (double)c->delta[k];
        sotto_bench_expect(sotto_update_encode(&c->update, c->integers, &weight, c->shaped, ROWS,
                                               &c->entropy, &err) == SOTTO_OK,
                           err.reason);
        sotto_update_add(c->sum, c->integers, c->model.parameters);
    }
    sotto_bench_expect(sotto_update_add_noise(&c->update, c->sum, &c->entropy, &err) == SOTTO_OK,
                       err.reason);
    sotto_session_close_round(&c->session, c->sum, 1 / (32768.0 * DEVICES), DEVICES);
}

void sotto_bench_learning(const sotto_bench *b)
{
    static const char *const models[] = {"lenet", "mlp", "logistic", "gru"};
    static client c;

    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char names[2][64];

        (void)snprintf(names[0], sizeof names[0], "learning/client/%s", models[i]);
        (void)snprintf(names[1], sizeof names[1], "learning/round-of-100/%s", models[i]);
        if (!sotto_bench_wanted(b, names[0]) && !sotto_bench_wanted(b, names[1]))
            continue;
        prepare(&c, models[i]);
        if (sotto_bench_wanted(b, names[0]))
            sotto_bench_run(b, names[0], train, &c, 1);
        if (i == 0 && sotto_bench_wanted(b, names[1]))
            sotto_bench_run(b, names[1], round_of_devices, &c, 1);
        sotto_arena_clear(&c.arena);
    }
}
