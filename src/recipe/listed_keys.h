/* recipe/listed_keys.h - the list of an issuer's keys, as devices take it.
 *
 *     {"keys":[{"analysis":"...","opens":1794960000,"closes":1795132800,"id":"<hex>","token_key":"<hex>"}, ...]}
 *
 * A key without an analysis is one of ARC: a leader's or helper's own, for all collections of an epoch (dap/arc_admission.h). Any other
 * is of type 2, for one collection.
 *
 * behind a signature of the issuer's (recipe/signed_parties.h), by a key of the policy's `issuers`. The list itself is what
 * `sotto serve issuer` answers to GET keys, and a leader or helper to GET arc/keys: the same for everybody.
 *
 * Callers:  devices take lists; an attester reads the issuer's; `sotto parties sign --token-keys` signs them.
 * Memory:   keys that were read lie in the arena; the name of an issuer is the policy's.
 */
#ifndef SOTTO_RECIPE_LISTED_KEYS_H
#define SOTTO_RECIPE_LISTED_KEYS_H

#include "recipe/model.h"
#include "seal/token/type2.h"

enum {
    SOTTO_ARC_SHOWS = 192, /* collections that a device's credentials of an epoch are for */
    SOTTO_ARC_OTHERS = 64  /* of them for other recipes, where one must never lack any */
};

enum { SOTTO_LISTED_KEYS_MOST = 512, SOTTO_LISTED_KEY_ANALYSIS = 128 };
#define SOTTO_LISTED_KEYS_LATEST INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

typedef struct sotto_listed_key {
    char analysis[SOTTO_LISTED_KEY_ANALYSIS + 1]; /* empty: of ARC */
    int64_t opens, closes; /* of the collection or the epoch, in seconds since 1970 */
    uint8_t id[SOTTO_TOKEN_KEY_ID];
    uint8_t spki[SOTTO_TYPE2_SPKI]; /* of ARC: SOTTO_ARC_PUBLIC bytes, and zeros behind them */
} sotto_listed_key;

static inline bool sotto_listed_key_is_arc(const sotto_listed_key *key)
{
    return key->analysis[0] == 0;
}

/* Whether this is a list that a device with this policy may use, and whose. The one place that decides it.
 *   issuer  its name in the policy
 *   list    borrows from file
 *   serial  that was signed with it
 *   SOTTO_MALFORMED  no signed list
 *   SOTTO_TOO_LARGE  more than SOTTO_SIGNED_KEYS_MAX bytes
 *   SOTTO_DENIED     none of the policy's issuers signed it, or it names none
 *   SOTTO_REJECTED   the signature of one of them does not hold */
SOTTO_MUST_USE sotto_status sotto_listed_keys_judge(const char **issuer, sotto_bytes *list,
                                                    uint64_t *serial, const sotto_policy *policy,
                                                    sotto_bytes file, sotto_err *err);

/* SOTTO_MALFORMED  not such a list, one collection twice, epochs that overlap, or a key whose id is not its own
 * SOTTO_TOO_LARGE  more than SOTTO_LISTED_KEYS_MOST keys */
SOTTO_MUST_USE sotto_status sotto_listed_keys_read(const sotto_listed_key **out, size_t *count,
                                                   sotto_bytes list, sotto_arena *arena,
                                                   sotto_err *err);

#endif
