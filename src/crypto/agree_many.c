#include "crypto/agree_many.h"

#include "base/declassify.h"
#include "crypto/x25519.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <string.h>

/* As many lanes are filled at once; more private keys than this never meet in one call. */
enum { GROUP = 64, KEYS = 8 };

/* Agreements that lanes can do, in the form that they take. */
typedef struct group {
    sotto_agreement *members[GROUP];
    uint8_t *out[GROUP];
    const uint8_t *scalars[GROUP], *points[GROUP];
    size_t count;
    const sotto_dh *owners[KEYS];
    uint8_t keys[KEYS][SOTTO_X25519_SIZE];
    size_t key_count;
} group;

/* The bytes of a private key, read once for all its agreements. NULL: no room for another, or the library
 * failed. */
static const uint8_t *key_of(group *g, const sotto_dh *own)
{
    size_t len = SOTTO_X25519_SIZE;

    for (size_t i = 0; i < g->key_count; i++)
        if (g->owners[i] == own)
            return g->keys[i];
    if (g->key_count == KEYS)
        return NULL;
    if (EVP_PKEY_get_raw_private_key(own->own, g->keys[g->key_count], &len) <= 0 ||
        len != SOTTO_X25519_SIZE) {
        ERR_clear_error();
        return NULL;
    }
    g->owners[g->key_count] = own;
    return g->keys[g->key_count++];
}

static void add(group *g, sotto_agreement *a)
{
    const uint8_t *key;

    a->agreed = false;
    if (!a->own || a->own->kem->id != SOTTO_KEM_X25519 || a->peer.len != SOTTO_X25519_SIZE)
        return;
    key = key_of(g, a->own);
    if (!key)
        return;
    g->members[g->count] = a;
    g->out[g->count] = a->secret;
    g->scalars[g->count] = key;
    g->points[g->count++] = a->peer.data;
}

static bool all_zero(const uint8_t *data, size_t len)
{
    uint8_t any = 0;

    for (size_t i = 0; i < len; i++)
        any = (uint8_t)(any | data[i]);
    return any == 0;
}

static void run(group *g)
{
    size_t done = sotto_x25519_many(g->out, g->scalars, g->points, g->count);

    for (size_t i = 0; i < done; i++) {
        bool zero = all_zero(g->out[i], SOTTO_X25519_SIZE);

        SOTTO_DECLASSIFY(&zero, sizeof zero);
        g->members[i]->agreed = !zero;
    }
    g->count = 0;
}

void sotto_agree_many(sotto_agreement *all, size_t count)
{
    group g = {.count = 0};

    for (size_t i = 0; i < count; i++) {
        add(&g, &all[i]);
        if (g.count == GROUP)
            run(&g);
    }
    run(&g);
    sotto_wipe(g.keys, sizeof g.keys);
}

/* ---- keys that are used once ------------------------------------------------------------------------------- */

static const uint8_t base_point[SOTTO_X25519_SIZE] = {9};

/* Of each key two products, one beside the other. */
static void agree_some(sotto_ephemeral *some, size_t count, const uint8_t *peer)
{
    const uint8_t *scalars[GROUP], *points[GROUP];
    uint8_t *out[GROUP];

    for (size_t i = 0; i < count; i++) {
        scalars[2 * i] = scalars[2 * i + 1] = some[i].private_key;
        points[2 * i] = base_point;
        points[2 * i + 1] = peer;
        out[2 * i] = some[i].public_key;
        out[2 * i + 1] = some[i].secret;
    }
    const size_t done = sotto_x25519_many(out, scalars, points, 2 * count) / 2;
    for (size_t i = 0; i < done; i++) {
        bool zero = all_zero(some[i].secret, SOTTO_X25519_SIZE);

        SOTTO_DECLASSIFY(&zero, sizeof zero);
        SOTTO_DECLASSIFY(some[i].public_key, SOTTO_X25519_SIZE);
        memcpy(some[i].peer, peer, SOTTO_X25519_SIZE);
        some[i].agreed = !zero;
    }
}

void sotto_ephemerals_agree(sotto_ephemeral *all, size_t count, const sotto_kem *kem,
                            sotto_bytes peer)
{
    for (size_t i = 0; i < count; i++)
        all[i].agreed = false;
    if (kem->id != SOTTO_KEM_X25519 || peer.len != SOTTO_X25519_SIZE)
        return;
    for (size_t at = 0; at < count; at += GROUP / 2)
        agree_some(all + at, count - at < GROUP / 2 ? count - at : GROUP / 2, peer.data);
}
