/* tlog/inclusion.h - a self-contained proof (C2SP tlog-proof): where an entry is, the hashes, and a signed checkpoint.
 *
 * Callers:  tlog/bundle.h; `sotto log proof` and `sotto log verify`.
 * Memory:   nothing is allocated; the checkpoint is borrowed.
 */
#ifndef SOTTO_TLOG_INCLUSION_H
#define SOTTO_TLOG_INCLUSION_H

#include "tlog/checkpoint.h"

typedef struct sotto_inclusion {
    uint64_t index;
    sotto_merkle_proof proof;
    sotto_bytes checkpoint; /* a signed note, borrowed */
} sotto_inclusion;

/* An extra line is ignored: nothing authenticates it. SOTTO_MALFORMED: not such a proof. */
SOTTO_MUST_USE sotto_status sotto_inclusion_decode(sotto_inclusion *out, sotto_bytes text,
                                                   sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_inclusion_encode(sotto_buf *out, const sotto_inclusion *inclusion,
                                                   sotto_err *err);
/* Whether the entry is in the log that is trusted. checkpoint: what it is in.
 *   SOTTO_REJECTED  the proof does not hold
 *   others          as sotto_checkpoint_open
 */
SOTTO_MUST_USE sotto_status sotto_inclusion_check(const sotto_inclusion *inclusion,
                                                  sotto_checkpoint *checkpoint, sotto_bytes entry,
                                                  const sotto_log_trust *trust, sotto_err *err);

#endif
