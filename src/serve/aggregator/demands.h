/* serve/aggregator/demands.h - records that witnesses want to see on a board before they cosign its next head (serve/witness/held.h).
 *
 * Callers:  heads.c.
 * Memory:   lists belong to the board's head; what is fetched is released when it is on the board.
 * Threads:  one piece of work at a time; answers come on threads of the client, and are put on compute threads.
 *
 * What is on the board is shown to be there. What is not is fetched from the witness, and put there like any other record.
 */
#ifndef SOTTO_SERVE_AGGREGATOR_DEMANDS_H
#define SOTTO_SERVE_AGGREGATOR_DEMANDS_H

#include "tlog/demand.h"

struct sotto_aggregator;
struct sotto_listed_round;

typedef struct sotto_demands {
    size_t count;
    sotto_merkle_hash leaves[SOTTO_DEMANDS];
} sotto_demands;

/* Where it is among a board's leaves; `count`: nowhere. */
size_t sotto_demands_place(const sotto_merkle_hash *leaves, size_t count,
                           const sotto_merkle_hash *leaf);
/* From an answer. False: not a list. */
bool sotto_demands_take(sotto_demands *demands, sotto_bytes answer);
/* Writes a showing of those that are among a board's leaves. */
SOTTO_MUST_USE sotto_status sotto_demands_show(const sotto_demands *demands, sotto_buf *out,
                                               const sotto_merkle_hash *leaves, size_t count,
                                               sotto_err *err);

/* Fetches from this witness what is not among the leaves, and puts it on the board. `done` is called once, on any thread; *put: something
 * was. SOTTO_MISSING: nothing is to be fetched, and `done` is not called. */
typedef void sotto_demands_done(void *context, bool put);
SOTTO_MUST_USE sotto_status sotto_demands_fetch(const sotto_demands *demands,
                                                struct sotto_aggregator *a,
                                                struct sotto_listed_round *one, const char *witness,
                                                const sotto_merkle_hash *leaves, size_t count,
                                                sotto_demands_done *done, void *context,
                                                sotto_err *err);

#endif
