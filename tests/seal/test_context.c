#include "seal/keys.h"

#include <string.h>

#include "seal/hpke/inspect.h"

typedef struct pair {
    sotto_hpke_context *sender;
    sotto_hpke_context *receiver;
} pair;

static pair connect(sotto_test *t, sotto_hpke_suite suite)
{
    const sotto_hpke_key key = key_of(t, suite.kem, 1);
    const sotto_hpke_config to = sotto_hpke_config_of(&key, 1, suite.kdf, suite.aead);
    uint8_t memory[SOTTO_HPKE_MAX_PUBLIC_KEY];
    sotto_buf enc = sotto_buf_over(memory, sizeof memory);
    sotto_hpke_receiver *receiver;
    pair p;

    CHECK_OK(t,
             sotto_hpke_context_send(&p.sender, &enc, &to, ikm_of(t, 2), ascii("info"), &t->err));
    CHECK_OK(t, sotto_hpke_receiver_new(&receiver, &key, suite, ascii("info"), &t->err));
    CHECK_OK(t, sotto_hpke_context_receive(&p.receiver, receiver, sotto_buf_bytes(&enc), &t->err));
    sotto_hpke_receiver_free(receiver); /* the context lives on */
    return p;
}

static void disconnect(pair *p)
{
    sotto_hpke_context_free(p->sender);
    sotto_hpke_context_free(p->receiver);
}

static void messages_arrive_in_order_and_all_differ(sotto_test *t)
{
    pair p = connect(t, usual_suite());
    uint8_t sealed[64], before[64] = {0}, plain[64];

    for (int i = 0; i < 300; i++) {
        sotto_buf out = sotto_buf_over(sealed, sizeof sealed);
        sotto_buf opened = sotto_buf_over(plain, sizeof plain);

        CHECK_OK(
            t, sotto_hpke_context_seal(p.sender, &out, ascii("aad"), ascii("same text"), &t->err));
        CHECK(t, memcmp(before, sealed, out.len) != 0);
        memcpy(before, sealed, out.len);
        CHECK_OK(t, sotto_hpke_context_unseal(p.receiver, &opened, ascii("aad"),
                                              sotto_buf_bytes(&out), &t->err));
        CHECK_EQUAL(t, 9, opened.len);
        CHECK_BYTES(t, "same text", plain, 9);
    }
    disconnect(&p);
}

static void a_refused_message_does_not_count(sotto_test *t)
{
    pair p = connect(t, usual_suite());
    uint8_t first[64], second[64], plain[64];
    sotto_buf a = sotto_buf_over(first, sizeof first), b = sotto_buf_over(second, sizeof second);
    sotto_buf opened = sotto_buf_over(plain, sizeof plain);

    CHECK_OK(t, sotto_hpke_context_seal(p.sender, &a, none(), ascii("one"), &t->err));
    CHECK_OK(t, sotto_hpke_context_seal(p.sender, &b, none(), ascii("two"), &t->err));
    CHECK_STATUS(
        t, SOTTO_REJECTED,
        sotto_hpke_context_unseal(p.receiver, &opened, none(), sotto_buf_bytes(&b), &t->err));
    CHECK_EQUAL(t, 0, sotto_hpke_context_sequence(p.receiver));
    CHECK_OK(t,
             sotto_hpke_context_unseal(p.receiver, &opened, none(), sotto_buf_bytes(&a), &t->err));
    CHECK_STATUS(
        t, SOTTO_REJECTED, /* a replay */
        sotto_hpke_context_unseal(p.receiver, &opened, none(), sotto_buf_bytes(&a), &t->err));
    CHECK_OK(t,
             sotto_hpke_context_unseal(p.receiver, &opened, none(), sotto_buf_bytes(&b), &t->err));
    CHECK_BYTES(t, "onetwo", plain, 6); /* appended */
    disconnect(&p);
}

static void a_text_that_did_not_fit_uses_up_no_number(sotto_test *t)
{
    pair p = connect(t, usual_suite());
    uint8_t sealed[18];
    sotto_buf out = sotto_buf_over(sealed, sizeof sealed);

    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_hpke_context_seal(p.sender, &out, none(), ascii("one"), &t->err));
    CHECK_EQUAL(t, 0, out.len);
    CHECK_EQUAL(t, 0, sotto_hpke_context_sequence(p.sender));
    disconnect(&p);
}

static void the_last_number_is_refused_before_it_wraps(sotto_test *t)
{
    pair p = connect(t, usual_suite());
    uint8_t sealed[64], plain[64];
    sotto_buf out = sotto_buf_over(sealed, sizeof sealed),
              opened = sotto_buf_over(plain, sizeof plain);

    sotto_hpke_context_set_sequence(p.sender, UINT64_MAX - 1);
    sotto_hpke_context_set_sequence(p.receiver, UINT64_MAX - 1);
    CHECK_OK(t, sotto_hpke_context_seal(p.sender, &out, none(), ascii("last"), &t->err));
    CHECK_OK(
        t, sotto_hpke_context_unseal(p.receiver, &opened, none(), sotto_buf_bytes(&out), &t->err));
    for (int again = 0; again < 2; again++) {
        CHECK_STATUS(t, SOTTO_STALE,
                     sotto_hpke_context_seal(p.sender, &out, none(), ascii("more"), &t->err));
        CHECK_REASON(t, "last message");
        CHECK_STATUS(
            t, SOTTO_STALE,
            sotto_hpke_context_unseal(p.receiver, &opened, none(), sotto_buf_bytes(&out), &t->err));
    }
    CHECK_EQUAL(t, UINT64_MAX, sotto_hpke_context_sequence(p.sender));
    CHECK_EQUAL(t, 4, opened.len);
    disconnect(&p);
}

static void nonces_are_the_base_with_the_number_mixed_in(sotto_test *t)
{
    const uint8_t base[SOTTO_AEAD_NONCE_SIZE] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const uint8_t wanted[SOTTO_AEAD_NONCE_SIZE] = {1, 2, 3, 4,  5 ^ 0xff, 6,
                                                   7, 8, 9, 10, 11,       12 ^ 0xfe};
    uint8_t nonce[SOTTO_AEAD_NONCE_SIZE];

    sotto_hpke_nonce(nonce, base, 0);
    CHECK_BYTES(t, base, nonce, sizeof base);
    sotto_hpke_nonce(nonce, base, 0xff000000000000feU);
    CHECK_BYTES(t, wanted, nonce, sizeof wanted);
}

static void both_ends_export_the_same_secret(sotto_test *t)
{
    uint8_t a[64], b[64], other[64];

    for (uint16_t kdf = 1; kdf <= KDFS; kdf++) {
        const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, kdf, SOTTO_HPKE_AEAD_EXPORT_ONLY};
        sotto_buf out_a = sotto_buf_over(a, 64), out_b = sotto_buf_over(b, 64);
        sotto_buf out_other = sotto_buf_over(other, 64);
        pair p = connect(t, suite);

        CHECK_OK(t, sotto_hpke_context_export(p.sender, &out_a, ascii("use"), 64, &t->err));
        CHECK_OK(t, sotto_hpke_context_export(p.receiver, &out_b, ascii("use"), 64, &t->err));
        CHECK_OK(t, sotto_hpke_context_export(p.receiver, &out_other, none(), 64, &t->err));
        CHECK_BYTES(t, a, b, 64);
        CHECK(t, memcmp(a, other, 64) != 0);
        disconnect(&p);
    }
}

static void exports_stop_at_255_hashes(sotto_test *t)
{
    static uint8_t memory[65536 + 32];
    pair p = connect(t, usual_suite());
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    CHECK_OK(t, sotto_hpke_context_export(p.sender, &out, none(), 255 * 32, &t->err));
    CHECK_EQUAL(t, 255 * 32, out.len);
    out.len = 0;
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_hpke_context_export(p.sender, &out, none(), 255 * 32 + 1, &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, /* its low 16 bits alone would be fine */
                 sotto_hpke_context_export(p.sender, &out, none(), 65536 + 32, &t->err));
    out.cap = 31;
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_hpke_context_export(p.sender, &out, none(), 32, &t->err));
    CHECK_EQUAL(t, 0, out.len);
    disconnect(&p);
}

static void a_suite_that_only_exports_seals_nothing(sotto_test *t)
{
    const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, 1, SOTTO_HPKE_AEAD_EXPORT_ONLY};
    pair p = connect(t, suite);
    uint8_t memory[64] = {0};
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_hpke_context_seal(p.sender, &out, none(), ascii("text"), &t->err));
    CHECK_REASON(t, "only exports");
    CHECK_STATUS(
        t, SOTTO_MISSING,
        sotto_hpke_context_unseal(p.receiver, &out, none(), sotto_bytes_of(memory, 32), &t->err));
    disconnect(&p);
}

static void ends_do_not_trade_places(sotto_test *t)
{
    pair p = connect(t, usual_suite());
    uint8_t memory[64] = {0};
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_hpke_context_seal(p.receiver, &out, none(), ascii("text"), &t->err));
    CHECK_STATUS(
        t, SOTTO_BUG,
        sotto_hpke_context_unseal(p.sender, &out, none(), sotto_bytes_of(memory, 32), &t->err));
    CHECK_EQUAL(t, 0, out.len);
    disconnect(&p);
}

static void an_enc_without_room_starts_no_context(sotto_test *t)
{
    const sotto_hpke_key key = key_of(t, SOTTO_HPKE_KEM_X25519, 1);
    const sotto_hpke_config to = sotto_hpke_config_of(&key, 1, 1, 1);
    sotto_hpke_context *context;
    uint8_t memory[31];
    sotto_buf enc = sotto_buf_over(memory, sizeof memory);

    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_hpke_context_send(&context, &enc, &to, ikm_of(t, 2), none(), &t->err));
    CHECK(t, context == NULL);
    CHECK_EQUAL(t, 0, enc.len);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(messages_arrive_in_order_and_all_differ),
        CASE(a_refused_message_does_not_count),
        CASE(a_text_that_did_not_fit_uses_up_no_number),
        CASE(the_last_number_is_refused_before_it_wraps),
        CASE(nonces_are_the_base_with_the_number_mixed_in),
        CASE(both_ends_export_the_same_secret),
        CASE(exports_stop_at_255_hashes),
        CASE(a_suite_that_only_exports_seals_nothing),
        CASE(ends_do_not_trade_places),
        CASE(an_enc_without_room_starts_no_context),
    };
    return RUN_TESTS(argc, argv, cases);
}
