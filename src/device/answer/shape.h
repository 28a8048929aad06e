/* device/answer/shape.h - from what a trainer wrote to the vector that is rounded and gets noise: projected by the recipe, and weighed.
 *
 * Callers:  device_round_make.c; `sotto learn run`, whose devices are in its process, and which lifts sums.
 * Memory:   the caller's.
 * Linked:   projected.c is in libsotto-device-full alone, and so are matrices. shape.c is in the room.
 * Secrets:  the update, and how many rows there were.
 *
 * Whatever stands here, the randomizer clips what it gets (noise/randomizer_vector.h): the claim rests on that. Weights are at most 1,
 * and the randomizer applies them after the clip: no device reaches further than with equal weights.
 */
#ifndef SOTTO_DEVICE_ANSWER_SHAPE_H
#define SOTTO_DEVICE_ANSWER_SHAPE_H

#include "learn/projection.h"
#include "recipe/learning.h"

/* Of a recipe that projects. Recipe and round alone say which matrix it is, so that all devices of a round have the same. */
SOTTO_MUST_USE sotto_status sotto_update_projection(sotto_projection *out,
                                                    const sotto_learning *learning, uint64_t round,
                                                    sotto_err *err);
/* Writes as many numbers as the recipe projects to. */
SOTTO_MUST_USE sotto_status sotto_update_project(double *out, const sotto_learning *learning,
                                                 uint64_t round, const float *delta,
                                                 sotto_err *err);
/* Writes sotto_learning_length numbers. */
SOTTO_MUST_USE sotto_status sotto_update_shape(double *out, const sotto_learning *learning,
                                               uint64_t round, const float *delta, sotto_err *err);
/* How much of its clipped update a device sends whose trainer was given so many rows: 0 to 1. */
double sotto_update_weight(const sotto_learning *learning, uint64_t rows);
/* A released sum as one number for each parameter. */
SOTTO_MUST_USE sotto_status sotto_update_unshape(int64_t *out, const sotto_learning *learning,
                                                 uint64_t round, const int64_t *sum,
                                                 sotto_err *err);

#endif
