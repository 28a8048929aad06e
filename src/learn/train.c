#include "learn/train.h"

#include "learn/random.h"

#include <math.h>
#include <string.h>

#include "base/rule.h"

sotto_status sotto_training_check(const sotto_training *t, sotto_err *err)
{
    if (t->epochs < 1 || t->epochs > 1000)
        return sotto_fail(err, SOTTO_DENIED, "training: epochs: 1 to 1000 wanted");
    if (!(t->rate > 0 && t->rate <= 1000))
        return sotto_fail(err, SOTTO_DENIED, "training: rate: above 0, up to 1000, wanted");
    if (!(t->clip >= 0 && t->clip <= 1e6))
        return sotto_fail(err, SOTTO_DENIED, "training: clip: 0 to 10^6 wanted");
    return SOTTO_OK;
}

/* Fisher and Yates: each order is equally likely. */
static void shuffle(uint32_t *order, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        const size_t j = sotto_learn_below(state, (uint32_t)i);
        const uint32_t kept = order[i - 1];

        order[i - 1] = order[j];
        order[j] = kept;
    }
}

static void pull_back(float *weights, const float *start, double factor, size_t count)
{
    const float part = (float)factor;

    for (size_t i = 0; i < count; i++)
        weights[i] = start[i] + (weights[i] - start[i]) * part;
}

static void take_step(const sotto_learner *l, const float *start, const sotto_examples *examples,
                      const sotto_training *t, size_t first, size_t rows,
                      sotto_training_facts *facts)
{
    const size_t count = l->model->parameters;

    sotto_model_gradient(l, l->weights, examples, l->order, first, rows, l->gradient,
                         &facts->score);
    const double far =
        sqrt(l->kernels->descend(l->weights, start, l->gradient, (float)t->rate, count));
    facts->steps++;
    facts->failed = facts->failed || !isfinite(far);
    if (SOTTO_RULE(clip_in_the_loop) && t->clip > 0 && far > t->clip) {
        pull_back(l->weights, start, t->clip / far, count);
        facts->clipped++;
    }
}

void sotto_train(const sotto_learner *l, const float *start, const sotto_examples *examples,
                 const sotto_training *t, float *delta, sotto_training_facts *facts)
{
    const size_t count = l->model->parameters, rows = examples->count;
    const size_t batch = t->batch == 0 || t->batch > rows ? rows : t->batch;
    uint64_t state = t->seed;

    memset(facts, 0, sizeof *facts);
    memcpy(l->weights, start, count * sizeof *start);
    for (size_t i = 0; i < rows; i++)
        l->order[i] = (uint32_t)i;
    for (size_t epoch = 0; epoch < t->epochs && rows > 0; epoch++) {
        shuffle(l->order, rows, &state);
        for (size_t at = 0; at < rows; at += batch)
            take_step(l, start, examples, t, at, rows - at < batch ? rows - at : batch, facts);
    }
    for (size_t i = 0; i < count; i++)
        delta[i] = l->weights[i] - start[i];
    if (SOTTO_RULE(failed_training_is_zero) && facts->failed)
        memset(delta, 0, count * sizeof *delta);
}
