#include "learn/model.h"

#include "crypto/hash.h"
#include "learn/network.h"
#include "learn/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- shapes ------------------------------------------------------------------------------------------------- */

sotto_tensor *sotto_model_tensor(sotto_model *model, const char *name, size_t fan_in,
                                 unsigned dimensions, const size_t *shape)
{
    sotto_tensor *t = &model->tensors[model->tensor_count++];

    (void)snprintf(t->name, sizeof t->name, "%s", name);
    t->offset = model->parameters;
    t->count = 1;
    t->dimensions = dimensions;
    t->fan_in = fan_in;
    for (unsigned i = 0; i < dimensions; i++) {
        t->shape[i] = shape[i];
        t->count *= shape[i];
    }
    model->parameters += t->count;
    return t;
}

static sotto_status within(const char *what, size_t value, size_t least, size_t most,
                           sotto_err *err)
{
    if (value >= least && value <= most)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_DENIED, "model: %s: %zu to %zu wanted, not %zu", what, least, most,
                      value);
}

static sotto_status check_image(const sotto_model_config *c, sotto_err *err)
{
    SOTTO_TRY(within("height", c->height, 16, SOTTO_CONV_SIDE, err));
    SOTTO_TRY(within("width", c->width, 16, SOTTO_CONV_SIDE, err));
    SOTTO_TRY(within("channels", c->channels[0], 1, 256, err));
    SOTTO_TRY(within("channels", c->channels[1], 1, 256, err));
    if (c->height % 4 != 0 || c->width % 4 != 0)
        return sotto_fail(err, SOTTO_DENIED, "model: height and width: multiples of 4 wanted");
    return SOTTO_OK;
}

static sotto_status check(const sotto_model_config *c, sotto_err *err)
{
    if (c->type < SOTTO_MODEL_LOGISTIC || c->type > SOTTO_MODEL_GRU)
        return sotto_fail(err, SOTTO_DENIED, "model: type: logistic, mlp, cnn or gru wanted");
    SOTTO_TRY(within("classes", c->classes, 2, SOTTO_MODEL_CLASSES, err));
    SOTTO_TRY(within("hidden layers", c->hidden_count, c->type == SOTTO_MODEL_GRU,
                     c->type == SOTTO_MODEL_LOGISTIC ? 0
                     : c->type == SOTTO_MODEL_GRU    ? 1
                                                     : SOTTO_MODEL_HIDDEN,
                     err));
    for (size_t i = 0; i < c->hidden_count; i++)
        SOTTO_TRY(within("hidden", c->hidden[i], 1, 8192, err));
    if (c->type == SOTTO_MODEL_LOGISTIC || c->type == SOTTO_MODEL_MLP)
        SOTTO_TRY(within("inputs", c->inputs, 1, 65536, err));
    if (c->type == SOTTO_MODEL_CNN)
        SOTTO_TRY(check_image(c, err));
    if (c->type == SOTTO_MODEL_GRU) {
        SOTTO_TRY(within("embedding", c->embedding, 1, 1024, err));
        SOTTO_TRY(within("steps", c->steps, 1, 1024, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_model_init(sotto_model *out, const sotto_model_config *config, sotto_err *err)
{
    memset(out, 0, sizeof *out);
    SOTTO_TRY(check(config, err));
    out->config = *config;
    out->answers = 1;
    if (config->type == SOTTO_MODEL_GRU)
        sotto_gru_plan(out);
    else
        sotto_network_plan(out);
    return within("parameters", out->parameters, 1, SOTTO_MODEL_PARAMETERS, err);
}

sotto_status sotto_model_named(sotto_model *out, const char *name, size_t classes, sotto_err *err)
{
    static const struct {
        const char *name;
        sotto_model_config config;
    } known[] = {
        {"logistic", {.type = SOTTO_MODEL_LOGISTIC, .inputs = 784}},
        {"mlp", {.type = SOTTO_MODEL_MLP, .inputs = 784, .hidden = {200, 200}, .hidden_count = 2}},
        {"lenet",
         {.type = SOTTO_MODEL_CNN,
          .height = 28,
          .width = 28,
          .channels = {6, 16},
          .hidden = {120, 84},
          .hidden_count = 2}},
        {"cnn",
         {.type = SOTTO_MODEL_CNN,
          .height = 28,
          .width = 28,
          .channels = {32, 64},
          .hidden = {1024},
          .hidden_count = 1}},
        {"gru",
         {.type = SOTTO_MODEL_GRU,
          .hidden = {128},
          .hidden_count = 1,
          .embedding = 32,
          .steps = 64}},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0) {
            sotto_model_config config = known[i].config;

            config.classes = classes;
            return sotto_model_init(out, &config, err);
        }
    return sotto_fail(err, SOTTO_MISSING,
                      "no model '%.40s'; there are logistic, mlp, lenet, cnn and gru", name);
}

/* ---- weights ------------------------------------------------------------------------------------------------ */

void sotto_model_begin(const sotto_model *model, float *weights, uint64_t seed)
{
    for (size_t i = 0; i < model->tensor_count; i++) {
        const sotto_tensor *t = &model->tensors[i];
        const float bound = (float)(1 / sqrt((double)t->fan_in));
        uint64_t state = sotto_learn_seed(seed, i);

        for (size_t j = 0; j < t->count; j++) {
            const float unit = (float)(sotto_learn_number(&state) >> 40) * 0x1p-23F - 1.0F;

            weights[t->offset + j] = unit * bound;
        }
    }
}

static void put(uint8_t out[8], uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

void sotto_model_digest(const sotto_model *model, const float *weights,
                        uint8_t out[SOTTO_MODEL_DIGEST])
{
    static const char domain[] = "sotto-model-1";
    sotto_hash hash;
    uint8_t bytes[8];

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(domain, sizeof domain));
    for (size_t i = 0; i < model->tensor_count; i++) {
        const sotto_tensor *t = &model->tensors[i];

        sotto_hash_update(&hash, sotto_bytes_of(t->name, sizeof t->name));
        for (size_t j = 0; j < 4; j++) {
            put(bytes, j < t->dimensions ? t->shape[j] : 0, 8);
            sotto_hash_update(&hash, sotto_bytes_of(bytes, 8));
        }
    }
    for (size_t i = 0; i < model->parameters; i++) {
        uint32_t bits;

        memcpy(&bits, &weights[i], sizeof bits);
        put(bytes, bits, 4);
        sotto_hash_update(&hash, sotto_bytes_of(bytes, 4));
    }
    sotto_hash_final(&hash, out);
}

/* ---- examples and learners ---------------------------------------------------------------------------------- */

sotto_status sotto_examples_check(const sotto_examples *e, const sotto_model *model, sotto_err *err)
{
    const bool symbols = model->config.type == SOTTO_MODEL_GRU;
    const size_t numbers = e->count * model->width;

    if (symbols != (e->labels == NULL) || (symbols && !e->bytes) || !e->bytes == !e->reals)
        return sotto_fail(err, SOTTO_MALFORMED, "examples: %s wanted for this model",
                          symbols ? "symbols" : "numbers and labels");
    for (size_t i = 0; e->labels && i < e->count; i++)
        if (e->labels[i] >= model->config.classes)
            return sotto_fail(err, SOTTO_MALFORMED, "examples: a label is not below %zu",
                              model->config.classes);
    for (size_t i = 0; symbols && i < numbers; i++)
        if (e->bytes[i] >= model->config.classes)
            return sotto_fail(err, SOTTO_MALFORMED, "examples: a symbol is not below %zu",
                              model->config.classes);
    for (size_t i = 0; e->reals && i < numbers; i++)
        if (!isfinite(e->reals[i]))
            return sotto_fail(err, SOTTO_MALFORMED, "examples: a number is not finite");
    return SOTTO_OK;
}

sotto_status sotto_learner_init(sotto_learner *out, const sotto_model *model, size_t most_rows,
                                sotto_arena *arena, sotto_err *err)
{
    out->model = model;
    out->kernels = sotto_kernels_chosen();
    out->most_rows = most_rows;
    out->scratch = sotto_arena_take_array(arena, model->scratch, sizeof(float));
    out->weights = sotto_arena_take_array(arena, model->parameters, sizeof(float));
    out->gradient = sotto_arena_take_array(arena, model->parameters, sizeof(float));
    out->order = sotto_arena_take_array(arena, most_rows, sizeof *out->order);
    if (!out->scratch || !out->weights || !out->gradient || !out->order)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory to train %zu parameters",
                          model->parameters);
    return SOTTO_OK;
}

/* ---- loss and gradient ---------------------------------------------------------------------------------------- */

size_t sotto_chunk_row(const sotto_chunk *chunk, size_t i)
{
    return chunk->which ? chunk->which[chunk->first + i] : chunk->first + i;
}

void sotto_model_gradient(const sotto_learner *learner, const float *weights,
                          const sotto_examples *examples, const uint32_t *which, size_t first,
                          size_t rows, float *gradient, sotto_score *score)
{
    const sotto_model *model = learner->model;
    sotto_chunk chunk = {
        .examples = examples, .which = which, .gradient = gradient, .score = score};

    if (gradient)
        memset(gradient, 0, model->parameters * sizeof *gradient);
    if (rows == 0)
        return;
    chunk.weight = 1.0F / (float)(rows * model->answers);
    for (size_t at = 0; at < rows; at += SOTTO_MODEL_CHUNK) {
        chunk.first = first + at;
        chunk.rows = rows - at < SOTTO_MODEL_CHUNK ? rows - at : (size_t)SOTTO_MODEL_CHUNK;
        if (model->config.type == SOTTO_MODEL_GRU)
            sotto_gru_run(learner, weights, &chunk);
        else
            sotto_network_run(learner, weights, &chunk);
    }
}

void sotto_softmax(const sotto_kernels *kernels, float *scores, size_t classes,
                   const uint8_t *labels, size_t rows, float weight, sotto_score *score)
{
    for (size_t r = 0; r < rows; r++) {
        float *s = scores + r * classes, most = s[0], sum;
        const size_t label = labels[r];
        size_t best = 0;

        for (size_t i = 1; i < classes; i++)
            if (s[i] > most) {
                most = s[i];
                best = i;
            }
        const double own = (double)s[label] - (double)most;

        for (size_t i = 0; i < classes; i++)
            s[i] -= most;
        kernels->exponentials(s, classes);
        sum = s[0];
        for (size_t i = 1; i < classes; i++)
            sum += s[i];
        score->loss += log((double)sum) - own;
        score->right += best == label;
        score->answers++;
        for (size_t i = 0; i < classes; i++)
            s[i] = s[i] / sum * weight;
        s[label] -= weight;
    }
}
