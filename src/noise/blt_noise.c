#include "noise/blt_noise.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

_Static_assert(SOTTO_BLT_PART % BLOCK == 0, "whole blocks");

#define ONE ((int64_t)1 << SOTTO_BLT_BITS)

/* floor(a b / 2^30), for b from 0 to 2^30 and |a| below 2^60. */
static int64_t scaled(int64_t a, int64_t b)
{
    const int64_t high = a >> SOTTO_BLT_BITS, low = a & (ONE - 1);

    return high * b + ((low * b) >> SOTTO_BLT_BITS);
}

int64_t sotto_blt_predict(const sotto_blt *b, const int64_t buffers[SOTTO_BLT_BUFFERS])
{
    int64_t sum = 0;

    for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++)
        sum += scaled(buffers[j], b->weight[j]);
    return sum;
}

void sotto_blt_keep(const sotto_blt *b, int64_t buffers[SOTTO_BLT_BUFFERS], int64_t w)
{
    for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++)
        buffers[j] = scaled(buffers[j], b->decay[j]) + w;
}

/* A round's noise from what was drawn for it. */
static int64_t step(const sotto_blt *b, int64_t buffers[SOTTO_BLT_BUFFERS], int64_t drawn)
{
    const int64_t w = drawn - sotto_blt_predict(b, buffers);

    sotto_blt_keep(b, buffers, w);
    return w;
}

/* As it is released. The sum is an integer, so this is the sum with its fine noise, rounded once more. */
static int64_t whole(int64_t w)
{
    return (w + ((int64_t)1 << (SOTTO_BLT_FINE - 1))) >> SOTTO_BLT_FINE;
}

/* The inverse of C has 1 on its diagonal, and left of it numbers up to 0 that add up to -1 or more. So has that of what is left of C
 * where rounds are not released (docs/decisions/0300). So noise is at most twice what was drawn, and what rounding lost. A buffer adds it
 * up for all rounds, or as long as it remembers. */
static sotto_status check_reach(double *reach, const sotto_noise *fresh, const sotto_blt *b,
                                uint64_t rounds, sotto_err *err)
{
    const double w = 2.001 * ((double)sotto_noise_limit(fresh) + sotto_blt_lost(b));
    double most = 0;

    for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++) {
        const double remembers = (double)ONE / (double)(ONE - b->decay[j]);

        most = fmax(most, 1.001 * (w + 1) * fmin((double)rounds, remembers));
    }
    if (!(most < 0x1p60))
        return sotto_fail(err, SOTTO_DENIED,
                          "blt: noise reaches 2^%.1f in a buffer, above 2^60: take a smaller scale",
                          log2(most));
    *reach = ldexp(w, -SOTTO_BLT_FINE) + 1;
    return SOTTO_OK;
}

sotto_status sotto_blt_fresh(sotto_noise *out, double *reach, const sotto_blt *blt, uint64_t rounds,
                             double sigma, sotto_arena *arena, sotto_err *err)
{
    const double fine = ceil(ldexp(sigma, SOTTO_BLT_FINE));

    SOTTO_TRY(sotto_blt_check(blt, err));
    if (!(fine >= 1 && fine <= (double)SOTTO_NOISE_WIDEST))
        return sotto_fail(err, SOTTO_DENIED, "blt: noise of 2^-20 to 2^29 integers wanted");
    SOTTO_TRY(sotto_noise_gaussian_wide(out, (uint64_t)fine, arena, err));
    return check_reach(reach, out, blt, rounds, err);
}

/* ---- a server -------------------------------------------------------------------------------------------------------- */

/* Numbers of one part, for all rounds. */
typedef struct redraw {
    const sotto_blt *blt;
    const sotto_noise *fresh;
    size_t first, count;
    int64_t buffers[SOTTO_BLT_PART][SOTTO_BLT_BUFFERS];
} redraw;

/* Buffers forget in rounds that were not released, too. */
static void pass(redraw *r, uint64_t rounds)
{
    for (; rounds > 0; rounds--)
        for (size_t i = 0; i < r->count; i++)
            sotto_blt_keep(r->blt, r->buffers[i], 0);
}

/* sink: of the round that is released; NULL: of one before it. */
static sotto_status draw_round(redraw *r, sotto_entropy *entropy, const sotto_tree_sink *sink,
                               sotto_err *err)
{
    int64_t drawn[BLOCK];
    sotto_status status = SOTTO_OK;

    for (size_t at = 0; at < r->count && status == SOTTO_OK; at += BLOCK) {
        const size_t some = r->count - at < BLOCK ? r->count - at : (size_t)BLOCK;

        status = sotto_noise_draw(r->fresh, drawn, some, entropy, err);
        for (size_t i = 0; i < some; i++)
            drawn[i] = whole(step(r->blt, r->buffers[at + i], drawn[i]));
        if (status == SOTTO_OK && sink)
            status = sink->add(sink->context, r->first + at, drawn, some, err);
    }
    sotto_wipe(drawn, sizeof drawn);
    return status;
}

sotto_status sotto_blt_redraw(const sotto_blt *blt, const sotto_noise *fresh, size_t numbers,
                              const uint64_t *rounds, size_t count, const sotto_blt_source *source,
                              const sotto_tree_sink *sink, sotto_err *err)
{
    sotto_status status = SOTTO_OK;
    redraw r = {.blt = blt, .fresh = fresh};

    for (; r.first < numbers && status == SOTTO_OK; r.first += SOTTO_BLT_PART) {
        r.count = numbers - r.first < SOTTO_BLT_PART ? numbers - r.first : (size_t)SOTTO_BLT_PART;
        memset(r.buffers, 0, sizeof r.buffers);
        for (size_t i = 0; i < count && status == SOTTO_OK; i++) {
            sotto_entropy entropy;

            pass(&r, i > 0 ? rounds[i] - rounds[i - 1] - 1 : 0);
            status = source->start(source->context, &entropy, i, r.first / SOTTO_BLT_PART, err);
            if (status != SOTTO_OK)
                break;
            status = draw_round(&r, &entropy, i + 1 == count ? sink : NULL, err);
            sotto_entropy_clear(&entropy);
        }
    }
    sotto_wipe(r.buffers, sizeof r.buffers);
    return status;
}

/* ---- the simulator --------------------------------------------------------------------------------------------------- */

sotto_status sotto_blt_noise_init(sotto_blt_noise *out, const sotto_blt *blt, uint64_t rounds,
                                  size_t dimension, double sigma, sotto_arena *arena,
                                  sotto_err *err)
{
    *out = (sotto_blt_noise){.blt = *blt, .dimension = dimension};
    SOTTO_TRY(sotto_blt_fresh(&out->fresh, &out->reach, blt, rounds, sigma, arena, err));
    out->buffers =
        sotto_arena_take_array(arena, dimension, SOTTO_BLT_BUFFERS * sizeof *out->buffers);
    if (!out->buffers)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for noise of %zu numbers", dimension);
    memset(out->buffers, 0, dimension * SOTTO_BLT_BUFFERS * sizeof *out->buffers);
    return SOTTO_OK;
}

sotto_status sotto_blt_noise_add(sotto_blt_noise *n, int64_t *sum, sotto_entropy *entropy,
                                 sotto_err *err)
{
    int64_t drawn[BLOCK];

    for (size_t at = 0; at < n->dimension; at += BLOCK) {
        const size_t some = n->dimension - at < BLOCK ? n->dimension - at : (size_t)BLOCK;

        SOTTO_TRY(sotto_noise_draw(&n->fresh, drawn, some, entropy, err));
        for (size_t i = 0; i < some; i++) {
            const int64_t w = step(&n->blt, n->buffers + (at + i) * SOTTO_BLT_BUFFERS, drawn[i]);

            if (sum)
                sum[at + i] += whole(w);
        }
    }
    sotto_wipe(drawn, sizeof drawn);
    return SOTTO_OK;
}
