/* math/vectors_template.h - the portable body of math/vectors.h, compiled once for each field. */
#include "math/field.h"
#include "math/vectors.h"

static void vectors_add(uint8_t *total, size_t len, const uint8_t *const *others, size_t count)
{
    for (size_t at = 0; at < len * FE_SIZE; at += FE_SIZE) {
        fe_sum sum = {0};

        FIELD(sum_add)(&sum, FIELD(load)(total + at));
        for (size_t s = 0; s < count; s++)
            FIELD(sum_add)(&sum, FIELD(load)(others[s] + at));
        FIELD(store)(total + at, FIELD(sum_reduce)(&sum));
    }
}
