#include "crypto/signature.h"

#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>

sotto_status sotto_signer_init(sotto_signer *signer, const uint8_t seed[SOTTO_SIGN_SEED],
                               sotto_err *err)
{
    size_t len = SOTTO_SIGN_PUBLIC;

    memset(signer, 0, sizeof *signer);
    signer->key = EVP_PKEY_new_raw_private_key_ex(NULL, "ED25519", NULL, seed, SOTTO_SIGN_SEED);
    if (!signer->key || !EVP_PKEY_get_raw_public_key(signer->key, signer->public_key, &len) ||
        len != SOTTO_SIGN_PUBLIC) {
        ERR_clear_error();
        return sotto_fail(err, SOTTO_MISSING, "Ed25519: not offered by the crypto library");
    }
    return SOTTO_OK;
}

void sotto_signer_clear(sotto_signer *signer)
{
    EVP_PKEY_free(signer->key); /* the library wipes the private key with it */
    sotto_wipe(signer, sizeof *signer);
}

sotto_status sotto_sign(const sotto_signer *signer, uint8_t out[SOTTO_SIGNATURE], sotto_bytes text,
                        sotto_err *err)
{
    size_t len = SOTTO_SIGNATURE;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    int ok = ctx && EVP_DigestSignInit_ex(ctx, NULL, NULL, NULL, NULL, signer->key, NULL) > 0 &&
             EVP_DigestSign(ctx, out, &len, text.data, text.len) > 0 && len == SOTTO_SIGNATURE;

    EVP_MD_CTX_free(ctx);
    if (ok)
        return SOTTO_OK;
    ERR_clear_error();
    sotto_wipe(out, SOTTO_SIGNATURE);
    return sotto_fail(err, SOTTO_NO_MEMORY, "Ed25519: the crypto library failed");
}

sotto_status sotto_signature_check(const uint8_t public_key[SOTTO_SIGN_PUBLIC],
                                   const uint8_t signature[SOTTO_SIGNATURE], sotto_bytes text,
                                   sotto_err *err)
{
    EVP_PKEY *key =
        EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL, public_key, SOTTO_SIGN_PUBLIC);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    int ready = key && ctx && EVP_DigestVerifyInit_ex(ctx, NULL, NULL, NULL, NULL, key, NULL) > 0;
    /* The library demands S below the group's order (RFC 8032, 5.1.7), so nobody can write a second
     * signature of the same text. */
    int ok = ready && EVP_DigestVerify(ctx, signature, SOTTO_SIGNATURE, text.data, text.len) == 1;

    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    if (ok)
        return SOTTO_OK;
    ERR_clear_error();
    if (!ready)
        return sotto_fail(err, SOTTO_NO_MEMORY, "Ed25519: the crypto library failed");
    return sotto_fail(err, SOTTO_REJECTED, "signature: does not hold");
}
