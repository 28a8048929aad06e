/* db/sealed.h - columns that a stolen database does not reveal: keys, tokens, shares.
 *
 * Callers:  serve/.
 * Memory:   nothing is kept; outputs belong to the caller.
 * Threads:  calls never interfere; a set of keys is only read.
 * Secrets:  the datastore keys; clear them with sotto_wipe.
 *
 * A value is sealed with AES-256-GCM under a key of its own, derived from the datastore key and 24 random bytes.
 * So there is no number of values after which a nonce might repeat. Table, row and column are bound to it:
 * a value moved elsewhere does not open. Nothing binds a value to its time: an older one of the same place opens.
 *
 * Rotation: put the new key first and keep the old one behind it; everything is sealed with the first and opens
 * with any. Nothing is sealed anew: the old key is needed for as long as a value that it sealed.
 */
#ifndef SOTTO_DB_SEALED_H
#define SOTTO_DB_SEALED_H

#include "sotto/base.h"

enum {
    SOTTO_COLUMN_KEY_SIZE = 32,
    SOTTO_COLUMN_KEYS = 8,
    SOTTO_COLUMN_OVERHEAD = 4 + 24 + 16, /* which key, salt, tag */
    SOTTO_COLUMN_KEY_NAME = 2 * 4 + 1,   /* which key, in words  */
};

typedef struct sotto_column_keys {
    size_t count;
    uint8_t key[SOTTO_COLUMN_KEYS][SOTTO_COLUMN_KEY_SIZE];
} sotto_column_keys;

/* Where a value lives: the names as in the schema, the row by its primary key. */
typedef struct sotto_column_place {
    const char *table;
    const char *column;
    sotto_bytes row;
} sotto_column_place;

/* Appends SOTTO_COLUMN_OVERHEAD bytes more than `plain` has.
 *   SOTTO_MISSING    there is no key
 *   SOTTO_TOO_LARGE  out would pass its limit; out is unchanged
 */
SOTTO_MUST_USE sotto_status sotto_column_seal(sotto_buf *out, const sotto_column_keys *keys,
                                              const sotto_column_place *place, sotto_bytes plain,
                                              sotto_err *err);

/* The same of several pieces, one after the other. */
SOTTO_MUST_USE sotto_status sotto_column_seal_pieces(sotto_buf *out, const sotto_column_keys *keys,
                                                     const sotto_column_place *place,
                                                     const sotto_bytes *pieces, size_t count,
                                                     sotto_err *err);

/* What is said of a value whose key is not there; which key it was follows. */
#define SOTTO_COLUMN_KEY_GONE "sealed with a datastore key that is gone: "

/* Appends the value.
 *   SOTTO_MISSING    sealed with a key that is not among these: SOTTO_COLUMN_KEY_GONE
 *   SOTTO_REJECTED   changed, or of another place; out is unchanged
 *   SOTTO_MALFORMED  too short to be one
 */
SOTTO_MUST_USE sotto_status sotto_column_unseal(sotto_buf *out, const sotto_column_keys *keys,
                                                const sotto_column_place *place, sotto_bytes sealed,
                                                sotto_err *err);

/* By what name a key is missed: eight hexadecimal digits that say nothing else about it. */
void sotto_column_key_name(char out[SOTTO_COLUMN_KEY_NAME],
                           const uint8_t key[SOTTO_COLUMN_KEY_SIZE]);

#endif
