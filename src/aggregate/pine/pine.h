/* aggregate/pine/pine.h - PINE behind the interfaces of aggregate/: vectors of bounded norm as a task's VDAF.
 *
 *     shard.c       the client: an instance and its shares                          aggregate/shard.h
 *     verify.c      leader and helper: batches of reports by ping-pong              aggregate/two_server.h
 *     open.c        the collector: sums from two shares, and whether they can be sums
 *     tally.c       aggregate shares as a tally                                     aggregate/method.h
 *     parameters.c  as a task's configuration has them
 *
 * A measurement is the vector, its entries in two's complement, of at most the norm that the configuration's `max` is. Sums
 * have signs, and come out in two's complement, whether servers added noise or not.
 *
 * There is no machine, and no round of aggregate/round.h: a round of learning is a DAP task of its own.
 */
#ifndef SOTTO_AGGREGATE_PINE_PINE_H
#define SOTTO_AGGREGATE_PINE_PINE_H

#include "aggregate/method.h"
#include "vdaf/pine/pine.h"

/* ffff5001 and ffff5002 on the wire: numbers of the registry's private range (docs/decisions/0120). */
enum { SOTTO_PINE_FIELD64 = -45055, SOTTO_PINE_FIELD128 = -45054 };

/* Numbers that are added to a share, such as noise, are at most this far from 0. */
#define SOTTO_PINE_ADDED_LIMIT ((uint64_t)1 << 48)
/* A sum of so many valid reports, and of what both servers add to it, has at most 62 bits. */
#define SOTTO_PINE_SUM_LIMIT ((uint64_t)1 << 62)
/* The longest norm that Field64 can check with the parameters of every task (vdaf/pine/init.c): 8.7 times it is below 2^28. */
#define SOTTO_PINE_FIELD64_BOUND UINT64_C(30854650)
#define SOTTO_PINE_BOUND         ((uint64_t)1 << 48)

extern const sotto_vdaf_client_ops sotto_pine_client;
extern const sotto_vdaf_server_ops sotto_pine_server;
extern const sotto_method sotto_method_pine;

/* The instance that a task of such a configuration has. */
sotto_pine_config sotto_pine_config_of(const sotto_vdaf_config *config);

/* The most reports whose sum, with both servers' noise, keeps its sign. */
uint64_t sotto_pine_most_reports(uint64_t norm_bound);

/* ---- within this folder ----------------------------------------------------------------------------- */

typedef struct sotto_pine_tally {
    const sotto_pine *pine;
    uint8_t *elements; /* encoded, as the wire has them */
} sotto_pine_tally;

/* One report on its way through one server. */
typedef struct sotto_pine_verification {
    sotto_status status;
    const uint8_t *out_share; /* the leader's is the head of its input share, and borrowed */
    sotto_pine_state state;
} sotto_pine_verification;

sotto_status sotto_pine_config_encode(sotto_buf *out, const sotto_vdaf_config *config,
                                      sotto_err *err);
sotto_status sotto_pine_config_decode(sotto_vdaf_config *config, sotto_bytes wire, sotto_err *err);
sotto_status sotto_pine_tally_init(sotto_tally *tally, const sotto_vdaf *vdaf, sotto_arena *arena,
                                   sotto_err *err);
sotto_status sotto_pine_tally_accumulate(sotto_tally *tally, const sotto_vdaf_batch *batch,
                                         size_t first, size_t count, sotto_err *err);
sotto_status sotto_pine_tally_accumulate_awaited(sotto_tally *tally, const sotto_vdaf_batch *batch,
                                                 size_t first, sotto_err *err);
sotto_status sotto_pine_tally_take_off(sotto_tally *tally, const sotto_tally *other,
                                       sotto_err *err);
sotto_status sotto_pine_open(const sotto_vdaf *vdaf, sotto_uint128 *sums,
                             const sotto_bytes shares[2], uint64_t reports, double noise_sigma,
                             sotto_err *err);

#endif
