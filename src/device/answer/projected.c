#include "device/answer/shape.h"

#include <string.h>

sotto_status sotto_update_projection(sotto_projection *out, const sotto_learning *l, uint64_t round,
                                     sotto_err *err)
{
    return sotto_projection_init(out, (size_t)l->parameters, (size_t)l->projected, l->head.hash,
                                 round, err);
}

sotto_status sotto_update_project(double *out, const sotto_learning *l, uint64_t round,
                                  const float *delta, sotto_err *err)
{
    sotto_projection projection;

    SOTTO_TRY(sotto_update_projection(&projection, l, round, err));
    return sotto_projection_apply(&projection, out, delta, err);
}

sotto_status sotto_update_unshape(int64_t *out, const sotto_learning *l, uint64_t round,
                                  const int64_t *sum, sotto_err *err)
{
    sotto_projection projection;

    if (l->projected == 0) {
        memcpy(out, sum, (size_t)l->parameters * sizeof *out);
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_update_projection(&projection, l, round, err));
    return sotto_projection_lift(&projection, out, sum, err);
}
