/* crypto/gcm.h - AES-GCM (NIST SP 800-38D) on 512 bits at a time, to open long texts.
 *
 * Callers:  seal/hpke/oneshot.c, for messages whose key is kept: a leader's reports (serve/leader). All else goes through crypto/aead.h.
 * Memory:   nothing is kept; round keys and powers are on the stack, and wiped.
 * Threads:  the choice is made once and is safe from any thread; sotto_gcm_use is for programs that run nothing else.
 * Secrets:  key and plaintext. Instructions take the same time whatever they work on, and no address depends on a byte.
 *
 * The crypto library's AES-GCM knows registers of 128 bits in the versions that many systems have (OpenSSL 3.0).
 */
#ifndef SOTTO_CRYPTO_GCM_H
#define SOTTO_CRYPTO_GCM_H

#include "crypto/aead.h"

/* Below this the crypto library is as fast. */
enum { SOTTO_GCM_LEAST = 8192 };

typedef struct sotto_gcm_set {
    const char *name;
    /* Decrypts `text` to `out`, and computes the tag that it should have. NULL: the crypto library is the best there is. */
    void (*open)(uint8_t *out, uint8_t tag[SOTTO_AEAD_TAG_SIZE], const uint8_t *key,
                 size_t key_size, const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE], sotto_bytes aad,
                 sotto_bytes text);
} sotto_gcm_set;

#if defined(__x86_64__)
extern const sotto_gcm_set sotto_gcm_vaes;
#endif

/* "vaes" or "none"; NULL returns to the best one. False: there is none, or not for this machine. */
SOTTO_MUST_USE bool sotto_gcm_use(const char *name);
const char *sotto_gcm_name(void);

/* Whether sotto_gcm_open opens such a text here. */
bool sotto_gcm_opens(const sotto_aead_info *info, size_t len);
/* Appends the plaintext, as sotto_aead_open with this key, with the same refusals. Only where sotto_gcm_opens says so. */
SOTTO_MUST_USE sotto_status sotto_gcm_open(sotto_buf *out, const sotto_aead_info *info,
                                           const uint8_t *key,
                                           const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE],
                                           sotto_bytes aad, sotto_bytes sealed, sotto_err *err);

#endif
