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

/* SOTTO_DENIED     no column of the bin can be divided
 * SOTTO_MALFORMED  the recipe has no such bin, or parts is not 2 to 1000 */
SOTTO_MUST_USE sotto_status sotto_study_drill(sotto_bytes *out, const sotto_recipe *recipe,
                                              uint64_t bin, unsigned parts, const char *name,
                                              int64_t opens, int64_t closes, sotto_arena *arena,
                                              sotto_err *err);

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
