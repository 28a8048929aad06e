/* crypto/keystream.h - a 32-byte seed into as many bytes as are wanted: AES-256 in counter mode from block 0.
 *
 * Callers:  aggregate/, for everything that is drawn from a seed; masks have AES-128.
 * Memory:   the cipher object is the crypto library's, made once by init and used for any number of seeds.
 * Threads:  an object belongs to one thread at a time.
 * Secrets:  seeds and bytes; clear forgets the seed. Time depends on lengths only.
 */
#ifndef SOTTO_CRYPTO_KEYSTREAM_H
#define SOTTO_CRYPTO_KEYSTREAM_H

#include "sotto/base.h"

enum { SOTTO_KEYSTREAM_SEED = 32 };

typedef struct sotto_keystream {
    struct evp_cipher_ctx_st *cipher;
    size_t nonce; /* bytes of the seed behind the key that begin every block */
} sotto_keystream;

/* Clear after a failure is allowed. */
SOTTO_MUST_USE sotto_status sotto_keystream_init(sotto_keystream *stream, sotto_err *err);
/* For long streams, AES-128: the seed's first 16 bytes are the key, and the next 8 begin every block, before its number. The
 * last 8 are not used. A guess at the key alone tests no stream of unknown nonce, however many streams there are. */
SOTTO_MUST_USE sotto_status sotto_keystream_init_long(sotto_keystream *stream, sotto_err *err);
void sotto_keystream_clear(sotto_keystream *stream);

/* Starts over with another seed. A seed is used for one purpose only: its stream always starts at block 0. */
SOTTO_MUST_USE sotto_status sotto_keystream_seed(sotto_keystream *stream,
                                                 const uint8_t seed[SOTTO_KEYSTREAM_SEED],
                                                 sotto_err *err);
/* The same from another block on: 16 bytes each, the first is 0. */
SOTTO_MUST_USE sotto_status sotto_keystream_seek(sotto_keystream *stream,
                                                 const uint8_t seed[SOTTO_KEYSTREAM_SEED],
                                                 uint64_t block, sotto_err *err);
/* The next len bytes. */
SOTTO_MUST_USE sotto_status sotto_keystream_next(sotto_keystream *stream, uint8_t *out, size_t len,
                                                 sotto_err *err);

#endif
