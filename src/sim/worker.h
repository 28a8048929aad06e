/* sim/worker.h - what the files of a trial share: one thread's part of it. */
#ifndef SOTTO_SIM_WORKER_H
#define SOTTO_SIM_WORKER_H

#include "aggregate/method.h"
#include "device/shared.h"
#include "noise/noise.h"
#include "query/compile.h"
#include "seal/hpke/ephemerals.h"
#include "sim/trial.h"

/* ---- scratch.c: the recipe's query over the rows of one device, in a table that all devices of a thread use in turn -------- */

typedef struct sotto_scratch sotto_scratch;

SOTTO_MUST_USE sotto_status sotto_scratch_open(sotto_scratch **out, const sotto_trial *trial,
                                               sotto_err *err);
void sotto_scratch_close(sotto_scratch *scratch);
/* The bins of all rows of the query's answer, in its order; borrowed until the next call. None where the query fails as it runs.
 *   now  when the device answers */
SOTTO_MUST_USE sotto_status sotto_scratch_run(sotto_scratch *scratch, const uint64_t **bins,
                                              size_t *count, const sotto_sim_device *device,
                                              int64_t now, sotto_err *err);

/* ---- servers.c: leader and helper, from sealed reports to tallies ---------------------------------------------------------- */

typedef struct sotto_sim_servers sotto_sim_servers;

SOTTO_MUST_USE sotto_status sotto_sim_servers_open(sotto_sim_servers **out,
                                                   const sotto_trial *trial, sotto_err *err);
void sotto_sim_servers_close(sotto_sim_servers *servers);
/* A report as a device uploads it. It is verified with others. */
SOTTO_MUST_USE sotto_status sotto_sim_servers_put(sotto_sim_servers *servers, size_t cohort,
                                                  sotto_bytes report, sotto_err *err);
/* Verifies what was put. SOTTO_REJECTED: one does not hold, which can't be. */
SOTTO_MUST_USE sotto_status sotto_sim_servers_flush(sotto_sim_servers *servers, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_sim_servers_merge(sotto_sim_servers *servers,
                                                    const sotto_sim_servers *other, size_t cohort,
                                                    sotto_err *err);
/* Each adds its noise, seals its share to the collector, and the collector opens both. */
SOTTO_MUST_USE sotto_status sotto_sim_servers_release(sotto_sim_servers *servers,
                                                      sotto_collection *out, size_t cohort,
                                                      sotto_arena *arena, sotto_err *err);

/* Ephemeral keys that a thread's devices seal with, again and again: a simulation has nothing to hide, and each key would take four products of
 * X25519. Servers keep what they agreed with each. */
enum { SOTTO_SIM_KEYS = 32, SOTTO_SIM_ENC = 32 };

/* ---- worker.c ---------------------------------------------------------------------------------------------------------------- */

typedef struct sotto_sim_cohort {
    uint64_t reports, without, silent;
    uint64_t *truth; /* by value: content.values */
    uint64_t
        *drawn; /* importance sampling: the same of all devices that were drawn, silent ones too */
    uint64_t *sums; /* fast: content.entries    */
} sotto_sim_cohort;

struct sotto_sim_worker {
    const sotto_trial *trial;
    sotto_sim_cohort *cohorts;
    sotto_arena keep, work;
    /* fast */
    sotto_scratch *scratch;
    /* the whole path */
    sotto_device_shared *shared;
    sotto_ephemerals *stock; /* that devices seal with ... */
    struct {
        uint8_t to[SOTTO_SIM_ENC]; /* ... for leader and helper */
        sotto_ephemeral keys[SOTTO_SIM_KEYS];
        size_t made, next;
    } kept[2];
    sotto_sim_servers *servers;
    sotto_sim_random random; /* of the device at hand */
    sotto_sim_cohort *cohort;
    int64_t now;
};

/* An event whose time is not known happens when the recipe opens. */
static inline int64_t sotto_sim_time(const sotto_trial *trial, int64_t time)
{
    return time == INT64_MIN ? trial->recipe->opens : time;
}

/* The cohort of a device; *asked: whether the recipe asks it at all. */
void sotto_worker_cohort(const sotto_trial *trial, const sotto_sim_device *device, size_t *cohort,
                         bool *asked);
void sotto_worker_count(sotto_sim_cohort *cohort, uint64_t bin);
/* Importance sampling: before its draw. */
void sotto_worker_count_drawn(sotto_sim_cohort *cohort, uint64_t bin);

/* fast.c, whole.c */
SOTTO_MUST_USE sotto_status sotto_worker_take_fast(sotto_sim_worker *worker, uint64_t first,
                                                   const sotto_sim_device *devices, size_t count,
                                                   sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_worker_take_whole(sotto_sim_worker *worker, uint64_t number,
                                                    const sotto_sim_device *device, sotto_err *err);

#endif
