/* Blinding for many requests at once: one inverse for all of them, and three products more for each (Montgomery's trick). In a
 * file of its own: a device asks for one token at a time. */
#include "crypto/rsa.h"

#include "base/declassify.h"
#include "crypto/bignum.h"

#include <openssl/err.h>

/* All in Montgomery's form, and scratch numbers of the key. */
typedef struct item {
    BIGNUM *message, *blind, *both; /* both: message * blind         */
    BIGNUM *before;                 /* of all items before this one  */
} item;

static bool multiply(sotto_rsa_public *key, BIGNUM *out, const BIGNUM *a, const BIGNUM *b)
{
    return BN_mod_mul_montgomery(out, a, b, key->modulo, key->numbers);
}

/* The caller has asked whether it is below the modulus. */
static bool load(sotto_rsa_public *key, BIGNUM **out, const uint8_t *bytes)
{
    *out = BN_CTX_get(key->numbers);
    return sotto_bignum_load(*out, bytes, key->size) &&
           BN_to_montgomery(*out, *out, key->modulo, key->numbers);
}

/* mask * both of the first * both of the second ...: as good as random, since the mask is. */
static bool gather(sotto_rsa_public *key, BIGNUM *all, item *items, const uint8_t *in,
                   const uint8_t *blinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        item *one = &items[i];

        if (!load(key, &one->message, in + i * key->size) ||
            !load(key, &one->blind, blinds + i * key->size))
            return false;
        one->both = BN_CTX_get(key->numbers);
        one->before = BN_CTX_get(key->numbers);
        if (!one->before || !multiply(key, one->both, one->message, one->blind) ||
            !BN_copy(one->before, all) || !multiply(key, all, all, one->both))
            return false;
    }
    return true;
}

/* x = x^e. The exponent is public. */
static bool raise(sotto_rsa_public *key, BIGNUM *x)
{
    BIGNUM *base = BN_CTX_get(key->numbers);
    bool ok = base && BN_copy(base, x);

    for (int bit = BN_num_bits(key->e) - 2; bit >= 0 && ok; bit--) {
        ok = multiply(key, x, x, x);
        if (ok && BN_is_bit_set(key->e, bit))
            ok = multiply(key, x, x, base);
    }
    return ok;
}

/* all: the inverse of mask and items up to this one; afterwards, up to the one before. */
static bool finish(sotto_rsa_public *key, uint8_t *out, uint8_t *inverse, BIGNUM *all, item *one)
{
    BIGNUM *back = BN_CTX_get(key->numbers);

    /* 1 / both, then times the message: 1 / blind */
    return back && multiply(key, back, all, one->before) &&
           multiply(key, back, back, one->message) && multiply(key, all, all, one->both) &&
           BN_from_montgomery(back, back, key->modulo, key->numbers) &&
           sotto_bignum_store_secret(inverse, key->size, back) && raise(key, one->blind) &&
           multiply(key, one->blind, one->blind, one->message) &&
           BN_from_montgomery(one->blind, one->blind, key->modulo, key->numbers) &&
           sotto_bignum_store(out, key->size, one->blind);
}

static sotto_status blind_within(sotto_rsa_public *key, uint8_t *out, uint8_t *inverses,
                                 const uint8_t *in, const uint8_t *blinds, size_t count,
                                 sotto_err *err)
{
    BIGNUM *all = BN_CTX_get(key->numbers), *product = BN_CTX_get(key->numbers);
    item items[SOTTO_RSA_MANY];
    uint8_t mask[SOTTO_BIGNUM_MAX];

    SOTTO_TRY(sotto_rsa_random(key, mask, err));
    bool ok = product && sotto_bignum_load(all, mask, key->size) &&
              gather(key, all, items, in, blinds, count) &&
              BN_from_montgomery(product, all, key->modulo, key->numbers);
    sotto_wipe(mask, sizeof mask);
    /* The product lacks the flag of secrets: the library's inverse takes the short way. */
    if (ok && !BN_mod_inverse(product, product, key->n, key->numbers)) {
        ERR_clear_error();
        return sotto_fail(err, SOTTO_REJECTED, "RSA: a blind or a message has no inverse");
    }
    ok = ok && BN_to_montgomery(all, product, key->modulo, key->numbers);
    for (size_t i = count; i-- > 0 && ok;)
        ok = finish(key, out + i * key->size, inverses + i * key->size, all, &items[i]);
    if (ok)
        return SOTTO_OK;
    ERR_clear_error();
    return sotto_fail(err, SOTTO_NO_MEMORY, "RSA: the crypto library failed");
}

static bool all_below(const sotto_rsa_public *key, const uint8_t *numbers, size_t count)
{
    unsigned below = 1;

    for (size_t i = 0; i < count; i++)
        below &= sotto_bignum_less(numbers + i * key->size, key->modulus, key->size);
    SOTTO_DECLASSIFY(&below, sizeof below);
    return below;
}

sotto_status sotto_rsa_blind_many(sotto_rsa_public *key, uint8_t *out, uint8_t *inverses,
                                  const uint8_t *in, const uint8_t *blinds, size_t count,
                                  sotto_err *err)
{
    sotto_status status;

    if (count > SOTTO_RSA_MANY)
        return sotto_fail(err, SOTTO_BUG, "RSA: %zu at once", count);
    if (!all_below(key, in, count) || !all_below(key, blinds, count)) {
        status = sotto_fail(err, SOTTO_REJECTED, "RSA: a number is not below the modulus");
    } else {
        BN_CTX_start(key->numbers);
        status = blind_within(key, out, inverses, in, blinds, count, err);
        BN_CTX_end(key->numbers);
    }
    if (status != SOTTO_OK) {
        sotto_wipe(out, count * key->size);
        sotto_wipe(inverses, count * key->size);
    }
    return status;
}
