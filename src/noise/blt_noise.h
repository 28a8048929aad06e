/* noise/blt_noise.h - draws noise that is correlated over rounds by the buffers of noise/blt.h.
 *
 * Callers:  serve/ (each server's own noise on the sums of a learning recipe); sotto-sim: the noise of one server.
 * Memory:   the simulator keeps a few numbers for each parameter, in the arena given at set-up. A server keeps nothing: it draws the
 *           noise of earlier rounds again, for a few parameters at a time.
 * Secrets:  the buffers and all that is drawn. Time and addresses do not depend on them. Which rounds were released is public.
 */
#ifndef SOTTO_NOISE_BLT_NOISE_H
#define SOTTO_NOISE_BLT_NOISE_H

#include "noise/blt.h"
#include "noise/noise.h"
#include "noise/tree.h"

/* Sets up fresh noise in units of 2^-SOTTO_BLT_FINE, from its least deviation in integers of a sum. No number of a round's noise is further
 * from 0 than reach, in integers of a sum, whichever of these rounds are released.
 * SOTTO_DENIED: another matrix than sotto_blt_check takes; or noise that an integer can't hold. */
SOTTO_MUST_USE sotto_status sotto_blt_fresh(sotto_noise *out, double *reach, const sotto_blt *blt,
                                            uint64_t rounds, double sigma, sotto_arena *arena,
                                            sotto_err *err);

/* What C predicts from the buffers of one number; and the buffers after noise w. A round that was not released has none: w is 0. */
int64_t sotto_blt_predict(const sotto_blt *blt, const int64_t buffers[SOTTO_BLT_BUFFERS]);
void sotto_blt_keep(const sotto_blt *blt, int64_t buffers[SOTTO_BLT_BUFFERS], int64_t w);

/* ---- a server: nothing is kept but seeds --------------------------------------------------------------------------------- */

enum { SOTTO_BLT_PART = 1024 }; /* numbers that are drawn for all rounds together */

/* Starts a stream of bytes for a part of the numbers of a round. It gives the same bytes whenever it is asked again, and others for every
 * other round and part. */
typedef struct sotto_blt_source {
    SOTTO_MUST_USE sotto_status (*start)(void *context, sotto_entropy *out, size_t index,
                                         uint64_t part, sotto_err *err);
    void *context;
} sotto_blt_source;

/* Adds the noise of the last of `count` rounds to `numbers` sums, 1 round at least. Those before it, ascending, are the released ones that
 * it takes noise away of, each of which saw exactly those before itself. So `count` times as much is drawn as with fresh noise. */
SOTTO_MUST_USE sotto_status sotto_blt_redraw(const sotto_blt *blt, const sotto_noise *fresh,
                                             size_t numbers, const uint64_t *rounds, size_t count,
                                             const sotto_blt_source *source,
                                             const sotto_tree_sink *sink, sotto_err *err);

/* ---- the simulator: buffers are kept, and rounds come in order ------------------------------------------------------------ */

typedef struct sotto_blt_noise {
    sotto_blt blt;
    sotto_noise fresh;
    size_t dimension;
    int64_t *buffers;
    double reach; /* of sotto_blt_fresh */
} sotto_blt_noise;

/* As sotto_blt_fresh. */
SOTTO_MUST_USE sotto_status sotto_blt_noise_init(sotto_blt_noise *out, const sotto_blt *blt,
                                                 uint64_t rounds, size_t dimension, double sigma,
                                                 sotto_arena *arena, sotto_err *err);
/* Adds the noise of the next round to sum; with NULL, passes over the round. Rounds come in order, each once. */
SOTTO_MUST_USE sotto_status sotto_blt_noise_add(sotto_blt_noise *noise, int64_t *sum,
                                                sotto_entropy *entropy, sotto_err *err);

#endif
