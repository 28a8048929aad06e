/* dap/token_stock.h - requests for tokens in stock, made in batches.
 *
 * Callers:  simulations, whose devices ask for one token each.
 * Memory:   a stock of its own, freed with it.
 * Threads:  a stock belongs to one thread at a time.
 * Secrets:  whatever a request was made from: random, handed out once and wiped.
 */
#ifndef SOTTO_DAP_TOKEN_STOCK_H
#define SOTTO_DAP_TOKEN_STOCK_H

#include "dap/admission.h"

/* A request, and what it was made from. */
typedef struct sotto_token_draft {
    uint8_t seed[SOTTO_ONCE_SEED]; /* of the one-time key */
    sotto_type2_random random;
    sotto_type2_pending pending;
    uint8_t request[SOTTO_TYPE2_REQUEST];
} sotto_token_draft;

typedef struct sotto_token_stock sotto_token_stock;

/* NULL: no memory. */
SOTTO_MUST_USE sotto_token_stock *sotto_token_stock_new(void);
/* NULL is fine. */
void sotto_token_stock_free(sotto_token_stock *stock);
/* A request that nobody else gets. There is a stock for one key and challenge at a time.
 *   SOTTO_REJECTED  a number has a factor with the key's modulus in common */
SOTTO_MUST_USE sotto_status sotto_token_stock_take(sotto_token_stock *stock, sotto_token_draft *out,
                                                   sotto_type2_key *key,
                                                   const uint8_t challenge[SOTTO_TOKEN_DIGEST],
                                                   sotto_err *err);

#endif
