/* aggregate/shard.h - methods with two servers, the client's half: from a measurement to two input shares.
 *
 * Callers:  recipe/ plans; dap/ encodes parameters and makes reports; device/ shards. None of them asks which method it
 *           holds. aggregate/two_server.h has the servers' half, of which a device links nothing.
 * Memory:   an opened instance keeps its tables in the arena given to sotto_vdaf_open and is read-only afterwards.
 * Threads:  one instance may serve many threads; each brings its own arena and outputs.
 * Secrets:  measurements, randomness and shares. Time does not depend on them.
 *
 * Such a method is a VDAF in one shot: the leader sends one message for each report, and the helper answers with one.
 */
#ifndef SOTTO_AGGREGATE_SHARD_H
#define SOTTO_AGGREGATE_SHARD_H

#include "sotto/vdaf.h"

enum {
    SOTTO_METHOD_NAME = 12,
    SOTTO_VDAF_MAX_PARAMETERS = 64, /* bytes of encoded parameters */
};

/* What a device hands over: a vector of numbers. */
typedef struct sotto_vdaf_shape {
    uint64_t length;
    uint64_t weight; /* most ones, where they are zeros and ones                               */
    bool one;        /* exactly one: then the measurement is its place, else it is the vector  */
    uint64_t most;   /* the largest number                                                     */
} sotto_vdaf_shape;

/* One method with its parameters, opened. */
typedef struct sotto_vdaf {
    const struct sotto_vdaf_client_ops *ops;
    sotto_vdaf_sizes sizes;
    const void *state; /* the method's, in the arena */
} sotto_vdaf;

typedef struct sotto_vdaf_client_ops {
    char method[SOTTO_METHOD_NAME]; /* as the table of trust models names it (account/trust.h) */
    int32_t first_type, last_type;  /* the VDAF types of the registry that are this method's   */
    /* The parameters that prove the shape. */
    void (*plan)(sotto_vdaf_config *, const sotto_vdaf_shape *);
    /* DAP's vdaf_configuration, which servers decode: at most SOTTO_VDAF_MAX_PARAMETERS bytes. SOTTO_MISSING: it has no form for this type. */
    sotto_status (*parameters_encode)(sotto_buf *, const sotto_vdaf_config *, sotto_err *);
    /* Fills in sizes and state. SOTTO_MALFORMED: parameters out of range. */
    sotto_status (*open)(sotto_vdaf *, const sotto_vdaf_config *, sotto_arena *, sotto_err *);
    /* As sotto_prio3_shard: appends the public share, and the leader's and the helper's share to input_shares. */
    sotto_status (*shard)(const sotto_vdaf *, sotto_buf *public_share, sotto_buf *input_shares,
                          sotto_bytes context, sotto_measurement,
                          const uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE], sotto_bytes rand,
                          sotto_arena *scratch, sotto_err *);
} sotto_vdaf_client_ops;

/* NULL: no method of this build has the name, or the VDAF type. */
const sotto_vdaf_client_ops *sotto_vdaf_client_named(const char *method);
const sotto_vdaf_client_ops *sotto_vdaf_client_of(int32_t type);

/* SOTTO_MISSING: a VDAF type of no method; SOTTO_MALFORMED: its parameters are out of range.
 *   arena  NULL: only the sizes are filled, and no table is made */
SOTTO_MUST_USE sotto_status sotto_vdaf_open(sotto_vdaf *vdaf, const sotto_vdaf_config *config,
                                            sotto_arena *arena, sotto_err *err);

#endif
