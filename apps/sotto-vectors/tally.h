/* sotto-vectors/tally.h - counts what was compared and says so, as text or one JSON object a line.
 *
 * A count is one item of one file: it passed, it failed for a reason, or it was skipped for a reason.
 */
#ifndef SOTTO_VECTORS_TALLY_H
#define SOTTO_VECTORS_TALLY_H

#include <stdio.h>

#include "sotto/base.h"

typedef struct sotto_tally {
    FILE *out;
    bool json;    /* one object for each count                    */
    bool verbose; /* as text: say what passed, not only what didn't */
    size_t passed;
    size_t failed;
    size_t skipped;
} sotto_tally;

/* item may be "" where the whole file is one count. */
void sotto_tally_pass(sotto_tally *tally, const char *file, const char *item);
void sotto_tally_fail(sotto_tally *tally, const char *file, const char *item, const char *reason);
void sotto_tally_skip(sotto_tally *tally, const char *file, const char *item, const char *reason);

/* "N passed, M failed, K skipped" on a line of its own. */
void sotto_tally_finish(const sotto_tally *tally);

#endif
