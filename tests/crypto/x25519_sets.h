/* What tests of X25519 in lanes share: every set by name, and the crypto library's answer to compare with. */
#ifndef SOTTO_TESTS_CRYPTO_X25519_SETS_H
#define SOTTO_TESTS_CRYPTO_X25519_SETS_H

#include "crypto/kem.h"
#include "crypto/x25519.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

/* Those that this machine lacks are refused by sotto_x25519_use and passed over. */
static const char *const sets[] = {"ifma", "avx2"};
enum { SETS = sizeof sets / sizeof sets[0], SIZE = SOTTO_X25519_SIZE };

/* Some keys with their points, and what they multiply to. */
enum { MOST = 64 };
typedef struct products {
    uint8_t scalars[MOST][SIZE], points[MOST][SIZE], out[MOST][SIZE];
} products;

/* Asks the chosen set; gives how many it did. */
static inline size_t multiply_all(products *p, size_t count)
{
    const uint8_t *scalars[MOST], *points[MOST];
    uint8_t *out[MOST];

    for (size_t i = 0; i < count; i++) {
        scalars[i] = p->scalars[i];
        points[i] = p->points[i];
        out[i] = p->out[i];
    }
    return sotto_x25519_many(out, scalars, points, count);
}

/* The crypto library's product; zeros where it refuses. */
static inline void expect(sotto_test *t, uint8_t *out, sotto_dh *dh, const uint8_t *point)
{
    sotto_err err = {0};
    sotto_status status = sotto_dh_agree(dh, out, sotto_bytes_of(point, SIZE), "point", &err);

    CHECK(t, status == SOTTO_OK || status == SOTTO_REJECTED);
    if (status != SOTTO_OK)
        memset(out, 0, SIZE);
}

static inline sotto_dh library_key(sotto_test *t, const uint8_t *scalar)
{
    sotto_dh dh;

    CHECK_OK(t, sotto_dh_init(&dh, sotto_kem_find(SOTTO_KEM_X25519), sotto_bytes_of(scalar, SIZE),
                              &t->err));
    return dh;
}

/* How much a test does: the environment's number, or this one. */
static inline uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

#endif
