/* tests/seal/keys.h - keys, configurations and random-looking bytes for the tests of seal/. */
#ifndef SOTTO_TESTS_SEAL_KEYS_H
#define SOTTO_TESTS_SEAL_KEYS_H

#include "support/test.h"

#include "sotto/seal.h"

static const uint16_t ALL_KEMS[] = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KEM_P256, SOTTO_HPKE_KEM_P384,
                                    SOTTO_HPKE_KEM_P521, SOTTO_HPKE_KEM_X448};
enum { KEMS = 5, KDFS = 3, AEADS = 3 };

static inline sotto_hpke_suite usual_suite(void)
{
    const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                    SOTTO_HPKE_AEAD_AES128_GCM};
    return suite;
}

static inline sotto_bytes ascii(const char *string)
{
    size_t len = 0;

    while (string[len])
        len++;
    return sotto_bytes_of(string, len);
}

static inline sotto_bytes none(void)
{
    return sotto_bytes_of(NULL, 0);
}

/* Enough input for a key of any KEM; another seed, another key. */
static inline sotto_bytes ikm_of(sotto_test *t, uint8_t seed)
{
    uint8_t *ikm = sotto_arena_take(&t->arena, SOTTO_HPKE_MAX_PRIVATE_KEY);

    for (size_t i = 0; i < SOTTO_HPKE_MAX_PRIVATE_KEY; i++)
        ikm[i] = (uint8_t)(seed * 31 + i * 7);
    return sotto_bytes_of(ikm, SOTTO_HPKE_MAX_PRIVATE_KEY);
}

static inline sotto_hpke_key key_of(sotto_test *t, uint16_t kem, uint8_t seed)
{
    sotto_hpke_key key;

    CHECK_OK(t, sotto_hpke_key_derive(&key, kem, ikm_of(t, seed), &t->err));
    return key;
}

#endif
