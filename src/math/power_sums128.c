#define SOTTO_FIELD 128
#include "math/power_sums_template.h"

void sotto_f128_power_sums(fe *out, const uint8_t *m, size_t count, size_t width, const fe *f,
                           const fe *r, fe *scratch)
{
    power_sums(out, m, count, width, f, r, scratch);
}
