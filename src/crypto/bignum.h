/* crypto/bignum.h - between fixed-width bytes and the crypto library's big numbers.
 *
 * Callers:  the files of this room that compute with such numbers.
 */
#ifndef SOTTO_CRYPTO_BIGNUM_H
#define SOTTO_CRYPTO_BIGNUM_H

#include "base/declassify.h"
#include "sotto/base.h"

#include <string.h>

#include <openssl/bn.h>

enum { SOTTO_BIGNUM_MAX = 512 };

/* Reads a secret number. The library drops leading zero bytes as it reads, one branch for each. With a byte in front that is
 * never zero, none is dropped, and the time tells nothing of the first bytes. False: the library failed, or n is NULL.
 *
 * The constant-time tests follow a secret up to here. The library's numbers look after each step for leading zero words, which
 * a uniform number has once in 2^64, and its assembly chooses pointers by masks. Memcheck takes both for branches. */
static inline bool sotto_bignum_load(BIGNUM *n, const uint8_t *bytes, size_t len)
{
    uint8_t guarded[1 + SOTTO_BIGNUM_MAX] = {1};
    bool ok;

    memcpy(guarded + 1, bytes, len);
    SOTTO_DECLASSIFY(guarded, 1 + len);
    ok = n && BN_bin2bn(guarded, (int)len + 1, n) && BN_clear_bit(n, (int)(8 * len));
    if (ok)
        BN_set_flags(n, BN_FLG_CONSTTIME);
    sotto_wipe(guarded, 1 + len);
    return ok;
}

/* False: it does not fit, or the library failed. */
static inline bool sotto_bignum_store(uint8_t *bytes, size_t len, const BIGNUM *n)
{
    return BN_bn2binpad(n, bytes, (int)len) == (int)len;
}

/* The same of a secret number, which the constant-time tests follow from here on. */
static inline bool sotto_bignum_store_secret(uint8_t *bytes, size_t len, const BIGNUM *n)
{
    const bool ok = sotto_bignum_store(bytes, len, n);

    SOTTO_CLASSIFY(bytes, len);
    return ok;
}

/* 1 if a < b as big-endian numbers, without a branch on either. */
static inline unsigned sotto_bignum_less(const uint8_t *a, const uint8_t *b, size_t len)
{
    unsigned borrow = 0;

    for (size_t i = len; i-- > 0;)
        borrow = (((unsigned)a[i] - b[i] - borrow) >> 8) & 1;
    return borrow;
}

/* out = a - b modulo `order`, of numbers below it, without a branch on either; out may be an operand. The order is added or
 * zero is, and the same is read and written for both. */
static inline void sotto_bignum_subtract(uint8_t *out, const uint8_t *a, const uint8_t *b,
                                         const uint8_t *order, size_t len)
{
    const unsigned wraps = sotto_bignum_less(a, b, len);
    unsigned borrow = 0, carry = 0;

    for (size_t i = len; i-- > 0;) {
        const unsigned less = (unsigned)a[i] - b[i] - borrow;

        borrow = (less >> 8) & 1;
        carry += (less & 255) + (order[i] & (0U - wraps));
        out[i] = (uint8_t)carry;
        carry >>= 8;
    }
}

/* 1 if 0 < a < b. */
static inline unsigned sotto_bignum_within(const uint8_t *a, const uint8_t *b, size_t len)
{
    uint8_t any = 0;

    for (size_t i = 0; i < len; i++)
        any = (uint8_t)(any | a[i]);
    return sotto_bignum_less(a, b, len) & (((unsigned)any + 255) >> 8);
}

#endif
