#include "crypto/kem.h"

#include "base/declassify.h"
#include "crypto/bignum.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>

const sotto_kem *sotto_kem_find(uint16_t id)
{
    static const sotto_kem known[] = {
        {SOTTO_KEM_P256, "P-256", SOTTO_SHA256, 32, 65, 32, 32, NID_X9_62_prime256v1, 0xff},
        {SOTTO_KEM_P384, "P-384", SOTTO_SHA384, 48, 97, 48, 48, NID_secp384r1, 0xff},
        {SOTTO_KEM_P521, "P-521", SOTTO_SHA512, 64, 133, 66, 66, NID_secp521r1, 0x01},
        {SOTTO_KEM_X25519, "X25519", SOTTO_SHA256, 32, 32, 32, 32, 0, 0xff},
        {SOTTO_KEM_X448, "X448", SOTTO_SHA512, 64, 56, 56, 56, 0, 0xff},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].id == id)
            return &known[i];
    return NULL;
}

/* The library queues errors for its thread; they must be cleared here. */
static sotto_status library_failed(const sotto_kem *kem, sotto_err *err)
{
    ERR_clear_error();
    return sotto_fail(err, SOTTO_NO_MEMORY, "%s: the crypto library failed", kem->name);
}

static sotto_status check_form(const sotto_kem *kem, sotto_bytes public_key, const char *what,
                               sotto_err *err)
{
    if (public_key.len != kem->public_size)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: %zu bytes, %s needs %zu", what, public_key.len,
                          kem->name, kem->public_size);
    /* RFC 9180, 7.1.1 allows the uncompressed form alone; the library would read hybrid ones too. */
    if (kem->curve && public_key.data[0] != POINT_CONVERSION_UNCOMPRESSED)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not an uncompressed point", what);
    return SOTTO_OK;
}

sotto_status sotto_kem_check_public(const sotto_kem *kem, sotto_bytes public_key, const char *what,
                                    sotto_err *err)
{
    sotto_status status = SOTTO_OK;

    SOTTO_TRY(check_form(kem, public_key, what, err));
    if (!kem->curve)
        return SOTTO_OK; /* every string of the right length is a public key (RFC 7748, 5) */

    EC_GROUP *group = EC_GROUP_new_by_curve_name(kem->curve);
    EC_POINT *point = group ? EC_POINT_new(group) : NULL;
    if (!point)
        status = library_failed(kem, err);
    else if (!EC_POINT_oct2point(group, point, public_key.data, public_key.len, NULL)) {
        /* oct2point checks the range of both coordinates and the curve's equation; the cofactor is 1. */
        ERR_clear_error();
        status = sotto_fail(err, SOTTO_MALFORMED, "%s: not a point of %s", what, kem->name);
    }
    EC_POINT_free(point);
    EC_GROUP_free(group);
    return status;
}

/* ---- private keys -------------------------------------------------------------------------------- */

static bool in_range(const EC_GROUP *group, const uint8_t *private_key, size_t len)
{
    uint8_t order[SOTTO_KEM_MAX_PRIVATE];

    return sotto_bignum_store(order, len, EC_GROUP_get0_order(group)) &&
           sotto_bignum_within(private_key, order, len);
}

bool sotto_kem_private_in_range(const sotto_kem *kem, const uint8_t *private_key)
{
    if (!kem->curve)
        return true;
    EC_GROUP *group = EC_GROUP_new_by_curve_name(kem->curve);
    bool yes = group && in_range(group, private_key, kem->private_size);
    EC_GROUP_free(group);
    ERR_clear_error();
    return yes;
}

/* The public key of a scalar in range. */
static int multiply_base(const EC_GROUP *group, uint8_t *public_key, size_t public_len,
                         const BIGNUM *scalar)
{
    EC_POINT *point = EC_POINT_new(group);
    int ok = point && EC_POINT_mul(group, point, scalar, NULL, NULL, NULL) &&
             EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, public_key, public_len,
                                NULL) == public_len;

    EC_POINT_clear_free(point);
    return ok;
}

/* A key object of the curve from its encoded public key and, unless NULL, its private one. */
static EVP_PKEY *nist_key(const sotto_kem *kem, uint8_t *public_key, uint8_t *native_private)
{
    OSSL_PARAM params[4], *next = params;
    EVP_PKEY *key = NULL;
    char group[32];
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);

    memcpy(group, kem->name, strlen(kem->name) + 1);
    *next++ = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0);
    *next++ =
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, public_key, kem->public_size);
    if (native_private)
        *next++ =
            OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, native_private, kem->private_size);
    *next = OSSL_PARAM_construct_end();

    if (!ctx || EVP_PKEY_fromdata_init(ctx) <= 0 ||
        EVP_PKEY_fromdata(ctx, &key, native_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY,
                          params) <= 0)
        key = NULL;
    EVP_PKEY_CTX_free(ctx);
    return key;
}

static sotto_status load_nist(sotto_dh *dh, sotto_bytes private_key, sotto_err *err)
{
    const sotto_kem *kem = dh->kem;
    uint8_t native[SOTTO_KEM_MAX_PRIVATE];
    BIGNUM *scalar = NULL;
    sotto_status status = SOTTO_OK;

    EC_GROUP *group = EC_GROUP_new_by_curve_name(kem->curve);
    if (!group) {
        status = library_failed(kem, err);
        goto done;
    }
    if (!in_range(group, private_key.data, private_key.len)) {
        status =
            sotto_fail(err, SOTTO_MALFORMED, "private key: not in 1 .. order - 1 of %s", kem->name);
        goto done;
    }
    scalar = BN_secure_new();
    if (!scalar || !BN_bin2bn(private_key.data, (int)private_key.len, scalar)) {
        status = library_failed(kem, err);
        goto done;
    }
    BN_set_flags(scalar, BN_FLG_CONSTTIME);
    if (!multiply_base(group, dh->public_key, kem->public_size, scalar) ||
        BN_bn2nativepad(scalar, native, (int)private_key.len) != (int)private_key.len) {
        status = library_failed(kem, err);
        goto done;
    }
    dh->own = nist_key(kem, dh->public_key, native);
    dh->peer = nist_key(kem, dh->public_key, NULL);

done:
    sotto_wipe(native, sizeof native);
    BN_clear_free(scalar);
    EC_GROUP_free(group);
    return status;
}

static void load_montgomery(sotto_dh *dh, sotto_bytes private_key)
{
    const sotto_kem *kem = dh->kem;
    size_t len = kem->public_size;

    dh->own =
        EVP_PKEY_new_raw_private_key_ex(NULL, kem->name, NULL, private_key.data, private_key.len);
    if (!dh->own || !EVP_PKEY_get_raw_public_key(dh->own, dh->public_key, &len))
        return;
    dh->peer = EVP_PKEY_new_raw_public_key_ex(NULL, kem->name, NULL, dh->public_key, len);
}

sotto_status sotto_dh_init(sotto_dh *dh, const sotto_kem *kem, sotto_bytes private_key,
                           sotto_err *err)
{
    memset(dh, 0, sizeof *dh);
    dh->kem = kem;
    if (private_key.len != kem->private_size)
        return sotto_fail(err, SOTTO_MALFORMED, "private key: %zu bytes, %s needs %zu",
                          private_key.len, kem->name, kem->private_size);
    if (kem->curve)
        SOTTO_TRY(load_nist(dh, private_key, err));
    else
        load_montgomery(dh, private_key);
    if (!dh->own || !dh->peer) {
        ERR_clear_error();
        return sotto_fail(err, SOTTO_MISSING, "%s: not offered by the crypto library", kem->name);
    }
    dh->derive = EVP_PKEY_CTX_new_from_pkey(NULL, dh->own, NULL);
    if (!dh->derive || EVP_PKEY_derive_init(dh->derive) <= 0)
        return library_failed(kem, err);
    return SOTTO_OK;
}

void sotto_dh_clear(sotto_dh *dh)
{
    EVP_PKEY_CTX_free(dh->derive);
    EVP_PKEY_free(dh->peer);
    EVP_PKEY_free(dh->own);
    sotto_wipe(dh, sizeof *dh);
}

/* ---- agreement ----------------------------------------------------------------------------------- */

static bool all_zero(const uint8_t *data, size_t len)
{
    uint8_t any = 0;

    for (size_t i = 0; i < len; i++)
        any = (uint8_t)(any | data[i]);
    return any == 0;
}

sotto_status sotto_dh_agree(sotto_dh *dh, uint8_t *out, sotto_bytes peer, const char *what,
                            sotto_err *err)
{
    const sotto_kem *kem = dh->kem;
    size_t len = kem->dh_size;

    SOTTO_TRY(check_form(kem, peer, what, err));
    /* For a NIST curve this decodes and checks the point; for the others it copies the bytes. */
    if (EVP_PKEY_set1_encoded_public_key(dh->peer, peer.data, peer.len) <= 0) {
        ERR_clear_error();
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not a point of %s", what, kem->name);
    }
    /* 0: no second validation, which would multiply by the order and double the cost. */
    if (EVP_PKEY_derive_set_peer_ex(dh->derive, dh->peer, 0) <= 0)
        return library_failed(kem, err);

    int derived = EVP_PKEY_derive(dh->derive, out, &len) > 0 && len == kem->dh_size;
    /* The library already refuses a zero result of X25519 and X448, but we do not rely on
     * that. */
    bool zero = !kem->curve && all_zero(out, len);
    SOTTO_DECLASSIFY(&zero, sizeof zero);
    if (!derived || zero) {
        sotto_wipe(out, kem->dh_size);
        ERR_clear_error();
        return sotto_fail(err, SOTTO_REJECTED, "%s: a point of small order", what);
    }
    return SOTTO_OK;
}
