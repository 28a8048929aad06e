#include "account/neighbours.h"

#include "account/numeric/parameter.h"
#include "account/numeric/special.h"

#include <math.h>

/* Relative errors of a product, a power and a sum of a few thousand terms are far below this. */
static const double slack = 1e-11;
/* What underflows is counted as this. */
static const double tiny = 1e-300;

/* ---- tails in logarithms -------------------------------------------------------------------------------------------- */

/* log P(Bin(n, p) >= k), at most. */
static double log_upper(double k, double n, double p, double q)
{
    sotto_bound ratio;
    double error;

    if (k <= 0 || k < (n + 1) * p)
        return 0;
    if (k > n)
        return -INFINITY;
    const double first = sotto_binomial_log_pmf(k, n, p, q, &error);
    if (sotto_binomial_tail_ratio(&ratio, k, n, p, q, NULL) != SOTTO_OK)
        return 0; /* so close to the mean that 1 is as good */
    return fmin(0, sotto_round_up(first + error + log(ratio.high), 8) + slack);
}

/* log of the number of sets of s among n, at most. */
static double log_sets(double s, double n)
{
    double error;
    const double log_pmf = sotto_binomial_log_pmf(s, n, 0.5, 0.5, &error);

    return sotto_round_up(log_pmf + error + n * log(2), 8) + slack * n;
}

/* ---- one round -------------------------------------------------------------------------------------------------------- */

static double edge_of(const sotto_neighbours *g)
{
    return g->degree + 1 >= g->clients ? 1 : (double)g->degree / ((double)g->clients - 1);
}

/* log P(so few honest clients are neighbours of a set of s that the server can leave them out), at most: with fewer edges it is likelier. */
static double log_left_out(const sotto_neighbours *g, double s, double edge)
{
    const double honest = (double)(g->clients - g->corrupt), others = honest - s,
                 away = s * log1p(-edge);
    double q = exp(away) * (1 + slack), p = 1 - q;

    if (q > 0.5) {
        p = -expm1(away) * (1 - slack);
        q = 1 - p;
    }
    return log_upper(others - (double)g->dropped, others, q, p);
}

/* log P(2 X + Y >= s * least), at most, where X edges are within the set and Y to liars: any tilt gives a bound (Chernoff). */
static double log_inner(const sotto_neighbours *g, double s, double edge)
{
    const double within = s * (s - 1) / 2, out = s * (double)g->corrupt,
                 wanted = s * (double)g->least,
                 tilt = log((double)g->least / (edge * ((double)g->corrupt + s - 1)));
    double best = 0;

    for (double part = 1; part > 0.5 && tilt > 0; part -= 0.15) {
        const double t = part * tilt, one = within * log1p(edge * expm1(2 * t)),
                     two = out * log1p(edge * expm1(t));

        best = fmin(best, one + two - t * wanted + 1e-12 * (one + two + t * wanted));
    }
    return best;
}

/* log P(each client of a set of s has its neighbours among liars and the set), at most. With more edges it is likelier. */
static double log_stays(const sotto_neighbours *g, double s, double edge)
{
    const double more = fmin(1, edge * (1 + slack)),
                 liars = log_upper((double)g->least - s + 1, (double)g->corrupt, more, 1 - more);

    return fmin(s * liars, log_inner(g, s, more));
}

/* P(some set of s honest clients is cut off), at most. */
static double cut_sets(const sotto_neighbours *g, double s, double edge)
{
    const double honest = (double)(g->clients - g->corrupt),
                 all = log_sets(s, honest) + log_stays(g, s, edge) + log_left_out(g, s, edge);

    return fmax(sotto_round_up(exp(all), 8) * (1 + slack), tiny);
}

/* Stops where it is above `enough`: whoever looks for less needs no more. */
static double cut_off(const sotto_neighbours *g, double enough)
{
    const double honest = (double)(g->clients - g->corrupt), edge = edge_of(g);
    double sum = 0;

    if (honest <= (double)g->dropped)
        return 1; /* nobody honest need be online but one */
    if (edge >= 1)
        return 0; /* everybody is everybody's neighbour */
    for (double s = 1; s <= floor(honest / 2) && sum <= enough; s++)
        sum += cut_sets(g, s, edge);
    return fmin(1, sotto_round_up(sum * (1 + slack), 8));
}

static double burns(const sotto_neighbours *g)
{
    const double online = (double)(g->clients - g->dropped), others = online - 1, edge = edge_of(g);

    if (others < (double)g->least)
        return 1;
    if (edge >= 1)
        return 0;
    /* Fewer than `least` are neighbours: more than others - least are not. */
    const double log_one = log_upper(others - (double)g->least + 1, others, 1 - edge, edge);
    return fmin(1, sotto_round_up(online * exp(log_one), 8) * (1 + slack));
}

/* ---- all of them -------------------------------------------------------------------------------------------------------- */

static sotto_status check(const sotto_neighbours *g, sotto_err *err)
{
    SOTTO_TRY(sotto_check_count("clients", (double)g->clients, 3, SOTTO_NEIGHBOURS_MAX, err));
    SOTTO_TRY(sotto_check_count("corrupt", (double)g->corrupt, 0, (double)g->clients - 2, err));
    SOTTO_TRY(sotto_check_count("dropped", (double)g->dropped, 0, (double)g->clients - 2, err));
    SOTTO_TRY(sotto_check_count("degree", (double)g->degree, 1, 1e6, err));
    SOTTO_TRY(sotto_check_count("neighbours", (double)g->least, 1, 1e6, err));
    return sotto_check_range("rounds", g->rounds, 1, 1e12, err);
}

static void fill(sotto_neighbours_odds *out, const sotto_neighbours *g, double enough)
{
    *out = (sotto_neighbours_odds){.one = cut_off(g, enough), .bits = INFINITY};
    out->burns = burns(g);
    if (out->one <= 0)
        return;
    out->any = fmin(1, sotto_round_up(out->one * g->rounds, 8));
    out->bits = fmax(0, sotto_round_down(-log2(out->any), 8));
}

sotto_status sotto_neighbours_odds_of(sotto_neighbours_odds *out, const sotto_neighbours *g,
                                      sotto_err *err)
{
    SOTTO_TRY(check(g, err));
    fill(out, g, 1);
    return SOTTO_OK;
}

/* The most neighbours that may be asked for. More of them make it harder to cut somebody off. */
static void ask_for_most(sotto_neighbours *g, double most)
{
    uint64_t low = 0, high = g->degree + 1;

    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;

        g->least = middle;
        if (burns(g) <= most)
            low = middle;
        else
            high = middle;
    }
    g->least = low;
}

sotto_status sotto_neighbours_smallest(sotto_neighbours *g, double bits, double most,
                                       sotto_err *err)
{
    sotto_neighbours_odds odds;
    sotto_neighbours one = *g;

    one.degree = one.least = 1;
    SOTTO_TRY(check(&one, err));
    for (uint64_t degree = 1; degree < g->clients; degree++) {
        g->degree = degree;
        ask_for_most(g, most);
        if (g->least == 0)
            continue;
        fill(&odds, g, exp2(-bits));
        if (odds.bits >= bits)
            return SOTTO_OK;
    }
    g->degree = g->least = 0;
    return SOTTO_OK;
}
