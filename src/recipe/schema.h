/* recipe/schema.h - one table of every key (schema_rows.h): what it is, its range, its default, and what it is for.
 *
 * The reader checks files by it, mistakes quote it, and docs/recipe.md is printed from it.
 */
#ifndef SOTTO_RECIPE_SCHEMA_H
#define SOTTO_RECIPE_SCHEMA_H

#include "account/numeric/decimal.h"
#include "recipe/place.h"
#include "sotto/recipe.h"

#include <jansson.h>

typedef enum sotto_schema_type {
    SOTTO_SCHEMA_TEXT = 1, /* least to most bytes                                        */
    SOTTO_SCHEMA_QUERY,    /* a text of 1 to 16,384 bytes                                */
    SOTTO_SCHEMA_NAME,     /* letters, digits and . _ : -                                */
    SOTTO_SCHEMA_CHOICE,   /* one of the words of `of`, which | separates; NULL: a trust model */
    SOTTO_SCHEMA_FLAG,
    SOTTO_SCHEMA_WHOLE, /* a whole number, or the word `of`                           */
    SOTTO_SCHEMA_NUMBER,
    SOTTO_SCHEMA_DECIMAL, /* at most 12 decimals, read from the text itself; above least; or the word `of` */
    SOTTO_SCHEMA_TIME,     /* 2026-11-20T00:00:00Z                                       */
    SOTTO_SCHEMA_DURATION, /* 30s, 10m, 1h, 7d                                           */
    SOTTO_SCHEMA_HEX,      /* least to most bytes, two digits each                       */
    SOTTO_SCHEMA_OBJECT,   /* with the keys of object `of`                               */
    SOTTO_SCHEMA_VARIANT,  /* with the keys of object `of`.<what its "type" says>        */
    SOTTO_SCHEMA_LIST,     /* least to most items                                        */
    SOTTO_SCHEMA_LATER,    /* known, and refused with the sentence `of`, alone           */
} sotto_schema_type;

typedef struct sotto_schema_key {
    uint8_t object; /* an index of sotto_schema_objects; rows of one stand together */
    char key[21];   /* "*": any other name                                       */
    uint8_t type;   /* sotto_schema_type                                         */
    uint8_t item;   /* of a list                                                 */
    double least, most;
    const char *of; /* "object@key": "key" tells the variant, not "type"          */
    const char
        *fallback; /* the default as JSON; NULL: the key must be there; "": it may be left out */
} sotto_schema_key;

extern const sotto_schema_key sotto_schema[];
extern const size_t sotto_schema_count;

/* Names of objects in the order of the reference. */
enum { SOTTO_SCHEMA_OBJECT_NAME = 28 };
extern const char sotto_schema_objects[][SOTTO_SCHEMA_OBJECT_NAME];
extern const size_t sotto_schema_object_count;

/* Rows of an object: *count of them from the one returned. */
const sotto_schema_key *sotto_schema_rows(const char *object, size_t *count);

/* "a whole number from 1 to 10", ...: what would be accepted. */
void sotto_schema_accepts(const sotto_schema_key *row, char *out, size_t cap);

/* ---- for analysts' tools alone (schema_help.c) ------------------------------------------------------ */

typedef struct sotto_schema_text {
    const char *title;
    const char *help;
} sotto_schema_text;

extern const sotto_schema_text sotto_schema_texts[]; /* one for each of sotto_schema_objects */

/* What the key is for. */
const char *sotto_schema_help(const sotto_schema_key *row);

/* ---- one file being read ---------------------------------------------------------------------------- */

typedef struct sotto_reading {
    sotto_bytes text;
    const char *object; /* of the whole file: "recipe", "policy", "parties", "streams" */
    json_t *root;
    sotto_arena *arena;
    sotto_mistakes *mistakes;
    uint64_t dirty; /* bit i: row i of the whole file's object has a mistake below it */
    bool no_memory;
    char *pack; /* room for short texts, so that each needn't take an arena's least */
    size_t pack_left;
} sotto_reading;

/* Parses the text and checks it against the object's rows; defaults are then part of root. Close it in any case.
 * SOTTO_OK also with mistakes in the list, unless there is no tree to look at. */
SOTTO_MUST_USE sotto_status sotto_reading_open(sotto_reading *r, const char *object,
                                               sotto_bytes text, sotto_arena *arena,
                                               sotto_mistakes *mistakes, sotto_err *err);
void sotto_reading_close(sotto_reading *r);

/* policy_logs.c: the policy's key `logs`. */
struct sotto_policy;
void sotto_policy_read_logs(sotto_reading *r, struct sotto_policy *out);
/* SOTTO_MALFORMED with the first mistake, if there are any; SOTTO_NO_MEMORY. */
SOTTO_MUST_USE sotto_status sotto_reading_finish(const sotto_reading *r, sotto_err *err);

/* Whether nothing under this key of the whole file is wrong so far. */
bool sotto_reading_clean(const sotto_reading *r, const char *key);

/* Adds a mistake about the value at place (or the whole file); `accepted` may be "". */
void sotto_reading_mistake(sotto_reading *r, const sotto_place *place, const char *accepted,
                           const char *format, ...) SOTTO_PRINTF(4, 5);

/* Adds that a key of the whole file is missing, where the table says that it may be left out. */
void sotto_reading_missing(sotto_reading *r, const char *key);

/* Adds a warning about it. */
void sotto_reading_warn(sotto_reading *at, const sotto_place *place, const char *what);

/* Adds to a list. Bytes that could confuse a terminal are replaced. */
void sotto_mistakes_add(sotto_mistakes *list, const sotto_mistake *mistake);

/* SOTTO_DENIED with the first mistake, if there are any. */
SOTTO_MUST_USE sotto_status sotto_mistakes_status(const sotto_mistakes *mistakes, sotto_err *err);

/* Copies into the arena; NULL, remembered in r, where there is no room. */
void *sotto_reading_take(sotto_reading *r, size_t count, size_t size);
/* A copy of the whole file, and its SHA-256. False: no memory, which the reading knows. */
bool sotto_reading_keep(sotto_reading *r, sotto_bytes *text, uint8_t hash[32]);
char *sotto_reading_take_text(sotto_reading *r, size_t len); /* and one byte for the ending 0 */
const char *sotto_reading_copy(sotto_reading *r, const char *text);
/* Values that were checked. A text that may be left out is NULL. */
const char *sotto_reading_text(sotto_reading *r, const json_t *object, const char *key);
/* data is NULL where there is no memory. */
sotto_bytes sotto_reading_hex(sotto_reading *r, const json_t *text);
/* The position of a choice among the words of its row, from 0. */
unsigned sotto_reading_choice(const json_t *object, const char *rows, const char *key);
sotto_decimal sotto_reading_decimal(const sotto_reading *r, const sotto_place *object,
                                    const char *key);
int64_t sotto_reading_time(const json_t *object, const char *key);
uint64_t sotto_reading_duration(const json_t *object, const char *key);

#endif
