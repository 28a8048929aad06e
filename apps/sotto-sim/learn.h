/* apps/sotto-sim/learn.h - `sotto sim learn`: federated training on simulated devices.
 *
 *     learn.c           the verb: options to a run, and the loop over rounds
 *     learn_options.c   arguments
 *     learn_crew.c      threads: devices of one round, and rows to evaluate
 *     learn_shares.c    updates as PINE's reports, verified by both aggregators
 *     learn_show.c      curves, files, and what may be claimed
 */
#ifndef SOTTO_APPS_SIM_LEARN_H
#define SOTTO_APPS_SIM_LEARN_H

#include "learn/claim.h"
#include "learn/dataset.h"
#include "learn/session.h"
#include "learn/train.h"
#include "learn/tree.h"
#include "learn/update.h"
#include "vdaf/pine/pine.h"
#include "verbs.h"

enum { LEARN_THREADS = 64, LEARN_POINTS = 4096 };

typedef enum learn_algorithm { LEARN_FEDAVG = 1, LEARN_FEDSGD, LEARN_FTRL } learn_algorithm;

typedef struct learn_options {
    const char *data, *model, *out, *svg, *checkpoint, *export_to;
    const char *algorithm_name, *weights_name, *server_name;
    learn_algorithm algorithm;
    sotto_update_weights weights;
    sotto_step_config step;
    uint64_t rounds, cohort, min_cohort, epochs, batch, cap, restart, evaluate, seed, threads;
    double rate, clip, noise, delta, scale;
    bool plain, shares, json, quiet;
} learn_options;

/* EXIT_DONE, or EXIT_USAGE after having said why. */
int learn_options_read(learn_options *out, int argc, char **argv);

/* One thread's own. */
typedef struct learn_hand {
    struct learn_run *run;
    sotto_learner learner;
    sotto_arena arena, scratch;
    float *delta;
    int64_t *integers, *sum;
    uint64_t weight, devices, failed;
    uint8_t *leader, *helper; /* aggregate shares */
    struct learn_report *report;
    int64_t loss; /* in units of 2^-32 */
    uint64_t right, answers;
    sotto_status status;
    sotto_err err;
} learn_hand;

typedef struct learn_run {
    const learn_options *options;
    sotto_arena arena;
    sotto_dataset dataset;
    uint64_t *firsts;
    sotto_model model;
    sotto_update update;
    sotto_session session;
    sotto_pine pine;
    double cohort;  /* expected devices of a round: what sums are divided by */
    uint64_t slots; /* ftrl: rounds of which a device takes one, in each tree */
    learn_hand hands[LEARN_THREADS];
    uint32_t *chosen; /* devices of this round */
    size_t chosen_count;
    int64_t *sum;
    uint64_t weight, devices, failed;
} learn_run;

/* ---- learn_crew.c ------------------------------------------------------------------------------------------------ */

SOTTO_MUST_USE sotto_status learn_crew_open(learn_run *run, sotto_err *err);
void learn_crew_close(learn_run *run);
/* run->sum, weight and devices: of all devices that take part in the session's next round. */
SOTTO_MUST_USE sotto_status learn_crew_round(learn_run *run, sotto_err *err);
/* Loss and accuracy of the session's model on the test rows. */
SOTTO_MUST_USE sotto_status learn_crew_evaluate(learn_run *run, double *loss, double *accuracy,
                                                sotto_err *err);
/* A stream of bytes by a seed; random must outlive it. */
struct sotto_sim_random;
void learn_entropy(sotto_entropy *out, struct sotto_sim_random *random, uint64_t seed);

/* ---- learn_shares.c ---------------------------------------------------------------------------------------------- */

SOTTO_MUST_USE sotto_status learn_shares_open(learn_run *run, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_shares_open_hand(learn_hand *hand, sotto_err *err);
/* The hand's integers as a report: both aggregators verify it, and add it up. */
SOTTO_MUST_USE sotto_status learn_shares_add(learn_hand *hand, sotto_entropy *entropy,
                                             sotto_err *err);
/* All hands' aggregate shares, opened into run->sum. */
SOTTO_MUST_USE sotto_status learn_shares_sum(learn_run *run, sotto_err *err);

/* ---- learn_show.c ------------------------------------------------------------------------------------------------ */

/* What the run can claim; SOTTO_MISSING: nothing, as it has no noise. */
SOTTO_MUST_USE sotto_status learn_claim(const learn_run *run, uint64_t rounds,
                                        sotto_learn_claim *out, sotto_err *err);
void learn_show_begin(const learn_run *run);
/* An exit code. */
int learn_show_end(learn_run *run, double seconds);

int sim_verb_learn(int argc, char **argv);

#endif
