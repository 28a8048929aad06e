/* vdaf/prio3_xof.h - every use Prio3 makes of its XOF, for up to four reports in lockstep.
 *
 * Callers:  prio3_shard.c, prio3_verify.c.
 * Secrets:  seeds, bodies and outputs.
 */
#ifndef SOTTO_VDAF_PRIO3_XOF_H
#define SOTTO_VDAF_PRIO3_XOF_H

#include "crypto/turboshake.h"
#include "vdaf/circuit.h"

/* draft-irtf-cfrg-vdaf-20, section 7.2: what an output is for. */
typedef enum sotto_prio3_usage {
    SOTTO_USAGE_MEAS_SHARE = 1,
    SOTTO_USAGE_PROOF_SHARE = 2,
    SOTTO_USAGE_JOINT_RANDOMNESS = 3,
    SOTTO_USAGE_PROVE_RANDOMNESS = 4,
    SOTTO_USAGE_QUERY_RANDOMNESS = 5,
    SOTTO_USAGE_JOINT_RAND_SEED = 6,
    SOTTO_USAGE_JOINT_RAND_PART = 7,
} sotto_prio3_usage;

/* The messages of up to four reports: one usage and context, a seed and a binder for each. */
typedef struct sotto_prio3_xof {
    const sotto_circuit *circuit;
    sotto_prio3_usage usage;
    sotto_bytes context;
    unsigned lanes;
    const uint8_t *seeds[SOTTO_LANES];
    uint8_t binder[SOTTO_LANES][32];
    size_t binder_len;
    const uint8_t *bodies[SOTTO_LANES]; /* the binder goes on with these */
    size_t body_len;
} sotto_prio3_xof;

/* SOTTO_MALFORMED if it is longer than we take. */
sotto_status sotto_prio3_check_context(sotto_bytes context, sotto_err *err);

/* 32 bytes for each lane. */
void sotto_prio3_derive_seed(const sotto_prio3_xof *x, uint8_t *const *out);

/* `count` field elements for each lane, by rejection sampling. */
void sotto_prio3_expand(const sotto_prio3_xof *x, uint8_t *const *out, size_t count);

/* Both at once, in the same permutations: one share is expanded while it and what follows from it are hashed.
 *   x       one lane; as sotto_prio3_expand, with `count` elements
 *   ready   is told which elements of `out` are final, in order, and completes the bodies of `seeds` up to there
 *   seeds   one or two lanes; as sotto_prio3_derive_seed, with bodies of `count` elements
 * What is built for size does one after the other, and has none of this. */
typedef void sotto_prio3_ready(void *arg, size_t from, size_t count);
void sotto_prio3_expand_and_derive(const sotto_prio3_xof *x, uint8_t *out, size_t count,
                                   sotto_prio3_ready *ready, void *arg,
                                   const sotto_prio3_xof *seeds, uint8_t *const *seeds_out);

/* As sotto_prio3_expand of x, then sotto_prio3_derive_seed of `seeds`, whose bodies are what was expanded: each piece is hashed while
 * the next is expanded, in states of their own. What is built for size does one after the other. */
void sotto_prio3_expand_and_hash(const sotto_prio3_xof *x, uint8_t *const *out, size_t count,
                                 const sotto_prio3_xof *seeds, uint8_t *const *seeds_out);

#endif
