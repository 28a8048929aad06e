#include "privacy/clone.h"

#include "privacy/clone_cells.h"
#include "privacy/special.h"

#define LOG_4 1.38629436111989061883
#define LOG_2 0.69314718055994530942

/* ---- arguments ----------------------------------------------------------------------------------- */

sotto_status sotto_crowd_honest(double *n_honest, const sotto_crowd *crowd, sotto_err *err)
{
    double n = crowd->n_total, f = crowd->dishonest_fraction;

    if (!(n >= 1 && n <= SOTTO_CROWD_MAX && n == floor(n)))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "n_total = %g: accepted is a whole number of 1 to 1e12", n);
    if (!(f >= 0 && f < 1))
        return sotto_fail(err, SOTTO_MALFORMED, "dishonest_fraction = %g: accepted is 0 <= f < 1",
                          f);
    double product = n * f, rest = fma(n, f, -product); /* n f without an error */
    double lost = ceil(product);

    if (lost == product && rest > 0)
        lost += 1;
    *n_honest = n - lost;
    if (*n_honest < 1)
        return sotto_fail(err, SOTTO_DENIED, "of n_total = %g nobody honest is left", n);
    return SOTTO_OK;
}

static sotto_status check_eps0(double eps0, sotto_err *err)
{
    if (!(eps0 >= 1e-9 && eps0 <= SOTTO_CLONE_MAX_EPS0))
        return sotto_fail(err, SOTTO_MALFORMED, "eps0 = %g: accepted is 1e-9 to %g", eps0,
                          SOTTO_CLONE_MAX_EPS0);
    return SOTTO_OK;
}

static sotto_status check_delta(double log_delta, sotto_err *err)
{
    if (!(log_delta >= SOTTO_MIN_LOG_DELTA && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "log_delta = %g: accepted is %g to below 0",
                          log_delta, SOTTO_MIN_LOG_DELTA);
    return SOTTO_OK;
}

/* ---- randomizers --------------------------------------------------------------------------------- */

/* Fewer clones and a report that tells more are both against us. */
static void set_law(sotto_clone_law *out, double eps0, double tells, double clone)
{
    out->eps0 = eps0;
    out->tells = fmin(1, tells >= 1 ? 1 : sotto_round_up(tells, 8));
    out->clone = sotto_round_down(clone, 8);
}

sotto_status sotto_clone_law_generic(sotto_clone_law *out, double eps0, sotto_err *err)
{
    SOTTO_TRY(check_eps0(eps0, err));
    set_law(out, eps0, 1, exp(-eps0));
    return SOTTO_OK;
}

sotto_status sotto_clone_law_restricted_class(sotto_clone_law *out, double eps0, sotto_err *err)
{
    SOTTO_TRY(check_eps0(eps0, err));
    set_law(out, eps0, 1, 2 / (exp(eps0) + 1));
    return SOTTO_OK;
}

sotto_status sotto_clone_law_kary(sotto_clone_law *out, double eps0, double k, sotto_err *err)
{
    SOTTO_TRY(check_eps0(eps0, err));
    if (!(k >= 2 && k <= 1e9 && k == floor(k)))
        return sotto_fail(err, SOTTO_MALFORMED, "k = %g: accepted is a whole number of 2 to 1e9",
                          k);
    double all = exp(eps0) + (k - 1);

    set_law(out, eps0, k == 2 ? 1 : (exp(eps0) + 1) / all, 2 / all);
    return SOTTO_OK;
}

sotto_status sotto_clone_law_onehot(sotto_clone_law *out, double one_if_own, double one_if_other,
                                    sotto_err *err)
{
    double h = one_if_own, l = one_if_other;

    if (!(l > 0 && l < h && h < 1))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "one_if_own = %g, one_if_other = %g: accepted is 0 < other < own < 1", h,
                          l);
    double eps0 = sotto_round_up(log(h / l) + (log1p(-l) - log1p(-h)), 8);

    SOTTO_TRY(check_eps0(eps0, err));
    set_law(out, eps0, h * (1 - l) + l * (1 - h), 2 * l * (1 - h));
    return SOTTO_OK;
}

sotto_status sotto_clone_law_subset(sotto_clone_law *out, double eps0, double k, double size,
                                    sotto_err *err)
{
    SOTTO_TRY(check_eps0(eps0, err));
    if (!(k >= 2 && k <= 1e9 && k == floor(k) && size >= 1 && size < k && size == floor(size)))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "k = %g, size = %g: accepted are whole numbers, 1 <= size < k <= 1e9", k,
                          size);
    /* C(k-1, size-1) e^eps0 + C(k-1, size) sets by weight, of which C(k-2, size-1) hold the one value and not the
     * other; all divided by C(k-1, size). */
    double all = exp(eps0) * size / (k - size) + 1;
    double apart = size / (k - 1);

    set_law(out, eps0, apart * (exp(eps0) + 1) / all, 2 * apart / all);
    return SOTTO_OK;
}

/* ---- delta of the pair, given the number of clones ------------------------------------------------- */

/* The m-th denominator of the fraction below, A = a + 2m. */
static inline double level_under(double A, double apart, double b, double m)
{
    return (A * (apart + 2 * m) + 2 * m * (A - m + b - 1) + A + b - 2) / (2 * (A * A - 1));
}

/* Encloses P(X < k) / P(X = k) for X ~ Bin(c, 1/2), 1 <= k <= c/2 + 1: the incomplete beta function's continued
 * fraction contracted to its even part, whose terms are all positive, so that cutting it with either end of what
 * the remainder may be encloses the value. Written without a difference of close numbers. */
static sotto_bound below_ratio(double k, double c, double enough)
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
        if (t.high - t.low <= enough)
            break;
    }
    t.low *= 1 - 1e-14;
    t.high *= 1 + 1e-14;
    return t;
}

/* What is the same for every number of clones. */
typedef struct question {
    double eps, rise; /* e^eps - 1 */
    double tells;
    double gain;   /* of a report that tells, before dilution */
    double spread; /* larger minus smaller weight, times 1 + e^eps */
} question;

static question ask(const sotto_clone_law *law, double eps)
{
    double alpha = 1 / (1 + exp(-law->eps0));
    question q = {eps, expm1(eps), law->tells, 0, 0};

    q.gain = -law->tells * alpha * expm1(eps - law->eps0);
    q.spread = law->tells * tanh(law->eps0 / 2) * (1 + exp(eps));
    return q;
}

/* With c clones, and `diluted` the chance of a report that tells nothing relative to having c clones and one
 * that tells: the hockey-stick divergence of the two counts, relative to the mass of c. */
static sotto_bound pair_delta(const question *q, double c, double diluted)
{
    double gain = q->gain - diluted / 2 * q->rise;
    double cost = (q->tells + diluted) * q->rise;
    sotto_bound none = {0, 0}, ratio = {0, 0}, d;

    if (gain <= 0)
        return none;
    double k = fmax(0, ceil((c + 1) * gain / q->spread) - 1);
    double error, at = exp(sotto_binomial_log_pmf(k, c, 0.5, 0.5, &error));

    if (k >= 1 && cost > 0)
        ratio = below_ratio(k, c, 1e-9 * gain / cost);
    /* What a rounding of each side of the difference amounts to. */
    double slack = 1e-14 * (gain + cost * ratio.high);

    d.low = fmax(0, at * (1 - error) * (gain - cost * ratio.high - slack));
    d.high = fmax(0, at * (1 + error) * (gain - cost * ratio.low + slack));
    return d;
}

/* ---- delta of the whole ---------------------------------------------------------------------------- */

typedef struct crowd_law {
    const sotto_clone_law *law;
    sotto_clone_inflate inflate;
    double others; /* n_honest - 1 */
    size_t count;
    sotto_cell cells[SOTTO_CELLS_MAX];
} crowd_law;

/* P(c+1 clones) / P(c clones): falls with c. */
static double next_ratio(const crowd_law *w, double c)
{
    double p = w->law->clone;

    return (w->others - c) / (c + 1) * (p / (1 - p));
}

/* delta falls with the number of clones (one more is a coin added to the counts) and with dilution, so
 * the lower end of a cell with the dilution of its upper end bounds it from above. */
static double delta_high(const crowd_law *w, double eps)
{
    question q = ask(w->law, eps);
    double outside = 1 - w->law->tells;
    sotto_sum sum = {0, 0};

    for (size_t i = 0; i < w->count; i++) {
        const sotto_cell *cell = &w->cells[i];

        if (cell->mass.high <
            1e-319) /* divergences are at most 1: below what is added at the end */
            continue;
        double diluted = outside * next_ratio(w, cell->last) * (1 - 1e-14);
        double d = pair_delta(&q, cell->first, diluted).high;
        double mass =
            cell->mass.high + (w->inflate.stride - 1) * (cell->mass.high - cell->mass.low);

        sotto_sum_add(&sum, d * mass);
    }
    return sotto_sum_value(&sum) * (1 + 1e-13 * w->inflate.rounding) + 1e-317 * w->inflate.tail;
}

static double delta_low(const crowd_law *w, double eps)
{
    question q = ask(w->law, eps);
    double outside = 1 - w->law->tells;
    sotto_sum sum = {0, 0};

    for (size_t i = 0; i < w->count; i++) {
        const sotto_cell *cell = &w->cells[i];

        if (cell->mass.low < 1e-319)
            continue;
        double diluted = outside * next_ratio(w, cell->first) * (1 + 1e-14);

        sotto_sum_add(&sum, pair_delta(&q, cell->last, diluted).low * cell->mass.low);
    }
    return sotto_sum_value(&sum) * (1 - 1e-13);
}

/* One representative for sixteen cells: near enough to start from. */
static double delta_rough(const crowd_law *w, double eps)
{
    question q = ask(w->law, eps);
    double outside = 1 - w->law->tells, sum = 0;

    for (size_t i = 0; i < w->count;) {
        size_t end = i + 16 < w->count ? i + 16 : w->count, middle = i + (end - i) / 2;
        double mass = 0, c = w->cells[middle].first;

        for (; i < end; i++)
            mass += w->cells[i].mass.low;
        if (mass > 1e-319)
            sum += mass * pair_delta(&q, c, outside * next_ratio(w, c)).high;
    }
    return sum;
}

typedef double (*delta_of)(const crowd_law *, double);

/* The square root of -log delta is close to linear in epsilon: false position on it, kept in a bracket whose
 * ends have been evaluated (but for 0 and the cap, where delta is above and below by definition). */
static sotto_bound crossing(const crowd_law *w, delta_of delta, double log_delta, sotto_bound in,
                            double tolerance)
{
    double goal = sqrt(-log_delta), far = 2 * goal + 30;
    double low_at = -goal, high_at = far;
    int side = 0;

    for (int i = 0; i < 80 && in.high - in.low > tolerance * in.high; i++) {
        double share = fmin(0.95, fmax(0.05, -low_at / (high_at - low_at)));
        double x = in.low + (in.high - in.low) * (i % 8 == 7 ? 0.5 : share);
        double d = delta(w, x);
        double at = d > 0 ? sqrt(fmax(0, -log(d))) - goal : far;

        if (at >= 0) {
            in.high = x;
            high_at = at;
            low_at = side == 1 ? low_at / 2 : low_at;
            side = 1;
        } else {
            in.low = x;
            low_at = at;
            high_at = side == -1 ? high_at / 2 : high_at;
            side = -1;
        }
    }
    return in;
}

/* From a guess to a bracket of the root in few evaluations: secant steps that overshoot a little, each to the
 * side that is still open. */
static sotto_bound refine(const crowd_law *w, delta_of delta, double log_delta, double guess,
                          double tolerance)
{
    sotto_bound in = {0, w->law->eps0};
    double slope = -2 * log_delta / guess, x = guess, last_x = 0, last = 0;

    for (int i = 0; i < 7 && x > in.low && x < in.high; i++) {
        double d = delta(w, x);
        double miss = d > 0 ? log(d) - log_delta : -INFINITY;

        if (!isfinite(miss))
            break;
        if (miss <= 0)
            in.high = x;
        else
            in.low = x;
        if (in.high - in.low <= tolerance * in.high)
            return in;
        if (i > 0 && (miss - last) / (last_x - x) > 0 && x != last_x)
            slope = (miss - last) / (last_x - x);
        last_x = x;
        last = miss;
        x += miss / slope + (miss > 0 ? 0.4 : -0.4) * tolerance * x;
    }
    return crossing(w, delta, log_delta, in, tolerance);
}

sotto_status sotto_clone_eps_inflated(sotto_bound *out, const sotto_clone_law *law,
                                      const sotto_crowd *crowd, double log_delta,
                                      const sotto_clone_inflate *inflate, sotto_err *err)
{
    crowd_law w;
    double n;

    SOTTO_TRY(check_eps0(law->eps0, err));
    SOTTO_TRY(check_delta(log_delta, err));
    SOTTO_TRY(sotto_crowd_honest(&n, crowd, err));
    if (!(law->tells > 0 && law->tells <= 1 && law->clone > 0 && law->clone < 1))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "tells = %g, clone = %g: accepted are probabilities above 0", law->tells,
                          law->clone);
    w.law = law;
    w.inflate = *inflate;
    w.others = n - 1;
    w.count = sotto_cells_cover(w.cells, n - 1, law->clone, 1 - law->clone, 0);
    if (delta_high(&w, 0) <= exp(log_delta)) {
        *out = (sotto_bound){0, 0};
        return SOTTO_OK;
    }
    const sotto_bound all = {0, law->eps0};
    sotto_bound rough = crossing(&w, delta_rough, log_delta, all, 1e-4);
    double high = refine(&w, delta_high, log_delta, (rough.low + rough.high) / 2, 1e-10).high;
    double low = refine(&w, delta_low, log_delta, high * (1 - 1e-7), 1e-7).low;

    out->low = low * (1 - SOTTO_ROOT_PAD);
    out->high = fmin(law->eps0, sotto_round_up(high * (1 + SOTTO_ROOT_PAD), 1));
    return SOTTO_OK;
}

sotto_status sotto_clone_eps(sotto_bound *out, const sotto_clone_law *law, const sotto_crowd *crowd,
                             double log_delta, sotto_err *err)
{
    const sotto_clone_inflate as_proved = {1, 1, 1};

    return sotto_clone_eps_inflated(out, law, crowd, log_delta, &as_proved, err);
}

/* ---- closed forms ---------------------------------------------------------------------------------- */

static sotto_bound around(double x)
{
    return (sotto_bound){sotto_round_down(x, 16), sotto_round_up(x, 16)};
}

sotto_status sotto_clone_closed_2021(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                                     double log_delta, sotto_err *err)
{
    double n;

    SOTTO_TRY(check_eps0(eps0, err));
    SOTTO_TRY(check_delta(log_delta, err));
    SOTTO_TRY(sotto_crowd_honest(&n, crowd, err));
    double limit = log(n / (16 * (LOG_2 - log_delta)));

    if (!(eps0 <= sotto_round_down(limit, 8)))
        return sotto_fail(err, SOTTO_DENIED, "eps0 = %g: this closed form needs at most %g here",
                          eps0, limit);
    double e = exp(eps0);
    double inner = 8 * sqrt(e * (LOG_4 - log_delta) / n) + 8 * e / n;

    *out = around(log1p(tanh(eps0 / 2) * inner));
    return SOTTO_OK;
}

sotto_status sotto_clone_closed_2022_restricted_class(sotto_bound *out, double eps0,
                                                      const sotto_crowd *crowd, double log_delta,
                                                      sotto_err *err)
{
    double n;

    SOTTO_TRY(check_eps0(eps0, err));
    SOTTO_TRY(check_delta(log_delta, err));
    SOTTO_TRY(sotto_crowd_honest(&n, crowd, err));
    double ratio = n / (8 * (LOG_2 - log_delta)) - 1;

    if (!(exp(eps0) <= sotto_round_down(ratio, 16)))
        return sotto_fail(err, SOTTO_DENIED, "eps0 = %g: this closed form needs e^eps0 <= %g here",
                          eps0, ratio);
    double inner = 4 * sqrt(2 * (LOG_4 - log_delta) / ((exp(eps0) + 1) * n)) + 4 / n;

    *out = around(log1p(expm1(eps0) * inner));
    return SOTTO_OK;
}
