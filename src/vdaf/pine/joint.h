/* vdaf/pine/joint.h - joint randomness and dot products: what client and aggregators compute alike.
 *
 * Callers:  shard.c, verify.c.
 * Secrets:  shares, blinds and vectors.
 */
#ifndef SOTTO_VDAF_PINE_JOINT_H
#define SOTTO_VDAF_PINE_JOINT_H

#include "vdaf/pine/ops.h"
#include "vdaf/pine/xof.h"

/* Who asks, and for which report. */
typedef struct sotto_pine_scene {
    const sotto_pine *pine;
    sotto_bytes context;
    const uint8_t *nonce;
} sotto_pine_scene;

sotto_pine_purpose sotto_pine_purpose_of(const sotto_pine_scene *scene, sotto_pine_usage usage);

/* A party's part of a joint randomness: its blind and `count` elements of its share.
 *   usage  SOTTO_PINE_WRAP_PART or SOTTO_PINE_JOINT_RAND_PART */
SOTTO_MUST_USE sotto_status sotto_pine_part(uint8_t *part, const sotto_pine_scene *scene,
                                            sotto_pine_usage usage, unsigned aggregator,
                                            const uint8_t *blind, const uint8_t *share,
                                            size_t count, sotto_err *err);
/* The seed that both parts give.
 *   usage  SOTTO_PINE_WRAP_SEED or SOTTO_PINE_JOINT_RAND_SEED */
SOTTO_MUST_USE sotto_status sotto_pine_joint_seed(uint8_t *seed, const sotto_pine_scene *scene,
                                                  sotto_pine_usage usage, const uint8_t *parts,
                                                  sotto_err *err);

/* `checks` dot products of the first `dimension` elements of a vector, or of a share of one. */
SOTTO_MUST_USE sotto_status sotto_pine_dots(uint8_t *dots, const sotto_pine_scene *scene,
                                            const uint8_t *seed, const uint8_t *elements,
                                            sotto_arena *scratch, sotto_err *err);

/* The helper's share of all proofs, from its seed, and how many elements that is. */
SOTTO_MUST_USE sotto_status sotto_pine_proof_share(uint8_t *out, const sotto_pine_scene *scene,
                                                   const uint8_t *seed, sotto_err *err);
static inline size_t sotto_pine_proof_elements(const sotto_pine *pine)
{
    return pine->config.norm_proofs * pine->norm.proof_len +
           pine->config.proofs * pine->main.proof_len;
}

/* The helper's share of the measurement. */
SOTTO_MUST_USE sotto_status sotto_pine_meas_share(uint8_t *out, const sotto_pine_scene *scene,
                                                  const uint8_t *seed, sotto_err *err);

/* Joint randomness of all main proofs. */
SOTTO_MUST_USE sotto_status sotto_pine_joint_rands(uint8_t *out, const sotto_pine_scene *scene,
                                                   const uint8_t *seed, sotto_err *err);

#endif
