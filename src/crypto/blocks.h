/* crypto/blocks.h - AES-256 over single blocks: a pseudorandom function of 16 bytes, for public draws.
 *
 * Callers:  aggregate/flamingo, for the edges of a graph that everybody computes.
 * Memory:   nothing is kept.
 */
#ifndef SOTTO_CRYPTO_BLOCKS_H
#define SOTTO_CRYPTO_BLOCKS_H

#include "sotto/base.h"

/* Encrypts `count` blocks of 16 bytes in place, each by itself. */
SOTTO_MUST_USE sotto_status sotto_blocks_encrypt(const uint8_t key[32], uint8_t *blocks,
                                                 size_t count, sotto_err *err);

#endif
