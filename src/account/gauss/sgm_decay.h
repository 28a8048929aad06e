/* account/gauss/sgm_decay.h - how far |M(c+it)| must fall as t grows, for all large t at once.
 *
 * M(c+it)/M(c) is the characteristic function of the tilted loss. From below, that law's density is a pile of boxes,
 * each as wide as the stretch of losses that reaches its height. A box of width w and mass m contributes at most m
 * |sin(tw/2)/(tw/2)|. Most of the mass may be so close together that it hardly turns (nearly an atom). Then the
 * phases of the boxes against it are known, too, over a stretch of t.
 *
 * Callers:  account/gauss/sgm_cache.c.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_DECAY_H
#define SOTTO_ACCOUNT_GAUSS_SGM_DECAY_H

#include "account/gauss/sgm_law.h"

#define SOTTO_SGM_CELLS 384

typedef struct sotto_sgm_boxes {
    size_t count;
    double width[SOTTO_SGM_CELLS];
    double mass[SOTTO_SGM_CELLS];
    double from[SOTTO_SGM_CELLS]; /* where a box begins and ends, from the first cell on */
    double to[SOTTO_SGM_CELLS];
    double cell_mass[SOTTO_SGM_CELLS]; /* from below */
    double cell_to[SOTTO_SGM_CELLS];
    double rest; /* what is in no cell, from above */
} sotto_sgm_boxes;

/* cumulant: log M(c), from above. */
void sotto_sgm_boxes_fill(sotto_sgm_boxes *boxes, const sotto_sgm_law *law, double c,
                          double cumulant);
/* An upper bound on log |M(c+iu)/M(c)| that holds for every u >= t. */
double sotto_sgm_boxes_decay(const sotto_sgm_boxes *boxes, double t);
/* The same for t <= u <= until only; often less. */
double sotto_sgm_boxes_decay_until(const sotto_sgm_boxes *boxes, double t, double until);

#endif
