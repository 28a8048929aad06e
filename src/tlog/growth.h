/* tlog/growth.h - one proof that a tree only grew, for everybody who saw an earlier tree of it.
 *
 *     steps: level uint8, hash[32]; the whole subtrees of the new tree from the left, each with 2^level leaves
 *
 * The steps are appended one after the other. A device that saw a tree which ends where a step ends finds that tree's root there, and
 * the newest signed root at the end. So no device has to say which tree it saw. A consistency proof of RFC 6962 is for one earlier
 * size alone.
 *
 * Callers:  devices check; tlog/prover.h makes them.
 * Memory:   nothing is allocated.
 * Secrets:  none.
 */
#ifndef SOTTO_TLOG_GROWTH_H
#define SOTTO_TLOG_GROWTH_H

#include "tlog/checkpoint.h"

enum { SOTTO_GROWTH_STEP = 1 + SOTTO_MERKLE_HASH };

/* Whether a checkpoint continues the last one that was seen. Both were opened before; size 0 means that none was seen.
 *   fork             the log signed both, and the second does not continue the first: the two notes and the steps prove it to
 *                    everybody
 *   SOTTO_REJECTED   a fork; or the steps do not lead to the new tree
 *   SOTTO_STALE      it is smaller: the log, or its server, was rolled back
 *   SOTTO_MISSING    no step ends at the tree that was seen
 *   SOTTO_MALFORMED  the steps are not subtrees of such a tree
 */
SOTTO_MUST_USE sotto_status sotto_growth_check(const sotto_checkpoint *now,
                                               const sotto_checkpoint *seen, sotto_bytes steps,
                                               bool *fork, sotto_err *err);

#endif
