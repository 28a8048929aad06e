#include "aggregate/aero/odds.h"

#include "account/gauss/discrete_gaussian.h"
#include "account/numeric/special.h"
#include "base/rule.h"

#include <math.h>

static sotto_status tail_of(double *out, double tolerated, double size, double corrupt,
                            sotto_err *err)
{
    sotto_bound tail = {0};

    *out = 0;
    if (tolerated >= size)
        return SOTTO_OK;
    SOTTO_TRY(sotto_binomial_upper(&tail, tolerated + 1, size, corrupt, 1 - corrupt, err));
    *out = tail.high;
    return SOTTO_OK;
}

sotto_status sotto_aero_odds_of(sotto_aero_odds *odds, const sotto_aero_terms *t,
                                const sotto_aero_people *p, sotto_err *err)
{
    odds->missed =
        sotto_aero_miss(t, p->registered, p->largest + t->noise_members, p->corrupt, p->offline);
    SOTTO_TRY(tail_of(&odds->members, t->threshold - 1.0, t->committee, p->corrupt, err));
    /* Each of them, by the union bound: one that is lost opens its groups. */
    odds->members = nextafter(odds->members * t->committees, INFINITY);
    /* A key is with so many committees, one after the other, and each that is lost reads all rounds under it. */
    if (SOTTO_RULE(aero_holders_counted) && t->rekey > 1)
        odds->members = nextafter(odds->members * t->rekey, INFINITY);
    SOTTO_TRY(tail_of(&odds->noise, t->noise_corrupt, t->noise_members, p->corrupt, err));
    return tail_of(&odds->liars, t->liars, p->largest, p->corrupt, err);
}

double sotto_aero_odds_together(const sotto_aero_odds *odds, double participations)
{
    const double members = nextafter(odds->members + odds->noise, INFINITY),
                 all = nextafter(members + odds->missed, INFINITY);

    return fmin(1, nextafter(fmax(1, participations) * all, INFINITY));
}

double sotto_aero_price(const sotto_round_noise *noise, double length, double norm2, double hints)
{
    sotto_discrete_sum sum;

    if (noise->num == 0 || noise->den == 0)
        return INFINITY;
    const double sigma = nextafter(sqrt((double)noise->num / (double)noise->den), 0);
    const double l2 = nextafter(2 * sqrt(norm2), INFINITY);
    const double l1 = nextafter(l2 * sqrt(length), INFINITY);
    if (sotto_discrete_sum_open(&sum, sigma, (double)noise->shares, length, l1, l2, NULL) !=
        SOTTO_OK)
        return INFINITY;
    return nextafter(sum.linear + hints, INFINITY);
}

uint32_t sotto_aero_most_checks(const sotto_aero_terms *t)
{
    sotto_u128 product = sotto_mul_wide(t->checks, t->rate);

    if (t->rate == UINT64_MAX)
        return t->checks;
    return (uint32_t)sotto_u128_high(product) + (sotto_u128_low(product) != 0);
}

double sotto_aero_miss(const sotto_aero_terms *t, double registered, double leaves, double corrupt,
                       double offline)
{
    double rate = t->rate == UINT64_MAX ? 1 : ldexp((double)t->rate, -64);
    double there = (1 - corrupt) * (1 - offline) * registered;

    /* Those who say that they looked, but for the corrupt ones, whatever a server shows the others. */
    if (SOTTO_RULE(aero_clears_by_corrupt) && t->clears > 0)
        there = fmin(there, fmax(0, t->clears - corrupt * registered));
    return exp(-there * t->checks * rate / leaves);
}
