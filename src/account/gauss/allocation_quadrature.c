#include "account/gauss/allocation_quadrature.h"

#include "account/gauss/allocation_fourier.h"
#include "account/numeric/elementary.h"
#include "account/numeric/special.h"

#define U SOTTO_UNIT_ROUNDOFF

/* So many exponentials are taken together. */
enum { GROUP = 128 };

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

/* ---- panels ------------------------------------------------------------------------------------------ */

/* The largest Re sZ of an ellipse over which Y is e^bottom to e^top in size and turned by up to `turn`: linear in
 * |Y|, so at an end. */
static double most_growth(const sotto_allocation_contour *q, double top, double bottom, double turn,
                          double c, double v)
{
    double lean = v * sin(turn);

    if (q->sign > 0)
        return c * expm1(top) + lean * exp(top);
    return c + fmax(exp(top) * (lean - c * cos(turn)), exp(bottom) * (lean - c * cos(turn)));
}

/* log of a bound on the error of 2 HALF points on mid +- half. The integrand is the density times e^sZ - 1 - sZ, for Re s = c and
 * |Im s| <= v. The bound is 64/15 half M rho^-62 / (1 - rho^-2) (Trefethen 2013, theorem 19.3). M is the largest value on the
 * ellipse of sum of semi-axes rho half, by |e^x - 1 - x| <= |x|^2/2 e^max(0, Re x). */
static double log_error(const sotto_allocation_contour *q, double mid, double half, double c,
                        double v, double rho)
{
    double wide = half * (rho + 1 / rho) / 2, high = half * (rho - 1 / rho) / 2;

    if (q->a * high > 1.4)
        return INFINITY;
    double near = fmax(0, fabs(mid) - wide), turn = q->a * high;
    double top = q->a * (mid + wide) - q->a * q->a / 2;
    double bottom = q->a * (mid - wide) - q->a * q->a / 2;
    double size = exp(fmax(0, top)) * hypot(fmax(fabs(top), fabs(bottom)), turn);
    double grows = most_growth(q, top, bottom, turn, c, v);
    double log_value = (high * high - near * near) / 2 - SOTTO_LOG_SQRT_2PI +
                       log((c * c + v * v) * size * size / 2) + fmax(0, grows);

    return log_value + log(64.0 / 15 * half / (1 - 1 / (rho * rho))) - (4 * HALF - 2) * log(rho);
}

/* Any rho will do: the best near the one that was best for the panel before. */
static const double rhos[] = {1.15, 1.3, 1.5, 1.8, 2.2, 2.7, 3.4, 4.5, 6, 9, 14, 30};
enum { RHOS = sizeof rhos / sizeof rhos[0] };

static double panel_error(const sotto_allocation_contour *q, double mid, double half, double c,
                          double v, int *which)
{
    double best = log_error(q, mid, half, c, v, rhos[*which]);

    for (int way = -1; way <= 1; way += 2) {
        int from = *which;

        for (int i = from + way; i >= 0 && i < RHOS; i += way) {
            double other = log_error(q, mid, half, c, v, rhos[i]);

            /* Where the ellipse is too large for a bound, smaller ones may have one. */
            if (!(other < best) && (best < INFINITY || way > 0))
                break;
            best = fmin(best, other);
            *which = i;
        }
        if (*which != from)
            break;
    }
    return best;
}

static void add_points(sotto_allocation_contour *q, double mid, double half)
{
    for (int i = 0; i < 2 * HALF; i++) {
        int k = i / 2;
        double w = mid + (i % 2 == 0 ? half : -half) * node_at[k];

        q->z[q->points] = q->sign * expm1(q->a * w - q->a * q->a / 2);
        q->weight[q->points++] = half * node_weight[k] * exp(-w * w / 2 - SOTTO_LOG_SQRT_2PI);
    }
}

/* The error goes with the power 4 HALF - 2 of a panel's length, or more. */
static double better_length(double length, double log_off, double log_enough)
{
    return length * exp(fmin(fmax((log_enough - log_off) / (4 * HALF - 2), -0.7), 0.7));
}

bool sotto_allocation_quadrature_place(sotto_allocation_contour *q, double c, double v,
                                       double enough, double *error)
{
    double left = -q->under, log_enough = log(enough);
    int which = RHOS / 2;

    q->points = 0;
    *error = 0;
    for (double length = 2; left < q->over;) {
        double half = fmin(length, q->over - left) / 2;
        double off = panel_error(q, left + half, half, c, v, &which);

        length = 0.98 * better_length(2 * half, off, log_enough);
        if (!(off <= log_enough) && length > 1e-3)
            continue;
        if (!(off <= log_enough) || q->points + 2 * HALF > SOTTO_ALLOCATION_POINTS)
            return false;
        add_points(q, left + half, half);
        *error += exp(off);
        left = left + 2 * half < q->over ? left + 2 * half : q->over;
    }
    if (q->points + SOTTO_FOURIER_LANES > SOTTO_ALLOCATION_POINTS)
        return false;
    for (size_t i = 0; i < SOTTO_FOURIER_LANES; i++) { /* the heap, and nothing */
        q->z[q->points] = i == 0 ? q->top : 0;
        q->weight[q->points++] = i == 0 ? q->heap : 0;
    }
    return true;
}

/* ---- the transform on the real line ------------------------------------------------------------------- */

double sotto_allocation_mgf(const sotto_allocation_contour *q, double c, double *second)
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

/* 64u, the rounding of Z in the exponent of every term, and the sum's own. */
double sotto_allocation_mgf_error(const sotto_allocation_contour *q, double c)
{
    double sum = 0;

    for (size_t j = 0; j < q->points; j++) {
        double x = c * fabs(q->z[j]);

        sum +=
            q->weight[j] * x * x / 2 * exp(fmax(0, c * q->z[j])) * (64 + (double)q->points + 8 * x);
    }
    double x = c * q->top;

    sum += q->heap * x * x / 2 * exp(x) * SOTTO_ALLOCATION_ATOM_ERROR;
    return U * (sum + SOTTO_ALLOCATION_ATOM_ERROR * c * (fabs(q->mean) + q->beyond + q->above));
}
