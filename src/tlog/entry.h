/* tlog/entry.h - what sotto's logs hold: small typed entries, which name larger things by their SHA-256.
 *
 *     uint8 version = 1; uint8 type; then, by type (integers big endian, opaque<n> with a length of n bytes in front):
 *
 *     1 recipe      digest[32], url opaque<2>                      the bytes that are published
 *     2 parties     digest[32], url opaque<2>, serial uint64
 *     3 issuer key  digest[32] of the recipe, start uint64, end uint64, kind uint16, key opaque<2>
 *     4 policy      digest[32], name opaque<1>
 *     5 library     digest[32], name opaque<1> ("libsotto-device 1.2.0 x86_64"), url opaque<2>
 *     6 release     digest[32] of the recipe, start uint64, end uint64, count uint64, receipt[32], cohort opaque<2>
 *     7 issuer keys digest[32], url opaque<2>, serial uint64      an issuer's whole list of keys, as devices take it
 *
 * A cohort is a list of (field opaque<1>, value opaque<2>), no field empty: every device that was counted has each of these values.
 * A receipt is the SHA-256 of the whole answer as `sotto collect --json` printed it.
 *
 * Callers:  tlog/bundle.h; `sotto recipe publish`, `sotto log`; the device.
 * Memory:   nothing is allocated; names, URLs and keys are borrowed.
 */
#ifndef SOTTO_TLOG_ENTRY_H
#define SOTTO_TLOG_ENTRY_H

#include "sotto/base.h"

enum {
    SOTTO_ENTRY_DIGEST = 32,
    SOTTO_ENTRY_URL_MAX = 2048,
    SOTTO_ENTRY_KEY_MAX = 4096,
    SOTTO_ENTRY_COHORT_MAX = 4096,
    SOTTO_ENTRY_MAX = 65535 /* of any log: entry bundles have lengths of two bytes */
};

typedef enum sotto_entry_type {
    SOTTO_ENTRY_RECIPE = 1,
    SOTTO_ENTRY_PARTIES,
    SOTTO_ENTRY_ISSUER_KEY,
    SOTTO_ENTRY_POLICY,
    SOTTO_ENTRY_LIBRARY,
    SOTTO_ENTRY_RELEASE,
    SOTTO_ENTRY_ISSUER_KEYS,
    SOTTO_ENTRY_TYPES
} sotto_entry_type;

/* Only what its type has, as above; all else is zero. */
typedef struct sotto_tlog_entry {
    sotto_entry_type type;
    uint8_t digest[SOTTO_ENTRY_DIGEST];
    sotto_bytes name, url, key;
    uint64_t serial;
    uint64_t start, end; /* seconds since 1970: the window of a collection; start <= end */
    uint64_t count;      /* reports of a release */
    uint16_t kind;       /* of tokens: 2 is blind RSA */
    uint8_t receipt[SOTTO_ENTRY_DIGEST];
    sotto_bytes cohort; /* of a release; empty: of all devices that the recipe asked */
} sotto_tlog_entry;

/* "recipe", "parties", ...; NULL for others. */
const char *sotto_entry_type_name(sotto_entry_type type);

/* SOTTO_MALFORMED: not an entry of sotto's, or not in canonical form. */
SOTTO_MUST_USE sotto_status sotto_tlog_entry_decode(sotto_tlog_entry *out, sotto_bytes wire,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_tlog_entry_encode(sotto_buf *out, const sotto_tlog_entry *entry,
                                                    sotto_err *err);

/* Whether the digest is that of bytes which come along in a bundle: recipes, parties files, policies and lists of keys. */
bool sotto_entry_has_object(sotto_entry_type type);

/* Takes the next field and value off the front of a decoded entry's cohort. False: none is left. */
bool sotto_entry_cohort_next(sotto_bytes *field, sotto_bytes *value, sotto_bytes *cohort);

#endif
