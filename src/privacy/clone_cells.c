#include "privacy/clone_cells.h"

#include "privacy/special.h"

#define LEAST_MASS 1e-320

typedef struct law {
    double n, p, q;
    double mean, deviation;
    double even, even_above;
    double narrow; /* width at the centre */
    double least;  /* cells of less mass need not be weighed well */
} law;

/* Log-concavity: between the ends of a cell the probabilities lie above the geometric sequence through both
 * ends, and above it by no more than curvature * (width - 1)^2 / 8 in the logarithm, since the second
 * difference of log C(n,c) p^c q^(n-c) is at least -(1/c + 1/(n-c)). */
static void weigh_piece(sotto_cell *cell, const law *of)
{
    double steps = cell->last - cell->first, sum = 1, bulge = 0;
    double error_first, error_last = 0;
    double top = sotto_binomial_log_pmf(cell->first, of->n, of->p, of->q, &error_first);
    double low_top = top, error;

    cell->log_last = top;
    if (steps > 0) {
        double at_last = sotto_binomial_log_pmf(cell->last, of->n, of->p, of->q, &error_last);

        cell->log_last = at_last;
        double slope = -fabs(at_last - top) / steps;

        top = low_top = fmax(top, at_last); /* count from the larger end, where nothing overflows */
        sum = slope * (steps + 1) > -1e-9 ? steps + 1 : expm1(slope * (steps + 1)) / expm1(slope);
        bulge = (1 / (cell->first + 1) + 1 / (of->n - cell->last + 1)) * steps * steps / 8;
        /* Far out a cell is wide, and its larger end times its width does better. */
        if (cell->first > of->mean + 1 || cell->last < of->mean - 1)
            bulge = fmin(bulge, log((steps + 1) / sum));
    }
    error = fmax(error_first, error_last) + (sum == steps + 1 && steps > 0 ? 2e-9 : 0) + 1e-14;
    cell->mass.low = exp(low_top) * sum * fmax(0, 1 - error);
    if (cell->mass.low < 1e-300) /* doubles run out of digits there */
        cell->mass.low = 0;
    cell->log_high = top + bulge + log(sum) + error + 1e-15 * fabs(top);
    cell->mass.high = exp(top + bulge) * sum * (1 + error) + LEAST_MASS;
}

/* A wide cell is weighed in pieces: its mass is then known well, though its values are lumped together. */
static void weigh(sotto_cell *cell, const law *of)
{
    double piece = fmax(1, floor(of->deviation / 100)), last = cell->last;

    weigh_piece(cell, of);
    if (last - cell->first < 2 * piece || last - cell->first > 64 * piece ||
        cell->mass.high < of->least)
        return;
    sotto_cell part = {cell->first, 0, {0, 0}, 0, 0};

    cell->mass = (sotto_bound){0, 0};
    cell->log_high = -INFINITY;
    while (part.first <= last) {
        part.last = fmin(last, part.first + piece - 1);
        weigh_piece(&part, of);
        cell->mass.low += part.mass.low;
        cell->mass.high += part.mass.high;
        cell->log_high = sotto_log_add(cell->log_high, part.log_high) + 1e-14;
        part.first = part.last + 1;
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

/* The cell that starts at `at` and goes in the direction of `sign`; all the way if it is the last there is room for. */
static sotto_cell cell_from(const law *of, double at, int sign, bool final)
{
    double other = final ? sign * (double)INFINITY : at + sign * (width_at(of, at) - 1);
    sotto_cell cell;

    other = sign > 0 ? fmin(other, of->n) : fmax(other, 0);
    cell.first = fmin(at, other);
    cell.last = fmax(at, other);
    weigh(&cell, of);
    return cell;
}

size_t sotto_cells_cover(sotto_cell cells[SOTTO_CELLS_MAX], double n, double p, double q,
                         double even, double least)
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

    /* Downwards from the middle first, then turned round, then upwards. At most 2 x 1500 narrow cells, some 2 x 160
     * of a quarter of the deviation, and then each reaches an eighth further out: the count is bounded. */
    for (double at = middle; at >= 0 && down < SOTTO_CELLS_MAX / 2; at = cells[down++].first - 1)
        cells[down] = cell_from(&of, at, -1, down == SOTTO_CELLS_MAX / 2 - 1);
    for (size_t i = 0; i < down / 2; i++) {
        sotto_cell swapped = cells[i];

        cells[i] = cells[down - 1 - i];
        cells[down - 1 - i] = swapped;
    }
    up = down;
    for (double at = middle + 1; at <= n && up < SOTTO_CELLS_MAX; at = cells[up++].last + 1)
        cells[up] = cell_from(&of, at, +1, up == SOTTO_CELLS_MAX - 1);
    return up;
}
