#define SOTTO_FIELD 128
#include "math/kernels128.h"
#include "math/power_sums_template.h"

void sotto_f128_power_sums_portable(fe *out, fe *sum, const uint8_t *m, size_t count, size_t width,
                                    const fe *f, const fe *r, fe *scratch)
{
    power_sums(out, sum, m, count, width, f, r, scratch);
}

size_t sotto_f128_power_sums_scratch(size_t rows)
{
    /* The kernel for AVX-512 wants 16 elements for each row of a group, whole eights of rows, and aligns them itself. */
    const size_t group = SOTTO_F128_POWER_SUMS_GROUP;
    size_t grouped = rows < group ? (rows + 7) / 8 * 8 : group, wide = 16 * grouped + 4;

    return rows > wide ? rows : wide;
}

void sotto_f128_power_sums(fe *out, fe *sum, const uint8_t *m, size_t count, size_t width,
                           const fe *f, const fe *r, fe *scratch)
{
    sotto_f128_best()->power_sums(out, sum, m, count, width, f, r, scratch);
}
