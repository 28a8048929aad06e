#include "analyse/interval.h"

#include "account/numeric/special.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* ---- dividing alpha --------------------------------------------------------------------------------- */

/* Where the ratio of the likelihoods of the truth and of the best f falls to exp(-r^2 / 2). Beyond a bound that is
 * `bound` deviations away the best f is the bound itself, and the ratio falls slower. */
static double reach(double r, double bound)
{
    return r <= bound ? r : (bound + r * r / bound) / 2;
}

/* How fast it grows with r. */
static double reach_slope(double r, double bound)
{
    return r <= bound ? 1 : r / bound;
}

static double density(double x)
{
    return exp(-x * x / 2) / sqrt(2 * acos(-1));
}

/* The r that leaves `chance` beyond both reaches. It is at most that of no bounds; Newton's steps within bounds that shrink. */
static double ratio_of(double chance, double from_low, double from_high, double most)
{
    double low = 0, high = most, r = most;

    for (int i = 0; i < 80 && high - low > 1e-10; i++) {
        const double a = reach(r, from_low), b = reach(r, from_high),
                     off = sotto_normal_tail(a) + sotto_normal_tail(b) - chance,
                     slope = density(a) * reach_slope(r, from_low) +
                             density(b) * reach_slope(r, from_high);

        if (fabs(off) <= 1e-8 * chance)
            break;
        if (off > 0)
            low = r;
        else
            high = r;
        const double next = slope > 0 ? r + off / slope : low;
        r = next > low && next < high ? next : (low + high) / 2;
    }
    return r;
}

sotto_alpha sotto_alpha_of(double chance)
{
    return (sotto_alpha){chance, ratio_of(chance, INFINITY, INFINITY, 40)};
}

sotto_tail_split sotto_alpha_split(sotto_alpha alpha, double from_low, double from_high)
{
    if (from_low >= alpha.z && from_high >= alpha.z)
        return (sotto_tail_split){alpha.chance / 2, alpha.chance / 2, alpha.z, alpha.z};
    const double r = ratio_of(alpha.chance, from_low, from_high, alpha.z),
                 below = reach(r, from_low), above = reach(r, from_high);

    return (sotto_tail_split){sotto_normal_tail(below), sotto_normal_tail(above), below, above};
}

/* A law without chance has no tails to divide. */
static sotto_tail_split split_at(const sotto_sum_law *law, sotto_alpha alpha, double f)
{
    const double unit = sotto_law_deviation(law, f) / sotto_law_gain(law);

    return unit > 0 ? sotto_alpha_split(alpha, f / unit, (law->most - f) / unit)
                    : sotto_alpha_split(alpha, INFINITY, INFINITY);
}

/* ---- ends ------------------------------------------------------------------------------------------- */

typedef struct search {
    const sotto_sum_law *law;
    sotto_alpha alpha;
    double sum;
    int side; /* -1: the low end, where the upper tail of f is compared; 1: the high end */
} search;

/* About the deviations that have this chance beyond them: nearly straight over f, which a search likes. */
static double deviations_of(double chance)
{
    return chance >= 1 ? 0 : chance > 0 ? sqrt(-2 * log(chance)) : 60;
}

/* Above 0 where f agrees with the sum on this side. It rises with f on the low side, and falls on the high side. */
static double agrees(const search *s, double f)
{
    const sotto_tail_split split = split_at(s->law, s->alpha, f);
    const double allowed = s->side < 0 ? split.upper : split.lower;
    const double chance =
        s->side < 0 ? sotto_law_upper(s->law, f, s->sum) : sotto_law_lower(s->law, f, s->sum);

    return deviations_of(allowed) - deviations_of(chance);
}

/* Between f that agrees and f that does not: false position, halved where it stays on one side (Illinois). */
static double solve(const search *s, double in, double out, double unit)
{
    double at_in = agrees(s, in), at_out = agrees(s, out);
    int kept = 0;

    for (int i = 0; i < 60 && fabs(in - out) > 1e-6 * unit; i++) {
        const double part = at_in - at_out > 0 ? at_in / (at_in - at_out) : 0.5,
                     f = in + (out - in) * fmin(fmax(part, 0.002), 0.998), y = agrees(s, f);

        if (y > 0) {
            in = f;
            at_in = y;
            at_out = kept > 0 ? at_out / 2 : at_out;
            kept = kept > 0 ? kept + 1 : 1;
        } else {
            out = f;
            at_out = y;
            at_in = kept < 0 ? at_in / 2 : at_in;
            kept = kept < 0 ? kept - 1 : -1;
        }
    }
    return out; /* outward */
}

static double end_of(const search *s, double bound)
{
    const double gain = sotto_law_gain(s->law), x = (s->sum - s->law->entries * s->law->q) / gain,
                 best = fmin(fmax(x, 0), s->law->most),
                 unit = fmax(sotto_law_deviation(s->law, best) / gain, 1e-9);
    double in = best, step = s->alpha.z * unit;

    if (isfinite(bound) && agrees(s, bound) > 0)
        return bound;
    for (int i = 0; i < 200; i++) {
        double f = s->side < 0 ? fmax(in - step, bound) : fmin(in + step, bound);

        if (agrees(s, f) <= 0)
            return solve(s, in, f, unit);
        in = f;
        step *= i < 4 ? 0.3 : 2;
    }
    return bound;
}

sotto_ends sotto_interval_of(const sotto_sum_law *law, sotto_alpha alpha, double sum)
{
    const search low = {law, alpha, sum, -1}, high = {law, alpha, sum, 1};
    const sotto_ends found = {end_of(&low, 0), end_of(&high, law->most)};

    return (sotto_ends){fmin(found.low, found.high), fmax(found.low, found.high)};
}

/* ---- tables ----------------------------------------------------------------------------------------- */

enum { FEW = 256, NODES = 16384, FINE = 24 };

/* Ends bend within a few deviations of a bound of f, and are nearly straight far from both. */
static double step_at(const sotto_sum_law *law, double s)
{
    const double gain = sotto_law_gain(law), x = (s - law->entries * law->q) / gain,
                 away = fmin(fabs(x), fabs(law->most - x)),
                 unit = sotto_law_deviation(law, fmin(fmax(x, 0), law->most)) / gain;

    return fmax(1, floor(gain * fmax(unit, away) / FINE));
}

/* The first sum from `least` to `most` whose low end leaves 0 (side -1) or whose high end reaches the upper bound. */
static double turn_of(const sotto_sum_law *law, double alpha, int side, double least, double most)
{
    while (least < most) {
        const double middle = floor((least + most) / 2);
        const bool beyond = side < 0 ? sotto_law_upper(law, 0, middle) <= alpha
                                     : sotto_law_lower(law, law->most, middle) > alpha;

        if (beyond)
            most = middle;
        else
            least = middle + 1;
    }
    return least;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void add_node(sotto_interval_table *t, double s, double least, double most)
{
    if (s >= least && s <= most)
        t->sums[t->count++] = s;
}

/* Rows of many sums; ends turn at two of them, and each has a row on both of its sides. */
static void place(sotto_interval_table *t, const sotto_sum_law *law, double alpha, double least,
                  double most)
{
    for (int side = -1; side <= 1; side += 2)
        if (side < 0 || isfinite(law->most)) {
            const double turn = turn_of(law, alpha, side, least, most);

            add_node(t, turn - 1, least, most);
            add_node(t, turn, least, most);
        }
    for (double s = least; s < most && t->count < NODES; s += step_at(law, s))
        add_node(t, s, least, most);
    add_node(t, most, least, most);
}

static void place_all(sotto_interval_table *t, const sotto_sum_law *law, double alpha,
                      const int64_t *sums, size_t count)
{
    double least = (double)sums[0], most = (double)sums[0];

    for (size_t i = 0; i < count; i++) {
        least = fmin(least, (double)sums[i]);
        most = fmax(most, (double)sums[i]);
        if (count <= FEW)
            add_node(t, (double)sums[i], least, most);
    }
    if (count > FEW)
        place(t, law, alpha, least, most);
}

/* In order, each once. */
static void sort(sotto_interval_table *t)
{
    size_t kept = 0;

    qsort(t->sums, t->count, sizeof *t->sums, ascending);
    for (size_t i = 0; i < t->count; i++)
        if (kept == 0 || t->sums[i] > t->sums[kept - 1])
            t->sums[kept++] = t->sums[i];
    t->count = kept;
}

sotto_status sotto_interval_table_init(sotto_interval_table *out, const sotto_sum_law *law,
                                       sotto_alpha alpha, const int64_t *sums, size_t count,
                                       sotto_arena *arena, sotto_err *err)
{
    const size_t rows = count <= FEW ? count : NODES + 8;

    out->count = 0;
    out->sums = sotto_arena_take_array(arena, rows, sizeof *out->sums);
    if (!out->sums)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a table of intervals");
    place_all(out, law, alpha.chance, sums, count);
    sort(out);
    out->ranges = sotto_arena_take_array(arena, out->count, sizeof *out->ranges);
    if (!out->ranges)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a table of intervals");
    for (size_t i = 0; i < out->count; i++)
        out->ranges[i] = sotto_interval_of(law, alpha, out->sums[i]);
    return SOTTO_OK;
}

sotto_ends sotto_interval_look_up(const sotto_interval_table *t, double sum)
{
    size_t low = 0, high = t->count - 1;

    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;

        if (t->sums[middle] <= sum)
            low = middle;
        else
            high = middle;
    }
    if (t->sums[high] <= sum)
        return t->ranges[high];
    if (t->sums[low] >= sum)
        return t->ranges[low];
    const double part = (sum - t->sums[low]) / (t->sums[high] - t->sums[low]);
    const sotto_ends a = t->ranges[low], b = t->ranges[high];
    return (sotto_ends){a.low + part * (b.low - a.low), a.high + part * (b.high - a.high)};
}
