#include "learn/blt.h"

#include "account/numeric/bound.h"
#include "base/rule.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256, SLACK = 64 };

#define ONE ((int64_t)1 << SOTTO_BLT_BITS)
/* A buffer forgets at least this much in a round, so that it stays small. */
#define LEAST_FORGOTTEN ((int64_t)1 << 10)

static double part(int64_t number)
{
    return (double)number / (double)ONE;
}

sotto_status sotto_blt_check(const sotto_blt *b, sotto_err *err)
{
    int64_t all = 0;

    for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++) {
        if (b->decay[j] < 0 || b->decay[j] > ONE - LEAST_FORGOTTEN)
            return sotto_fail(err, SOTTO_DENIED, "blt: decay: 0 to 1 - 2^-20 wanted");
        if (b->weight[j] < 0 || b->weight[j] > ONE)
            return sotto_fail(err, SOTTO_DENIED, "blt: weight: 0 to 1 wanted");
        all += b->weight[j];
    }
    if (SOTTO_RULE(blt_falls) && all > ONE)
        return sotto_fail(err, SOTTO_DENIED,
                          "blt: weights: they add up to more than 1, so C does not fall");
    return SOTTO_OK;
}

/* ---- what it costs -------------------------------------------------------------------------------------------------- */

/* c_0 to c_(count-1), each within count 2^-50 of itself. */
static void coefficients(const sotto_blt *b, double *c, size_t count)
{
    double at[SOTTO_BLT_BUFFERS];

    c[0] = 1;
    for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++)
        at[j] = part(b->weight[j]);
    for (size_t i = 1; i < count; i++) {
        c[i] = 0;
        for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++) {
            c[i] += at[j];
            at[j] *= part(b->decay[j]);
        }
    }
}

bool sotto_blt_pattern_priced(const sotto_blt_pattern *p)
{
    return p->rounds >= 1 && p->rounds <= SOTTO_BLT_ROUNDS && p->separation >= 1 &&
           p->participations >= 1;
}

/* C does not rise along a column, so columns 0, separation, 2 separation, ... are the worst of all patterns: each product of two
 * columns only gets smaller as they move down or apart (Kalinin and Lampert 2024). */
double sotto_blt_sensitivity(const sotto_blt *b, const sotto_blt_pattern *p)
{
    double c[SOTTO_BLT_ROUNDS], row[SOTTO_BLT_ROUNDS], sum = 0;

    if (SOTTO_RULE(blt_priced_by_its_theorem) &&
        (!sotto_blt_pattern_priced(p) || sotto_blt_check(b, NULL) != SOTTO_OK))
        return INFINITY;
    const size_t count = p->rounds < SOTTO_BLT_ROUNDS ? (size_t)p->rounds : SOTTO_BLT_ROUNDS;
    coefficients(b, c, count);
    for (size_t t = 0; t < count; t++) {
        row[t] = c[t];
        if (t >= p->separation && t / p->separation < p->participations) {
            row[t] += row[t - p->separation];
        } else {
            for (uint64_t k = 1; k < p->participations && k * p->separation <= t; k++)
                row[t] += c[t - k * p->separation];
        }
        sum += row[t] * row[t];
    }
    /* All terms are positive, so relative errors stay what they are: below 2^-50 for each of count steps, three times. */
    return sotto_round_up(sqrt(sum) * (1 + (double)count * 0x1p-48), SLACK);
}

/* What is lost by rounding down: less than 1 for each of three products, and less than 1 in a buffer in each round. */
static double lost(const sotto_blt *b)
{
    double sum = SOTTO_BLT_BUFFERS;

    for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++)
        sum += part(b->weight[j]) / part(ONE - b->decay[j]);
    return sotto_round_up(sum, SLACK);
}

double sotto_blt_priced(const sotto_blt *b, const sotto_blt_pattern *p, double length,
                        size_t dimension)
{
    const double numbers = sqrt((double)p->rounds * (double)dimension);
    const double unit = ldexp(length, SOTTO_BLT_FINE);
    const double rounding = numbers * lost(b) / unit;

    return sotto_round_up(sotto_blt_sensitivity(b, p) + rounding, SLACK);
}

/* ---- how much of it is left ----------------------------------------------------------------------------------------- */

/* The sum of the sizes of C^-1's entries in a column, and the error. */
static double invert(const sotto_blt *b, uint64_t rounds, double *error)
{
    double buffers[SOTTO_BLT_BUFFERS] = {0}, prefix = 0, squares = 0, all = 0, sizes = 0;

    for (uint64_t t = 0; t < rounds; t++) {
        double w = t == 0 ? 1 : 0;

        for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++)
            w -= part(b->weight[j]) * buffers[j];
        for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++)
            buffers[j] = part(b->decay[j]) * buffers[j] + w;
        sizes += fabs(w);
        prefix += w;
        squares += prefix * prefix;
        all += squares;
    }
    *error = sqrt(all / (double)rounds);
    return sizes;
}

double sotto_blt_error(const sotto_blt *b, uint64_t rounds)
{
    double error;

    (void)invert(b, rounds, &error);
    return error;
}

/* ---- noise ------------------------------------------------------------------------------------------------------------ */

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

/* Noise is C^-1 of what was drawn and of what rounding lost; a buffer adds it up as long as it remembers. */
static sotto_status check_reach(sotto_blt_noise *n, uint64_t rounds, sotto_err *err)
{
    double error, most = 0;
    const double drawn = (double)sotto_noise_limit(&n->fresh) + lost(&n->blt);
    const double w = 1.001 * drawn * invert(&n->blt, rounds, &error);

    for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++)
        most = fmax(most, 1.001 * (w + 1) / part(ONE - n->blt.decay[j]));
    if (!(most < 0x1p60))
        return sotto_fail(err, SOTTO_DENIED,
                          "blt: noise reaches 2^%.1f in a buffer, above 2^60: take a smaller scale",
                          log2(most));
    n->reach = ldexp(w, -SOTTO_BLT_FINE) + 1;
    return SOTTO_OK;
}

sotto_status sotto_blt_noise_init(sotto_blt_noise *out, const sotto_blt *blt, uint64_t rounds,
                                  size_t dimension, double sigma, sotto_arena *arena,
                                  sotto_err *err)
{
    const double fine = ceil(ldexp(sigma, SOTTO_BLT_FINE));

    *out = (sotto_blt_noise){.blt = *blt, .dimension = dimension};
    SOTTO_TRY(sotto_blt_check(blt, err));
    if (!(fine >= 1 && fine <= (double)SOTTO_NOISE_WIDEST))
        return sotto_fail(err, SOTTO_DENIED, "blt: noise of 2^-20 to 2^29 integers wanted");
    SOTTO_TRY(sotto_noise_gaussian_wide(&out->fresh, (uint64_t)fine, arena, err));
    SOTTO_TRY(check_reach(out, rounds, err));
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
            int64_t *buffers = n->buffers + (at + i) * SOTTO_BLT_BUFFERS;
            const int64_t w = drawn[i] - sotto_blt_predict(&n->blt, buffers);

            sotto_blt_keep(&n->blt, buffers, w);
            if (sum)
                sum[at + i] += (w + ((int64_t)1 << (SOTTO_BLT_FINE - 1))) >> SOTTO_BLT_FINE;
        }
    }
    sotto_wipe(drawn, sizeof drawn);
    return SOTTO_OK;
}
