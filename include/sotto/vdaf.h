/* sotto/vdaf.h - Prio3 of draft-irtf-cfrg-vdaf-20: split a measurement, check it, add it up.
 *
 * Callers:  aggregate/prio/, through which devices shard, servers verify and accumulate, and collectors unshard.
 * Memory:   a sotto_prio3 keeps its tables in the arena given to sotto_prio3_init and is read-only
 *           afterwards. Reports are borrowed. Everything about a report in flight lives in the arena
 *           given to the batch call, at most one expanded share for each.
 * Threads:  one sotto_prio3 may serve many threads; each brings its own arena and outputs.
 * Secrets:  measurements, seeds, shares and the verification key. Time does not depend on them.
 *
 * A call on a batch returns an error of its own only if the whole batch could not be worked on. Then every
 * report of it is rejected, and what the call took from the arena is wiped and given back. What is wrong
 * with one report is in that report's result, and does not affect the others.
 *
 * States and sums belong to the instance that made them; with another one they give SOTTO_BUG.
 */
#ifndef SOTTO_VDAF_H
#define SOTTO_VDAF_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SOTTO_PRIO3_SEED_SIZE = 32,
    SOTTO_PRIO3_NONCE_SIZE = 16,
    SOTTO_PRIO3_VERIFY_KEY_SIZE = 32,
    SOTTO_PRIO3_MAX_CONTEXT = 1024, /* the draft allows 65,527; DAP needs 38 */
};

/* ---- what is measured --------------------------------------------------------------------------- */

/* The values are the algorithm identifiers of the draft's registry. */
typedef enum sotto_prio3_type {
    SOTTO_PRIO3_COUNT = 1,
    SOTTO_PRIO3_SUM = 2,
    SOTTO_PRIO3_SUM_VEC = 3,
    SOTTO_PRIO3_HISTOGRAM = 4,
    SOTTO_PRIO3_MULTIHOT_COUNT_VEC = 5,
    SOTTO_PRIO3_L1_BOUND_SUM = 7,
    SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF = -1, /* ffffffff on the wire: Field64, several proofs */
} sotto_prio3_type;

/* Types named sotto_vdaf_* say what any VDAF has: a task and its servers speak of nothing else. */
typedef struct sotto_vdaf_config {
    int32_t type;          /* of the draft's registry: a sotto_prio3_type, or another VDAF's      */
    unsigned shares;       /* 2 to 255; DAP always has 2                                          */
    unsigned proofs;       /* with multiproof: 3 to 255; else 0 or 1                              */
    uint64_t length;       /* vectors and histograms; else 0                                      */
    uint64_t chunk_length; /* vectors and histograms; else 0                                      */
    uint64_t max;          /* largest sum summand, vector entry, weight or L1 norm; else 0        */
} sotto_vdaf_config;
typedef sotto_vdaf_config sotto_prio3_config;

/* One measurement, whatever its type: count, sum and histogram (the bucket) have one value; vectors have
 * `length` of them, for a multihot vector zeros and ones. */
typedef struct sotto_measurement {
    const uint64_t *values;
    size_t count;
} sotto_measurement;

/* The chunk length with the smallest proof, for `length` entries of `bits` bits each. `bits` is 1 for
 * histograms and multihot vectors, and the bit length of max for SumVec and L1BoundSum (with length + 1). */
SOTTO_API uint64_t sotto_prio3_best_chunk_length(uint64_t length, unsigned bits);

/* ---- an instance -------------------------------------------------------------------------------- */

/* Lengths in bytes of everything that crosses the wire. */
typedef struct sotto_vdaf_sizes {
    size_t rand;
    size_t public_share;
    size_t leader_share;
    size_t helper_share;
    size_t verifier_share;
    size_t verifier_message;
    size_t out_share; /* also of an aggregate share */
    size_t outputs;   /* entries of the result      */
} sotto_vdaf_sizes;
typedef sotto_vdaf_sizes sotto_prio3_sizes;

typedef struct sotto_prio3 {
    sotto_prio3_config config;
    sotto_prio3_sizes sizes;
    const struct sotto_circuit *circuit; /* in the arena */
} sotto_prio3;

/* SOTTO_MALFORMED: a parameter is out of its stated range, would overflow the field, or would be unsound.
 *   arena  NULL: only configuration and sizes are filled, and the instance can do nothing else */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_init(sotto_prio3 *vdaf, sotto_arena *arena,
                                                       const sotto_prio3_config *config,
                                                       sotto_err *err);

/* ---- client ------------------------------------------------------------------------------------- */

/* Appends the public share, the leader's share, and one share for each helper in turn.
 *   context       binds the report to its application; in DAP the tag and the task id
 *   nonce         random, one for each report; every aggregator is told it
 *   rand          sizes.rand fresh secret random bytes (sotto/random.h), never used twice
 *   input_shares  config.shares buffers
 *   scratch       working memory, wiped and given back before the call returns
 *   SOTTO_DENIED  the measurement is not one of this type
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_shard(
    const sotto_prio3 *vdaf, sotto_buf *public_share, sotto_buf *input_shares, sotto_bytes context,
    sotto_measurement measurement, const uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE], sotto_bytes rand,
    sotto_arena *scratch, sotto_err *err);

/* ---- aggregators -------------------------------------------------------------------------------- */

/* Who is verifying. The context is borrowed. All aggregators hold one verification key, secret and random,
 * fixed before the first report exists: a client that knew it could cheat. */
typedef struct sotto_vdaf_verifier {
    uint8_t verify_key[SOTTO_PRIO3_VERIFY_KEY_SIZE];
    sotto_bytes context;
    unsigned aggregator; /* 0 is the leader */
} sotto_vdaf_verifier;
typedef sotto_vdaf_verifier sotto_prio3_verifier;

/* A report as one aggregator received it, borrowed until its verification is over: the leader's
 * out share is read from input_share itself. */
typedef struct sotto_vdaf_report {
    uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE];
    sotto_bytes public_share;
    sotto_bytes input_share;
} sotto_vdaf_report;
typedef sotto_vdaf_report sotto_prio3_report;

/* Where one report stands at one aggregator. `status` is SOTTO_AGAIN while its verifier message is
 * awaited, SOTTO_OK once it is valid, and anything else says why it never will be. */
typedef struct sotto_prio3_verification {
    sotto_status status;
    const struct sotto_circuit *circuit; /* of the instance; a state of another is refused */
    const char *reason;                  /* a constant sentence, NULL while all is well */
    sotto_bytes verifier_share;          /* in the arena: to be sent to the others      */
    const void *measurement_share;       /* field elements, in the arena or borrowed    */
    uint8_t joint_rand_seed[SOTTO_PRIO3_SEED_SIZE]; /* as corrected by this aggregator */
} sotto_prio3_verification;

/* Expands and queries each report; out[i] is SOTTO_AGAIN or rejected. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_verify_init(
    const sotto_prio3 *vdaf, sotto_prio3_verification *out, const sotto_prio3_verifier *verifier,
    const sotto_prio3_report *reports, size_t count, sotto_arena *arena, sotto_err *err);

/* What all aggregators' verifier shares of one report say together. */
typedef struct sotto_prio3_verdict {
    sotto_status status; /* SOTTO_OK: the proof holds */
    const char *reason;
    uint8_t message[SOTTO_PRIO3_SEED_SIZE]; /* sizes.verifier_message bytes of it: 0 or 32 */
} sotto_prio3_verdict;

/* Decides each report. `verifier_shares` has config.shares entries for each report, by aggregator. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_verifier_shares_to_message(
    const sotto_prio3 *vdaf, sotto_prio3_verdict *out, sotto_bytes context,
    const sotto_bytes *verifier_shares, size_t count, sotto_arena *scratch, sotto_err *err);

/* Ends each verification that is SOTTO_AGAIN; messages[i] belongs to states[i]. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_verify_next(const sotto_prio3 *vdaf,
                                                              sotto_prio3_verification *states,
                                                              const sotto_bytes *messages,
                                                              size_t count, sotto_err *err);

/* Appends the out share of a verification that is SOTTO_OK; SOTTO_BUG for any other. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_out_share(const sotto_prio3 *vdaf, sotto_buf *out,
                                                            const sotto_prio3_verification *state,
                                                            sotto_err *err);

/* ---- sums --------------------------------------------------------------------------------------- */

/* An aggregate share. Its elements live in the arena given to sotto_prio3_agg_init. */
typedef struct sotto_prio3_agg {
    const struct sotto_circuit *circuit; /* of the instance; a sum of another is refused */
    uint64_t reports;
    void *elements;
} sotto_prio3_agg;

/* A result entry: sums in Field128 may pass 64 bits. */
typedef struct sotto_uint128 {
    uint64_t low;
    uint64_t high;
} sotto_uint128;

SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_agg_init(const sotto_prio3 *vdaf,
                                                           sotto_prio3_agg *agg, sotto_arena *arena,
                                                           sotto_err *err);
/* Adds every state that is SOTTO_OK. SOTTO_DENIED, and nothing is added, if the sum could wrap. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_accumulate(const sotto_prio3 *vdaf,
                                                             sotto_prio3_agg *agg,
                                                             const sotto_prio3_verification *states,
                                                             size_t count, sotto_err *err);
/* Adds another aggregate share of the same aggregator. SOTTO_DENIED as above. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_merge(const sotto_prio3 *vdaf,
                                                        sotto_prio3_agg *agg,
                                                        const sotto_prio3_agg *other,
                                                        sotto_err *err);
/* Takes another aggregate share of the same aggregator off again, which was added before.
 *   SOTTO_BUG  of more reports than are in it; nothing is taken off */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_subtract(const sotto_prio3 *vdaf,
                                                           sotto_prio3_agg *agg,
                                                           const sotto_prio3_agg *other,
                                                           sotto_err *err);
/* No number that is added to a share may be further from 0 than this. */
#define SOTTO_PRIO3_ADDED_LIMIT ((uint64_t)1 << 48)

/* Adds secret whole numbers, such as noise, to `count` entries from `first` on: negative ones too, mod p. The sums are then
 * read by sotto_prio3_unshard_signed. Time depends on first and count alone.
 *   SOTTO_DENIED  so many reports that signs could not be told
 *   SOTTO_BUG     entries that the share does not have, or a number beyond the limit; nothing is added */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_agg_add(const sotto_prio3 *vdaf,
                                                          sotto_prio3_agg *agg, size_t first,
                                                          const int64_t *values, size_t count,
                                                          sotto_err *err);
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_agg_encode(const sotto_prio3 *vdaf,
                                                             sotto_buf *out,
                                                             const sotto_prio3_agg *agg,
                                                             sotto_err *err);
/* Into an initialised agg, replacing it. `reports` is what the peer says it added. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_agg_decode(const sotto_prio3 *vdaf,
                                                             sotto_prio3_agg *agg, sotto_bytes wire,
                                                             uint64_t reports, sotto_err *err);
/* The answer, once all aggregators have said how many reports they added and the numbers agree:
 * config.shares encoded aggregate shares, by aggregator, into sizes.outputs entries.
 * SOTTO_DENIED if `reports` measurements could have wrapped the field. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_unshard(const sotto_prio3 *vdaf,
                                                          sotto_uint128 *result,
                                                          const sotto_bytes *agg_shares,
                                                          uint64_t reports, sotto_err *err);
/* The same where aggregators may have added numbers: entries above half the modulus are below 0, and come out in
 * two's complement of 128 bits. SOTTO_DENIED also where a sum could be on either side. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_prio3_unshard_signed(const sotto_prio3 *vdaf,
                                                                 sotto_uint128 *result,
                                                                 const sotto_bytes *agg_shares,
                                                                 uint64_t reports, sotto_err *err);

/* ---- ping-pong: the two-aggregator topology as a pure state machine ------------------------------ */

/* Leader, first step: states[i] is SOTTO_AGAIN and outbound[i] (in the arena) goes to the helper, or
 * states[i] is rejected and outbound[i] is empty. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_ping_pong_leader_init(
    const sotto_prio3 *vdaf, sotto_prio3_verification *states, sotto_bytes *outbound,
    const sotto_prio3_verifier *verifier, const sotto_prio3_report *reports, size_t count,
    sotto_arena *arena, sotto_err *err);

/* Helper, only step: states[i] is SOTTO_OK and outbound[i] (in the arena) answers the leader, or
 * states[i] is rejected and outbound[i] is empty. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_ping_pong_helper_init(
    const sotto_prio3 *vdaf, sotto_prio3_verification *states, sotto_bytes *outbound,
    const sotto_prio3_verifier *verifier, const sotto_prio3_report *reports,
    const sotto_bytes *inbound, size_t count, sotto_arena *arena, sotto_err *err);

/* Leader, last step: each state that is SOTTO_AGAIN becomes SOTTO_OK or is rejected. Empty inbound[i]:
 * the helper rejected the report, so it is SOTTO_REJECTED here too. */
SOTTO_API SOTTO_MUST_USE sotto_status
sotto_ping_pong_leader_continued(const sotto_prio3 *vdaf, sotto_prio3_verification *states,
                                 const sotto_bytes *inbound, size_t count, sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
