#define SOTTO_FIELD 128
#include "math/kernels128.h"
#include "math/power_sums_template.h"

void sotto_f128_power_sums_portable(fe *out, const uint8_t *m, size_t count, size_t width,
                                    const fe *f, const fe *r, fe *scratch)
{
    power_sums(out, m, count, width, f, r, scratch);
}

size_t sotto_f128_power_sums_scratch(size_t rows)
{
    /* The kernel for AVX-512 wants 16 elements for each row of a group of 64, whole eights of rows, and
     * aligns them itself. */
    size_t grouped = rows < 64 ? (rows + 7) / 8 * 8 : 64, wide = 16 * grouped + 4;

    return rows > wide ? rows : wide;
}

void sotto_f128_power_sums(fe *out, const uint8_t *m, size_t count, size_t width, const fe *f,
                           const fe *r, fe *scratch)
{
    sotto_f128_best()->power_sums(out, m, count, width, f, r, scratch);
}
