/* account/gauss/pld.h - one round's privacy loss on a lattice, moved outward, and its tilted transform.
 *
 * Each piece of probability goes to the two lattice losses round it so that its mass under both
 * neighbours is kept ("connect the dots"): the result dominates the true pair. Masses are multiplied by
 * exp(c loss) before the transform, so that its rounding is relative to the tail that delta reads
 * and not to the mode. Far losses use coarser cells of the same lattice.
 *
 * Callers:  account/gauss/sgm_cache.c.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_PLD_H
#define SOTTO_ACCOUNT_GAUSS_PLD_H

#include "account/gauss/contour.h"
#include "account/gauss/sgm_law.h"

typedef struct sotto_pld {
    double c;
    double spacing;
    size_t size;   /* of the transform: the period is size * spacing */
    double origin; /* a loss of the lattice, near 0                      */
    double origin_error;
    size_t nodes; /* size/2 + 1; of exp(s (loss - origin))              */
    double *log_modulus;
    double *phase;
    double *error;
    double *most; /* log of a bound on the modulus at this node and all that follow */
    double alias_c[SOTTO_CONTOUR_ALIASES];
    double alias_log[SOTTO_CONTOUR_ALIASES]; /* log E exp(c (loss - origin)) */
    /* The cells that losses were moved within, neighbours of one width together: probability and width. */
    size_t cells;
    size_t cell_room;
    double *cell_mass;
    double *cell_width;
} sotto_pld;

/* Of the law's range; size is a power of two.
 * NULL without memory, or where the tilted masses leave the range of a double. */
SOTTO_MUST_USE sotto_pld *sotto_pld_new(const sotto_sgm_law *law, double c, double spacing,
                                        size_t size, sotto_scratch *work);
void sotto_pld_free(sotto_pld *pld);

/* Log of a bound on E exp(rate W), W how far one round's loss was moved: what a lower bound subtracts.
 * Within a cell of width w the move has a mean in [0, w^2/8] and range w, so Hoeffding's lemma applies. */
double sotto_pld_log_shift(const sotto_pld *pld, double rate);

#endif
