/* serve/witness/held.h - records that a board must have: a device that found something hands it to witnesses, too, and they cosign no
 * further head of this board before it is there.
 *
 * Callers:  witness_service.c.
 * Threads:  routes on compute threads; what is demanded is read in the transaction that cosigns.
 * Secrets:  none: a record is for everybody.
 *
 *     POST rounds/{round}/posting    the round's posting, once: whoever has it may bring it, since the round's id is its hash
 *     POST rounds/{round}/messages   a record, as the aggregator takes it: 204; 404: bring the posting first, or no head of
 *                                    this board was cosigned here
 *     POST rounds/{round}/records    hashes of leaves that were demanded: as many of the records as an answer holds, each with its length
 *                                    (4 bytes) before it. A server asks that has not got them.
 *
 * A record must be of the kind that its method names (sotto_method.complaint), of this round, and signed by who is registered there. One
 * participant has as much room as on a board.
 *
 * Anybody may ask, so what is cheap comes first: whether the board is one that was cosigned here, then the terms and one key, then a
 * signature. A posting is decoded once for each board (held_round.h).
 */
#ifndef SOTTO_SERVE_WITNESS_HELD_H
#define SOTTO_SERVE_WITNESS_HELD_H

#include "aggregate/posting.h"
#include "db/store.h"
#include "serve/host/host.h"
#include "tlog/demand.h"

#include <stdatomic.h>

#define SOTTO_HELD_SCHEMA                                                                          \
    "CREATE TABLE held_round (round {bytes} PRIMARY KEY, ends {int} NOT NULL, posting {bytes} NOT" \
    " NULL);"                                                                                      \
    "CREATE TABLE held (round {bytes} NOT NULL, leaf {bytes} NOT NULL, sender {int} NOT NULL,"     \
    " size {int} NOT NULL, posted {int} NOT NULL, record {bytes} NOT NULL, PRIMARY KEY (round,"    \
    " leaf));"                                                                                     \
    "CREATE INDEX held_by_sender ON held (round, sender);"                                         \
    "CREATE INDEX held_by_posted ON held (round, posted);"

/* Everything that cosigns, or that holds a record, waits for its turn with this guard. */
enum { SOTTO_WITNESS_GUARD = 11 };

enum {
    SOTTO_HELD_RECORDS = 1100,               /* of one participant in a round */
    SOTTO_HELD_BODY = (16 << 20) + (1 << 18) /* of a request, and of an answer */
};
#define SOTTO_HELD_BYTES ((uint64_t)32 << 20) /* of one participant in a round */
/* Of all records of a board that are not on it: what is beyond is held by its hash alone, and the server must have it from elsewhere. */
#define SOTTO_HELD_ROOM ((uint64_t)1 << 30)

typedef struct sotto_held {
    sotto_host *host;
    atomic_uint_fast64_t taken,
        withheld; /* records; heads that were not cosigned for want of one */
} sotto_held;

/* In the transaction that would cosign a head of this size and root: what is shown to be on the board is held no longer. *count: of what
 * is still demanded, up to SOTTO_DEMANDS leaves of which are written to `out`. */
SOTTO_MUST_USE sotto_status sotto_held_demand(sotto_tx *tx, const uint8_t round[SOTTO_ROUND_ID],
                                              const sotto_showing *shown, uint64_t size,
                                              const sotto_merkle_hash *root, sotto_buf *out,
                                              sotto_err *err);

/* Handlers, on a compute thread; state: a sotto_held. The second segment of the path is the round. */
void sotto_held_put_posting(void *state, sotto_http_request *request, sotto_arena *arena);
void sotto_held_put_record(void *state, sotto_http_request *request, sotto_arena *arena);
void sotto_held_get_records(void *state, sotto_http_request *request, sotto_arena *arena);

#endif
