#include "device/answer/shape.h"

#include "device/round.h"

sotto_status sotto_update_shape(double *out, const sotto_learning *l, uint64_t round,
                                const float *delta, sotto_err *err)
{
    if (l->projected > 0)
        SOTTO_TRY(sotto_linked_rounds->project(out, l, round, delta, err));
    for (size_t i = 0; i < l->parameters && l->projected == 0; i++)
        out[i] = (double)delta[i];
    return SOTTO_OK;
}

/* After the clip: then no device adds more than with equal weights, and one with half of the rows adds half as much. */
double sotto_update_weight(const sotto_learning *l, uint64_t rows)
{
    const bool capped = l->weights == SOTTO_WEIGHTS_CAPPED;

    return capped ? sotto_capped_weight(rows, l->cap) : 1;
}
