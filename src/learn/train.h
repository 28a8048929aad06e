/* learn/train.h - what a device does with a model and its own examples: a few steps of gradient descent, clipped on the way.
 *
 * Callers:  devices that train, the simulator, tests.
 * Memory:   the learner's buffers; delta is the caller's.
 * Threads:  one learner a thread.
 * Secrets:  examples and delta. Training takes variable time over them.
 *
 * The local loop is that of DP-FedAvg (McMahan et al. 2018): after each batch the weights are pulled back to within
 * `clip` of where they began. FedSGD is one epoch with all examples in one batch.
 */
#ifndef SOTTO_LEARN_TRAIN_H
#define SOTTO_LEARN_TRAIN_H

#include "learn/model.h"

typedef struct sotto_training {
    size_t epochs; /* 1 to 1000                                               */
    size_t batch;  /* examples of a step; 0: all of them. The last may be fewer */
    double rate;   /* above 0                                                  */
    double clip;   /* longest way from the start; 0: none                      */
    uint64_t seed; /* of the order of examples: anew in each epoch             */
} sotto_training;

typedef struct sotto_training_facts {
    sotto_score score; /* of the batches as they came, before their steps             */
    size_t steps;
    size_t clipped; /* steps after which the weights were pulled back                 */
    bool failed;    /* a number was not finite: delta is all zeros                    */
} sotto_training_facts;

/* SOTTO_DENIED names a number out of its range. */
SOTTO_MUST_USE sotto_status sotto_training_check(const sotto_training *training, sotto_err *err);

/* Writes new weights less old ones. Examples were checked, training too. No examples: zeros. */
void sotto_train(const sotto_learner *learner, const float *start, const sotto_examples *examples,
                 const sotto_training *training, float *delta, sotto_training_facts *facts);

#endif
