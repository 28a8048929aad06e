#define _POSIX_C_SOURCE 200809L
#include "seal/hpke/ephemerals.h"

#include "base/alloc.h"
#include "seal/hpke/dhkem.h"
#include "sotto/random.h"

#include <string.h>
#include <unistd.h>

enum { RECEIVERS = 4, STOCK = 32 };

typedef struct shelf {
    const sotto_kem *kem; /* NULL: for nobody yet */
    uint8_t peer[SOTTO_KEM_MAX_PUBLIC];
    size_t left;
    sotto_ephemeral keys[STOCK];
} shelf;

struct sotto_ephemerals {
    shelf shelves[RECEIVERS];
    size_t next; /* to be given to another receiver */
    pid_t owner; /* the process that filled it */
};

sotto_ephemerals *sotto_ephemerals_new(void)
{
    return sotto_alloc(sizeof(sotto_ephemerals));
}

void sotto_ephemerals_free(sotto_ephemerals *stock)
{
    if (!stock)
        return;
    sotto_wipe(stock, sizeof *stock);
    sotto_release(stock, sizeof *stock);
}

static bool is_for(const shelf *s, const sotto_kem *kem, sotto_bytes peer)
{
    return s->kem == kem && memcmp(s->peer, peer.data, peer.len) == 0;
}

static shelf *find(sotto_ephemerals *stock, const sotto_kem *kem, sotto_bytes peer)
{
    for (size_t i = 0; i < RECEIVERS; i++)
        if (is_for(&stock->shelves[i], kem, peer))
            return &stock->shelves[i];
    shelf *s = &stock->shelves[stock->next];
    stock->next = (stock->next + 1) % RECEIVERS;
    sotto_wipe(s, sizeof *s);
    s->kem = kem;
    memcpy(s->peer, peer.data, peer.len);
    return s;
}

static sotto_status fill(shelf *s, sotto_err *err)
{
    uint8_t ikm[STOCK][SOTTO_KEM_MAX_PRIVATE];

    sotto_status status = sotto_random_bytes(ikm, sizeof ikm, err);
    for (size_t i = 0; i < STOCK && status == SOTTO_OK; i++)
        status = sotto_dhkem_derive_private(s->keys[i].private_key, s->kem,
                                            sotto_bytes_of(ikm[i], sizeof ikm[i]), err);
    sotto_wipe(ikm, sizeof ikm);
    if (status != SOTTO_OK)
        return status;
    sotto_ephemerals_agree(s->keys, STOCK, s->kem, sotto_bytes_of(s->peer, s->kem->public_size));
    s->left = STOCK;
    return SOTTO_OK;
}

sotto_status sotto_ephemerals_take(sotto_ephemerals *stock, sotto_ephemeral *out,
                                   const sotto_hpke_config *to, sotto_err *err)
{
    const sotto_kem *kem;

    /* A child of fork has its parent's keys, and two messages sealed with one key would reveal each other. */
    if (stock->owner != getpid())
        sotto_wipe(stock->shelves, sizeof stock->shelves);
    stock->owner = getpid();
    SOTTO_TRY(sotto_hpke_kem_find(&kem, to->suite.kem, err));
    if (to->public_key.len != kem->public_size)
        return sotto_fail(err, SOTTO_MALFORMED, "public_key: %zu bytes", to->public_key.len);
    shelf *s = find(stock, kem, to->public_key);
    if (s->left == 0)
        SOTTO_TRY(fill(s, err));
    *out = s->keys[--s->left];
    sotto_wipe(&s->keys[s->left], sizeof s->keys[0]);
    return SOTTO_OK;
}
