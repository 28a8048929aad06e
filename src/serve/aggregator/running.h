/* serve/aggregator/running.h - one round that runs here: its machine, its sum, its board, and the messages that wait for it.
 *
 * Callers:  aggregator_service.c: routes put messages, the clock ticks.
 * Memory:   arenas of its own. A machine that fell behind the database is forgotten, and restored from there.
 * Threads:  any. Its lock is held while a step runs and is stored. Whoever puts a message meanwhile leaves it to that thread, so
 *           that many uploads are stored together (put_queue.h).
 *
 * What can't be stored is tried again a second later, as what came in time, and twice at most. Then its sender is told to.
 *
 * A message is acknowledged after its step was stored: kept message, saved state, vows, outgoing messages and the masked sum
 * with this contribution in it, in one transaction. Records for the board are entries of it then. An answer to a question is
 * not stored: whoever asks again gets the same bytes.
 */
#ifndef SOTTO_SERVE_AGGREGATOR_RUNNING_H
#define SOTTO_SERVE_AGGREGATOR_RUNNING_H

#include "serve/aggregator/put_queue.h"
#include "serve/aggregator/round_store.h"
#include "sotto/log.h"

typedef struct sotto_running sotto_running;

typedef struct sotto_running_context {
    sotto_db *db;
    const sotto_column_keys *keys;
    const sotto_signer *signer;
    const sotto_clock *clock;
    const sotto_log_sink *log;
} sotto_running_context;

/* wire: the posting, copied. SOTTO_DENIED: the registry names another server. Others as sotto_posted_round_open. */
SOTTO_MUST_USE sotto_status sotto_running_new(sotto_running **out, const sotto_running_context *c,
                                              sotto_bytes wire, sotto_err *err);
void sotto_running_free(sotto_running *r);

const sotto_posted_round *sotto_running_posted(const sotto_running *r);
/* Bytes of the longest message with its vector. */
size_t sotto_running_most_body(const sotto_running *r);

/* Memory of a vector as it arrives. */
size_t sotto_running_vector(const sotto_running *r);
/* Whether a body of this length is likely a message with a long vector, which then comes in pieces. */
bool sotto_running_is_long(const sotto_running *r, uint64_t body);
/* Messages whose vectors come in pieces, before the first of them. It needs no state of the round, and waits for nothing. */
enum { SOTTO_JUDGED_TOGETHER = 64 };
typedef struct sotto_judged {
    sotto_bytes message;      /* its wire form */
    uint32_t from;            /* out: its sender */
    bool alone;               /* out: it has no vector; then nothing else was judged */
    sotto_status status;      /* out: OK; MALFORMED, REJECTED, STALE as sotto_machine_ops.check */
    const uint8_t *holds_for; /* out: as sotto_message has both */
    uint8_t digest[32];
} sotto_judged;
/* count: at most SOTTO_JUDGED_TOGETHER. Signatures are looked at together. */
void sotto_running_judge(const sotto_running *r, sotto_judged *all, size_t count);
/* Begins a vector of such a message in memory of that size. Its pieces and its end are the method's (sotto_bulk_ops). */
SOTTO_MUST_USE sotto_status sotto_running_begin(const sotto_running *r, void *vector,
                                                sotto_bytes message, sotto_err *err);

/* For running.c: looks at the signatures of all that are taken together, before anything else of them. Refusals are left to
 * sotto_machine_ops.check. */
SOTTO_MUST_USE sotto_status sotto_running_vouch(const sotto_running *r, sotto_put *puts,
                                                sotto_arena *scratch, sotto_err *err);

/* Runs on the calling thread, which may wait for the database. It calls `done` now, or another thread does: one that works for this
 * round already, or, where the message may wait for others, the one that ticks it. */
void sotto_running_put(sotto_running *r, sotto_put *put);
/* What is due by the clock. */
void sotto_running_tick(sotto_running *r);
/* When it wants to be ticked: milliseconds since 1970; UINT64_MAX: never again. */
uint64_t sotto_running_wake(sotto_running *r);
/* It is in the database with its result. */
bool sotto_running_is_over(const sotto_running *r);
/* Messages that wait for it. */
sotto_put_queue *sotto_running_puts(sotto_running *r);

#endif
