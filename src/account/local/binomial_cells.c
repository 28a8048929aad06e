#include "account/local/binomial_cells.h"

#include "account/numeric/special.h"

#define U          SOTTO_UNIT_ROUNDOFF
#define LEAST_MASS 1e-320

typedef struct law {
    double n, p, q;
    double mean, deviation;
    double even, even_above;
    double narrow; /* width at the centre */
    double least;  /* cells of less mass need not be weighed well */
} law;

/* The logarithm of one value's probability, and what it may be off by; links: neighbours since it was computed. */
typedef struct point {
    double log, error;
    int links;
} point;

/* After so many it is computed again: errors add up. */
#define LINKS_MOST 8

static point point_at(const law *of, double value)
{
    point p = {0};

    p.log = sotto_binomial_log_pmf(value, of->n, of->p, of->q, &p.error);
    return p;
}

/* The neighbour's, from the ratio of the two: of four roundings, a logarithm and a sum. */
static point neighbour(const point *from, double ratio)
{
    double by = log(ratio), sum = from->log + by;

    return (point){sum, from->error + U * (8 + 2 * fabs(by) + fabs(sum)), from->links + 1};
}

/* At value + 1; nothing is there after n. */
static point point_after(const law *of, double value, const point *here)
{
    return value < of->n ? neighbour(here, (of->n - value) / (value + 1) * (of->p / of->q))
                         : (point){-INFINITY, 0, 0};
}

/* At value - 1, value > 0. */
static point point_before(const law *of, double value, const point *here)
{
    return neighbour(here, value / (of->n - value + 1) * (of->q / of->p));
}

/* Log-concavity: between the ends of a cell the probabilities lie above the geometric sequence through both
 * ends. In the logarithm they are above it by at most curvature * (width - 1)^2 / 8, since the second
 * difference of log C(n,c) p^c q^(n-c) is at least -(1/c + 1/(n-c)). */
static void weigh_piece(sotto_binomial_cell *cell, const law *of, const point *first,
                        const point *last)
{
    double steps = cell->last - cell->first, sum = 1, bulge = 0, top = first->log, error;
    double most = INFINITY; /* of the sum, by other means */

    cell->log_last = last->log;
    if (steps > 0) {
        double slope = -fabs(last->log - top) / steps;

        top = fmax(top, last->log); /* count from the larger end, where nothing overflows */
        sum = slope * (steps + 1) > -1e-9 ? steps + 1 : expm1(slope * (steps + 1)) / expm1(slope);
        bulge = (1 / (cell->first + 1) + 1 / (of->n - cell->last + 1)) * steps * steps / 8;
        /* Far out a cell is wide, and its larger end times its width does better. */
        if (cell->first > of->mean + 1 || cell->last < of->mean - 1)
            most = steps + 1;
    }
    error = fmax(first->error, last->error) + (sum == steps + 1 && steps > 0 ? 2e-9 : 0) + 1e-14;
    double size = exp(top);
    cell->mass.low = size * sum * fmax(0, 1 - error);
    if (cell->mass.low < 1e-300) /* doubles run out of digits there */
        cell->mass.low = 0;
    if (top > -650 && bulge < 1 && of->least > 0) {
        /* e^bulge, from above */
        double grown = 1 + bulge * (1 + bulge * (0.5 + bulge / 3));

        cell->mass.high = size * fmin(sum * grown, most) * (1 + error) * (1 + 1e-15) + LEAST_MASS;
        cell->log_high = INFINITY;
        return;
    }
    bulge = fmin(bulge, log(most / sum));
    cell->log_high = top + bulge + log(sum) + error + 1e-15 * fabs(top);
    cell->mass.high = exp(top + bulge) * sum * (1 + error) + LEAST_MASS;
}

/* One end of a cell, where the other is known. */
static point point_of(const law *of, const sotto_binomial_cell *cell, double value,
                      const point *other)
{
    return cell->first == cell->last && other->links < LINKS_MOST ? *other : point_at(of, value);
}

/* A wide cell is weighed in pieces: its mass is then known well, though its values are lumped together. */
static void weigh(sotto_binomial_cell *cell, const law *of, point first, const point *end)
{
    double piece = fmax(1, floor(of->deviation / 100)), last = cell->last;

    weigh_piece(cell, of, &first, end);
    if (last - cell->first < 2 * piece || last - cell->first > 64 * piece ||
        cell->mass.high < of->least)
        return;
    sotto_binomial_cell part = {cell->first, 0, {0, 0}, 0, 0};

    cell->mass = (sotto_bound){0, 0};
    cell->log_high = of->least == 0 ? -INFINITY : INFINITY;
    while (part.first <= last) {
        part.last = fmin(last, part.first + piece - 1);
        point here = part.last == last ? *end : point_of(of, &part, part.last, &first);
        weigh_piece(&part, of, &first, &here);
        cell->mass.low += part.mass.low;
        cell->mass.high += part.mass.high;
        if (of->least == 0)
            cell->log_high = sotto_log_add(cell->log_high, part.log_high) + 1e-14;
        part.first = part.last + 1;
        first = point_after(of, part.last, &here);
    }
    cell->mass.low *= 1 - 1e-14;
    cell->mass.high *= 1 + 1e-14;
}

static double width_at(const law *of, double value)
{
    double away = fabs(value - of->mean), z = away / of->deviation;
    double even = value > of->mean ? of->even_above : of->even;

    if (z <= even)
        return of->narrow;
    double wider = of->deviation > 100 ? exp(fmin(z * z - even * even, 60) / 8)
                                       : 1 + (z - even) * of->deviation / 10;
    double most = fmax(of->deviation / 4, z > 40 ? away / 8 : 0);

    return fmax(of->narrow, floor(fmin(of->narrow * wider, most)));
}

/* The cell that starts at `at` and goes in the direction of `sign`; all the way if it is the last there is room for.
 * *near is the point `at`, then the one after the cell, if there is one. */
static sotto_binomial_cell cell_from(const law *of, double at, int sign, bool final, point *near)
{
    double other = final ? sign * (double)INFINITY : at + sign * (width_at(of, at) - 1);
    sotto_binomial_cell cell;

    other = sign > 0 ? fmin(other, of->n) : fmax(other, 0);
    cell.first = fmin(at, other);
    cell.last = fmax(at, other);
    point far = point_of(of, &cell, sign > 0 ? cell.last : cell.first, near);
    weigh(&cell, of, sign > 0 ? *near : far, sign > 0 ? &far : near);
    if (sign > 0)
        *near = point_after(of, cell.last, &far);
    else if (cell.first > 0)
        *near = point_before(of, cell.first, &far);
    return cell;
}

size_t sotto_binomial_cells_cover(sotto_binomial_cell cells[SOTTO_BINOMIAL_CELLS_MAX], double n,
                                  double p, double q, double even, double least)
{
    law of = {n, p, q, n * p, sqrt(n * p * q), fmin(even, 40), fmin(even, 40), 1, least};
    double middle = floor(of.mean);
    size_t down = 0, up;

    if (of.deviation <= 100) { /* the weight of few clones is below the mean */
        of.even = fmax(of.even, 9);
        of.even_above = even > 0 ? of.even : 3;
    }
    /* Lumping values together costs width / (4 n p) of an epsilon where nothing else is asked for. */
    double finest = even > 0 ? fmin(1500 / of.even, 100) : fmax(12, fmin(3e5 / of.deviation, 100));

    if (of.deviation <= 100)
        finest = fmin(170, 1500 / of.even);
    of.narrow = floor(fmax(of.deviation / finest, 1));
    if (of.even * of.deviation / of.narrow > 1700)
        of.narrow += 1;

    point near = point_at(&of, middle);
    /* Downwards from the middle first, then turned round, then upwards. At most 2 x 1500 narrow cells, some 2 x 160
     * of a quarter of the deviation, and then each reaches an eighth further out: the count is bounded. */
    for (double at = middle; at >= 0 && down < SOTTO_BINOMIAL_CELLS_MAX / 2;
         at = cells[down++].first - 1)
        cells[down] = cell_from(&of, at, -1, down == SOTTO_BINOMIAL_CELLS_MAX / 2 - 1, &near);
    for (size_t i = 0; i < down / 2; i++) {
        sotto_binomial_cell swapped = cells[i];

        cells[i] = cells[down - 1 - i];
        cells[down - 1 - i] = swapped;
    }
    up = down;
    near = middle < n ? point_at(&of, middle + 1) : near;
    for (double at = middle + 1; at <= n && up < SOTTO_BINOMIAL_CELLS_MAX;
         at = cells[up++].last + 1)
        cells[up] = cell_from(&of, at, +1, up == SOTTO_BINOMIAL_CELLS_MAX - 1, &near);
    return up;
}
