/* account/gauss/allocated.h - one update of a device in one of several sums, which it draws uniformly and in secret; integer noise on each.
 *
 * Callers:  learn/schedule_claim.c and recipe/learning_slots_claim.c.
 * Memory:   about 350 kB of stack.
 *
 * It is a random allocation (account/gauss/allocation.h) of real noise, from which the integer noise differs by what is paid for
 * (account/gauss/lattice.h). docs/decisions/0149 has the proofs.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_ALLOCATED_H
#define SOTTO_ACCOUNT_GAUSS_ALLOCATED_H

#include "sotto/base.h"

typedef struct sotto_allocated {
    double sigma;         /* of the noise on every number, in integers, rounded down  */
    double length;        /* how far a sum moves, in integers, rounded up             */
    double chance;        /* that the device draws a sum at all, rounded up           */
    uint64_t reach, seen; /* sums that it may draw; of these, how many are released   */
    double numbers;       /* that are drawn in all sums together                      */
    double lost;          /* total variation of all these draws from their own law    */
} sotto_allocated;

/* Epsilon with the update or without it, rounded up. It holds where sotto_allocated_is_paid says so: where integers are fine enough
 * to be taken for real noise at this delta.
 *   SOTTO_DENIED  integers are too coarse for any claim about real noise, or a number is out of its range */
SOTTO_MUST_USE sotto_status sotto_allocated_eps(double *out, const sotto_allocated *a, double delta,
                                                sotto_err *err);
bool sotto_allocated_is_paid(const sotto_allocated *a, double eps, double delta);

#endif
