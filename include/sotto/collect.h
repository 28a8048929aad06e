/* sotto/collect.h - ask two servers for the sum of a batch, and put their shares together.
 *
 * Callers:  `sotto collect`, the demo, an analyst's own program.
 * Memory:   a collector is ours; what a collection hands out lives in the caller's arena.
 * Threads:  a collector belongs to one thread at a time and has one of its own, which speaks HTTP.
 * Secrets:  the key and the tokens: wipe the key; tokens are borrowed, never logged, never in a reason. Sums are
 *           the answer that the recipe promised to everybody, but were noise to either server.
 *
 * Nothing that a server says is believed where it can be checked. The interval must lie in the one that was asked
 * for, and the batch must have its minimum of reports. Each share must open under this very request and task. The sums
 * must be ones that so many valid reports can have, but for the noise that the recipe has both servers add.
 */
#ifndef SOTTO_COLLECT_H
#define SOTTO_COLLECT_H

#include "sotto/base.h"
#include "sotto/recipe.h"
#include "sotto/rejections.h"
#include "sotto/seal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the collector's key ------------------------------------------------------------------------------- */

/* Both servers seal their shares to it. Secret: wipe it. */
typedef struct sotto_collector_key {
    uint8_t id; /* of its HPKE configuration */
    sotto_hpke_suite suite;
    sotto_hpke_key key;
} sotto_collector_key;

/* Bytes that its file has at most. */
enum { SOTTO_COLLECTOR_KEY_MAX = 2048 };

/* A fresh one: X25519, SHA-256, AES-128-GCM. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_collector_key_new(sotto_collector_key *out, uint8_t id,
                                                              sotto_err *err);
/* What the parties file lists: the public half. Borrows from the key. */
SOTTO_API sotto_hpke_config sotto_collector_key_config(const sotto_collector_key *key);
/* The file: JSON, version 1. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_collector_key_encode(sotto_buf *out,
                                                                 const sotto_collector_key *key,
                                                                 sotto_err *err);
/* SOTTO_REJECTED: its halves don't belong together. A failure leaves out wiped. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_collector_key_decode(sotto_collector_key *out,
                                                                 sotto_bytes json, sotto_err *err);

/* ---- collecting ---------------------------------------------------------------------------------------- */

typedef struct sotto_collector sotto_collector;

/* Everything is borrowed until the collector is closed. */
typedef struct sotto_collector_options {
    const sotto_task *task;
    const sotto_collector_key *key;
    const char *collector_token; /* for the leader                                              */
    const char *rejection_token; /* for the helper's counts; NULL: they aren't asked for        */
    const char *ca_file;         /* PEM; NULL: the system's                                     */
    bool plain_anywhere;         /* else http:// is for loopback only                           */
    bool janus;           /* the leader is of the Janus profile: see docs/protocols/dap.md     */
    unsigned deadline_ms; /* for one answer; 0: 60,000                                   */
    void (*waiting)(void *context, unsigned waited_ms); /* may be NULL: called before each wait */
    void *context;
    bool once; /* ask, and do not wait; not with janus, whose leader never answers at once        */
} sotto_collector_options;

/* SOTTO_MALFORMED: a token or a URL can't be one. SOTTO_MISSING: the CA file can't be read. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_collector_open(sotto_collector **out,
                                                           const sotto_collector_options *options,
                                                           sotto_err *err);
/* NULL is fine. */
SOTTO_API void sotto_collector_close(sotto_collector *collector);

/* Which batch. For a task of time intervals: from and until, in seconds since 1970, multiples of its precision; for
 * one whose leader selects: both 0, the next batch. */
typedef struct sotto_collection_query {
    uint64_t from, until;
} sotto_collection_query;

enum { SOTTO_COLLECTION_URL = 512 };

typedef struct sotto_collection {
    uint64_t reports;
    uint64_t from, until; /* seconds: the smallest buckets that hold all its reports */
    sotto_uint128
        *sums; /* in the arena: task->sizes.outputs of them; where the servers add noise, in
                             two's complement                                        */
    size_t sum_count;
    sotto_rejections leader, helper;
    char job[SOTTO_COLLECTION_URL]; /* where the leader keeps it */
} sotto_collection;

/* Asks, waits until the deadline with a last question at its end, opens, checks and adds up. Asking again gives the same batch.
 *   SOTTO_AGAIN      not ready by then (with `once`, yet): too few reports so far, or not all verified. The leader goes on;
 *                    ask again
 *   SOTTO_DENIED     fewer reports than the task's minimum
 *   SOTTO_REJECTED   a share does not open, or the sums can't be those of valid reports
 *   SOTTO_STALE      some of these buckets were collected in another way; or a share is sealed to another key
 *   SOTTO_MISSING    the leader does not know the task or the token
 *   SOTTO_MALFORMED  the query can't be one of this task; an answer does not parse; or a URL is plain http:// off
 *                    loopback
 *   SOTTO_IO         a server can't be reached, or fails
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_collector_ask(sotto_collector *collector,
                                                          sotto_collection *out,
                                                          const sotto_collection_query *query,
                                                          sotto_arena *arena, sotto_err *err);

/* Tells the leader that this answer is no longer needed; the next batch has the same request, so a task whose leader
 * selects needs this before it gives another one. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_collector_forget(sotto_collector *collector,
                                                             const sotto_collection *collection,
                                                             sotto_err *err);

/* Withdraws a request that the leader has not begun to answer: its interval stays open. For a task of time intervals.
 *   SOTTO_MISSING  the leader has no such request; or it is not a sotto leader, and only the process that asked knows the
 *                  request's id
 *   SOTTO_STALE    too late: the batch is closed, and its answer can be asked for
 *   SOTTO_DENIED   not a task of time intervals: a request for the next batch has nothing to withdraw
 *   else           as sotto_collector_ask, and the request may still be open */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_collector_withdraw(sotto_collector *collector,
                                                               const sotto_collection_query *query,
                                                               sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
