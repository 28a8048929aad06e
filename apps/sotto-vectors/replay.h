/* sotto-vectors/replay.h - a VDAF vector file while its operations are replayed.
 *
 * Every step takes its input from the file, never from the step before it. So a file may start in the
 * middle (hostile ones do), and one wrong value is reported once, where it arises.
 */
#ifndef SOTTO_VECTORS_REPLAY_H
#define SOTTO_VECTORS_REPLAY_H

#include "families.h"

typedef struct sotto_replay {
    sotto_prio3 vdaf;
    sotto_arena *arena;
    const json_t *root;
    const json_t *reports;
    size_t report_count;
    unsigned shares;
    sotto_bytes context;
    sotto_bytes verify_key;
    size_t compared; /* values, and refusals that were asked for */

    /* What came of each report one by one; a status of SOTTO_MISSING was never asked for. By report and
     * then aggregator: sotto_replay_at. */
    sotto_prio3_verification *started; /* after verify_init                    */
    sotto_prio3_verification *ended;   /* after verify_next, if there was one  */
    sotto_prio3_verdict *verdicts;     /* by report */
} sotto_replay;

/* One entry of `operations`. */
typedef struct sotto_replay_step {
    bool success;
    size_t report;
    unsigned aggregator;
} sotto_replay_step;

/* Runs a step. `outcome` is what the library said of it and `why` its sentence; values are compared
 * if the step should succeed and does. An error of its own means that the file cannot be replayed or
 * that a value differs. */
typedef sotto_status (*sotto_replay_run)(sotto_replay *replay, const sotto_replay_step *step,
                                         sotto_status *outcome, sotto_err *why, sotto_err *err);

typedef struct sotto_replay_operation {
    const char *name;
    bool has_report;
    bool has_aggregator;
    int round; /* the only round there is in Prio3; -1: none */
    sotto_replay_run run;
} sotto_replay_operation;

/* NULL if there is no such operation. */
const sotto_replay_operation *sotto_replay_operation_named(const char *name);

static inline size_t sotto_replay_at(const sotto_replay *replay, size_t report, unsigned aggregator)
{
    return report * replay->shares + aggregator;
}

/* Runs all reports that were replayed one by one through the same calls as batches; every status and
 * byte must come out the same. */
SOTTO_MUST_USE sotto_status sotto_replay_batch(sotto_replay *replay, sotto_err *err);

/* ---- values of the file ---------------------------------------------------------------------- */

SOTTO_MUST_USE sotto_status sotto_replay_report(sotto_prio3_report *out, const sotto_replay *replay,
                                                size_t report, unsigned aggregator, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_replay_verifier(sotto_prio3_verifier *out,
                                                  const sotto_replay *replay, unsigned aggregator,
                                                  sotto_err *err);
/* The shares of the only round, one for each aggregator. */
SOTTO_MUST_USE sotto_status sotto_replay_verifier_shares(sotto_bytes *out,
                                                         const sotto_replay *replay, size_t report,
                                                         sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_replay_verifier_message(sotto_bytes *out,
                                                          const sotto_replay *replay, size_t report,
                                                          sotto_err *err);
/* Entry `index` of the array of hex strings `key`. */
SOTTO_MUST_USE sotto_status sotto_replay_entry(sotto_bytes *out, const sotto_replay *replay,
                                               const json_t *object, const char *key, size_t index,
                                               sotto_err *err);

/* ---- instances ------------------------------------------------------------------------------- */

/* The instance a file of this kind describes with its parameters. */
SOTTO_MUST_USE sotto_status sotto_replay_instance(sotto_prio3 *out, const char *kind,
                                                  const json_t *root, sotto_arena *arena,
                                                  sotto_err *err);

#endif
