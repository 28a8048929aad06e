/* recipe/table.h - what a table of rows must have for a recipe: the stream and the fields that its query reads, and what describes a device.
 *
 * Callers:  simulations and the demo, whose events come from a file of rows.
 * Memory:   texts are in the arena, or the recipe's.
 */
#ifndef SOTTO_RECIPE_TABLE_H
#define SOTTO_RECIPE_TABLE_H

#include "recipe/model.h"
#include "sotto/lint.h"

enum { SOTTO_TABLE_DESCRIBED = 2 * SOTTO_MAX_COHORT_FIELDS };

typedef struct sotto_recipe_table {
    sotto_stream stream;
    sotto_field fields[SOTTO_STORE_MAX_FIELDS]; /* the stream's; SOTTO_TYPE_NULL: rows must tell */
    bool numbers
        [SOTTO_STORE_MAX_FIELDS]; /* those that the query adds up, or that an encoder of numbers takes */
    bool unread; /* the one field is there because a stream has one: the query reads none */
    /* Fields of the device itself: those of cohorts, then those of targeting. */
    const char *described[SOTTO_TABLE_DESCRIBED];
    size_t described_count;
} sotto_recipe_table;

/* From what lint found that the query reads. A field has the type that `streams` states, or that its encoder asks for. One that
 * the query compares with a text is a text.
 *   out              must stay where it is: the stream points into it
 *   streams          may be NULL
 *   SOTTO_DENIED     the query reads several streams, or none; or what it reads can't be told without streams */
SOTTO_MUST_USE sotto_status sotto_recipe_table_of(sotto_recipe_table *out,
                                                  const sotto_recipe *recipe,
                                                  const sotto_recipe_verdict *verdict,
                                                  const sotto_streams *streams, sotto_arena *arena,
                                                  sotto_err *err);

#endif
