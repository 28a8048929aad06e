/* crypto/agree_many.h - many key agreements at a time, where the machine has lanes for them.
 *
 * Callers:  seal/dhkem and seal/agreed, for servers that open many reports and loads that seal many.
 * Memory:   the caller's; nothing is kept.
 * Secrets:  agreed secrets; wipe them. Time depends on the number of agreements and on their outcomes only.
 */
#ifndef SOTTO_CRYPTO_AGREE_MANY_H
#define SOTTO_CRYPTO_AGREE_MANY_H

#include "crypto/kem.h"

enum { SOTTO_AGREED_SIZE = 32 };

/* One private key, one peer's public key, and the secret that comes of them. */
typedef struct sotto_agreement {
    const sotto_dh *own; /* NULL: none is wanted here */
    sotto_bytes peer;
    bool agreed;
    uint8_t secret[SOTTO_AGREED_SIZE]; /* what sotto_dh_agree would write; set if agreed */
} sotto_agreement;

/* Sets `agreed` and `secret` of each, as far as lanes do it better: peers may be many for one key, and keys many for one
 * peer. Whatever is left (another group than X25519, a malformed key, a point of small order, too few to fill lanes) is
 * for sotto_dh_agree, which also knows the reasons for a refusal. */
void sotto_agree_many(sotto_agreement *all, size_t count);

#endif
