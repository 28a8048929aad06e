/* apps/sotto-sim/learn.h - `sotto sim learn`: federated training on simulated devices.
 *
 *     learn.c           the verb: options to a run, and the loop over rounds
 *     learn_options.c   arguments
 *     learn_crew.c      threads: devices of one round, and rows to evaluate
 *     learn_ranks.c     processes of MPI: which devices are whose, and one session for all
 *     learn_checkin.c   random check-ins: who is in which step, local randomizers, steps of theorems
 *     learn_noise.c     the least noise that keeps an epsilon
 *     learn_shares.c    updates as PINE's reports, verified by both aggregators
 *     learn_show.c      curves, files, and what may be claimed
 */
#ifndef SOTTO_APPS_SIM_LEARN_H
#define SOTTO_APPS_SIM_LEARN_H

#include "learn/blt_choose.h"
#include "learn/claim.h"
#include "learn/dataset.h"
#include "learn/one_bit.h"
#include "learn/projection.h"
#include "learn/rate.h"
#include "learn/schedule_claim.h"
#include "learn/session.h"
#include "learn/train.h"
#include "learn/update.h"
#include "noise/blt_noise.h"
#include "noise/tree.h"
#include "ranks.h"
#include "vdaf/pine/pine.h"
#include "verbs.h"

enum { LEARN_THREADS = 64, LEARN_POINTS = 4096, LEARN_FACTS = 3 };

typedef enum learn_algorithm { LEARN_FEDAVG = 1, LEARN_FEDSGD, LEARN_FTRL } learn_algorithm;

typedef struct learn_options {
    const char *data, *model, *out, *svg, *checkpoint, *export_to;
    const char *algorithm_name, *weights_name, *server_name, *schedule_name, *randomizer_name,
        *step_size_name, *correlation_name;
    learn_algorithm algorithm;
    sotto_update_weights weights;
    sotto_step_config step;
    sotto_schedule_law schedule;         /* 0: each round a fresh sample, by Poisson's law */
    sotto_rate_law step_size;            /* 0: --server-rate                               */
    bool blt;                            /* dp-ftrl: noise by buffers, in place of trees  */
    uint64_t separation, participations; /* with blt; 0: not stated */
    uint64_t project;                    /* numbers that an update is projected to; 0: it is not */
    bool one_bit; /* devices' own pure randomizer, in place of noise on the sum */
    uint64_t slots, per_step;
    double check_in, epsilon, local_epsilon, diameter, smooth;
    uint64_t rounds, cohort, min_cohort, epochs, batch, cap, restart, evaluate, seed, threads;
    double rate, clip, noise, delta, scale;
    bool plain, shares, json, quiet;
} learn_options;

/* EXIT_DONE, or EXIT_USAGE after having said why. */
int learn_options_read(learn_options *out, const sotto_ranks *ranks, int argc, char **argv);
/* Integers in one unit of an update, at so much noise. */
double learn_scale(const learn_options *options, double noise);

/* One thread's own. */
typedef struct learn_hand {
    struct learn_run *run;
    sotto_learner learner;
    sotto_arena arena, scratch;
    float *delta;
    double *update; /* what is encoded: the delta, or its projection */
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
    learn_options *options;
    sotto_ranks ranks;
    sotto_arena arena;
    sotto_dataset dataset;
    uint64_t *firsts;
    sotto_model model;
    size_t numbers;              /* of an update as it is added up: the parameters, or --project */
    sotto_projection projection; /* of the round at hand */
    int64_t *lifted;             /* a sum for each parameter, with --project */
    sotto_update update;
    sotto_session session;
    sotto_pine pine;
    double cohort;  /* expected devices of a round: what sums are divided by */
    uint64_t slots; /* ftrl: rounds of which a device takes one, in each tree */
    sotto_blt_pattern pattern;
    sotto_blt blt;
    sotto_blt_noise buffered;
    uint64_t buffered_rounds; /* that its noise was drawn for */
    sotto_schedule schedule;
    sotto_one_bit one_bit;
    sotto_rate rate;
    uint64_t *slot_of;              /* of each device                                   */
    uint32_t *slot_count, *slot_at; /* devices of each slot of a step, in all and so far */
    double *mean;                   /* of the models so far, and as a model; or NULL    */
    float *mean_weights;
    learn_hand hands[LEARN_THREADS];
    uint32_t *chosen; /* devices of this round */
    size_t chosen_count, dummies;
    uint64_t *by_rows; /* several ranks: chosen devices, to be divided */
    uint64_t all_dummies;
    int64_t *sum; /* and LEARN_FACTS numbers behind it */
    uint64_t weight, devices, failed;
} learn_run;

/* ---- learn_crew.c ------------------------------------------------------------------------------------------------ */

SOTTO_MUST_USE sotto_status learn_crew_open(learn_run *run, sotto_err *err);
void learn_crew_close(learn_run *run);
/* run->projection of the session's next round. Without --project, nothing. */
SOTTO_MUST_USE sotto_status learn_projection_begin(learn_run *run, sotto_err *err);
/* run->sum, weight and devices: of all devices that take part in the session's next round. */
SOTTO_MUST_USE sotto_status learn_crew_round(learn_run *run, sotto_err *err);
/* Loss and accuracy of the session's model on the test rows. */
SOTTO_MUST_USE sotto_status learn_crew_evaluate(learn_run *run, double *loss, double *accuracy,
                                                sotto_err *err);
/* A stream of bytes by a seed; random must outlive it. */
struct sotto_sim_random;
void learn_entropy(sotto_entropy *out, struct sotto_sim_random *random, uint64_t seed);

/* ---- learn_ranks.c ----------------------------------------------------------------------------------------------- */

SOTTO_MUST_USE sotto_status learn_ranks_open(learn_run *run, sotto_err *err);
/* run->chosen and dummies: this rank's part of them, or all where ranks have a counter. */
void learn_ranks_divide(learn_run *run);
/* How many of so many things this rank may take, and which is the i-th of these. */
size_t learn_ranks_part(const learn_run *run, size_t all);
size_t learn_ranks_item(const learn_run *run, size_t i);
/* All ranks have come so far, or all fail. Then numbers are added up over ranks. */
SOTTO_MUST_USE sotto_status learn_ranks_gather(learn_run *run, sotto_status own, int64_t *numbers,
                                               size_t count, sotto_err *err);
/* All ranks have the session of rank 0, which may have a checkpoint. */
SOTTO_MUST_USE sotto_status learn_ranks_begin(learn_run *run, sotto_status own, sotto_err *err);
/* After a round all ranks have the same transcript. */
SOTTO_MUST_USE sotto_status learn_ranks_compare(learn_run *run, sotto_status own, sotto_err *err);

/* ---- learn_checkin.c --------------------------------------------------------------------------------------------- */

/* The schedule, before any noise is chosen; and the number of rounds. Without --schedule, nothing. */
SOTTO_MUST_USE sotto_status learn_checkin_plan(learn_run *run, sotto_err *err);
/* The randomizer and steps of theorems, once the noise is known. */
SOTTO_MUST_USE sotto_status learn_checkin_open(learn_run *run, sotto_err *err);
/* run->chosen and dummies of the session's next round. */
void learn_checkin_choose(learn_run *run);
/* What the sum of this round is divided by; 0: nobody came, and the round is skipped. */
double learn_checkin_divisor(const learn_run *run);
void learn_checkin_before_step(learn_run *run);
void learn_checkin_after_step(learn_run *run);
/* The model that is shown: the last one, or the mean of all. Gives back what learn_checkin_unshow takes. */
float *learn_checkin_show(learn_run *run);
void learn_checkin_unshow(learn_run *run, float *weights);
/* By this much noise: multiplier is of the Gaussian, local of a pure randomizer. */
SOTTO_MUST_USE sotto_status learn_checkin_claim(const learn_run *run, uint64_t rounds,
                                                double multiplier, double local,
                                                sotto_schedule_claim *out, sotto_err *err);

/* ---- learn_noise.c ----------------------------------------------------------------------------------------------- */

/* Where --epsilon is stated: the least noise, or the largest local epsilon, that keeps it. */
SOTTO_MUST_USE sotto_status learn_noise_find(learn_run *run, sotto_err *err);

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
/* The same at another noise than the run's: its deviation over the longest update. */
SOTTO_MUST_USE sotto_status learn_claim_at(const learn_run *run, uint64_t rounds, double multiplier,
                                           sotto_learn_claim *out, sotto_err *err);
void learn_show_begin(const learn_run *run);
/* An exit code. */
int learn_show_end(learn_run *run, double seconds);

int sim_verb_learn(int argc, char **argv);

#endif
