/* aggregate/two_server.h - methods with two servers, the servers' half: verify reports in batches, add up, open sums.
 *
 * Callers:  serve/leader and serve/helper verify and accumulate; serve/tasks adds up and releases; collect/ opens. What is added
 *           up is a tally (aggregate/method.h): its merge, add, encode and decode are those of the method.
 * Memory:   a batch lives in the arena of its first call. Reports are borrowed until the batch is accumulated.
 * Threads:  an instance may serve many threads; a batch and a tally belong to one at a time.
 * Secrets:  shares, the verification key and tallies. Time does not depend on them.
 *
 * Every call takes a batch: there is no indirect call for a single report. A call returns an error of its own only if the whole
 * batch could not be worked on. What is wrong with one report is in that report's status, and does not affect the others.
 */
#ifndef SOTTO_AGGREGATE_TWO_SERVER_H
#define SOTTO_AGGREGATE_TWO_SERVER_H

#include "aggregate/shard.h"

struct sotto_method;
struct sotto_tally;

/* Reports on their way through one server.
 *   status    SOTTO_AGAIN: the helper's answer is awaited; SOTTO_OK: valid; else why it is not
 *   outbound  for the other server; empty: rejected
 *   states    the method's
 *   room      of a batch that reports join a few at a time (leader_join) */
typedef struct sotto_vdaf_batch {
    size_t count, room;
    sotto_status *status;
    sotto_bytes *outbound;
    void *states;
} sotto_vdaf_batch;

typedef struct sotto_vdaf_server_ops {
    const sotto_vdaf_client_ops *client;
    uint64_t most_added; /* no number that tally->add adds may be further from 0 than this */

    /* DAP's vdaf_configuration of a VDAF type that is set in the config. */
    sotto_status (*parameters_decode)(sotto_vdaf_config *, sotto_bytes, sotto_err *);

    /* Leader, first step: each report is SOTTO_AGAIN, or rejected. */
    sotto_status (*leader_init)(const sotto_vdaf *, sotto_vdaf_batch *, const sotto_vdaf_verifier *,
                                const sotto_vdaf_report *, size_t count, sotto_arena *,
                                sotto_err *);
    /* The same of reports that join a batch, which begins with nothing but its room: room for all that join it. So reports that
     * are too long to be held at once are worked on a few at a time. After a failure the batch is of no use. */
    sotto_status (*leader_join)(const sotto_vdaf *, sotto_vdaf_batch *, const sotto_vdaf_verifier *,
                                const sotto_vdaf_report *, size_t count, sotto_arena *,
                                sotto_err *);
    /* Helper, only step: inbound[i] is what the leader sent. Each report is SOTTO_OK, or rejected. */
    sotto_status (*helper_init)(const sotto_vdaf *, sotto_vdaf_batch *, const sotto_vdaf_verifier *,
                                const sotto_vdaf_report *, const sotto_bytes *inbound, size_t count,
                                sotto_arena *, sotto_err *);
    /* Leader, last step: each report that is SOTTO_AGAIN becomes SOTTO_OK or is rejected. An empty inbound[i]: the helper
     * rejected it. */
    sotto_status (*leader_finish)(const sotto_vdaf *, sotto_vdaf_batch *,
                                  const sotto_bytes *inbound, sotto_err *);

    /* An empty tally of this instance. */
    sotto_status (*tally_init)(struct sotto_tally *, const sotto_vdaf *, sotto_arena *,
                               sotto_err *);
    /* Adds those of `count` reports from `first` on that are SOTTO_OK. SOTTO_DENIED: the sum could wrap. */
    sotto_status (*accumulate)(struct sotto_tally *, const sotto_vdaf_batch *, size_t first,
                               size_t count, sotto_err *);
    /* Leader, while the answer is awaited: adds every report from `first` on that is SOTTO_AGAIN, as if it were going to hold. Then the reports
     * may go: leader_finish does not look at them, and accumulate must not be called. What does not hold in the end is
     * taken off. SOTTO_DENIED as above. */
    sotto_status (*accumulate_awaited)(struct sotto_tally *, const sotto_vdaf_batch *, size_t first,
                                       sotto_err *);
    /* Takes off what was added before. */
    sotto_status (*take_off)(struct sotto_tally *, const struct sotto_tally *, sotto_err *);
    /* Both servers' encoded tallies into sizes.outputs sums; in two's complement if the servers added noise.
     *   noise_sigma     of what each server added to every sum; 0: nothing
     *   SOTTO_REJECTED  an invalid share, or a sum that so many valid reports can't have */
    sotto_status (*open)(const sotto_vdaf *, sotto_uint128 *sums, const sotto_bytes shares[2],
                         uint64_t reports, double noise_sigma, sotto_err *);
} sotto_vdaf_server_ops;

/* The method whose VDAF type this is; NULL: none of this build. */
const struct sotto_method *sotto_method_of(int32_t type);

#endif
