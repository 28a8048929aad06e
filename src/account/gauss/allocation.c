#include "account/gauss/allocation.h"

#include "account/gauss/allocation_contour.h"
#include "account/gauss/allocation_convolution.h"
#include "account/gauss/gaussian.h"
#include "account/numeric/parameter.h"
#include "account/numeric/root.h"
#include "account/numeric/special.h"

#define LEAST_LOG_DELTA SOTTO_ALLOCATION_LEAST_LOG_DELTA
/* 0.1 as one who rounds noise down reads it. */
#define LEAST_SIGMA 0x1.9999999999999p-4

/* Points times nodes: some 2 ms for a line, and less for another where the answer is good enough already. */
#define WORK_TILTED 5e6
#define WORK_AGAIN  1.2e6

/* A line that takes so much less than it may needs no plan of how to take less. */
#define EASE 0.6

/* After so much it is worth a look whether adding a person costs so little that nothing more is to be done. */
#define WORK_CHERNOFF 3e5

/* Below these the transform, to the power t, falls too slowly for a line to be cut. */
#define FEW_SLOTS 6

/* Of a line that only steers: where it takes too much, a certified one does as well. */
#define MARGIN_ROUGH (SOTTO_ALLOCATION_MARGIN_MOST - SOTTO_ALLOCATION_MARGIN_STEP)

/* An answer as narrow as that is not worth another line. */
#define NARROW 1e-7

/* The grid is good to some 3e-4: no more is left to it than what is wider. */
#define GRID_OFF 3e-4
#define WIDE     1e-3

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
    double a, t, log_delta;
    const sotto_allocation_inflate *inflate;
} ask;

/* ---- by a line ---------------------------------------------------------------------------------------- */

typedef struct tilt_aim {
    const sotto_allocation_contour *line;
    double side; /* +1: delta is certainly no more than its goal, -1: no less */
} tilt_aim;

static double tilt_miss(const void *self, double eps)
{
    const tilt_aim *a = self;

    return fmax(-700,
                sotto_allocation_contour_log_delta(a->line, eps, a->side) - a->line->log_delta);
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
        if (in.high >= cap || width > 1e12)
            return (sotto_bound){in.high, INFINITY};
        in.low = in.high;
        in.high = fmin(cap, fmax(middle, 1e-9 * cap) * (1 + width));
    }
    return in;
}

static sotto_bound read_line(const sotto_allocation_contour *line, double cap)
{
    tilt_aim above = {line, 1}, below = {line, -1};
    sotto_bound out = {0, cap};

    if (tilt_miss(&above, 0) <= 0)
        return (sotto_bound){0, 0};
    sotto_bound in = tilt_bracket(&above, line->guess, cap);

    if (in.high < INFINITY)
        out.high = fmin(cap, sotto_round_up(tilt_root(&above, in) * (1 + SOTTO_ROOT_PAD), 1));
    in = tilt_bracket(&below, in.high < INFINITY ? out.high : line->guess, cap);
    if (in.high < INFINITY && in.low > 0)
        out.low = tilt_root(&below, in) * (1 - SOTTO_ROOT_PAD);
    return out;
}

static bool is_wide(const sotto_bound *b)
{
    return b->high - b->low > WIDE * b->high;
}

/* One noise stands for all that is near it when it comes to how an answer is found: so where answers leap is known. */
#define STEADY 256.0

static double steady(double a)
{
    return exp2(nearbyint(STEADY * log2(a)) / STEADY);
}

double sotto_allocation_leap(double sigma)
{
    return exp2((floor(STEADY * log2(sigma)) + 0.5) / STEADY);
}

static bool open_line(sotto_allocation_contour *line, int sign, const ask *q, double near,
                      double work, double margin)
{
    if (sotto_allocation_contour_open(line, sign, q->a, q->t, q->log_delta, near, EASE * work,
                                      margin, q->inflate, NULL) == SOTTO_OK)
        return true;
    margin = sotto_allocation_contour_margin(line, sign, steady(q->a), q->t, q->log_delta, near,
                                             work, margin);
    for (; margin >= SOTTO_ALLOCATION_MARGIN_LEAST; margin -= SOTTO_ALLOCATION_MARGIN_STEP)
        if (sotto_allocation_contour_open(line, sign, q->a, q->t, q->log_delta, near, work, margin,
                                          q->inflate, NULL) == SOTTO_OK)
            return true;
    return false;
}

/* A line for a bad guess still tells where to make the next. All are true, so what they say together is. What comes back is
 * the work done. */
static double enclose_tilted(sotto_bound *out, int sign, const ask *q, double cap)
{
    double near = 0, work = WORK_TILTED, all = 0;

    for (int i = 0; i < 2 && q->t >= FEW_SLOTS; i++) {
        sotto_allocation_contour line;

        if (!open_line(&line, sign, q, near, work, SOTTO_ALLOCATION_MARGIN_MOST))
            break;
        sotto_bound found = read_line(&line, cap);
        double done = (double)(line.points * line.nodes);

        all += done;
        *out = (sotto_bound){fmax(out->low, found.low), fmin(out->high, found.high)};
        if (sign < 0 || out->high - out->low <= NARROW * out->high || out->high == cap)
            break;
        /* The next would take about as much, and with less than that say no more. */
        if (!is_wide(out) && done > WORK_AGAIN)
            break;
        near = out->high;
        work = is_wide(out) ? work - done : WORK_AGAIN;
    }
    return all;
}

/* ---- both ways ----------------------------------------------------------------------------------------- */

/* Both directions, what lines do not reach by the grid. Removal first: adding a person costs less nearly everywhere, and
 * how much less is of no interest then. */
static void enclose_both(sotto_bound *remove, sotto_bound *add, const ask *q,
                         sotto_allocation_direction direction, double cap)
{
    double enough = 0, work = 0, about = 1;

    if (direction != SOTTO_ALLOCATION_ADD) {
        work = enclose_tilted(remove, 1, q, cap);
        if (is_wide(remove)) {
            sotto_bound grid;
            double most;

            sotto_convolution_remove(&grid, &most, q->a, q->t, q->log_delta, remove->high,
                                     q->inflate);
            *remove = (sotto_bound){fmax(remove->low, grid.low), fmin(remove->high, grid.high)};
            add->high = fmin(add->high, most);
            work = WORK_TILTED;
            about = 1 + GRID_OFF;
        }
        enough = remove->high;
        if (enough == 0) /* delta(0) is the same in both directions */
            add->high = 0;
    }
    if (!(add->high > about * enough))
        return;
    if (work > WORK_CHERNOFF &&
        sotto_convolution_adds_less(q->a, q->t, q->log_delta, enough, q->inflate)) {
        add->high = enough;
        return;
    }
    (void)enclose_tilted(add, -1, q, cap);
    if (add->high > enough && is_wide(add))
        add->high =
            fmin(add->high, sotto_convolution_add(q->a, q->t, q->log_delta, add->high, q->inflate));
}

static sotto_status check(sotto_allocation_direction direction, double sigma, double t,
                          double log_delta, sotto_err *err)
{
    if (direction < SOTTO_ALLOCATION_REMOVE || direction > SOTTO_ALLOCATION_MAX)
        return sotto_fail(err, SOTTO_MALFORMED, "direction %d: accepted is remove, add or max",
                          (int)direction);
    if (!(sigma >= LEAST_SIGMA && sigma <= 1000))
        return sotto_fail(err, SOTTO_MALFORMED, "sigma = %g: accepted is 0.1 to 1000", sigma);
    if (!(t >= 1 && t <= 1e9 && t == floor(t)))
        return sotto_fail(err, SOTTO_MALFORMED, "t = %g: accepted is a whole number of 1 to 1e9",
                          t);
    return sotto_check_log_delta(log_delta, err);
}

/* At a delta that neither line nor grid reaches: no more than one release, and no less than one release less log
 * t. The reason: (S - K)+ is at least the sum of the (Y - K)+. */
static sotto_status enclose_far(sotto_bound *out, sotto_allocation_direction direction,
                                double sigma, double t, double log_delta, sotto_err *err)
{
    sotto_bound one;

    SOTTO_TRY(sotto_gaussian_epsilon(&one, sigma, 1, 1, log_delta, err));
    double less = sotto_round_down(one.low - sotto_round_up(log(t), 2), 1);

    *out = (sotto_bound){direction == SOTTO_ALLOCATION_ADD ? 0 : fmax(0, less), one.high};
    return SOTTO_OK;
}

sotto_status sotto_allocation_eps_inflated(sotto_bound *out, sotto_allocation_direction direction,
                                           double sigma, double t, double log_delta,
                                           const sotto_allocation_inflate *inflate, sotto_err *err)
{
    ask q = {.a = 1 / sigma, .t = t, .log_delta = log_delta, .inflate = inflate};
    sotto_bound remove = {0, 0}, add = {0, 0};

    SOTTO_TRY(check(direction, sigma, t, log_delta, err));
    if (log_delta < LEAST_LOG_DELTA)
        return enclose_far(out, direction, sigma, t, log_delta, err);
    double cap = gaussian_eps(1 / sigma, log_delta);

    *out = (sotto_bound){0, cap};
    if (t == 1 || cap == 0)
        return SOTTO_OK;
    /* delta(0) = E (S - t)+ / t = E |S - t| / 2t in both directions. */
    if (sqrt(expm1(q.a * q.a) / t) / 2 * (1 + 1e-9) <= exp(log_delta)) {
        *out = (sotto_bound){0, 0};
        return SOTTO_OK;
    }
    if (direction != SOTTO_ALLOCATION_ADD)
        remove.high = cap;
    if (direction != SOTTO_ALLOCATION_REMOVE)
        add.high = cap;
    enclose_both(&remove, &add, &q, direction, cap);
    *out = (sotto_bound){fmax(remove.low, add.low), fmax(remove.high, add.high)};
    return SOTTO_OK;
}

sotto_status sotto_allocation_eps(sotto_bound *out, sotto_allocation_direction direction,
                                  double sigma, double t, double log_delta, sotto_err *err)
{
    const sotto_allocation_inflate as_proved = {1, 1, 1};

    return sotto_allocation_eps_inflated(out, direction, sigma, t, log_delta, &as_proved, err);
}

/* ---- the other way round ------------------------------------------------------------------------------- */

double sotto_allocation_rough(double near, double sigma, double t, double log_delta)
{
    const sotto_allocation_inflate as_proved = {1, 1, 1};
    sotto_allocation_contour line;

    if (check(SOTTO_ALLOCATION_MAX, sigma, t, log_delta, NULL) != SOTTO_OK ||
        log_delta < LEAST_LOG_DELTA)
        return (double)NAN;
    double a = 1 / sigma, cap = gaussian_eps(a, log_delta);

    if (t == 1 || cap == 0)
        return cap;
    ask q = {a, t, log_delta, &as_proved};

    if (t < FEW_SLOTS || !open_line(&line, 1, &q, near, WORK_TILTED, MARGIN_ROUGH))
        return sotto_convolution_rough(a, t, log_delta, cap);
    tilt_aim about = {&line, 0};
    sotto_bound in = tilt_bracket(&about, near, cap);

    return in.high < INFINITY ? tilt_root(&about, in) : cap;
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

    if (b.slots < 2 || each < LEAST_LOG_DELTA)
        return SOTTO_OK;
    SOTTO_TRY(sotto_allocation_eps(&one, SOTTO_ALLOCATION_MAX, sigma, b.slots, each, err));
    out->high = fmin(out->high, sotto_round_up(k * one.high, 1));
    return SOTTO_OK;
}
