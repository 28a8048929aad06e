#include "account/local/clone.h"

#include "account/local/binomial_cells.h"
#include "account/local/clone_pair.h"
#include "account/numeric/parameter.h"
#include "account/numeric/root.h"
#include "account/numeric/special.h"

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

/* ---- delta of the whole ---------------------------------------------------------------------------- */

#define LOTS_MAX 48

/* Many cells as one, for a rough answer. */
typedef struct lot {
    double c, mass;
} lot;

typedef struct crowd_law {
    const sotto_clone_law *law;
    sotto_clone_inflate inflate;
    double others; /* n_honest - 1 */
    double scrap;  /* masses below this are charged whole, or dropped from the lower side */
    size_t count;
    sotto_binomial_cell cells[SOTTO_BINOMIAL_CELLS_MAX];
    size_t lots;
    lot lot[LOTS_MAX];
} crowd_law;

/* delta falls with the number of clones (one more is a coin added to the counts), so the lower end of a cell
 * bounds it from above. */
static double delta_high(const crowd_law *w, double eps)
{
    sotto_pair_question q = sotto_pair_ask(w->law, eps);
    sotto_pair_walk walk = {.inflate = w->inflate.rounding};
    sotto_sum sum = {0, 0};

    for (size_t i = 0; i < w->count; i++) {
        const sotto_binomial_cell *cell = &w->cells[i];

        if (cell->mass.high < w->scrap) { /* a divergence is at most 1 */
            sotto_sum_add(&sum, cell->mass.high);
            continue;
        }
        double d = sotto_pair_delta(&q, &walk, cell->first).high;
        double mass =
            cell->mass.high + (w->inflate.stride - 1) * (cell->mass.high - cell->mass.low);

        sotto_sum_add(&sum, d * mass);
    }
    return sotto_sum_value(&sum) * (1 + 1e-13 * w->inflate.rounding) + 1e-317 * w->inflate.tail;
}

static double delta_low(const crowd_law *w, double eps)
{
    sotto_pair_question q = sotto_pair_ask(w->law, eps);
    sotto_pair_walk walk = {.inflate = w->inflate.rounding};
    sotto_sum sum = {0, 0};

    for (size_t i = 0; i < w->count; i++) {
        const sotto_binomial_cell *cell = &w->cells[i];

        if (cell->mass.low < w->scrap)
            continue;

        sotto_sum_add(&sum, sotto_pair_delta(&q, &walk, cell->last).low * cell->mass.low);
    }
    return sotto_sum_value(&sum) * (1 - 1e-13);
}

/* A few representatives for many cells, at the middle of each lot's mass: near enough to start from. */
static double delta_rough(const crowd_law *w, double eps)
{
    sotto_pair_question q = sotto_pair_ask(w->law, eps);
    double sum = 0;

    for (size_t i = 0; i < w->lots; i++)
        sum += w->lot[i].mass * sotto_pair_delta_rough(&q, w->lot[i].c);
    return sum;
}

static void cast_lots(crowd_law *w)
{
    w->lots = 0;
    for (size_t i = 0; i < w->count && w->lots < LOTS_MAX;) {
        size_t length = w->count / (LOTS_MAX / 2) + 1, end = i + length;
        double mass = 0, moment = 0;

        for (; i < end && i < w->count; i++) {
            const sotto_binomial_cell *cell = &w->cells[i];

            mass += cell->mass.low;
            moment += cell->mass.low * 0.5 * (cell->first + cell->last);
        }
        if (mass > w->scrap)
            w->lot[w->lots++] = (lot){floor(moment / mass), mass};
    }
}

typedef double (*delta_of)(const crowd_law *, double);

typedef struct aim {
    const crowd_law *law;
    delta_of delta;
    double goal, far;
} aim;

/* The square root of -log delta is close to linear in epsilon. */
static double miss(const void *self, double eps)
{
    const aim *a = self;
    double d = a->delta(a->law, eps);

    return d > 0 ? a->goal - sqrt(fmax(0, -log(d))) : -a->far;
}

/* At 0 and at the cap delta is above and below by definition. */
static sotto_bound crossing(const crowd_law *w, delta_of delta, double log_delta, sotto_bound in,
                            double tolerance)
{
    double goal = sqrt(-log_delta), far = 2 * goal + 30;
    aim a = {w, delta, goal, far};

    return sotto_root_narrow(miss, &a, in, goal, -far, tolerance);
}

/* Newton's steps from a guess to an epsilon that is within the tolerance of the root and certainly on one side of
 * it. On side +1 delta is at most its goal there, on side -1 at least. *slope is -d log delta / d eps, improved on
 * the way; a wrong one costs steps and nothing else. */
static double settle(const crowd_law *w, delta_of delta, double log_delta, double guess,
                     double *slope, int side, double tolerance)
{
    sotto_bound in = {0, w->law->eps0};
    double x = guess, last_x = 0, last = 0;

    for (int i = 0; i < 8 && x > in.low && x < in.high; i++) {
        double d = delta(w, x), miss = d > 0 ? log(d) - log_delta : -INFINITY;

        if (!isfinite(miss))
            break;
        *(miss <= 0 ? &in.high : &in.low) = x;
        if (side * miss <= 0 && fabs(miss) <= *slope * tolerance * x)
            return x;
        if (i > 0 && (miss - last) / (last_x - x) > 0)
            *slope = (miss - last) / (last_x - x);
        last_x = x;
        last = miss;
        x += miss / *slope + side * 0.4 * tolerance * x;
    }
    in = crossing(w, delta, log_delta, in, tolerance);
    return side > 0 ? in.high : in.low;
}

/* -d log delta / d eps near eps, from the rough law. */
static double slope_near(const crowd_law *w, double eps)
{
    double step = 1e-3 * eps, above = delta_rough(w, eps - step),
           under = delta_rough(w, eps + step);
    double slope = log(above / under) / (2 * step);

    return slope > 0 && isfinite(slope) ? slope : 1 / eps;
}

static sotto_status open_crowd(crowd_law *w, const sotto_clone_law *law, const sotto_crowd *crowd,
                               double log_delta, const sotto_clone_inflate *inflate, sotto_err *err)
{
    double n;

    SOTTO_TRY(check_eps0(law->eps0, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    SOTTO_TRY(sotto_crowd_honest(&n, crowd, err));
    if (!(law->tells > 0 && law->tells <= 1 && law->clone > 0 && law->clone < 1))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "tells = %g, clone = %g: accepted are probabilities above 0", law->tells,
                          law->clone);
    w->law = law;
    w->inflate = *inflate;
    w->others = n - 1;
    w->scrap = 1e-13 * exp(log_delta);
    w->count =
        sotto_binomial_cells_cover(w->cells, n - 1, law->clone, 1 - law->clone, 0, 1e4 * w->scrap);
    cast_lots(w);
    return SOTTO_OK;
}

/* The upper end, before it is padded, 0 where delta(0) is small enough; the law's own eps0 where a rough look says that it
 * is above `enough`. */
static double find_high(const crowd_law *w, double log_delta, double enough, double *slope)
{
    const sotto_bound all = {0, w->law->eps0};

    if (delta_rough(w, 0) < 1.1 * exp(log_delta) && delta_high(w, 0) <= exp(log_delta))
        return 0;
    sotto_bound rough = crossing(w, delta_rough, log_delta, all, 1e-4);
    double guess = (rough.low + rough.high) / 2;

    if (rough.low > enough)
        return w->law->eps0;
    *slope = slope_near(w, guess);
    return settle(w, delta_high, log_delta, guess, slope, 1, 1e-9);
}

static double pad_high(const crowd_law *w, double high)
{
    return high > 0 ? fmin(w->law->eps0, sotto_round_up(high * (1 + SOTTO_ROOT_PAD), 1)) : 0;
}

sotto_status sotto_clone_eps_inflated(sotto_bound *out, const sotto_clone_law *law,
                                      const sotto_crowd *crowd, double log_delta,
                                      const sotto_clone_inflate *inflate, sotto_err *err)
{
    crowd_law w;
    double slope = 0;

    SOTTO_TRY(open_crowd(&w, law, crowd, log_delta, inflate, err));
    double high = find_high(&w, log_delta, INFINITY, &slope);

    *out = (sotto_bound){0, pad_high(&w, high)};
    if (high > 0)
        out->low = settle(&w, delta_low, log_delta, high * (1 - 1e-9), &slope, -1, 2e-7) *
                   (1 - SOTTO_ROOT_PAD);
    return SOTTO_OK;
}

static const sotto_clone_inflate as_proved = {1, 1, 1};

sotto_status sotto_clone_eps_high(double *out, const sotto_clone_law *law, const sotto_crowd *crowd,
                                  double log_delta, double enough, sotto_err *err)
{
    crowd_law w;
    double slope = 0;

    SOTTO_TRY(open_crowd(&w, law, crowd, log_delta, &as_proved, err));
    *out = pad_high(&w, find_high(&w, log_delta, enough, &slope));
    return SOTTO_OK;
}

sotto_status sotto_clone_eps(sotto_bound *out, const sotto_clone_law *law, const sotto_crowd *crowd,
                             double log_delta, sotto_err *err)
{
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
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
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
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    SOTTO_TRY(sotto_crowd_honest(&n, crowd, err));
    double ratio = n / (8 * (LOG_2 - log_delta)) - 1;

    if (!(exp(eps0) <= sotto_round_down(ratio, 16)))
        return sotto_fail(err, SOTTO_DENIED, "eps0 = %g: this closed form needs e^eps0 <= %g here",
                          eps0, ratio);
    double inner = 4 * sqrt(2 * (LOG_4 - log_delta) / ((exp(eps0) + 1) * n)) + 4 / n;

    *out = around(log1p(expm1(eps0) * inner));
    return SOTTO_OK;
}
