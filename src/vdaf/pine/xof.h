/* vdaf/pine/xof.h - every use that PINE makes of its XOF.
 *
 * Callers:  shard.c, verify.c.
 * Secrets:  seeds, bodies and outputs; clear a stream.
 */
#ifndef SOTTO_VDAF_PINE_XOF_H
#define SOTTO_VDAF_PINE_XOF_H

#include "crypto/xof.h"
#include "vdaf/pine/pine.h"

/* What an output is for; 1 to 7 as in Prio3. */
typedef enum sotto_pine_usage {
    SOTTO_PINE_MEAS_SHARE = 1,
    SOTTO_PINE_PROOF_SHARE = 2,
    SOTTO_PINE_JOINT_RANDOMNESS = 3,
    SOTTO_PINE_PROVE_RANDOMNESS = 4,
    SOTTO_PINE_QUERY_RANDOMNESS = 5,
    SOTTO_PINE_JOINT_RAND_SEED = 6,
    SOTTO_PINE_JOINT_RAND_PART = 7,
    SOTTO_PINE_WRAP_RANDOMNESS = 8,
    SOTTO_PINE_WRAP_SEED = 9,
    SOTTO_PINE_WRAP_PART = 10,
} sotto_pine_usage;

/* What goes into a stream besides its seed. */
typedef struct sotto_pine_purpose {
    const sotto_pine *pine;
    sotto_pine_usage usage;
    sotto_bytes context;
    uint8_t binder[24];
    size_t binder_len;
    sotto_bytes body; /* the binder goes on with this */
} sotto_pine_purpose;

typedef struct sotto_pine_stream {
    sotto_pine_xof kind;
    sotto_turboshake sponge;
    sotto_xof_aes aes;
} sotto_pine_stream;

/* Whatever start returns, its stream may be cleared. */
SOTTO_MUST_USE sotto_status sotto_pine_stream_start(sotto_pine_stream *stream,
                                                    const sotto_pine_purpose *purpose,
                                                    const uint8_t *seed, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_pine_stream_next(sotto_pine_stream *stream, uint8_t *out,
                                                   size_t len, sotto_err *err);
void sotto_pine_stream_clear(sotto_pine_stream *stream);

/* A seed's length of bytes. */
SOTTO_MUST_USE sotto_status sotto_pine_derive(uint8_t *out, const sotto_pine_purpose *purpose,
                                              const uint8_t *seed, sotto_err *err);
/* `count` field elements, by rejection sampling. */
SOTTO_MUST_USE sotto_status sotto_pine_expand(uint8_t *out, size_t count,
                                              const sotto_pine_purpose *purpose,
                                              const uint8_t *seed, sotto_err *err);

#endif
