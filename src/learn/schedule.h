/* learn/schedule.h - when a device takes part in training: random check-ins, by its own coins, at most once in a run.
 *
 * Callers:  the simulator; tests.
 * Memory:   a schedule is a plain value.
 * Threads:  a schedule never changes after init.
 * Secrets:  whoever knows which slot a device drew knows what the claim hides. In a simulation the seed tells everything.
 *
 *     fix        A_fix: with chance p0 a device draws one of m slots. One device of a slot is used, or a dummy; a step is
 *                made of every `batch` slots.
 *     avg        A_avg: each device draws one of m slots. All of a slot are added up, and each slot is a step.
 *     sldw       A_sldw: a device draws one of the m slots that begin when it arrives. Nothing before slot m is released.
 *     donation   a device tosses a coin of chance 1/m in each slot, and its first head is its slot; no head is silence.
 *
 * The first three are of Balle et al. 2020 (Algorithms 1 and 2, section 4.2), the last is of Talwar et al. 2024, Appendix A.
 */
#ifndef SOTTO_LEARN_SCHEDULE_H
#define SOTTO_LEARN_SCHEDULE_H

#include "sotto/base.h"

typedef enum sotto_schedule_law {
    SOTTO_SCHEDULE_FIX = 1,
    SOTTO_SCHEDULE_AVG,
    SOTTO_SCHEDULE_SLDW,
    SOTTO_SCHEDULE_DONATION
} sotto_schedule_law;

/* What becomes of several devices in one slot. */
typedef enum sotto_slot_policy {
    SOTTO_SLOT_ONE_OF = 1,        /* one of them, chosen at random; a dummy in an empty slot */
    SOTTO_SLOT_ALL,               /* all are added up                                        */
    SOTTO_SLOT_ALL_AFTER_WARM_UP, /* likewise, and the first slots are dropped               */
} sotto_slot_policy;

typedef struct sotto_schedule_config {
    sotto_schedule_law law;
    sotto_slot_policy policy;
    uint64_t devices;  /* 1 to 2^32                                                    */
    uint64_t slots;    /* a device draws one of these: m, 1 to 10^6                    */
    uint64_t batch;    /* slots of a step: 1 unless the policy is one-of               */
    uint64_t arrivals; /* sldw: devices that arrive in each slot, in order of number   */
    double chance;     /* fix: that a device checks in at all; others: 1               */
} sotto_schedule_config;

typedef struct sotto_schedule {
    sotto_schedule_config config;
    uint64_t first; /* slots before this one are dropped                    */
    uint64_t all;   /* slots from `all` on are dropped                      */
    uint64_t steps; /* released in all                                      */
    uint64_t reach; /* steps of which a device may be in one, at most       */
} sotto_schedule;

#define SOTTO_SCHEDULE_NONE UINT64_MAX

/* SOTTO_DENIED names a number out of its range, or a policy that is not the law's. */
SOTTO_MUST_USE sotto_status sotto_schedule_init(sotto_schedule *out,
                                                const sotto_schedule_config *config,
                                                sotto_err *err);
const char *sotto_schedule_name(sotto_schedule_law law);

/* The slot that a device draws from its own seed, or SOTTO_SCHEDULE_NONE: it stays silent. */
uint64_t sotto_schedule_draw(const sotto_schedule *schedule, uint64_t device, uint64_t seed);
/* The step that a slot is part of, or SOTTO_SCHEDULE_NONE: its slot is not released. */
uint64_t sotto_schedule_step(const sotto_schedule *schedule, uint64_t slot);
/* Whether the server keeps the device that is number `place` of the `count` of a slot. seed: the server's own coin for that slot. */
bool sotto_schedule_keeps(const sotto_schedule *schedule, uint64_t place, uint64_t count,
                          uint64_t seed);
/* What the sum of a step is divided by: public, so it tells nothing about who came. One-of: slots of a step, with dummies. */
double sotto_schedule_divisor(const sotto_schedule *schedule, uint64_t step);

#endif
