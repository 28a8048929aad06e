/* AES-GCM on wide registers against the crypto library's. */
#include "support/test.h"

#include "crypto/gcm.h"
#include "lanes.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 300000, MOST_AAD = 700, TAG = SOTTO_AEAD_TAG_SIZE };

static uint8_t plain[MOST], sealed[MOST + TAG], opened[MOST + 1];
static uint8_t key[SOTTO_AEAD_MAX_KEY], nonce[SOTTO_AEAD_NONCE_SIZE], beside[MOST_AAD];

static void draw_bytes(uint64_t *seed, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)draw(seed);
}

static sotto_bytes seal(sotto_test *t, const sotto_aead_info *info, size_t len, size_t aad)
{
    sotto_buf out = sotto_buf_over(sealed, sizeof sealed);
    sotto_aead aead;

    CHECK_OK(t, sotto_aead_init(&aead, info, SOTTO_AEAD_SEAL, &t->err));
    CHECK_OK(t, sotto_aead_set_key(&aead, key, &t->err));
    CHECK_OK(t, sotto_aead_seal(&aead, &out, nonce, sotto_bytes_of(beside, aad),
                                sotto_bytes_of(plain, len), &t->err));
    sotto_aead_clear(&aead);
    return sotto_buf_bytes(&out);
}

static const sotto_aead_info *either(size_t i)
{
    return sotto_aead_find(i % 2 ? SOTTO_AES128_GCM : SOTTO_AES256_GCM);
}

static bool is_here(sotto_test *t)
{
    if (strcmp(sotto_gcm_name(), "none") != 0)
        return true;
    SKIP(t, "this machine has no AES on 512 bits");
    return false;
}

#if defined(__x86_64__)
/* All lengths up to two steps and more, and many longer ones. */
static void every_length_is_as_the_library_has_it(sotto_test *t)
{
    uint64_t seed = 1;

    if (!is_here(t))
        return;
    draw_bytes(&seed, plain, sizeof plain);
    for (size_t i = 0; i < 1400; i++) {
        const size_t len = i < 1200 ? i : (size_t)draw(&seed) % MOST, aad = draw(&seed) % MOST_AAD;
        const sotto_aead_info *info = either(i);
        uint8_t tag[TAG];

        draw_bytes(&seed, key, sizeof key);
        draw_bytes(&seed, nonce, sizeof nonce);
        draw_bytes(&seed, beside, aad);
        const sotto_bytes text = seal(t, info, len, aad);
        opened[len] = 0x55;
        sotto_gcm_vaes.open(opened, tag, key, info->key_size, nonce, sotto_bytes_of(beside, aad),
                            sotto_bytes_of(text.data, len));
        CHECK(t, memcmp(opened, plain, len) == 0);
        CHECK(t, opened[len] == 0x55); /* nothing behind it is touched */
        CHECK(t, memcmp(tag, text.data + len, TAG) == 0);
    }
}

/* More than 2^20 blocks: the counter carries out of its second byte. */
static void long_texts_are_as_the_library_has_them(sotto_test *t)
{
    enum { LONG = 17 << 20 };
    const sotto_aead_info *info = either(1);
    uint8_t *large = calloc(1, LONG), *out = malloc(LONG + TAG), tag[TAG];
    sotto_buf buf = sotto_buf_over(out, LONG + TAG);
    size_t wrong = 0;
    sotto_aead aead;

    CHECK(t, large && out);
    if (!is_here(t) || !large || !out)
        goto done;
    CHECK_OK(t, sotto_aead_init(&aead, info, SOTTO_AEAD_SEAL, &t->err));
    CHECK_OK(t, sotto_aead_set_key(&aead, key, &t->err));
    CHECK_OK(t, sotto_aead_seal(&aead, &buf, nonce, sotto_bytes_of(NULL, 0),
                                sotto_bytes_of(large, LONG), &t->err));
    sotto_aead_clear(&aead);
    memset(large, 1, LONG);
    sotto_gcm_vaes.open(large, tag, key, info->key_size, nonce, sotto_bytes_of(NULL, 0),
                        sotto_bytes_of(out, LONG));
    CHECK(t, memcmp(tag, out + LONG, TAG) == 0);
    for (size_t i = 0; i < LONG; i++)
        wrong += large[i] != 0;
    CHECK_EQUAL(t, 0, wrong);
done:
    free(large);
    free(out);
}
#endif

static void a_text_opens_as_it_was_sealed(sotto_test *t)
{
    uint64_t seed = 2;

    if (!is_here(t))
        return;
    draw_bytes(&seed, plain, sizeof plain);
    draw_bytes(&seed, key, sizeof key);
    for (size_t i = 0; i < 2; i++) {
        const sotto_bytes text = seal(t, either(i), 20000, 33);
        sotto_buf out = sotto_buf_over(opened, 20000), small = sotto_buf_over(opened, 19999);

        CHECK_STATUS(t, SOTTO_TOO_LARGE,
                     sotto_gcm_open(&small, either(i), key, nonce, sotto_bytes_of(beside, 33), text,
                                    &t->err));
        CHECK_EQUAL(t, 0, small.len);
        CHECK_OK(t, sotto_gcm_open(&out, either(i), key, nonce, sotto_bytes_of(beside, 33), text,
                                   &t->err));
        CHECK_EQUAL(t, 20000, out.len);
        CHECK(t, memcmp(opened, plain, 20000) == 0);
    }
}

static void what_was_changed_does_not_open(sotto_test *t)
{
    enum { LEN = 10007, AAD = 21 };
    static const size_t places[] = {0, 511, 512, 9999, LEN - 1, LEN, LEN + TAG - 1};
    uint64_t seed = 3;

    if (!is_here(t))
        return;
    draw_bytes(&seed, plain, sizeof plain);
    for (size_t i = 0; i <= sizeof places / sizeof places[0]; i++) {
        const sotto_bytes text = seal(t, either(i), LEN, AAD);
        sotto_buf out = sotto_buf_over(opened, sizeof opened);

        out.len = 5;
        if (i < sizeof places / sizeof places[0])
            sealed[places[i]] ^= 0x10;
        else
            beside[AAD - 1] ^= 1;
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_gcm_open(&out, either(i), key, nonce, sotto_bytes_of(beside, AAD), text,
                                    &t->err));
        CHECK_EQUAL(t, 5, out.len);
        for (size_t k = 0; k < LEN; k++)
            CHECK(t, opened[5 + k] == 0); /* nothing of it is left */
    }
}

static void short_texts_and_other_ciphers_are_the_librarys(sotto_test *t)
{
    CHECK(t, !sotto_gcm_opens(either(0), SOTTO_GCM_LEAST - 1));
    CHECK(t, !sotto_gcm_opens(sotto_aead_find(SOTTO_CHACHA20_POLY1305), 1 << 20));
    CHECK(t, sotto_gcm_use("none"));
    CHECK(t, !sotto_gcm_opens(either(0), 1 << 20));
    CHECK(t, !sotto_gcm_use("no such"));
    CHECK(t, sotto_gcm_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
#if defined(__x86_64__)
        CASE(every_length_is_as_the_library_has_it),
        CASE(long_texts_are_as_the_library_has_them),
#endif
        CASE(a_text_opens_as_it_was_sealed),
        CASE(what_was_changed_does_not_open),
        CASE(short_texts_and_other_ciphers_are_the_librarys),
    };

    return RUN_TESTS(argc, argv, cases);
}
