/* serve/leader/collection_waits.h - collectors whose answer is a moment away are answered then, instead of being asked
 * to retry.
 *
 * Callers:  collections.c puts requests here; collection_step.c says what became of their collection.
 * Memory:   a wait is its caller's, and stays where it is until `answer` is called.
 * Threads:  any may call. One of its own looks, so that no compute thread waits.
 *
 * A request is held while work on its collection is under way, for at most half a second. No more than
 * SOTTO_COLLECTION_WAITS are held at once; one more is answered at once with the time to retry. So is a request that
 * waits for something without a known end: reports that are still to come, or an operator.
 */
#ifndef SOTTO_SERVE_LEADER_COLLECTION_WAITS_H
#define SOTTO_SERVE_LEADER_COLLECTION_WAITS_H

#include "db/store.h"

/* Shorter than the second that the least patient collectors give a call. */
enum { SOTTO_COLLECTION_WAITS = 64, SOTTO_COLLECTION_WAIT_MS = 500 };

typedef struct sotto_collection_wait sotto_collection_wait;
struct sotto_collection_wait {
    int64_t n; /* the collection's row */
    /* Whether to answer now. Called on the thread that looks, soon after `put` and then whenever a collection has
     * ended. */
    bool (*look)(sotto_collection_wait *wait);
    /* The answer, instead of a look. Called at most once, while no look is under way: it copies what it is given. False: no
     * memory for that, and a look follows. NULL: there are only looks. */
    bool (*take)(sotto_collection_wait *wait, sotto_bytes answer);
    bool unseen; /* set by a look that failed: all that wait are answered by their last known
                  * state */
    /* Called once, when the wait has been removed from the list. There may have been no look: an earlier
     * one failed, or the server stops. */
    void (*answer)(sotto_collection_wait *wait);
    sotto_collection_wait *next; /* the rest is ours */
    uint64_t until_ms;
    bool over;
    bool expects, looking, given;
};

typedef struct sotto_collection_waits sotto_collection_waits;

SOTTO_MUST_USE sotto_status sotto_collection_waits_open(sotto_collection_waits **waits,
                                                        sotto_db *db, sotto_err *err);
/* For tests: how long requests that come from now on are held at most. */
void sotto_collection_waits_allow(sotto_collection_waits *waits, unsigned milliseconds);
/* How many are held. */
unsigned sotto_collection_waits_count(sotto_collection_waits *waits);
/* Answers all that wait and takes no more. NULL is fine; so is a second time. */
void sotto_collection_waits_stop(sotto_collection_waits *waits);
/* NULL is fine. */
void sotto_collection_waits_close(sotto_collection_waits *waits);

/* False: too many wait, or the server is stopping. The caller answers now. */
bool sotto_collection_waits_put(sotto_collection_waits *waits, sotto_collection_wait *wait);
/* No work is under way any more for the collection in this row: requests that wait for it are answered by its
 * state. */
void sotto_collection_waits_release(sotto_collection_waits *waits, int64_t n);
/* The answer to this collection is about to be committed. Whoever waits is not looked at until it is given, or until its time is
 * up. Reading a long answer back takes longer than all else of a look. */
void sotto_collection_waits_expect(sotto_collection_waits *waits, int64_t n);
/* The answer, once it is committed; with no bytes, it was not committed here, and the next look finds out. */
void sotto_collection_waits_give(sotto_collection_waits *waits, int64_t n, sotto_bytes answer);
/* In the transaction that ends a collection. Once it is committed, every replica looks at the requests that
 * wait. */
SOTTO_MUST_USE sotto_status sotto_collection_waits_tell(sotto_tx *tx, sotto_err *err);

#endif
