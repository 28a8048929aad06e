#define _POSIX_C_SOURCE 200809L
#include "dap/token_stock.h"

#include "base/alloc.h"
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
    sotto_token_asked asked[STOCK];
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

/* All but the blinding. */
static sotto_status draw(sotto_token_asked *out, uint8_t encoded[NUMBER], sotto_type2_key *key,
                         const uint8_t challenge[SOTTO_TOKEN_DIGEST], sotto_err *err)
{
    const sotto_bytes input = sotto_bytes_of(out->pending.input, SOTTO_TOKEN_INPUT);
    sotto_type2_random *random = &out->random;

    SOTTO_TRY(sotto_random_bytes(out->seed, sizeof out->seed, err));
    SOTTO_TRY(sotto_type2_draw(random, key, err));
    SOTTO_TRY(sotto_admission_nonce(random->nonce, out->seed, err));
    sotto_type2_begin(key, &out->pending, out->request, challenge, random->nonce);
    return sotto_blind_rsa_encode(encoded, NUMBER, &input, 1,
                                  sotto_bytes_of(random->salt, sizeof random->salt), err);
}

static sotto_status fill(sotto_token_stock *stock, sotto_type2_key *key, sotto_err *err)
{
    for (size_t i = 0; i < STOCK; i++) {
        SOTTO_TRY(draw(&stock->asked[i], stock->encoded[i], key, stock->challenge, err));
        memcpy(stock->blinds[i], stock->asked[i].random.blind, NUMBER);
    }
    SOTTO_TRY(sotto_rsa_blind_many(&key->rsa, stock->blinded[0], stock->inverses[0],
                                   stock->encoded[0], stock->blinds[0], STOCK, err));
    for (size_t i = 0; i < STOCK; i++) {
        memcpy(stock->asked[i].request + SOTTO_TYPE2_REQUEST - NUMBER, stock->blinded[i], NUMBER);
        memcpy(stock->asked[i].pending.inverse, stock->inverses[i], NUMBER);
    }
    stock->left = STOCK;
    return SOTTO_OK;
}

sotto_status sotto_token_stock_take(sotto_token_stock *stock, sotto_token_asked *out,
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
    *out = stock->asked[--stock->left];
    sotto_wipe(&stock->asked[stock->left], sizeof stock->asked[0]);
    return SOTTO_OK;
}
