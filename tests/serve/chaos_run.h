/* chaos_run.h - one run of chaos_service: what was sent in it, and what must have come of that. */
#ifndef SOTTO_TESTS_CHAOS_RUN_H
#define SOTTO_TESTS_CHAOS_RUN_H

#include "deployment.h"
#include "door.h"
#include "sim/random.h"
#include "traffic.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BINS = 8, BUCKETS = 3, A_REQUEST = 20, CONNECTIONS = 24, COLLECT_MS = 300000 };

typedef struct sotto_chaos_run {
    const char *name;
    sotto_deployment d;
    sotto_maker *maker;
    uint64_t seed, total, made;
    uint8_t *fates;
    _Atomic bool *repeated;   /* by request: the network brought it twice */
    uint64_t again;           /* next_unsure has looked at all before this report */
    sotto_door *front, *back; /* before the leaders, before the helpers */
    /* the storm */
    pthread_t thread;
    _Atomic bool over;
    sotto_sim_random random;
    unsigned kills, stops, fulls, jumps, crashes;
    bool failed;
} sotto_chaos_run;

/* Of a hundred, one is malformed in one of three ways, and one has a proof that does not hold. */
sotto_flaw sotto_chaos_flaw(uint64_t number);

/* chaos_truth.c: whether the servers counted what the record says; prints both. */
bool sotto_chaos_compare(sotto_chaos_run *r, const sotto_traffic *sent, const sotto_traffic *after,
                         const sotto_collection *got);

#endif
