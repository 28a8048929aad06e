/* device/ledger/log_seen.h - the last tree of each log that this device saw, and forks, in its record.
 *
 * Callers:  device_log.c, which verified what it hands over; device_view.c.
 * Memory:   what is found is copied into the caller's arena.
 *
 * A log has one entry SOTTO_RECORD_LOG, which a later tree replaces in one transaction, and an entry SOTTO_RECORD_FORK for each fork,
 * which stays. While the fork's is the later one, nothing is taken from that log. A reset carries both over.
 */
#ifndef SOTTO_DEVICE_LOG_SEEN_H
#define SOTTO_DEVICE_LOG_SEEN_H

#include "device/ledger/ledger.h"
#include "tlog/checkpoint.h"

typedef struct sotto_log_seen {
    sotto_checkpoint checkpoint; /* size 0: none was seen; its `cosigned` is kept, too */
    sotto_bytes note;            /* the signed checkpoint itself */
    int64_t at;                  /* when it was seen first       */
    int64_t due;                 /* when the log's feed is fetched next; 0: at once */
    bool forked;
    sotto_bytes fork; /* of the last fork, as sotto_fork_evidence has it; empty: none */
} sotto_log_seen;

SOTTO_MUST_USE sotto_status sotto_log_seen_get(sotto_ledger *ledger, sotto_log_seen *out,
                                               sotto_bytes origin, sotto_arena *arena,
                                               sotto_err *err);
/* Takes a checkpoint that was opened as the last one of its log, if it continues the one before; durable when it returns. The same tree
 * takes its own place where it was cosigned later. A fork is kept, durable as well. Statuses as sotto_growth_check, and SOTTO_DENIED: the log forked before. */
SOTTO_MUST_USE sotto_status sotto_log_seen_take(sotto_ledger *ledger, const sotto_checkpoint *now,
                                                sotto_bytes note, sotto_bytes steps, int64_t at,
                                                sotto_arena *arena, sotto_err *err);
/* When its feed is fetched next. */
SOTTO_MUST_USE sotto_status sotto_log_seen_fetched(sotto_ledger *ledger, sotto_bytes origin,
                                                   int64_t due, int64_t at, sotto_arena *arena,
                                                   sotto_err *err);
/* Begins anew with whatever tree comes next: the host looked into a fork, or the feed does not reach back far enough. */
SOTTO_MUST_USE sotto_status sotto_log_seen_resolve(sotto_ledger *ledger, sotto_bytes origin,
                                                   int64_t at, sotto_err *err);

/* The two signed checkpoints of a fork, and the steps that show it where their sizes differ. */
typedef struct sotto_fork_evidence {
    sotto_bytes seen, now, steps;
} sotto_fork_evidence;
bool sotto_fork_evidence_decode(sotto_fork_evidence *out, sotto_bytes wire);

#endif
