/* serve/tasks/release.h - what both roles do when a batch is released: read what is asked for, seal the sum. */
#ifndef SOTTO_SERVE_TASKS_RELEASE_H
#define SOTTO_SERVE_TASKS_RELEASE_H

#include "dap/collect.h"
#include "serve/tasks/batches.h"

/* Whether this task's collector may ask for these buckets at all; else which problem it is. */
bool sotto_release_range(sotto_batch_range *out, sotto_dap_problem *problem,
                         const sotto_server_task *task, const sotto_dap_batch_selector *selector);

/* The other way round. */
sotto_dap_batch_selector sotto_release_selector(const sotto_server_task *task,
                                                const sotto_batch_range *range);

/* Appends an HpkeCiphertext: the sum's share, with noise where the recipe asks for it, sealed to the task's
 * collector by this role. Noise is fresh, whatever was added to another sum; where it is correlated over rounds, what this round adds
 * is (round_noise.h), and `keys` seal it in the transaction. A sum may pass here once only, or the noise would average out. What comes out is stored in
 * the transaction that closes the batch, and a repeated request gets those bytes. (The leader's sum may pass again
 * after a repair, over fewer reports, since nobody saw what came out before.)
 *   collection_req  the collector's exact bytes */
SOTTO_MUST_USE sotto_status sotto_release_seal(sotto_tx *tx, sotto_buf *out,
                                               const sotto_server_task *task,
                                               const sotto_column_keys *keys, sotto_role role,
                                               sotto_bytes collection_req,
                                               const sotto_sub_aggregate *sum, sotto_arena *arena,
                                               sotto_err *err);
/* Bytes that sotto_release_seal appends. */
size_t sotto_release_sealed_size(const sotto_server_task *task);

/* Nobody adds to a batch while somebody closes it, in any process. Who adds holds the shared lock and who
 * closes holds the exclusive one, until the end of the transaction. */
SOTTO_MUST_USE sotto_status sotto_release_lock(sotto_tx *tx, int64_t task, bool exclusive,
                                               sotto_err *err);

#endif
