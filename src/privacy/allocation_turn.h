/* privacy/allocation_turn.h - the sums that take the time of a tilted line: every point turned to every node.
 *
 * Callers:  allocation_tilt.c alone.
 */
#ifndef SOTTO_PRIVACY_ALLOCATION_TURN_H
#define SOTTO_PRIVACY_ALLOCATION_TURN_H

#include <stddef.h>

/* Points come in multiples of this. */
#define SOTTO_TURN_LANES 8

/* So many nodes on either side share the sines of the one in the middle. */
#define SOTTO_TURN_REACH 24

/* re[k] and im[k], k < nodes, are the sums of weight (cos - 1) and of weight sin of the angles k step z. Angles, and those of
 * SOTTO_TURN_REACH nodes more, stay below SOTTO_TURN_MOST. Each sum is off by at most SOTTO_TURN_OFF u of the sum of weight |z|
 * times k step, or times (k + 2 SOTTO_TURN_REACH) step from k = SOTTO_TURN_REACH + 1 on; for up to 128 * 64 points. */
#define SOTTO_TURN_MOST 0x1p20
#define SOTTO_TURN_OFF  160
void sotto_turn_nodes(double *re, double *im, size_t nodes, double step, const double *z,
                      const double *weight, size_t points);

#endif
