/* math/power_sums_template.h - the portable body of math/power_sums.h, compiled once for each field. */
#include "math/field.h"
#include "math/power_sums.h"

/* Never inlined: the sum fills the registers, and a compiler that sees more than this loop spills some of
 * it. */
__attribute__((noinline)) static fe weigh_column(const uint8_t *column, size_t rows, size_t stride,
                                                 const fe *weights)
{
    fe_acc sum = {0};

    for (size_t i = 0; i < rows; i++)
        FIELD(acc_mul)(&sum, FIELD(load)(column + i * stride), weights[i]);
    return FIELD(acc_reduce)(&sum);
}

static void power_sums(fe *out, fe *sum, const uint8_t *m, size_t count, size_t width, const fe *f,
                       const fe *r, fe *scratch)
{
    size_t rows = (count + width - 1) / width;
    size_t last_row = count - (rows - 1) * width;
    fe_sum total = {0};

    for (size_t i = 0; sum && i < count; i++)
        FIELD(sum_add)(&total, FIELD(load)(m + i * FE_SIZE));
    if (sum)
        *sum = FIELD(sum_reduce)(&total);
    for (size_t i = 0; i < rows; i++)
        scratch[i] = FIELD(mul)(f[i], r[i]);
    for (size_t j = 0; j < width; j++) {
        const uint8_t *column = m + j * FE_SIZE;
        size_t used = j < last_row ? rows : rows - 1;

        out[2 * j] = weigh_column(column, used, width * FE_SIZE, scratch);
        out[2 * j + 1] = weigh_column(column, used, width * FE_SIZE, f);
        for (size_t i = 0; i < used; i++)
            scratch[i] = FIELD(mul)(scratch[i], r[i]);
    }
}
