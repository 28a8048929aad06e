/* apps/sotto/demo.h - a whole deployment on loopback: what the files of `sotto demo` share.
 *
 *     demo.c          options, and the list of steps
 *     demo_texts.c    the recipe, the policy and the parties
 *     demo_servers.c  a leader and a helper, each a process with a database of its own
 *     demo_devices.c  simulated devices, some of them hostile, that upload over HTTP
 *     demo_show.c     the answer, the receipt, and whether it is right
 */
#ifndef SOTTO_APPS_DEMO_H
#define SOTTO_APPS_DEMO_H

#include "serve/tasks/pairing.h"
#include "sotto/analyse.h"
#include "sotto/collect.h"
#include "sotto/device.h"

#include <sys/types.h>

enum { DEMO_CHOICES = 8, DEMO_TEXT = 8192, DEMO_PATH = 112 };

/* What people answered; no server ever has this. */
typedef struct demo_truth {
    uint64_t bins[DEMO_CHOICES + 1]; /* by the recipe's bins: 0 is "something else" */
    uint64_t answered;               /* reports that should count                  */
    uint64_t tampered, replayed, forged;
} demo_truth;

typedef struct demo_server {
    pid_t process;
    unsigned port;
    char database[DEMO_PATH + 32], key_file[DEMO_PATH + 32];
    uint8_t hpke[256]; /* its configuration, encoded */
    size_t hpke_len;
} demo_server;

typedef struct demo {
    uint64_t devices;
    bool json, check, quiet;
    char folder[DEMO_PATH];
    demo_server leader, helper;
    sotto_pairing pairing;
    sotto_collector_key collector;
    char recipe_text[DEMO_TEXT], parties_text[DEMO_TEXT], policy_text[DEMO_TEXT];
    const sotto_recipe *recipe;
    sotto_recipe_claim claim;
    sotto_task task;
    demo_truth truth;
    double epsilon_left, epsilon_allowed; /* of the first device's budget, afterwards */
    sotto_collection collection;
    sotto_result result;
    uint64_t started_ms;
    sotto_arena arena;
} demo;

extern const char *const demo_choices[DEMO_CHOICES];

/* Set by the first Ctrl-C: whatever runs ends soon, and everything is cleaned up. */
bool demo_interrupted(void);

/* demo_texts.c: the recipe and the policy first; the parties once both servers have said their ports and keys. */
void demo_write_recipe(demo *d);
void demo_write_policy(demo *d);
SOTTO_MUST_USE sotto_status demo_write_parties(demo *d, sotto_err *err);
/* Reads, judges and compiles what was written. */
SOTTO_MUST_USE sotto_status demo_compile(demo *d, sotto_err *err);

/* demo_servers.c */
SOTTO_MUST_USE sotto_status demo_servers_start(demo *d, sotto_err *err);
/* Pairs both and gives both the task, as `sotto admin` does. */
SOTTO_MUST_USE sotto_status demo_servers_provision(demo *d, sotto_err *err);
/* Ends both processes and removes the folder; whatever happened before. */
void demo_servers_stop(demo *d);

/* demo_devices.c: all of them, over real HTTP. */
SOTTO_MUST_USE sotto_status demo_devices_run(demo *d, sotto_err *err);

/* demo_show.c */
SOTTO_MUST_USE sotto_status demo_collect(demo *d, sotto_err *err);
/* Prints; false if --check found it wrong. */
SOTTO_MUST_USE sotto_status demo_show(demo *d, bool *right, sotto_err *err);

#endif
