/* sotto-vectors/token.h - what the families of tokens share. */
#ifndef SOTTO_VECTORS_TOKEN_H
#define SOTTO_VECTORS_TOKEN_H

#include "families.h"

typedef struct sotto_token_item {
    const json_t *json;
    sotto_arena *arena;
} sotto_token_item;

/* The bytes of a key; SOTTO_MALFORMED unless there are len of them (0: any number). */
SOTTO_MUST_USE sotto_status sotto_token_get(const sotto_token_item *item, sotto_bytes *out,
                                            const char *key, size_t len, sotto_err *err);
/* Compares computed bytes with those of a key. */
SOTTO_MUST_USE sotto_status sotto_token_compare(const sotto_token_item *item, const char *key,
                                                const void *got, size_t len, sotto_err *err);
/* Whether the item says "valid": false. */
bool sotto_token_is_bad(const sotto_token_item *item);

/* Calls check, and counts. A bad item must fail with SOTTO_REJECTED or SOTTO_MALFORMED. */
typedef sotto_status sotto_token_check(const sotto_token_item *item, sotto_err *err);
void sotto_token_count(const sotto_vector_file *file, const json_t *item, const char *name,
                       sotto_token_check *check);

/* A token of type 1 or 2, from key to token. */
SOTTO_MUST_USE sotto_status sotto_vectors_check_token(const sotto_token_item *item, sotto_err *err);

#endif
