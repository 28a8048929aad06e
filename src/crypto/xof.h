/* crypto/xof.h - the extendable output functions of VDAF: a seed, a purpose and a binder into bytes.
 *
 * Callers:  vdaf/.
 * Secrets:  seeds and outputs. Time depends on lengths only.
 */
#ifndef SOTTO_CRYPTO_XOF_H
#define SOTTO_CRYPTO_XOF_H

#include "crypto/turboshake.h"

enum { SOTTO_XOF_SEED_SIZE = 32, SOTTO_XOF_MAX_DST = 8 + 1024 };

/* XofTurboShake128 in up to four lanes (draft-irtf-cfrg-vdaf-20, section "XofTurboShake128").
 *   dst          public and common to all lanes
 *   seeds        32 bytes for each lane
 *   binder_head  binder_head_len bytes for each lane; NULL when the length is 0. Then
 *   binder_body  binder_body_len bytes for each lane (an encoded share); NULL when the length is 0
 */
void sotto_xof_turboshake128_init(sotto_turboshake *x, unsigned lanes, sotto_bytes dst,
                                  const uint8_t *const *seeds, const uint8_t *const *binder_head,
                                  size_t binder_head_len, const uint8_t *const *binder_body,
                                  size_t binder_body_len);
#define sotto_xof_turboshake128_next sotto_turboshake_squeeze

#endif
