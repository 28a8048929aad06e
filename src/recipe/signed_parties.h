/* recipe/signed_parties.h - a parties file that comes with signatures, in place of the one that an application ships.
 *
 *     sotto-parties-1 1794960000
 *     <public key, 64 hex digits> <signature, 128 hex digits>
 *
 *     { "key:leader-2026a": ... the parties file's own bytes
 *
 * An issuer's list of token keys (recipe/listed_keys.h) is signed in the same way, and begins with "sotto-token-keys-1".
 *
 * One to SOTTO_PARTIES_SIGNERS lines with signatures, each of another key; one empty line; the file. The number is its
 * serial: a device never takes a file with a lower one than it had.
 *
 * Callers:  devices check; `sotto parties` signs.
 * Memory:   decoded files borrow the bytes that they were decoded from.
 * Secrets:  a signer's key alone.
 */
#ifndef SOTTO_RECIPE_SIGNED_PARTIES_H
#define SOTTO_RECIPE_SIGNED_PARTIES_H

#include "crypto/signature.h"
#include "recipe/model.h"

enum {
    SOTTO_PARTIES_SIGNERS = 8,
    SOTTO_SIGNED_PARTIES_MAX = 1 << 16, /* bytes: a device keeps every file that it took */
    SOTTO_SIGNED_KEYS_MAX = 1 << 19     /* ... and only the keys of a list               */
};

typedef struct sotto_parties_signature {
    uint8_t key[SOTTO_SIGN_PUBLIC];
    uint8_t signature[SOTTO_SIGNATURE];
} sotto_parties_signature;

typedef enum sotto_signed_kind { SOTTO_SIGNED_PARTIES, SOTTO_SIGNED_KEYS } sotto_signed_kind;

typedef struct sotto_signed_parties {
    sotto_signed_kind kind; /* a signature of one kind is not valid for the other */
    uint64_t serial;        /* from 1 to 2^63 - 1 */
    size_t count;
    sotto_parties_signature by[SOTTO_PARTIES_SIGNERS];
    sotto_bytes parties; /* what is signed: JSON, borrowed */
} sotto_signed_parties;

/* Whether these bytes begin as a signed file does; a parties file never does. */
bool sotto_signed_parties_is(sotto_bytes file);
/* Looks at no signature.
 *   SOTTO_MALFORMED  anything else than the one spelling of it
 *   SOTTO_TOO_LARGE  more than SOTTO_SIGNED_PARTIES_MAX bytes
 */
SOTTO_MUST_USE sotto_status sotto_signed_parties_decode(sotto_signed_parties *out, sotto_bytes file,
                                                        sotto_err *err);
/* The same for a list of token keys, of SOTTO_SIGNED_KEYS_MAX bytes at most. */
SOTTO_MUST_USE sotto_status sotto_signed_keys_decode(sotto_signed_parties *out, sotto_bytes file,
                                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_signed_parties_encode(sotto_buf *out,
                                                        const sotto_signed_parties *file,
                                                        sotto_err *err);
/* Adds a signature over serial and parties, or replaces this key's. SOTTO_TOO_LARGE: there are as many as can be. */
SOTTO_MUST_USE sotto_status sotto_signed_parties_sign(sotto_signed_parties *file,
                                                      const sotto_signer *signer, sotto_err *err);
/* Whether this key signed it.
 *   SOTTO_MISSING   the file has no signature of this key
 *   SOTTO_REJECTED  it has one that does not hold
 */
SOTTO_MUST_USE sotto_status sotto_signed_parties_by(const sotto_signed_parties *file,
                                                    sotto_bytes key, sotto_err *err);
/* Whether as many of the policy's keys signed it as the policy wants. Other keys' signatures are not looked at.
 *   SOTTO_REJECTED  a signature of one of the policy's keys does not hold
 *   SOTTO_DENIED    too few of its keys signed, or it names none
 */
SOTTO_MUST_USE sotto_status sotto_signed_parties_check(const sotto_signed_parties *file,
                                                       const sotto_policy *policy, sotto_err *err);

/* Whether both files have the same names, roles and URLs: then one may replace the other, which only changes keys. */
bool sotto_parties_same_servers(const sotto_parties *a, const sotto_parties *b);

/* Days by which a serial may be ahead of a device's clock. A record never forgets a serial, and takes no lower one. A single
 * file with the highest possible serial, mistyped or signed with a stolen key, would end signed files for good. Serials are
 * times of signing, or counters, which stay below. */
enum { SOTTO_PARTIES_DAYS_AHEAD = 30 };
bool sotto_signed_parties_ahead(uint64_t serial, int64_t now);

#endif
