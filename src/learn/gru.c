/* The gated recurrent unit (Cho et al. 2014), with the gates in PyTorch's order and form. The reset gate multiplies
 * what the matrix made of the last state, not the state itself. */
#include "learn/network.h"

#include <string.h>

enum { EMBEDDING, W_INPUT, W_STATE, B_INPUT, B_STATE, W_OUT, B_OUT };

void sotto_gru_plan(sotto_model *model)
{
    const sotto_model_config *c = &model->config;
    const size_t units = c->hidden[0], cells = c->steps * SOTTO_MODEL_CHUNK;
    const size_t embedding[2] = {c->classes, c->embedding};
    const size_t input[2] = {3 * units, c->embedding}, state[2] = {3 * units, units};
    const size_t out[2] = {c->classes, units};

    model->width = c->steps + 1;
    model->answers = c->steps;
    sotto_model_tensor(model, "embedding.weight", 1, 2, embedding);
    sotto_model_tensor(model, "gru.weight_ih_l0", units, 2, input);
    sotto_model_tensor(model, "gru.weight_hh_l0", units, 2, state);
    sotto_model_tensor(model, "gru.bias_ih_l0", units, 1, input);
    sotto_model_tensor(model, "gru.bias_hh_l0", units, 1, state);
    sotto_model_tensor(model, "fc.weight", units, 2, out);
    sotto_model_tensor(model, "fc.bias", units, 1, out);
    model->scratch = cells * (2 * c->embedding + 4 * 3 * units + units + c->classes) +
                     SOTTO_MODEL_CHUNK * (4 * units) + (size_t)16 * SOTTO_KERNEL_SLACK;
}

/* A cell is one row at one step: step by step, and rows one after the other within a step. */
typedef struct pass {
    const sotto_kernels *k;
    const sotto_model *model;
    const float *weights;
    size_t rows, steps, units, cells;
    float *embedded, *embedded_error;   /* cells x embedding              */
    float *input, *input_error;         /* cells x 3 units: W_ih x + b_ih */
    float *recurrent, *recurrent_error; /* cells x 3 units: W_hh h + b_hh */
    float *states;                      /* (cells + rows) x units, the first rows are zeros */
    float *scores;                      /* cells x classes */
    float *state_error, *last_error, *back;
    uint8_t symbols[SOTTO_MODEL_CHUNK * 1025];
} pass;

static const float *tensor(const pass *s, size_t i)
{
    return s->weights + s->model->tensors[i].offset;
}

static float *take(float **next, size_t n)
{
    float *at = *next;

    *next += n + SOTTO_KERNEL_SLACK;
    return at;
}

static void lay_out(pass *s, float *next)
{
    const sotto_model_config *c = &s->model->config;

    s->embedded = take(&next, s->cells * c->embedding);
    s->embedded_error = take(&next, s->cells * c->embedding);
    s->input = take(&next, s->cells * 3 * s->units);
    s->input_error = take(&next, s->cells * 3 * s->units);
    s->recurrent = take(&next, s->cells * 3 * s->units);
    s->recurrent_error = take(&next, s->cells * 3 * s->units);
    s->states = take(&next, (s->cells + s->rows) * s->units);
    s->scores = take(&next, s->cells * c->classes);
    s->state_error = take(&next, s->rows * s->units);
    s->last_error = take(&next, s->rows * s->units);
    s->back = take(&next, s->rows * s->units);
}

/* Symbols by step; the step after the last has the last answers. */
static void gather(pass *s, const sotto_chunk *chunk)
{
    const size_t width = s->steps + 1, dimension = s->model->config.embedding;
    const float *table = tensor(s, EMBEDDING);

    for (size_t r = 0; r < s->rows; r++) {
        const uint8_t *row = chunk->examples->bytes + sotto_chunk_row(chunk, r) * width;

        for (size_t t = 0; t < width; t++)
            s->symbols[t * s->rows + r] = row[t];
    }
    for (size_t i = 0; i < s->cells; i++)
        memcpy(s->embedded + i * dimension, table + s->symbols[i] * dimension,
               dimension * sizeof *table);
}

/* x becomes 1 / (1 + e^-x). */
static void sigmoid(const sotto_kernels *k, float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = -x[i];
    k->exponentials(x, count);
    for (size_t i = 0; i < count; i++)
        x[i] = 1.0F / (1.0F + x[i]);
}

/* tanh x = 2 / (1 + e^-2x) - 1 */
static void hyperbolic(const sotto_kernels *k, float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = 2.0F * x[i];
    sigmoid(k, x, count);
    for (size_t i = 0; i < count; i++)
        x[i] = 2.0F * x[i] - 1.0F;
}

/* Gates and states. `input` holds the gates afterwards: reset, update, new. */
static void forward_step(const pass *s, size_t step)
{
    const size_t units = s->units, at = step * s->rows;
    const float *last = s->states + at * units;
    float *next = s->states + (at + s->rows) * units;

    s->k->dense_forward(s->recurrent + at * 3 * units, last, tensor(s, W_STATE), tensor(s, B_STATE),
                        s->rows, 3 * units, units);
    for (size_t r = 0; r < s->rows; r++) {
        float *gate = s->input + (at + r) * 3 * units;
        const float *from = s->recurrent + (at + r) * 3 * units;

        for (size_t i = 0; i < 2 * units; i++)
            gate[i] += from[i];
        sigmoid(s->k, gate, 2 * units);
        for (size_t i = 0; i < units; i++)
            gate[2 * units + i] += gate[i] * from[2 * units + i];
        hyperbolic(s->k, gate + 2 * units, units);
        for (size_t i = 0; i < units; i++) {
            const float keep = gate[units + i];

            next[r * units + i] = (1.0F - keep) * gate[2 * units + i] + keep * last[r * units + i];
        }
    }
}

/* state_error: what comes back to the state after this step; becomes what comes back to the one before. */
static void back_step(const pass *s, size_t step)
{
    const size_t units = s->units, at = step * s->rows;
    const float *last = s->states + at * units;

    for (size_t r = 0; r < s->rows; r++) {
        const float *gate = s->input + (at + r) * 3 * units;
        const float *from = s->recurrent + (at + r) * 3 * units;
        float *di = s->input_error + (at + r) * 3 * units;
        float *ds = s->recurrent_error + (at + r) * 3 * units;

        for (size_t i = 0; i < units; i++) {
            const float error = s->state_error[r * units + i], reset = gate[i];
            const float keep = gate[units + i], fresh = gate[2 * units + i];
            const float fresh_error = error * (1.0F - keep) * (1.0F - fresh * fresh);
            const float keep_error = error * (last[r * units + i] - fresh) * keep * (1.0F - keep);
            const float reset_error = fresh_error * from[2 * units + i] * reset * (1.0F - reset);

            di[i] = ds[i] = reset_error;
            di[units + i] = ds[units + i] = keep_error;
            di[2 * units + i] = fresh_error;
            ds[2 * units + i] = fresh_error * reset;
            s->last_error[r * units + i] = error * keep;
        }
    }
    s->k->dense_input(s->back, s->recurrent_error + at * 3 * units, tensor(s, W_STATE), s->rows,
                      3 * units, units);
    for (size_t i = 0; i < s->rows * units; i++)
        s->state_error[i] = s->last_error[i] + s->back[i];
}

static void back(const pass *s, float *gradient, const float *scores)
{
    const sotto_tensor *t = s->model->tensors;
    const sotto_model_config *c = &s->model->config;
    const size_t units = s->units;
    float *states = s->states + s->rows * units;

    s->k->dense_weights(gradient + t[W_OUT].offset, gradient + t[B_OUT].offset, scores, states,
                        s->cells, c->classes, units);
    memset(s->state_error, 0, s->rows * units * sizeof *s->state_error);
    for (size_t step = s->steps; step-- > 0;) {
        s->k->dense_input(s->back, scores + step * s->rows * c->classes, tensor(s, W_OUT), s->rows,
                          c->classes, units);
        for (size_t i = 0; i < s->rows * units; i++)
            s->state_error[i] += s->back[i];
        back_step(s, step);
    }
    s->k->dense_weights(gradient + t[W_STATE].offset, gradient + t[B_STATE].offset,
                        s->recurrent_error, s->states, s->cells, 3 * units, units);
    s->k->dense_weights(gradient + t[W_INPUT].offset, gradient + t[B_INPUT].offset, s->input_error,
                        s->embedded, s->cells, 3 * units, c->embedding);
    s->k->dense_input(s->embedded_error, s->input_error, tensor(s, W_INPUT), s->cells, 3 * units,
                      c->embedding);
    for (size_t i = 0; i < s->cells; i++)
        for (size_t j = 0; j < c->embedding; j++)
            gradient[t[EMBEDDING].offset + s->symbols[i] * c->embedding + j] +=
                s->embedded_error[i * c->embedding + j];
}

void sotto_gru_run(const sotto_learner *learner, const float *weights, const sotto_chunk *chunk)
{
    const sotto_model_config *c = &learner->model->config;
    pass s = {.k = learner->kernels,
              .model = learner->model,
              .weights = weights,
              .rows = chunk->rows,
              .steps = c->steps,
              .units = c->hidden[0],
              .cells = chunk->rows * c->steps};

    lay_out(&s, learner->scratch);
    gather(&s, chunk);
    memset(s.states, 0, s.rows * s.units * sizeof *s.states);
    s.k->dense_forward(s.input, s.embedded, tensor(&s, W_INPUT), tensor(&s, B_INPUT), s.cells,
                       3 * s.units, c->embedding);
    for (size_t step = 0; step < s.steps; step++)
        forward_step(&s, step);
    s.k->dense_forward(s.scores, s.states + s.rows * s.units, tensor(&s, W_OUT), tensor(&s, B_OUT),
                       s.cells, c->classes, s.units);
    sotto_softmax(s.k, s.scores, c->classes, s.symbols + s.rows, s.cells, chunk->weight,
                  chunk->score);
    if (chunk->gradient)
        back(&s, chunk->gradient, s.scores);
}
