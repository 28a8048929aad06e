/* As crypto/hash.c: functions that OpenSSL 3.0 calls deprecated, since the others allocate. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "crypto/hash_many.h"

#include "base/backends.h"
#include "base/cpu.h"

enum { BLOCK = 64, WORDS = 8 };

static const sotto_sha256_pair none = {"none", NULL};

/* What is built for size, as devices have it, digests few texts. */
static const sotto_backend choices[] = {
#if defined(__x86_64__) && !defined(__OPTIMIZE_SIZE__)
    {SOTTO_CPU_SHA, &sotto_sha256_sha},
#endif
    {0, &none},
};
static sotto_backends backends = {choices, sizeof choices / sizeof choices[0], NULL};

bool sotto_sha256_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}

/* The rest of a text whose first blocks are in the state: the crypto library's, with the padding. */
static void finish(uint8_t out[32], const uint32_t state[WORDS], sotto_bytes text, size_t done)
{
    const uint64_t bits = (uint64_t)done * 8;
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    for (size_t i = 0; i < WORDS; i++)
        hash.state.narrow.h[i] = state[i];
    hash.state.narrow.Nl = (SHA_LONG)bits;
    hash.state.narrow.Nh = (SHA_LONG)(bits >> 32);
    sotto_hash_update(&hash, sotto_bytes_of(text.data + done, text.len - done));
    sotto_hash_final(&hash, out);
}

/* Together as far as the shorter one goes. */
static void digest_two(const sotto_sha256_pair *pair, uint8_t (*out)[32], const sotto_bytes *texts)
{
    const size_t shorter = texts[0].len < texts[1].len ? texts[0].len : texts[1].len;
    uint32_t state[2][WORDS];
    sotto_hash start;

    sotto_hash_init(&start, SOTTO_SHA256);
    for (size_t i = 0; i < WORDS; i++)
        state[0][i] = state[1][i] = start.state.narrow.h[i];
    pair->compress(state[0], state[1], texts[0].data, texts[1].data, shorter / BLOCK);
    for (size_t i = 0; i < 2; i++)
        finish(out[i], state[i], texts[i], shorter - shorter % BLOCK);
    sotto_wipe(state, sizeof state);
}

void sotto_sha256_many(uint8_t (*out)[32], const sotto_bytes *texts, size_t count)
{
    const sotto_sha256_pair *pair = sotto_backends_chosen(&backends);
    size_t i = 0;

    for (; pair->compress && i + 1 < count; i += 2)
        if (texts[i].len >= BLOCK && texts[i + 1].len >= BLOCK) {
            digest_two(pair, out + i, texts + i);
        } else {
            sotto_hash_once(out[i], SOTTO_SHA256, texts[i]);
            sotto_hash_once(out[i + 1], SOTTO_SHA256, texts[i + 1]);
        }
    for (; i < count; i++)
        sotto_hash_once(out[i], SOTTO_SHA256, texts[i]);
}
