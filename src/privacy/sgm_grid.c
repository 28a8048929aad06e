#include "privacy/sgm_grid.h"

/* The 16-point Gauss-Legendre rule: one half, largest first. */
static const double gauss_x[8] = {0.9894009349916499326,  0.94457502307323257608,
                                  0.86563120238783174388, 0.7554044083550030339,
                                  0.61787624440264374845, 0.45801677765722738634,
                                  0.28160355077925891323, 0.095012509837637440185};
static const double gauss_w[8] = {0.027152459411754094852, 0.062253523938647892863,
                                  0.09515851168249278481,  0.12462897125553387205,
                                  0.14959598881657673208,  0.16915651939500253819,
                                  0.18260341504492358887,  0.18945061045506849629};

#define PI 3.14159265358979323846
/* What the panels together may miss, against the largest term. */
#define TARGET (-58.0)

/* A region of the complex plane, |Re - centre| <= wide and |Im| <= tall, and r there: r/(1-q) = 1 + v with
 * v between least and most on the real axis. */
typedef struct region {
    double centre, wide, tall;
    double least, most;
} region;

/* The value of v in the region that is nearest to 1: where 1 + v e^{ia} bends most. */
static double nearest_one(const region *g)
{
    return g->least > 1 ? g->least : g->most < 1 ? g->most : 1;
}

/* Log of a bound on |density(z)| r(Re z)^power in the region: the exponent's tangent at the centre, and
 * half its second derivative, -1/var + power v/(1+v)^2/var^2, where that is positive. */
static double log_joint(const sotto_sgm_law *law, double power, const region *g)
{
    double var = law->sigma * law->sigma, x = g->centre;
    double log_ratio = sotto_sgm_log_ratio(law, x);
    double speed = exp(log(law->q) + sotto_sgm_tilt(law, x) - log_ratio) / var;
    double slope = -x / var + power * speed, v = nearest_one(g);
    double curve = -1 / var + fmax(power, 0) * v / ((1 + v) * (1 + v)) / (var * var);

    return sotto_sgm_log_density(law, x) + power * log_ratio + fabs(slope) * g->wide +
           fmax(curve, 0) * g->wide * g->wide / 2 + g->tall * g->tall / (2 * var);
}

/* Log of a bound on |density (r^k - 1 - k(r-1))|, k = power + it, inside the ellipse with foci at the
 * panel's ends and parameter rho. */
static double log_height(const sotto_sgm_law *law, double power, double t, double centre,
                         double half, double rho)
{
    double odds = law->q / (1 - law->q);
    region g = {centre, half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2, 0, 0};
    double angle = g.tall / (law->sigma * law->sigma);

    if (angle > 0.95 * PI)
        return INFINITY;
    g.least = odds * exp(fmin(sotto_sgm_tilt(law, centre - g.wide), 600));
    g.most = odds * exp(fmin(sotto_sgm_tilt(law, centre + g.wide), 600));
    /* |arg(1 + v e^{ia})| <= a v/(1+v) for v <= 1, and never above a. */
    double turn = g.most < 1 ? angle * g.most / (1 + g.most) : angle;
    double size = log_joint(law, power, &g) + t * turn;
    if (law->add) {
        /* |1 + v e^{ia}|^2 = (1+v)^2 - 4 v sin^2(a/2) */
        double s = sin(angle / 2), v = nearest_one(&g);
        size += power / 2 * log1p(-4 * v * s * s / ((1 + v) * (1 + v)));
    }
    double rest =
        log(2 + 2 * (fabs(power) + t)) + fmax(log_joint(law, 0, &g), log_joint(law, 1, &g));
    return fmax(size, rest) + 0.7;
}

/* Log of the error of the 16-point rule on one panel: (64/15) height rho^-32/(1 - rho^-2). */
static double log_panel_error(const sotto_sgm_law *law, double power, double t, double from,
                              double to)
{
    double half = (to - from) / 2, best = INFINITY;

    for (double rho = 2; rho < 40; rho *= 1.45) {
        double height = log_height(law, power, t, (from + to) / 2, half, rho);
        double error =
            log(half) + 1.46 + height - 2 * SOTTO_SGM_PANEL * log(rho) - log1p(-1 / (rho * rho));
        if (error < best)
            best = error;
        else if (best < INFINITY)
            break;
    }
    return best;
}

/* Log of the largest tilted density, about. */
static double log_peak(const sotto_sgm_law *law, double power)
{
    double best = -INFINITY;

    int most = (int)fmin(fmax(2 * (law->high - law->low) / law->sigma, 48), 4000);

    for (int i = 0; i <= most; i++) {
        double x = law->low + (law->high - law->low) * i / most;
        best = fmax(best, sotto_sgm_log_density(law, x) + power * sotto_sgm_log_ratio(law, x));
    }
    return best;
}

size_t sotto_sgm_panels(const sotto_sgm_law *law, double c, double t, double *edges, size_t most,
                        double *log_error)
{
    double power = sotto_sgm_power(law, c), at = law->low;
    double width = fmin(2 * law->sigma, 2 * law->sigma * law->sigma);
    double allowed = TARGET + fmax(log_peak(law, power) - 1, 0), sum = 0;
    size_t count = 0;

    edges[0] = at;
    while (at < law->high) {
        double error = 0, to = 0;
        for (int i = 0; i < 60; i++, width *= 0.75) {
            to = fmin(at + width, law->high);
            error = log_panel_error(law, power, t, at, to);
            if (error <= allowed)
                break;
        }
        if (count == most || !(to > at))
            return 0;
        sum += exp(error - allowed);
        edges[++count] = at = to;
        width *= 1.4;
    }
    *log_error = allowed + log(sum);
    return count;
}

static double upper(double z)
{
    return erfc(z / 1.41421356237309504880) / 2;
}

void sotto_sgm_grid_fill(sotto_sgm_grid *grid, const sotto_sgm_law *law, double c,
                         const double *edges, size_t panels)
{
    double s = law->sigma;
    double out_0 = upper(law->high / s) + upper(-law->low / s);
    double out_1 = upper((law->high - 1) / s) + upper((1 - law->low) / s);

    grid->power = sotto_sgm_power(law, c);
    grid->points = panels * SOTTO_SGM_PANEL;
    grid->missing_one = -out_0;
    grid->missing_linear = -law->q * (out_1 - out_0);
    for (size_t i = 0; i < panels; i++) {
        double half = (edges[i + 1] - edges[i]) / 2, centre = edges[i] + half;
        for (size_t k = 0; k < SOTTO_SGM_PANEL; k++) {
            size_t at = k < 8 ? k : 15 - k;
            double x = centre + (k < 8 ? -half : half) * gauss_x[at];
            grid->x[i * SOTTO_SGM_PANEL + k] = x;
            grid->log_weight[i * SOTTO_SGM_PANEL + k] =
                sotto_sgm_log_density(law, x) + log(half * gauss_w[at]);
        }
    }
}
