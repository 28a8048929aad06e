#include "crypto/rsa.h"

#include "crypto/bignum.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

static sotto_status library_failed(sotto_err *err)
{
    ERR_clear_error();
    return sotto_fail(err, SOTTO_NO_MEMORY, "RSA: the crypto library failed");
}

/* Everything but key->key, from it. */
static sotto_status prepare(sotto_rsa_private *key, sotto_err *err)
{
    BIGNUM *n = NULL, *e = NULL;
    uint8_t modulus[SOTTO_RSA_MAX], exponent[SOTTO_RSA_MAX];
    sotto_status status;

    if (!EVP_PKEY_get_bn_param(key->key, OSSL_PKEY_PARAM_RSA_N, &n) ||
        !EVP_PKEY_get_bn_param(key->key, OSSL_PKEY_PARAM_RSA_E, &e))
        status = library_failed(err);
    else if (BN_num_bytes(n) > SOTTO_RSA_MAX || BN_num_bytes(e) > SOTTO_RSA_MAX)
        status = sotto_fail(err, SOTTO_MALFORMED, "RSA: a key of more than 4096 bits");
    else
        status = sotto_rsa_public_init(
            &key->public_key, sotto_bytes_of(modulus, (size_t)BN_bn2bin(n, modulus)),
            sotto_bytes_of(exponent, (size_t)BN_bn2bin(e, exponent)), err);
    BN_free(n);
    BN_free(e);
    if (status != SOTTO_OK)
        return status;
    key->sign = EVP_PKEY_CTX_new_from_pkey(NULL, key->key, NULL);
    if (!key->sign || EVP_PKEY_sign_init(key->sign) <= 0 ||
        EVP_PKEY_CTX_set_rsa_padding(key->sign, RSA_NO_PADDING) <= 0)
        return library_failed(err);
    return SOTTO_OK;
}

sotto_status sotto_rsa_private_generate(sotto_rsa_private *key, unsigned bits, sotto_err *err)
{
    memset(key, 0, sizeof *key);
    key->key = EVP_RSA_gen(bits);
    if (!key->key)
        return library_failed(err);
    return prepare(key, err);
}

sotto_status sotto_rsa_private_decode(sotto_rsa_private *key, sotto_bytes der, sotto_err *err)
{
    const uint8_t *at = der.data;
    PKCS8_PRIV_KEY_INFO *info;

    memset(key, 0, sizeof *key);
    if (der.len > SOTTO_RSA_DER_MAX)
        return sotto_fail(err, SOTTO_MALFORMED, "RSA: not a private key in PKCS #8");
    info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &at, (long)der.len);
    if (info && at == der.data + der.len)
        key->key = EVP_PKCS82PKEY(info);
    PKCS8_PRIV_KEY_INFO_free(info);
    if (!key->key || !EVP_PKEY_is_a(key->key, "RSA")) {
        ERR_clear_error();
        return sotto_fail(err, SOTTO_MALFORMED, "RSA: not a private key in PKCS #8");
    }
    return prepare(key, err);
}

sotto_status sotto_rsa_private_encode(const sotto_rsa_private *key, sotto_buf *out, sotto_err *err)
{
    PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(key->key);
    uint8_t *der = NULL;
    int len = info ? i2d_PKCS8_PRIV_KEY_INFO(info, &der) : -1;
    sotto_writer w = sotto_writer_on(out);
    sotto_status status;

    if (len > 0) {
        sotto_write_bytes(&w, sotto_bytes_of(der, (size_t)len));
        status = sotto_writer_finish(&w, "an RSA key", err);
    } else {
        status = library_failed(err);
    }
    OPENSSL_clear_free(der, len > 0 ? (size_t)len : 0);
    PKCS8_PRIV_KEY_INFO_free(info); /* wipes the key in it */
    return status;
}

void sotto_rsa_private_clear(sotto_rsa_private *key)
{
    EVP_PKEY_CTX_free(key->sign);
    EVP_PKEY_free(key->key); /* the library wipes the private key with it */
    sotto_rsa_public_clear(&key->public_key);
    memset(key, 0, sizeof *key);
}

sotto_status sotto_rsa_private_apply(sotto_rsa_private *key, uint8_t *out, const uint8_t *in,
                                     sotto_err *err)
{
    uint8_t again[SOTTO_RSA_MAX];
    size_t size = key->public_key.size, len = size;

    if (!sotto_bignum_less(in, key->public_key.modulus, size))
        return sotto_fail(err, SOTTO_REJECTED, "RSA: a blinded message is not below the modulus");
    if (EVP_PKEY_sign(key->sign, out, &len, in, size) <= 0 || len != size)
        return library_failed(err);
    if (sotto_rsa_public_apply(&key->public_key, again, out, NULL) == SOTTO_OK &&
        memcmp(again, in, size) == 0)
        return SOTTO_OK;
    sotto_wipe(out, size);
    return sotto_fail(err, SOTTO_BUG, "RSA: a signature does not hold");
}
