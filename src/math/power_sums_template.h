/* math/power_sums_template.h - the portable body of math/power_sums.h, compiled once for each field. */
#include "math/field.h"
#include "math/power_sums.h"

/* One column. Three short loops rather than one: each keeps its sums in registers. */
static void sum_column(fe out[2], const uint8_t *column, size_t rows, size_t stride, const fe *f,
                       const fe *r, fe *running)
{
    fe_acc even = {0}, odd = {0};

    for (size_t i = 0; i < rows; i++)
        FIELD(acc_mul)(&even, FIELD(load)(column + i * stride), running[i]);
    for (size_t i = 0; i < rows; i++)
        FIELD(acc_mul)(&odd, FIELD(load)(column + i * stride), f[i]);
    for (size_t i = 0; i < rows; i++)
        running[i] = FIELD(mul)(running[i], r[i]);
    out[0] = FIELD(acc_reduce)(&even);
    out[1] = FIELD(acc_reduce)(&odd);
}

static void power_sums(fe *out, const uint8_t *m, size_t count, size_t width, const fe *f,
                       const fe *r, fe *scratch)
{
    size_t rows = (count + width - 1) / width;
    size_t last_row = count - (rows - 1) * width;

    for (size_t i = 0; i < rows; i++)
        scratch[i] = FIELD(mul)(f[i], r[i]);
    for (size_t j = 0; j < width; j++)
        sum_column(&out[2 * j], m + j * FE_SIZE, j < last_row ? rows : rows - 1, width * FE_SIZE, f,
                   r, scratch);
}
