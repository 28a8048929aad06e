/* vdaf/pine/ops.h - what PINE asks of a field: arithmetic on encoded vectors, both provers, both queries.
 *
 * Callers:  init.c, shard.c, verify.c, xof.c. One table for each field, from prove_template.h and query_template.h.
 * Memory:   vectors are in wire encoding; scratch is the caller's, of the sizes that a function tells.
 * Secrets:  everything but lengths. Time depends on the parameters only.
 */
#ifndef SOTTO_VDAF_PINE_OPS_H
#define SOTTO_VDAF_PINE_OPS_H

#include "vdaf/pine/pine.h"

/* Joint randomness of one main proof: for bits, for dot products, and to join the four checks. */
enum { SOTTO_PINE_JOINT_RAND = 3 };

/* What a proof is about, or an aggregator's shares of it. */
typedef struct sotto_pine_claim {
    const uint8_t *meas; /* meas_len elements */
    const uint8_t *dots; /* `checks` elements: dot products with the vector */
} sotto_pine_claim;

struct sotto_pine_ops {
    unsigned bits; /* 32, 40, 64 or 128 */
    size_t element_size;
    unsigned root_log; /* the largest order of a root of unity, as a logarithm */
    uint64_t modulus_low, modulus_high;

    size_t (*tables_size)(const sotto_pine_circuit *c);
    void (*tables_init)(const sotto_pine_circuit *c, void *tables);

    /* 1 if all elements are below the modulus, else 0. */
    uint64_t (*canonical)(const uint8_t *elements, size_t count);
    /* Keeps, in order, the elements that are below the modulus; returns how many. */
    size_t (*sieve_vartime)(uint8_t *elements, size_t count);
    /* a = b - c and a += b, element by element. */
    void (*subtract)(uint8_t *a, const uint8_t *b, const uint8_t *c, size_t count);
    void (*add)(uint8_t *a, const uint8_t *b, size_t count);
    void (*encode)(uint8_t *out, const int64_t *values, size_t count);
    /* Spells `bits` bits of a number of 128 bits, low ones first. */
    void (*spell)(uint8_t *out, uint64_t low, uint64_t high, unsigned bits);
    /* The dot product whose byte planes have these sums (wrap.h). */
    void (*from_planes)(uint8_t *out, const int64_t *sums);
    /* Whether 1 - bound <= dot <= bound, as all ones or zero; *offset becomes dot + bound - 1 there. */
    uint64_t (*within)(uint64_t *offset, const uint8_t *dot, uint64_t bound);
    /* The integer of smallest size that the sum of two elements stands for; false if it has more than 63 bits. */
    bool (*decode)(int64_t *out, const uint8_t *a, const uint8_t *b);

    size_t (*scratch)(const sotto_pine *pine);
    void (*prove_norm)(const sotto_pine *pine, uint8_t *proof, const uint8_t *vector,
                       const uint8_t *prove_rand, void *scratch);
    void (*prove_main)(const sotto_pine *pine, uint8_t *proof, const sotto_pine_claim *claim,
                       const uint8_t *prove_rand, const uint8_t *joint_rand, void *scratch);
    /* False if the query point is a root of unity: the report must be rejected. */
    bool (*query_norm)(const sotto_pine *pine, uint8_t *verifier, const uint8_t *meas,
                       const uint8_t *proof, const uint8_t *query_rand, void *scratch);
    bool (*query_main)(const sotto_pine *pine, uint8_t *verifier, const sotto_pine_claim *claim,
                       const uint8_t *proof, const uint8_t *query_rand, const uint8_t *joint_rand,
                       void *scratch);
    bool (*decide_norm)(const sotto_pine *pine, const uint8_t *leader, const uint8_t *helper);
    bool (*decide_main)(const sotto_pine *pine, const uint8_t *leader, const uint8_t *helper);
};

#endif
