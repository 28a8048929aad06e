/* base/floats.h - single precision numbers as files of models have them: IEEE 754, the least byte first. */
#ifndef SOTTO_BASE_FLOATS_H
#define SOTTO_BASE_FLOATS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Reads all of them. False: one is infinite or NaN. */
static inline bool sotto_floats_read(float *out, const uint8_t *from, size_t count)
{
    bool finite = true;

    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = from + 4 * i;
        const uint32_t bits =
            (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;

        memcpy(&out[i], &bits, sizeof bits);
        finite = finite && isfinite(out[i]);
    }
    return finite;
}

#endif
