#define _POSIX_C_SOURCE 200809L
/* Messages whose keys were agreed on in a batch open as they do one by one, and are refused as they are. */
#include "crypto/x25519.h"
#include "seal/hpke/agreed.h"
#include "seal/hpke/ephemerals.h"
#include "seal/hpke/sender.h"
#include "seal/keys.h"
#include "support/test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 21, ENC = 32, PLAIN = 40, SEALED = ENC + PLAIN + SOTTO_HPKE_TAG_SIZE };

static const char *const ways[] = {"ifma", "avx2", "none"};

typedef struct batch {
    sotto_hpke_receiver *receiver;
    uint8_t sealed[BATCH][SEALED], plain[BATCH][PLAIN];
    sotto_agreement with[BATCH];
} batch;

static void seal_batch(sotto_test *t, batch *b)
{
    sotto_hpke_key key;

    CHECK_OK(t, sotto_hpke_key_derive(&key, SOTTO_HPKE_KEM_X25519, ikm_of(t, 1), &t->err));
    const sotto_hpke_config to =
        sotto_hpke_config_of(&key, 1, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);
    for (size_t i = 0; i < BATCH; i++) {
        sotto_buf out = sotto_buf_over(b->sealed[i], SEALED);

        memset(b->plain[i], (int)i + 1, PLAIN);
        CHECK_OK(t, sotto_hpke_seal(&out, &to, ikm_of(t, (uint8_t)(10 + i)), ascii("info"),
                                    ascii("aad"), sotto_bytes_of(b->plain[i], PLAIN), &t->err));
        CHECK_EQUAL(t, SEALED, out.len);
    }
    CHECK_OK(t, sotto_hpke_receiver_new(&b->receiver, &key, to.suite, ascii("info"), &t->err));
}

static void agree(batch *b)
{
    for (size_t i = 0; i < BATCH; i++)
        b->with[i] = (sotto_agreement){.own = sotto_hpke_receiver_key(b->receiver),
                                       .peer = sotto_bytes_of(b->sealed[i], ENC)};
    sotto_agree_many(b->with, BATCH);
}

static sotto_status open(batch *b, size_t i, uint8_t *out, sotto_err *err)
{
    sotto_buf opened = sotto_buf_over(out, PLAIN);

    return sotto_hpke_receiver_unseal_with(b->receiver, &opened, &b->with[i], ascii("aad"),
                                           sotto_bytes_of(b->sealed[i] + ENC, SEALED - ENC), err);
}

/* One message's key opens that message again, and nothing else. */
static void the_key_of_a_message_opens_it_again(sotto_test *t)
{
    batch b;
    sotto_message_key key;
    uint8_t out[PLAIN];
    sotto_buf opened = sotto_buf_over(out, PLAIN);

    seal_batch(t, &b);
    agree(&b);
    CHECK_OK(t, sotto_hpke_receiver_unseal_keyed(b.receiver, &opened, &b.with[3], ascii("aad"),
                                                 sotto_bytes_of(b.sealed[3] + ENC, SEALED - ENC),
                                                 &key, &t->err));
    CHECK_BYTES(t, b.plain[3], out, PLAIN);
    sotto_hpke_receiver_free(b.receiver);
    memset(out, 0, sizeof out);
    opened.len = 0;
    CHECK_OK(t, sotto_message_key_open(&key, &opened, ascii("aad"),
                                       sotto_bytes_of(b.sealed[3] + ENC, SEALED - ENC), &t->err));
    CHECK_BYTES(t, b.plain[3], out, PLAIN);
    opened.len = 0;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_message_key_open(&key, &opened, ascii("other"),
                                        sotto_bytes_of(b.sealed[3] + ENC, SEALED - ENC), &t->err));
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_message_key_open(&key, &opened, ascii("aad"),
                                        sotto_bytes_of(b.sealed[4] + ENC, SEALED - ENC), &t->err));
    t->err = (sotto_err){0};
    key.aead = 77;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_message_key_open(&key, &opened, ascii("aad"),
                                        sotto_bytes_of(b.sealed[3] + ENC, SEALED - ENC), &t->err));
    t->err = (sotto_err){0};
}

static void a_batch_opens_on_every_machine(sotto_test *t)
{
    uint8_t opened[PLAIN];
    batch b;

    seal_batch(t, &b);
    for (size_t n = 0; n < sizeof ways / sizeof ways[0]; n++) {
        if (!sotto_x25519_use(ways[n]))
            continue;
        agree(&b);
        CHECK_EQUAL(t, n < 2, b.with[0].agreed);
        for (size_t i = 0; i < BATCH; i++) {
            CHECK_OK(t, open(&b, i, opened, &t->err));
            CHECK_BYTES(t, b.plain[i], opened, PLAIN);
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
    sotto_hpke_receiver_free(b.receiver);
}

/* A point of small order, another's key, a spoiled text: each is refused as it is alone, its neighbours open. */
static void a_bad_message_is_refused_alone(sotto_test *t)
{
    uint8_t opened[PLAIN];
    batch b;

    for (size_t n = 0; n < sizeof ways / sizeof ways[0]; n++) {
        if (!sotto_x25519_use(ways[n]))
            continue;
        seal_batch(t, &b);
        memset(b.sealed[2], 0, ENC);
        b.sealed[5][0] ^= 1;
        b.sealed[11][ENC] ^= 1;
        agree(&b);
        CHECK_STATUS(t, SOTTO_REJECTED, open(&b, 2, opened, &t->err));
        CHECK_REASON(t, "enc: a point of small order");
        CHECK_STATUS(t, SOTTO_REJECTED, open(&b, 5, opened, &t->err));
        CHECK_REASON(t, "ciphertext: does not open");
        CHECK_STATUS(t, SOTTO_REJECTED, open(&b, 11, opened, &t->err));
        b.with[12].agreed = false;
        b.with[12].peer.len = ENC - 1;
        CHECK_STATUS(t, SOTTO_MALFORMED, open(&b, 12, opened, &t->err));
        for (size_t i = 0; i < BATCH; i++)
            if (i != 2 && i != 5 && i != 11 && i != 12) {
                CHECK_OK(t, open(&b, i, opened, &t->err));
                CHECK_BYTES(t, b.plain[i], opened, PLAIN);
            }
        sotto_hpke_receiver_free(b.receiver);
    }
    CHECK(t, sotto_x25519_use(NULL));
}

/* Bit 255 of enc is ignored by the curve but not by the key schedule. */
static void another_encoding_of_the_same_point_does_not_open(sotto_test *t)
{
    uint8_t opened[PLAIN];
    batch b;

    seal_batch(t, &b);
    b.sealed[3][ENC - 1] ^= 0x80;
    agree(&b);
    CHECK_STATUS(t, SOTTO_REJECTED, open(&b, 3, opened, &t->err));
    CHECK_OK(t, open(&b, 4, opened, &t->err));
    sotto_hpke_receiver_free(b.receiver);
}

/* ---- sealing ------------------------------------------------------------------------------------- */

static sotto_hpke_config config_of(sotto_test *t, sotto_hpke_key *key, uint16_t kem, uint8_t first)
{
    CHECK_OK(t, sotto_hpke_key_derive(key, kem, ikm_of(t, first), &t->err));
    return sotto_hpke_config_of(key, 1, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);
}

/* What sotto_hpke_seal makes of the same ikm. */
static void check_seal(sotto_test *t, sotto_hpke_sender *sender, const sotto_ephemeral *with,
                       uint8_t first)
{
    uint8_t one[256], many[256];
    sotto_buf a = sotto_buf_over(one, sizeof one), b = sotto_buf_over(many, sizeof many);

    CHECK_OK(t, sotto_hpke_seal(&a, sender->to, ikm_of(t, first), ascii("info"), ascii("aad"),
                                ascii("plain"), &t->err));
    CHECK_OK(t, sotto_hpke_sender_seal(sender, &b, with, ascii("aad"), ascii("plain"), &t->err));
    CHECK_EQUAL(t, a.len, b.len);
    CHECK_BYTES(t, one, many, a.len);
}

static void a_batch_is_sealed_as_one_by_one(sotto_test *t)
{
    static const uint16_t kems[] = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KEM_P256};
    static sotto_ephemeral with[BATCH];
    sotto_hpke_key key;

    for (size_t k = 0; k < 2; k++) {
        const sotto_hpke_config to = config_of(t, &key, kems[k], 1);

        for (size_t n = 0; n < sizeof ways / sizeof ways[0]; n++) {
            sotto_hpke_sender sender;

            if (!sotto_x25519_use(ways[n]))
                continue;
            CHECK_OK(t, sotto_hpke_sender_init(&sender, &to, ascii("info"), &t->err));
            for (size_t i = 0; i < BATCH; i++)
                CHECK_OK(t, sotto_hpke_sender_derive(&sender, &with[i],
                                                     ikm_of(t, (uint8_t)(10 + i)), &t->err));
            sotto_hpke_sender_agree(&sender, with, BATCH);
            CHECK_EQUAL(t, n < 2 && k == 0, with[0].agreed);
            for (size_t i = 0; i < BATCH; i++)
                check_seal(t, &sender, &with[i], (uint8_t)(10 + i));
            sotto_hpke_sender_clear(&sender);
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
}

/* Sealed with a secret that another receiver knows, a message would be open to that one. */
static void a_key_agreed_with_another_receiver_agrees_anew(sotto_test *t)
{
    sotto_hpke_key own, others;
    const sotto_hpke_config to = config_of(t, &own, SOTTO_HPKE_KEM_X25519, 1),
                            other = config_of(t, &others, SOTTO_HPKE_KEM_X25519, 2);
    sotto_hpke_sender sender, wrong;
    sotto_ephemeral with[2];

    CHECK_OK(t, sotto_hpke_sender_init(&sender, &to, ascii("info"), &t->err));
    CHECK_OK(t, sotto_hpke_sender_init(&wrong, &other, ascii("info"), &t->err));
    for (uint8_t i = 0; i < 2; i++)
        CHECK_OK(t, sotto_hpke_sender_derive(&sender, &with[i], ikm_of(t, 10 + i), &t->err));
    sotto_hpke_sender_agree(&wrong, with, 2);
    for (uint8_t i = 0; i < 2; i++)
        check_seal(t, &sender, &with[i], 10 + i);
    sotto_hpke_sender_clear(&sender);
    sotto_hpke_sender_clear(&wrong);
}

/* A receiver's key of small order is refused, agreed on in a batch or not. */
static void no_batch_seals_to_a_point_of_small_order(sotto_test *t)
{
    static const uint8_t zero[ENC];
    sotto_hpke_key key;
    sotto_hpke_config to = config_of(t, &key, SOTTO_HPKE_KEM_X25519, 1);
    sotto_ephemeral with[8];
    sotto_hpke_sender sender;
    uint8_t sealed[SEALED];
    sotto_buf out = sotto_buf_over(sealed, sizeof sealed), none = sotto_buf_over(sealed, 40);

    CHECK_OK(t, sotto_hpke_sender_init(&sender, &to, ascii("info"), &t->err));
    for (uint8_t i = 0; i < 8; i++)
        CHECK_OK(t, sotto_hpke_sender_derive(&sender, &with[i], ikm_of(t, 10 + i), &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_hpke_sender_seal(&sender, &none, with, ascii(""), ascii("text"), &t->err));
    to.public_key = sotto_bytes_of(zero, ENC);
    sotto_hpke_sender_agree(&sender, with, 8);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_hpke_sender_seal(&sender, &out, with, ascii(""), ascii("text"), &t->err));
    CHECK_EQUAL(t, 0, out.len);
    sotto_hpke_sender_clear(&sender);
}

/* More receivers than have a stock at a time, and more keys than a stock has: none comes twice, and all are sealed with. */
static void a_stock_hands_out_each_key_once(sotto_test *t)
{
    enum { RECEIVERS = 6, KEYS = 40 };
    static sotto_ephemeral taken[RECEIVERS][KEYS];
    sotto_hpke_key keys[RECEIVERS];
    sotto_hpke_config to[RECEIVERS];
    sotto_ephemerals *stock = sotto_ephemerals_new();
    uint8_t sealed[SEALED], opened[PLAIN];

    CHECK(t, stock != NULL);
    for (size_t r = 0; r < RECEIVERS; r++)
        to[r] = config_of(t, &keys[r], r ? SOTTO_HPKE_KEM_X25519 : SOTTO_HPKE_KEM_P256,
                          (uint8_t)(1 + r));
    for (size_t i = 0; i < KEYS; i++)
        for (size_t r = 0; r < RECEIVERS; r++) {
            sotto_buf out = sotto_buf_over(sealed, sizeof sealed),
                      plain = sotto_buf_over(opened, sizeof opened);
            sotto_ephemeral *with = &taken[r][i];
            sotto_hpke_sender sender;

            CHECK_OK(t, sotto_ephemerals_take(stock, with, &to[r], &t->err));
            if (r) {
                CHECK_OK(t, sotto_hpke_sender_init(&sender, &to[r], ascii("info"), &t->err));
                CHECK_OK(t, sotto_hpke_sender_seal(&sender, &out, with, ascii("aad"), ascii("text"),
                                                   &t->err));
                CHECK_OK(t,
                         sotto_hpke_unseal(&plain, &keys[r], to[r].suite, ascii("info"),
                                           sotto_bytes_of(sealed, ENC), ascii("aad"),
                                           sotto_bytes_of(sealed + ENC, out.len - ENC), &t->err));
                sotto_hpke_sender_clear(&sender);
            }
            for (size_t j = 0; j < i; j++)
                CHECK(t, memcmp(with->private_key, taken[r][j].private_key, ENC) != 0);
        }
    to[1].public_key.len--;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_ephemerals_take(stock, &taken[0][0], &to[1], &t->err));
    sotto_ephemerals_free(stock);
    sotto_ephemerals_free(NULL);
}

/* A child's first key, as its parent reads it. */
static bool take_in_child(sotto_test *t, uint8_t out[ENC], sotto_ephemerals *stock,
                          const sotto_hpke_config *to)
{
    sotto_ephemeral with;
    int ends[2], status = 1;

    CHECK(t, pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(sotto_ephemerals_take(stock, &with, to, NULL) == SOTTO_OK &&
                      write(ends[1], with.private_key, ENC) == ENC
                  ? 0
                  : 1);
    const bool got = child > 0 && read(ends[0], out, ENC) == ENC;
    (void)close(ends[0]);
    (void)close(ends[1]);
    return waitpid(child, &status, 0) == child && status == 0 && got;
}

static void a_stock_is_not_shared_with_a_child(sotto_test *t)
{
    sotto_ephemerals *stock = sotto_ephemerals_new();
    uint8_t first[ENC], second[ENC];
    sotto_ephemeral mine;
    sotto_hpke_key key;

    CHECK(t, stock != NULL);
    const sotto_hpke_config to = config_of(t, &key, SOTTO_HPKE_KEM_X25519, 1);
    CHECK_OK(t, sotto_ephemerals_take(stock, &mine, &to, &t->err)); /* it is filled now */
    CHECK(t, take_in_child(t, first, stock, &to));
    CHECK(t, take_in_child(t, second, stock, &to));
    CHECK_OK(t, sotto_ephemerals_take(stock, &mine, &to, &t->err));
    CHECK(t, memcmp(first, mine.private_key, ENC) != 0);
    CHECK(t, memcmp(second, mine.private_key, ENC) != 0);
    CHECK(t, memcmp(first, second, ENC) != 0);
    sotto_ephemerals_free(stock);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_key_of_a_message_opens_it_again),
        CASE(a_batch_opens_on_every_machine),
        CASE(a_bad_message_is_refused_alone),
        CASE(another_encoding_of_the_same_point_does_not_open),
        CASE(a_batch_is_sealed_as_one_by_one),
        CASE(a_key_agreed_with_another_receiver_agrees_anew),
        CASE(no_batch_seals_to_a_point_of_small_order),
        CASE(a_stock_hands_out_each_key_once),
        CASE(a_stock_is_not_shared_with_a_child),
    };
    return RUN_TESTS(argc, argv, cases);
}
