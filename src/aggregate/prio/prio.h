/* aggregate/prio/prio.h - Prio3 behind the interfaces of aggregate/: the only folder of the two-server pipeline that knows it.
 *
 *     shard.c       the client: an instance and its shares                          aggregate/shard.h
 *     verify.c      leader and helper: batches of reports by ping-pong              aggregate/two_server.h
 *     open.c        the collector: sums from two shares, and whether they can be sums
 *     tally.c       aggregate shares as a tally, for both servers and for a round   aggregate/method.h
 *     parameters.c  as DAP encodes them
 *
 * There is no machine: reports and jobs travel by DAP.
 */
#ifndef SOTTO_AGGREGATE_PRIO_PRIO_H
#define SOTTO_AGGREGATE_PRIO_PRIO_H

#include "aggregate/method.h"

extern const sotto_vdaf_client_ops sotto_prio_client;
extern const sotto_vdaf_server_ops sotto_prio_server;

/* An instance over one that is open already, and borrowed. */
sotto_vdaf sotto_prio_over(const sotto_prio3 *vdaf);

/* What a round says of Prio3: its VDAF type in four bytes, and its parameters as DAP encodes them. */
enum { SOTTO_PRIO_PARAMETERS = 4 + SOTTO_VDAF_MAX_PARAMETERS };

SOTTO_MUST_USE sotto_status sotto_prio_parameters_encode(sotto_buf *out,
                                                         const sotto_prio3_config *config,
                                                         sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_prio_parameters_decode(sotto_prio3_config *config,
                                                         sotto_bytes wire, sotto_err *err);

/* ---- within this folder ----------------------------------------------------------------------------- */

sotto_status sotto_prio_config_encode(sotto_buf *out, const sotto_vdaf_config *config,
                                      sotto_err *err);
sotto_status sotto_prio_config_decode(sotto_vdaf_config *config, sotto_bytes wire, sotto_err *err);
sotto_status sotto_prio_tally_init(sotto_tally *tally, const sotto_vdaf *vdaf, sotto_arena *arena,
                                   sotto_err *err);
sotto_status sotto_prio_accumulate(sotto_tally *tally, const sotto_vdaf_batch *batch, size_t first,
                                   size_t count, sotto_err *err);
sotto_status sotto_prio_accumulate_awaited(sotto_tally *tally, const sotto_vdaf_batch *batch,
                                           size_t from, sotto_err *err);
sotto_status sotto_prio_take_off(sotto_tally *tally, const sotto_tally *other, sotto_err *err);
sotto_status sotto_prio_open(const sotto_vdaf *vdaf, sotto_uint128 *sums,
                             const sotto_bytes shares[2], uint64_t reports, double noise_sigma,
                             sotto_err *err);

#endif
