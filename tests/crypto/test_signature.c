#include "crypto/signature.h"

#include "support/test.h"

#include <string.h>

/* RFC 8032, 7.1, tests 1 to 3. */
static const struct {
    const char *seed, *public_key, *text, *signature;
} VECTORS[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "46b"
     "d25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d8c"
     "387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "659"
     "4a7c15e9716ed28dc027beceea1ec40a"},
};

static void signatures_are_those_of_rfc_8032(sotto_test *t)
{
    for (size_t i = 0; i < sizeof VECTORS / sizeof VECTORS[0]; i++) {
        uint8_t out[SOTTO_SIGNATURE];
        sotto_bytes text = sotto_test_hex(t, VECTORS[i].text);
        sotto_signer signer;

        CHECK_OK(t, sotto_signer_init(&signer, sotto_test_hex(t, VECTORS[i].seed).data, &t->err));
        CHECK_BYTES(t, sotto_test_hex(t, VECTORS[i].public_key).data, signer.public_key, 32);
        CHECK_OK(t, sotto_sign(&signer, out, text, &t->err));
        CHECK_BYTES(t, sotto_test_hex(t, VECTORS[i].signature).data, out, sizeof out);
        CHECK_OK(t, sotto_signature_check(signer.public_key, out, text, &t->err));
        sotto_signer_clear(&signer);
    }
}

static void every_flipped_bit_is_rejected(sotto_test *t)
{
    uint8_t seed[32] = {7}, text[20] = {1, 2, 3}, out[SOTTO_SIGNATURE];
    sotto_bytes whole = sotto_bytes_of(text, sizeof text);
    sotto_signer signer;

    CHECK_OK(t, sotto_signer_init(&signer, seed, &t->err));
    CHECK_OK(t, sotto_sign(&signer, out, whole, &t->err));
    for (size_t bit = 0; bit < 8 * sizeof out; bit++) {
        out[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_signature_check(signer.public_key, out, whole, &t->err));
        out[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * sizeof text; bit++) {
        text[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_signature_check(signer.public_key, out, whole, &t->err));
        text[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    signer.public_key[0] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_signature_check(signer.public_key, out, whole, &t->err));
    sotto_signer_clear(&signer);
}

/* S + L verifies under the same equation; RFC 8032, 5.1.7 wants S below L. */
static void a_signature_has_one_form(sotto_test *t)
{
    static const uint8_t order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,       0xd6,
                                      0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, [31] = 0x10};
    uint8_t seed[32] = {9}, out[SOTTO_SIGNATURE];
    unsigned carry = 0;
    sotto_signer signer;

    CHECK_OK(t, sotto_signer_init(&signer, seed, &t->err));
    CHECK_OK(t, sotto_sign(&signer, out, sotto_bytes_of("text", 4), &t->err));
    for (size_t i = 0; i < 32; i++) {
        carry += (unsigned)out[32 + i] + order[i];
        out[32 + i] = (uint8_t)carry;
        carry >>= 8;
    }
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_signature_check(signer.public_key, out, sotto_bytes_of("text", 4), &t->err));
    sotto_signer_clear(&signer);
}

/* With the neutral element as key, R = S B holds for every text. */
static void keys_of_small_order_sign_nothing(sotto_test *t)
{
    static const char *const keys[] = {
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    };
    /* S = 0 and R the neutral element, or the point of order 4. */
    uint8_t neutral[SOTTO_SIGNATURE] = {1}, zero[SOTTO_SIGNATURE] = {0}, text[1];

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        for (unsigned c = 0; c < 64; c++) {
            const uint8_t *key = sotto_test_hex(t, keys[i]).data;

            text[0] = (uint8_t)c;
            CHECK_STATUS(t, SOTTO_REJECTED,
                         sotto_signature_check(key, neutral, sotto_bytes_of(text, 1), &t->err));
            CHECK_STATUS(t, SOTTO_REJECTED,
                         sotto_signature_check(key, zero, sotto_bytes_of(text, 1), &t->err));
        }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(signatures_are_those_of_rfc_8032),
        CASE(every_flipped_bit_is_rejected),
        CASE(a_signature_has_one_form),
        CASE(keys_of_small_order_sign_nothing),
    };
    return RUN_TESTS(argc, argv, cases);
}
