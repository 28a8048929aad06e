/* tlog/witness.h - what a log asks a witness, and what the witness says (C2SP tlog-witness, add-checkpoint).
 *
 * Callers:  serve/witness judges; serve/log asks.
 * Memory:   nothing is allocated; a request borrows its body.
 */
#ifndef SOTTO_TLOG_WITNESS_H
#define SOTTO_TLOG_WITNESS_H

#include "tlog/checkpoint.h"

enum {
    SOTTO_WITNESS_PROOF = 63,                          /* hashes, at most */
    SOTTO_WITNESS_BODY = SOTTO_NOTE_MAX + (1 << 12),   /* bytes           */
    SOTTO_WITNESS_REQUEST = SOTTO_NOTE_TEXT_MAX + 8192 /* of one by our own log */
};

typedef struct sotto_witness_request {
    uint64_t old; /* the size of the last tree that the witness cosigned */
    sotto_merkle_proof proof;
    sotto_bytes note; /* the signed checkpoint */
    sotto_checkpoint checkpoint;
} sotto_witness_request;

/* SOTTO_MALFORMED: HTTP status 400. */
SOTTO_MUST_USE sotto_status sotto_witness_request_decode(sotto_witness_request *out,
                                                         sotto_bytes body, sotto_err *err);
/* Of old, proof and note. */
SOTTO_MUST_USE sotto_status sotto_witness_request_encode(sotto_buf *out,
                                                         const sotto_witness_request *request,
                                                         sotto_err *err);

typedef struct sotto_witness_verdict {
    unsigned http; /* 200: cosign it; 400, 403, 409 or 422 otherwise */
    bool fork;     /* the log signed a tree that does not continue the last one: keep it as
                    * evidence */
} sotto_witness_verdict;

/* last: the tree that was cosigned last; of size 0 if none was. */
sotto_witness_verdict sotto_witness_judge(const sotto_witness_request *request,
                                          const sotto_note_key *log, const sotto_checkpoint *last,
                                          sotto_err *err);

#endif
