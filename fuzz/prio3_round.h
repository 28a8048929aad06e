/* fuzz/prio3_round.h - an honest report of each type, whose parts a fuzz target replaces by its input.
 *
 * The first byte of an input chooses the type from the table below; targets say what the others mean. All
 * else is fixed, so that an input means the same in every run.
 */
#ifndef SOTTO_FUZZ_PRIO3_ROUND_H
#define SOTTO_FUZZ_PRIO3_ROUND_H

#include <stdlib.h>
#include <string.h>

#include "sotto/vdaf.h"
#include "vdaf/circuit.h"
#include "vdaf/flp.h"

#include "target.h"

enum { FUZZ_TYPES = 7, FUZZ_MAX_OUTPUTS = 8, FUZZ_MAX_SHARE = 4096 };

static const sotto_prio3_config fuzz_configs[FUZZ_TYPES] = {
    {.type = SOTTO_PRIO3_COUNT, .shares = 2},
    {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = 5},
    {.type = SOTTO_PRIO3_SUM_VEC, .shares = 2, .length = 3, .chunk_length = 2, .max = 3},
    {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 5, .chunk_length = 2},
    {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC, .shares = 2, .length = 4, .chunk_length = 2, .max = 2},
    {.type = SOTTO_PRIO3_L1_BOUND_SUM, .shares = 2, .length = 2, .chunk_length = 2, .max = 3},
    {.type = SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF,
     .shares = 2,
     .proofs = 3,
     .length = 2,
     .chunk_length = 2,
     .max = 3},
};

typedef struct fuzz_round {
    sotto_prio3 vdaf;
    sotto_prio3_report view[2]; /* by aggregator */
    uint8_t public_share[64];
    uint8_t leader_share[FUZZ_MAX_SHARE];
    uint8_t helper_share[64];
    sotto_arena arena;
    sotto_prio3_verification state[2];
} fuzz_round;

static inline void fuzz_require(bool holds)
{
    if (!holds)
        abort();
}

static inline sotto_bytes fuzz_context(void)
{
    return sotto_bytes_of("fuzz", 4);
}

/* One and zeros: a measurement of every type. */
static inline void fuzz_shard(fuzz_round *r)
{
    static const uint64_t values[FUZZ_MAX_OUTPUTS] = {1};
    const sotto_prio3_config *c = &r->vdaf.config;
    bool vector = c->length && c->type != SOTTO_PRIO3_HISTOGRAM;
    uint8_t rand[128];
    sotto_buf public_share = sotto_buf_over(r->public_share, sizeof r->public_share);
    sotto_buf shares[2] = {sotto_buf_over(r->leader_share, sizeof r->leader_share),
                           sotto_buf_over(r->helper_share, sizeof r->helper_share)};

    for (size_t i = 0; i < sizeof rand; i++)
        rand[i] = (uint8_t)(i + 1);
    fuzz_require(sotto_prio3_shard(&r->vdaf, &public_share, shares, fuzz_context(),
                                   (sotto_measurement){values, vector ? (size_t)c->length : 1},
                                   r->view[0].nonce, sotto_bytes_of(rand, r->vdaf.sizes.rand),
                                   &r->arena, NULL) == SOTTO_OK);
    for (unsigned a = 0; a < 2; a++) {
        r->view[a].public_share = sotto_buf_bytes(&public_share);
        r->view[a].input_share = sotto_buf_bytes(&shares[a]);
    }
}

/* The caller closes it. */
static inline void fuzz_open(fuzz_round *r, uint8_t type)
{
    memset(r, 0, sizeof *r);
    sotto_arena_init(&r->arena, (size_t)1 << 24);
    fuzz_require(sotto_prio3_init(&r->vdaf, &r->arena, &fuzz_configs[type % FUZZ_TYPES], NULL) ==
                 SOTTO_OK);
    fuzz_shard(r);
}

static inline void fuzz_close(fuzz_round *r)
{
    sotto_arena_clear(&r->arena);
}

static inline sotto_prio3_verifier fuzz_verifier(unsigned aggregator)
{
    sotto_prio3_verifier verifier = {.context = fuzz_context(), .aggregator = aggregator};

    memset(verifier.verify_key, 7, sizeof verifier.verify_key);
    return verifier;
}

static inline void fuzz_verify_init(fuzz_round *r)
{
    for (unsigned a = 0; a < 2; a++) {
        sotto_prio3_verifier verifier = fuzz_verifier(a);

        fuzz_require(sotto_prio3_verify_init(&r->vdaf, &r->state[a], &verifier, &r->view[a], 1,
                                             &r->arena, NULL) == SOTTO_OK);
        fuzz_require((r->state[a].status == SOTTO_AGAIN) == (r->state[a].reason == NULL));
    }
}

/* With these verifier shares; true if both aggregators accept in the end. */
static inline bool fuzz_decide(fuzz_round *r, const sotto_bytes shares[2])
{
    sotto_prio3_verdict verdict;
    sotto_bytes message;

    fuzz_require(sotto_prio3_verifier_shares_to_message(&r->vdaf, &verdict, fuzz_context(), shares,
                                                        1, &r->arena, NULL) == SOTTO_OK);
    fuzz_require(verdict.status == SOTTO_OK || verdict.status == SOTTO_MALFORMED ||
                 verdict.status == SOTTO_REJECTED);
    if (verdict.status != SOTTO_OK)
        return false;
    message = sotto_bytes_of(verdict.message, r->vdaf.sizes.verifier_message);
    for (unsigned a = 0; a < 2; a++)
        fuzz_require(sotto_prio3_verify_next(&r->vdaf, &r->state[a], &message, 1, NULL) ==
                     SOTTO_OK);
    return r->state[0].status == SOTTO_OK && r->state[1].status == SOTTO_OK;
}

/* What was accepted is a measurement of the type: the entries are in range, and so is their sum. */
static inline void fuzz_require_valid(fuzz_round *r)
{
    sotto_uint128 result[FUZZ_MAX_OUTPUTS];
    uint8_t memory[2][FUZZ_MAX_OUTPUTS * 16];
    sotto_bytes shares[2];
    uint64_t sum = 0;
    const sotto_prio3_config *c = &r->vdaf.config;

    for (unsigned a = 0; a < 2; a++) {
        sotto_buf out = sotto_buf_over(memory[a], sizeof memory[a]);

        fuzz_require(sotto_prio3_out_share(&r->vdaf, &out, &r->state[a], NULL) == SOTTO_OK);
        shares[a] = sotto_buf_bytes(&out);
    }
    fuzz_require(sotto_prio3_unshard(&r->vdaf, result, shares, 1, NULL) == SOTTO_OK);
    for (size_t i = 0; i < r->vdaf.sizes.outputs; i++) {
        fuzz_require(result[i].high == 0 && result[i].low <= r->vdaf.circuit->max);
        sum += result[i].low;
    }
    if (c->type == SOTTO_PRIO3_HISTOGRAM)
        fuzz_require(sum == 1);
    if (c->type == SOTTO_PRIO3_MULTIHOT_COUNT_VEC || c->type == SOTTO_PRIO3_L1_BOUND_SUM)
        fuzz_require(sum <= c->max);
}

#endif
