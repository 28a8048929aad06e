/* sotto/random.h - bytes that nobody can predict.
 *
 * Callers:  everyone who needs a key, seed, nonce or noise.
 * Memory:   one page for each thread that asks, given back when the thread ends.
 * Threads:  each has a generator of its own; none waits for another.
 * Secrets:  everything it yields. Bytes are wiped from the generator as they are handed out, and its key
 *           is replaced after every use, so what was handed out can't be recomputed later.
 *
 * A generator is seeded by the kernel, again after 64 MiB or five minutes, and again in the child after
 * a fork, which therefore never repeats its parent's bytes.
 */
#ifndef SOTTO_RANDOM_H
#define SOTTO_RANDOM_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills out.
 *   SOTTO_IO         the kernel gave no seed; out is all zeros and must not be used
 *   SOTTO_NO_MEMORY  no room for the thread's generator; out likewise
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_random_bytes(void *out, size_t len, sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
