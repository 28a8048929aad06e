/* recipe/place.h - where in the text of a JSON file a value stands.
 *
 * The JSON library keeps no positions. This reads the same bytes once more, along one path, after the
 * library accepted them; fuzz_recipe holds the two against each other.
 */
#ifndef SOTTO_RECIPE_PLACE_H
#define SOTTO_RECIPE_PLACE_H

#include "sotto/base.h"

/* A path, from its last step up; NULL is the whole file. Lives on the stack of whoever walks. */
typedef struct sotto_place {
    const struct sotto_place *up;
    const char *key; /* NULL: an item of a list */
    size_t index;
} sotto_place;

typedef struct sotto_span {
    size_t key;   /* offset of the key, or of the item itself */
    size_t value; /* offset of the value ...                  */
    size_t end;   /* ... and of the byte behind it            */
} sotto_span;

/* False if the text has no such value. The text must be valid JSON without duplicate keys. */
bool sotto_place_find(const sotto_place *place, sotto_bytes json, sotto_span *out);

/* Line and column of an offset, both from 1; columns count bytes. */
void sotto_place_position(sotto_bytes json, size_t offset, unsigned *line, unsigned *column);

/* a.b["c d"][3], cut to fit. */
void sotto_place_format(const sotto_place *place, char *out, size_t cap);

/* The deepest nesting of objects and lists in any bytes, JSON or not; at is where `most` is first passed. */
size_t sotto_json_depth(sotto_bytes json, size_t most, size_t *at);

#endif
