/* apps/sotto/collect/collect.h - what the files of `sotto collect` share. */
#ifndef SOTTO_APPS_COLLECT_H
#define SOTTO_APPS_COLLECT_H

#include "recipe.h"
#include "serve/tasks/pairing.h"
#include "show.h"
#include "sotto/collect.h"
#include "sotto/view.h"

/* One run. */
typedef struct sotto_collect_job {
    const char *verb;        /* NULL: "sotto collect" */
    sotto_recipe_job recipe; /* files, policy, json, arena */
    const char *pairing, *key, *cohort, *from, *until, *ca, *by, *proof, *rate;
    sotto_answer_files files;
    bool next, forget, plain, close_early, withdraw, adjust;
    uint64_t wait_s, bins;
    sotto_pairing secrets;
    sotto_collector_key key_read;
    sotto_task task;
    sotto_collection_query query;
    sotto_result_options result; /* of the estimate */
    sotto_answer_log log;
    bool has_log;
} sotto_collect_job;

/* collect_log.c: the bundle of --proof, judged by the policy's log. EXIT_DONE, or after having said why: EXIT_USAGE,
 * EXIT_FAILED, EXIT_PROOF. */
int sotto_collect_job_log(sotto_collect_job *job);

/* Everything that is read from files, and whether it fits together. EXIT_DONE, or after having said why:
 * EXIT_USAGE, EXIT_LINT, EXIT_FAILED. */
int sotto_collect_job_load(sotto_collect_job *job);

/* Pairing and key alone, of a job whose recipe, parties and task are there. The same codes. */
int sotto_collect_job_secrets(sotto_collect_job *job);

/* Whether the helper answers at all, whatever it says. */
bool sotto_collect_helper_answers(const sotto_collect_job *job);

/* `sotto collect key FILE`; argv[0] is "key". */
int sotto_collect_key(int argc, char **argv);

#endif
