/* crypto/hash_many.h - SHA-256 of many texts, two at a time where the machine has instructions for it.
 *
 * Callers:  aggregate/body.c: bodies of up to 64 KiB, and pieces of 1 KiB of longer ones.
 * Memory:   nothing is allocated.
 * Threads:  any; sotto_sha256_use is for programs that run nothing else meanwhile.
 * Secrets:  texts. Time depends on lengths only.
 *
 * A round of SHA-256 waits for the one before. So a processor with instructions for it does nothing for much of the time, and rounds of a
 * second text fit in between.
 */
#ifndef SOTTO_CRYPTO_HASH_MANY_H
#define SOTTO_CRYPTO_HASH_MANY_H

#include "crypto/hash.h"

void sotto_sha256_many(uint8_t (*out)[32], const sotto_bytes *texts, size_t count);

/* "sha" (SHA extensions), "none": one by one in the crypto library; NULL returns to the best. False: not on this machine. */
SOTTO_MUST_USE bool sotto_sha256_use(const char *name);

/* ---- the members --------------------------------------------------------------------------------- */

typedef struct sotto_sha256_pair {
    const char *name;
    /* Both states, as FIPS 180-4 has them, take as many blocks of 64 bytes. NULL: there is none. */
    void (*compress)(uint32_t a[8], uint32_t b[8], const uint8_t *text_a, const uint8_t *text_b,
                     size_t blocks);
} sotto_sha256_pair;

extern const sotto_sha256_pair sotto_sha256_sha;

#endif
