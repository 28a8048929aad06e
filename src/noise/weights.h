/* noise/weights.h - how much a device counts in a sum of updates. What one device can add, and so the noise, depends on it.
 *
 * Callers:  recipe/ reads it from a recipe, learn/ and device/ weigh with it. recipe/ and learn/ may not include each other.
 */
#ifndef SOTTO_NOISE_WEIGHTS_H
#define SOTTO_NOISE_WEIGHTS_H

#include <stdint.h>

/* In the order of the words of learn.update.weights. */
typedef enum sotto_update_weights {
    SOTTO_WEIGHTS_EQUAL =
        1, /* every device counts the same                                            */
    SOTTO_WEIGHTS_CAPPED, /* a device with n examples counts min(n, cap)/cap; it is clipped before   */
    SOTTO_WEIGHTS_COUNT /* a device with n examples counts n: nothing bounds it, so not with noise */
} sotto_update_weights;

/* What a device with so many rows counts where weights are capped: from 0 to 1. cap: not 0. */
static inline double sotto_capped_weight(uint64_t rows, uint64_t cap)
{
    return (double)(rows < cap ? rows : cap) / (double)cap;
}

#endif
