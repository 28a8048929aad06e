/* account/gauss/sgm_transform.h - the composed transform on a line or a lattice, and answers read off it.
 *
 * Callers:  account/gauss/sgm_method.c.
 * Memory:   a line's nodes belong to the first mechanism; they are there until the next line is built.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_TRANSFORM_H
#define SOTTO_ACCOUNT_GAUSS_SGM_TRANSFORM_H

#include "account/gauss/sgm_contour_plan.h"

typedef struct sotto_sgm_reader {
    bool wants_eps;
    double given;
    double start;
} sotto_sgm_reader;

SOTTO_MUST_USE bool sotto_sgm_build_contour(sotto_contour *line, const sotto_sgm_question *q,
                                            const sotto_sgm_plan *p);
/* size: of the transform, a power of two. */
SOTTO_MUST_USE bool sotto_sgm_build_lattice(sotto_contour *line, const sotto_sgm_question *q,
                                            const sotto_sgm_plan *p, double spacing, size_t size);
/* What a cap costs `low` depends on how far eps may lie: once `high` is known, that far and no further. */
void sotto_sgm_reach(sotto_contour *line, sotto_sgm_question *q, double eps);
sotto_bound sotto_sgm_read(sotto_contour *line, sotto_sgm_question *q, const sotto_sgm_reader *r);

/* A lattice so fine that it costs about `tolerance` of eps. False if none could be built. */
SOTTO_MUST_USE bool sotto_sgm_try_lattice(sotto_bound *out, sotto_sgm_question *q,
                                          const sotto_sgm_plan *p, sotto_sgm_reader r,
                                          double tolerance);

#endif
