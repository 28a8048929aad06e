/* apps/sotto/analysis/analysis.h - what the files of `sotto analysis` share.
 *
 *     analysis.c           verbs and their help
 *     analysis_options.c   arguments
 *     analysis_job.c       the folder, its settings, its steps
 *     analysis_ask.c       a step is published, and its answer comes: from servers, or from simulated devices
 *     analysis_verbs.c     start, watch, result, stop, export
 *     analysis_drill.c     drill
 *     analysis_discover.c  discover; analysis_search.h has its other files
 */
#ifndef SOTTO_APPS_ANALYSIS_H
#define SOTTO_APPS_ANALYSIS_H

#include "show.h"
#include "sotto/lint.h"
#include "study/budget.h"
#include "study/folder.h"
#include "study/search.h"
#include "verbs.h"

#include <jansson.h>

/* What was typed; NULL and 0: not. */
typedef struct analysis_options {
    const char *verb, *folder;
    const char *recipe, *policy, *streams;
    const char *simulate, *device_column, *devices, *seed; /* simulated devices */
    const char *parties, *pairing, *key, *ca, *wait;       /* servers */
    const char *from, *log, *token, *witness;              /* the public log */
    const char *step, *csv, *html, *out;
    const char *bin, *quantile, *parts, *by, *values;
    const char *alphabet, *longest, *cells, *rounds, *epsilon, *delta, *deny, *box, *levels, *per,
        *phrases;
    bool fast, json, quiet, close_early, plain, words, places, skip_bad;
} analysis_options;

/* EXIT_DONE, or EXIT_USAGE after having said why. */
int analysis_options_read(analysis_options *out, int argc, char **argv);
/* Says what is wrong with an option; EXIT_USAGE. */
int analysis_misused(const analysis_options *o, const char *option, const char *what);
/* A whole number within bounds; false after having said why. */
bool analysis_number(const analysis_options *o, uint64_t *out, const char *name, const char *text,
                     uint64_t least, uint64_t most);

typedef struct analysis_job {
    const analysis_options *o;
    sotto_arena arena;
    sotto_mistakes mistakes;
    sotto_folder folder;
    json_t *settings;
    sotto_bytes policy_text;
    const sotto_policy *policy;
    sotto_bytes streams_text; /* empty: nobody stated the devices' streams */
    const sotto_streams *streams;
    const sotto_recipe *steps[SOTTO_FOLDER_STEPS + 1]; /* from 1 */
} analysis_job;

/* Opens the folder that is there, with its policy and its steps. An exit code, after having said why. */
int analysis_open(analysis_job *job, const analysis_options *o);
/* The same for one that is not there yet: nothing is written. `search` is what the settings say of one, or NULL; it is taken over. */
int analysis_prepare(analysis_job *job, const analysis_options *o, json_t *search);
/* Whether devices would answer this as the next step, and could pay for it. An exit code. */
int analysis_check(analysis_job *job, sotto_bytes text, const sotto_recipe **recipe,
                   bool one_budget);
/* Makes the folder with policy, frame (may be empty) and settings. */
int analysis_make(analysis_job *job, sotto_bytes frame, sotto_bytes first);
/* Whether the open folder holds what these arguments would begin: the same settings and files. `search` is taken over. An exit code. */
int analysis_compare(analysis_job *job, const analysis_options *o, json_t *search, bool *same);
void analysis_close(analysis_job *job);
int analysis_failed(const analysis_job *job, const sotto_err *err);
/* The recipe of the next step: linted, within the budget, written, published. An exit code. */
int analysis_publish(analysis_job *job, sotto_bytes text, bool one_budget);
/* When the next step opens and closes: as long as this recipe does, from now on, rounded to its precision. Simulated devices have all
 * time: both are 0 then, and the schedule follows that of the step before. */
void analysis_schedule(const analysis_job *job, const sotto_recipe *of, int64_t *opens,
                       int64_t *closes);
bool analysis_is_simulated(const analysis_job *job);
bool analysis_is_stopped(const analysis_job *job);
/* A text of the settings; NULL: there is none. */
const char *analysis_setting(const analysis_job *job, const char *group, const char *name);
/* Reads a file that was named. EXIT_DONE, or EXIT_FAILED after having said why. */
int analysis_read(analysis_job *job, const char *path, sotto_bytes *out);

/* Gets the answer of a step, unless it is there. A search's rounds are kept as JSON alone. An exit code. */
int analysis_ask(analysis_job *job, unsigned step, bool brief);
/* Takes back what was asked of servers and not answered. */
void analysis_withdraw(analysis_job *job, unsigned step);
/* The answer of a step that has one. */
int analysis_answer(analysis_job *job, unsigned step, sotto_study_answer *out, sotto_arena *arena);
/* "step 2 (launches.2)" and what to type next, on standard output. An exit code. */
int analysis_say_next(const analysis_job *job);
/* Whether devices that answered all steps could pay for one like the last; else why not. */
bool analysis_has_step_left(analysis_job *job, sotto_err *why);
/* Writes pieces to a path, one behind the other. */
int analysis_put(const analysis_job *job, const sotto_bytes *pieces, size_t count, const char *to);
/* Copies a file of the folder to a path. */
int analysis_copy(analysis_job *job, unsigned step, const char *name, const char *to);

int analysis_start(int argc, char **argv);
int analysis_watch(int argc, char **argv);
int analysis_result(int argc, char **argv);
int analysis_stop(int argc, char **argv);
int analysis_export(int argc, char **argv);
int analysis_drill(int argc, char **argv);
/* "--quantile T": what goes on from this step. */
const char *analysis_drill_options(const sotto_recipe *last);
int analysis_discover(int argc, char **argv);
/* What the search of this folder has found so far: text, JSON or CSV. */
int analysis_show_found(analysis_job *job, FILE *out, bool json, bool csv, size_t most);

#endif
