/* aggregate/aero/leaf.h - one device's place in a round's trees: what it commits to, what it reveals, and how anybody checks it
 * (Liu and Gupta 2023, Figure 4, lines 1-5 and 8-11).
 *
 * A device commits to all of its groups at once, and reveals them after the commitments are on the board:
 *
 *     sealed_g    = H(round, role, device, g, nonce_g, ciphertexts of g)
 *     commitment  = H(sealed_1, ..., sealed_l)                  what its proofs are bound to
 *     promise     = H(commitment, H(proof_1), ..., H(proof_l))  what it signs and sends
 *
 * The trees have one leaf for each noise member, then one for each contributor that committed, by index. The tree of promises is
 * posted before anything is revealed. The trees of leaves, one for each group, are posted before points are drawn. The trees
 * of sums come after them. A leaf has the same position in all of them.
 *
 * Callers:  contributors and noise members commit; the aggregator answers with samples; verifiers and whoever reads a complaint check.
 * Memory:   a decoded sample borrows from the wire bytes; scratch is in the arena.
 * Secrets:  nonces, until they are revealed.
 */
#ifndef SOTTO_AGGREGATE_AERO_LEAF_H
#define SOTTO_AGGREGATE_AERO_LEAF_H

#include "aggregate/aero/sum_tree.h"
#include "aggregate/aero/terms.h"

enum {
    SOTTO_AERO_LEAF = 1 + 4 + 1 + 32 + 32,
    SOTTO_AERO_PROMISE = 1 + 4 + 1 + 32 + SOTTO_SIGNATURE,
};

/* ---- commitments ---------------------------------------------------------------------------------------- */

typedef struct sotto_aero_sealed {
    uint8_t sealed[SOTTO_AERO_MOST_GROUPS][32], proofs[SOTTO_AERO_MOST_GROUPS][32];
} sotto_aero_sealed;

/* ciphers: as they are on the wire. */
void sotto_aero_seal_group(uint8_t out[32], const sotto_aero_plan *plan, uint8_t role,
                           uint32_t index, uint32_t group, const uint8_t nonce[32],
                           sotto_bytes ciphers);
void sotto_aero_commitment_of(uint8_t out[32], const sotto_aero_plan *plan,
                              const sotto_aero_sealed *of);
void sotto_aero_promise_of(uint8_t out[32], const sotto_aero_plan *plan,
                           const sotto_aero_sealed *of);

/* Bytes of a group's ciphertexts on the wire. */
size_t sotto_aero_group_bytes(const sotto_aero_plan *plan, uint32_t group);
SOTTO_MUST_USE sotto_status sotto_aero_group_encode(sotto_buf *out, const sotto_aero_plan *plan,
                                                    const sotto_aero_cipher *ciphers, size_t count,
                                                    sotto_err *err);
/* SOTTO_MALFORMED  not that many ciphertexts, each in its one encoding */
SOTTO_MUST_USE sotto_status sotto_aero_group_decode(sotto_aero_cipher **out,
                                                    const sotto_aero_plan *plan, uint32_t group,
                                                    sotto_bytes wire, sotto_arena *arena,
                                                    sotto_err *err);

/* What a proof of this group is about. */
sotto_aero_statement sotto_aero_statement_of(const sotto_aero_plan *plan, const sotto_aero_poly *b,
                                             uint8_t role, uint32_t index, uint32_t group,
                                             const uint8_t commitment[32],
                                             const sotto_aero_cipher *ciphers);

/* The message by which a device sent its promise: what its signature is of. The body is the caller's 33 bytes. */
sotto_message sotto_aero_commit_message(const sotto_round *round, uint8_t body[33], uint8_t role,
                                        uint32_t index, const uint8_t promise[32]);

/* ---- leaves ---------------------------------------------------------------------------------------------- */

typedef struct sotto_aero_leaf {
    uint8_t role;
    uint32_t index;
    bool is_there; /* false: it did not reveal, or not what is right */
    uint8_t sealed[32], proof[32];
} sotto_aero_leaf;

typedef struct sotto_aero_promise {
    uint8_t role;
    uint32_t index;
    bool is_there; /* false: a noise member that promised nothing */
    uint8_t promise[32], signature[SOTTO_SIGNATURE];
} sotto_aero_promise;

void sotto_aero_leaf_digest(uint8_t out[32], const sotto_aero_leaf *leaf);
void sotto_aero_leaf_write(sotto_writer *w, const sotto_aero_leaf *leaf);
void sotto_aero_leaf_read(sotto_reader *in, sotto_aero_leaf *leaf, bool *malformed);
void sotto_aero_promise_digest(uint8_t out[32], const sotto_aero_promise *promise);

/* What the board says of a round's sums. */
typedef struct sotto_aero_posted {
    const sotto_aero_poly *b; /* of the public key */
    uint32_t leaves;
    sotto_aero_sum promises, added[SOTTO_AERO_MOST_GROUPS], summed[SOTTO_AERO_MOST_GROUPS];
    sotto_f64 points[SOTTO_AERO_POINTS];
} sotto_aero_posted;

/* ---- samples --------------------------------------------------------------------------------------------- */

/* One leaf of one group, with all that is needed to judge it. */
typedef struct sotto_aero_sample {
    uint32_t group, position;
    sotto_aero_leaf leaf, next; /* next: the leaf after it, unless it is the last */
    bool has_next;
    sotto_aero_sum_path leaf_path, next_path, sum_path;
    /* All below only of a leaf that is there. */
    sotto_aero_promise promise;
    sotto_aero_sum_path promise_path;
    sotto_aero_sealed of;
    uint8_t nonce[32];
    sotto_bytes ciphers, proof;
} sotto_aero_sample;

size_t sotto_aero_sample_size(const sotto_aero_plan *plan, const sotto_aero_sample *sample);
SOTTO_MUST_USE sotto_status sotto_aero_sample_encode(sotto_buf *out, const sotto_aero_plan *plan,
                                                     const sotto_aero_sample *sample,
                                                     sotto_err *err);
/* groups: of the round. SOTTO_MALFORMED for everything that encode would not have written. */
SOTTO_MUST_USE sotto_status sotto_aero_sample_decode(sotto_aero_sample *sample, uint32_t groups,
                                                     sotto_bytes wire, sotto_err *err);

/* What is wrong with a leaf, in the order in which it is looked for. */
typedef enum sotto_aero_fault {
    SOTTO_AERO_SOUND,
    SOTTO_AERO_NOT_POSTED,  /* not under the posted root                                        */
    SOTTO_AERO_UNORDERED,   /* not before the next one: somebody is there twice                 */
    SOTTO_AERO_INELIGIBLE,  /* of somebody who was not drawn, or not in this place              */
    SOTTO_AERO_UNCOMMITTED, /* its promise is not under the root that was posted before         */
    SOTTO_AERO_UNSIGNED,    /* ... or not the device's                                          */
    SOTTO_AERO_EDITED,      /* not what was promised                                            */
    SOTTO_AERO_UNPROVED,    /* its proof is wrong: scaled, copied, replayed, out of range       */
    SOTTO_AERO_MISADDED,    /* it is not added to the sum as it is                              */
} sotto_aero_fault;
const char *sotto_aero_fault_name(sotto_aero_fault fault);

/* Lines 10 and 11 of Figure 4 for one leaf. Fails only for want of memory; the scratch needs SOTTO_AERO_PROOF_VERIFIER and the group. */
SOTTO_MUST_USE sotto_status sotto_aero_sample_check(sotto_aero_fault *fault,
                                                    const sotto_aero_plan *plan,
                                                    const sotto_aero_posted *posted,
                                                    const sotto_aero_sample *sample,
                                                    sotto_arena *scratch, sotto_err *err);

#endif
