/* crypto/kem.h - the Diffie-Hellman groups beneath HPKE's key encapsulation.
 *
 * Callers:  seal/.
 * Memory:   the key objects are the crypto library's, made by init and reused for every agreement.
 * Threads:  an object belongs to one thread at a time.
 * Secrets:  private keys and agreed secrets. Time does not depend on them. Public keys are public.
 */
#ifndef SOTTO_CRYPTO_KEM_H
#define SOTTO_CRYPTO_KEM_H

#include "crypto/hash.h"

/* The values are those of the HPKE registry. */
enum {
    SOTTO_KEM_P256 = 0x0010,
    SOTTO_KEM_P384 = 0x0011,
    SOTTO_KEM_P521 = 0x0012,
    SOTTO_KEM_X25519 = 0x0020,
    SOTTO_KEM_X448 = 0x0021,
};

enum {
    SOTTO_KEM_MAX_PUBLIC = 133, /* P-521, uncompressed */
    SOTTO_KEM_MAX_PRIVATE = 66,
    SOTTO_KEM_MAX_DH = 66,
    SOTTO_KEM_MAX_SECRET = 64,
};

/* Sizes by the names of RFC 9180, 4 and 7.1. An encapsulated key is a public key: Nenc is Npk. */
typedef struct sotto_kem {
    uint16_t id;
    const char *name;
    sotto_hash_id hash;
    size_t secret_size;  /* Nsecret */
    size_t public_size;  /* Npk     */
    size_t private_size; /* Nsk     */
    size_t dh_size;      /* Ndh     */
    int curve;           /* the library's number of a NIST curve; 0 for X25519 and X448      */
    uint8_t bitmask;     /* NIST curves: keeps the first byte of a candidate private key */
} sotto_kem;

/* NULL: not one of ours. */
const sotto_kem *sotto_kem_find(uint16_t id);

/* A private key ready to agree with any number of peers. */
typedef struct sotto_dh {
    const sotto_kem *kem;
    uint8_t public_key[SOTTO_KEM_MAX_PUBLIC]; /* kem->public_size bytes */
    struct evp_pkey_st *own;
    struct evp_pkey_st *peer; /* overwritten by each agreement: making one costs microseconds */
    struct evp_pkey_ctx_st *derive;
} sotto_dh;

/* Clear after a failure is allowed.
 *   SOTTO_MALFORMED  the private key has the wrong length or is not in 1 .. order - 1
 *   SOTTO_MISSING    the crypto library does not offer the group
 */
SOTTO_MUST_USE sotto_status sotto_dh_init(sotto_dh *dh, const sotto_kem *kem,
                                          sotto_bytes private_key, sotto_err *err);
void sotto_dh_clear(sotto_dh *dh);

/* Writes kem->dh_size bytes.
 *   what             names the peer's key in the reason: "enc", "public_key"
 *   SOTTO_MALFORMED  wrong length, compressed, at infinity or off the curve
 *   SOTTO_REJECTED   the agreed secret would be zero whoever holds the private key (RFC 9180, 7.1.4)
 */
SOTTO_MUST_USE sotto_status sotto_dh_agree(sotto_dh *dh, uint8_t *out, sotto_bytes peer,
                                           const char *what, sotto_err *err);

/* Every check on a public key that needs no private one. SOTTO_MALFORMED as above. */
SOTTO_MUST_USE sotto_status sotto_kem_check_public(const sotto_kem *kem, sotto_bytes public_key,
                                                   const char *what, sotto_err *err);

/* Whether a NIST curve takes these private_size bytes as a private key; X25519 and X448 take any. */
bool sotto_kem_private_in_range(const sotto_kem *kem, const uint8_t *private_key);

#endif
