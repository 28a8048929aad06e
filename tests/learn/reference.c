#include "reference.h"

#include <math.h>
#include <string.h>

enum { MOST = 8192 };

static double cross_entropy(const double *scores, size_t classes, size_t label)
{
    double sum = 0;

    for (size_t i = 0; i < classes; i++)
        sum += exp(scores[i]);
    return log(sum) - scores[label];
}

static void dense(double *y, const double *x, const double *w, const double *b, size_t outs,
                  size_t ins)
{
    for (size_t o = 0; o < outs; o++) {
        y[o] = b[o];
        for (size_t i = 0; i < ins; i++)
            y[o] += w[o * ins + i] * x[i];
    }
}

/* 5x5 convolution, ReLU, largest of each 2x2. */
static void conv_pool(double *y, const double *x, const double *w, const double *b, size_t outs,
                      size_t ins, size_t h, size_t wd)
{
    const size_t oh = h - 4, ow = wd - 4;

    for (size_t o = 0; o < outs; o++)
        for (size_t r = 0; r < oh / 2; r++)
            for (size_t c = 0; c < ow / 2; c++) {
                double most = 0;

                for (size_t place = 0; place < 4; place++) {
                    const size_t row = 2 * r + place / 2, column = 2 * c + place % 2;
                    double sum = b[o];

                    for (size_t i = 0; i < ins; i++)
                        for (size_t k = 0; k < 25; k++)
                            sum += w[(o * ins + i) * 25 + k] *
                                   x[(i * h + row + k / 5) * wd + column + k % 5];
                    most = fmax(most, sum);
                }
                y[(o * (oh / 2) + r) * (ow / 2) + c] = most;
            }
}

static double network(const sotto_model *m, const double *weights, const double *input,
                      size_t label)
{
    static double a[MOST], b[MOST];
    const sotto_model_config *c = &m->config;
    size_t t = 0, ins = m->width, height = c->height, width = c->width, channels = 1;

    memcpy(a, input, ins * sizeof *a);
    for (size_t i = 0; c->type == SOTTO_MODEL_CNN && i < 2; i++, t += 2) {
        conv_pool(b, a, weights + m->tensors[t].offset, weights + m->tensors[t + 1].offset,
                  c->channels[i], channels, height, width);
        channels = c->channels[i];
        height = (height - 4) / 2;
        width = (width - 4) / 2;
        ins = channels * height * width;
        memcpy(a, b, ins * sizeof *a);
    }
    for (size_t i = 0; i <= c->hidden_count; i++, t += 2) {
        const size_t outs = i < c->hidden_count ? c->hidden[i] : c->classes;

        dense(b, a, weights + m->tensors[t].offset, weights + m->tensors[t + 1].offset, outs, ins);
        for (size_t j = 0; j < outs; j++)
            a[j] = i < c->hidden_count ? fmax(b[j], 0) : b[j];
        ins = outs;
    }
    return cross_entropy(a, c->classes, label);
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double recurrent(const sotto_model *m, const double *weights, const uint8_t *symbols)
{
    static double h[MOST], input[MOST], state[MOST], scores[MOST];
    const sotto_model_config *c = &m->config;
    const sotto_tensor *t = m->tensors;
    const size_t n = c->hidden[0];
    double loss = 0;

    memset(h, 0, sizeof h);
    for (size_t step = 0; step < c->steps; step++) {
        dense(input, weights + t[0].offset + symbols[step] * c->embedding, weights + t[1].offset,
              weights + t[3].offset, 3 * n, c->embedding);
        dense(state, h, weights + t[2].offset, weights + t[4].offset, 3 * n, n);
        for (size_t i = 0; i < n; i++) {
            const double r = logistic(input[i] + state[i]);
            const double z = logistic(input[n + i] + state[n + i]);

            h[i] = (1 - z) * tanh(input[2 * n + i] + r * state[2 * n + i]) + z * h[i];
        }
        dense(scores, h, weights + t[5].offset, weights + t[6].offset, c->classes, n);
        loss += cross_entropy(scores, c->classes, symbols[step + 1]);
    }
    return loss / (double)c->steps;
}

double reference_loss(const sotto_model *m, const double *weights, const sotto_examples *e,
                      size_t rows)
{
    double row[MOST], loss = 0;

    for (size_t r = 0; r < rows; r++) {
        if (m->config.type == SOTTO_MODEL_GRU) {
            loss += recurrent(m, weights, e->bytes + r * m->width);
            continue;
        }
        for (size_t i = 0; i < m->width; i++)
            row[i] = e->reals ? (double)e->reals[r * m->width + i]
                              : (double)e->bytes[r * m->width + i] / 255;
        loss += network(m, weights, row, e->labels[r]);
    }
    return loss / (double)rows;
}
