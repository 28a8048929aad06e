#include "account/local/onehot.h"

#include "account/local/binomial_cells.h"
#include "account/numeric/elementary.h"
#include "account/numeric/root.h"
#include "account/numeric/special.h"

/* Masses are kept times 2^400, so that products of two reach far below the smallest delta. */
#define SCALE 0x1p400

/* One outcome of one bit's sum: the privacy loss log X/Y and its probability under X, scaled. The
 * logarithm of that probability is for where doubles have no such numbers any more. */
typedef struct atom {
    double loss;
    double mass;
    double log_mass;
    double fall; /* e^-loss */
} atom;

/* The others' count N in a cell, and the bit itself, give two outcomes a cell: N + 1 and N. Neither side knows N
 * alone, but t: a cell of t collects P(t) = q b(t-1) + p b(t). */
typedef struct outcome {
    double first, last; /* values of t                         */
    sotto_bound others; /* mass of N over first..last          */
    double before;      /* P(N = first - 1)                    */
    double end;         /* P(N = last)                         */
    double log_high;    /* of P(N is first - 1 to last), where moments are asked for */
    sotto_bound loss;   /* at first and at last                */
    sotto_bound ratio;  /* e^loss there                        */
} outcome;

/* The two laws of t = N + (0 or 1), N ~ Bin(n-1, p): more likely one, P, and more likely zero, Q. */
typedef struct bit_law {
    double n, p, q;
    double eps0;
    double off;   /* relative error of a mass */
    bool moments; /* will be asked for: logarithms of masses are wanted, too */
    size_t count;
    outcome outcomes[SOTTO_BINOMIAL_CELLS_MAX + 1]; /* of the cells, and t = n */
} bit_law;

/* Atoms of X relative to Y, from the largest loss to the smallest. */
typedef struct loss_law {
    size_t count;
    atom atoms[2 * (SOTTO_BINOMIAL_CELLS_MAX + 1)];
} loss_law;

static sotto_status check_eps0(double eps0, sotto_err *err)
{
    if (!(eps0 >= 1e-6 && eps0 <= SOTTO_ONEHOT_MAX_EPS0))
        return sotto_fail(err, SOTTO_MALFORMED, "eps0 = %g: accepted is 1e-6 to %g", eps0,
                          SOTTO_ONEHOT_MAX_EPS0);
    return SOTTO_OK;
}

/* log P(t)/Q(t), 0 <= t <= n: rises with t from -eps0 to eps0. With r = P(N=t-1)/P(N=t) = t q / ((n-t) p)
 * it is log (q r + p)/(p r + q) = log((q^2 t + p^2 (n-t)) / (p q n)). That is linear in t inside the
 * logarithm: 1 + (q - p)(t - n p)/(p q n), the form that keeps its digits near 0. */
static double excess_at(const bit_law *law, double t)
{
    double p = law->p, q = law->q;

    return (q - p) * (t - law->n * p) / (p * q * law->n);
}

static void set_losses(outcome *o, const bit_law *law)
{
    sotto_bound x = {excess_at(law, o->first), excess_at(law, o->last)};

    o->loss.low = log1p(x.low);
    o->loss.high = o->last > o->first ? log1p(x.high) : o->loss.low;
    o->ratio = (sotto_bound){1 + x.low, 1 + x.high};
}

/* log_before: of P(N = first - 1). */
static outcome outcome_of(const bit_law *law, const sotto_binomial_cell *cell, double log_before)
{
    outcome o = {.first = cell->first, .last = cell->last, .others = cell->mass};

    o.before = exp(log_before);
    o.end = cell->first == cell->last ? cell->mass.low : exp(cell->log_last);
    if (law->moments)
        o.log_high = sotto_log_add(cell->log_high, log_before) + 1e-12;
    set_losses(&o, law);
    return o;
}

/* t = n: everybody else and the bit are ones. */
static outcome outcome_of_all(const bit_law *law)
{
    double log_before = sotto_binomial_log_pmf(law->n - 1, law->n - 1, law->p, law->q, NULL);
    outcome o = {.first = law->n, .last = law->n};

    o.before = exp(log_before);
    o.log_high = log_before + 1e-12;
    set_losses(&o, law);
    return o;
}

/* least: cells of less mass need not be weighed well; 0 where moments will be asked for. */
static sotto_status open_law(bit_law *law, double eps0, const sotto_crowd *crowd, double even,
                             double least, sotto_err *err)
{
    sotto_binomial_cell cells[SOTTO_BINOMIAL_CELLS_MAX];

    SOTTO_TRY(check_eps0(eps0, err));
    SOTTO_TRY(sotto_crowd_honest(&law->n, crowd, err));
    law->eps0 = eps0;
    law->off = 1e-13;
    law->moments = least == 0;
    law->p = 1 / (exp(eps0) + 1);
    law->q = 1 / (exp(-eps0) + 1);
    law->count = sotto_binomial_cells_cover(cells, law->n - 1, law->p, law->q, even, least);
    for (size_t i = 0; i < law->count; i++) /* the first cell begins at 0, and no N is below that */
        law->outcomes[i] = outcome_of(law, &cells[i], i > 0 ? cells[i - 1].log_last : -INFINITY);
    law->outcomes[law->count] = outcome_of_all(law);
    return SOTTO_OK;
}

static sotto_status check_question(sotto_onehot_adjacency adjacency, double log_delta,
                                   sotto_err *err)
{
    if (adjacency != SOTTO_ONEHOT_REPLACEMENT && adjacency != SOTTO_ONEHOT_DELETION)
        return sotto_fail(err, SOTTO_MALFORMED, "adjacency %d: accepted is replacement or deletion",
                          (int)adjacency);
    if (!(log_delta >= SOTTO_MIN_LOG_DELTA && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "delta = e^%g: accepted is e^%g to 1, 1 excluded",
                          log_delta, SOTTO_MIN_LOG_DELTA);
    return SOTTO_OK;
}

/* ---- atoms ------------------------------------------------------------------------------------------- */

/* Masses of the cell under P (heavy = q on b(t-1)) and under Q (heavy = p on b(t-1)), for N's mass m. */
static double weigh(const outcome *o, double m, double on_before, double on_here)
{
    double shifted = fmax(0, m + o->before - o->end);

    return on_before * shifted + on_here * m;
}

/* Splits a cell between its two extreme losses so that both masses are kept: everything finer is a
 * post-processing of that, hence an upper bound ("connect the dots"). The lower bound merges the cell. */
static void add_atoms(loss_law *to, const bit_law *law, const outcome *o, int sign, bool upper)
{
    double p = law->p, q = law->q;
    double xb = sign > 0 ? q : p, yb = sign > 0 ? p : q;
    double top = sign > 0 ? o->loss.high : -o->loss.low;
    double bottom = sign > 0 ? o->loss.low : -o->loss.high;
    /* e^-loss */
    double top_fall = sign > 0 ? 1 / o->ratio.high : o->ratio.low;
    double bottom_fall = sign > 0 ? 1 / o->ratio.low : o->ratio.high;
    double x_low = weigh(o, o->others.low, xb, yb), x_high = weigh(o, o->others.high, xb, yb);
    double y_low = weigh(o, o->others.low, yb, xb), y_high = weigh(o, o->others.high, yb, xb);

    if (upper) {
        double ratio = fmin(y_low / x_low, y_high / x_high); /* E_X of e^-loss */
        double share = 1, logarithm = o->log_high;

        if (law->moments && x_high > 1e-290)
            logarithm = log(x_high) + 1e-12;
        if (x_low > 0 && top > bottom)
            share = fmin(1, fmax(0, (bottom_fall - ratio) / (bottom_fall - top_fall) + law->off));
        to->atoms[to->count++] =
            (atom){top, x_high * share * SCALE * (1 + law->off), logarithm, top_fall};
        if (top > bottom)
            to->atoms[to->count++] = (atom){bottom, x_high * (1 - share) * SCALE * (1 + law->off),
                                            logarithm, bottom_fall};
    } else if (x_low > 0 && x_high > 0) {
        double loss = log(fmin(x_low / y_low, x_high / y_high)) - 1e-14;

        loss = fmin(top, fmax(bottom, loss));
        to->atoms[to->count++] =
            (atom){loss, x_low * SCALE * (1 - law->off), law->moments ? log(x_low) : 0, exp(-loss)};
    }
}

/* sign > 0: loss of P against Q; sign < 0: of Q against P. */
static void spread_law(loss_law *to, const bit_law *law, int sign, bool upper)
{
    to->count = 0;
    for (size_t i = 0; i <= law->count; i++) {
        size_t at = sign > 0 ? law->count - i : i;

        add_atoms(to, law, &law->outcomes[at], sign, upper);
    }
}

/* ---- hockey-stick divergence ------------------------------------------------------------------------ */

/* Atoms whose exponentials are taken together. */
#define GROUP 128

static double delta_one(const loss_law *x, double eps, double *slack)
{
    double sum = 0, grown[GROUP];

    *slack = 0;
    for (size_t from = 0, count = GROUP; from < x->count && count == GROUP; from += count) {
        const atom *at = x->atoms + from;

        for (count = 0; count < GROUP && from + count < x->count && at[count].loss > eps; count++)
            grown[count] = eps - at[count].loss;
        sotto_expm1_all(grown, grown, count);
        for (size_t i = 0; i < count; i++)
            sum -= at[i].mass * grown[i];
    }
    return sum / SCALE;
}

/* Two independent bits with the same loss law: for each atom of the first, prefix sums over the second, whose
 * threshold moves one way. Losses fall along the array but for ties of neighbouring cells. */
static double delta_two(const loss_law *x, double eps, double *slack)
{
    double mass = 0, other = 0, sum = 0, doubt = 0; /* prefix sums under X and Y */
    double rise = exp(eps);                         /* e^(eps - loss) is this times e^-loss */
    size_t j = 0;

    for (size_t i = x->count; i-- > 0;) {
        double rest = eps - x->atoms[i].loss;

        while (j < x->count && x->atoms[j].loss > rest) {
            mass += x->atoms[j].mass;
            other += x->atoms[j].mass * x->atoms[j].fall;
            j++;
        }
        double more = mass - rise * x->atoms[i].fall * other;

        sum += x->atoms[i].mass * (more > 0 ? more : 0);
        doubt += x->atoms[i].mass * mass;
    }
    /* A prefix sum of j terms is off by j u; so is the difference. */
    *slack = 4e-16 * sqrt((double)x->count) * 8 * doubt / SCALE / SCALE;
    return sum / SCALE / SCALE;
}

typedef struct divergence {
    const loss_law *law; /* of the direction that is looked at */
    sotto_onehot_adjacency adjacency;
    double side; /* +1 adds what rounding may hide, -1 takes it away */
    double inflate;
    double log_delta;
} divergence;

static double delta_at(const divergence *d, double eps)
{
    double (*of)(const loss_law *, double, double *) =
        d->adjacency == SOTTO_ONEHOT_REPLACEMENT ? delta_two : delta_one;
    double slack, delta = of(d->law, eps, &slack), side = d->side * d->inflate;

    return (delta + side * slack) * (1 + side * 1e-12);
}

static double miss(const void *self, double eps)
{
    const divergence *d = self;
    double delta = delta_at(d, eps);

    return delta > 0 ? fmax(log(delta) - d->log_delta, -60) : -60;
}

/* [low, high] with delta(high) <= delta < delta(low), between `near` and cap if that is where it is. */
static sotto_bound solve(const divergence *d, double near, double cap)
{
    double at_near = miss(d, near);

    if (at_near > 0)
        return sotto_root_narrow(miss, d, (sotto_bound){near, cap}, at_near, fmin(miss(d, cap), 0),
                                 4e-10);
    return near > 0 ? solve(d, 0, near) : (sotto_bound){0, 0};
}

/* The same between what one direction said and cap, for the other: it is mostly as good or very near. */
static sotto_bound solve_on(const divergence *d, sotto_bound first, double cap)
{
    double near = fmin(cap, first.high * (1 + 1e-5));

    if (!(miss(d, first.low) > 0))
        return first;
    return solve(d, first.low, miss(d, near) > 0 ? cap : near);
}

/* In a large batch the loss is all but normal, which tells where to look; nothing rests on it. The direction that is
 * worse there comes first and stays in d, the other is in `other` and looks at what is found. */
static double solve_upper(divergence *d, divergence *other, const bit_law *law, double cap)
{
    double bits = d->adjacency == SOTTO_ONEHOT_REPLACEMENT ? 2 : 1;
    double spread = (law->q - law->p) * sqrt(bits / (law->n * law->p * law->q));
    double guess = fmin(cap, spread * sqrt(-2 * d->log_delta) + spread * spread / 2);
    double here = miss(d, guess), there = miss(other, guess), high;

    if (there > here) {
        divergence worse = *other;

        *other = *d;
        *d = worse;
    }
    high = fmax(here, there) > 0 ? solve(d, guess, cap).high : solve(d, 0.7 * guess, guess).high;
    return high < cap ? solve_on(other, (sotto_bound){high, high}, cap).high : high;
}

sotto_status sotto_onehot_eps(sotto_bound *out, sotto_onehot_adjacency adjacency, double eps0,
                              const sotto_crowd *crowd, double log_delta, sotto_err *err)
{
    const sotto_onehot_inflate as_proved = {1, 1};

    return sotto_onehot_eps_inflated(out, adjacency, eps0, crowd, log_delta, &as_proved, err);
}

sotto_status sotto_onehot_eps_inflated(sotto_bound *out, sotto_onehot_adjacency adjacency,
                                       double eps0, const sotto_crowd *crowd, double log_delta,
                                       const sotto_onehot_inflate *inflate, sotto_err *err)
{
    bit_law law;
    loss_law there, back;
    divergence d = {&there, adjacency, 1, inflate->sums, log_delta};
    divergence other = {&back, adjacency, 1, inflate->sums, log_delta};

    SOTTO_TRY(check_question(adjacency, log_delta, err));
    double reach = sqrt(-2 * log_delta) * (adjacency == SOTTO_ONEHOT_REPLACEMENT ? 0.75 : 1) + 1;
    double cap = adjacency == SOTTO_ONEHOT_REPLACEMENT ? 2 * eps0 : eps0;

    SOTTO_TRY(open_law(&law, eps0, crowd, reach, fmax(1e-320, 1e-12 * exp(log_delta)), err));
    law.off *= inflate->masses;
    spread_law(&there, &law, 1, true);
    spread_law(&back, &law, -1, true);
    double high = solve_upper(&d, &other, &law, cap);

    out->high = high > 0 ? fmin(cap, sotto_round_up(high * (1 + SOTTO_ROOT_PAD), 1)) : 0;
    spread_law(&there, &law, 1, false);
    spread_law(&back, &law, -1, false);
    d.side = other.side = -1;
    /* No lower bound is above the upper one. */
    sotto_bound low = solve(&d, high * (1 - 1e-4), high);

    out->low = solve_on(&other, low, high).low * (1 - SOTTO_ROOT_PAD);
    return SOTTO_OK;
}

sotto_status sotto_onehot_eps_any_data(sotto_bound *out, sotto_onehot_adjacency adjacency,
                                       double eps0, const sotto_crowd *crowd, double log_delta,
                                       sotto_err *err)
{
    sotto_clone_law bit, report;
    double one, whole;

    SOTTO_TRY(check_question(adjacency, log_delta, err));
    SOTTO_TRY(check_eps0(eps0, err));
    SOTTO_TRY(sotto_clone_law_kary(&bit, eps0, 2, err));
    if (adjacency == SOTTO_ONEHOT_DELETION) {
        SOTTO_TRY(sotto_clone_eps_high(&one, &bit, crowd, log_delta, INFINITY, err));
        *out = (sotto_bound){0, one};
        return SOTTO_OK;
    }
    /* Rounded so that the report is told apart a little better than it is. */
    double p = sotto_round_down(1 / (exp(eps0) + 1), 4),
           q = sotto_round_up(1 / (exp(-eps0) + 1), 4);
    double half = fmax(SOTTO_MIN_LOG_DELTA, sotto_round_down(log_delta - log(2), 4));

    SOTTO_TRY(sotto_clone_law_onehot(&report, q, p, err));
    SOTTO_TRY(sotto_clone_eps_high(&one, &bit, crowd, half, INFINITY, err));
    double both = 2 * (half <= log_delta - log(2) ? one : eps0);

    SOTTO_TRY(sotto_clone_eps_high(&whole, &report, crowd, log_delta, both * (1 + 1e-3), err));
    *out = (sotto_bound){0, fmin(whole, both)};
    return SOTTO_OK;
}

/* ---- Renyi divergence ------------------------------------------------------------------------------- */

/* e^up - 1 - (alpha-1)(1 - e^-l), up = (alpha-1) l: >= 0. The series where the terms would cancel. */
static double excess(double alpha, double l, double up)
{
    if (fabs(up) + fabs(l) > 1e-4)
        return expm1(up) + (alpha - 1) * expm1(-l);
    return (alpha - 1) * l * l / 2 * (alpha + ((alpha - 1) * (alpha - 1) * l - l) / 3);
}

/* log E_X e^{(a-1) loss}, less what is zero in the mean (the masses of X and Y are both 1). So no digit is lost
 * where the divergence is small. Atoms of an upper law make it larger, of a lower law smaller. */
static double log_moment(const loss_law *x, double alpha)
{
    double most = -INFINITY, sum = 0;

    for (size_t i = 0; i < x->count; i++)
        most = fmax(most, x->atoms[i].log_mass + (alpha - 1) * x->atoms[i].loss);
    double shift = most > 600 ? most - 600 : 0;

    for (size_t i = 0; i < x->count; i++) {
        double l = x->atoms[i].loss, up = (alpha - 1) * l;

        if (shift > 0 || up > 60)
            sum += exp(x->atoms[i].log_mass + up - shift);
        else
            sum += x->atoms[i].mass / SCALE * excess(alpha, l, up);
    }
    return shift > 0 ? log(sum) + shift : log1p(sum);
}

typedef struct both_ways {
    loss_law there, back;
} both_ways;

static double rdp(const both_ways *w, double alpha)
{
    return fmax(log_moment(&w->there, alpha), log_moment(&w->back, alpha)) / (alpha - 1);
}

/* With few ones among the others, a high order moves the weight far out: single values all the way then. */
static double tilted_reach(double eps0, const sotto_crowd *crowd, double otherwise)
{
    return crowd->n_total / (exp(eps0) + 1) < 1600 ? 40 : otherwise;
}

static sotto_status check_alpha(double alpha, sotto_err *err)
{
    if (!(alpha >= 1 + 1e-6 && alpha <= 1e9))
        return sotto_fail(err, SOTTO_MALFORMED, "alpha = %g: accepted is 1.000001 to 1e9", alpha);
    return SOTTO_OK;
}

sotto_status sotto_onehot_rdp_bit(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                                  double alpha, sotto_err *err)
{
    bit_law law;
    both_ways w;

    SOTTO_TRY(check_alpha(alpha, err));
    SOTTO_TRY(open_law(&law, eps0, crowd, tilted_reach(eps0, crowd, 8), 0, err));
    spread_law(&w.there, &law, 1, true);
    spread_law(&w.back, &law, -1, true);
    out->high = fmin(eps0, rdp(&w, alpha) * (1 + 1e-9));
    spread_law(&w.there, &law, 1, false);
    spread_law(&w.back, &law, -1, false);
    out->low = fmax(0, rdp(&w, alpha) * (1 - 1e-9));
    return SOTTO_OK;
}

/* From Renyi to (eps, delta) at one order (Canonne et al. 2020, Proposition 12). */
static double convert(const both_ways *w, double bits, double alpha, double log_delta)
{
    return bits * rdp(w, alpha) + log1p(-1 / alpha) - (log_delta + log(alpha)) / (alpha - 1);
}

typedef struct order_search {
    const both_ways *w;
    double bits, log_delta;
} order_search;

static double convert_at(const void *self, double log_excess)
{
    const order_search *o = self;

    return convert(o->w, o->bits, 1 + exp(log_excess), o->log_delta);
}

sotto_status sotto_onehot_eps_by_rdp(sotto_bound *out, sotto_onehot_adjacency adjacency,
                                     double eps0, const sotto_crowd *crowd, double log_delta,
                                     sotto_err *err)
{
    bit_law law;
    both_ways w;
    double bits = adjacency == SOTTO_ONEHOT_REPLACEMENT ? 2 : 1;

    SOTTO_TRY(check_question(adjacency, log_delta, err));
    SOTTO_TRY(
        open_law(&law, eps0, crowd, tilted_reach(eps0, crowd, sqrt(-2 * log_delta) + 7), 0, err));
    spread_law(&w.there, &law, 1, true);
    spread_law(&w.back, &law, -1, true);

    /* Any order is valid, so a missed minimum costs tightness only. The search walks over log(alpha - 1), since the upper
     * law bends at orders that reach far into its tails, and then looks closer around the best. */
    order_search o = {&w, bits, log_delta};
    double best = INFINITY, at = 0, closer;

    for (double x = log(1e-3); x < log(1e7); x += 1) {
        double eps = convert_at(&o, x);

        if (eps < best) {
            best = eps;
            at = x;
        }
    }
    (void)sotto_root_least(convert_at, &o, at - 1, at + 1, 5e-3, &closer);
    best = fmin(best, closer);
    out->low = 0;
    out->high = fmin(bits * eps0, fmax(0, best) * (1 + 1e-9));
    return SOTTO_OK;
}
