#include "seal/keys.h"

#include <string.h>

#include "seal/hpke/dhkem.h"
#include "seal/hpke/inspect.h"

static void a_derived_key_decodes_to_itself(sotto_test *t)
{
    sotto_hpke_key decoded;

    for (size_t i = 0; i < KEMS; i++) {
        const sotto_hpke_key key = key_of(t, ALL_KEMS[i], 1), other = key_of(t, ALL_KEMS[i], 2);

        CHECK_OK(t, sotto_hpke_key_decode(&decoded, key.kem,
                                          sotto_bytes_of(key.private_key, key.private_key_len),
                                          &t->err));
        CHECK_EQUAL(t, key.public_key_len, decoded.public_key_len);
        CHECK_BYTES(t, key.public_key, decoded.public_key, key.public_key_len);
        CHECK(t, memcmp(key.public_key, other.public_key, key.public_key_len) != 0);
    }
}

static void ikm_shorter_than_a_private_key_is_refused(sotto_test *t)
{
    for (size_t i = 0; i < KEMS; i++) {
        sotto_hpke_key key = key_of(t, ALL_KEMS[i], 1);
        const sotto_hpke_key blank = {0};
        const sotto_bytes ikm = sotto_bytes_of(ikm_of(t, 1).data, key.private_key_len - 1);

        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_hpke_key_derive(&key, ALL_KEMS[i], ikm, &t->err));
        CHECK_REASON(t, "ikm: ");
        CHECK_BYTES(t, &blank, &key, sizeof key); /* no half of an old key is left */
    }
}

static void private_keys_that_do_not_decode_leave_no_key(sotto_test *t)
{
    const sotto_hpke_key blank = {0};
    const uint8_t zero[32] = {0};
    sotto_hpke_key key;

    memset(&key, 0xa5, sizeof key);
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_hpke_key_decode(&key, SOTTO_HPKE_KEM_P256, sotto_bytes_of(zero, 32), &t->err));
    CHECK_BYTES(t, &blank, &key, sizeof key);
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_hpke_key_decode(&key, SOTTO_HPKE_KEM_X25519, sotto_bytes_of(zero, 31), &t->err));
    CHECK_REASON(t, "private key: 31 bytes");
}

static void unknown_kems_are_missing(sotto_test *t)
{
    sotto_hpke_key key;

    CHECK_STATUS(t, SOTTO_MISSING, sotto_hpke_key_derive(&key, 0x0022, ikm_of(t, 1), &t->err));
    CHECK_REASON(t, "unknown KEM 0x0022");
    CHECK_STATUS(t, SOTTO_MISSING, sotto_hpke_key_decode(&key, 0, ikm_of(t, 1), &t->err));
}

static void both_ends_see_the_same_secrets(sotto_test *t)
{
    sotto_hpke_inspection sent, received;
    uint8_t memory[SOTTO_HPKE_MAX_PUBLIC_KEY];
    sotto_hpke_receiver *receiver;

    for (size_t i = 0; i < KEMS; i++) {
        const sotto_hpke_key own = key_of(t, ALL_KEMS[i], 1), ephemeral = key_of(t, ALL_KEMS[i], 2);
        const sotto_hpke_config to =
            sotto_hpke_config_of(&own, 1, SOTTO_HPKE_KDF_SHA384, SOTTO_HPKE_AEAD_AES256_GCM);
        sotto_buf enc = sotto_buf_over(memory, sizeof memory);

        CHECK_OK(t, sotto_hpke_receiver_new(&receiver, &own, to.suite, ascii("info"), &t->err));
        CHECK_OK(t, sotto_hpke_inspect_send(
                        &sent, &enc, &to,
                        sotto_bytes_of(ephemeral.private_key, ephemeral.private_key_len),
                        ascii("info"), &t->err));
        CHECK_OK(t,
                 sotto_hpke_inspect_receive(&received, receiver, sotto_buf_bytes(&enc), &t->err));
        CHECK_BYTES(t, ephemeral.public_key, memory, enc.len);
        CHECK_BYTES(t, &sent, &received, sizeof sent);
        sotto_hpke_receiver_free(receiver);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_derived_key_decodes_to_itself),
        CASE(ikm_shorter_than_a_private_key_is_refused),
        CASE(private_keys_that_do_not_decode_leave_no_key),
        CASE(unknown_kems_are_missing),
        CASE(both_ends_see_the_same_secrets),
    };
    return RUN_TESTS(argc, argv, cases);
}
