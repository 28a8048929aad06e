/* study/drill.h - the next question about one bin of an answer: the same recipe, where the bin is divided further.
 *
 * Callers:  `sotto analysis drill`.
 * Memory:   in the arena.
 *
 * Of a column in buckets, or in steps above 1, the bin's range has smaller ones. What lies outside is <oov>, or for steps counts
 * as an end of the range. Of a list, the bin's value stays alone; where all columns are lists, nothing is divided. Of a prefix tree, the bin's phrase becomes a leaf, with the same words behind it.
 */
#ifndef SOTTO_STUDY_DRILL_H
#define SOTTO_STUDY_DRILL_H

#include "recipe/model.h"

/* What the next recipe has of its own. */
typedef struct sotto_study_next {
    const char *name;
    int64_t opens, closes;
} sotto_study_next;

/* SOTTO_DENIED     no column of the bin can be divided
 * SOTTO_MALFORMED  the recipe has no such bin, or parts is not 2 to 1000 */
SOTTO_MUST_USE sotto_status sotto_study_drill(sotto_bytes *out, const sotto_recipe *recipe,
                                              uint64_t bin, unsigned parts,
                                              const sotto_study_next *next, sotto_arena *arena,
                                              sotto_err *err);

/* Another column of the same table, of the rows that are in the bin: for bins of listed values alone.
 * A description says what is asked now: the column, what it said before, and the condition.
 *   values           of the column, with commas between them; what is not among them is <oov>
 *   SOTTO_DENIED     a column of the bin has no listed value, or is this one. Or the query is more than columns by name, one table and
 *                    a condition: one more condition might change what its rows are
 *   SOTTO_MALFORMED  no such bin, or no name of a column */
SOTTO_MUST_USE sotto_status sotto_study_drill_by(sotto_bytes *out, const sotto_recipe *recipe,
                                                 uint64_t bin, const char *column,
                                                 const char *values, const sotto_study_next *next,
                                                 sotto_arena *arena, sotto_err *err);
/* Whether the recipe is one whose bins can be asked about so. */
bool sotto_study_asks_by(const sotto_recipe *recipe);

/* The bin that somebody means by a label: an exact one, or as answers print it.
 *   SOTTO_MISSING  no bin is called so
 *   SOTTO_DENIED   two are: their exact labels differ */
SOTTO_MUST_USE sotto_status sotto_study_bin_called(uint64_t *out, const sotto_recipe *recipe,
                                                   sotto_bytes label, sotto_err *err);

/* Whether any column of the recipe can be divided. */
bool sotto_study_divides(const sotto_recipe *recipe);
/* Appends `version = '4.8' AND code = 'E17'`: what a query asks for by hand where a bin is of listed values alone.
 *   SOTTO_DENIED  a column of the bin has no listed value */
SOTTO_MUST_USE sotto_status sotto_study_where(sotto_buf *out, const sotto_recipe *recipe,
                                              uint64_t bin, sotto_err *err);

/* The text of a recipe with another schedule. */
SOTTO_MUST_USE sotto_status sotto_study_reschedule(sotto_bytes *out, sotto_bytes recipe,
                                                   int64_t opens, int64_t closes,
                                                   sotto_arena *arena, sotto_err *err);

#endif
