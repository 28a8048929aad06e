/* recipe/splice.h - a text of which some bytes are replaced, and all others stay.
 *
 * Callers:  price_text.c and refine.c, which change a recipe and keep what its author wrote.
 * Memory:   the new text lives in the arena.
 */
#ifndef SOTTO_RECIPE_SPLICE_H
#define SOTTO_RECIPE_SPLICE_H

#include "recipe/place.h"

typedef struct sotto_splice {
    size_t from, to;   /* bytes that go        */
    sotto_bytes comes; /* in their place       */
} sotto_splice;

/* The splice that takes a member out: with the comma behind it, or, of the last member, the one before it. */
sotto_splice sotto_splice_without(sotto_bytes text, const sotto_span *member);

/* Splices may stand in any order, which this changes; no two may overlap. */
SOTTO_MUST_USE sotto_status sotto_splice_text(sotto_bytes *out, sotto_bytes text,
                                              sotto_splice *splices, size_t count,
                                              sotto_arena *arena, sotto_err *err);

#endif
