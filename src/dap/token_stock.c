#define _POSIX_C_SOURCE 200809L
#include "dap/token_stock.h"

#include "base/alloc.h"
#include "crypto/hash.h"
#include "crypto/x25519.h"
#include "seal/token/blind_rsa.h"
#include "sotto/random.h"

#include <string.h>
#include <unistd.h>

enum { STOCK = 16, NUMBER = SOTTO_TYPE2_NUMBER };
_Static_assert((int)STOCK <= (int)SOTTO_RSA_MANY, "one batch");

struct sotto_token_stock {
    uint8_t key[SOTTO_TOKEN_KEY_ID], challenge[SOTTO_TOKEN_DIGEST];
    size_t left;
    pid_t owner; /* the process that filled it */
    sotto_token_draft drafts[STOCK];
    uint8_t encoded[STOCK][NUMBER], blinds[STOCK][NUMBER];
    uint8_t blinded[STOCK][NUMBER], inverses[STOCK][NUMBER];
};

sotto_token_stock *sotto_token_stock_new(void)
{
    return sotto_alloc(sizeof(sotto_token_stock));
}

void sotto_token_stock_free(sotto_token_stock *stock)
{
    if (!stock)
        return;
    sotto_wipe(stock, sizeof *stock);
    sotto_release(stock, sizeof *stock);
}

/* As sotto_admission_nonce makes each, with the public keys in lanes as far as this machine has them. */
static sotto_status make_nonces(sotto_token_draft drafts[STOCK], sotto_err *err)
{
    static const uint8_t base[SOTTO_X25519_SIZE] = {9}; /* RFC 7748, 6.1 */
    uint8_t keys[STOCK][SOTTO_X25519_SIZE], *out[STOCK];
    const uint8_t *seeds[STOCK], *points[STOCK];

    for (size_t i = 0; i < STOCK; i++) {
        out[i] = keys[i];
        seeds[i] = drafts[i].seed;
        points[i] = base;
    }
    const size_t done = sotto_x25519_many(out, seeds, points, STOCK);
    for (size_t i = 0; i < done; i++)
        sotto_hash_once(drafts[i].random.nonce, SOTTO_SHA256,
                        sotto_bytes_of(keys[i], sizeof keys[i]));
    for (size_t i = done; i < STOCK; i++)
        SOTTO_TRY(sotto_admission_nonce(drafts[i].random.nonce, drafts[i].seed, err));
    return SOTTO_OK;
}

/* All but nonce and blinding. */
static sotto_status draw(sotto_token_draft *out, sotto_type2_key *key, sotto_err *err)
{
    SOTTO_TRY(sotto_random_bytes(out->seed, sizeof out->seed, err));
    return sotto_type2_draw(&out->random, key, err);
}

/* All but the blinding. */
static sotto_status begin(sotto_token_draft *out, uint8_t encoded[NUMBER], sotto_type2_key *key,
                          const uint8_t challenge[SOTTO_TOKEN_DIGEST], sotto_err *err)
{
    const sotto_bytes input = sotto_bytes_of(out->pending.input, SOTTO_TOKEN_INPUT);
    const sotto_type2_random *random = &out->random;

    sotto_type2_begin(key, &out->pending, out->request, challenge, random->nonce);
    return sotto_blind_rsa_encode(encoded, NUMBER, &input, 1,
                                  sotto_bytes_of(random->salt, sizeof random->salt), err);
}

static sotto_status fill(sotto_token_stock *stock, sotto_type2_key *key, sotto_err *err)
{
    for (size_t i = 0; i < STOCK; i++)
        SOTTO_TRY(draw(&stock->drafts[i], key, err));
    SOTTO_TRY(make_nonces(stock->drafts, err));
    for (size_t i = 0; i < STOCK; i++) {
        SOTTO_TRY(begin(&stock->drafts[i], stock->encoded[i], key, stock->challenge, err));
        memcpy(stock->blinds[i], stock->drafts[i].random.blind, NUMBER);
    }
    SOTTO_TRY(sotto_rsa_blind_many(&key->rsa, stock->blinded[0], stock->inverses[0],
                                   stock->encoded[0], stock->blinds[0], STOCK, err));
    for (size_t i = 0; i < STOCK; i++) {
        memcpy(stock->drafts[i].request + SOTTO_TYPE2_REQUEST - NUMBER, stock->blinded[i], NUMBER);
        memcpy(stock->drafts[i].pending.inverse, stock->inverses[i], NUMBER);
    }
    stock->left = STOCK;
    return SOTTO_OK;
}

sotto_status sotto_token_stock_take(sotto_token_stock *stock, sotto_token_draft *out,
                                    sotto_type2_key *key,
                                    const uint8_t challenge[SOTTO_TOKEN_DIGEST], sotto_err *err)
{
    /* A child of fork has its parent's requests, which the parent sends as well. */
    if (stock->owner != getpid() || memcmp(stock->key, key->id, sizeof stock->key) != 0 ||
        memcmp(stock->challenge, challenge, sizeof stock->challenge) != 0)
        stock->left = 0;
    stock->owner = getpid();
    memcpy(stock->key, key->id, sizeof stock->key);
    memcpy(stock->challenge, challenge, sizeof stock->challenge);
    if (stock->left == 0)
        SOTTO_TRY(fill(stock, key, err));
    *out = stock->drafts[--stock->left];
    sotto_wipe(&stock->drafts[stock->left], sizeof stock->drafts[0]);
    return SOTTO_OK;
}
