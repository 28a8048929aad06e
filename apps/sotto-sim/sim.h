/* apps/sotto-sim/sim.h - what the verbs of the simulator share.
 *
 *     main.c      the table of verbs, and their help
 *     options.c   arguments
 *     job.c       files, and a recipe read for a simulation
 *     crew.c      threads: devices of the file, one run
 *     score.c     what several runs come to
 *     run.c  sweep.c  compare.c
 */
#ifndef SOTTO_APPS_SIM_H
#define SOTTO_APPS_SIM_H

#include "show.h"
#include "sim/trial.h"
#include "support/people.h"
#include "verbs.h"

#include <stdio.h>

enum { SIM_RECIPES = 8, SIM_VARIED = 3, SIM_VALUES = 32, SIM_THREADS = 64, SIM_POINT = 512 };

/* One `--vary PATH=VALUE,VALUE,...`. */
typedef struct sim_varied {
    char path[96]; /* "devices", or a key of the recipe such as privacy.epsilon */
    char values[SIM_VALUES][64];
    size_t count;
} sim_varied;

typedef struct sim_options {
    const char *verb;
    const char *recipes[SIM_RECIPES];
    size_t recipe_count;
    const char *policy, *csv, *streams, *device_column, *out;
    sotto_answer_files
        files; /* of `run`, as `sotto collect` writes them; svg of `sweep` is a curve */
    uint64_t devices, seed, repeat, threads;
    double confidence;
    bool fast, json, skip_bad, quiet;
    sim_varied varied[SIM_VARIED];
    size_t varied_count;
} sim_options;

/* EXIT_DONE, or EXIT_USAGE after having said why. */
int sim_options_read(sim_options *out, int argc, char **argv);

/* ---- job.c: a recipe, a policy and a file of rows ----------------------------------------------------------- */

typedef struct sim_job {
    const sim_options *options;
    const char *recipe; /* its file */
    uint64_t devices;   /* as options.devices, unless it is varied */
    sotto_arena arena;  /* texts */
    sotto_bytes recipe_text, policy_text;
    const sotto_streams *streams;
    sotto_trial trial;
    sotto_people *people;
    uint64_t simulated;     /* devices of the last run */
    bool warned;            /* of the rows already: the same ones for every point of a sweep */
    char edited[SIM_POINT]; /* "privacy.sigma=9": what is not as the file has it; empty: nothing */
} sim_job;

/* Reads the files. EXIT_FAILED after having said why. */
int sim_job_load(sim_job *job, const sim_options *options, const char *recipe);
/* Reads and judges the recipe, and opens the rows. An exit code, after having said why. */
int sim_job_open(sim_job *job);
/* Closes what sim_job_open opened: the recipe's text may be another for the next one. */
void sim_job_close(sim_job *job);
void sim_job_end(sim_job *job);
/* Says on standard error what went wrong, and what to type next. The exit code for it. */
int sim_complain(const sim_job *job, const sotto_err *err);
/* What collectors say of a batch below min_cohort. */
bool sim_is_small(const sotto_err *err);

/* ---- crew.c: one run ----------------------------------------------------------------------------------------- */

/* Called for each cohort with its outcome, which is gone afterwards. */
typedef sotto_status sim_outcome_fn(void *context, const sim_job *job,
                                    const sotto_sim_outcome *outcome, sotto_arena *arena,
                                    sotto_err *err);
/* SOTTO_DENIED  a cohort has too few reports: of the first, nothing was handed out */
SOTTO_MUST_USE sotto_status sim_run(sim_job *job, uint64_t repeat, const char *what,
                                    sim_outcome_fn *show, void *context, sotto_err *err);

/* ---- score.c: lines of an answer over runs -------------------------------------------------------------------- */

typedef struct sim_line_score {
    const char *figure;
    uint64_t bin, runs, held;
    double truth, value, squares, variance, half; /* sums over runs */
    double low, high;                             /* of the last run */
} sim_line_score;

typedef struct sim_score {
    sotto_arena arena;
    sim_line_score *lines; /* cohort by cohort */
    size_t cohorts, per_cohort;
    uint64_t reports, outcomes;
    uint64_t without, unlisted; /* reports on no value, and on <oov> */
    uint64_t small;             /* runs that released nothing: too few devices took part */
    uint64_t wrong;             /* runs whose answer sotto_result_compare calls wrong */
} sim_score;

void sim_score_init(sim_score *score);
void sim_score_clear(sim_score *score);
/* A sim_outcome_fn; context is a sim_score. */
sotto_status sim_score_add(void *context, const sim_job *job, const sotto_sim_outcome *outcome,
                           sotto_arena *arena, sotto_err *err);
/* Runs the job's recipe as often as options.repeat says. A run in which too few devices took part is counted, and said; only
 * where all of them are is it a failure. An exit code. */
int sim_score_run(sim_score *score, sim_job *job, const char *what, sim_outcome_fn *show,
                  void *context);
/* Reports of a run that released something. */
double sim_score_reports(const sim_score *score, const sim_job *job);

/* Over all lines of the same kind: figures where there are any, else bins. */
typedef struct sim_summary {
    double error;     /* root of the mean square of estimate less truth */
    double predicted; /* the same by the deviations that answers state   */
    double half;      /* mean half-width of an interval                  */
    double held;      /* part of the intervals that hold the truth       */
    uint64_t intervals;
} sim_summary;
sim_summary sim_score_sum(const sim_score *score);
void sim_summary_members(sotto_json *j, const sim_summary *sum);

/* "<stdin> | 4.8", "mean": what a line is of. */
sotto_bytes sim_line_name(char *memory, size_t size, const sim_job *job,
                          const sim_line_score *line);
/* A CSV of all lines. `before` stands before each: "", or cells with a comma behind each. */
void sim_score_header(FILE *out, const char *before);
void sim_score_write(FILE *out, const char *before, const sim_score *score, const sim_job *job);

/* ---- the verbs -------------------------------------------------------------------------------------------------- */

int sim_verb_run(const sim_options *options);
int sim_verb_sweep(const sim_options *options);
int sim_verb_compare(const sim_options *options);

#endif
