/* learn/schedule_claim.h - what a schedule of random check-ins may claim after so many steps: epsilon, theorem and assumption.
 *
 * Callers:  the simulator; tests.
 * Memory:   about 400 kB of stack.
 * Secrets:  none.
 *
 * Two kinds of noise have two kinds of theorem. Reports of a pure local randomizer (learn/one_bit.h) are amplified by the theorems of Balle
 * et al. 2020, and by their proof with its steps composed optimally. A Gaussian on each sum is a random allocation of one release to one
 * of several steps. The theorems for (epsilon, delta) randomizers are not used: their side condition can't be read.
 * docs/decisions/0149 has the proofs that are not in the papers.
 */
#ifndef SOTTO_LEARN_SCHEDULE_CLAIM_H
#define SOTTO_LEARN_SCHEDULE_CLAIM_H

#include "learn/schedule.h"

typedef struct sotto_schedule_noise {
    double local_epsilon; /* of a pure local randomizer; 0: a Gaussian on each sum       */
    double sigma;         /* Gaussian: its deviation in integers, rounded down           */
    double length;        /* Gaussian: the longest update in integers, rounded up        */
    uint64_t dimension;   /* Gaussian: numbers of an update                              */
} sotto_schedule_noise;

typedef struct sotto_schedule_claim {
    double epsilon;         /* the least of the bounds below, and of what a report costs alone */
    double theorem_epsilon; /* pure: the theorem as printed; else NAN                          */
    double proof_epsilon;   /* pure: its proof, composed optimally; NAN where there is none    */
    const char *theorem, *assumption; /* constants */
    const char *adjacency;            /* in words  */
} sotto_schedule_claim;

/* Of the first `steps` steps, 1 to schedule->steps.
 *   SOTTO_DENIED  a number is out of its range; or integers are too coarse for a claim about a real Gaussian */
SOTTO_MUST_USE sotto_status sotto_schedule_claim_of(sotto_schedule_claim *out,
                                                    const sotto_schedule *schedule,
                                                    const sotto_schedule_noise *noise,
                                                    uint64_t steps, double delta, sotto_err *err);

#endif
