/* learn/network.h - what the files of models share. */
#ifndef SOTTO_LEARN_NETWORK_H
#define SOTTO_LEARN_NETWORK_H

#include "learn/model.h"

/* One chunk: up to SOTTO_MODEL_CHUNK rows. */
typedef struct sotto_chunk {
    const sotto_examples *examples;
    const uint32_t *which; /* NULL: rows first, first + 1, ... */
    size_t first, rows;
    float weight;    /* of a row's gradient: 1 / answers of the batch */
    float *gradient; /* added to; or NULL                             */
    sotto_score *score;
} sotto_chunk;

size_t sotto_chunk_row(const sotto_chunk *chunk, size_t i);

/* Adds tensors to a model under construction. */
sotto_tensor *sotto_model_tensor(sotto_model *model, const char *name, size_t fan_in,
                                 unsigned dimensions, const size_t *shape);

void sotto_network_plan(sotto_model *model);
void sotto_network_run(const sotto_learner *learner, const float *weights,
                       const sotto_chunk *chunk);
void sotto_gru_plan(sotto_model *model);
void sotto_gru_run(const sotto_learner *learner, const float *weights, const sotto_chunk *chunk);

/* Rows of `classes` scores become the gradient of their loss, weight times (softmax - one-hot). Counts loss and right answers. */
void sotto_softmax(const sotto_kernels *kernels, float *scores, size_t classes,
                   const uint8_t *labels, size_t rows, float weight, sotto_score *score);

#endif
