#include "account/local/clone_pair.h"

#include "account/numeric/gauss_legendre.h"
#include "account/numeric/special.h"

#define U SOTTO_UNIT_ROUNDOFF
/* Below this a mass is near the end of a double's range, where additions lose their relative error. */
#define WALK_LEAST 1e-280
#define WALK_STEP  4
#define WALK_DOUBT 1e-11

/* ---- masses of a fair binomial ------------------------------------------------------------------- */

/* ((1+v) log(1+v) + (1-v) log(1-v)) / 2 for |v| <= 0.1, to 4u: the ninth term is below 1e-16 of the first. */
static double half_deviance(double v)
{
    double x = v * v;

    return x * (1.0 / 2 +
                x * (1.0 / 12 +
                     x * (1.0 / 30 +
                          x * (1.0 / 56 +
                               x * (1.0 / 90 + x * (1.0 / 132 + x * (1.0 / 182 + x / 240)))))));
}

/* log b(k; c, 1/2): with p exactly one half nothing is lost to c p being rounded. */
static double log_half_pmf(double k, double c, double *error)
{
    double v = (2 * k - c) / c;

    if (k == 0 || k == c || fabs(v) > 0.1)
        return sotto_binomial_log_pmf(k, c, 0.5, 0.5, error);
    double d = c * half_deviance(v), size = -0.5 * log(c * (1 - v * v)) - 0.22579135264472743;
    double s = sotto_stirling_error(c) - sotto_stirling_error(k) - sotto_stirling_error(c - k);

    *error = U * (24 + 16 * d + 4 * fabs(size));
    return size + s - d;
}

/* The m-th denominator of the fraction below, A = a + 2m. */
static inline double level_under(double A, double apart, double b, double m)
{
    return (A * (apart + 2 * m) + 2 * m * (A - m + b - 1) + A + b - 2) / (2 * (A * A - 1));
}

/* Encloses P(X < k) / P(X = k) for X ~ Bin(c, 1/2), 1 <= k <= c/2 + 1, by the incomplete beta function's
 * continued fraction contracted to its even part. Its terms are all positive, so cutting it with either end of
 * what the remainder may be encloses the value. Written without a difference of close numbers. */
static sotto_bound below_ratio(double k, double c, double enough, double relative)
{
    double a = c - k + 1, b = k;
    double z = (c + 1 - 2 * k) / sqrt(c);
    double steps = ceil(fmin(8 + 50 / (z * z + 0.01), 500));
    sotto_bound t = {0, INFINITY};

    for (int tries = 0; tries < 4; tries++, steps *= 4) {
        double m = fmin(steps, b);

        t = (sotto_bound){0, INFINITY};
        for (; m > 0; m--) {
            double A = a + 2 * m, A1 = A - 1;
            double above = (A1 - m) * (A1 - m + b) * m * (b - m) / (4 * (A - 2) * A1 * A1 * A);
            double under = level_under(A, a - b, b, m);

            t = (sotto_bound){above / (under + t.high), above / (under + t.low)};
        }
        double under = level_under(a, a - b, b, 0);

        t = (sotto_bound){k / (2 * a) / (under + t.high), k / (2 * a) / (under + t.low)};
        if (t.high - t.low <= fmax(enough, relative * t.high))
            break;
    }
    t.low *= 1 - 1e-14;
    t.high *= 1 + 1e-14;
    return t;
}

/* log b(x) / b(k), v and v_k being (2x - c)/c and that of k; |v| below 0.03 and c above 10^4. */
static double log_relative(double c, double v, double v_k)
{
    double x = v * v, y = v_k * v_k;
    double change = c * (half_deviance(v) - half_deviance(v_k)); /* their 1/2 x v^2 dominates */
    double root = (x - y) / 2 * (1 + (x + y) / 2 + (x * x + x * y + y * y) / 3);

    return root - change - (x - y) / (3 * c);
}

/* The same where the fraction is slow, within 2.5 deviations of the middle of a large c. It is one half less what
 * lies between k and the middle, by the midpoint Euler-Maclaurin formula. Sixteen Gauss-Legendre points on 2.5
 * deviations leave less than 1e-15; the formula's third term is at most 0.44/c^2 of the result
 * (docs/decisions/0013). */
static sotto_bound below_ratio_central(double k, double c, double at)
{
    double from = k - 0.5, half = (c / 2 - from) / 2, middle = from + half, sum = 0;
    double v_k = (2 * k - c) / c, v_middle = (2 * middle - c) / c, v_half = 2 * half / c;
    double edge = exp(log_relative(c, (2 * from - c) / c, v_k));

    for (int i = 0; i < SOTTO_GAUSS_HALF; i++)
        sum += sotto_gauss_weight[i] *
               (exp(log_relative(c, v_middle - v_half * sotto_gauss_node[i], v_k)) +
                exp(log_relative(c, v_middle + v_half * sotto_gauss_node[i], v_k)));
    double below = 0.5 / at - half * sum - edge * log((c - from + 0.5) / (from + 0.5)) / 24;
    double off = 1e-11 + 1 / (c * c);

    return (sotto_bound){below * (1 - off), below * (1 + off)};
}

/* ---- from one number of clones to the next ------------------------------------------------------- */

static void start_walk(sotto_pair_walk *w, double c, double k, double enough)
{
    /* Where a neighbour was asked for before, the next will be: worth more digits. */
    bool tight = w->at > 0 && c - w->c <= WALK_STEP;
    sotto_bound ratio = {0, 0};

    w->c = c;
    w->k = k;
    w->at = exp(log_half_pmf(k, c, &w->at_error));
    if (k >= 1 && enough < INFINITY)
        ratio = c >= 1e4 && c + 1 - 2 * k < 2.5 * sqrt(c)
                    ? below_ratio_central(k, c, w->at)
                    : below_ratio(k, c, tight ? 0 : enough, 1e-12);
    w->below = w->at * (0.5 * (ratio.low + ratio.high));
    w->below_error = w->at * (0.5 * (ratio.high - ratio.low)) + 4 * U * w->below;
}

/* b(k; c+1) = (b(k; c) + b(k-1; c))/2, and one more coin takes half of b(k-1) out of what is below k. */
static void step_clones(sotto_pair_walk *w)
{
    double left = w->c + 1 - w->k, before = w->at * w->k / left;

    w->below_error += 0.5 * before * (w->at_error + 4 * U) + U * w->below;
    w->below = fmax(0, w->below - 0.5 * before);
    w->at *= (w->c + 1) / (2 * left);
    w->at_error += 4 * U;
    w->c += 1;
}

static void step_count(sotto_pair_walk *w)
{
    w->below += w->at;
    w->below_error += w->at * w->at_error + U * w->below;
    w->at *= (w->c - w->k) / (w->k + 1);
    w->at_error += 3 * U;
    w->k += 1;
}

static void walk_to(sotto_pair_walk *w, double c, double k, double enough)
{
    bool near = w->at > WALK_LEAST && c >= w->c && c - w->c <= WALK_STEP && k >= w->k &&
                k - w->k <= WALK_STEP;

    if (near) {
        while (w->c < c)
            step_clones(w);
        while (w->k < k)
            step_count(w);
        if (w->below_error <= WALK_DOUBT * w->below && w->at > WALK_LEAST)
            return;
    }
    start_walk(w, c, k, enough);
}

/* ---- the divergence ------------------------------------------------------------------------------- */

sotto_pair_question sotto_pair_ask(const sotto_clone_law *law, double eps)
{
    double alpha = 1 / (1 + exp(-law->eps0));
    double spread = law->tells * tanh(law->eps0 / 2) * (1 + exp(eps));
    sotto_pair_question q = {-law->tells * alpha * expm1(eps - law->eps0), law->tells * expm1(eps),
                             0};

    q.edge = q.gain / spread;
    return q;
}

static double last_gain(const sotto_pair_question *q, double c)
{
    return fmax(0, ceil((c + 1) * q->edge) - 1);
}

/* Whether the report tells is taken as known, since it is as likely for both inputs. To hide it among the
 * others' would need their other outputs to look like ours, which nothing promises. So the divergence is
 * `tells` times that of a report that always does. */
sotto_bound sotto_pair_delta(const sotto_pair_question *q, sotto_pair_walk *walk, double c)
{
    double more = walk->inflate > 0 ? walk->inflate : 1;
    sotto_bound d = {0, 0};

    if (q->gain <= 0)
        return d;
    /* Without a cost what is below does not matter. */
    walk_to(walk, c, last_gain(q, c), q->cost > 0 ? 1e-9 * q->gain / q->cost : INFINITY);
    double wins = walk->at * q->gain, loses = walk->below * q->cost;
    /* A rounding of each side of the difference, and what the two masses may be off by. */
    double doubt =
        more * (1e-14 * (wins + loses) + walk->at_error * wins + walk->below_error * q->cost);

    d.low = fmax(0, wins - loses - doubt);
    d.high = fmax(0, wins - loses + doubt);
    return d;
}

/* The normal law near the middle, a short fraction further out. */
double sotto_pair_delta_rough(const sotto_pair_question *q, double c)
{
    double k = last_gain(q, c), error, ratio = 0;

    if (q->gain <= 0)
        return 0;
    if (k >= 1 && q->cost > 0) {
        double z = (c + 1 - 2 * k) / sqrt(c), z_k = (c - 2 * k) / sqrt(c);

        ratio = z < 1.5 && c > 30 ? sotto_mills(z) * exp((z_k * z_k - z * z) / 2) * sqrt(c) / 2
                                  : below_ratio(k, c, 1e-3 * q->gain / q->cost, 1e-3).low;
    }
    return exp(log_half_pmf(k, c, &error)) * fmax(0, q->gain - q->cost * ratio);
}
