/* tlog/demand.h - leaves that a witness wants to see in a tree before it cosigns it, and how the log shows them.
 *
 * Callers:  serve/witness demands, serve/aggregator shows.
 * Memory:   nothing is allocated; a showing is read from the wire bytes.
 * Secrets:  none.
 * Wire:     a demand is a list of leaf hashes, 32 bytes each. A showing is their number (2 bytes), and for each the leaf, its index
 *           (8 bytes) and its proof: number of hashes (1 byte) and hashes. A request of add-checkpoint (witness.h) follows.
 */
#ifndef SOTTO_TLOG_DEMAND_H
#define SOTTO_TLOG_DEMAND_H

#include "tlog/merkle.h"

enum {
    SOTTO_DEMANDS = 64, /* at once; what is more is demanded next time */
    SOTTO_DEMANDS_BYTES = SOTTO_DEMANDS * SOTTO_MERKLE_HASH,
    SOTTO_SHOWN = SOTTO_MERKLE_HASH + 8 + 1 + SOTTO_MERKLE_PROOF * SOTTO_MERKLE_HASH,
    SOTTO_SHOWINGS = 2 + SOTTO_DEMANDS * SOTTO_SHOWN /* bytes of a showing, at most */
};

/* SOTTO_MALFORMED: not whole hashes, none, or too many. */
SOTTO_MUST_USE sotto_status sotto_demands_decode(const sotto_merkle_hash **out, size_t *count,
                                                 sotto_bytes wire, sotto_err *err);

typedef struct sotto_shown {
    sotto_merkle_hash leaf;
    uint64_t index;
    sotto_merkle_proof proof;
} sotto_shown;

/* Appends one of them. */
SOTTO_MUST_USE sotto_status sotto_shown_encode(sotto_buf *out, const sotto_shown *shown,
                                               sotto_err *err);

/* A showing, whose form is checked as a whole. */
typedef struct sotto_showing {
    size_t count;
    sotto_bytes wire; /* of all of them */
} sotto_showing;

/* *rest: what follows. SOTTO_MALFORMED: too many, or not their form. */
SOTTO_MUST_USE sotto_status sotto_showing_decode(sotto_showing *out, sotto_bytes *rest,
                                                 sotto_bytes wire, sotto_err *err);
/* The leaves that it is about, whether their proofs hold or not. Their number. */
size_t sotto_showing_leaves(const sotto_showing *showing, sotto_merkle_hash out[SOTTO_DEMANDS]);
/* Whether the leaf is shown to be in the tree of this size and root. */
bool sotto_showing_has(const sotto_showing *showing, const sotto_merkle_hash *leaf, uint64_t size,
                       const sotto_merkle_hash *root);

#endif
