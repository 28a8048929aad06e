/* serve/tasks/round_noise.h - a server's noise on the rounds of a recipe whose noise is correlated over rounds (noise/tree.h,
 * noise/blt_noise.h).
 *
 * Callers:  tasks/release.c adds it, leader and helper ask whether a round may have it, gc forgets it; all inside sotto_db_run.
 * Memory:   what is read lies in the arena, and its seeds are wiped.
 * Secrets:  seeds. They are sealed before they reach the database.
 *
 *     once     a round of a recipe is released once, by one task, whatever model or parties another one names
 *     fresh    the seed of a round's own node is drawn when its sum is, and stored in the transaction that stores the release. So no
 *              two sums ever have the same fresh noise: not after a repair, and not after an old backup came back
 *     kept     of a tree: until a later round's node covers it, and that round is done; then its seed is erased. Of buffers: until the
 *              session ends, since every later round takes some of it away. Its row says what it took away itself
 *     any      replica finds the seeds in the database, and nothing else is remembered. Of two rounds that replicas release at the same
 *              moment neither sees the other: then less noise cancels, and no less protects
 *
 * docs/decisions/0261 has the attacks that this is for, and 0301 those on buffers.
 */
#ifndef SOTTO_SERVE_TASKS_ROUND_NOISE_H
#define SOTTO_SERVE_TASKS_ROUND_NOISE_H

#include "db/sql.h"
#include "serve/tasks/tasks.h"

/* Whether no other task released this round of the recipe. A task without correlated noise always may. */
SOTTO_MUST_USE sotto_status sotto_round_noise_may(sotto_tx *tx, bool *may,
                                                  const sotto_server_task *task, sotto_err *err);
/* Adds the noise of the task's round to its sum, and keeps the seed. Again by the same task: another seed in its place.
 *   SOTTO_DENIED    another task released this round
 *   SOTTO_MISSING, SOTTO_REJECTED  a kept seed does not open */
SOTTO_MUST_USE sotto_status sotto_round_noise_add(sotto_tx *tx, sotto_tally *tally,
                                                  const sotto_server_task *task,
                                                  const sotto_column_keys *keys, sotto_arena *arena,
                                                  sotto_err *err);
/* Where a round is among `count` rounds, 1 at least. The last one is that which is released now: its seed in the place of another would take
 * its own noise away.
 *   SOTTO_BUG  it is not among them */
SOTTO_MUST_USE sotto_status sotto_round_noise_place(size_t *at, const uint64_t *rounds,
                                                    size_t count, uint64_t round, sotto_err *err);
/* Of a task that is never served again, since its session is over: no other round of its recipe has use for a seed then. */
SOTTO_MUST_USE sotto_status sotto_round_noise_forget(sotto_tx *tx, int64_t task, sotto_err *err);

#endif
