/* learn/step.h - how a server moves the model by a sum of updates. All of it is computed from what was released.
 *
 * Callers:  learn/session.c.
 * Memory:   the caller's.
 *
 * The mean update takes the place of a gradient (Reddi et al. 2021). It is added as it is, through momentum, or divided by a
 * running root of its squares as in Adam and Yogi. There is no correction of the first rounds, as those authors have it.
 */
#ifndef SOTTO_LEARN_STEP_H
#define SOTTO_LEARN_STEP_H

#include "sotto/base.h"

typedef enum sotto_optimizer {
    SOTTO_OPTIMIZER_SGD = 1,
    SOTTO_OPTIMIZER_MOMENTUM,
    SOTTO_OPTIMIZER_ADAM,
    SOTTO_OPTIMIZER_YOGI
} sotto_optimizer;

typedef struct sotto_step_config {
    sotto_optimizer optimizer;
    double rate;     /* above 0                                               */
    double decay;    /* the rate of round t is rate * decay^t; 1: it stays     */
    double momentum; /* of all but sgd: part of the last step, 0 to below 1    */
    double second;   /* adam, yogi: part of the last squares, 0 to below 1     */
    double floor;    /* adam, yogi: added to the root, above 0                 */
} sotto_step_config;

const char *sotto_optimizer_name(sotto_optimizer optimizer);
/* Arrays that it keeps from round to round: 0, 1 or 2. */
size_t sotto_step_arrays(sotto_optimizer optimizer);
/* SOTTO_DENIED names a number out of its range; or adam and yogi with noise that is correlated over rounds. */
SOTTO_MUST_USE sotto_status sotto_step_check(const sotto_step_config *config, bool correlated,
                                             sotto_err *err);
/* weights += what the optimizer makes of sum * unit. first, second: its arrays, zeros at the beginning; or NULL. */
void sotto_step(const sotto_step_config *config, uint64_t round, float *weights, float *first,
                float *second, const int64_t *sum, double unit, size_t count);

#endif
