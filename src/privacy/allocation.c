#include "privacy/allocation.h"

#include "privacy/allocation_grid.h"
#include "privacy/allocation_line.h"
#include "privacy/allocation_tilt.h"
#include "privacy/special.h"
#include "privacy/special_root.h"

/* What may be evaluated in double-doubles: some 20 ms, after which the grid is as good. */
#define WORK_TWICE 1.0e6

/* Below these the transform, to the power t, falls too slowly for a line to be cut. */
#define FEW_SLOTS       6
#define FEW_SLOTS_TWICE 12 /* in double-doubles */

/* The grid is good to some 3e-4: no more is left to it than what is wider. */
#define WIDE 1e-3

/* ---- a single Gaussian release ------------------------------------------------------------------------ */

static double log_gaussian_delta(double mu, double eps)
{
    double error, a = eps / mu - mu / 2;
    double drop = sotto_mills_drop(eps / mu, mu / 2, &error);

    return log(drop) + error - a * a / 2 - SOTTO_LOG_SQRT_2PI;
}

/* An epsilon that k releases at this delta have, mu = sqrt(k)/sigma; not below the smallest. */
static double gaussian_eps(double mu, double log_delta)
{
    double low = 0, high = mu * mu / 2 + mu * sqrt(-2 * log_delta);

    if (log_gaussian_delta(mu, 0) <= log_delta)
        return 0;
    for (int i = 0; i < 60 && high - low > 1e-12 * high; i++) {
        double middle = (low + high) / 2;

        if (log_gaussian_delta(mu, middle) <= log_delta)
            high = middle;
        else
            low = middle;
    }
    return high * (1 + SOTTO_ROOT_PAD);
}

/* ---- one question ------------------------------------------------------------------------------------- */

typedef struct ask {
    double sigma, a, t, log_delta;
    double deviation; /* of the sum S */
    double work;      /* points times nodes that may still be evaluated in double-doubles */
    const sotto_allocation_inflate *inflate;
    sotto_lognormal y;
    sotto_line line;
} ask;

/* K - t */
static dd above_at(const ask *q, double eps, int sign)
{
    return dd_mul(dd_of(q->t), dd_expm1(dd_of(sign * eps)));
}

/* delta(eps), remove: E (S - K)+ / t with K = t e^eps; side +1 upper, -1 lower. */
static double delta_remove(const ask *q, double eps, double side)
{
    double error;
    dd above = above_at(q, eps, 1), put = sotto_line_put(&q->line, above, &error);

    return (dd_sub(put, above).hi + side * error) / q->t;
}

/* add: e^eps E (K - S)+ / t with K = t e^-eps. */
static double delta_add(const ask *q, double eps, double side)
{
    double error;
    dd put = sotto_line_put(&q->line, above_at(q, eps, -1), &error);

    return exp(eps) * (put.hi + side * error) / q->t;
}

/* The two aliases next to the value, by Chernoff's bound; what the lower side takes away twice over. */
static double alias(const ask *q, double above)
{
    double period = 6.28318530717958647693 / q->line.step, c = q->line.c;
    double up = (q->t + above + period) * exp(-c * period), under = above - period, down = 0;

    if (under > -q->t) { /* a sum of positive numbers is never below 0 */
        double d = fmax(-under / (q->deviation * q->deviation), 1e-3 * c);

        down = exp(d * under + q->t * sotto_lognormal_cumulant(&q->y, d) + c * period) / d;
    }
    return 2 * (up + down);
}

/* ---- choosing a line ---------------------------------------------------------------------------------- */

/* For K above the mean: a larger c needs fewer nodes and costs digits, of which there are 30. */
static sotto_status line_for_remove(ask *q, double eps, sotto_err *err)
{
    double above = fmax(q->t * expm1(eps), 0.05 * q->deviation), z = above / q->deviation;
    double spare = fmin(25, fmax(3, 42 + q->log_delta - log(q->t) / 2));
    double lift = z * z * (sqrt(1 + 2 * spare / (z * z)) - 1);
    double c = fmin(lift / above, 4 / q->deviation), wanted = 22 - q->log_delta;
    double spread = c * q->deviation;
    double below = spread + sqrt(spread * spread + 2 * (wanted + c * above));
    double period = fmax((wanted + spare) / c, above + q->deviation * below);

    return sotto_line_tabulate(&q->line, &q->y, q->t, c, period, wanted + spare, q->work,
                               q->inflate, err);
}

/* For K below the mean: through the saddle. */
static sotto_status line_for_add(ask *q, double eps, sotto_err *err)
{
    double above = q->t * expm1(-fmax(eps, 1e-12)), guess = -above / (q->deviation * q->deviation);
    double best = INFINITY, c = guess;

    for (double x = fmax(guess, 1 / q->deviation) / 16; x < 1e3 * (guess + 1 / q->deviation);
         x *= 1.3) {
        double height = x * above + q->t * sotto_lognormal_cumulant(&q->y, x) - 2 * log(x);

        if (height > best + 3)
            break;
        if (height < best) {
            best = height;
            c = x;
        }
    }
    double wanted = 30 - q->log_delta, period = fmax(wanted / c, 12 * q->deviation);

    return sotto_line_tabulate(&q->line, &q->y, q->t, c, period, 40 + log(q->t), q->work,
                               q->inflate, err);
}

/* ---- solving ---------------------------------------------------------------------------------------------- */

typedef double (*delta_of)(const ask *, double, double);

/* One side of one direction's delta, against its goal. */
typedef struct aim {
    const ask *q;
    delta_of delta;
    double side;
} aim;

static double miss(const void *self, double eps)
{
    const aim *a = self;
    const ask *q = a->q;
    double d = a->delta(q, eps, a->side);

    if (a->side < 0)
        d -= alias(q, a->delta == delta_remove ? q->t * expm1(eps) : q->t * expm1(-eps)) / q->t *
             exp(a->delta == delta_remove ? 0 : eps);
    return d > 0 ? log(d) - q->log_delta : -700;
}

/* delta is above its goal at in.low (or in.low is where nobody looks below) and below at in.high. */
static sotto_bound solve(const ask *q, delta_of delta, double side, sotto_bound in)
{
    aim a = {q, delta, side};
    double at_low = miss(&a, in.low), at_high = miss(&a, in.high);

    if (at_low <= 0)
        return (sotto_bound){in.low, in.low};
    if (at_high > 0)
        return (sotto_bound){in.high, INFINITY};
    return sotto_root_narrow(miss, &a, in, at_low, at_high, 1e-11);
}

/* A line made for one epsilon serves its neighbourhood: a few moves find the right one. */
static sotto_status enclose(sotto_bound *out, ask *q, bool remove, double guess, double cap,
                            sotto_err *err)
{
    delta_of delta = remove ? delta_remove : delta_add;
    double least = 1e-9 * fmin(cap, guess + 1e-12);

    *out = (sotto_bound){0, cap};
    for (int moves = 0; moves < 8; moves++) {
        SOTTO_TRY(remove ? line_for_remove(q, guess, err) : line_for_add(q, guess, err));
        q->work -= (double)(q->line.nodes * q->y.points);
        sotto_bound in = {guess > 0.02 * q->deviation / q->t ? guess * 0.6 : 0, guess * 1.5};

        if (remove) /* further up the error grows faster than delta falls */
            in.high = fmin(in.high, log1p(expm1(guess) + 8 / (q->line.c * q->t)));
        in.high = fmin(cap, in.high + 0.1 * q->deviation / q->t);
        sotto_bound root = solve(q, delta, 1, in);

        if (root.high == INFINITY && in.high >= cap)
            return SOTTO_OK;
        if (root.high == INFINITY || (root.low == root.high && in.low > least)) {
            guess = root.high == INFINITY ? in.high : in.low;
            continue;
        }
        if (root.high == 0) {
            *out = (sotto_bound){0, 0};
            return SOTTO_OK;
        }
        out->high = fmin(cap, sotto_round_up(root.high * (1 + SOTTO_ROOT_PAD), 1));
        in = (sotto_bound){root.high * 0.8, root.high};
        root = solve(q, delta, -1, in);
        out->low = root.low > in.low ? root.low * (1 - SOTTO_ROOT_PAD) : 0;
        return SOTTO_OK;
    }
    return SOTTO_OK;
}

/* ---- in doubles ------------------------------------------------------------------------------------- */

typedef struct tilt_aim {
    const sotto_tilt *line;
    double side; /* +1: delta is certainly no more than its goal, -1: no less */
} tilt_aim;

static double tilt_miss(const void *self, double eps)
{
    const tilt_aim *a = self;

    return fmax(-700, sotto_tilt_log_delta(a->line, eps, a->side) - a->line->log_delta);
}

/* An epsilon on the wanted side of the root, near it. */
static double tilt_root(const tilt_aim *a, sotto_bound in)
{
    in = sotto_root_narrow(tilt_miss, a, in, tilt_miss(a, in.low), tilt_miss(a, in.high), 1e-10);
    return a->side > 0 ? in.high : in.low;
}

/* A bracket around the line's guess, never above the cap; high is INFINITY if even the cap is not enough. */
static sotto_bound tilt_bracket(const tilt_aim *a, double middle, double cap)
{
    double width = 1e-3;
    sotto_bound in = {fmin(middle, cap), fmin(middle, cap)};

    while (in.low > 0 && tilt_miss(a, in.low) <= 0) {
        in.high = in.low;
        in.low = width < 0.5 ? middle * (1 - width) : 0;
        width *= 8;
    }
    for (width = 1e-3; tilt_miss(a, in.high) > 0; width *= 8) {
        if (in.high >= cap || width > 100)
            return (sotto_bound){in.high, INFINITY};
        in.low = in.high;
        in.high = fmin(cap, fmax(middle, 1e-9 * cap) * (1 + width));
    }
    return in;
}

static sotto_status enclose_tilted(sotto_bound *out, int sign, const ask *q, double cap,
                                   sotto_err *err)
{
    sotto_tilt line;

    SOTTO_TRY(sotto_tilt_open(&line, sign, q->a, q->t, q->log_delta, q->inflate, err));
    tilt_aim above = {&line, 1}, below = {&line, -1};

    *out = (sotto_bound){0, cap};
    if (tilt_miss(&above, 0) <= 0) {
        out->high = 0;
        return SOTTO_OK;
    }
    sotto_bound in = tilt_bracket(&above, line.guess, cap);

    if (in.high < INFINITY)
        out->high = fmin(cap, sotto_round_up(tilt_root(&above, in) * (1 + SOTTO_ROOT_PAD), 1));
    in = tilt_bracket(&below, in.high < INFINITY ? out->high : line.guess, cap);
    if (in.high < INFINITY && in.low > 0)
        out->low = tilt_root(&below, in) * (1 - SOTTO_ROOT_PAD);
    return SOTTO_OK;
}

/* ---- in double-doubles -------------------------------------------------------------------------------- */

/* If one slot's lognormal alone were to exceed: E (Y - e^x)+ = delta. */
static double jump_guess(const ask *q)
{
    double low = 0, high = 200;

    for (int i = 0; i < 50; i++) {
        double x = (low + high) / 2, d = q->a / 2 - x / q->a;
        double call = exp(sotto_log_tail(-d)) - exp(x + sotto_log_tail(-(d - q->a)));

        if (call > exp(q->log_delta))
            low = x;
        else
            high = x;
    }
    return log1p(expm1(high) / q->t);
}

/* The long way, for sums so uneven that a line through the saddle takes too many nodes or says little: what it finds
 * within *out, both being true. */
static void enclose_twice(sotto_bound *out, ask *q, bool remove, double cap)
{
    double precision = fmin(52 - q->log_delta, 68); /* double-double ends there */
    sotto_bound found;

    if (q->t < FEW_SLOTS_TWICE ||
        sotto_lognormal_open(&q->y, q->sigma, precision, NULL) != SOTTO_OK)
        return;
    double bell = gaussian_eps(q->deviation / q->t, q->log_delta);
    double guess = fmin(cap, remove ? fmax(bell, jump_guess(q)) : bell);

    q->work = WORK_TWICE;
    if (enclose(&found, q, remove, guess, cap, NULL) == SOTTO_OK)
        *out = (sotto_bound){fmax(out->low, found.low), fmin(out->high, found.high)};
}

/* What no line reached. */
static void by_grid(const ask *q, sotto_allocation_direction direction, double cap,
                    sotto_bound *remove, sotto_bound *add)
{
    sotto_bound grid;
    double most;

    sotto_grid_eps(&grid, &most, q->a, q->t, q->log_delta, cap, q->inflate);
    if (direction != SOTTO_ALLOCATION_ADD)
        *remove = (sotto_bound){fmax(remove->low, grid.low), fmin(remove->high, grid.high)};
    if (direction != SOTTO_ALLOCATION_REMOVE)
        add->high = fmin(add->high, most);
}

static sotto_bound larger(const sotto_bound *a, const sotto_bound *b)
{
    return (sotto_bound){fmax(a->low, b->low), fmax(a->high, b->high)};
}

static sotto_bound enclose_one(ask *q, bool remove, double cap)
{
    sotto_bound out = {0, cap};

    if (q->t < FEW_SLOTS)
        return out;
    if (enclose_tilted(&out, remove ? 1 : -1, q, cap, NULL) != SOTTO_OK)
        out = (sotto_bound){0, cap};
    if (out.high - out.low > 1e-6 * out.high)
        enclose_twice(&out, q, remove, cap);
    return out;
}

static sotto_status check(sotto_allocation_direction direction, double sigma, double t,
                          double log_delta, sotto_err *err)
{
    if (direction < SOTTO_ALLOCATION_REMOVE || direction > SOTTO_ALLOCATION_MAX)
        return sotto_fail(err, SOTTO_MALFORMED, "direction %d: accepted is remove, add or max",
                          (int)direction);
    if (!(sigma >= 0.1 && sigma <= 1000))
        return sotto_fail(err, SOTTO_MALFORMED, "sigma = %g: accepted is 0.1 to 1000", sigma);
    if (!(t >= 1 && t <= 1e9 && t == floor(t)))
        return sotto_fail(err, SOTTO_MALFORMED, "t = %g: accepted is a whole number of 1 to 1e9",
                          t);
    if (!(log_delta >= -90 && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "log_delta = %g: accepted is -90 to below 0",
                          log_delta);
    return SOTTO_OK;
}

sotto_status sotto_allocation_eps_inflated(sotto_bound *out, sotto_allocation_direction direction,
                                           double sigma, double t, double log_delta,
                                           const sotto_allocation_inflate *inflate, sotto_err *err)
{
    ask q = {.sigma = sigma, .a = 1 / sigma, .t = t, .log_delta = log_delta, .inflate = inflate};
    sotto_bound remove = {0, 0}, add = {0, 0};

    SOTTO_TRY(check(direction, sigma, t, log_delta, err));
    double cap = gaussian_eps(1 / sigma, log_delta);

    *out = (sotto_bound){0, cap};
    if (t == 1 || cap == 0)
        return SOTTO_OK;
    q.deviation = sqrt(t * expm1(q.a * q.a));
    if (direction != SOTTO_ALLOCATION_ADD)
        remove = enclose_one(&q, true, cap);
    if (direction != SOTTO_ALLOCATION_REMOVE)
        add = enclose_one(&q, false, cap);
    *out = larger(&remove, &add);
    if (out->high - out->low > WIDE * out->high) {
        by_grid(&q, direction, cap, &remove, &add);
        *out = larger(&remove, &add);
    }
    return SOTTO_OK;
}

sotto_status sotto_allocation_eps(sotto_bound *out, sotto_allocation_direction direction,
                                  double sigma, double t, double log_delta, sotto_err *err)
{
    const sotto_allocation_inflate as_proved = {1, 1, 1};

    return sotto_allocation_eps_inflated(out, direction, sigma, t, log_delta, &as_proved, err);
}

/* ---- k slots of t ----------------------------------------------------------------------------------------- */

sotto_status sotto_allocation_reduce(sotto_allocation_blocks *out, double k, double t,
                                     sotto_err *err)
{
    if (!(t >= 1 && t <= 1e9 && t == floor(t)))
        return sotto_fail(err, SOTTO_MALFORMED, "t = %g: accepted is a whole number of 1 to 1e9",
                          t);
    if (!(k >= 1 && k == floor(k)))
        return sotto_fail(err, SOTTO_MALFORMED, "k = %g: accepted is a whole number of 1 to t", k);
    if (k > t)
        return sotto_fail(err, SOTTO_DENIED, "k = %g slots of only t = %g", k, t);
    *out = (sotto_allocation_blocks){k, floor(t / k)};
    return SOTTO_OK;
}

sotto_status sotto_allocation_blocks_eps(sotto_bound *out, double k, double t, double sigma,
                                         double log_delta, sotto_err *err)
{
    sotto_allocation_blocks b;
    sotto_bound one;

    SOTTO_TRY(check(SOTTO_ALLOCATION_MAX, sigma, t, log_delta, err));
    SOTTO_TRY(sotto_allocation_reduce(&b, k, t, err));
    *out = (sotto_bound){0, gaussian_eps(sqrt(k) / sigma, log_delta)};
    double each = sotto_round_down(log_delta - log(k), 4);

    if (b.slots < 2 || each < -90)
        return SOTTO_OK;
    SOTTO_TRY(sotto_allocation_eps(&one, SOTTO_ALLOCATION_MAX, sigma, b.slots, each, err));
    out->high = fmin(out->high, sotto_round_up(k * one.high, 1));
    return SOTTO_OK;
}
