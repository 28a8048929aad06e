/* serve/issuer/issuer_keys.h - the issuer's keys of type 2: one for each collection, made once.
 *
 * Callers:  issuer_service.c; whoever looks at an issuer's database.
 * Memory:   outputs are the caller's.
 * Secrets:  private keys are sealed columns; a decoded one is wiped with sotto_rsa_private_clear.
 */
#ifndef SOTTO_SERVE_ISSUER_ISSUER_KEYS_H
#define SOTTO_SERVE_ISSUER_ISSUER_KEYS_H

#include "db/sealed.h"
#include "db/store.h"
#include "seal/token/type2.h"

enum { SOTTO_ISSUER_ANALYSIS = 128 };

/* For the service's first migration. A second key for the same collection would be a second token for every device. */
#define SOTTO_ISSUER_KEYS_SCHEMA                                                                   \
    "CREATE TABLE token_key (n {id}, id {bytes} NOT NULL UNIQUE, analysis TEXT NOT NULL,"          \
    " opens {int} NOT NULL, closes {int} NOT NULL, spki {bytes} NOT NULL,"                         \
    " secret {bytes} NOT NULL, UNIQUE (analysis, opens));"

/* What a key is for. */
typedef struct sotto_issuer_collection {
    char analysis[SOTTO_ISSUER_ANALYSIS + 1]; /* letters, digits, dots, dashes and underscores */
    int64_t opens, closes;                    /* seconds since 1970                            */
} sotto_issuer_collection;

typedef struct sotto_issuer_key {
    uint8_t id[SOTTO_TOKEN_KEY_ID];
    uint8_t spki[SOTTO_TYPE2_SPKI];
    int64_t closes;
} sotto_issuer_key;

/* The key of the collection; if there is none, the given one is stored. *made says which. Two callers at once get the same
 * key. Private keys that closed before `erase_before` are erased; their rows stay, so that no collection gets a second
 * key.
 *   SOTTO_DENIED  the collection has a key, but closes at another time */
SOTTO_MUST_USE sotto_status sotto_issuer_key_put(sotto_db *db, sotto_issuer_key *out, bool *made,
                                                 const sotto_issuer_collection *collection,
                                                 const sotto_rsa_private *secret,
                                                 const sotto_column_keys *columns,
                                                 int64_t erase_before, sotto_err *err);
/* SOTTO_MISSING: there is none for the collection. Others as above. */
SOTTO_MUST_USE sotto_status sotto_issuer_key_find(sotto_db *db, sotto_issuer_key *out,
                                                  const sotto_issuer_collection *collection,
                                                  sotto_err *err);
/* The private key of an id. SOTTO_MISSING: there is no such key; SOTTO_STALE: it is erased. Clear it always. */
SOTTO_MUST_USE sotto_status sotto_issuer_key_get(sotto_db *db, sotto_rsa_private *secret,
                                                 int64_t *closes,
                                                 const uint8_t id[SOTTO_TOKEN_KEY_ID],
                                                 const sotto_column_keys *columns, sotto_err *err);
/* Writes the one public list, the same for everybody: JSON, oldest key first, without those that closed before `since`. */
SOTTO_MUST_USE sotto_status sotto_issuer_keys_list(sotto_db *db, sotto_buf *out, int64_t since,
                                                   sotto_err *err);

#endif
