/* vdaf/flp.h - the fully linear proof system (draft-irtf-cfrg-vdaf-20, section 7.3), one for each field.
 *
 * Callers:  prio3_shard.c proves, prio3_verify.c queries and decides, prio3_aggregate.c adds up.
 * Memory:   vectors are in wire encoding wherever they may come from or go to the wire (uint8_t), so
 *           nothing is ever re-encoded; scratch is the caller's, scratch_size bytes of it.
 * Secrets:  everything but lengths. Time depends on the circuit only.
 */
#ifndef SOTTO_VDAF_FLP_H
#define SOTTO_VDAF_FLP_H

#include "vdaf/circuit.h"

typedef struct sotto_flp {
    /* Bytes that the tables and the scratch of a circuit take. */
    size_t (*tables_size)(const sotto_circuit *c);
    void (*tables_init)(const sotto_circuit *c, void *tables);
    size_t (*prove_scratch)(const sotto_circuit *c);

    /* 1 if all elements are below the modulus, else 0. */
    uint64_t (*canonical)(const uint8_t *elements, size_t count);
    /* Keeps, in order, the elements that are below the modulus; returns how many. */
    size_t (*sieve_vartime)(uint8_t *elements, size_t count);

    /* Spells the measurement in elements; false if it is not one of this type. */
    bool (*encode)(const sotto_circuit *c, uint8_t *meas, sotto_measurement measurement);
    /* a -= b, element by element. */
    void (*subtract)(uint8_t *a, const uint8_t *b, size_t count);

    /* `measurement` is what meas spells; a prover for one-hot vectors needs nothing else. */
    void (*prove)(const sotto_circuit *c, uint8_t *proof, const uint8_t *meas,
                  sotto_measurement measurement, const uint8_t *prove_rand,
                  const uint8_t *joint_rand, void *scratch);
} sotto_flp;

/* One report's shares, and where its verifier goes. */
typedef struct sotto_flp_query {
    uint8_t *verifier;
    const uint8_t *meas, *proof, *query_rand, *joint_rand;
    bool usable; /* set by queries: false if the query point is a root of unity */
} sotto_flp_query;

enum { SOTTO_FLP_QUERIES = 8 };

/* What aggregators do. A table of its own: a library for devices has none of it. */
typedef struct sotto_flp_checks {
    size_t (*query_scratch)(const sotto_circuit *c);
    /* How many reports are best queried together: half of SOTTO_FLP_QUERIES or all, as the machine and the circuit want it. */
    size_t (*at_once)(const sotto_circuit *c);
    /* Up to SOTTO_FLP_QUERIES of them. A report whose query is not usable must be refused. */
    void (*queries)(const sotto_circuit *c, sotto_flp_query *queries, size_t count, void *scratch);
    /* Adds up c->shares verifiers, each `offset` bytes into its share, and decides. */
    bool (*decide)(const sotto_circuit *c, const uint8_t *const *verifiers, size_t offset);

    /* out[i] = the i-th integer that meas spells. */
    void (*truncate)(const sotto_circuit *c, uint8_t *out, const uint8_t *meas);
    /* agg[i] += the i-th integer of each of `count` shares. */
    void (*accumulate)(const sotto_circuit *c, uint8_t *agg, const uint8_t *const *meas,
                       size_t count);
    /* agg += other */
    void (*merge)(uint8_t *agg, const uint8_t *other, size_t count);
} sotto_flp_checks;

extern const sotto_flp sotto_flp64, sotto_flp128;
extern const sotto_flp_checks sotto_flp_checks64, sotto_flp_checks128;

static inline const sotto_flp_checks *sotto_flp_checks_of(const sotto_circuit *c)
{
    return c->field == 64 ? &sotto_flp_checks64 : &sotto_flp_checks128;
}

#endif
