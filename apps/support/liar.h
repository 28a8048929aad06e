/* apps/support/liar.h - an operator of encrypted sums who lies, and has the aggregator's database to do it with: for the demo and tests.
 */
#ifndef SOTTO_APPS_SUPPORT_LIAR_H
#define SOTTO_APPS_SUPPORT_LIAR_H

#include "aggregate/round.h"
#include "db/store.h"

typedef struct sotto_lie {
    uint32_t victim,
        copied; /* devices: the second one's answer stands in the place of the first one's */
} sotto_lie;

/* The aggregator reads its database when it starts: it has to be switched off and on for this.
 *   SOTTO_MISSING  there are no two answers in this round yet */
SOTTO_MUST_USE sotto_status sotto_lie_in_database(sotto_db *db, const uint8_t round[SOTTO_ROUND_ID],
                                                  sotto_lie *out, sotto_arena *arena,
                                                  sotto_err *err);

#endif
