/* sim/trial.h - a recipe asked of made-up devices, without a network: their answers by the code that a deployment runs, and the truth.
 *
 *     sotto_trial_init      reads and judges recipe and policy; tells what a device's events are made of
 *     sotto_trial_type      ... of which types
 *     sotto_trial_begin     one run, of a seed
 *     sotto_worker_take     devices; each thread has a worker, and the order of devices among workers changes nothing
 *     sotto_trial_end       what all workers together come to
 *
 * Callers:  sotto-sim, tests, benchmarks.
 * Memory:   a trial owns all that it hands out until sotto_trial_clear.
 * Threads:  a trial is not written while workers are at work; a worker belongs to one thread at a time.
 * Secrets:  none: whoever has the seed has everything.
 *
 * Two speeds. The whole path has a device with its store and ledger for each, sealed reports, both servers' proofs and shares, and the
 * collector. `fast` has none of these: it runs the recipe's query over the rows of a device, draws, measures and adds, by the same
 * functions. Both give answers of the same law.
 */
#ifndef SOTTO_SIM_TRIAL_H
#define SOTTO_SIM_TRIAL_H

#include "recipe/content.h"
#include "recipe/table.h"
#include "sim/random.h"
#include "sotto/analyse.h"

typedef struct sotto_trial_run {
    bool fast;
    sotto_sim_random random; /* of this run */
    uint8_t verify_key[SOTTO_PRIO3_VERIFY_KEY_SIZE];
} sotto_trial_run;

typedef struct sotto_trial {
    sotto_arena arena;
    sotto_mistakes *mistakes; /* of lint */
    const char *mistaken;     /* which file they are of: "recipe", "policy" */
    sotto_bytes recipe_text, policy_text, parties_text; /* as devices get them */
    bool unhidden; /* relay, tokens and log were left out of both: they change no answer */
    const sotto_recipe *recipe;
    const sotto_policy *policy;
    const sotto_parties *parties;
    sotto_recipe_claim claim; /* of the recipe as it is written */
    sotto_recipe_verdict verdict;
    sotto_report_content content;
    sotto_recipe_table table; /* what devices have */
    size_t cohorts;
    sotto_task *tasks;      /* of each */
    sotto_hpke_key keys[2]; /* of leader and helper */
    sotto_collector_key collector;
    struct sotto_noise *skellam, *gaussian; /* of devices, of servers; NULL: none */
    sotto_trial_run run;
} sotto_trial;

/* streams may be NULL: then the fields that the query reads have the types that their encoders ask for, or SOTTO_TYPE_NULL.
 *   SOTTO_MALFORMED, SOTTO_DENIED  trial->mistakes has what is wrong, or else the reason is all; call sotto_trial_clear */
SOTTO_MUST_USE sotto_status sotto_trial_init(sotto_trial *trial, sotto_bytes recipe,
                                             sotto_bytes policy, const sotto_streams *streams,
                                             sotto_err *err);
void sotto_trial_clear(sotto_trial *trial);
/* Takes over the types of all fields, which were not all known, and judges the query with them. */
SOTTO_MUST_USE sotto_status sotto_trial_type(sotto_trial *trial, const sotto_field *fields,
                                             sotto_err *err);
/* Before any worker is opened. */
void sotto_trial_begin(sotto_trial *trial, uint64_t seed, uint64_t repeat, bool fast);

/* ---- devices ---------------------------------------------------------------------------------------------- */

/* One device's events and descriptions; borrowed. */
typedef struct sotto_sim_device {
    size_t rows;
    const sotto_value *values;    /* of the trial's fields, row by row; none where unread */
    const int64_t *times;         /* INT64_MIN: when the recipe opens                      */
    const char *const *described; /* NULL: not described                                  */
} sotto_sim_device;

typedef struct sotto_sim_worker sotto_sim_worker;

SOTTO_MUST_USE sotto_status sotto_worker_open(sotto_sim_worker **out, const sotto_trial *trial,
                                              sotto_err *err);
void sotto_worker_close(sotto_sim_worker *worker);
/* Devices with these numbers, from `first` on. Whoever calls it splits devices the same way for each number of threads. */
SOTTO_MUST_USE sotto_status sotto_worker_take(sotto_sim_worker *worker, uint64_t first,
                                              const sotto_sim_device *devices, size_t count,
                                              sotto_err *err);

/* ---- what came of it --------------------------------------------------------------------------------------- */

/* One number of an answer beside its truth: a figure, or a bin's count. */
typedef struct sotto_sim_line {
    const char *figure; /* NULL: a bin */
    uint64_t bin;
    double truth, value, deviation, low, high;
} sotto_sim_line;

typedef struct sotto_sim_outcome {
    const sotto_task *task;
    sotto_collection collection;
    sotto_result result;
    sotto_receipt receipt;
    sotto_result_check check; /* where the result has bins */
    uint64_t *truth;          /* of each of the encoding's values, in reports */
    uint64_t *drawn;  /* importance sampling: in all devices, of which lines tell; else NULL */
    uint64_t without; /* reports on no value        */
    uint64_t silent;  /* devices that sent nothing  */
    sotto_sim_line *lines;
    size_t line_count;
} sotto_sim_outcome;

/* What the workers, `count` of them, come to for a cohort: they are merged into the first, so it is asked once. Everything is in the
 * arena.
 *   SOTTO_DENIED  fewer reports than the recipe's min_cohort */
SOTTO_MUST_USE sotto_status sotto_trial_end(sotto_sim_outcome *out, const sotto_trial *trial,
                                            sotto_sim_worker *const *workers, size_t count,
                                            size_t cohort, double confidence, sotto_arena *arena,
                                            sotto_err *err);

#endif
