/* account/numeric/scratch.h - working memory that is kept between computations.
 *
 * Tables of megabytes that live for a millisecond cost more in pages than in arithmetic.
 *
 * Callers:  privacy/sgm*.c, account/gauss/pld.c.
 * Memory:   a scratch that is all zeros is empty; sotto_scratch_clear gives it back.
 */
#ifndef SOTTO_ACCOUNT_NUMERIC_SCRATCH_H
#define SOTTO_ACCOUNT_NUMERIC_SCRATCH_H

#include "sotto/base.h"

typedef struct sotto_scratch {
    double *memory;
    size_t count;
} sotto_scratch;

/* Room for `count` doubles with anything in them, until the next call; NULL without memory. */
SOTTO_MUST_USE double *sotto_scratch_take(sotto_scratch *scratch, size_t count);
void sotto_scratch_clear(sotto_scratch *scratch);

#endif
