/* privacy/allocation_turn.h - the sum that takes the time of a tilted line: every point turned to the next node.
 *
 * Callers:  allocation_tilt.c alone.
 */
#ifndef SOTTO_PRIVACY_ALLOCATION_TURN_H
#define SOTTO_PRIVACY_ALLOCATION_TURN_H

#include <stddef.h>

/* Points come in multiples of this: so many sums run side by side. */
#define SOTTO_TURN_LANES 4

/* Points in columns; arrays of `points` numbers. re + i im is turned by by_re + i by_im and stays turned. */
typedef struct sotto_turns {
    size_t points;
    const double *weight, *by_re, *by_im;
    double *re, *im;
} sotto_turns;

/* down: the sum of weight im^2, side: of weight im re; after the turn. */
void sotto_turn_sum(const sotto_turns *w, double *down, double *side);
#if defined(__x86_64__)
void sotto_turn_sum_avx2(const sotto_turns *w, double *down, double *side);
#endif

#endif
