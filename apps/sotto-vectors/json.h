/* sotto-vectors/json.h - reads vector files: typed access that names the key it could not read.
 *
 * Memory:  decoded bytes come from the arena given; a json_t belongs to whoever loaded it.
 *
 * Every reader returns SOTTO_MALFORMED with a reason naming the key if it is missing or of another type.
 */
#ifndef SOTTO_VECTORS_JSON_H
#define SOTTO_VECTORS_JSON_H

#include <jansson.h>

#include "sotto/vdaf.h"

/* Stands before the digits of an integer that is too long for jansson and became a string, so that no hex
 * reader takes it for one. */
#define SOTTO_JSON_LONG_INTEGER_MARK '#'

/* Reads the whole file into the arena. */
SOTTO_MUST_USE sotto_status sotto_json_read(sotto_bytes *text, const char *path, sotto_arena *arena,
                                            sotto_err *err);

/* Parses text. Integers too long for jansson's 64 signed bits survive: see sotto_json_number. */
SOTTO_MUST_USE sotto_status sotto_json_parse(json_t **root, sotto_bytes text, sotto_arena *arena,
                                             sotto_err *err);

/* A member that must be there. */
SOTTO_MUST_USE sotto_status sotto_json_get(json_t **out, const json_t *object, const char *key,
                                           sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_json_get_array(json_t **out, const json_t *object,
                                                 const char *key, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_json_get_text(const char **out, const json_t *object,
                                                const char *key, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_json_get_hex(sotto_bytes *out, const json_t *object,
                                               const char *key, sotto_arena *arena, sotto_err *err);
/* 0 to 2^64 - 1. */
SOTTO_MUST_USE sotto_status sotto_json_get_uint(uint64_t *out, const json_t *object,
                                                const char *key, sotto_err *err);

/* A value whose key is only needed for the reason. */
SOTTO_MUST_USE sotto_status sotto_json_hex(sotto_bytes *out, const json_t *value, const char *key,
                                           sotto_arena *arena, sotto_err *err);
/* An integer of up to 128 bits. SOTTO_DENIED: it is negative or longer. */
SOTTO_MUST_USE sotto_status sotto_json_number(sotto_uint128 *out, const json_t *value,
                                              const char *key, sotto_err *err);
/* The same, written as a string of decimal digits. */
SOTTO_MUST_USE sotto_status sotto_json_decimal(sotto_uint128 *out, const json_t *value,
                                               const char *key, sotto_err *err);

#endif
