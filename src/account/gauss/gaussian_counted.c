#include "account/gauss/gaussian.h"

#include "account/numeric/parameter.h"
#include "account/numeric/root.h"
#include "account/numeric/special.h"

#define U      SOTTO_UNIT_ROUNDOFF
#define SD_MAX 1000.0
/* e^-NOTHING of the largest term is charged rather than worked out. */
#define NOTHING   40.0
#define CELLS_MAX 20000
/* Cells are so many to a deviation at the largest term: to look, and to answer. */
#define COARSE 10.0
#define FINE   130.0

/* delta is the sum over k of T(k) = P(N = k) delta_k, N the number of releases. log T is concave: binomial laws are
 * log-concave; log delta_k is concave in mu, its derivative 1 / (m(a) - m(b)) falling with mu, and mu in k. So between
 * two values of k the terms lie above the chord and below both tangents of log T, and few values of k do. */
typedef struct counted {
    double sigma, sensitivity, rate, rounds;
    double cells; /* to a deviation */
    const sotto_counted_inflate *inflate;
} counted;

/* log T(k), and tangents: log T(k + j) <= log.high + j up, log T(k - j) <= log.high - j down for j >= 0. */
typedef struct term {
    double k;
    sotto_bound log;
    double up, down;
} term;

static term term_at(const counted *q, double eps, double k)
{
    double n = q->rounds, p = q->rate, off, mu = q->sensitivity * sqrt(k) / q->sigma;
    double mass = sotto_binomial_log_pmf(k, n, p, 1 - p, &off);
    sotto_bound delta = sotto_gaussian_curve(eps, mu, NULL);
    double a = eps / mu - mu / 2, middle = 0.5 * (delta.low + delta.high);
    double by_mu = sotto_gaussian_slope_mu(eps, mu, middle), by_k = by_mu / (2 * k);
    /* exponents of the slope: a^2/2 and log delta, each rounded */
    double wrong = delta.high - delta.low + U * (32 + 4 * a * a + 4 * fabs(middle));
    double next = log((n - k) / (k + 1) * (p / (1 - p)));
    double last = log((n - k + 1) / k * (p / (1 - p)));

    off = (off + 8 * U * by_mu) * q->inflate->term; /* mu is rounded by 4u */
    wrong *= q->inflate->term;
    return (term){k,
                  {mass + delta.low - off, mass + delta.high + off},
                  next + by_k * (1 + wrong) + 1e-15 * (8 + fabs(next)),
                  last + by_k * (1 - wrong) - 1e-15 * (8 + fabs(last))};
}

/* e^x + e^(x+s) + ... of n terms, n >= 0, counted from the largest; relative error 1e-14 or so. */
static double run(double x, double s, double n)
{
    if (s > 0) {
        x += s * (n - 1);
        s = -s;
    }
    if (n * -s < 1e-7)
        return exp(x) * n * (1 + (n - 1) / 2 * s);
    return exp(x) * (expm1(n * s) / expm1(s));
}

/* The terms after the near one up to the far one, `towards` +1 for larger k; relative to e^ref. */
static sotto_bound cell_sum(const term *near, const term *far, int towards, double ref)
{
    double width = fabs(far->k - near->k), low = near->log.low - ref, high = near->log.high - ref;
    double away = towards > 0 ? near->up : -near->down; /* near's tangent, a step */
    double back = towards > 0 ? -far->down : far->up;   /* far's tangent, a step back */
    double meet = floor((far->log.high - ref + width * back - high) / (away + back));
    double first = fmin(fmax(meet, 0), width - 1); /* so many by near's tangent */
    double chord = (far->log.low - near->log.low) / width;

    if (!(width > 1))
        return (sotto_bound){exp(far->log.low - ref), exp(far->log.high - ref)};
    return (sotto_bound){run(low + chord, chord, width),
                         run(high + away, away, first) +
                             run(far->log.high - ref, back, width - first)};
}

/* All terms after the last one that was looked at, by its tangent. INFINITY where that does not fall. */
static double rest_sum(const term *last, int towards, double ref)
{
    double away = towards > 0 ? last->up : -last->down;

    return away < 0 ? exp(last->log.high + away - ref) / -expm1(away) : INFINITY;
}

/* From the largest term to one end; the sums grow. */
static void walk(sotto_bound *sum, double *cells, const counted *q, double eps, const term *top,
                 double spread, int towards)
{
    double end = towards > 0 ? q->rounds : 1;
    term near = *top;

    for (; near.k != end && *cells < CELLS_MAX; ++*cells) {
        double drop = top->log.high - near.log.high;

        if (drop > NOTHING) {
            sum->high += q->inflate->rest * rest_sum(&near, towards, top->log.high);
            return;
        }
        /* wider where it matters less: a cell errs by its width's cube */
        double width = fmax(1, floor(fmin(spread, spread / q->cells * exp(drop / 3))));
        term far =
            term_at(q, eps, towards > 0 ? fmin(end, near.k + width) : fmax(end, near.k - width));
        sotto_bound cell = cell_sum(&near, &far, towards, top->log.high);

        sum->low += isfinite(cell.low) ? cell.low : 0;
        sum->high += cell.high;
        near = far;
    }
    if (near.k != end)
        sum->high += q->inflate->rest * rest_sum(&near, towards, top->log.high);
}

/* The largest term: the last k that the one before does not exceed. */
static term largest(const counted *q, double eps)
{
    double low = fmax(1, floor((q->rounds + 1) * q->rate) - 1), high = q->rounds;

    for (int i = 0; i < 64 && low < high; i++) {
        double k = floor(low + (high - low) / 2);

        if (term_at(q, eps, k).up > 0)
            low = k + 1;
        else
            high = k;
    }
    return term_at(q, eps, low);
}

/* How wide the terms spread about the largest; it decides nothing but the width of cells. */
static double spread_at(const counted *q, double eps, const term *top)
{
    double by_count = sqrt(fmin(top->k, q->rounds - top->k) + 1);
    double step = fmax(1, floor(by_count / 8));
    double below = fmax(1, top->k - step), above = fmin(q->rounds, top->k + step);

    if (!(above > below))
        return by_count;
    double bend = (term_at(q, eps, below).up - term_at(q, eps, above).up) / (above - below);

    return bend > 0 ? fmin(by_count, 1 / sqrt(bend)) : by_count;
}

/* log delta(eps). */
static sotto_bound log_delta_at(const counted *q, double eps)
{
    term top = largest(q, eps);
    double spread = spread_at(q, eps, &top), cells = 1;
    sotto_bound sum = {exp(top.log.low - top.log.high), 1};

    walk(&sum, &cells, q, eps, &top, spread, 1);
    walk(&sum, &cells, q, eps, &top, spread, -1);
    /* 1 - rate is rounded: the two need not add up to 1 */
    double drift = 4 * U * q->rounds * q->rate;
    double more = (drift + U * (16 * cells + 4 * fabs(top.log.high) + 256)) * q->inflate->rounding;

    /* Where epsilon is absurd, the slopes are too rough to find the largest term, and the rest of a sum of doubles is
     * infinity. A part of it is a lower bound, too. */
    return (sotto_bound){top.log.high + log(fmin(sum.low, 1e300)) - more,
                         fmin(0, top.log.high + log(sum.high) + more)};
}

typedef struct aim {
    counted q;
    double log_delta;
} aim;

/* Above the chord and below the tangents: a third of the way from the latter. */
static double miss(const void *self, double eps)
{
    const aim *a = self;
    sotto_bound at = log_delta_at(&a->q, eps);

    return fmax(-700, at.high - (at.high - at.low) / 3 - a->log_delta);
}

/* Goes from x by `step` on, further each time, until delta is certainly on the wanted side: +1 below its goal, -1 above. */
static double settle(const aim *a, double x, double step, int side, double otherwise)
{
    for (int i = 0; i < 12; i++, step *= 3) {
        double eps = x + side * step;
        sotto_bound at;

        if (side > 0 ? eps >= otherwise : eps <= otherwise)
            break;
        at = log_delta_at(&a->q, eps);
        if (side > 0 ? at.high <= a->log_delta : at.low >= a->log_delta)
            return eps;
    }
    return otherwise;
}

static void enclose(sotto_bound *out, aim *a, double most)
{
    sotto_bound in = {0, most};

    a->q.cells = COARSE;
    in = sotto_root_narrow(miss, a, in, miss(a, 0), -1, 1e-6);
    double x = (in.low + in.high) / 2, near = x * (1 + 1e-4);
    double slope = (miss(a, near) - miss(a, x)) / (near - x);

    a->q.cells = FINE;
    sotto_bound at = log_delta_at(&a->q, x);
    double least = x * SOTTO_ROOT_PAD, up = least, down = least;

    if (slope < 0) {
        up = fmax(least, 1.1 * (at.high - a->log_delta) / -slope);
        down = fmax(least, 1.1 * (a->log_delta - at.low) / -slope);
    }
    out->high = sotto_round_up(settle(a, x, up, 1, most), 1);
    out->low = settle(a, x, down, -1, 0);
}

sotto_status sotto_gaussian_counted_epsilon_inflated(sotto_bound *out, double sigma,
                                                     double sensitivity, double rate, double rounds,
                                                     double log_delta,
                                                     const sotto_counted_inflate *inflate,
                                                     sotto_err *err)
{
    sotto_bound most;

    SOTTO_TRY(sotto_check_range("rate", rate, 1e-300, 1, err));
    SOTTO_TRY(sotto_check_count("rounds", rounds, 1, 1e12, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    SOTTO_TRY(sotto_gaussian_epsilon(&most, sigma, sensitivity, rounds, log_delta, err));
    double variance = rounds * rate * (1 - rate);

    if (!(variance <= SD_MAX * SD_MAX))
        return sotto_fail(
            err, SOTTO_DENIED,
            "rounds: participations vary by %g: accepted is a standard deviation up to %g",
            sqrt(variance), SD_MAX);
    if (rate == 1) {
        *out = most;
        return SOTTO_OK;
    }
    aim a = {{sigma, sensitivity, rate, rounds, FINE, inflate}, log_delta};

    if (log_delta_at(&a.q, 0).high <= log_delta) {
        *out = (sotto_bound){0, 0};
        return SOTTO_OK;
    }
    /* Never more than for every round, never less than nothing. */
    enclose(out, &a, most.high);
    return SOTTO_OK;
}

sotto_status sotto_gaussian_counted_epsilon(sotto_bound *out, double sigma, double sensitivity,
                                            double rate, double rounds, double log_delta,
                                            sotto_err *err)
{
    const sotto_counted_inflate as_proved = {1, 1, 1};

    return sotto_gaussian_counted_epsilon_inflated(out, sigma, sensitivity, rate, rounds, log_delta,
                                                   &as_proved, err);
}
