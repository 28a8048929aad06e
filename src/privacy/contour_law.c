#include "privacy/contour_law.h"

#include "base/alloc.h"
#include "privacy/contour.h"

#include <float.h>

#define U          (DBL_EPSILON / 2)
#define PI         3.14159265358979323846
#define DIGITS     19.0
#define MOST_NODES 200000
/* Of epsilon: what the extra Gaussian may cost. */
#define PRICE 1.5e-5

/* log E exp(cL), from above. */
static double cumulant(const sotto_contour_law *law, double c)
{
    sotto_contour_value v;

    law->at(law->self, c, 0, -INFINITY, &v);
    return v.log_modulus + v.error;
}

static double renyi(const sotto_contour_law *law, double c, double log_delta)
{
    double eps = (cumulant(law, c) + sotto_contour_chernoff(c) - log_delta) / c;

    return isnan(eps) ? INFINITY : eps;
}

/* The c with the least Renyi epsilon, to a tenth or so. */
static double saddle(const sotto_contour_law *law, double log_delta)
{
    double c = 1, best = renyi(law, c, log_delta);

    for (double pace = 16; pace > 1.05; pace = sqrt(pace)) {
        for (int up = 0; up < 2; up++) {
            for (int i = 0; i < 40; i++) {
                double next = up ? c * pace : c / pace, value = renyi(law, next, log_delta);
                if (!(value < best) || next > 1e12 || next < 1e-12)
                    break;
                best = value;
                c = next;
            }
        }
    }
    return c;
}

typedef struct blur {
    double variance; /* of the Gaussian loss N(v/2, v) */
} blur;

static sotto_status fill(sotto_contour *line, double **memory, size_t *nodes,
                         const sotto_contour_law *law, blur b, double reach, sotto_err *err)
{
    double c = line->c, real = cumulant(law, c), last = reach / sqrt(b.variance);

    *nodes = (size_t)fmin(ceil(last / line->step), MOST_NODES) + 1;
    double *a = *memory = sotto_alloc(3 * *nodes * sizeof(double));
    if (!a)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu nodes", *nodes);
    line->nodes = *nodes;
    line->re = a;
    line->im = a + *nodes;
    for (size_t k = 0; k < *nodes; k++) {
        double t = (double)k * line->step;
        double damp = b.variance * (c * (c + 1) - t * t) / 2;
        sotto_contour_value v;
        /* The Gaussian has already taken its part of the 80 powers of e that a node may fall. */
        law->at(law->self, c, t, real - 82 - fmin(damp - b.variance * c * (c + 1) / 2, 0), &v);
        a[k] = v.log_modulus + damp;
        a[*nodes + k] = v.phase + b.variance * t * (2 * c + 1) / 2;
        a[2 * *nodes + k] = v.small ? 1 : v.error + 8 * U * (1 + fabs(damp) + fabs(v.log_modulus));
        if (v.small)
            a[k] = fmin(a[k], a[0] - 81);
    }
    last = line->step * (double)(*nodes - 1);
    double rest = real + b.variance * (c * (c + 1) - last * last) / 2;
    static const double ratio[SOTTO_CONTOUR_ALIASES] = {1.1, 1.2, 1.4, 1.7, 2, 3, 5};
    line->aliases = SOTTO_CONTOUR_ALIASES;
    for (size_t i = 0; i < SOTTO_CONTOUR_ALIASES; i++) {
        double next = line->alias_c[i] = c * ratio[i];
        line->alias_log[i] = cumulant(law, next) + b.variance * next * (next + 1) / 2;
    }
    sotto_contour_fill(line, a, a + *nodes, a + 2 * *nodes, rest);
    return SOTTO_OK;
}

static double period_for(const sotto_contour_law *law, double c, double log_delta, double eps)
{
    double above = INFINITY;

    for (double ratio = 1.1; ratio < 6; ratio *= 1.2) {
        double next = c * ratio;
        double need = cumulant(law, next) - next * eps + sotto_contour_chernoff(next) - log_delta;
        above = fmin(above, fmax(need + DIGITS, 1) / (next - c));
    }
    return fmax(above, (DIGITS - log_delta) / c);
}

/* delta of the blurred law is at most w delta(eps - log w) + P(W > w), W the Gaussian's likelihood ratio: solved for
 * the law itself, from below. */
static double unblurred(const sotto_contour *line, double log_delta, double variance)
{
    double sd = sqrt(variance), z = sqrt(2 * (8 - log_delta)), shift = sd * z + variance / 2;
    double tail = log_delta - 7; /* Q(z) < exp(-z^2/2) */
    double wanted = log(exp(log_delta + shift) + exp(tail)) + 1e-12;

    if (!(wanted < 0))
        return 0;
    return fmax(sotto_contour_epsilon(line, wanted, 1).low - shift, 0);
}

sotto_status sotto_contour_law_epsilon(sotto_bound *out, const sotto_contour_law *law,
                                       double log_delta, sotto_err *err)
{
    if (!(log_delta >= -690.8 && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "delta: exp(%g) is not in [1e-300, 1)", log_delta);
    double c = saddle(law, log_delta);
    double bound = fmax(renyi(law, c, log_delta), 0) * (1 + 1e-12);
    *out = (sotto_bound){0, fmin(bound, law->largest)};
    if (out->high == 0)
        return SOTTO_OK;
    sotto_contour line = {.c = c, .terms = SOTTO_CONTOUR_TERMS};
    /* Blurring adds about c v/2 to epsilon. */
    blur b = {2 * PRICE * out->high / c};
    line.step = 2 * PI / period_for(law, c, log_delta, 0.7 * bound);
    double loss = fmax(cumulant(law, c) - c * 0.7 * bound - log_delta, 0);
    double *memory = NULL;
    size_t nodes = 0;
    sotto_status status = fill(&line, &memory, &nodes, law, b, sqrt(2 * (loss + DIGITS)), err);
    if (status == SOTTO_OK) {
        out->high = fmin(out->high, sotto_contour_epsilon(&line, log_delta, 0.9 * bound).high);
        out->low = fmin(unblurred(&line, log_delta, b.variance), out->high);
    }
    sotto_release(memory, 3 * nodes * sizeof(double));
    return status;
}
