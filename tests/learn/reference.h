/* tests/learn/reference.h - the loss of each model in double precision, by loops that follow its definition: what gradients are
 * compared with. It shares no code with src/learn but the shapes. */
#ifndef SOTTO_TESTS_LEARN_REFERENCE_H
#define SOTTO_TESTS_LEARN_REFERENCE_H

#include "learn/model.h"

/* The mean loss over the first `rows` examples. */
double reference_loss(const sotto_model *model, const double *weights,
                      const sotto_examples *examples, size_t rows);

#endif
