/* account/local/checkin_groups.h - the binary laws of the m slots of theorem 3.2's proof, gathered into few groups.
 *
 * Slot i has privacy loss +-eps_i, eps_i = log(1 + p0 q_i (e^eps0 - 1)), which rises smoothly with i. The logarithm of
 * its transform is log cosh(eps_i (s + 1/2)) - log cosh(eps_i / 2). A group sums it by a Taylor series around its mean
 * with its central moments. Where that is not exact enough, its four parts do it.
 *
 * Callers:  checkin_compose.c alone.
 * Memory:   about 200 kB, whatever m.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_CHECKIN_GROUPS_H
#define SOTTO_ACCOUNT_LOCAL_CHECKIN_GROUPS_H

#include "account/local/compose_mixed.h"

#define SOTTO_SLOT_GROUPS  1365 /* 1 + 4 + 16 + 64 + 256 + 1024 */
#define SOTTO_SLOT_MOMENTS 8

typedef struct sotto_slot_group {
    double first, last;
    double eps;                             /* the mean                                   */
    double reach;                           /* no slot's is further from it               */
    double moments[SOTTO_SLOT_MOMENTS + 1]; /* sums of (eps_i - eps)^k, k >= 2 */
    size_t parts;                           /* where its four parts begin; 0 if it has none */
    double lift, thin;                      /* 1/cosh^2 and tanh of eps (c + 1/2)    */
    double least;                           /* 1/cosh^2 of its last slot's, or less */
    double spread;                          /* what its moments add to the logarithm there */
    double steps; /* 0, or that of Laplace noise: then it has no parts and no reach */
} sotto_slot_group;

typedef struct sotto_slots {
    double rise, end; /* eps_i = log(1 + rise / (end - i)); rise is 0 for laws of any epsilons */
    double squares;   /* sum of eps_i^2          */
    double sum;       /* sum of eps_i, rounded up */
    double extra;     /* mu^2 of a Gaussian release on top, see checkin_compose.c */
    double c;
    size_t roots; /* groups[0 .. roots - 1] are parts of no other */
    size_t count;
    sotto_slot_group groups[SOTTO_SLOT_GROUPS];
} sotto_slots;

void sotto_slots_open(sotto_slots *s, double eps0, double m, double p0);

/* eps_i; i need not be whole. */
double sotto_slot_eps(const sotto_slots *s, double i);

/* Binary laws of any epsilons instead, so many of each; at most SOTTO_SLOT_GROUPS kinds. mu_squared is that of a Gaussian
 * release beside them, of which `extra` is at least a hundred-thousandth of the rest. */
void sotto_slots_set(sotto_slots *s, const sotto_binary_part *parts, size_t kinds,
                     double mu_squared);

/* Every slot's transform at c > 0, as the sum of logarithms; *off grows by what it may be wrong by. */
double sotto_slots_log_moment(const sotto_slots *s, double c, double *off);

/* The c of the line along which the next two move. */
void sotto_slots_tilt(sotto_slots *s, double c);

typedef struct sotto_slot_log {
    double size, angle; /* logarithm of the absolute value, and the argument */
    double off;
} sotto_slot_log;

/* At c + it, relative to c. */
sotto_slot_log sotto_slots_relative(const sotto_slots *s, double t);

/* At most -2 log of the relative size at t, but for the extra release, and how fast that can fall. The sum ends once it is
 * beyond `most`; *looked grows by the groups that were met. */
double sotto_slots_damping(const sotto_slots *s, double t, double most, size_t *looked);
double sotto_slots_damping_slope(const sotto_slots *s);

#endif
