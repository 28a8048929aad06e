#include "noise/blt.h"

#include "account/numeric/bound.h"
#include "base/rule.h"

#include <math.h>

enum { SLACK = 64 };

#define ONE ((int64_t)1 << SOTTO_BLT_BITS)
/* A buffer forgets at least this much in a round, so that it stays small. */
#define LEAST_FORGOTTEN ((int64_t)1 << 10)

static double part(int64_t number)
{
    return (double)number / (double)ONE;
}

sotto_status sotto_blt_check(const sotto_blt *b, sotto_err *err)
{
    int64_t all = 0, second = 0; /* c_1 and c_2; no sum passes 3 2^60 */

    for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++) {
        if (b->decay[j] < 0 || b->decay[j] > ONE - LEAST_FORGOTTEN)
            return sotto_fail(err, SOTTO_DENIED, "blt: decay: 0 to 1 - 2^-20 wanted");
        if (b->weight[j] < 0 || b->weight[j] > ONE)
            return sotto_fail(err, SOTTO_DENIED, "blt: weight: 0 to 1 wanted");
        all += b->weight[j];
        second += b->weight[j] * b->decay[j];
    }
    if (SOTTO_RULE(blt_falls) && all > ONE)
        return sotto_fail(err, SOTTO_DENIED,
                          "blt: weights: they add up to more than 1, so C does not fall");
    /* Then c_i c_i <= c_(i-1) c_(i+1) for all i, since the rest is a sum of falling powers: C^-1 has no positive number below its
     * diagonal (Kaluza 1928). */
    if (SOTTO_RULE(blt_takes_away) && all <= ONE && all * all > second)
        return sotto_fail(err, SOTTO_DENIED,
                          "blt: weights: the square of their sum is above the sum of weights times "
                          "decays, so a round would add noise of an earlier one");
    return SOTTO_OK;
}

/* ---- what it costs -------------------------------------------------------------------------------------------------- */

bool sotto_blt_pattern_priced(const sotto_blt_pattern *p)
{
    return p->rounds >= 1 && p->rounds <= SOTTO_BLT_ROUNDS && p->separation >= 1 &&
           p->participations >= 1;
}

/* C does not rise along a column, so columns 0, separation, 2 separation, ... are the worst of all patterns: each product of two
 * columns only gets smaller as they move down or apart (Kalinin and Lampert 2024). This is the norm of their sum. */
double sotto_blt_sensitivity(const sotto_blt *b, const sotto_blt_pattern *p)
{
    double at[SOTTO_BLT_BUFFERS] = {0}, sum = 0;

    if (SOTTO_RULE(blt_priced_by_its_theorem) &&
        (!sotto_blt_pattern_priced(p) || sotto_blt_check(b, NULL) != SOTTO_OK))
        return INFINITY;
    for (uint64_t t = 0; t < p->rounds; t++) {
        const double begins =
            t % p->separation == 0 && t / p->separation < p->participations ? 1 : 0;
        double row = begins;

        for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++) {
            row += part(b->weight[j]) * at[j];
            at[j] = part(b->decay[j]) * at[j] + begins;
        }
        sum += row * row;
    }
    /* All terms are positive, so relative errors stay what they are: below 2^-53 for each of seven operations a round, twice. */
    return sotto_round_up(sqrt(sum) * (1 + (double)p->rounds * 0x1p-48), SLACK);
}

double sotto_blt_lost(const sotto_blt *b)
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
    /* Once for what this round is predicted from, and once for noise among that which a repair drew in vain (docs/decisions/0300). */
    const double rounding = 2 * numbers * sotto_blt_lost(b) / unit;

    return sotto_round_up(sotto_blt_sensitivity(b, p) + rounding, SLACK);
}

double sotto_blt_each(const sotto_blt *b, const sotto_blt_pattern *p, double length,
                      size_t dimension)
{
    sotto_blt_pattern some = *p;
    double most = 0;

    if (!sotto_blt_pattern_priced(p))
        return INFINITY;
    /* Later columns are shorter, and have others before them: neither one participation nor all need be the dearest. */
    for (some.participations = 1;
         some.participations == 1 || (some.participations <= p->participations &&
                                      (some.participations - 1) * p->separation < p->rounds);
         some.participations++) {
        const double priced = sotto_blt_priced(b, &some, length, dimension);

        most = fmax(most, sotto_round_up(priced * priced / (double)some.participations, 2));
    }
    return most;
}

/* ---- how much of it is left ----------------------------------------------------------------------------------------- */

double sotto_blt_error(const sotto_blt *b, uint64_t rounds)
{
    double buffers[SOTTO_BLT_BUFFERS] = {0}, prefix = 0, squares = 0, all = 0;

    for (uint64_t t = 0; t < rounds; t++) {
        double w = t == 0 ? 1 : 0;

        for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++)
            w -= part(b->weight[j]) * buffers[j];
        for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++)
            buffers[j] = part(b->decay[j]) * buffers[j] + w;
        prefix += w;
        squares += prefix * prefix;
        all += squares;
    }
    return sqrt(all / (double)rounds);
}
