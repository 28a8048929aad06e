/* RSABSSA (RFC 9474): files with a variant, a key by its numbers, and every value on the way to a signature. */
#include "seal/token/blind_rsa.h"
#include "token.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>

bool sotto_vectors_blind_rsa_knows(const json_t *item)
{
    const char *variant = json_string_value(json_object_get(item, "variant"));

    return variant && strncmp(variant, "RSABSSA-SHA384-", 15) == 0;
}

enum { NUMBERS = 8 };

static const char *const parameters[NUMBERS] = {
    OSSL_PKEY_PARAM_RSA_N,         OSSL_PKEY_PARAM_RSA_E,           OSSL_PKEY_PARAM_RSA_D,
    OSSL_PKEY_PARAM_RSA_FACTOR1,   OSSL_PKEY_PARAM_RSA_FACTOR2,     OSSL_PKEY_PARAM_RSA_EXPONENT1,
    OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1};

/* n, e, d, p and q, and what the library wants besides: d modulo p - 1 and q - 1, and 1 / q modulo p. */
static bool load_numbers(BIGNUM *bn[NUMBERS], const sotto_bytes given[5])
{
    BN_CTX *ctx = BN_CTX_new();
    BIGNUM *less = BN_new();
    bool ok = ctx && less;

    for (size_t i = 0; i < NUMBERS; i++)
        ok = (bn[i] = BN_new()) && ok;
    for (size_t i = 0; i < 5 && ok; i++)
        ok = BN_bin2bn(given[i].data, (int)given[i].len, bn[i]) != NULL;
    for (size_t i = 0; i < 2 && ok; i++)
        ok = BN_sub(less, bn[3 + i], BN_value_one()) && !BN_is_zero(less) &&
             BN_mod(bn[5 + i], bn[2], less, ctx);
    ok = ok && BN_mod_inverse(bn[7], bn[4], bn[3], ctx);
    BN_free(less);
    BN_CTX_free(ctx);
    return ok;
}

static EVP_PKEY *key_of(BIGNUM *const bn[NUMBERS])
{
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY *key = NULL;
    bool ok = builder && ctx;

    for (size_t i = 0; i < NUMBERS && ok; i++)
        ok = OSSL_PARAM_BLD_push_BN(builder, parameters[i], bn[i]);
    OSSL_PARAM *params = ok ? OSSL_PARAM_BLD_to_param(builder) : NULL;
    if (params && EVP_PKEY_fromdata_init(ctx) > 0)
        (void)EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_KEYPAIR, params);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(builder);
    EVP_PKEY_CTX_free(ctx);
    return key;
}

/* PKCS #8 of the numbers, in out. */
static bool encode_key(uint8_t out[SOTTO_RSA_DER_MAX], size_t *len, const sotto_bytes numbers[5])
{
    BIGNUM *bn[NUMBERS] = {NULL};
    EVP_PKEY *key = load_numbers(bn, numbers) ? key_of(bn) : NULL;
    PKCS8_PRIV_KEY_INFO *info = key ? EVP_PKEY2PKCS8(key) : NULL;
    uint8_t *der = NULL;
    const int size = info ? i2d_PKCS8_PRIV_KEY_INFO(info, &der) : -1;
    const bool ok = size > 0 && size <= SOTTO_RSA_DER_MAX;

    if (ok)
        memcpy(out, der, *len = (size_t)size);
    OPENSSL_free(der);
    PKCS8_PRIV_KEY_INFO_free(info);
    EVP_PKEY_free(key);
    for (size_t i = 0; i < NUMBERS; i++)
        BN_free(bn[i]);
    return ok;
}

static sotto_status read_key(sotto_rsa_private *key, const sotto_token_item *item, sotto_err *err)
{
    static const char *const names[5] = {"n", "e", "d", "p", "q"};
    sotto_bytes numbers[5];
    uint8_t der[SOTTO_RSA_DER_MAX];
    size_t len = 0;

    for (size_t i = 0; i < 5; i++)
        SOTTO_TRY(sotto_token_get(item, &numbers[i], names[i], 0, err));
    if (!encode_key(der, &len, numbers))
        return sotto_fail(err, SOTTO_MALFORMED, "n, e, d, p, q: no RSA key");
    return sotto_rsa_private_decode(key, sotto_bytes_of(der, len), err);
}

/* The blind from its inverse. */
static bool invert(uint8_t *out, const sotto_rsa_public *key, sotto_bytes inverse)
{
    BN_CTX *ctx = BN_CTX_new();
    BIGNUM *x = BN_bin2bn(inverse.data, (int)inverse.len, NULL);
    bool ok =
        ctx && x && BN_mod_inverse(x, x, key->n, ctx) && BN_bn2binpad(x, out, (int)key->size) > 0;

    BN_free(x);
    BN_CTX_free(ctx);
    return ok;
}

static sotto_status compare_steps(const sotto_token_item *item, sotto_rsa_private *key,
                                  sotto_err *err)
{
    uint8_t blind[SOTTO_RSA_MAX], out[SOTTO_RSA_MAX], inverse[SOTTO_RSA_MAX];
    sotto_rsa_public *open = &key->public_key;
    sotto_bytes message[2], salt, inv, given;
    const size_t size = open->size;

    SOTTO_TRY(sotto_token_get(item, &message[0], "msg_prefix", 0, err));
    SOTTO_TRY(sotto_token_get(item, &message[1], "msg", 0, err));
    SOTTO_TRY(sotto_token_get(item, &salt, "salt", 0, err));
    SOTTO_TRY(sotto_blind_rsa_encode(out, size, message, 2, salt, err));
    SOTTO_TRY(sotto_token_compare(item, "encoded_msg", out, size, err));
    SOTTO_TRY(sotto_token_get(item, &inv, "inv", size, err));
    if (!invert(blind, open, inv))
        return sotto_fail(err, SOTTO_MALFORMED, "inv: has no inverse");
    SOTTO_TRY(sotto_blind_rsa_blind(open, out, inverse, message, 2, salt, blind, err));
    SOTTO_TRY(sotto_token_compare(item, "blinded_msg", out, size, err));
    SOTTO_TRY(sotto_token_compare(item, "inv", inverse, size, err));
    memcpy(blind, out, size);
    SOTTO_TRY(sotto_rsa_private_apply(key, out, blind, err));
    SOTTO_TRY(sotto_token_compare(item, "blind_sig", out, size, err));
    memcpy(blind, out, size);
    SOTTO_TRY(sotto_blind_rsa_finalize(open, out, blind, inverse, message, 2, salt.len, err));
    SOTTO_TRY(sotto_token_get(item, &given, "sig", size, err));
    SOTTO_TRY(sotto_blind_rsa_verify(open, given.data, message, 2, salt.len, err));
    return sotto_token_compare(item, "sig", out, size, err);
}

static sotto_status check(const sotto_token_item *item, sotto_err *err)
{
    sotto_rsa_private key = {0};
    sotto_status status = read_key(&key, item, err);

    if (status == SOTTO_OK)
        status = compare_steps(item, &key, err);
    sotto_rsa_private_clear(&key);
    return status;
}

static void run_item(const sotto_vector_file *file, const json_t *item, const char *name)
{
    sotto_token_count(file, item, name, check);
}

void sotto_vectors_blind_rsa(const sotto_vector_file *file)
{
    sotto_vectors_each(file, run_item);
}
