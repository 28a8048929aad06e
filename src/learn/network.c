/* Logistic regression, multi-layer perceptrons and convolutional networks: forward, then back. */
#include "learn/network.h"

#include <stdio.h>
#include <string.h>

enum { CONVS = 2, DENSE = SOTTO_MODEL_HIDDEN + 1 };

/* Where the parts of a network stand. */
typedef struct plan {
    size_t convs;
    sotto_conv conv[CONVS];
    size_t conv_side[CONVS][2]; /* height and width of a convolution's output */
    size_t dense, sizes[DENSE + 1];
} plan;

static plan plan_of(const sotto_model_config *c)
{
    plan p = {.convs = 0, .dense = c->hidden_count + 1};
    size_t in = 1, height = c->height, width = c->width;

    if (c->type == SOTTO_MODEL_CNN)
        p.convs = CONVS;
    for (size_t i = 0; i < p.convs; i++) {
        p.conv[i] = (sotto_conv){in, c->channels[i], height, width};
        p.conv_side[i][0] = height - SOTTO_CONV_SIZE + 1;
        p.conv_side[i][1] = width - SOTTO_CONV_SIZE + 1;
        height = p.conv_side[i][0] / 2;
        width = p.conv_side[i][1] / 2;
        in = c->channels[i];
    }
    p.sizes[0] = p.convs ? in * height * width : c->inputs;
    for (size_t i = 0; i < c->hidden_count; i++)
        p.sizes[i + 1] = c->hidden[i];
    p.sizes[p.dense] = c->classes;
    return p;
}

static size_t conv_outputs(const plan *p, size_t i)
{
    return p->conv[i].out * p->conv_side[i][0] * p->conv_side[i][1];
}

/* Floats for a chunk of n a row each; whole vectors may be loaded behind them. */
static size_t room(size_t n)
{
    return n * SOTTO_MODEL_CHUNK + SOTTO_KERNEL_SLACK;
}

void sotto_network_plan(sotto_model *model)
{
    const sotto_model_config *c = &model->config;
    const plan p = plan_of(c);
    char name[24];

    model->width = p.convs ? c->height * c->width : c->inputs;
    model->scratch = room(model->width);
    for (size_t i = 0; i < p.convs; i++) {
        const sotto_conv *v = &p.conv[i];
        const size_t shape[4] = {v->out, v->in, SOTTO_CONV_SIZE, SOTTO_CONV_SIZE};

        (void)snprintf(name, sizeof name, "conv%zu.weight", i + 1);
        sotto_model_tensor(model, name, v->in * SOTTO_CONV_TAPS, 4, shape);
        (void)snprintf(name, sizeof name, "conv%zu.bias", i + 1);
        sotto_model_tensor(model, name, v->in * SOTTO_CONV_TAPS, 1, shape);
        model->scratch += 2 * room(conv_outputs(&p, i)) + 2 * room(conv_outputs(&p, i) / 4);
    }
    for (size_t i = 0; i < p.dense; i++) {
        const size_t shape[2] = {p.sizes[i + 1], p.sizes[i]};

        (void)snprintf(name, sizeof name, "fc%zu.weight", i + 1);
        sotto_model_tensor(model, name, p.sizes[i], 2, shape);
        (void)snprintf(name, sizeof name, "fc%zu.bias", i + 1);
        sotto_model_tensor(model, name, p.sizes[i], 1, shape);
        model->scratch += 2 * room(p.sizes[i + 1]);
    }
}

/* ---- one chunk ------------------------------------------------------------------------------------------------ */

/* Activations, and the errors that come back to them. */
typedef struct pass {
    const sotto_kernels *k;
    const sotto_model *model;
    const float *weights;
    float *gradient;
    plan p;
    size_t rows;
    float *input;
    float *conv[CONVS], *conv_error[CONVS];
    float *pool[CONVS], *pool_error[CONVS];
    float *dense[DENSE], *dense_error[DENSE];
} pass;

static float *take(float **next, size_t n)
{
    float *at = *next;

    *next += room(n);
    return at;
}

static void lay_out(pass *s, float *next)
{
    s->input = take(&next, s->model->width);
    for (size_t i = 0; i < s->p.convs; i++) {
        const size_t outputs = conv_outputs(&s->p, i);

        s->conv[i] = take(&next, outputs);
        s->conv_error[i] = take(&next, outputs);
        s->pool[i] = take(&next, outputs / 4);
        s->pool_error[i] = take(&next, outputs / 4);
    }
    for (size_t i = 0; i < s->p.dense; i++) {
        s->dense[i] = take(&next, s->p.sizes[i + 1]);
        s->dense_error[i] = take(&next, s->p.sizes[i + 1]);
    }
}

static void gather(const pass *s, const sotto_chunk *chunk, uint8_t *labels)
{
    const size_t width = s->model->width;

    for (size_t r = 0; r < s->rows; r++) {
        const size_t row = sotto_chunk_row(chunk, r);
        float *to = s->input + r * width;

        if (chunk->examples->bytes)
            for (size_t i = 0; i < width; i++)
                to[i] = (float)chunk->examples->bytes[row * width + i] * (1.0F / 255);
        else
            memcpy(to, chunk->examples->reals + row * width, width * sizeof *to);
        labels[r] = chunk->examples->labels[row];
    }
}

static const float *tensor(const pass *s, size_t i)
{
    return s->weights + s->model->tensors[i].offset;
}

static float *tensor_gradient(const pass *s, size_t i)
{
    return s->gradient + s->model->tensors[i].offset;
}

static void forward(const pass *s)
{
    const float *x = s->input;

    for (size_t i = 0; i < s->p.convs; i++) {
        const sotto_conv *c = &s->p.conv[i];

        s->k->conv_forward(s->conv[i], x, tensor(s, 2 * i), tensor(s, 2 * i + 1), c, s->rows);
        s->k->pool_forward(s->pool[i], s->conv[i], s->rows * c->out, s->p.conv_side[i][0],
                           s->p.conv_side[i][1]);
        x = s->pool[i];
    }
    for (size_t i = 0; i < s->p.dense; i++) {
        const size_t t = 2 * (s->p.convs + i), outs = s->p.sizes[i + 1];
        float *y = s->dense[i];

        s->k->dense_forward(y, x, tensor(s, t), tensor(s, t + 1), s->rows, outs, s->p.sizes[i]);
        if (i + 1 < s->p.dense)
            for (size_t j = 0; j < s->rows * outs; j++)
                y[j] = y[j] > 0 ? y[j] : 0;
        x = y;
    }
}

/* From the errors of layer i to those of what went into it. */
static void dense_back(const pass *s, size_t i)
{
    const size_t t = 2 * (s->p.convs + i), outs = s->p.sizes[i + 1], ins = s->p.sizes[i];
    const bool first = i == 0;
    const float *x = !first ? s->dense[i - 1] : s->p.convs ? s->pool[s->p.convs - 1] : s->input;
    float *dx = !first ? s->dense_error[i - 1] : s->p.convs ? s->pool_error[s->p.convs - 1] : NULL;

    s->k->dense_weights(tensor_gradient(s, t), tensor_gradient(s, t + 1), s->dense_error[i], x,
                        s->rows, outs, ins);
    if (!dx)
        return;
    s->k->dense_input(dx, s->dense_error[i], tensor(s, t), s->rows, outs, ins);
    if (!first)
        for (size_t j = 0; j < s->rows * ins; j++)
            dx[j] = x[j] > 0 ? dx[j] : 0;
}

static void conv_back(const pass *s, size_t i)
{
    const sotto_conv *c = &s->p.conv[i];

    s->k->pool_input(s->conv_error[i], s->pool_error[i], s->conv[i], s->pool[i], s->rows * c->out,
                     s->p.conv_side[i][0], s->p.conv_side[i][1]);
    s->k->conv_weights(tensor_gradient(s, 2 * i), tensor_gradient(s, 2 * i + 1), s->conv_error[i],
                       i ? s->pool[i - 1] : s->input, c, s->rows);
    if (i == CONVS - 1) /* nobody asks for the errors of an image */
        s->k->conv_input(s->pool_error[i - 1], s->conv_error[i], tensor(s, 2 * i), c, s->rows);
}

void sotto_network_run(const sotto_learner *learner, const float *weights, const sotto_chunk *chunk)
{
    pass s = {.k = learner->kernels,
              .model = learner->model,
              .weights = weights,
              .gradient = chunk->gradient,
              .p = plan_of(&learner->model->config),
              .rows = chunk->rows};
    uint8_t labels[SOTTO_MODEL_CHUNK];
    const size_t last = s.p.dense - 1;

    lay_out(&s, learner->scratch);
    gather(&s, chunk, labels);
    forward(&s);
    memcpy(s.dense_error[last], s.dense[last],
           s.rows * s.p.sizes[s.p.dense] * sizeof s.dense[last][0]);
    sotto_softmax(s.k, s.dense_error[last], s.p.sizes[s.p.dense], labels, s.rows, chunk->weight,
                  chunk->score);
    if (!chunk->gradient)
        return;
    for (size_t i = s.p.dense; i-- > 0;)
        dense_back(&s, i);
    for (size_t i = s.p.convs; i-- > 0;)
        conv_back(&s, i);
}
