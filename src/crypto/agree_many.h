/* crypto/agree_many.h - many key agreements at a time, where the machine has lanes for them.
 *
 * Callers:  seal/dhkem, seal/agreed and seal/sender, for servers that open many reports and loads that seal many;
 *           aggregate/flamingo, for clients with many neighbours.
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
 * peer. Whatever is left is for sotto_dh_agree: another group than X25519, a malformed key, a point of small order, too
 * few to fill lanes. It also knows the reasons for a refusal. */
void sotto_agree_many(sotto_agreement *all, size_t count);

/* A private key that is used once, and what comes of it and one peer. */
typedef struct sotto_ephemeral {
    uint8_t private_key[SOTTO_KEM_MAX_PRIVATE]; /* as long as the group's are */
    bool agreed;                                /* the rest is set            */
    uint8_t peer[SOTTO_AGREED_SIZE];            /* with whom                  */
    uint8_t public_key[SOTTO_AGREED_SIZE];      /* as sotto_dh_init has it    */
    uint8_t secret[SOTTO_AGREED_SIZE];          /* as sotto_dh_agree has it   */
} sotto_ephemeral;

/* Computes public keys and secrets of many private keys and one peer, as far as lanes do it better: then `agreed` is set.
 * Whatever is left is for sotto_dh_init and sotto_dh_agree. */
void sotto_ephemerals_agree(sotto_ephemeral *all, size_t count, const sotto_kem *kem,
                            sotto_bytes peer);

#endif
