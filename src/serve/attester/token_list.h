/* serve/attester/token_list.h - the issuer's public list of keys (docs/protocols/tokens.md), as an attester reads it.
 *
 * Callers:  the attester, with what the issuer answered.
 */
#ifndef SOTTO_SERVE_ATTESTER_TOKEN_LIST_H
#define SOTTO_SERVE_ATTESTER_TOKEN_LIST_H

#include "sotto/base.h"

enum { SOTTO_LISTED_ID = 32 };

typedef struct sotto_attester_key {
    uint8_t id[SOTTO_LISTED_ID];
    int64_t closes; /* seconds since 1970 */
} sotto_attester_key;

/* Calls `take` for each key, in the order of the list, until it returns something else than SOTTO_OK.
 *   SOTTO_MALFORMED  not a list of keys; nothing was taken */
typedef sotto_status sotto_token_list_fn(void *context, const sotto_attester_key *key,
                                         sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_token_list_each(sotto_bytes text, sotto_token_list_fn *take,
                                                  void *context, sotto_err *err);

#endif
