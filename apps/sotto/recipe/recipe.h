/* apps/sotto/recipe/recipe.h - what the recipe verbs share. */
#ifndef SOTTO_APPS_RECIPE_H
#define SOTTO_APPS_RECIPE_H

#include "recipe/accuracy.h"
#include "sotto/lint.h"
#include "support/arguments.h"
#include "verbs.h"

#include "show.h"

/* One run of a recipe verb. */
typedef struct sotto_recipe_job {
    const char *verb;
    const char *above;      /* what stands before the verb; NULL: "sotto recipe" */
    const char *files[2];   /* recipe, parties */
    const char *policy;     /* NULL: none      */
    const char *streams;    /* NULL: none      */
    const char *others[32]; /* recipes of the same analysis */
    size_t other_count;
    uint64_t cohort;
    bool json;
    sotto_arena arena;
    sotto_mistakes mistakes;
    sotto_bytes text; /* of the recipe, as it was read */
    const sotto_recipe *recipe;
    const sotto_policy *policy_read;
    const sotto_streams *streams_read;
    const sotto_parties *parties;
    sotto_recipe_verdict verdict;
    bool judged; /* the verdict is filled */
    sotto_recipe_claim claim;
    sotto_forecast forecast;
    sotto_accuracy accuracy;
} sotto_recipe_job;

/* An empty one. */
void sotto_recipe_job_begin(sotto_recipe_job *job, const char *verb);
/* EXIT_DONE, or EXIT_USAGE after having said why. `files` is how many are needed; `own` are rows that this verb has beside
 * --policy, --streams and --json. The job is cleared before anything is read. */
int sotto_recipe_job_parse(sotto_recipe_job *job, int argc, char **argv, size_t files,
                           const sotto_argument *own, size_t count);
void sotto_recipe_job_end(sotto_recipe_job *job);
/* EXIT_DONE; EXIT_FAILED for a file that can't be read; EXIT_LINT after having printed its mistakes. */
int sotto_recipe_job_load(sotto_recipe_job *job);
/* The same without judging the recipe. */
int sotto_recipe_job_read(sotto_recipe_job *job);
/* The recipe's bytes alone; and the other files that were named. */
int sotto_recipe_job_text(sotto_recipe_job *job);
int sotto_recipe_job_read_others(sotto_recipe_job *job);
/* Says what is wrong with a file, and how to exit. */
int sotto_recipe_job_complain(sotto_recipe_job *job, const char *path, const sotto_err *err);

/* recipe_options.c */
/* Says what is wrong; EXIT_USAGE. */
int sotto_recipe_misused(const char *verb, const char *option, const char *what);
/* Writes a recipe into a file. EXIT_DONE, or EXIT_FAILED after having said why. */
int sotto_recipe_save(const char *verb, const char *path, sotto_bytes text);

/* recipe_learning.c: of a job whose text is a learning recipe, or the record of a round. */
bool sotto_recipe_job_learns(const sotto_recipe_job *job);
int sotto_recipe_learning_lint(sotto_recipe_job *job);
int sotto_recipe_learning_explain(sotto_recipe_job *job);
int sotto_recipe_learning_compile(sotto_recipe_job *job);
int sotto_recipe_round(int argc, char **argv);

void sotto_recipe_print_mistakes(const sotto_recipe_job *job, const char *file);
void sotto_recipe_print_claim(const sotto_recipe_job *job);
/* recipe_encrypted.c: sizes and odds of encrypted sums; nothing for other recipes. */
void sotto_recipe_print_encrypted(const sotto_recipe *recipe);
void sotto_recipe_encrypted_members(sotto_json *j, const sotto_recipe *recipe);
void sotto_recipe_mistakes_members(sotto_json *j, const sotto_mistakes *list);
/* What a device that has spent nothing would decide, under the heading of the lines around it. */
void sotto_recipe_print_verdict(const sotto_recipe_verdict *v);
void sotto_recipe_verdict_members(sotto_json *j, const sotto_recipe_verdict *v);
/* What an accuracy says, as members or as lines under this name. */
void sotto_recipe_accuracy_members(sotto_json *j, const sotto_accuracy *a,
                                   const sotto_recipe *recipe);
void sotto_recipe_print_accuracy(const sotto_accuracy *a, const sotto_recipe *recipe);
int sotto_recipe_publish(int argc, char **argv);
int sotto_recipe_price(int argc, char **argv);
int sotto_recipe_refine_verb(int argc, char **argv);
int sotto_recipe_print_task(const sotto_recipe_job *job, const sotto_task *task);

#endif
