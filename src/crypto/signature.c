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

/* Points of small order, with the sign left out: for such a key anybody can write a signature that holds for many texts. The last
 * two are further spellings of the first two. */
bool sotto_signature_key_is_small(const uint8_t key[SOTTO_SIGN_PUBLIC])
{
    static const uint8_t small[][SOTTO_SIGN_PUBLIC] = {
        {0},
        {1},
        {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
         0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
         0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
        {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
         0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
         0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
        {0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
        {0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
        {0xee, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
    };

    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        if (memcmp(key, small[i], SOTTO_SIGN_PUBLIC - 1) == 0 &&
            (key[SOTTO_SIGN_PUBLIC - 1] & 0x7f) == small[i][SOTTO_SIGN_PUBLIC - 1])
            return true;
    return false;
}

sotto_status sotto_signature_check(const uint8_t public_key[SOTTO_SIGN_PUBLIC],
                                   const uint8_t signature[SOTTO_SIGNATURE], sotto_bytes text,
                                   sotto_err *err)
{
    if (sotto_signature_key_is_small(public_key))
        return sotto_fail(err, SOTTO_REJECTED, "signature: a key of small order");
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
