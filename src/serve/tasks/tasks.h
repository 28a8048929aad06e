/* serve/tasks/tasks.h - the tasks this server takes part in.
 *
 * Callers:  the admin verbs add; every handler finds.
 * Memory:   a task lives until the server closes: pointers to found ones stay valid, without a
 *           reference count.
 * Threads:  finding takes no lock that adding holds for long.
 * Secrets:  verify_key and tokens.
 *
 * Everything about a task is compiled here from the recipe's and parties' own bytes; nothing is taken from the peer.
 */
#ifndef SOTTO_SERVE_TASKS_TASKS_H
#define SOTTO_SERVE_TASKS_TASKS_H

#include "aggregate/method.h"
#include "dap/dap.h"
#include "db/sealed.h"
#include "db/store.h"
#include "noise/noise.h"
#include "serve/tasks/admitting_keys.h"
#include "serve/tasks/pairing.h"
#include "sotto/recipe.h"
#include "sotto/seal.h"

typedef enum sotto_role { SOTTO_LEADER = 2, SOTTO_HELPER = 3 } sotto_role; /* as DAP numbers them */

typedef struct sotto_server_task {
    int64_t n; /* its row */
    sotto_task dap;
    sotto_dap_profile profile;  /* how its parties speak      */
    const sotto_recipe *recipe; /* NULL: a bare configuration */
    const struct sotto_learning
        *learning;                /* a round of learning, whose head is the recipe; else NULL */
    uint64_t round;               /* which, of learning                                        */
    uint8_t model[32];            /* that the round's record names                             */
    const char *leader, *helper;  /* the parties' names         */
    const sotto_method *method;   /* how its reports are checked and added up */
    sotto_vdaf vdaf;              /* that method with the task's parameters    */
    sotto_vdaf_verifier verifier; /* key, context "dap-18" || id, and which aggregator this is */
    sotto_hpke_config collector;  /* seal aggregate shares to it */
    const sotto_pairing *pairing; /* tokens; never NULL: an unpaired task is not found */
    int64_t collection_start; /* of the first of the slots that follow each other from then on */
    uint64_t
        collection_seconds; /* a batch lies within a slot of this length; 0: no such rule     */
    const sotto_noise
        *noise; /* what this server adds to every sum that it releases; NULL: nothing */
    sotto_admitting_keys token_keys; /* keys of the tokens that it asks for; issuer NULL: none */
    size_t max_report;               /* bytes of the largest valid report on the wire */
} sotto_server_task;

/* Limits that leader and helper agree on. A leader makes no job beyond either, and a helper reads every job within both,
 * whatever its options say. A single report that is longer is a job of its own. */
enum { SOTTO_JOB_MAX_REPORTS = 1000, SOTTO_JOB_MAX_BYTES = 4 << 20, SOTTO_JOB_HEAD = 4096 };

/* Bytes of one report in an aggregation job, at most: as it was uploaded, with the leader's verifier share in place of the
 * leader's input share. */
size_t sotto_task_job_entry(const sotto_server_task *task);

/* Whether it ends: a bare task without a task interval never does. */
bool sotto_task_ends(const sotto_server_task *task);

typedef struct sotto_tasks sotto_tasks;

/* log: NULL is fine; borrowed. */
SOTTO_MUST_USE sotto_status sotto_tasks_open(sotto_tasks **tasks, sotto_db *db,
                                             const sotto_column_keys *keys, sotto_role role,
                                             const sotto_log_sink *log, sotto_err *err);
/* Stops looking for new tasks; those found stay. NULL is fine. */
void sotto_tasks_stop(sotto_tasks *tasks);
/* NULL is fine. */
void sotto_tasks_close(sotto_tasks *tasks);

/* NULL: unknown. Never waits: what another process added is found by a thread that is woken, or looks every second whether there
 * are more rows. Asking for an unknown task wakes it, at most every 50 ms. */
const sotto_server_task *sotto_tasks_find(sotto_tasks *tasks, const uint8_t id[SOTTO_TASK_ID_SIZE]);
const sotto_server_task *sotto_tasks_by_row(sotto_tasks *tasks, int64_t n);
/* Looks now. */
SOTTO_MUST_USE sotto_status sotto_tasks_refresh(sotto_tasks *tasks, sotto_err *err);
/* The i-th that was found; NULL behind the last. */
const sotto_server_task *sotto_tasks_at(sotto_tasks *tasks, size_t i);
size_t sotto_tasks_count(sotto_tasks *tasks);
/* Rows that are passed over, and logged when first seen. This version can't compile them, or they name a key in this server's
 * place that it never had. Or their pairing does not open, or has another key for the collector or other URLs. */
size_t sotto_tasks_broken(sotto_tasks *tasks);

/* Compiles the recipe, or the record of a round (recipe/learning.h), and stores one task for each of its cohorts; ids (32 bytes each) are appended to `ids`.
 * Adding the same again changes nothing but the population, and that only if it is not 0: it counts at once. The id does not
 * cover the collector's key, so the key is compared separately, with the pairing and with what was added before. Until its
 * parties are paired a task is not served: adding it again with another key for the collector then replaces what was stored.
 *   expected  if not empty, the ids that the other side computed, one after the other: SOTTO_DENIED if ours differ
 *   SOTTO_DENIED  also where the recipe fails its lint: `mistakes` says why. Or the parties file has a key under this
 *             server's name that is not this server's. Or the collector's key or a server's URL is not the paired one, or
 *             the key is not the one that the task has already.
 */
SOTTO_MUST_USE sotto_status sotto_tasks_add(sotto_db *db, const sotto_column_keys *keys,
                                            sotto_role role, sotto_bytes recipe,
                                            sotto_bytes parties, uint64_t population,
                                            sotto_bytes expected, sotto_buf *ids,
                                            sotto_mistakes *mistakes, sotto_err *err);

/* The same for a recipe that asks for tokens.
 *   token_keys  all that the recipe's schedule needs, by their opening; of the issuer that the recipe names, whatever name they have.
 *               NULL: none
 *   SOTTO_DENIED  also where the keys are not for the recipe's schedule (sotto_admitting_keys_check), or others than the task has, or
 *                 the recipe asks for no tokens */
SOTTO_MUST_USE sotto_status sotto_tasks_add_admitted(
    sotto_db *db, const sotto_column_keys *keys, sotto_role role, sotto_bytes recipe,
    sotto_bytes parties, const sotto_admitting_keys *token_keys, uint64_t population,
    sotto_bytes expected, sotto_buf *ids, sotto_mistakes *mistakes, sotto_err *err);

/* Deletes tasks (32 bytes each) that were added by mistake: all of them, or none.
 *   SOTTO_MISSING  there is no such task
 *   SOTTO_DENIED   its parties are paired, so that a server may be serving it; or something came for it */
SOTTO_MUST_USE sotto_status sotto_tasks_delete(sotto_db *db, sotto_role role, sotto_bytes ids,
                                               sotto_err *err);

/* A task that came as a DAP configuration, with no recipe behind it: for other clients and collectors than sotto's. It
 * claims no privacy, and its operator is responsible for its parameters. */
typedef struct sotto_bare_task {
    sotto_bytes configuration;       /* an encoded TaskConfiguration                             */
    const char *leader, *helper;     /* the names in their pairing                               */
    sotto_bytes collector_config;    /* an encoded HpkeConfig                                    */
    sotto_bytes verify_key;          /* 32 bytes, or empty: derived from the pairing's seed      */
    sotto_bytes id;                  /* 32 bytes, or empty: derived from the configuration       */
    sotto_dap_profile profile;       /* how the other parties speak                              */
    sotto_admitting_keys token_keys; /* where the configuration asks for tokens, else nothing    */
} sotto_bare_task;
SOTTO_MUST_USE sotto_status sotto_tasks_add_bare(sotto_db *db, const sotto_column_keys *keys,
                                                 sotto_role role, const sotto_bare_task *task,
                                                 uint64_t population,
                                                 uint8_t id[SOTTO_TASK_ID_SIZE], sotto_err *err);

/* ---- pairings ------------------------------------------------------------------------------------------- */

/* SOTTO_DENIED: these parties are paired already, with other secrets; old ones are never replaced while tasks use
 * them, since reports were verified with their key. Or a task of theirs that waits has another key for the
 * collector or other URLs. */
SOTTO_MUST_USE sotto_status sotto_pairing_put(sotto_db *db, const sotto_column_keys *keys,
                                              const sotto_pairing *pairing, sotto_err *err);

#endif
