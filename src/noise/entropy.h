/* noise/entropy.h - where noise gets its randomness: any source of bytes, buffered.
 *
 * Callers:  every sampler and randomizer. A device uses sotto_entropy_system; tests and simulations bring
 *           a fill of their own.
 * Memory:   the caller's, 4 KiB.
 * Threads:  one owner at a time.
 * Secrets:  all that passes through. Bytes are wiped as they are handed out; clear wipes the rest. How
 *           many are taken is public, and so never depends on what was drawn.
 */
#ifndef SOTTO_NOISE_ENTROPY_H
#define SOTTO_NOISE_ENTROPY_H

#include "sotto/base.h"

enum { SOTTO_ENTROPY_BUFFER = 4096 };

/* Fills out with len bytes, each equally likely and independent of all others, or fails. */
typedef sotto_status sotto_entropy_fill(void *context, void *out, size_t len, sotto_err *err);

typedef struct sotto_entropy {
    sotto_entropy_fill *fill;
    void *context;
    size_t left; /* bytes at the end of buffer that nobody has seen */
    uint8_t buffer[SOTTO_ENTROPY_BUFFER];
} sotto_entropy;

void sotto_entropy_init(sotto_entropy *entropy, sotto_entropy_fill *fill, void *context);
/* Reads sotto_random_bytes. After a fork, parent and child must each set up their own. */
void sotto_entropy_system(sotto_entropy *entropy);
/* On failure out is all zeros and must not be used. */
SOTTO_MUST_USE sotto_status sotto_entropy_take(sotto_entropy *entropy, void *out, size_t len,
                                               sotto_err *err);
void sotto_entropy_clear(sotto_entropy *entropy);

#endif
