/* Logistic regression, multi-layer perceptrons and convolutional networks: forward, then back. */
#include "learn/network.h"

#include <stdio.h>
#include <string.h>

enum { CONVS = 2, DENSE = SOTTO_MODEL_HIDDEN + 1, LINE = 16 };

/* Where the parts of a network stand. */
typedef struct plan {
    size_t convs;
    sotto_conv conv[CONVS];
    size_t conv_outputs[CONVS]; /* numbers that a convolution leaves of an image */
    size_t dense, sizes[DENSE + 1];
} plan;

/* Rows of images begin at a cache line, so that few vectors lie on two. */
static size_t pitch_of(size_t width)
{
    return (width + LINE - 1) / LINE * LINE;
}

static plan plan_of(const sotto_model_config *c)
{
    plan p = {.convs = 0, .dense = c->hidden_count + 1};
    size_t in = 1, height = c->height, width = c->width;

    if (c->type == SOTTO_MODEL_CNN)
        p.convs = CONVS;
    for (size_t i = 0; i < p.convs; i++) {
        p.conv[i] = (sotto_conv){in, c->channels[i], height, width, pitch_of(width), 0};
        height = (height - SOTTO_CONV_SIZE + 1) / 2;
        width = (width - SOTTO_CONV_SIZE + 1) / 2;
        in = c->channels[i];
        p.conv[i].out_pitch = i + 1 < p.convs ? pitch_of(width) : width;
        p.conv_outputs[i] = in * height * p.conv[i].out_pitch;
    }
    p.sizes[0] = p.convs ? in * height * width : c->inputs;
    for (size_t i = 0; i < c->hidden_count; i++)
        p.sizes[i + 1] = c->hidden[i];
    p.sizes[p.dense] = c->classes;
    return p;
}

/* Numbers of an example as the first layer wants them. */
static size_t input_size(const plan *p)
{
    return p->convs ? p->conv[0].height * p->conv[0].pitch : p->sizes[0];
}

/* What the way back through the last convolution needs. */
static size_t back_room(const plan *p)
{
    return p->convs ? p->conv[CONVS - 1].out * SOTTO_CONV_ROOM : 0;
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
    model->scratch = room(input_size(&p)) + back_room(&p);
    for (size_t i = 0; i < p.convs; i++) {
        const sotto_conv *v = &p.conv[i];
        const size_t shape[4] = {v->out, v->in, SOTTO_CONV_SIZE, SOTTO_CONV_SIZE};

        (void)snprintf(name, sizeof name, "conv%zu.weight", i + 1);
        sotto_model_tensor(model, name, v->in * SOTTO_CONV_TAPS, 4, shape);
        (void)snprintf(name, sizeof name, "conv%zu.bias", i + 1);
        sotto_model_tensor(model, name, v->in * SOTTO_CONV_TAPS, 1, shape);
        model->scratch += 3 * room(p.conv_outputs[i]);
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
    float *back_room;
    float *conv[CONVS], *conv_error[CONVS];
    int32_t *conv_from[CONVS]; /* sotto_kernels.conv_forward */
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
    s->input = take(&next, input_size(&s->p));
    s->back_room = next;
    next += back_room(&s->p);
    for (size_t i = 0; i < s->p.convs; i++) {
        s->conv[i] = take(&next, s->p.conv_outputs[i]);
        s->conv_from[i] = (int32_t *)(void *)take(&next, s->p.conv_outputs[i]);
        s->conv_error[i] = take(&next, s->p.conv_outputs[i]);
    }
    for (size_t i = 0; i < s->p.dense; i++) {
        s->dense[i] = take(&next, s->p.sizes[i + 1]);
        s->dense_error[i] = take(&next, s->p.sizes[i + 1]);
    }
}

/* `count` rows of an example, `pitch` numbers apart. */
static void read_example(float *to, const sotto_examples *e, size_t from, size_t count,
                         size_t width, size_t pitch)
{
    for (size_t row = 0; row < count; row++, to += pitch, from += width)
        if (e->bytes)
            for (size_t i = 0; i < width; i++)
                to[i] = (float)e->bytes[from + i] * (1.0F / 255);
        else
            memcpy(to, e->reals + from, width * sizeof *to);
}

static void gather(const pass *s, const sotto_chunk *chunk, uint8_t *labels)
{
    const size_t width = s->model->width, size = input_size(&s->p);
    const sotto_conv *c = &s->p.conv[0];

    for (size_t r = 0; r < s->rows; r++) {
        const size_t row = sotto_chunk_row(chunk, r);
        float *to = s->input + r * size;

        if (s->p.convs)
            read_example(to, chunk->examples, row * width, c->height, c->width, c->pitch);
        else
            read_example(to, chunk->examples, row * width, 1, width, width);
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
        s->k->conv_forward(s->conv[i], s->gradient ? s->conv_from[i] : NULL, x, tensor(s, 2 * i),
                           tensor(s, 2 * i + 1), &s->p.conv[i], s->rows);
        x = s->conv[i];
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

/* No error passes where ReLU gave 0. */
static void relu_back(float *error, const float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        error[i] = y[i] > 0 ? error[i] : 0;
}

/* From the errors of layer i to those of what went into it. */
static void dense_back(const pass *s, size_t i)
{
    const size_t t = 2 * (s->p.convs + i), outs = s->p.sizes[i + 1], ins = s->p.sizes[i];
    const bool first = i == 0;
    const float *x = !first ? s->dense[i - 1] : s->p.convs ? s->conv[s->p.convs - 1] : s->input;
    float *dx = !first ? s->dense_error[i - 1] : s->p.convs ? s->conv_error[s->p.convs - 1] : NULL;

    s->k->dense_weights(tensor_gradient(s, t), tensor_gradient(s, t + 1), s->dense_error[i], x,
                        s->rows, outs, ins);
    if (!dx)
        return;
    s->k->dense_input(dx, s->dense_error[i], tensor(s, t), s->rows, outs, ins);
    relu_back(dx, x, s->rows * ins);
}

static void conv_back(const pass *s, size_t i)
{
    const sotto_conv *c = &s->p.conv[i];

    s->k->conv_weights(tensor_gradient(s, 2 * i), tensor_gradient(s, 2 * i + 1), s->conv_error[i],
                       s->conv_from[i], i ? s->conv[i - 1] : s->input, c, s->rows);
    if (i == 0) /* nobody asks for the errors of an image */
        return;
    s->k->conv_input(s->conv_error[i - 1], s->back_room, s->conv_error[i], s->conv_from[i],
                     tensor(s, 2 * i), c, s->rows);
    relu_back(s->conv_error[i - 1], s->conv[i - 1], s->rows * s->p.conv_outputs[i - 1]);
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
