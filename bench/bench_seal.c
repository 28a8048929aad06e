/* What one sealed share costs its sender, and its receiver: alone, beside the Diffie-Hellman in it, and in batches, where lanes agree on
 * eight or four keys at a time.
 *
 * All cases run over the same 64 senders in turn, so no call repeats the encapsulated key before it.
 */
#include "bench.h"

#include "crypto/kem.h"
#include "crypto/x25519.h"
#include "seal/hpke/agreed.h"
#include "seal/hpke/sender.h"
#include "sotto/seal.h"

#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

enum { MESSAGES = 64, PLAIN = 2048, AAD = 300, ENC = 32 };

typedef struct sealed_messages {
    sotto_hpke_key key;
    sotto_hpke_config to;
    sotto_hpke_sender sender;
    sotto_hpke_receiver *receiver;
    sotto_dh bare; /* the receiver's private key, with a peer already set */
    unsigned next;
    unsigned refused; /* must stay 0: a benchmark of errors measures nothing */
    uint8_t aad[AAD];
    uint8_t sealed[MESSAGES][ENC + PLAIN + SOTTO_HPKE_TAG_SIZE];
    uint8_t plain[PLAIN];
} sealed_messages;

static const sotto_hpke_suite SUITE = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                       SOTTO_HPKE_AEAD_AES128_GCM};

static const char INFO[] = "dap-18 input share\1\3";
#define PURPOSE sotto_bytes_of(INFO, sizeof INFO - 1)

static sotto_status prepare(sealed_messages *m, sotto_err *err)
{
    uint8_t ikm[32] = {1}, shared[32];

    memset(m, 0, sizeof *m);
    SOTTO_TRY(sotto_hpke_key_derive(&m->key, SUITE.kem, sotto_bytes_of(ikm, sizeof ikm), err));
    m->to = sotto_hpke_config_of(&m->key, 1, SUITE.kdf, SUITE.aead);
    SOTTO_TRY(sotto_hpke_sender_init(&m->sender, &m->to, PURPOSE, err));
    for (size_t i = 0; i < MESSAGES; i++) {
        sotto_buf out = sotto_buf_over(m->sealed[i], sizeof m->sealed[i]);

        ikm[1] = (uint8_t)(i + 1);
        SOTTO_TRY(sotto_hpke_seal(&out, &m->to, sotto_bytes_of(ikm, sizeof ikm), PURPOSE,
                                  sotto_bytes_of(m->aad, AAD), sotto_bytes_of(m->plain, PLAIN),
                                  err));
    }
    SOTTO_TRY(sotto_hpke_receiver_new(&m->receiver, &m->key, SUITE, PURPOSE, err));
    SOTTO_TRY(sotto_dh_init(&m->bare, sotto_kem_find(SUITE.kem),
                            sotto_bytes_of(m->key.private_key, m->key.private_key_len), err));
    return sotto_dh_agree(&m->bare, shared, sotto_bytes_of(m->sealed[0], ENC), "enc", err);
}

static void release(sealed_messages *m)
{
    sotto_hpke_receiver_free(m->receiver);
    sotto_hpke_sender_clear(&m->sender);
    sotto_dh_clear(&m->bare);
}

/* The yardstick: a prepared context, its peer set once, nothing around it. */
static void bare_x25519(void *state)
{
    sealed_messages *m = state;
    uint8_t shared[32];
    size_t len = sizeof shared;

    m->refused += EVP_PKEY_derive(m->bare.derive, shared, &len) <= 0;
}

static void unseal(void *state)
{
    sealed_messages *m = state;
    const uint8_t *sealed = m->sealed[m->next++ % MESSAGES];
    sotto_buf out = sotto_buf_over(m->plain, sizeof m->plain);

    m->refused += sotto_hpke_receiver_unseal(
                      m->receiver, &out, sotto_bytes_of(sealed, ENC), sotto_bytes_of(m->aad, AAD),
                      sotto_bytes_of(sealed + ENC, PLAIN + SOTTO_HPKE_TAG_SIZE), NULL) != SOTTO_OK;
}

/* All messages, as a server opens a request's reports. */
static void unseal_batch(void *state)
{
    sealed_messages *m = state;
    sotto_agreement agreed[MESSAGES];

    for (size_t i = 0; i < MESSAGES; i++)
        agreed[i] = (sotto_agreement){.own = sotto_hpke_receiver_key(m->receiver),
                                      .peer = sotto_bytes_of(m->sealed[i], ENC)};
    sotto_agree_many(agreed, MESSAGES);
    for (size_t i = 0; i < MESSAGES; i++) {
        sotto_buf out = sotto_buf_over(m->plain, sizeof m->plain);

        m->refused +=
            sotto_hpke_receiver_unseal_with(
                m->receiver, &out, &agreed[i], sotto_bytes_of(m->aad, AAD),
                sotto_bytes_of(m->sealed[i] + ENC, PLAIN + SOTTO_HPKE_TAG_SIZE), NULL) != SOTTO_OK;
    }
    sotto_wipe(agreed, sizeof agreed);
}

/* The agreements alone: X25519 of one private key with each sender's. */
static void agree_batch(void *state)
{
    sealed_messages *m = state;
    sotto_agreement agreed[MESSAGES];

    for (size_t i = 0; i < MESSAGES; i++)
        agreed[i] = (sotto_agreement){.own = sotto_hpke_receiver_key(m->receiver),
                                      .peer = sotto_bytes_of(m->sealed[i], ENC)};
    sotto_agree_many(agreed, MESSAGES);
    for (size_t i = 0; i < MESSAGES; i++)
        m->refused += !agreed[i].agreed;
    sotto_wipe(agreed, sizeof agreed);
}

/* A load's side: each message with a fresh key. */
static void seal_one(void *state)
{
    sealed_messages *m = state;
    uint8_t ikm[32] = {3, (uint8_t)m->next++}, sealed[ENC + PLAIN + SOTTO_HPKE_TAG_SIZE];
    sotto_buf out = sotto_buf_over(sealed, sizeof sealed);

    m->refused += sotto_hpke_seal(&out, &m->to, sotto_bytes_of(ikm, sizeof ikm), PURPOSE,
                                  sotto_bytes_of(m->aad, AAD), sotto_bytes_of(m->plain, PLAIN),
                                  NULL) != SOTTO_OK;
}

static void seal_batch(void *state)
{
    sealed_messages *m = state;
    uint8_t ikm[32] = {4}, sealed[ENC + PLAIN + SOTTO_HPKE_TAG_SIZE];
    sotto_ephemeral with[MESSAGES];

    for (size_t i = 0; i < MESSAGES; i++) {
        ikm[1] = (uint8_t)i;
        m->refused += sotto_hpke_sender_derive(&m->sender, &with[i],
                                               sotto_bytes_of(ikm, sizeof ikm), NULL) != SOTTO_OK;
    }
    sotto_hpke_sender_agree(&m->sender, with, MESSAGES);
    for (size_t i = 0; i < MESSAGES; i++) {
        sotto_buf out = sotto_buf_over(sealed, sizeof sealed);

        m->refused +=
            sotto_hpke_sender_seal(&m->sender, &out, &with[i], sotto_bytes_of(m->aad, AAD),
                                   sotto_bytes_of(m->plain, PLAIN), NULL) != SOTTO_OK;
    }
    sotto_wipe(with, sizeof with);
}

static void run_batches(const sotto_bench *b, sealed_messages *m)
{
    static const char *const sets[] = {"ifma", "avx2"};
    char name[64];

    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        if (!sotto_x25519_use(sets[i]))
            continue;
        (void)snprintf(name, sizeof name, "seal/x25519-batch/%s", sets[i]);
        (void)sotto_bench_run(b, name, agree_batch, m, MESSAGES);
        (void)snprintf(name, sizeof name, "seal/unseal-2048-batch/%s", sets[i]);
        (void)sotto_bench_run(b, name, unseal_batch, m, MESSAGES);
        (void)snprintf(name, sizeof name, "seal/seal-2048-batch/%s", sets[i]);
        (void)sotto_bench_run(b, name, seal_batch, m, MESSAGES);
    }
    sotto_bench_expect(sotto_x25519_use(NULL), "no way to multiply is left");
}

void sotto_bench_seal(const sotto_bench *b)
{
    static sealed_messages messages;
    sotto_err err = {0};

    sotto_bench_expect(prepare(&messages, &err) == SOTTO_OK, err.reason);
    double bare = sotto_bench_run(b, "seal/x25519-bare", bare_x25519, &messages, 1);
    double whole = sotto_bench_run(b, "seal/unseal-2048", unseal, &messages, 1);
    (void)sotto_bench_run(b, "seal/seal-2048", seal_one, &messages, 1);
    sotto_bench_expect(messages.refused == 0, "messages were refused");
    run_batches(b, &messages);
    sotto_bench_expect(messages.refused == 0, "messages of a batch were refused");
    if (bare > 0 && whole > 0)
        sotto_bench_note(b, "seal/unseal-over-x25519", "x", whole / bare);
    release(&messages);
}
