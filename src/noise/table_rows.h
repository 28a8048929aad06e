/* noise/table_rows.h - from unnormalised probabilities to a part's rows. Set-up only. */
#ifndef SOTTO_NOISE_TABLE_ROWS_H
#define SOTTO_NOISE_TABLE_ROWS_H

#include "noise/fixed_point.h"
#include "noise/noise.h"

/* Weights of consecutive values, in ascending order; the largest is about 1. */
typedef struct sotto_weights {
    sotto_fixed *at;
    size_t count;
    sotto_arena arena; /* holds nothing else */
} sotto_weights;

SOTTO_MUST_USE sotto_status sotto_weights_init(sotto_weights *w, sotto_err *err);
void sotto_weights_clear(sotto_weights *w);
/* SOTTO_DENIED once the part would have too many rows. */
SOTTO_MUST_USE sotto_status sotto_weights_push(sotto_weights *w, const sotto_fixed *weight,
                                               sotto_err *err);

/* Is what lies beyond this weight negligible? True below 2^-118 of the mode. The laws cut here are
 * log-concave: d steps from a mode of weight 1 the ratio of neighbours is at most 2^(-118/d). So all that
 * follows weighs less than 2^-118 max(2, d/40), and two such tails stay below 2^-108 for d <= 2^14. */
bool sotto_weights_end(const sotto_fixed *weight);

/* Adds a part: values first, first + 1, ... times factor; or, mirrored, 0 and then pairs +-1, +-2, ..., whose
 * weights are those of one of the two. Uses the weights up. */
SOTTO_MUST_USE sotto_status sotto_noise_add(sotto_noise *noise, sotto_weights *w, int64_t factor,
                                            int64_t first, bool mirrored, sotto_arena *arena,
                                            sotto_err *err);

#endif
