#include "crypto/rsa.h"

#include "seal/token_keys.h"
#include "support/test.h"

#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

enum { SIZE = 256 };

static void open_key(sotto_test *t, sotto_rsa_private *key)
{
    CHECK_OK(t, sotto_rsa_private_decode(key, sotto_test_hex(t, TOKEN_KEY), &t->err));
}

static void a_blinded_signature_is_the_plain_one(sotto_test *t)
{
    uint8_t in[SIZE] = {0, 7}, blind[SIZE], inverse[SIZE], blinded[SIZE], out[SIZE], again[SIZE];
    sotto_rsa_private key;

    open_key(t, &key);
    CHECK_OK(t, sotto_rsa_random(&key.public_key, blind, &t->err));
    CHECK_OK(t, sotto_rsa_blind(&key.public_key, blinded, inverse, in, blind, &t->err));
    CHECK(t, memcmp(blinded, in, SIZE) != 0);
    CHECK_OK(t, sotto_rsa_private_apply(&key, out, blinded, &t->err));
    CHECK_OK(t, sotto_rsa_unblind(&key.public_key, out, out, inverse, &t->err));
    CHECK_OK(t, sotto_rsa_private_apply(&key, again, in, &t->err));
    CHECK_BYTES(t, again, out, SIZE);
    CHECK_OK(t, sotto_rsa_public_apply(&key.public_key, again, out, &t->err));
    CHECK_BYTES(t, in, again, SIZE);
    sotto_rsa_private_clear(&key);
}

static void numbers_that_are_not_below_the_modulus_are_refused(sotto_test *t)
{
    uint8_t small[SIZE] = {[SIZE - 1] = 2}, out[SIZE], inverse[SIZE];
    sotto_rsa_private key;

    open_key(t, &key);
    sotto_rsa_public *open = &key.public_key;
    const uint8_t *n = open->modulus;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_rsa_public_apply(open, out, n, &t->err));
    CHECK_REASON(t, "RSA: a number is not below the modulus");
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_rsa_private_apply(&key, out, n, &t->err));
    CHECK_REASON(t, "RSA: a blinded message is not below the modulus");
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_rsa_unblind(open, out, n, small, &t->err));
    CHECK_REASON(t, "RSA: a blind signature is not below the modulus");
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_rsa_blind(open, out, inverse, n, small, &t->err));
    CHECK_REASON(t, "RSA: a message is not below the modulus");
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_rsa_blind(open, out, inverse, small, n, &t->err));
    CHECK_REASON(t, "RSA: a blind is not below the modulus");
    sotto_rsa_private_clear(&key);
}

static void a_blind_without_an_inverse_is_refused(sotto_test *t)
{
    uint8_t small[SIZE] = {[SIZE - 1] = 2}, factor[SIZE] = {0}, out[SIZE], inverse[SIZE];
    sotto_rsa_private key;
    BIGNUM *p = NULL;

    open_key(t, &key);
    CHECK(t, EVP_PKEY_get_bn_param(key.key, OSSL_PKEY_PARAM_RSA_FACTOR1, &p));
    CHECK(t, BN_bn2binpad(p, factor, SIZE) == SIZE);
    BN_clear_free(p);
    memset(out, 1, sizeof out);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_rsa_blind(&key.public_key, out, inverse, small, factor, &t->err));
    CHECK_REASON(t, "RSA: a blind has no inverse");
    CHECK(t, out[0] == 0 && out[SIZE - 1] == 0);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_rsa_blind(&key.public_key, out, inverse, factor, small, &t->err));
    CHECK_REASON(t, "RSA: a message has a factor with the modulus in common");
    memset(factor, 0, sizeof factor);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_rsa_blind(&key.public_key, out, inverse, small, factor, &t->err));
    CHECK_REASON(t, "RSA: a blind has no inverse");
    sotto_rsa_private_clear(&key);
}

static void many_are_blinded_as_each_by_itself(sotto_test *t)
{
    static uint8_t in[SOTTO_RSA_MANY + 1][SIZE], blinds[SOTTO_RSA_MANY + 1][SIZE];
    static uint8_t out[SOTTO_RSA_MANY + 1][SIZE], inverses[SOTTO_RSA_MANY + 1][SIZE];
    const size_t counts[] = {0, 1, 2, 7, SOTTO_RSA_MANY};
    uint8_t one[SIZE], inverse[SIZE];
    sotto_rsa_private key;

    open_key(t, &key);
    for (size_t i = 0; i < SOTTO_RSA_MANY; i++) {
        CHECK_OK(t, sotto_rsa_random(&key.public_key, in[i], &t->err));
        CHECK_OK(t, sotto_rsa_random(&key.public_key, blinds[i], &t->err));
    }
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        memset(out, 1, sizeof out);
        CHECK_OK(t, sotto_rsa_blind_many(&key.public_key, out[0], inverses[0], in[0], blinds[0],
                                         counts[c], &t->err));
        CHECK_EQUAL(t, 1, out[counts[c]][0]); /* and nothing behind the last */
        for (size_t i = 0; i < counts[c]; i++) {
            CHECK_OK(t, sotto_rsa_blind(&key.public_key, one, inverse, in[i], blinds[i], &t->err));
            CHECK_BYTES(t, one, out[i], SIZE);
            CHECK_BYTES(t, inverse, inverses[i], SIZE);
        }
    }
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_rsa_blind_many(&key.public_key, out[0], inverses[0], in[0], blinds[0],
                                      SOTTO_RSA_MANY + 1, &t->err));
    sotto_rsa_private_clear(&key);
}

/* One bad number among good ones; nothing of the others is left. */
static void one_bad_number_refuses_all(sotto_test *t)
{
    uint8_t in[3][SIZE], blinds[3][SIZE], out[3][SIZE], inverses[3][SIZE], factor[SIZE];
    sotto_rsa_private key;
    BIGNUM *p = NULL;

    open_key(t, &key);
    CHECK(t, EVP_PKEY_get_bn_param(key.key, OSSL_PKEY_PARAM_RSA_FACTOR1, &p));
    CHECK(t, BN_bn2binpad(p, factor, SIZE) == SIZE);
    BN_clear_free(p);
    for (unsigned bad = 0; bad < 12; bad++) {
        uint8_t *number = bad % 2 ? in[bad % 3] : blinds[bad % 3];

        for (size_t i = 0; i < 3; i++) {
            CHECK_OK(t, sotto_rsa_random(&key.public_key, in[i], &t->err));
            CHECK_OK(t, sotto_rsa_random(&key.public_key, blinds[i], &t->err));
        }
        memcpy(number, bad < 6 ? key.public_key.modulus : factor, SIZE);
        memset(out, 1, sizeof out);
        memset(inverses, 1, sizeof inverses);
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_rsa_blind_many(&key.public_key, out[0], inverses[0], in[0], blinds[0], 3,
                                          &t->err));
        CHECK_REASON(t, bad < 6 ? "RSA: a number is not below the modulus"
                                : "RSA: a blind or a message has no inverse");
        for (size_t i = 0; i < 3; i++)
            CHECK(t, out[i][0] == 0 && out[i][SIZE - 1] == 0 && inverses[i][0] == 0);
    }
    sotto_rsa_private_clear(&key);
}

static void keys_of_other_sizes_are_refused(sotto_test *t)
{
    uint8_t n[SOTTO_RSA_MAX + 1];
    const uint8_t e[] = {1, 0, 1}, even[] = {2}, one[] = {1}, wide[9] = {1, [8] = 1};
    sotto_rsa_public key;

    memset(n, 0xff, sizeof n);
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_rsa_public_init(&key, sotto_bytes_of(n, 255), sotto_bytes_of(e, 3), &t->err));
    sotto_rsa_public_clear(&key);
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_rsa_public_init(&key, sotto_bytes_of(n, 513), sotto_bytes_of(e, 3), &t->err));
    CHECK_REASON(t, "RSA: a modulus must be odd and of 2048 to 4096 bits, in whole bytes");
    sotto_rsa_public_clear(&key);
    const sotto_bytes bad[] = {sotto_bytes_of(even, 1), sotto_bytes_of(one, 1),
                               sotto_bytes_of(wide, 9), sotto_bytes_of(NULL, 0)};
    for (size_t i = 0; i < 4; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_rsa_public_init(&key, sotto_bytes_of(n, 256), bad[i], &t->err));
        CHECK_REASON(t, "RSA: an exponent must be odd, more than 1, and of 64 bits at most");
        sotto_rsa_public_clear(&key);
    }
    n[0] = 0x7f;
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_rsa_public_init(&key, sotto_bytes_of(n, 256), sotto_bytes_of(e, 3), &t->err));
    sotto_rsa_public_clear(&key);
}

static void private_keys_are_written_as_they_are_read(sotto_test *t)
{
    const sotto_bytes der = sotto_test_hex(t, TOKEN_KEY);
    sotto_buf out = sotto_test_buf(t, SOTTO_RSA_DER_MAX);
    sotto_rsa_private key;

    open_key(t, &key);
    CHECK_OK(t, sotto_rsa_private_encode(&key, &out, &t->err));
    CHECK_EQUAL(t, der.len, out.len);
    CHECK_BYTES(t, der.data, out.data, out.len);
    sotto_rsa_private_clear(&key);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_rsa_private_decode(&key, sotto_bytes_of(der.data, der.len - 1), &t->err));
    CHECK_REASON(t, "RSA: not a private key in PKCS #8");
    sotto_rsa_private_clear(&key);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_blinded_signature_is_the_plain_one),
        CASE(numbers_that_are_not_below_the_modulus_are_refused),
        CASE(a_blind_without_an_inverse_is_refused),
        CASE(many_are_blinded_as_each_by_itself),
        CASE(one_bad_number_refuses_all),
        CASE(keys_of_other_sizes_are_refused),
        CASE(private_keys_are_written_as_they_are_read),
    };
    return RUN_TESTS(argc, argv, cases);
}
