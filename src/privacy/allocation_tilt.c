#include "privacy/allocation_tilt.h"

#include "privacy/allocation_end.h"
#include "privacy/allocation_turn.h"
#include "privacy/elementary.h"
#include "privacy/special.h"
#include "privacy/special_root.h"

#include <complex.h>

#define PI 3.14159265358979323846
#define U  SOTTO_UNIT_ROUNDOFF
/* e^-MARGIN of delta may be lost to cutting Y off. */
#define MARGIN     22.0
#define CARE_LEAST SOTTO_TILT_CARE_LEAST
/* Angles are turned from node to node so often before their sines are taken again. */
#define TURNS 16
/* So many exponentials or sines are taken together. */
enum { GROUP = 128 };
/* e^LOSS: how much larger than the answer what is added up along the line may be. */
#define LOSS 14.0

/* Gauss-Legendre points, the positive half: more of them a panel are fewer of them a turn. */
enum { HALF = 16 };
static const double node_at[HALF] = {
    0.048307665687738316235, 0.14447196158279649349, 0.23928736225213707454,
    0.33186860228212764978,  0.42135127613063534536, 0.50689990893222939002,
    0.58771575724076232904,  0.66304426693021520098, 0.73218211874028968039,
    0.79448379596794240696,  0.84936761373256997013, 0.89632115576605212397,
    0.93490607593773968917,  0.96476225558750643077, 0.9856115115452683354,
    0.99726386184948156354};
static const double node_weight[HALF] = {
    0.096540088514727800567, 0.095638720079274859419, 0.093844399080804565639,
    0.091173878695763884713, 0.087652093004403811143, 0.083311924226946755222,
    0.078193895787070306472, 0.072345794108848506225, 0.065822222776361846838,
    0.058684093478535547145, 0.050998059262376176196, 0.042835898022226680657,
    0.034273862913021433103, 0.025392065309262059456, 0.016274394730905670605,
    0.0070186100094700966004};

/* ---- points ------------------------------------------------------------------------------------------ */

/* The largest Re sZ of an ellipse over which Y is e^bottom to e^top in size and turned by up to `turn`: linear in
 * |Y|, so at an end. */
static double most_growth(const sotto_tilt *q, double top, double bottom, double turn, double c,
                          double v)
{
    double lean = v * sin(turn);

    if (q->sign > 0)
        return c * expm1(top) + lean * exp(top);
    return c + fmax(exp(top) * (lean - c * cos(turn)), exp(bottom) * (lean - c * cos(turn)));
}

/* A bound on the error of 2 HALF points on mid +- half, of the integral of the density times e^sZ - 1 - sZ, for Re s = c
 * and |Im s| <= v: 64/15 half M rho^-62 / (1 - rho^-2), M the largest value on the ellipse of sum of semi-axes rho half (Trefethen
 * 2013, theorem 19.3), and |e^x - 1 - x| <= |x|^2/2 e^max(0, Re x). The best of a few rho. */
static double panel_error(const sotto_tilt *q, double mid, double half, double c, double v)
{
    static const double rhos[] = {1.15, 1.3, 1.5, 1.8, 2.2, 2.7, 3.4, 4.5, 6, 9, 14, 30};
    double best = INFINITY;

    for (size_t i = 0; i < sizeof rhos / sizeof rhos[0]; i++) {
        double rho = rhos[i], wide = half * (rho + 1 / rho) / 2, high = half * (rho - 1 / rho) / 2;

        if (q->a * high > 1.4)
            break;
        double near = fmax(0, fabs(mid) - wide), turn = q->a * high;
        double top = q->a * (mid + wide) - q->a * q->a / 2;
        double bottom = q->a * (mid - wide) - q->a * q->a / 2;
        double size = exp(fmax(0, top)) * hypot(fmax(fabs(top), fabs(bottom)), turn);
        double grows = most_growth(q, top, bottom, turn, c, v);
        double log_value = (high * high - near * near) / 2 - SOTTO_LOG_SQRT_2PI +
                           log((c * c + v * v) * size * size / 2) + fmax(0, grows);

        best = fmin(best, log_value + log(64.0 / 15 * half / (1 - 1 / (rho * rho))) -
                              (4 * HALF - 2) * log(rho));
    }
    return exp(best);
}

static void add_points(sotto_tilt *q, double mid, double half)
{
    for (int i = 0; i < 2 * HALF; i++) {
        int k = i / 2;
        double w = mid + (i % 2 == 0 ? half : -half) * node_at[k];

        q->z[q->points] = q->sign * expm1(q->a * w - q->a * q->a / 2);
        q->weight[q->points++] = half * node_weight[k] * exp(-w * w / 2 - SOTTO_LOG_SQRT_2PI);
    }
}

/* Halves panels until each is good to `enough` for c and v; *error is the sum of what they may be off by. False if
 * there are too many. */
static bool lay_points(sotto_tilt *q, double c, double v, double enough, double *error)
{
    double left = -q->under;

    q->points = 0;
    *error = 0;
    for (double length = 4; left < q->over;) {
        double half = fmin(length, q->over - left) / 2, off;

        off = panel_error(q, left + half, half, c, v);
        if (!(off <= enough) && length > 1e-3) {
            length /= 2;
            continue;
        }
        if (!(off <= enough) || q->points + 2 * HALF > SOTTO_TILT_POINTS)
            return false;
        add_points(q, left + half, half);
        *error += off;
        left = left + 2 * half < q->over ? left + 2 * half : q->over;
        length *= 2;
    }
    if (q->points + SOTTO_TURN_LANES > SOTTO_TILT_POINTS)
        return false;
    for (size_t i = 0; i < SOTTO_TURN_LANES; i++) { /* the heap, and nothing */
        q->z[q->points] = i == 0 ? q->top : 0;
        q->weight[q->points++] = i == 0 ? q->heap : 0;
    }
    return true;
}

/* ---- the transform ----------------------------------------------------------------------------------- */

/* E e^(cZ) - 1, and its second derivative. */
static double real_transform(const sotto_tilt *q, double c, double *second)
{
    double sum = c * q->mean, bend = 0, x[GROUP], less[GROUP];

    for (size_t j = 0; j < q->points; j += GROUP) {
        size_t count = q->points - j < GROUP ? q->points - j : GROUP;

        for (size_t i = 0; i < count; i++)
            x[i] = c * q->z[j + i];
        sotto_exp_less_all(less, x, count);
        for (size_t i = 0; i < count; i++) {
            sum += q->weight[j + i] * less[i];
            bend += q->weight[j + i] * q->z[j + i] * q->z[j + i] * (less[i] + 1 + x[i]);
        }
    }
    *second = bend;
    return sum;
}

/* The heap's weight is a tail of the normal law, good to so many u; so is its part of the mean. */
#define HEAP_OFF 1024
#define MORE_OFF 1e-12

/* What rounding may do to the real one: 64u, the rounding of Z in the exponent of every term, and the sum's own. */
static double transform_rounding(const sotto_tilt *q, double c)
{
    double sum = 0;

    for (size_t j = 0; j < q->points; j++) {
        double x = c * fabs(q->z[j]);

        sum +=
            q->weight[j] * x * x / 2 * exp(fmax(0, c * q->z[j])) * (64 + (double)q->points + 8 * x);
    }
    double x = c * q->top;

    sum += q->heap * x * x / 2 * exp(x) * HEAP_OFF;
    return U * (sum + HEAP_OFF * c * (fabs(q->mean) + q->beyond + q->above));
}

/* The transform along the line, node by node: E e^(sZ) - E e^(cZ) = E e^(cZ) (-2 sin^2(vZ/2) + i sin vZ), in which
 * nothing cancels but the signs of Z. Half-angles turn from one node to the next. */
typedef struct turning {
    const sotto_tilt *line;
    double step;
    double tilted[SOTTO_TILT_POINTS]; /* weight e^(cZ) */
    double by_re[SOTTO_TILT_POINTS], by_im[SOTTO_TILT_POINTS];
    double re[SOTTO_TILT_POINTS], im[SOTTO_TILT_POINTS];
} turning;

static void turn_start(turning *w, const sotto_tilt *q, double step)
{
    w->line = q;
    w->step = step;
    for (size_t j = 0; j < q->points; j++) {
        w->tilted[j] = q->weight[j] * exp(q->c * q->z[j]);
        w->by_re[j] = cos(step * q->z[j] / 2);
        w->by_im[j] = sin(step * q->z[j] / 2);
        w->re[j] = 1;
        w->im[j] = 0;
    }
}

/* Half-angles of the node at 2 half. */
static void turn_afresh(turning *w, double half)
{
    size_t points = w->line->points;

    for (size_t j = 0; j < points; j++)
        w->re[j] = half * w->line->z[j];
    sotto_turn_all(w->im, w->re, w->re, points);
    for (size_t j = 0; j < points; j++)
        w->re[j] = 1 - w->re[j];
}

/* To node k, from the one before; every TURNS-th by sines, so that roundings do not pile up. */
static double complex turn_to(turning *w, size_t k)
{
    sotto_turns all = {w->line->points, w->tilted, w->by_re, w->by_im, w->re, w->im};
    double down, side;

    if (k % TURNS == 0)
        turn_afresh(w, (double)(k - 1) * w->step / 2);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        sotto_turn_sum_avx2(&all, &down, &side);
        return -2 * down + I * (2 * side);
    }
#endif
    sotto_turn_sum(&all, &down, &side);
    return -2 * down + I * (2 * side);
}

/* Of one node, linear and quadratic in v: after n turns a half-angle's sine is off by 4u n of the angle, the one turned
 * from by 12u of it, its cosine by 11u and u of the angle; and by the rounding of Z in proportion to itself; the sum, by one
 * for each point of a lane. */
typedef struct turn_off {
    double linear, square;
} turn_off;

static turn_off turn_rounding(const turning *w)
{
    turn_off off = {0, 0};

    for (size_t j = 0; j < w->line->points; j++) {
        double size = fabs(w->line->z[j]);

        off.linear +=
            w->tilted[j] * size * (4 * TURNS + 96 + (double)w->line->points / SOTTO_TURN_LANES);
        off.square += w->tilted[j] * size * size * 8;
    }
    off.linear += w->line->heap * exp(w->line->c * w->line->top) * w->line->top * HEAP_OFF;
    return (turn_off){U * off.linear, U * off.square};
}

/* ---- where the line goes ------------------------------------------------------------------------------ */

/* The A at which a saddle-point formula through c gives the goal, log of E (sum Z - A)+; by log c. */
typedef struct saddle_goal {
    const sotto_tilt *line;
    double log_goal;
} saddle_goal;

static double rough_place(const void *self, double log_c)
{
    const saddle_goal *at = self;
    const sotto_tilt *q = at->line;
    double c = exp(log_c), bend, less = real_transform(q, c, &bend);
    double spread = q->t * bend / (1 + less) + 2 / (c * c);

    return (q->t * log1p(less) - 2 * log_c - 0.5 * log(2 * PI * spread) - at->log_goal) / c;
}

/* The c that gives the smallest A. */
static double best_c(const sotto_tilt *q, double deviation, double log_goal, double *place)
{
    double reach = q->sign > 0 ? expm1(q->a * q->over - q->a * q->a / 2) : 1;
    double from = log(1e-2 / deviation), to = log(fmin(200 / deviation, 600 / reach));
    saddle_goal at = {q, log_goal};

    return exp(sotto_root_least(rough_place, &at, fmin(from, to - 3), to, 0.02, place));
}

/* ---- where it may end ------------------------------------------------------------------------------------ */

/* cut: what is left out, as a part of the peak. */
static double end_of_line(const sotto_tilt *q, double c, double log_whole, double cut)
{
    double points = q->beyond + q->heap * exp(c * q->top) * (1 + 1e-9);
    sotto_tilted law = {q->a, q->sign, c, q->under, q->over, points, log_whole};

    return sotto_tilted_end(&law, exp(-cut / q->t));
}

/* ---- the line ----------------------------------------------------------------------------------------------- */

/* The points are good to `error` up to |Im s| = most. */
static sotto_status tabulate(sotto_tilt *q, double period, double error, double most,
                             const sotto_allocation_inflate *inflate, sotto_err *err)
{
    double bend, whole = real_transform(q, q->c, &bend), size = 0, off = 0;
    double end = end_of_line(q, q->c, log1p(whole - error) - 1e-10, q->cut);
    double nodes = 2 + ceil(end * period / (2 * PI));
    double last = (nodes - 1) * 2 * PI / period;

    if (!(last <= most && nodes <= SOTTO_TILT_NODES && nodes * (double)q->points <= q->work))
        return sotto_fail(err, SOTTO_DENIED, "t = %g: the line takes too many nodes", q->t);
    q->nodes = (size_t)nodes;
    q->step = 2 * PI / period;
    q->log_peak = q->t * log1p(whole);
    double fixed = error * inflate->transform + transform_rounding(q, q->c) * inflate->rounding;
    turning w;

    turn_start(&w, q, q->step);
    turn_off moving = turn_rounding(&w);

    for (size_t k = 0; k < q->nodes; k++) {
        double v = (double)k * q->step;
        double complex psi = whole + (k == 0 ? 0 : turn_to(&w, k)), s = q->c + I * v;
        double re = creal(psi), im = cimag(psi), length = hypot(1 + re, im);
        double log_size = q->t * 0.5 * log1p(re * (2 + re) + im * im) - q->log_peak;
        double angle = q->t * atan2(im, 1 + re);
        double complex value = exp(log_size) * (cos(angle) + I * sin(angle)) / (s * s);

        q->re[k] = creal(value);
        q->im[k] = cimag(value);
        size += cabs(value);
        double moved = v * (moving.linear + v * moving.square) * inflate->rounding;

        off += cabs(value) * expm1(fmin(q->t * (fixed + moved) / length * 1.01, 700));
    }
    /* The peak's own error, and the roundings of angles and sums. */
    double all =
        q->t * fixed / (1 + whole) * 1.01 + inflate->rounding * (2e-12 + 8 * U * fabs(q->log_peak));

    q->doubt = off + size * all + inflate->cut * exp(-q->cut) / (q->step * (last - q->step));
    return SOTTO_OK;
}

/* Where Y is cut off: as far out as E |Z - cut Z| matters; for removal at Z = cap at the latest, where all that lies
 * above is heaped up. */
static void cut_off(sotto_tilt *q, double cap)
{
    double reach = sqrt(2 * (MARGIN - q->log_delta)), a = q->a;
    double under = exp(sotto_log_tail(reach)) * (1 + 1e-9);

    q->over = a + reach;
    q->under = reach;
    q->heap = q->top = q->above = q->more = q->square = 0;
    double low_part = exp(sotto_log_tail(q->under)) - exp(sotto_log_tail(q->under + a));

    if (q->sign < 0) {
        q->gap_high = under;
        q->gap_low = exp(sotto_log_tail(q->over - a)) * (1 + 1e-9);
        q->beyond = exp(sotto_log_tail(q->over)) * (1 + 1e-9) + under;
        /* E (Y - 1) over what is kept is minus that of what is not. */
        q->mean = -(low_part - exp(sotto_log_tail(q->over - a)) + exp(sotto_log_tail(q->over)));
        return;
    }
    q->over = fmin(q->over, (log1p(cap) + a * a / 2) / a);
    q->top = expm1(a * q->over - a * a / 2);
    q->heap = exp(sotto_log_tail(q->over));
    q->above = exp(sotto_log_tail(q->over - a));
    q->more = fmax(0, q->above - (1 + q->top) * q->heap);
    /* E Z^2: up to there no more than E (Y - 1)^2 is, or than E Y^2 up to there; and the heap. */
    q->square = fmin(expm1(a * a), exp(a * a + sotto_log_tail(2 * a - q->over))) +
                q->top * q->top * q->heap + under;
    q->gap_high = q->more + q->above * MORE_OFF;
    q->gap_low = under;
    q->beyond = under;
    q->mean = low_part - q->more;
}

/* What the lower end may count on of the part above the heap: (Y - 1 - top)+ adds to the sum's excess in full, unless
 * the others' sum is so low that the excess starts above the heap. P(sum Z < mean - d) <= e^(-d^2 / (2 (t E Z^2 + d/3)))
 * for Z >= -1 (Bernstein). */
static double sure_above(const sotto_tilt *q, double A)
{
    double room = q->top - A - q->t * fabs(q->mean);

    if (!(room > 0))
        return 0;
    double spread = q->t * q->square * (1 + 1e-9) + room * (1 + fabs(q->mean)) / 3;

    return fmax(0, q->more - q->above * MORE_OFF) * fmax(0, 1 - exp(-room * room / (2 * spread)));
}

/* log of about the sum of absolute values along the line through c, for A. */
static double height_at(const sotto_tilt *q, double c, double A)
{
    double bend;

    return q->t * log1p(real_transform(q, c, &bend)) - c * A - log(c);
}

/* How long a line through c must be (`end`) and how finely cut (`period`), for what is wanted at A. */
typedef struct course {
    double c, c_far, period, cut, end;
} course;

/* Aliases below are e^(-c period), those above follow from Chernoff's bound at the c_far that does best. */
static course plot_course(const sotto_tilt *q, double c, double A)
{
    static const double further[] = {1.06, 1.15, 1.3, 1.5, 1.8, 2.3, 3};
    double goal = q->log_delta + log(q->t) - q->care, bend;
    double deviation = sqrt(q->t * expm1(q->a * q->a));
    course way = {c, 0, INFINITY, 0, 0};

    for (size_t i = 0; i < sizeof further / sizeof further[0]; i++) {
        double x = further[i] * c, far = q->t * log1p(real_transform(q, x, &bend));
        double period = (far - x * A - log(x) - goal) / (x - c);

        if (period < way.period) {
            way.period = period;
            way.c_far = x;
        }
    }
    way.period = fmax(way.period, (log(q->t + deviation) - goal) / c);
    way.cut = fmin(45, q->care + fmax(0, height_at(q, c, A) - q->log_delta - log(q->t)));
    way.end = end_of_line(q, c, log1p(real_transform(q, c, &bend)), way.cut);
    return way;
}

/* Below the saddle the aliases are further apart in units of 1/c, but the far ones are fewer where a single term of the
 * sum can be huge: as long as no more than some e^10 of the digits are lost, the cheaper. */
static course choose_course(const sotto_tilt *q, double saddle, double A)
{
    double least = height_at(q, saddle, A);

    for (double c = 0.85 * saddle; c > 0.2 * saddle; c *= 0.85) {
        double height = height_at(q, c, A);

        if (height > least)
            break;
        least = height;
    }
    double most = fmax(least + 2, q->log_delta + log(q->t) + LOSS);
    course best = {0, 0, INFINITY, 0, INFINITY};

    for (double c = saddle; c > 0.2 * saddle; c *= 0.85) {
        if (height_at(q, c, A) > most)
            continue;
        course other = plot_course(q, c, A);

        if (other.end * other.period < best.end * best.period)
            best = other;
    }
    return best;
}

/* Roughly: the answer, and a saddle that a line to it goes through. */
static sotto_status find_saddle(sotto_tilt *q, double *saddle, double *place, sotto_err *err)
{
    double deviation = sqrt(q->t * expm1(q->a * q->a)), error;
    double reach = q->sign > 0 ? expm1(q->a * q->over - q->a * q->a / 2) : 1;
    double usual = fmin(sqrt(1 - 2 * q->log_delta) / deviation, (MARGIN - q->log_delta) / reach);

    if (!lay_points(q, usual, 0, 1e-6 * fmin(1, usual * usual * expm1(q->a * q->a)), &error))
        return sotto_fail(err, SOTTO_DENIED, "sigma = %g: too many points", 1 / q->a);
    q->guess = 0;
    for (int i = 0; i < (q->sign > 0 ? 1 : 4); i++) { /* e^eps is in delta when adding */
        double rest = fmax(1e-3, 1 - q->more * exp(-q->log_delta));
        double goal = q->log_delta + log(q->t * rest) - (q->sign > 0 ? 0 : q->guess);

        *saddle = best_c(q, deviation, goal, place);
        if (q->sign < 0 && *place > 0.999999 * q->t)
            return sotto_fail(err, SOTTO_DENIED, "t = %g: no sum is as small as that", q->t);
        q->guess = *place > 0 ? q->sign * log1p(q->sign * *place / q->t) : 0;
    }
    return SOTTO_OK;
}

/* The A at which one term alone would exceed often enough: E (Y - 1 - A)+ = delta. */
static double single_jump(const sotto_tilt *q)
{
    double low = 0, high = q->a + sqrt(2 * (MARGIN - q->log_delta));

    for (int i = 0; i < 40; i++) {
        double w = (low + high) / 2, y = exp(q->a * w - q->a * q->a / 2);
        double call = exp(sotto_log_tail(w - q->a)) - y * exp(sotto_log_tail(w));

        *(call > exp(q->log_delta) ? &low : &high) = w;
    }
    return fmax(0, expm1(q->a * high - q->a * q->a / 2));
}

/* Cuts Y off as low as the lower end allows: of what is above the heap, e^-care of delta may be in doubt. */
static void lower_cap(sotto_tilt *q, double A)
{
    double low = A, high = fmax(A, q->top), enough = exp(q->log_delta - q->care);

    for (int i = 0; i < 30 && high - low > 1e-3 * high; i++) {
        double cap = (low + high) / 2;

        cut_off(q, cap);
        *(q->more - sure_above(q, A) <= enough + q->above * MORE_OFF ? &high : &low) = cap;
    }
    cut_off(q, high);
}

/* A single huge term makes a line long, and matters only by how much it exceeds: it is heaped up at what the sum must
 * exceed (A) and by how much others may fall short. */
static sotto_status find_cap(sotto_tilt *q, double near, double *saddle, double *place,
                             sotto_err *err)
{
    double deviation = sqrt(q->t * expm1(q->a * q->a)), z = q->log_delta + log(q->t / deviation);
    double jump = single_jump(q), A = fmax(jump, deviation * sqrt(fmax(0, -2 * z)));

    if (near > 0)
        A = q->t * expm1(near);
    cut_off(q, INFINITY);
    if (q->sign > 0)
        lower_cap(q, 1.02 * A);
    SOTTO_TRY(find_saddle(q, saddle, place, err));
    /* A saddle point's formula is above the truth where a single term decides, the larger of the two regimes below it. */
    if (q->sign > 0) {
        *place = fmax(jump, fmin(*place, A + 0.25 * fmax(0, *place - A)));
        *place = near > 0 ? A : *place;
        q->guess = log1p(*place / q->t);
    }
    return SOTTO_OK;
}

/* The other c needs points of its own: those of the line would have to be too many. */
static sotto_status look_far(sotto_tilt *q, sotto_err *err)
{
    double error, bend;

    if (!lay_points(q, q->c_far, 0, 1e-8 * fmin(1, 1 / q->t), &error))
        return sotto_fail(err, SOTTO_DENIED, "sigma = %g: too many points", 1 / q->a);
    double less = real_transform(q, q->c_far, &bend) + error + transform_rounding(q, q->c_far);

    q->log_far = q->t * log1p(less) * (1 + 1e-12);
    return SOTTO_OK;
}

static sotto_status open_line(sotto_tilt *q, double near, const sotto_allocation_inflate *inflate,
                              sotto_err *err)
{
    double saddle = 0, place = 0, error, bend;

    SOTTO_TRY(find_cap(q, near, &saddle, &place, err));
    /* No period is shorter than what is asked about, no line through a smaller c is much shorter. */
    if (end_of_line(q, saddle, log1p(real_transform(q, saddle, &bend)), q->care) * fmax(place, 0) >
        2 * PI * SOTTO_TILT_NODES)
        return sotto_fail(err, SOTTO_DENIED, "t = %g: the line takes too many nodes", q->t);
    course way = choose_course(q, saddle, fmax(place, 0));
    double most = 1.01 * way.end + 8 * PI / way.period, less = real_transform(q, way.c, &bend);

    q->c = way.c;
    q->c_far = way.c_far;
    q->cut = way.cut;
    if (!(most * way.period < 2 * PI * SOTTO_TILT_NODES))
        return sotto_fail(err, SOTTO_DENIED, "t = %g: the line takes too many nodes", q->t);
    SOTTO_TRY(look_far(q, err));
    if (!lay_points(q, way.c, most, 1e-14 * fmax(less, 1 / q->t), &error))
        return sotto_fail(err, SOTTO_DENIED, "sigma = %g: too many points", 1 / q->a);
    return tabulate(q, way.period, error, most, inflate, err);
}

sotto_status sotto_tilt_open(sotto_tilt *line, int sign, double a, double t, double log_delta,
                             double near, double work, double care,
                             const sotto_allocation_inflate *inflate, sotto_err *err)
{
    line->a = a;
    line->t = t;
    line->sign = sign;
    line->log_delta = log_delta;
    line->work = work;
    for (line->care = care; line->care > CARE_LEAST; line->care -= 6)
        if (open_line(line, near, inflate, NULL) == SOTTO_OK)
            return SOTTO_OK;
    return open_line(line, near, inflate, err);
}

/* The aliases above and below, relative to the peak at A = 0 and without e^(-cA): what the lower side takes away. */
static double aliases(const sotto_tilt *q, double A)
{
    double period = 2 * PI / q->step, once = exp(-q->c * period);
    double deviation = sqrt(q->t * expm1(q->a * q->a));
    double below = 2 * once * (period + deviation + q->t * fabs(q->mean));
    double fall = (q->c_far - q->c) * period;
    double above = exp(q->log_far - q->log_peak - (q->c_far - q->c) * A - fall) /
                   (2.718 * q->c_far * -expm1(-fall));

    return below * exp(q->c * A - q->log_peak) + above;
}

/* The sum of re cos(k angle) + im sin(k angle), the first halved; TURNS nodes share their sines. */
static double sum_nodes(const sotto_tilt *q, double angle)
{
    double cosines[TURNS], sines[TURNS], sum = -q->re[0] / 2;

    for (int i = 0; i < TURNS; i++) {
        cosines[i] = cos(i * angle);
        sines[i] = sin(i * angle);
    }
    for (size_t k = 0; k < q->nodes; k += TURNS) {
        double re = cos((double)k * angle), im = sin((double)k * angle);
        double along = 0, across = 0;

        for (size_t i = 0; i < TURNS && k + i < q->nodes; i++) {
            along += q->re[k + i] * cosines[i] + q->im[k + i] * sines[i];
            across += q->im[k + i] * cosines[i] - q->re[k + i] * sines[i];
        }
        sum += re * along + im * across;
    }
    return sum;
}

double sotto_tilt_log_delta(const sotto_tilt *line, double eps, double side)
{
    const sotto_tilt *q = line;
    double A = q->sign * q->t * expm1(q->sign * eps), sum = sum_nodes(q, q->step * A);
    double scale = q->step / PI, log_scale = q->log_peak - q->c * A;
    double value = scale * (sum + side * q->doubt);

    if (side < 0)
        value -= aliases(q, A);
    /* Cutting Y off moves the sum by at most t E |Z - cut Z|. */
    double moved = q->t * (side > 0 ? q->gap_high : sure_above(q, A) - q->gap_low);

    value += moved * exp(-log_scale);
    if (!(value > 0))
        return -INFINITY;
    return log(value) + log_scale - log(q->t) + (q->sign < 0 ? eps : 0);
}
