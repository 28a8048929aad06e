#include "account/committee.h"

#include "account/numeric/parameter.h"
#include "account/numeric/special.h"

#include <math.h>

/* Products and powers below are off by a few units in the last place; this many cover them. */
enum { ROUNDINGS = 8 };

/* (e^d / (1+d)^(1+d))^mean with (1+d) * mean = k, the multiplicative form: of both tails, with d below 0 in the lower one. */
static double chernoff_of(double ratio, double mean)
{
    return sotto_round_up(exp(mean * (ratio - 1 - ratio * log(ratio))), ROUNDINGS);
}

/* Of the upper tail: 1 at or below the mean. */
static double chernoff(double k, double mean)
{
    return k > mean ? chernoff_of(k / mean, mean) : 1;
}

static double at_most_one(double x)
{
    return x < 1 ? x : 1;
}

sotto_status sotto_committee_odds_of(sotto_committee_odds *out, const sotto_committee *c,
                                     sotto_err *err)
{
    sotto_bound tail;
    double size = (double)c->size, tolerated = (double)c->tolerated;

    SOTTO_TRY(sotto_check_count("size", size, 1, SOTTO_COMMITTEE_MAX, err));
    SOTTO_TRY(sotto_check_count("tolerates", tolerated, 0, size, err));
    SOTTO_TRY(sotto_check_range("corrupt", c->corrupt, 0, 0.5, err));
    SOTTO_TRY(sotto_check_range("draws", c->draws, 1, 1e15, err));
    *out = (sotto_committee_odds){.bits = INFINITY};
    if (c->corrupt == 0 || c->tolerated == c->size)
        return SOTTO_OK;
    SOTTO_TRY(sotto_binomial_upper(&tail, tolerated + 1, size, c->corrupt, 1 - c->corrupt, err));
    out->one = at_most_one(tail.high);
    out->any = at_most_one(sotto_round_up(out->one * c->draws, ROUNDINGS));
    out->chernoff = chernoff(tolerated, size * c->corrupt);
    out->bits = fmax(0, sotto_round_down(-log2(out->any), ROUNDINGS));
    return SOTTO_OK;
}

int64_t sotto_committee_decryptors_tolerate(uint64_t size, double dropout)
{
    /* Rounded down, so that a product that is an integer but for rounding counts against us. */
    double room = sotto_round_down((double)size * (1 - 6 * dropout) / 3, ROUNDINGS);

    return room > 0 ? (int64_t)ceil(room) - 1 : -1;
}

sotto_status sotto_committee_smallest(sotto_committee *out, double corrupt, double draws,
                                      double bits, sotto_committee_rule *rule, const void *context,
                                      sotto_err *err)
{
    *out = (sotto_committee){.corrupt = corrupt, .draws = draws};
    for (uint64_t size = 1; size <= SOTTO_COMMITTEE_MAX; size++) {
        int64_t tolerated = rule(context, size);
        sotto_committee_odds odds;

        /* No tail above the mean is as small as 2^-bits, and a search starts far from there. */
        if (tolerated < 0 || (double)tolerated < (double)size * corrupt)
            continue;
        out->size = size;
        out->tolerated = (uint64_t)tolerated;
        SOTTO_TRY(sotto_committee_odds_of(&odds, out, err));
        if (odds.bits >= bits)
            return SOTTO_OK;
    }
    out->size = out->tolerated = 0;
    return SOTTO_OK;
}

sotto_status sotto_committee_stalls(double *out, const sotto_committee *c, double offline,
                                    sotto_err *err)
{
    double size = (double)c->size, away = c->corrupt + offline - c->corrupt * offline;
    sotto_bound tail;

    *out = 0;
    SOTTO_TRY(sotto_check_range("offline", offline, 0, 0.9, err));
    if (away <= 0)
        return SOTTO_OK;
    /* At most `tolerated` are there: at least size - tolerated are away. */
    SOTTO_TRY(sotto_binomial_upper(&tail, size - (double)c->tolerated, size, away, 1 - away, err));
    *out = at_most_one(tail.high);
    return SOTTO_OK;
}

sotto_status sotto_committee_overflows(double *out, double *bound, double devices, double rate,
                                       double headroom, sotto_err *err)
{
    sotto_bound tail;
    double most;

    SOTTO_TRY(sotto_check_count("devices", devices, 1, 1e12, err));
    SOTTO_TRY(sotto_check_range("rate", rate, 1e-12, 0.5, err));
    SOTTO_TRY(sotto_check_range("headroom", headroom, 1, 100, err));
    most = floor(headroom * rate * devices);
    *out = 0;
    *bound = chernoff(headroom * rate * devices, rate * devices);
    if (most >= devices)
        return SOTTO_OK;
    SOTTO_TRY(sotto_binomial_upper(&tail, most + 1, devices, rate, 1 - rate, err));
    *out = at_most_one(tail.high);
    return SOTTO_OK;
}

sotto_status sotto_committee_underflows(double *out, double *bound, double devices, double rate,
                                        double least, sotto_err *err)
{
    sotto_bound tail;
    double wanted;

    SOTTO_TRY(sotto_check_count("devices", devices, 1, 1e12, err));
    SOTTO_TRY(sotto_check_range("rate", rate, 1e-12, 0.5, err));
    SOTTO_TRY(sotto_check_range("least", least, 0, 1, err));
    wanted = ceil(least * rate * devices);
    *out = 0;
    *bound = least < 1 && least > 0 ? chernoff_of(least, rate * devices) : least > 0;
    if (wanted < 1)
        return SOTTO_OK;
    /* At most wanted - 1 take part: at least so many do not. */
    SOTTO_TRY(sotto_binomial_upper(&tail, devices - wanted + 1, devices, 1 - rate, rate, err));
    *out = at_most_one(tail.high);
    return SOTTO_OK;
}

double sotto_committee_misses(double checks, double corrupt, double offline, double headroom)
{
    double looks = sotto_round_down((1 - corrupt) * (1 - offline) * checks / headroom, ROUNDINGS);

    return at_most_one(sotto_round_up(exp(-looks), ROUNDINGS));
}
