/* recipe/refine.h - the next question of a search for a quantile: the same one, with smaller steps where the quantile is.
 *
 * Callers:  `sotto recipe refine` and `sotto recipe price`. Devices link none of it.
 * Memory:   what is found lives in the arena.
 *
 * Numbers outside the new range count as its ends, as the encoder clips them. So ranks stay what they are, and the next answer's
 * interval holds the quantile as often as it says, whatever the answer before it was. Where it includes an end of the range,
 * the quantile is there or beyond.
 */
#ifndef SOTTO_RECIPE_REFINE_H
#define SOTTO_RECIPE_REFINE_H

#include "recipe/model.h"

enum { SOTTO_REFINE_NAME = 64 };

typedef struct sotto_refine_question {
    double low, high; /* the interval of a quantile, as the answer has it             */
    uint64_t bins;    /* at most; 0: as many as the recipe has                        */
    const char *name; /* of the next recipe; NULL: this one's with a number behind it */
} sotto_refine_question;

typedef struct sotto_refined {
    sotto_bytes text; /* of the next recipe; its schedule begins where this one ends */
    char name[SOTTO_REFINE_NAME + 1];
    double min, max, step;
    uint64_t bins;
    bool from_first,
        to_last; /* the interval has an end of the range, where numbers may lie beyond */
} sotto_refined;

/* Another recipe takes another name, since devices answer one recipe of a name: the name that was given, or NAME.2 of NAME, and NAME.3 of NAME.2.
 *   SOTTO_MALFORMED  no recipe can have this name, or the frame has it */
SOTTO_MUST_USE sotto_status sotto_recipe_next_name(char out[SOTTO_REFINE_NAME + 1],
                                                   const sotto_recipe *frame, const char *given,
                                                   sotto_err *err);

/* SOTTO_DENIED     not a recipe of quantiles; or so many bins have no smaller steps there
 * SOTTO_MALFORMED  an interval outside the range, or a name that no recipe can have */
SOTTO_MUST_USE sotto_status sotto_recipe_refine(sotto_refined *out, const sotto_recipe *frame,
                                                const sotto_refine_question *question,
                                                sotto_arena *arena, sotto_err *err);

#endif
