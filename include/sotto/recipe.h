/* sotto/recipe.h - what may be asked: read a recipe, compile it to a DAP task. sotto/lint.h judges and explains it.
 *
 * Callers:  analysts' tools and the console; device/ before it answers, serve/ before it takes a task.
 * Memory:   recipes, policies and parties live in the arena they were read into and borrow nothing else.
 * Threads:  what was read is never written again; an arena belongs to one thread at a time.
 * Secrets:  none: recipes, policies and parties are public.
 *
 * The exact bytes of a recipe are hashed and published; nothing here ever encodes one anew. docs/recipe.md is
 * the reference of all three formats, printed from the table that the reader works by.
 */
#ifndef SOTTO_RECIPE_H
#define SOTTO_RECIPE_H

#include "sotto/base.h"
#include "sotto/events.h"
#include "sotto/seal.h"
#include "sotto/vdaf.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SOTTO_RECIPE_MAX_BYTES = 4 << 20, /* of a recipe, policy or parties file           */
    SOTTO_RECIPE_MAX_DEPTH = 12,      /* objects and lists within each other           */
    SOTTO_RECIPE_MAX_BINS = 1000000,  /* of a recipe's encoding                        */
    SOTTO_RECIPE_HASH_SIZE = 32,      /* SHA-256 of the published bytes                */
    SOTTO_MAX_MISTAKES = 64,          /* kept in one list; the others are counted      */
};

/* An arena of this ceiling holds the largest recipe that is accepted. */
#define SOTTO_RECIPE_ARENA ((size_t)192 << 20)

/* ---- mistakes --------------------------------------------------------------------------------------- */

typedef enum sotto_severity {
    SOTTO_MISTAKE = 1, /* the recipe can't be used          */
    SOTTO_WARNING,     /* it can, and here is what to know  */
} sotto_severity;

typedef struct sotto_mistake {
    sotto_severity severity;
    char path[128];     /* encode.age.boundaries[3]; empty for the whole file    */
    unsigned line;      /* from 1; 0 where there is no place                      */
    unsigned column;    /* in bytes, from 1                                       */
    char what[200];     /* what is wrong                                          */
    char accepted[200]; /* what would be accepted; may be empty                   */
    unsigned missing;   /* a key that must be there: its number among all keys, from 1; else 0.
                           sotto_mistakes_explain (sotto/lint.h) tells what it is for */
} sotto_mistake;

/* The caller's; all zeros is an empty list. */
typedef struct sotto_mistakes {
    size_t count;   /* kept in items                       */
    size_t dropped; /* found beyond SOTTO_MAX_MISTAKES     */
    size_t errors;  /* of severity SOTTO_MISTAKE, all told */
    sotto_mistake items[SOTTO_MAX_MISTAKES];
} sotto_mistakes;

/* ---- what is asked ---------------------------------------------------------------------------------- */

/* What an answer is made of, in the order of the words in `statistic` of a recipe. */
typedef enum sotto_statistic {
    SOTTO_STATISTIC_HISTOGRAM, /* devices by bin                          */
    SOTTO_STATISTIC_COUNT,     /* devices for which the query has a row   */
    SOTTO_STATISTIC_SUM,       /* of their values                         */
    SOTTO_STATISTIC_MEAN,      /* of the values of those that have one    */
    SOTTO_STATISTIC_QUANTILES  /* likewise, from a histogram              */
} sotto_statistic;

/* Who adds the noise that protects an answer, in the order of the words in `privacy.by`. */
typedef enum sotto_noise_source {
    SOTTO_BY_CROWD,    /* each device randomises its report; others hide it           */
    SOTTO_BY_SHARES,   /* each device adds a part, which protects with the others'    */
    SOTTO_BY_SERVERS,  /* each server adds all of it to its share of the sums         */
    SOTTO_BY_COMMITTEE /* devices that are drawn for it: encrypted sums alone         */
} sotto_noise_source;

/* ---- reading ---------------------------------------------------------------------------------------- */

typedef struct sotto_recipe sotto_recipe;
typedef struct sotto_policy sotto_policy;
typedef struct sotto_parties sotto_parties;

/* Reads a file. Invalid JSON, a key that is listed twice, or bytes behind the end are the one mistake of the
 * list, since nothing behind them can be trusted. All others are found at once.
 *   SOTTO_MALFORMED  mistakes has errors; err tells the first
 *   SOTTO_TOO_LARGE  longer or deeper than the limits above; nothing was read
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_recipe_read(const sotto_recipe **out, sotto_bytes json,
                                                        sotto_arena *arena,
                                                        sotto_mistakes *mistakes, sotto_err *err);
SOTTO_API SOTTO_MUST_USE sotto_status sotto_policy_read(const sotto_policy **out, sotto_bytes json,
                                                        sotto_arena *arena,
                                                        sotto_mistakes *mistakes, sotto_err *err);
SOTTO_API SOTTO_MUST_USE sotto_status sotto_parties_read(const sotto_parties **out,
                                                         sotto_bytes json, sotto_arena *arena,
                                                         sotto_mistakes *mistakes, sotto_err *err);
/* What the events of devices look like: the file that `sotto device` reads as well (docs/recipe.md, Streams). A name that
 * no stream may have is SOTTO_MALFORMED without a mistake in the list. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_streams_read(const sotto_streams **out,
                                                         sotto_bytes json, sotto_arena *arena,
                                                         sotto_mistakes *mistakes, sotto_err *err);

/* ---- compiling -------------------------------------------------------------------------------------- */

/* task_info is this, the recipe's hash, the number of the cohort in two bytes, and a digest of both servers' names, URLs
 * and keys. With another key in the parties file the task has another id. */
#define SOTTO_TASK_INFO_TAG "sotto-recipe-2"

typedef struct sotto_task {
    uint8_t id[SOTTO_TASK_ID_SIZE]; /* hash of the configuration, as taskprov has it */
    uint8_t recipe_hash[SOTTO_RECIPE_HASH_SIZE];
    sotto_bytes configuration; /* the DAP TaskConfiguration, in the arena       */
    sotto_bytes leader_url, helper_url;
    uint64_t opens, closes; /* seconds since 1970                             */
    uint64_t precision;     /* seconds                                        */
    uint64_t min_batch_size;
    unsigned batch_mode; /* 1: time interval, 2: leader selected           */
    sotto_vdaf_config vdaf;
    sotto_vdaf_sizes sizes;
    sotto_statistic statistic;
    sotto_noise_source by;
    const char *randomizer;     /* "none" unless by SOTTO_BY_CROWD               */
    double epsilon_local, p, q; /* see noise/randomizer.h; without a randomizer infinity, 1 and 0 */
    uint64_t bins, weight;
    double miss;
    size_t report_bytes;
    size_t cohort;      /* below sotto_recipe_cohorts                      */
    double noise_sigma; /* of what each server adds to every sum; 0: nothing */
} sotto_task;

/* One combination of the cohort fields' values: whom a task, and so an answer, is about. Borrowed from the recipe. */
enum { SOTTO_COHORT_FIELDS = 8 };
typedef struct sotto_cohort {
    size_t number; /* below sotto_recipe_cohorts */
    size_t count;  /* of fields; 0: the recipe has no cohorts */
    const char *fields[SOTTO_COHORT_FIELDS];
    const char *values[SOTTO_COHORT_FIELDS];
} sotto_cohort;

/* How many tasks the recipe compiles to: the combinations of its cohorts' values; 1 without cohorts. */
SOTTO_API uint64_t sotto_recipe_cohorts(const sotto_recipe *recipe);
SOTTO_API const uint8_t *sotto_recipe_hash(const sotto_recipe *recipe);

/* Compiles the task of one cohort. The recipe must have passed sotto_recipe_lint.
 *   SOTTO_MISSING  the parties lack the leader or helper that the recipe names
 *   SOTTO_DENIED   a party has another role; its keys don't cover the schedule; or the recipe's trust has no task
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_task_compile(sotto_task *out,
                                                         const sotto_recipe *recipe,
                                                         const sotto_parties *parties,
                                                         size_t cohort, sotto_arena *arena,
                                                         sotto_err *err);

/* ---- bins ------------------------------------------------------------------------------------------- */

SOTTO_API uint64_t sotto_recipe_bins(const sotto_recipe *recipe);
/* Appends the label of a bin, such as "[20,30) | i went home"; the special ones are <oov> and <end>. Values are as the recipe
 * has them, so that two bins of odd values may read alike; the number tells them apart. SOTTO_MISSING: no such bin. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_recipe_label(const sotto_recipe *recipe, sotto_buf *out,
                                                         uint64_t bin, sotto_err *err);
/* The same with a \ before what a value has of \, | and <: no two bins share this text. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_recipe_label_exact(const sotto_recipe *recipe,
                                                               sotto_buf *out, uint64_t bin,
                                                               sotto_err *err);
/* The bin of an exact label. SOTTO_MISSING: no bin has it. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_recipe_bin(const sotto_recipe *recipe, uint64_t *bin,
                                                       sotto_bytes label, sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
