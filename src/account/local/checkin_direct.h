/* account/local/checkin_direct.h - the transform of a few slots along a line, each by itself, turned from node to node.
 *
 * Slot i has the factor cosh(eps_i (c + 1/2 + it)) / cosh(eps_i (c + 1/2)) = cos b + i tanh(eps_i (c + 1/2)) sin b, b = eps_i t,
 * of size 1 at most. Where the line is long and slots are few this is cheaper than groups of slots.
 *
 * Callers:  checkin_compose.c alone.
 * Memory:   the caller's, about 220 kB.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_CHECKIN_DIRECT_H
#define SOTTO_ACCOUNT_LOCAL_CHECKIN_DIRECT_H

#include "account/local/checkin_groups.h"

#define SOTTO_CHECKIN_DIRECT_SLOTS 4608
#define SOTTO_CHECKIN_DIRECT_LANES 4

typedef struct sotto_checkin_direct {
    size_t count; /* a multiple of the number of lanes; 0 where groups do better */
    double step;
    double wrong; /* relative error of the product, at most */
    double at;    /* the node where it is */
    int turns;    /* since sines were taken */
    bool wide;    /* this machine has AVX2 and fused multiply-add */
    double eps[SOTTO_CHECKIN_DIRECT_SLOTS], thin[SOTTO_CHECKIN_DIRECT_SLOTS];
    double re[SOTTO_CHECKIN_DIRECT_SLOTS], im[SOTTO_CHECKIN_DIRECT_SLOTS];
    double by_re[SOTTO_CHECKIN_DIRECT_SLOTS], by_im[SOTTO_CHECKIN_DIRECT_SLOTS];
} sotto_checkin_direct;

/* Turns all slots by one step and multiplies their factors, those of every SOTTO_CHECKIN_DIRECT_LANES-th slot into one product. */
typedef struct sotto_checkin_direct_products {
    double re[SOTTO_CHECKIN_DIRECT_LANES], im[SOTTO_CHECKIN_DIRECT_LANES];
} sotto_checkin_direct_products;

void sotto_checkin_direct_rotate(sotto_checkin_direct *f, sotto_checkin_direct_products *out);
#if defined(__x86_64__)
void sotto_checkin_direct_rotate_avx2(sotto_checkin_direct *f, sotto_checkin_direct_products *out);
#endif

/* For nodes k step of the line that the slots were tilted to. */
void sotto_checkin_direct_open(sotto_checkin_direct *f, const sotto_slots *slots, double step);

/* The product of the factors at node k as size (a logarithm, -690 at the least) and angle; off is relative, what it may be
 * wrong by. */
sotto_slot_log sotto_checkin_direct_at(sotto_checkin_direct *f, double k);

/* sotto_slots_damping at the node where it is. */
double sotto_checkin_direct_damping(const sotto_checkin_direct *f);

#endif
