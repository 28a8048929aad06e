/* learn/blt_choose.h - searches for the matrix of noise/blt.h that leaves the least noise for a pattern of participations.
 *
 * Callers:  sotto-sim; `sotto learn buffers`, for whoever writes a recipe.
 * Memory:   plain values.
 * Secrets:  none.
 *
 * The search is in floating point, and happens once. What it finds are whole numbers, which everybody else reads and prices.
 */
#ifndef SOTTO_LEARN_BLT_CHOOSE_H
#define SOTTO_LEARN_BLT_CHOOSE_H

#include "noise/blt.h"

/* The best that a search finds: least error for a claim. No claim depends on how good it is. */
SOTTO_MUST_USE sotto_status sotto_blt_choose(sotto_blt *out, const sotto_blt_pattern *pattern,
                                             sotto_err *err);

#endif
