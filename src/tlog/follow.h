/* tlog/follow.h - reads a log that somebody else serves, and verifies everything against its signed tree.
 *
 * Callers:  `sotto log`, `sotto recipe publish`.
 * Memory:   the caller's, and a cache of tiles while a call lasts.
 */
#ifndef SOTTO_TLOG_FOLLOW_H
#define SOTTO_TLOG_FOLLOW_H

#include "tlog/inclusion.h"
#include "tlog/prover.h"

/* Appends the bytes of a path such as "checkpoint" or "tile/0/000". SOTTO_MISSING: there is no such file. */
typedef sotto_status sotto_log_fetch(void *context, const char *path, sotto_buf *out,
                                     sotto_err *err);

typedef struct sotto_log_source {
    sotto_log_fetch *fetch;
    void *context;
} sotto_log_source;

enum { SOTTO_LOG_BUNDLE_MAX = 4 << 20 }; /* bytes of an entry bundle */

/* Fetches the checkpoint into `note`, and opens it as sotto_checkpoint_open does. */
SOTTO_MUST_USE sotto_status sotto_log_latest(const sotto_log_source *source, sotto_buf *note,
                                             sotto_checkpoint *out, const sotto_log_trust *trust,
                                             sotto_err *err);
/* Fills in the hashes of a proof in the tree of that size. */
SOTTO_MUST_USE sotto_status sotto_log_prove(const sotto_log_source *source,
                                            sotto_inclusion *inclusion, uint64_t size,
                                            sotto_err *err);

/* Appends what shows its growth over these sizes: sotto_prover_growth. */
SOTTO_MUST_USE sotto_status sotto_log_growth(const sotto_log_source *source, sotto_buf *steps,
                                             const uint64_t *sizes, size_t count, sotto_err *err);

typedef void sotto_log_tell(void *context, uint64_t index, sotto_bytes entry);

/* Calls back for every entry after the first tree, and checks that they make up the second. Use the entries only after this
 * returned SOTTO_OK. `room` has SOTTO_LOG_BUNDLE_MAX bytes.
 *   SOTTO_STALE     the second is smaller: the log was rolled back
 *   SOTTO_REJECTED   a fork, if the second tree does not continue the first; or entries that are not those of the tree
 *   SOTTO_MALFORMED  a tile or a bundle is cut off
 */
SOTTO_MUST_USE sotto_status sotto_log_follow(const sotto_log_source *source,
                                             const sotto_checkpoint *from,
                                             const sotto_checkpoint *to, uint8_t *room,
                                             sotto_log_tell *tell, void *context, sotto_err *err);

#endif
