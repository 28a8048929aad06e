/* serve/aggregator/carried_store.h - what a session's last round left for the next one: the public key of encrypted sums.
 *
 * Callers:  round_store.c, in the transaction of a step; running.c.
 * Memory:   what is loaded is in the arena given.
 * Secrets:  none: everybody reads it on the next round's board.
 */
#ifndef SOTTO_SERVE_AGGREGATOR_CARRIED_STORE_H
#define SOTTO_SERVE_AGGREGATOR_CARRIED_STORE_H

#include "db/store.h"

#define SOTTO_CARRIED_STORE_SCHEMA                                                                 \
    "CREATE TABLE carried (session {bytes} PRIMARY KEY, what {bytes} NOT NULL);"

/* In place of what there was; nothing: that goes. */
SOTTO_MUST_USE sotto_status sotto_carried_store(sotto_tx *tx, const uint8_t session[32],
                                                sotto_bytes what, sotto_err *err);
/* Empty: nothing. */
SOTTO_MUST_USE sotto_status sotto_carried_load(sotto_db *db, const uint8_t session[32],
                                               sotto_bytes *out, sotto_arena *arena,
                                               sotto_err *err);

#endif
