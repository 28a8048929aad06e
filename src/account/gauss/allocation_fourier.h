/* account/gauss/allocation_fourier.h - the sums that take the time of a tilted line: every point turned to every node.
 *
 * Callers:  allocation_contour.c alone.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_ALLOCATION_FOURIER_H
#define SOTTO_ACCOUNT_GAUSS_ALLOCATION_FOURIER_H

#include <stddef.h>

/* Points come in multiples of this. */
#define SOTTO_FOURIER_LANES 8

/* So many nodes on either side share the sines of the one in the middle. */
#define SOTTO_FOURIER_REACH 24

/* re[k] and im[k], k < nodes, are the sums of weight (cos - 1) and of weight sin of the angles k step z. Angles, and those of
 * SOTTO_FOURIER_REACH nodes more, stay below SOTTO_FOURIER_MOST. Each sum is off by at most SOTTO_FOURIER_ERROR u of the sum of weight |z|
 * times k step. From k = SOTTO_FOURIER_REACH + 1 on, (k + 2 SOTTO_FOURIER_REACH) step takes the place of k step. This holds for up
 * to 128 * 64 points. */
#define SOTTO_FOURIER_MOST  0x1p20
#define SOTTO_FOURIER_ERROR 160
void sotto_fourier_sums(double *re, double *im, size_t nodes, double step, const double *z,
                        const double *weight, size_t points);

#endif
