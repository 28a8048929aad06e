#include "support/test.h"

#include <string.h>

#include "crypto/aead.h"

/* Key 00 01 02 ..., nonce 00 01 ... 0b; expected values come from Python's cryptography package. */
typedef struct expectation {
    uint16_t id;
    const char *sealed;
    const char *sealed_nothing; /* no text, no aad: the tag alone */
} expectation;

static const expectation EXPECTED[] = {
    {SOTTO_AES128_GCM, "e003d3ba093b943b3ebc15f916d20561d652769feb43483255a881200c59db1a1da4fd35",
     "435b9ba12d75a4be8a977ea3cd011890"},
    {SOTTO_AES256_GCM, "346da26faac5a174f82fe3f891980d04e6a2eb4dacd294573fa385eb48373ac6d5b125d2",
     "f4c2db1dc38805a37b92171c5d0a81cc"},
    {SOTTO_CHACHA20_POLY1305,
     "fa947c744637c62fc2ed4b80b86c7b0aac04de9e3aac12accb2f6b1c831f89e0515226e3",
     "295a498b8841a1c5f55d4d606f731159"},
};
enum { AEADS = sizeof EXPECTED / sizeof EXPECTED[0], TEXT = 20 };

static const uint8_t COUNTING[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                     22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

static sotto_bytes text(void)
{
    return sotto_bytes_of("sotto counts quietly", TEXT);
}

static sotto_bytes aad(void)
{
    return sotto_bytes_of("beside", 6);
}

static sotto_bytes none(void)
{
    return sotto_bytes_of(NULL, 0);
}

static sotto_aead keyed(sotto_test *t, uint16_t id, sotto_aead_direction direction)
{
    sotto_aead aead;

    CHECK_OK(t, sotto_aead_init(&aead, sotto_aead_find(id), direction, &t->err));
    CHECK_OK(t, sotto_aead_set_key(&aead, COUNTING, &t->err));
    return aead;
}

static void seal_matches_another_implementation(sotto_test *t)
{
    uint8_t memory[64];

    for (size_t i = 0; i < AEADS; i++) {
        sotto_aead aead = keyed(t, EXPECTED[i].id, SOTTO_AEAD_SEAL);

        for (int again = 0; again < 2; again++) { /* the object is reused */
            sotto_buf out = sotto_buf_over(memory, sizeof memory);
            CHECK_OK(t, sotto_aead_seal(&aead, &out, COUNTING, aad(), text(), &t->err));
            CHECK_EQUAL(t, TEXT + SOTTO_AEAD_TAG_SIZE, out.len);
            CHECK_BYTES(t, sotto_test_hex(t, EXPECTED[i].sealed).data, memory, out.len);
        }
        sotto_buf out = sotto_buf_over(memory, sizeof memory);
        CHECK_OK(t, sotto_aead_seal(&aead, &out, COUNTING, none(), none(), &t->err));
        CHECK_BYTES(t, sotto_test_hex(t, EXPECTED[i].sealed_nothing).data, memory, out.len);
        sotto_aead_clear(&aead);
    }
}

static void open_gives_back_what_was_sealed(sotto_test *t)
{
    uint8_t memory[64];

    for (size_t i = 0; i < AEADS; i++) {
        sotto_aead aead = keyed(t, EXPECTED[i].id, SOTTO_AEAD_OPEN);
        sotto_buf out = sotto_buf_over(memory, TEXT); /* fits exactly */

        CHECK_OK(t, sotto_aead_open(&aead, &out, COUNTING, aad(),
                                    sotto_test_hex(t, EXPECTED[i].sealed), &t->err));
        CHECK_EQUAL(t, TEXT, out.len);
        CHECK_BYTES(t, text().data, memory, TEXT);

        sotto_buf nowhere = {0};
        CHECK_OK(t, sotto_aead_open(&aead, &nowhere, COUNTING, none(),
                                    sotto_test_hex(t, EXPECTED[i].sealed_nothing), &t->err));
        sotto_aead_clear(&aead);
    }
}

static void check_refusal(sotto_test *t, sotto_aead *aead, const uint8_t *nonce, sotto_bytes beside,
                          sotto_bytes sealed)
{
    static const uint8_t zero[TEXT];
    uint8_t memory[2 + 64] = {7, 8};
    sotto_buf out = {memory, 2, sizeof memory};

    CHECK_STATUS(t, SOTTO_REJECTED, sotto_aead_open(aead, &out, nonce, beside, sealed, &t->err));
    CHECK_EQUAL(t, 2, out.len);
    CHECK_EQUAL(t, 8, memory[1]);
    CHECK_BYTES(t, zero, memory + 2, TEXT); /* nothing of the text is left behind */
}

static void open_refuses_any_changed_bit_and_leaves_nothing_behind(sotto_test *t)
{
    uint8_t other_nonce[SOTTO_AEAD_NONCE_SIZE] = {9};

    for (size_t i = 0; i < AEADS; i++) {
        sotto_aead aead = keyed(t, EXPECTED[i].id, SOTTO_AEAD_OPEN);
        const sotto_bytes sealed = sotto_test_hex(t, EXPECTED[i].sealed);
        uint8_t changed[64];

        for (size_t bit = 0; bit < 8 * sealed.len; bit++) {
            memcpy(changed, sealed.data, sealed.len);
            changed[bit / 8] ^= (uint8_t)(1 << bit % 8);
            check_refusal(t, &aead, COUNTING, aad(), sotto_bytes_of(changed, sealed.len));
        }
        check_refusal(t, &aead, COUNTING, sotto_bytes_of("beside", 5), sealed);
        check_refusal(t, &aead, other_nonce, aad(), sealed);
        check_refusal(t, &aead, COUNTING, aad(), sotto_bytes_of(sealed.data, sealed.len - 1));
        sotto_buf out = sotto_buf_over(changed, sizeof changed); /* still fit for use */
        CHECK_OK(t, sotto_aead_open(&aead, &out, COUNTING, aad(), sealed, &t->err));
        sotto_aead_clear(&aead);
    }
}

static void open_refuses_less_than_a_tag(sotto_test *t)
{
    sotto_aead aead = keyed(t, SOTTO_AES128_GCM, SOTTO_AEAD_OPEN);
    uint8_t memory[64];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_aead_open(&aead, &out, COUNTING, none(), sotto_bytes_of(COUNTING, 15), &t->err));
    CHECK_REASON(t, "shorter than its tag");
    sotto_aead_clear(&aead);
}

static void outputs_that_do_not_fit_are_refused_untouched(sotto_test *t)
{
    sotto_aead sealer = keyed(t, SOTTO_AES128_GCM, SOTTO_AEAD_SEAL);
    sotto_aead opener = keyed(t, SOTTO_AES128_GCM, SOTTO_AEAD_OPEN);
    uint8_t memory[64] = {5};
    sotto_buf out = {memory, 0, TEXT + SOTTO_AEAD_TAG_SIZE - 1};

    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_aead_seal(&sealer, &out, COUNTING, aad(), text(), &t->err));
    out.cap = TEXT - 1;
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_aead_open(&opener, &out, COUNTING, aad(),
                                 sotto_test_hex(t, EXPECTED[0].sealed), &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, /* refused by its length; nothing is read */
                 sotto_aead_seal(&sealer, &out, COUNTING, none(), sotto_bytes_of(memory, SIZE_MAX),
                                 &t->err));
    CHECK_EQUAL(t, 0, out.len);
    CHECK_EQUAL(t, 5, memory[0]);
    sotto_aead_clear(&sealer);
    sotto_aead_clear(&opener);
}

static void an_object_works_in_its_own_direction_only(sotto_test *t)
{
    sotto_aead sealer = keyed(t, SOTTO_AES128_GCM, SOTTO_AEAD_SEAL);
    sotto_aead opener = keyed(t, SOTTO_AES128_GCM, SOTTO_AEAD_OPEN);
    uint8_t memory[64];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    CHECK_STATUS(t, SOTTO_BUG, sotto_aead_seal(&opener, &out, COUNTING, aad(), text(), &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_aead_open(&sealer, &out, COUNTING, aad(), text(), &t->err));
    sotto_aead_clear(&sealer);
    sotto_aead_clear(&opener);
}

static void unknown_ids_are_not_found(sotto_test *t)
{
    CHECK(t, sotto_aead_find(0) == NULL);
    CHECK(t, sotto_aead_find(4) == NULL);
    CHECK(t, sotto_aead_find(0xffff) == NULL);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(seal_matches_another_implementation),
        CASE(open_gives_back_what_was_sealed),
        CASE(open_refuses_any_changed_bit_and_leaves_nothing_behind),
        CASE(open_refuses_less_than_a_tag),
        CASE(outputs_that_do_not_fit_are_refused_untouched),
        CASE(an_object_works_in_its_own_direction_only),
        CASE(unknown_ids_are_not_found),
    };
    return RUN_TESTS(argc, argv, cases);
}
