/* view/json.h - JSON (RFC 8259), written as it is told: the one writer of the library and the program.
 *
 * Callers:  the files of this room; the verbs of the program.
 * Memory:   nothing is kept.
 * Threads:  nothing is shared.
 * Secrets:  none.
 *
 * Keys stand in the order of the calls. Texts are UTF-8; an invalid byte becomes U+FFFD. Control codes, and what turns
 * text around, are escaped, so that nothing in a text moves a cursor. Reals are the shortest decimal that reads back as the same double, with ".0" or an
 * exponent where they would look whole. Zero has no sign; NaN and infinity are null.
 *
 * The key is NULL for an element of an array and for the outermost value.
 */
#ifndef SOTTO_VIEW_JSON_H
#define SOTTO_VIEW_JSON_H

#include "view/text.h"

typedef enum sotto_json_layout {
    SOTTO_JSON_COMPACT,  /* {"a":1,"b":2}, for lines    */
    SOTTO_JSON_SPACED,   /* {"a": 1, "b": 2}, for lines */
    SOTTO_JSON_INDENTED, /* a member a line             */
} sotto_json_layout;

enum { SOTTO_JSON_DEPTH = 16 };

typedef struct sotto_json {
    sotto_text out;
    sotto_json_layout layout;
    size_t depth;
    bool filled[SOTTO_JSON_DEPTH]; /* something stands in the object or array already */
    char ends[SOTTO_JSON_DEPTH];   /* what closes it */
} sotto_json;

sotto_json sotto_json_on(sotto_text out, sotto_json_layout layout);
/* Closes all that is open, ends the line, and tells what went wrong. */
SOTTO_MUST_USE sotto_status sotto_json_finish(sotto_json *j);

void sotto_json_object(sotto_json *j, const char *key);
void sotto_json_array(sotto_json *j, const char *key);
void sotto_json_end(sotto_json *j);

void sotto_json_text(sotto_json *j, const char *key, const char *text); /* NULL: null */
void sotto_json_some(sotto_json *j, const char *key, const char *text); /* NULL: no such member */
void sotto_json_bytes(sotto_json *j, const char *key, sotto_bytes text);
void sotto_json_bool(sotto_json *j, const char *key, bool value);
void sotto_json_null(sotto_json *j, const char *key);
void sotto_json_int(sotto_json *j, const char *key, int64_t value);
void sotto_json_uint(sotto_json *j, const char *key, uint64_t value);
void sotto_json_real(sotto_json *j, const char *key, double value);
/* Two members: "cohort", its number, and "cohort_values", an object with the value of each field. */
void sotto_json_cohort(sotto_json *j, const sotto_cohort *cohort);
/* `stated`: what a recipe of one server states of its committee. */
void sotto_json_stated(sotto_json *j, const sotto_stated_committee *stated);
/* `encryption`: what a recipe of encrypted sums states, and what its round said. */
void sotto_json_encryption(sotto_json *j, const sotto_stated_encryption *stated);
/* A duration, with nine digits behind the point: the clocks have no more. */
void sotto_json_seconds(sotto_json *j, const char *key, double seconds);
/* 2026-11-20T00:00:00Z, of seconds since 1970. */
void sotto_json_time(sotto_json *j, const char *key, int64_t seconds);
/* Lower-case digits. */
void sotto_json_hex(sotto_json *j, const char *key, sotto_bytes bytes);

#endif
