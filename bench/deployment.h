/* bench/deployment.h - a leader and a helper, or several of each, as processes of their own on loopback.
 *
 * Callers:  sotto-bench's pipeline group; the fault runs.
 * Memory:   a deployment is its caller's struct.
 * Threads:  one.
 *
 * A replica is a program started with `--server`, this same one unless another is named: its main calls sotto_replica_main first. The two talk
 * over pipes: a replica ends when its parent does.
 */
#ifndef SOTTO_BENCH_DEPLOYMENT_H
#define SOTTO_BENCH_DEPLOYMENT_H

#include "maker.h"
#include "serve/host/keys.h"
#include "serve/tasks/server.h"
#include "sotto/collect.h"
#include "tokens.h"

#include <sys/types.h>

enum { SOTTO_MAX_REPLICAS = 4, SOTTO_DEPLOYMENT_PATH = 256 };

typedef struct sotto_replica {
    sotto_role role;
    const char *service; /* NULL: the role's; else "relay" or "gateway" (bench/between.h) */
    const char *detail;  /* ... and its options */
    char files[SOTTO_DEPLOYMENT_PATH]; /* ... its table, and what its other files begin with */
    pid_t pid;                         /* 0: it is not running */
    uint16_t port;
    int to, from; /* pipes */
} sotto_replica;

typedef struct sotto_deployment_options {
    const char *postgres;      /* an address; NULL: SQLite                                    */
    unsigned leaders, helpers; /* replicas; 0: one. More than one needs PostgreSQL            */
    sotto_prio3_config vdaf;
    uint64_t min_batch_size;
    uint16_t helper_door; /* the port that leaders are told; 0: the helper's own          */
    unsigned job_delay_ms, lease_seconds; /* 0: the server's defaults                      */
    bool shared_bodies;  /* over PostgreSQL: bodies of reports in a directory of all leaders */
    const char *program; /* whose main calls sotto_replica_main; NULL: this one            */
    bool tokens; /* reports need one each: then the deployment has an issuer (bench/tokens.h)  */
} sotto_deployment_options;

typedef struct sotto_deployment {
    sotto_deployment_options options;
    char directory[SOTTO_DEPLOYMENT_PATH];
    char database[2][SOTTO_DEPLOYMENT_PATH]; /* the leaders', the helpers' */
    char key_file[2][SOTTO_DEPLOYMENT_PATH];
    sotto_replica leaders[SOTTO_MAX_REPLICAS], helpers[SOTTO_MAX_REPLICAS];
    sotto_pairing pairing;
    sotto_collector_key collector;
    uint8_t configuration[512], hpke[2][256];
    char leader_url[64], helper_url[64];
    sotto_load_tokens tokens; /* if its options ask for them */
    sotto_maker_task task;    /* borrows from the above */
    sotto_task dap;
    sotto_prio3 vdaf;
    uint64_t bucket; /* now, in units of the precision */
    sotto_arena arena;
} sotto_deployment;

/* Makes directory, databases, keys and the task; starts nothing. */
SOTTO_MUST_USE sotto_status sotto_deployment_init(sotto_deployment *d,
                                                  const sotto_deployment_options *options,
                                                  sotto_err *err);
/* Starts every replica that does not run, and waits until it is ready. */
SOTTO_MUST_USE sotto_status sotto_deployment_start(sotto_deployment *d, sotto_err *err);
/* Ends what runs, kindly, and removes the directory. */
void sotto_deployment_clear(sotto_deployment *d);

/* One that nobody listens on now. */
SOTTO_MUST_USE sotto_status sotto_free_port(uint16_t *out, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_replica_start(sotto_deployment *d, sotto_replica *r,
                                                sotto_err *err);
/* Lets it finish what it has, or with kill ends it at once. */
void sotto_replica_end(sotto_replica *r, bool kill_it);
/* Sends a line that the program's own `other` understands (see sotto_replica_main). */
SOTTO_MUST_USE sotto_status sotto_replica_say(sotto_replica *r, const char *line, sotto_err *err);

typedef struct sotto_replica_stats {
    uint64_t functions, transactions, syncs; /* of its store, since it started          */
    uint64_t unverified;                     /* reports in the database (leader)        */
    double cpu_seconds;                      /* since it started                        */
    double resident_mib, most_resident_mib;
} sotto_replica_stats;
SOTTO_MUST_USE sotto_status sotto_replica_stats_get(sotto_replica *r, sotto_replica_stats *out,
                                                    sotto_err *err);

/* Collects the buckets from `first` up to, not including, `end`. */
SOTTO_MUST_USE sotto_status sotto_deployment_collect(sotto_deployment *d, sotto_collection *out,
                                                     uint64_t first, uint64_t end,
                                                     unsigned deadline_ms, sotto_err *err);

/* A server's store, keys and columns, in this process: before its replicas start, or beside them. side: 0 the leader's. */
typedef struct sotto_deployment_store {
    sotto_db *db;
    sotto_column_keys columns;
    sotto_keys *keys;
} sotto_deployment_store;
/* Close it after a failure too. */
SOTTO_MUST_USE sotto_status sotto_deployment_open_store(sotto_deployment_store *store,
                                                        const sotto_deployment *d, size_t side,
                                                        sotto_err *err);
void sotto_deployment_close_store(sotto_deployment_store *store);

/* What one report costs by cryptography alone: nanoseconds of CPU time. */
typedef struct sotto_report_cost {
    double leader_open, helper_open, leader_verify, helper_verify;
} sotto_report_cost;
SOTTO_MUST_USE sotto_status sotto_deployment_cost(sotto_deployment *d, sotto_report_cost *out,
                                                  double seconds, sotto_err *err);

/* If the program was started as a replica: serves until it is told to end, and exits. `other` takes lines that the
 * fault runs send; NULL: none. Call it first in main. */
void sotto_replica_main(int argc, char **argv, void (*other)(const char *line));

#endif
