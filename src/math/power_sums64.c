#define SOTTO_FIELD 64
#include "math/power_sums_template.h"

size_t sotto_f64_power_sums_scratch(size_t rows)
{
    return rows;
}

void sotto_f64_power_sums(fe *out, fe *sum, const uint8_t *m, size_t count, size_t width,
                          const fe *f, const fe *r, fe *scratch)
{
    power_sums(out, sum, m, count, width, f, r, scratch);
}
