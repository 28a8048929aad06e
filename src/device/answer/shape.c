#include "device/answer/shape.h"

#include "device/round.h"

#include <math.h>

/* Clipped first: then no device adds more than with equal weights, and one with half of the rows adds half as much. An infinite norm
 * makes NaN, which the randomizer takes for zeros. */
static void weigh(double *x, const sotto_learning *l, uint64_t rows)
{
    const size_t count = (size_t)sotto_learning_length(l);
    const double weight = sotto_capped_weight(rows, l->cap);
    double square = 0;

    for (size_t i = 0; i < count; i++)
        square += x[i] * x[i];
    const double factor = weight * (l->clip / fmax(sqrt(square), l->clip));
    for (size_t i = 0; i < count; i++)
        x[i] *= factor;
}

sotto_status sotto_update_shape(double *out, const sotto_learning *l, uint64_t round,
                                const float *delta, uint64_t rows, sotto_err *err)
{
    if (l->projected > 0)
        SOTTO_TRY(sotto_linked_rounds->project(out, l, round, delta, err));
    for (size_t i = 0; i < l->parameters && l->projected == 0; i++)
        out[i] = (double)delta[i];
    if (l->weights == SOTTO_WEIGHTS_CAPPED)
        weigh(out, l, rows);
    return SOTTO_OK;
}
