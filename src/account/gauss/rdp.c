#include "account/gauss/rdp.h"

#include "account/numeric/parameter.h"
#include "account/numeric/root.h"
#include "account/numeric/special.h"

#define U          SOTTO_UNIT_ROUNDOFF
#define SCAN_STEPS 48
/* How well the logarithm of an order is searched for. */
#define WIDTH 1e-9

/* alpha - 1 is exact for doubles from 1 to 2 and above. */
static double price(double alpha, double log_delta)
{
    return log1p(-1 / alpha) - (log_delta + log(alpha)) / (alpha - 1);
}

static double price_error(double alpha, double log_delta)
{
    return 8 * U * ((fabs(log_delta) + log(alpha)) / (alpha - 1) + fabs(log1p(-1 / alpha)));
}

/* INFINITY where r is unknown: an order that says nothing. */
static double convert(double alpha, double r, double log_delta)
{
    if (!(r >= 0 && r <= 1e15))
        return INFINITY;
    double eps = r + price(alpha, log_delta) + price_error(alpha, log_delta) + 4 * U * r;

    return fmax(0, eps);
}

static sotto_status check_order(double alpha, sotto_err *err)
{
    return sotto_check_range("order", alpha, SOTTO_ORDER_MIN, SOTTO_ORDER_MAX, err);
}

sotto_status sotto_rdp_convert(double *eps, double alpha, double r, double log_delta,
                               sotto_err *err)
{
    SOTTO_TRY(check_order(alpha, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    SOTTO_TRY(sotto_check_range("Renyi divergence", r, 0, INFINITY, err));
    *eps = convert(alpha, r, log_delta);
    return SOTTO_OK;
}

sotto_status sotto_rdp_allowance(double *r, double alpha, double eps, double log_delta,
                                 sotto_err *err)
{
    SOTTO_TRY(check_order(alpha, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    SOTTO_TRY(sotto_check_range("epsilon", eps, 0, 1e15, err));
    double left = eps - price(alpha, log_delta);

    *r = left - price_error(alpha, log_delta) - 8 * U * (eps + fabs(left));
    return SOTTO_OK;
}

sotto_status sotto_rdp_epsilon(sotto_bound *out, double *best, const double *orders,
                               const double *r, size_t count, double log_delta, sotto_err *err)
{
    double least = INFINITY, at = 0;

    SOTTO_TRY(sotto_check_range("count of orders", (double)count, 1, 1e6, err));
    for (size_t i = 0; i < count; i++) {
        double eps;

        SOTTO_TRY(sotto_rdp_convert(&eps, orders[i], r[i], log_delta, err));
        at = eps < least ? orders[i] : at;
        least = fmin(least, eps);
    }
    if (!(least < INFINITY))
        return sotto_fail(err, SOTTO_DENIED, "the divergence is infinite at every order given");
    *out = (sotto_bound){0, least};
    if (best)
        *best = at;
    return SOTTO_OK;
}

typedef struct search {
    sotto_divergence divergence;
    const void *self;
    double log_delta;
    double least, at;
} search;

/* Remembers the smallest seen, so that it doesn't matter whether the function has one valley. */
static double look(search *s, double log_excess)
{
    double alpha = 1 + exp(log_excess);
    double eps = convert(alpha, s->divergence(s->self, alpha), s->log_delta);

    s->at = eps < s->least ? alpha : s->at;
    s->least = fmin(s->least, eps);
    return eps;
}

/* sotto_root_least hands its function something it must not change: here, where the search is. */
static double look_from(const void *self, double log_excess)
{
    return look(*(search *const *)self, log_excess);
}

sotto_status sotto_rdp_minimise(sotto_bound *out, double *best, sotto_divergence divergence,
                                const void *self, double from, double to, double log_delta,
                                sotto_err *err)
{
    SOTTO_TRY(check_order(from, err));
    SOTTO_TRY(sotto_check_range("last order", to, from, SOTTO_ORDER_MAX, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    search s = {divergence, self, log_delta, INFINITY, 0};
    double low = log(from - 1), high = log(to - 1), step = (high - low) / SCAN_STEPS;
    double lowest = INFINITY, place = low;

    /* A coarse scan first: divergences that become infinite, or flat at 0, would mislead the section. */
    for (int i = 0; i <= SCAN_STEPS; i++) {
        double eps = look(&s, fmin(high, low + i * step));

        place = eps < lowest ? low + i * step : place;
        lowest = fmin(lowest, eps);
    }
    search *here = &s;
    (void)sotto_root_least(look_from, &here, fmax(low, place - step), fmin(high, place + step),
                           WIDTH, &lowest);
    if (!(s.least < INFINITY))
        return sotto_fail(err, SOTTO_DENIED, "the divergence is infinite from order %g to %g", from,
                          to);
    *out = (sotto_bound){0, s.least};
    if (best)
        *best = s.at;
    return SOTTO_OK;
}

static double linear(const void *self, double alpha)
{
    const double *rho = self;

    return sotto_round_up(*rho * alpha, *rho > 0 ? 1 : 0);
}

sotto_status sotto_zcdp_epsilon(sotto_bound *out, double rho, double log_delta, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("rho", rho, 0, 1e12, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    if (rho == 0) {
        *out = (sotto_bound){0, 0};
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_rdp_minimise(out, NULL, linear, &rho, SOTTO_ORDER_MIN, SOTTO_ORDER_MAX,
                                 log_delta, err));
    /* The weaker conversion in closed form, for where the best order is out of reach. */
    out->high = fmin(out->high, sotto_round_up(rho + 2 * sqrt(-rho * log_delta), 6));
    return SOTTO_OK;
}

/* The conversion solved for delta; log delta <= (alpha-1) (rho alpha - eps + log(1 - 1/alpha)) - log alpha. */
static double delta_at(double rho, double eps, double alpha)
{
    double inside = rho * alpha - eps + log1p(-1 / alpha);
    double error = 8 * U * (alpha - 1) * (rho * alpha + eps + fabs(log1p(-1 / alpha)));

    return (alpha - 1) * inside - log(alpha) * (1 - 4 * U) + error;
}

typedef struct zcdp_question {
    double rho, eps;
} zcdp_question;

static double log_delta_at(const void *self, double log_excess)
{
    const zcdp_question *q = self;

    return delta_at(q->rho, q->eps, 1 + exp(log_excess));
}

sotto_status sotto_zcdp_log_delta(sotto_bound *out, double rho, double eps, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("rho", rho, 1e-150, 1e12, err));
    SOTTO_TRY(sotto_check_range("epsilon", eps, 0, 1e12, err));
    zcdp_question at = {rho, eps};
    double least;
    /* The best order is near (eps + rho) / (2 rho), a little above. */
    double middle = fmax(1e-6, (eps + rho) / (2 * rho) - 1);

    (void)sotto_root_least(log_delta_at, &at, log(middle) - 6, log(middle) + 6, WIDTH, &least);
    *out = (sotto_bound){-INFINITY, fmin(least, 0)};
    return SOTTO_OK;
}

/* As a falling function of 1/rho, its smallest epsilon found. */
static sotto_point epsilon_of_inverse(const void *self, double inverse)
{
    const double *log_delta = self;
    sotto_bound b;

    if (sotto_zcdp_epsilon(&b, sotto_round_up(1 / inverse, 1), *log_delta, NULL) != SOTTO_OK)
        return (sotto_point){{0, INFINITY}, 0};
    return (sotto_point){{b.high, b.high}, 0};
}

sotto_status sotto_zcdp_rho(sotto_bound *out, double eps, double log_delta, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("epsilon", eps, 1e-12, 1e11, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    /* rho + 2 sqrt(rho L) = eps is small enough. */
    double root = eps / (sqrt(eps - log_delta) + sqrt(-log_delta));
    double safe = sotto_round_down(root * root, 8);
    sotto_bound inverse;

    sotto_root_enclose(&inverse, epsilon_of_inverse, &log_delta, eps, 1e-12, 1 / safe);
    *out = (sotto_bound){sotto_round_down(1 / inverse.high, 2), INFINITY};
    return SOTTO_OK;
}

sotto_status sotto_zcdp_of_pure(double *rho, double eps, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("epsilon", eps, 0, 1e6, err));
    *rho = eps > 0 ? sotto_round_up(0.5 * eps * eps, 1) : 0;
    return SOTTO_OK;
}

sotto_status sotto_zcdp_of_gaussian(double *rho, double sigma, double sensitivity, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("sigma", sigma, 1e-100, 1e100, err));
    SOTTO_TRY(sotto_check_range("sensitivity", sensitivity, 1e-100, 1e100, err));
    double mu = sotto_round_up(sensitivity / sigma, 1);

    *rho = sotto_round_up(0.5 * mu * mu, 1);
    return sotto_check_range("rho", *rho, 0, 1e12, err);
}
