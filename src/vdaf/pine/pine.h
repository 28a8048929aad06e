/* vdaf/pine/pine.h - PINE: sums of integer vectors whose Euclidean norm two aggregators check without seeing them.
 *
 * Rothblum, Omri, Chen and Talwar 2023, "PINE"; wire formats of the individual draft draft-chen-cfrg-vdaf-pine-01, and
 * of ours that frames the same proofs as draft-irtf-cfrg-vdaf-20 frames Prio3's (docs/decisions/0120).
 *
 * A client proves two things of its vector x over a field of p elements. First, sum x_i^2 = v (mod p) for a v of at most
 * bound^2: the *norm proof*. Second, the sum did not wrap around p. Of `checks` random dot
 * products with entries -1, 0 and 1, at least `successes` are small, which is unlikely for a long vector. That, and that
 * every claimed bit is one, is the *main proof*.
 *
 * Callers:  aggregate/pine, sotto-vectors, tests and benchmarks.
 * Memory:   an instance keeps its tables in the arena that it was made with, and is read-only afterwards. Calls take
 *           scratch from the arena that they are given; what they took is wiped and given back before they return.
 * Threads:  one instance may serve many threads; each brings its own arena.
 * Secrets:  vectors, seeds, shares and the verification key. Time does not depend on them, but for SOTTO_AGAIN.
 */
#ifndef SOTTO_VDAF_PINE_PINE_H
#define SOTTO_VDAF_PINE_PINE_H

#include "sotto/base.h"

enum { SOTTO_PINE_NONCE = 16, SOTTO_PINE_MAX_SEED = 32, SOTTO_PINE_MAX_CONTEXT = 1024 };

typedef enum sotto_pine_wire {
    SOTTO_PINE_DRAFT11, /* of the published vectors: gadget polynomials by coefficients, no context */
    SOTTO_PINE_DRAFT20, /* ours: gadget polynomials by values, the context in every purpose         */
} sotto_pine_wire;

typedef enum sotto_pine_xof {
    SOTTO_PINE_TURBOSHAKE,
    SOTTO_PINE_HMAC_AES, /* XofHmacSha256Aes128 */
} sotto_pine_xof;

/* The field's arithmetic, compiled once for each: pine64.c, pine128.c, pine32.c, pine40.c. */
typedef struct sotto_pine_ops sotto_pine_ops;
extern const sotto_pine_ops sotto_pine_ops64, sotto_pine_ops128;
extern const sotto_pine_ops sotto_pine_ops32, sotto_pine_ops40; /* for published vectors */

typedef struct sotto_pine_config {
    const sotto_pine_ops *field;
    sotto_pine_wire wire;
    sotto_pine_xof xof;
    uint32_t algorithm;    /* identifier in every purpose                                   */
    uint64_t dimension;    /* entries of the vector                                         */
    uint64_t norm_bound;   /* at most this Euclidean norm, in units of the last place       */
    unsigned alpha_tenths; /* a dot product above alpha * norm_bound is no success; 87      */
    unsigned checks;
    unsigned successes;
    unsigned proofs;      /* main proofs                                                    */
    unsigned norm_proofs; /* norm proofs                                                    */
    uint64_t chunk;       /* products in a call of the main proof's gadget                  */
    uint64_t norm_chunk;  /* squares in a call of the norm proof's gadget                   */
} sotto_pine_config;

/* Lengths in bytes of everything that crosses the wire. */
typedef struct sotto_pine_sizes {
    size_t seed;
    size_t rand;
    size_t public_share;
    size_t leader_share;
    size_t helper_share;
    size_t verifier_share;
    size_t verifier_message;
    size_t out_share; /* also of an aggregate share */
} sotto_pine_sizes;

/* One of the two proofs: chunks of calls to a gadget of degree two. */
typedef struct sotto_pine_circuit {
    size_t chunk;
    size_t arity; /* wires: `chunk` for squares, twice as many for products */
    size_t calls;
    unsigned wire_log; /* wire polynomials have 2^wire_log values, the gadget's twice as many */
    size_t proof_len;
    size_t verifier_len;
    const void *tables;
} sotto_pine_circuit;

typedef struct sotto_pine {
    sotto_pine_config config;
    sotto_pine_sizes sizes;
    unsigned
        norm_bits; /* elements that spell the squared norm, and again what is left to the bound */
    uint64_t
        wrap_bound; /* a dot product from 1 - wrap_bound to wrap_bound is a success              */
    unsigned
        wrap_bits;   /* elements that spell one                                                   */
    size_t bits;     /* all elements that must be 0 or 1                                          */
    size_t head_len; /* vector, squared norm, what is left: what the dot products depend on       */
    size_t meas_len; /* the above, and for each dot product its bits and its success              */
    sotto_pine_circuit
        norm; /* squares of the vector's entries                                           */
    sotto_pine_circuit
        main; /* products: bits, and dot products that succeeded                           */
} sotto_pine;

/* SOTTO_MALFORMED names the parameter that does not fit. */
SOTTO_MUST_USE sotto_status sotto_pine_init(sotto_pine *pine, sotto_arena *arena,
                                            const sotto_pine_config *config, sotto_err *err);

/* What a client makes of its vector. Buffers are the caller's, of the lengths in sizes. */
typedef struct sotto_pine_report {
    uint8_t *public_share;
    uint8_t *leader_share;
    uint8_t *helper_share;
} sotto_pine_report;

/* Splits the vector of `dimension` integers.
 *   context  binds the report to its purpose; empty in draft 11
 *   rand     sizes.rand fresh random bytes
 *   SOTTO_TOO_LARGE  its norm is above the bound
 *   SOTTO_AGAIN      too few dot products were small: call again with other randomness */
SOTTO_MUST_USE sotto_status sotto_pine_shard(const sotto_pine *pine, const sotto_pine_report *out,
                                             sotto_bytes context, const int64_t *vector,
                                             const uint8_t nonce[SOTTO_PINE_NONCE],
                                             const uint8_t *rand, sotto_arena *scratch,
                                             sotto_err *err);

/* What an aggregator keeps between its two steps. */
typedef struct sotto_pine_state {
    uint8_t seeds[2 * SOTTO_PINE_MAX_SEED]; /* of both joint randomnesses, as it computed them */
} sotto_pine_state;

/* What an aggregator is given of a report. */
typedef struct sotto_pine_input {
    unsigned aggregator; /* 0 is the leader */
    const uint8_t *nonce;
    sotto_bytes public_share;
    sotto_bytes input_share;
} sotto_pine_input;

/* First step: out_share and verifier_share are written.
 *   SOTTO_MALFORMED  a share has the wrong length, or an element above the modulus
 *   SOTTO_REJECTED   the query point is a root of unity (once in 2^50 reports) */
SOTTO_MUST_USE sotto_status sotto_pine_verify_init(const sotto_pine *pine, sotto_pine_state *state,
                                                   uint8_t *out_share, uint8_t *verifier_share,
                                                   const uint8_t *verify_key, sotto_bytes context,
                                                   const sotto_pine_input *input,
                                                   sotto_arena *scratch, sotto_err *err);

/* Decides on both aggregators' verifier shares. SOTTO_REJECTED: a proof does not hold. */
SOTTO_MUST_USE sotto_status
sotto_pine_verifier_shares_to_message(const sotto_pine *pine, uint8_t *message, sotto_bytes context,
                                      sotto_bytes leader, sotto_bytes helper, sotto_err *err);

/* SOTTO_REJECTED: the client gave the aggregators different joint randomness. */
SOTTO_MUST_USE sotto_status sotto_pine_verify_next(const sotto_pine *pine,
                                                   const sotto_pine_state *state,
                                                   sotto_bytes message, sotto_err *err);

/* Adds an output share to an aggregate share, which begins as zeros. */
void sotto_pine_accumulate(const sotto_pine *pine, uint8_t *agg, const uint8_t *out_share);

/* result[i] is the sum of both aggregate shares' i-th element, as the integer of smallest size that it stands for.
 *   SOTTO_TOO_LARGE  one does not fit 63 bits: more reports were added up than the field has room for */
SOTTO_MUST_USE sotto_status sotto_pine_unshard(const sotto_pine *pine, int64_t *result,
                                               const uint8_t *leader, const uint8_t *helper,
                                               sotto_err *err);

#endif
