/* noise/weights.h - how much a device counts in a sum of updates. What one device can add, and so the noise, depends on it.
 *
 * Callers:  recipe/ reads it from a recipe, learn/ weighs with it. Neither may include the other.
 */
#ifndef SOTTO_NOISE_WEIGHTS_H
#define SOTTO_NOISE_WEIGHTS_H

/* In the order of the words of learn.update.weights. */
typedef enum sotto_update_weights {
    SOTTO_WEIGHTS_EQUAL =
        1, /* every device counts the same                                            */
    SOTTO_WEIGHTS_CAPPED, /* a device with n examples counts min(n, cap)/cap; it is clipped before   */
    SOTTO_WEIGHTS_COUNT /* a device with n examples counts n: nothing bounds it, so not with noise */
} sotto_update_weights;

#endif
