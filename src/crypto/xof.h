/* crypto/xof.h - the extendable output functions of VDAF: a seed, a purpose and a binder into bytes.
 *
 * Callers:  vdaf/.
 * Memory:   states are the caller's; one of sotto_xof_aes holds a cipher until it is cleared.
 * Secrets:  seeds, states and outputs; wipe or clear them. Time depends on lengths only.
 */
#ifndef SOTTO_CRYPTO_XOF_H
#define SOTTO_CRYPTO_XOF_H

#include "crypto/turboshake.h"

enum {
    SOTTO_XOF_SEED_SIZE = 32,
    SOTTO_XOF_FIXED_KEY_SEED_SIZE = 16,
    SOTTO_XOF_MAX_DST = 8 + 1024, /* what VDAF makes of an application's context    */
    SOTTO_XOF_HMAC_MAX_DST = 255, /* its length is one byte in XofHmacSha256Aes128 */
};

/* XofTurboShake128 in up to four lanes (draft-irtf-cfrg-vdaf-20, section "XofTurboShake128").
 *   dst          public and common to all lanes, at most 65535 bytes
 *   seeds        32 bytes for each lane
 *   binder_head  binder_head_len bytes for each lane; NULL when the length is 0. Then
 *   binder_body  binder_body_len bytes for each lane (an encoded share); NULL when the length is 0
 */
void sotto_xof_turboshake128_init(sotto_turboshake *x, unsigned lanes, sotto_bytes dst,
                                  const uint8_t *const *seeds, const uint8_t *const *binder_head,
                                  size_t binder_head_len, const uint8_t *const *binder_body,
                                  size_t binder_body_len);
/* The same in steps: begin, sotto_turboshake_add for the binder's body, end. */
void sotto_xof_turboshake128_begin(sotto_turboshake *x, unsigned lanes, sotto_bytes dst,
                                   const uint8_t *const *seeds, const uint8_t *const *binder_head,
                                   size_t binder_head_len);
void sotto_xof_turboshake128_end(sotto_turboshake *x);
#define sotto_xof_turboshake128_next sotto_turboshake_squeeze

/* XofFixedKeyAes128 and XofHmacSha256Aes128: AES over a counter, one stream at a time. */
typedef struct sotto_xof_aes {
    void *cipher;      /* libcrypto's, keyed            */
    uint8_t start[16]; /* what the counter is added to  */
    uint64_t blocks;   /* made so far                   */
    uint8_t block[16]; /* the last of them, and how     */
    unsigned given;    /* many of its bytes were given  */
    bool hashed;       /* each block is hashed: XofFixedKeyAes128 */
} sotto_xof_aes;

/* draft-irtf-cfrg-vdaf-20, section "XofFixedKeyAes128". dst: at most 65535 bytes, else SOTTO_TOO_LARGE.
 * Whatever an init returns, its object may be cleared. */
SOTTO_MUST_USE sotto_status sotto_xof_fixed_key_aes128_init(
    sotto_xof_aes *x, sotto_bytes dst, const uint8_t seed[SOTTO_XOF_FIXED_KEY_SEED_SIZE],
    sotto_bytes binder, sotto_err *err);

/* HMAC-SHA256(seed, le8(len dst) || dst || binder) is key and first counter block of AES-128; the counter
 * is the last 64 bits, big endian, and wraps without carry. The binder goes on with `body`. A dst above 255 bytes: SOTTO_TOO_LARGE. */
SOTTO_MUST_USE sotto_status sotto_xof_hmac_sha256_aes128_init(
    sotto_xof_aes *x, sotto_bytes dst, const uint8_t seed[SOTTO_XOF_SEED_SIZE], sotto_bytes binder,
    sotto_bytes body, sotto_err *err);

/* The next len bytes of the stream. */
SOTTO_MUST_USE sotto_status sotto_xof_aes_next(sotto_xof_aes *x, uint8_t *out, size_t len,
                                               sotto_err *err);
void sotto_xof_aes_clear(sotto_xof_aes *x);

#endif
