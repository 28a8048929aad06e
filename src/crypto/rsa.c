#include "crypto/rsa.h"

#include "base/declassify.h"
#include "crypto/bignum.h"
#include "sotto/random.h"

#include <openssl/err.h>

/* The library queues errors for its thread; nobody else would ever take them off again. */
static sotto_status library_failed(sotto_err *err)
{
    ERR_clear_error();
    return sotto_fail(err, SOTTO_NO_MEMORY, "RSA: the crypto library failed");
}

static sotto_status not_below(const char *what, sotto_err *err)
{
    return sotto_fail(err, SOTTO_REJECTED, "RSA: %s is not below the modulus", what);
}

static bool is_below(const sotto_rsa_public *key, const uint8_t *in)
{
    unsigned below = sotto_bignum_less(in, key->modulus, key->size);

    SOTTO_DECLASSIFY(&below, sizeof below);
    return below;
}

/* ---- public keys --------------------------------------------------------------------------------------------- */

sotto_status sotto_rsa_public_init(sotto_rsa_public *key, sotto_bytes modulus, sotto_bytes exponent,
                                   sotto_err *err)
{
    memset(key, 0, sizeof *key);
    if (modulus.len < SOTTO_RSA_MIN || modulus.len > SOTTO_RSA_MAX || !(modulus.data[0] & 0x80) ||
        !(modulus.data[modulus.len - 1] & 1))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "RSA: a modulus must be odd and of 2048 to 4096 bits, in whole bytes");
    key->size = modulus.len;
    memcpy(key->modulus, modulus.data, modulus.len);
    key->n = BN_bin2bn(modulus.data, (int)modulus.len, NULL);
    key->e = BN_bin2bn(exponent.data, (int)(exponent.len > 9 ? 9 : exponent.len), NULL);
    key->modulo = BN_MONT_CTX_new();
    key->numbers = BN_CTX_new();
    if (!key->n || !key->e || !key->modulo || !key->numbers ||
        !BN_MONT_CTX_set(key->modulo, key->n, key->numbers))
        return library_failed(err);
    if (!BN_is_odd(key->e) || BN_is_one(key->e) || BN_num_bits(key->e) > 64)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "RSA: an exponent must be odd, more than 1, and of 64 bits at most");
    return SOTTO_OK;
}

void sotto_rsa_public_clear(sotto_rsa_public *key)
{
    BN_MONT_CTX_free(key->modulo);
    BN_CTX_free(key->numbers); /* wipes every scratch number */
    BN_free(key->n);
    BN_free(key->e);
    memset(key, 0, sizeof *key);
}

sotto_status sotto_rsa_public_apply(sotto_rsa_public *key, uint8_t *out, const uint8_t *in,
                                    sotto_err *err)
{
    bool ok;

    if (!is_below(key, in))
        return not_below("a number", err);
    BN_CTX_start(key->numbers);
    BIGNUM *x = BN_CTX_get(key->numbers);
    ok = x && BN_bin2bn(in, (int)key->size, x) &&
         BN_mod_exp_mont(x, x, key->e, key->n, key->numbers, key->modulo) &&
         sotto_bignum_store(out, key->size, x);
    BN_CTX_end(key->numbers);
    return ok ? SOTTO_OK : library_failed(err);
}

/* ---- blinding ------------------------------------------------------------------------------------------------ */

sotto_status sotto_rsa_random(const sotto_rsa_public *key, uint8_t *out, sotto_err *err)
{
    unsigned fits;

    do {
        SOTTO_TRY(sotto_random_bytes(out, key->size, err));
        fits = sotto_bignum_within(out, key->modulus, key->size);
        SOTTO_DECLASSIFY(&fits, sizeof fits); /* what was drawn before tells nothing of this draw */
    } while (!fits);
    return SOTTO_OK;
}

/* x = x * y; both are scratch numbers. */
static bool multiply(sotto_rsa_public *key, BIGNUM *x, const BIGNUM *y)
{
    return BN_to_montgomery(x, x, key->modulo, key->numbers) &&
           BN_mod_mul_montgomery(x, x, y, key->modulo, key->numbers);
}

/* 1: has no factor with the modulus in common; 0: has one; -1: the library failed. */
static int is_coprime(sotto_rsa_public *key, const BIGNUM *x)
{
    BIGNUM *common = BN_CTX_get(key->numbers);

    if (!common || !BN_gcd(common, x, key->n, key->numbers))
        return -1;
    return BN_is_one(common);
}

static sotto_status name_the_factor(sotto_rsa_public *key, const BIGNUM *message, sotto_err *err)
{
    const int coprime = is_coprime(key, message);

    if (coprime < 0)
        return library_failed(err);
    return sotto_fail(err, SOTTO_REJECTED,
                      coprime ? "RSA: a blind has no inverse"
                              : "RSA: a message has a factor with the modulus in common");
}

/* The inverse of `blind`, at `inverse`. The library's constant-time inverse takes ten times as long as the other. So the fast
 * one is used on the product with a fresh random factor, which is as good as random itself. The product has the message in it
 * too: where it has an inverse, blind and message have none of the modulus' factors. */
static sotto_status invert(sotto_rsa_public *key, BIGNUM *inverse, const BIGNUM *message,
                           const BIGNUM *blind, sotto_err *err)
{
    BIGNUM *product = BN_CTX_get(key->numbers), *mask = BN_CTX_get(key->numbers);
    uint8_t bytes[SOTTO_BIGNUM_MAX];

    SOTTO_TRY(sotto_rsa_random(key, bytes, err));
    const bool loaded = mask && sotto_bignum_load(mask, bytes, key->size);
    sotto_wipe(bytes, sizeof bytes);
    if (!loaded || !BN_copy(inverse, mask) || !multiply(key, inverse, message) ||
        !BN_copy(product, inverse) || !multiply(key, product, blind))
        return library_failed(err);
    /* The product lacks the flag of secrets, which copies don't take along. */
    if (!BN_mod_inverse(product, product, key->n, key->numbers)) {
        ERR_clear_error();
        return name_the_factor(key, message, err);
    }
    return multiply(key, inverse, product) ? SOTTO_OK : library_failed(err);
}

static sotto_status blind_within(sotto_rsa_public *key, uint8_t *out, uint8_t *inverse,
                                 const uint8_t *in, const uint8_t *blind, sotto_err *err)
{
    BIGNUM *x = BN_CTX_get(key->numbers), *r = BN_CTX_get(key->numbers);
    BIGNUM *power = BN_CTX_get(key->numbers), *back = BN_CTX_get(key->numbers);

    if (!back || !sotto_bignum_load(x, in, key->size) || !sotto_bignum_load(r, blind, key->size))
        return library_failed(err);
    SOTTO_TRY(invert(key, back, x, r, err));
    if (!BN_mod_exp_mont(power, r, key->e, key->n, key->numbers, key->modulo) ||
        !multiply(key, x, power) || !sotto_bignum_store(out, key->size, x) ||
        !sotto_bignum_store_secret(inverse, key->size, back))
        return library_failed(err);
    return SOTTO_OK;
}

sotto_status sotto_rsa_blind(sotto_rsa_public *key, uint8_t *out, uint8_t *inverse,
                             const uint8_t *in, const uint8_t *blind, sotto_err *err)
{
    sotto_status status;

    if (!is_below(key, in))
        status = not_below("a message", err);
    else if (!is_below(key, blind))
        status = not_below("a blind", err);
    else {
        BN_CTX_start(key->numbers);
        status = blind_within(key, out, inverse, in, blind, err);
        BN_CTX_end(key->numbers);
    }
    if (status != SOTTO_OK) {
        sotto_wipe(out, key->size);
        sotto_wipe(inverse, key->size);
    }
    return status;
}

sotto_status sotto_rsa_unblind(sotto_rsa_public *key, uint8_t *out, const uint8_t *in,
                               const uint8_t *inverse, sotto_err *err)
{
    bool ok;

    if (!is_below(key, in))
        return not_below("a blind signature", err);
    BN_CTX_start(key->numbers);
    BIGNUM *x = BN_CTX_get(key->numbers), *y = BN_CTX_get(key->numbers);
    ok = sotto_bignum_load(x, in, key->size) && sotto_bignum_load(y, inverse, key->size) &&
         multiply(key, x, y) && sotto_bignum_store(out, key->size, x);
    BN_CTX_end(key->numbers);
    return ok ? SOTTO_OK : library_failed(err);
}
