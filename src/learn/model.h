/* learn/model.h - models that devices train: their shapes, first weights, loss, gradient and digest.
 *
 * Callers:  learn/train.c, the simulator, programs.
 * Memory:   a model is a plain value. A learner's buffers live in the arena that it was made in.
 * Threads:  a model never changes after init; each thread brings a learner.
 * Secrets:  examples are a device's own. Time depends on them only where a comment says so: training on a device is
 *           not constant-time.
 *
 *     logistic   inputs -> classes
 *     mlp        inputs -> hidden (ReLU) ... -> classes
 *     cnn        5x5 convolution, ReLU and 2x2 maximum, twice; then as mlp. LeNet is one.
 *     gru        a symbol -> embedding -> gated recurrent unit -> the next symbol, at each of `steps` places
 *
 * Weights are one array of float32. Tensors name its parts, with the shapes and names that PyTorch uses.
 */
#ifndef SOTTO_LEARN_MODEL_H
#define SOTTO_LEARN_MODEL_H

#include "learn/kernels.h"
#include "sotto/base.h"

typedef enum sotto_model_type {
    SOTTO_MODEL_LOGISTIC = 1,
    SOTTO_MODEL_MLP,
    SOTTO_MODEL_CNN,
    SOTTO_MODEL_GRU,
    SOTTO_MODEL_OWN /* somebody's, trained by a program: sotto_model_own in learn/model_file.h */
} sotto_model_type;

enum {
    SOTTO_MODEL_HIDDEN = 3,
    SOTTO_MODEL_TENSORS = 12,
    SOTTO_MODEL_CHUNK =
        32, /* rows that are worked on together; a larger batch takes several turns */
    SOTTO_MODEL_CLASSES = 256,
    SOTTO_MODEL_DIGEST = 32
};
#define SOTTO_MODEL_PARAMETERS ((size_t)1 << 24) /* at most */

typedef struct sotto_model_config {
    sotto_model_type type;
    size_t inputs;                     /* logistic, mlp: numbers of a row; others: 0            */
    size_t height, width;              /* cnn: of an image                                      */
    size_t channels[2];                /* cnn: of each convolution                              */
    size_t hidden[SOTTO_MODEL_HIDDEN]; /* mlp, cnn: of each hidden layer; gru: units of the one */
    size_t hidden_count;
    size_t classes;   /* gru: symbols */
    size_t embedding; /* gru          */
    size_t steps;     /* gru: symbols of a row, less one */
} sotto_model_config;

typedef struct sotto_tensor {
    char name[24];
    size_t offset, count; /* in the array of weights */
    unsigned dimensions;
    size_t shape[4];
    size_t fan_in; /* inputs of one output: first weights lie within 1/sqrt(fan_in) */
} sotto_tensor;

typedef struct sotto_model {
    sotto_model_config config;
    sotto_tensor tensors[SOTTO_MODEL_TENSORS];
    size_t tensor_count;
    size_t parameters;
    size_t width;     /* numbers of an example: of a gru, steps + 1 symbols */
    size_t answers;   /* predictions of an example: 1, or a gru's steps     */
    size_t scratch;   /* floats that a learner needs besides weights        */
    sotto_bytes head; /* own: what its file has before the numbers; borrowed */
} sotto_model;

/* SOTTO_DENIED names the number that is out of its range. */
SOTTO_MUST_USE sotto_status sotto_model_init(sotto_model *out, const sotto_model_config *config,
                                             sotto_err *err);
/* "logistic", "mlp", "lenet", "cnn" or "gru" in their usual sizes, for images of 28 by 28, or for symbols.
 * SOTTO_MISSING: there is no such name. */
SOTTO_MUST_USE sotto_status sotto_model_named(sotto_model *out, const char *name, size_t classes,
                                              sotto_err *err);

/* First weights, uniform; the same seed gives the same bits everywhere. */
void sotto_model_begin(const sotto_model *model, float *weights, uint64_t seed);

/* SHA-256 of the shapes and the weights, each as 4 bytes, little endian: what a round's record binds. */
void sotto_model_digest(const sotto_model *model, const float *weights,
                        uint8_t out[SOTTO_MODEL_DIGEST]);

/* ---- examples ------------------------------------------------------------------------------------------- */

/* Rows of `width` numbers each. Bytes stand for 255ths, or for a gru's symbols; reals for themselves. */
typedef struct sotto_examples {
    const uint8_t *bytes;  /* or NULL ...                           */
    const float *reals;    /* ... and these; not for a gru          */
    const uint8_t *labels; /* NULL of a gru: the next symbol is one */
    size_t count;
} sotto_examples;

/* SOTTO_MALFORMED: a label or symbol that the model does not have; a number that is not finite. */
SOTTO_MUST_USE sotto_status sotto_examples_check(const sotto_examples *examples,
                                                 const sotto_model *model, sotto_err *err);

/* ---- loss and gradient ------------------------------------------------------------------------------------ */

typedef struct sotto_learner {
    const sotto_model *model;
    const sotto_kernels *kernels;
    float *scratch;
    float *weights, *gradient; /* of local training */
    uint32_t *order;           /* of examples       */
    size_t most_rows;
} sotto_learner;

/* For examples of up to most_rows. SOTTO_NO_MEMORY: the arena is full. */
SOTTO_MUST_USE sotto_status sotto_learner_init(sotto_learner *out, const sotto_model *model,
                                               size_t most_rows, sotto_arena *arena,
                                               sotto_err *err);

typedef struct sotto_score {
    double loss;      /* sum over answers                      */
    uint64_t right;   /* answers whose likeliest class is right */
    uint64_t answers; /* of all rows                           */
} sotto_score;

/* The gradient of the mean loss over the rows `which[0]` ... of examples; which is NULL for rows first, first + 1, ...
 * gradient is NULL where the score alone is wanted. Adds to score. */
void sotto_model_gradient(const sotto_learner *learner, const float *weights,
                          const sotto_examples *examples, const uint32_t *which, size_t first,
                          size_t rows, float *gradient, sotto_score *score);

#endif
