#include "seal/keys.h"

#include <string.h>

enum { TEXT = 33, PREFIX = 3 };

/* One sealed message and what is needed to open it. */
typedef struct letter {
    sotto_hpke_key key;
    sotto_hpke_suite suite;
    uint8_t memory[SOTTO_HPKE_MAX_PUBLIC_KEY + TEXT + SOTTO_HPKE_TAG_SIZE];
    sotto_bytes enc;
    sotto_bytes ciphertext;
} letter;

static sotto_bytes text(void)
{
    return ascii("a report share of thirty-three by");
}

static void write_letter(sotto_test *t, letter *l, sotto_hpke_suite suite)
{
    sotto_buf out = sotto_buf_over(l->memory, sizeof l->memory);
    sotto_hpke_sizes sizes;

    l->key = key_of(t, suite.kem, 1);
    l->suite = suite;
    const sotto_hpke_config to = sotto_hpke_config_of(&l->key, 9, suite.kdf, suite.aead);
    CHECK_OK(t, sotto_hpke_suite_sizes(&sizes, suite, &t->err));
    CHECK_OK(
        t, sotto_hpke_seal(&out, &to, ikm_of(t, 2), ascii("info"), ascii("aad"), text(), &t->err));
    CHECK_EQUAL(t, sizes.public_key + TEXT + sizes.tag, out.len);
    l->enc = sotto_bytes_of(l->memory, sizes.public_key);
    l->ciphertext = sotto_bytes_of(l->memory + sizes.public_key, TEXT + sizes.tag);
}

static void every_suite_gives_back_what_was_sealed(sotto_test *t)
{
    uint8_t plain[TEXT];
    letter l;

    for (size_t kem = 0; kem < KEMS; kem++)
        for (uint16_t kdf = 1; kdf <= KDFS; kdf++)
            for (uint16_t aead = 1; aead <= AEADS; aead++) {
                const sotto_hpke_suite suite = {ALL_KEMS[kem], kdf, aead};
                sotto_buf out = sotto_buf_over(plain, sizeof plain);

                write_letter(t, &l, suite);
                CHECK_OK(t, sotto_hpke_unseal(&out, &l.key, suite, ascii("info"), l.enc,
                                              ascii("aad"), l.ciphertext, &t->err));
                CHECK_EQUAL(t, TEXT, out.len);
                CHECK_BYTES(t, text().data, plain, TEXT);
            }
}

static void an_empty_text_can_be_sealed(sotto_test *t)
{
    const sotto_hpke_key key = key_of(t, SOTTO_HPKE_KEM_X25519, 1);
    const sotto_hpke_config to = sotto_hpke_config_of(&key, 1, 1, 1);
    uint8_t memory[32 + SOTTO_HPKE_TAG_SIZE];
    sotto_buf sealed = sotto_buf_over(memory, sizeof memory), nowhere = {0};

    CHECK_OK(t, sotto_hpke_seal(&sealed, &to, ikm_of(t, 2), none(), none(), none(), &t->err));
    CHECK_OK(t,
             sotto_hpke_unseal(&nowhere, &key, to.suite, none(), sotto_bytes_of(memory, 32), none(),
                               sotto_bytes_of(memory + 32, SOTTO_HPKE_TAG_SIZE), &t->err));
    CHECK_EQUAL(t, 0, nowhere.len);
}

static void refuse(sotto_test *t, const letter *l, sotto_status wanted, sotto_bytes info,
                   sotto_bytes enc, sotto_bytes aad, sotto_bytes ciphertext)
{
    static const uint8_t zero[TEXT];
    uint8_t plain[PREFIX + TEXT] = {1, 2, 3};
    sotto_buf out = {plain, PREFIX, sizeof plain};

    CHECK_STATUS(t, wanted,
                 sotto_hpke_unseal(&out, &l->key, l->suite, info, enc, aad, ciphertext, &t->err));
    CHECK_EQUAL(t, PREFIX, out.len);
    CHECK_EQUAL(t, 3, plain[2]);
    CHECK_BYTES(t, zero, plain + PREFIX, TEXT);
}

static void whatever_was_tampered_with_the_text_stays_shut(sotto_test *t)
{
    letter l;

    write_letter(t, &l, usual_suite());
    refuse(t, &l, SOTTO_REJECTED, ascii("Info"), l.enc, ascii("aad"), l.ciphertext);
    refuse(t, &l, SOTTO_REJECTED, none(), l.enc, ascii("aad"), l.ciphertext);
    refuse(t, &l, SOTTO_REJECTED, ascii("info"), l.enc, ascii("aae"), l.ciphertext);
    refuse(t, &l, SOTTO_REJECTED, ascii("info"), l.enc, none(), l.ciphertext);
    CHECK_EQUAL(t, 0, strcmp(t->err.reason, "ciphertext: does not open")); /* whichever it was */

    for (size_t i = 0; i < l.enc.len + l.ciphertext.len; i++) {
        l.memory[i] ^= 1;
        refuse(t, &l, SOTTO_REJECTED, ascii("info"), l.enc, ascii("aad"), l.ciphertext);
        l.memory[i] ^= 1;
    }
    l.suite.aead = SOTTO_HPKE_AEAD_AES256_GCM; /* another suite derives other keys */
    refuse(t, &l, SOTTO_REJECTED, ascii("info"), l.enc, ascii("aad"), l.ciphertext);
    l.suite = usual_suite();
    l.key = key_of(t, SOTTO_HPKE_KEM_X25519, 3);
    refuse(t, &l, SOTTO_REJECTED, ascii("info"), l.enc, ascii("aad"), l.ciphertext);
}

static void truncated_texts_stay_shut(sotto_test *t)
{
    letter l;

    write_letter(t, &l, usual_suite());
    for (size_t len = 0; len < l.ciphertext.len; len++)
        refuse(t, &l, len < SOTTO_HPKE_TAG_SIZE ? SOTTO_MALFORMED : SOTTO_REJECTED, ascii("info"),
               l.enc, ascii("aad"), sotto_bytes_of(l.ciphertext.data, len));
}

static void an_enc_that_is_no_good_key_is_refused(sotto_test *t)
{
    static const uint8_t zero[SOTTO_HPKE_MAX_PUBLIC_KEY];
    letter l;

    write_letter(t, &l, usual_suite());
    refuse(t, &l, SOTTO_REJECTED, ascii("info"), sotto_bytes_of(zero, 32), ascii("aad"),
           l.ciphertext);
    CHECK_REASON(t, "enc: a point of small order");
    refuse(t, &l, SOTTO_MALFORMED, ascii("info"), sotto_bytes_of(l.memory, 31), ascii("aad"),
           l.ciphertext);
    CHECK_REASON(t, "enc: 31 bytes, X25519 needs 32");

    const sotto_hpke_suite nist = {SOTTO_HPKE_KEM_P256, 1, 1};
    write_letter(t, &l, nist);
    l.memory[64] ^= 1;
    refuse(t, &l, SOTTO_MALFORMED, ascii("info"), l.enc, ascii("aad"), l.ciphertext);
    CHECK_REASON(t, "enc: not a point of P-256");
    l.memory[64] ^= 1;
    l.memory[0] = 2;
    refuse(t, &l, SOTTO_MALFORMED, ascii("info"), sotto_bytes_of(l.memory, 33), ascii("aad"),
           l.ciphertext);
    refuse(t, &l, SOTTO_MALFORMED, ascii("info"), sotto_bytes_of(zero, 1), ascii("aad"),
           l.ciphertext);
}

static void sealing_to_a_point_of_small_order_is_refused(sotto_test *t)
{
    static const uint8_t zero[32];
    const sotto_hpke_config to = {
        .supported = true, .suite = usual_suite(), .public_key = sotto_bytes_of(zero, 32)};
    uint8_t memory[128];
    sotto_buf out = {memory, PREFIX, sizeof memory};

    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_hpke_seal(&out, &to, ikm_of(t, 2), none(), none(), text(), &t->err));
    CHECK_REASON(t, "public_key: a point of small order");
    CHECK_EQUAL(t, PREFIX, out.len);
}

static void outputs_that_do_not_fit_are_refused_untouched(sotto_test *t)
{
    letter l;

    write_letter(t, &l, usual_suite());
    const sotto_hpke_config to = sotto_hpke_config_of(&l.key, 1, 1, 1);
    uint8_t memory[PREFIX + 32 + TEXT + SOTTO_HPKE_TAG_SIZE] = {0}, untouched[sizeof memory] = {0};
    sotto_buf out = {memory, PREFIX, 0};

    for (out.cap = PREFIX; out.cap < sizeof memory; out.cap++)
        CHECK_STATUS(t, SOTTO_TOO_LARGE,
                     sotto_hpke_seal(&out, &to, ikm_of(t, 2), none(), none(), text(), &t->err));
    for (out.cap = PREFIX; out.cap < PREFIX + TEXT; out.cap++)
        CHECK_STATUS(t, SOTTO_TOO_LARGE,
                     sotto_hpke_unseal(&out, &l.key, l.suite, ascii("info"), l.enc, ascii("aad"),
                                       l.ciphertext, &t->err));
    CHECK_EQUAL(t, PREFIX, out.len);
    CHECK_BYTES(t, untouched, memory, sizeof memory);
}

static void unknown_algorithms_are_named(sotto_test *t)
{
    const sotto_hpke_suite unknown[] = {
        {0x0030, 1, 1}, {0x0020, 9, 1}, {0x0020, 0, 1}, {0x0020, 1, 77}};
    const char *const reasons[] = {"unknown KEM 0x0030", "unknown KDF 0x0009", "unknown KDF 0x0000",
                                   "unknown AEAD 0x004d"};
    const sotto_hpke_key key = key_of(t, SOTTO_HPKE_KEM_X25519, 1);
    sotto_hpke_receiver *receiver;
    uint8_t memory[128];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        sotto_hpke_config to = sotto_hpke_config_of(&key, 1, 1, 1);

        to.suite = unknown[i];
        CHECK_STATUS(t, SOTTO_MISSING,
                     sotto_hpke_seal(&out, &to, ikm_of(t, 2), none(), none(), text(), &t->err));
        CHECK_REASON(t, reasons[i]);
        CHECK_STATUS(t, SOTTO_MISSING,
                     sotto_hpke_receiver_new(&receiver, &key, unknown[i], none(), &t->err));
        CHECK_REASON(t, reasons[i]);
        CHECK(t, receiver == NULL);
    }
}

static void a_suite_that_only_exports_seals_nothing(sotto_test *t)
{
    const sotto_hpke_key key = key_of(t, SOTTO_HPKE_KEM_X25519, 1);
    const sotto_hpke_config to = sotto_hpke_config_of(&key, 1, 1, SOTTO_HPKE_AEAD_EXPORT_ONLY);
    uint8_t memory[128] = {0};
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    CHECK(t, to.supported);
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_hpke_seal(&out, &to, ikm_of(t, 2), none(), none(), text(), &t->err));
    CHECK_REASON(t, "only exports");
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_hpke_unseal(&out, &key, to.suite, none(), sotto_bytes_of(key.public_key, 32),
                                   none(), sotto_bytes_of(memory, 64), &t->err));
    CHECK_EQUAL(t, 0, out.len);
}

static void a_key_of_another_kem_makes_no_receiver(sotto_test *t)
{
    const sotto_hpke_key key = key_of(t, SOTTO_HPKE_KEM_P256, 1);
    sotto_hpke_receiver *receiver;

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_hpke_receiver_new(&receiver, &key, usual_suite(), none(), &t->err));
    CHECK_REASON(t, "key: of KEM 0x0010");
    CHECK(t, receiver == NULL);
}

static void a_receiver_opens_many_letters_with_bad_ones_between(sotto_test *t)
{
    const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_P256, 1, 3};
    sotto_hpke_receiver *receiver;
    uint8_t sealed[65 + TEXT + SOTTO_HPKE_TAG_SIZE], plain[TEXT];
    const sotto_hpke_key key = key_of(t, suite.kem, 1);
    const sotto_hpke_config to = sotto_hpke_config_of(&key, 1, suite.kdf, suite.aead);
    const sotto_bytes enc = sotto_bytes_of(sealed, 65);
    const sotto_bytes ciphertext = sotto_bytes_of(sealed + 65, TEXT + SOTTO_HPKE_TAG_SIZE);

    CHECK_OK(t, sotto_hpke_receiver_new(&receiver, &key, suite, ascii("info"), &t->err));
    for (uint8_t seed = 2; seed < 22; seed++) {
        sotto_buf out = sotto_buf_over(sealed, sizeof sealed), opened = sotto_buf_over(plain, TEXT);

        CHECK_OK(
            t, sotto_hpke_seal(&out, &to, ikm_of(t, seed), ascii("info"), none(), text(), &t->err));
        sealed[seed * 5] ^= 1; /* walks through enc into the ciphertext */
        CHECK(t, sotto_hpke_receiver_unseal(receiver, &opened, enc, none(), ciphertext, NULL) !=
                     SOTTO_OK);
        sealed[seed * 5] ^= 1;
        CHECK_OK(t,
                 sotto_hpke_receiver_unseal(receiver, &opened, enc, none(), ciphertext, &t->err));
        CHECK_BYTES(t, text().data, plain, TEXT);
    }
    sotto_hpke_receiver_free(receiver);
    sotto_hpke_receiver_free(NULL);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_suite_gives_back_what_was_sealed),
        CASE(an_empty_text_can_be_sealed),
        CASE(whatever_was_tampered_with_the_text_stays_shut),
        CASE(truncated_texts_stay_shut),
        CASE(an_enc_that_is_no_good_key_is_refused),
        CASE(sealing_to_a_point_of_small_order_is_refused),
        CASE(outputs_that_do_not_fit_are_refused_untouched),
        CASE(unknown_algorithms_are_named),
        CASE(a_suite_that_only_exports_seals_nothing),
        CASE(a_key_of_another_kem_makes_no_receiver),
        CASE(a_receiver_opens_many_letters_with_bad_ones_between),
    };
    return RUN_TESTS(argc, argv, cases);
}
