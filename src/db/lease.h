/* db/lease.h - work that any replica may do, and at most one at a time has done.
 *
 * Callers:  serve/host/steps.c, which drives every queue of a service; serve/leader: aggregation jobs and collections.
 * Threads:  as the transactions they run in.
 *
 * A queue is a number, an item any bytes that name the work. Who claims an item holds it for some time, by the
 * database's clock, and gets a fencing number higher than any before. A worker that comes back too late (stopped,
 * swapped out, cut off) finds that its number or its time has passed. sotto_lease_check, in the transaction that
 * stores the outcome, is then SOTTO_STALE and nothing of that transaction remains. So work may be started twice but
 * is stored once.
 *
 *     run: sotto_lease_claim                 -> item, fence
 *     compute, talk to the peer
 *     run: sotto_lease_check, store the outcome, sotto_lease_finish
 */
#ifndef SOTTO_DB_LEASE_H
#define SOTTO_DB_LEASE_H

#include "db/sql.h"

enum { SOTTO_LEASE_ITEM = 64 };

/* For a migration of whoever uses leases. */
#define SOTTO_LEASE_SCHEMA                                                                         \
    "CREATE TABLE sotto_lease (queue {int} NOT NULL, item {bytes} NOT NULL,"                       \
    " ready_at {int} NOT NULL, fence {int} NOT NULL DEFAULT 0,"                                    \
    " attempts {int} NOT NULL DEFAULT 0, held {int} NOT NULL DEFAULT 0, PRIMARY KEY (queue, "      \
    "item)) {strict};"                                                                             \
    "CREATE INDEX sotto_lease_ready ON sotto_lease (queue, ready_at);"

typedef struct sotto_lease {
    int64_t queue;
    uint8_t item[SOTTO_LEASE_ITEM];
    size_t item_len;
    int64_t fence;
    int64_t attempts; /* claims so far, this one included: what retries are counted by */
    int64_t until;    /* ms since 1970 by the database's clock */
} sotto_lease;

/* Queues an item that is not queued yet; it may be claimed after delay_ms. */
SOTTO_MUST_USE sotto_status sotto_lease_add(sotto_tx *tx, int64_t queue, sotto_bytes item,
                                            int64_t delay_ms, sotto_err *err);

/* Queues a new item that its maker holds from the start, for duration_ms; fills in `out`. SOTTO_STALE: it is queued
 * already. */
SOTTO_MUST_USE sotto_status sotto_lease_add_held(sotto_tx *tx, sotto_lease *out, int64_t queue,
                                                 sotto_bytes item, int64_t duration_ms,
                                                 sotto_err *err);

/* Claims up to `most` items, those that have been ready longest first, for duration_ms. Items that another
 * transaction is claiming at this moment are passed over, so nobody waits. None is SOTTO_OK with *count 0. Items
 * that would wait for longer than two minutes and twice duration_ms are claimed too: the clock was wrong when they were
 * stored, and whoever holds one is fenced off. */
SOTTO_MUST_USE sotto_status sotto_lease_claim(sotto_tx *tx, sotto_lease *out, size_t most,
                                              size_t *count, int64_t queue, int64_t duration_ms,
                                              sotto_err *err);

/* SOTTO_STALE if the item is finished, was claimed by another since, or its time is up. Otherwise nobody can
 * claim it before this transaction has ended. */
SOTTO_MUST_USE sotto_status sotto_lease_check(sotto_tx *tx, const sotto_lease *lease,
                                              sotto_err *err);

/* Each checks first. */
SOTTO_MUST_USE sotto_status sotto_lease_extend(sotto_tx *tx, sotto_lease *lease,
                                               int64_t duration_ms, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_lease_finish(sotto_tx *tx, const sotto_lease *lease,
                                               sotto_err *err);
/* Gives it back unfinished, to be claimed after delay_ms. */
SOTTO_MUST_USE sotto_status sotto_lease_release(sotto_tx *tx, const sotto_lease *lease,
                                                int64_t delay_ms, sotto_err *err);

/* Whether it was given back, or queued, for later than now. */
SOTTO_MUST_USE sotto_status sotto_lease_is_put_off(sotto_tx *tx, bool *put_off, int64_t queue,
                                                   sotto_bytes item, sotto_err *err);

/* Makes a queued item that nobody holds ready now; of one that is held or gone, nothing changes. */
SOTTO_MUST_USE sotto_status sotto_lease_hurry(sotto_tx *tx, int64_t queue, sotto_bytes item,
                                              sotto_err *err);

/* Takes an item from its queue for good; whoever holds it is fenced off. */
SOTTO_MUST_USE sotto_status sotto_lease_drop(sotto_tx *tx, int64_t queue, sotto_bytes item,
                                             sotto_err *err);

/* Ends every lease and every wait of the queue now; whoever holds one is fenced off. For a process that knows that it is
 * alone, about what others before it left behind. */
SOTTO_MUST_USE sotto_status sotto_lease_take_over(sotto_tx *tx, int64_t queue, sotto_err *err);

#endif
