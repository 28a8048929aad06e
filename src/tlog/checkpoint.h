/* tlog/checkpoint.h - what a log says of its tree (C2SP tlog-checkpoint), and who has to confirm it (tlog-cosignature).
 *
 * Callers:  devices, monitors and witnesses read; logs write.
 * Memory:   nothing is allocated; what is decoded borrows the bytes that it was decoded from.
 * Secrets:  none.
 */
#ifndef SOTTO_TLOG_CHECKPOINT_H
#define SOTTO_TLOG_CHECKPOINT_H

#include "tlog/merkle.h"
#include "tlog/note.h"

typedef struct sotto_checkpoint {
    sotto_bytes origin; /* which log */
    uint64_t size;
    sotto_merkle_hash root;
    sotto_bytes extensions; /* further lines, each with its newline */
    /* Set by sotto_checkpoint_open: since when so many witnesses as the quorum has cosigned it, in seconds since 1970; 0: none is wanted.
     * Of a witness that cosigned twice, the later time counts. */
    uint64_t cosigned;
} sotto_checkpoint;

/* The text of a note. SOTTO_MALFORMED: not a checkpoint. */
SOTTO_MUST_USE sotto_status sotto_checkpoint_decode(sotto_checkpoint *out, sotto_bytes text,
                                                    sotto_err *err);
/* Appends the text of a note. */
SOTTO_MUST_USE sotto_status sotto_checkpoint_encode(sotto_buf *out,
                                                    const sotto_checkpoint *checkpoint,
                                                    sotto_err *err);

/* Whom to believe. */
typedef struct sotto_log_trust {
    const sotto_note_key *log; /* its name is the origin */
    const sotto_note_key *witnesses;
    size_t witness_count;
    size_t quorum; /* of the witnesses must have cosigned; 0: none */
} sotto_log_trust;

/* A whole signed note: its form, its origin, the log's signature, and the witnesses'.
 *   SOTTO_MALFORMED  it is no signed checkpoint
 *   SOTTO_REJECTED   a signature of the log or of a witness does not hold, the log did not sign it, or it is another log's.
 *                    Or it has no entry, and another root than the empty tree's
 *   SOTTO_DENIED     fewer witnesses than the quorum cosigned it
 */
SOTTO_MUST_USE sotto_status sotto_checkpoint_open(sotto_checkpoint *out, sotto_bytes note,
                                                  const sotto_log_trust *trust, sotto_err *err);

/* Whether a checkpoint continues the last one that was seen: a device checks this before it keeps a newer one. Both were opened before;
 * size 0 means that none was seen.
 *   SOTTO_STALE     it is smaller: the log, or its server, was rolled back
 *   SOTTO_REJECTED  it does not continue the tree that was seen, or the proof does not show it: keep
 *                   both notes as evidence
 */
SOTTO_MUST_USE sotto_status sotto_checkpoint_continues(const sotto_checkpoint *now,
                                                       const sotto_checkpoint *seen,
                                                       const sotto_merkle_proof *proof,
                                                       sotto_err *err);

/* Whether two signed checkpoints prove a fork: both signed by the log's key, of one size, with different roots.
 *   SOTTO_MISSING  they do not show it
 *   others         as sotto_checkpoint_open, without witnesses
 */
SOTTO_MUST_USE sotto_status sotto_checkpoint_fork(sotto_bytes note1, sotto_bytes note2,
                                                  const sotto_note_key *log, sotto_err *err);

#endif
