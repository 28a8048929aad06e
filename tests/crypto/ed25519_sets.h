/* What tests of Ed25519 in lanes share: every set that this machine can run, and the crypto library's word. */
#ifndef SOTTO_TESTS_CRYPTO_ED25519_SETS_H
#define SOTTO_TESTS_CRYPTO_ED25519_SETS_H

#include "crypto/ed25519_generic51.h"
#include "support/test.h"

#include <openssl/evp.h>

enum { SIZE = SOTTO_ED25519_SIZE };

/* The next one; the last one runs on any machine. */
static inline const sotto_ed25519_lanes *next_set(size_t *i)
{
    static const char *const names[] = {"ifma", "avx2"};
#if defined(__x86_64__)
    static const sotto_ed25519_lanes *const sets[] = {&sotto_ed25519_ifma, &sotto_ed25519_avx2};
#else
    static const sotto_ed25519_lanes *const sets[2];
#endif

    while (*i < 2) {
        const size_t at = (*i)++;

        if (sotto_ed25519_use(names[at]) && sotto_ed25519_use(NULL))
            return sets[at];
    }
    return (*i)++ == 2 ? &sotto_ed25519_generic51 : NULL;
}

/* Without our own refusal of keys of small order. */
static inline bool library_holds(const sotto_signature_claim *c)
{
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL, c->public_key, SIZE);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    const bool holds =
        key && ctx && EVP_DigestVerifyInit_ex(ctx, NULL, NULL, NULL, NULL, key, NULL) > 0 &&
        EVP_DigestVerify(ctx, c->signature, SOTTO_SIGNATURE, c->text.data, c->text.len) == 1;

    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    return holds;
}

#endif
