/* learn/projection.h - an update of many parameters as a vector of few numbers, by a public matrix of signs, and a sum of them back.
 *
 * Callers:  devices project what they trained; whoever steps the model lifts a released sum; the simulator does both.
 * Memory:   the caller's.
 * Threads:  a projection never changes after set-up.
 * Secrets:  updates. The matrix is public: which numbers are added up, and with which signs, depends on no update.
 *
 * Parameters stand in groups of `to`. Each group is turned by a shift of its own, its signs are flipped at random, and all groups are
 * added up. So each parameter is in one number, with sign + or -, as in a count sketch (Charikar et al. 2004). Two parameters of
 * different groups meet with a chance of 1/to. Of a vector x, over all matrices R:
 *
 *     transpose(R) R x    has the mean x
 *     |R x|^2             has the mean |x|^2, and a variance of at most 2 |x|^4 / to
 *     |transpose(R) y|    is at most sqrt(groups) |y|, for every single R: rows have no parameter in common, and `groups` at most
 *
 * A vector may get longer, so it is clipped after it was projected. What is claimed of privacy rests on that clip, and on nothing of
 * the matrix. Entries are 1, 0 and -1: a sum of integers is lifted to integers.
 */
#ifndef SOTTO_LEARN_PROJECTION_H
#define SOTTO_LEARN_PROJECTION_H

#include "sotto/base.h"

enum { SOTTO_PROJECTION_SEED = 32 };

typedef struct sotto_projection {
    size_t from, to;
    uint8_t seed[SOTTO_PROJECTION_SEED];
    uint64_t round;
} sotto_projection;

/* seed: of a session, public; each round has a matrix of its own. SOTTO_DENIED: 1 <= to < from <= 2^24 does not hold. */
SOTTO_MUST_USE sotto_status sotto_projection_init(sotto_projection *out, size_t from, size_t to,
                                                  const uint8_t seed[SOTTO_PROJECTION_SEED],
                                                  uint64_t round, sotto_err *err);
/* Writes `to` numbers from `from` of them. */
SOTTO_MUST_USE sotto_status sotto_projection_apply(const sotto_projection *projection, double *out,
                                                   const float *x, sotto_err *err);
/* By the transpose: writes `from` numbers from `to` of them. */
SOTTO_MUST_USE sotto_status sotto_projection_lift(const sotto_projection *projection, int64_t *out,
                                                  const int64_t *y, sotto_err *err);

#endif
