/* The m slots of theorem 3.2's proof, composed optimally.
 *
 * Slot i is a binary law with privacy loss +-eps_i, eps_i = log(1 + p0 q_i (e^eps0 - 1)); its transform is
 * E e^{sL} = cosh(eps_i (s + 1/2)) / cosh(eps_i / 2). delta is an integral of the product along a vertical line, and
 * the trapezoid rule overestimates it (its aliases are deltas, hence positive). One more release, a Gaussian one of
 * a vanishing mu, is given to the adversary. That can only add to delta, and makes the integrand fall fast enough
 * for the line to be cut with a bound. docs/decisions/0013 has the terms. */
#include "account/local/checkin.h"

#include "account/local/checkin_check.h"
#include "account/local/checkin_direct.h"
#include "account/local/checkin_groups.h"
#include "account/numeric/parameter.h"
#include "account/numeric/root.h"

#include <complex.h>

#define NODES_MAX 8192
#define LOOKS_MAX 40000
#define PI        3.14159265358979323846
/* Twice what is charged instead of evaluated, as a logarithm. */
#define ENOUGH 50.0
/* e^-ALIASES of delta may come from aliases, each way. */
#define ALIASES 17.0
/* Slots by themselves are not left out for so few nodes. */
#define NEAR 32
/* Nodes after which their groups are asked again whether one matters, at most. */
#define WAIT_MOST 64
/* Slots that are turned in the time a group takes. */
#define TURNS_A_LOOK 12
/* How many nodes are worth passing over at once. */
#define PASS 8
/* Nodes that a line may take where a node is cheap: the longer it is, the less is given to the adversary on top. */
#define NODES_CHEAP 2500
/* Slots, or kinds of parts, that make it cheap. */
#define SLOTS_CHEAP 256
#define KINDS_CHEAP 4
/* Nodes that share a turn's sines, see trapezoid. */
#define TURNS 16

/* A node of the line that matters: t = k step. */
typedef struct node {
    double k, re, im;
} node;

/* Chernoff's bound at another c, for aliases on one side. */
typedef struct other_c {
    double c, log_moment;
} other_c;

typedef struct composition {
    sotto_slots slots;
    double c, step, log_peak;
    double given; /* what of the extra release is not extra, but was there */
    size_t nodes;
    double size; /* sum of |value| */
    double off;  /* of the sum, from what groups leave out */
    double cut;  /* the neglected part, relative to the peak */
    other_c left, right;
    sotto_checkin_direct flat;
    int rest, wait; /* nodes until groups are asked again, and then, if they know nothing */
    sotto_checkin_inflate inflate;
    node line[NODES_MAX];
} composition;

/* ---- delta ---------------------------------------------------------------------------------------------- */

/* RDP's own epsilon at order c + 1. */
static double chernoff_eps(const composition *x, double c, double log_delta)
{
    double off = 0, moment = sotto_slots_log_moment(&x->slots, c, &off);

    return (moment + off - log_delta + c * log(c) - (c + 1) * log1p(c)) / c;
}

typedef struct goal {
    const composition *x;
    double log_delta;
    double (*at)(const composition *, double);
} goal;

static double chernoff_at(const void *self, double log_c)
{
    const goal *g = self;

    return chernoff_eps(g->x, exp(log_c), g->log_delta);
}

static double choose_line(const composition *x, double log_delta)
{
    double size = sqrt(x->slots.squares + x->slots.extra), least;
    goal g = {x, log_delta, NULL};

    return exp(sotto_root_least(chernoff_at, &g, log(0.2 / size), log(1e4 / size), 1e-2, &least));
}

static double log_moment_above(const composition *x, double c)
{
    double off = 0, moment = c > 0 ? sotto_slots_log_moment(&x->slots, c, &off) : 0;

    return moment + off;
}

/* The shortest period that leaves aliases below e^-ALIASES of delta, by the best of a few other c. The deltas at eps
 * - kP take a smaller c (0 says that they are at most 1), those at eps + kP a larger one. */
static double choose_period(composition *x, double eps, double log_delta)
{
    static const double smaller[] = {0, 0.3, 0.5, 0.65, 0.8, 0.9}, larger[] = {1.1, 1.25, 1.5, 2};
    double left = INFINITY, right = INFINITY;

    for (size_t i = 0; i < sizeof smaller / sizeof smaller[0]; i++) {
        double c = smaller[i] * x->c, moment = log_moment_above(x, c);
        double period = (moment - c * eps - log_delta + ALIASES) / (x->c - c);

        if (period < left) {
            left = period;
            x->left = (other_c){c, moment};
        }
    }
    for (size_t i = 0; i < sizeof larger / sizeof larger[0]; i++) {
        double c = larger[i] * x->c, moment = log_moment_above(x, c);
        double period = (moment - c * eps - log_delta + ALIASES) / (c - x->c);

        if (period < right) {
            right = period;
            x->right = (other_c){c, moment};
        }
    }
    return fmax(fmax(left, right), 1e-3 / x->c);
}

/* What the slots make of node k, relative to node 0; each by itself or in groups. */
static sotto_slot_log look_at(composition *x, double k)
{
    double t = k * x->step;

    if (x->flat.count == 0)
        return sotto_slots_relative(&x->slots, t);
    /* turning so far is cheaper than starting there */
    while (x->flat.at >= 0 && x->flat.at + 1 < k && x->flat.at + NEAR >= k)
        (void)sotto_checkin_direct_at(&x->flat, x->flat.at + 1);
    sotto_slot_log at = sotto_checkin_direct_at(&x->flat, k);

    at.size += -x->slots.extra * t * t / 2;
    at.angle += x->slots.extra * t * (2 * x->c + 1) / 2;
    return at;
}

static void keep(composition *x, double k, const sotto_slot_log *at)
{
    double complex s = x->c + I * (k * x->step);
    double complex v = exp(at->size) * (cos(at->angle) + I * sin(at->angle)) / (s * (s + 1));

    x->line[x->nodes++] = (node){k, creal(v), cimag(v)};
    x->size += cabs(v);
    x->off += cabs(v) * expm1(fmin(at->off, 700));
}

/* Whether node k is certainly small, by as much as the damping says; *at is what the slots make of it if that had to be found
 * out. */
static double damping_at(composition *x, double k, double most, sotto_slot_log *at)
{
    double t = k * x->step, damped = 0;
    bool flat = x->flat.count > 0;

    if (!flat || x->rest-- <= 0) {
        size_t looked = 0;

        damped = sotto_slots_damping(&x->slots, t, most, &looked);
        /* Known, and for less than turning all slots takes. */
        bool pays = damped > ENOUGH && looked * TURNS_A_LOOK < x->flat.count;

        x->rest = pays ? 0 : x->wait;
        x->wait = pays ? 1 : x->wait < WAIT_MOST ? 2 * x->wait : WAIT_MOST;
    }
    if (damped > ENOUGH)
        return damped;
    *at = look_at(x, k);
    /* never more than the size says */
    if (flat && at->size + x->slots.extra * t * t / 2 < -0.49 * ENOUGH)
        damped = sotto_checkin_direct_damping(&x->flat);
    return damped;
}

static bool is_cheap(const sotto_slots *s)
{
    return s->rise > 0 ? s->groups[0].last <= SLOTS_CHEAP : s->roots <= KINDS_CHEAP;
}

/* The less is given on top, the later the integrand falls. Bounds on moments that were taken with more of it still hold. */
static void give_less(composition *x)
{
    double last = NODES_CHEAP * x->step, enough = ENOUGH / (last * last);

    if (is_cheap(&x->slots) && enough < x->slots.extra)
        x->slots.extra = fmax(x->given, enough);
}

/* Where the integrand is certainly below e^-ENOUGH/2 of its peak, it is not evaluated but charged. Such nodes, and
 * all behind the last, come to no more than that times sum 1/t^2. False if the line takes too many nodes. */
static bool tabulate(composition *x, double eps, double log_delta)
{
    double slope = sotto_slots_damping_slope(&x->slots), k = 0, off = 0;
    double most = ENOUGH;

    x->step = 2 * PI / choose_period(x, eps, log_delta);
    give_less(x);
    double last = sqrt(ENOUGH / x->slots.extra);
    x->log_peak = sotto_slots_log_moment(&x->slots, x->c, &off);
    x->nodes = 0;
    x->size = x->off = 0;
    x->rest = 0;
    x->wait = 1;
    x->cut = exp(-ENOUGH / 2) * 1.65 / (x->step * x->step);
    if (slope * x->step < ENOUGH)
        most += PASS * slope * x->step;
    sotto_checkin_direct_open(&x->flat, &x->slots, x->step);
    for (int looks = 0; k * x->step <= last; looks++, k++) {
        sotto_slot_log at = {0, 0, 0};
        if (looks == LOOKS_MAX || x->nodes == NODES_MAX)
            return false;
        double damped = damping_at(x, k, most, &at);

        if (damped > ENOUGH) {
            double to = k + (damped - ENOUGH) / slope / x->step;

            k = fmax(k, floor(to * (1 - 1e-12)) - 1);
            continue;
        }
        keep(x, k, &at);
    }
    x->log_peak += off;
    x->off += x->size * 2 * off;
    return true;
}

/* The trapezoid sum at eps, and what rounding, the moments of groups and the cut may hide; both relative to the peak. */
static double trapezoid(const composition *x, double eps, double *doubt)
{
    double angle = x->step * eps, scale = x->step / PI, cosine = cos(angle), sine = sin(angle);
    double sum = x->line[0].re / 2, re = 1, im = 0;
    int turns = 0;

    for (size_t i = 1; i < x->nodes; i++) {
        const node *at = &x->line[i];

        if (at->k == x->line[i - 1].k + 1 && ++turns < TURNS) {
            double next = re * cosine - im * sine;

            im = re * sine + im * cosine;
            re = next;
        } else {
            re = cos(at->k * angle);
            im = sin(at->k * angle);
            turns = 0;
        }
        sum += at->re * re + at->im * im;
    }
    *doubt = scale * (x->size * (1e-11 * x->inflate.rounding + 1e-8 * x->inflate.moments) +
                      x->off * x->inflate.moments + x->cut * x->inflate.cut);
    return scale * sum;
}

static double log_delta_high(const composition *x, double eps)
{
    double doubt, sum = trapezoid(x, eps, &doubt);

    return log(fmax(0, sum) + doubt) + x->log_peak - x->c * eps;
}

/* One side's aliases, relative to the peak at eps; all of them from the first's. */
static double aliases(const composition *x, const other_c *other, double eps)
{
    double fall = fabs(x->c - other->c) * 2 * PI / x->step;
    double first = other->log_moment - x->log_peak + (x->c - other->c) * eps - fall;

    return exp(first) / -expm1(-fall);
}

/* Less the aliases. */
static double log_delta_low(const composition *x, double eps)
{
    double doubt, sum = trapezoid(x, eps, &doubt);
    double rest = sum - doubt - aliases(x, &x->left, eps) - aliases(x, &x->right, eps);

    return rest > 0 ? log(rest) + x->log_peak - x->c * eps : -INFINITY;
}

static double miss(const void *self, double eps)
{
    const goal *g = self;

    return g->at(g->x, eps) - g->log_delta;
}

/* delta falls from `from`, where it must be above the goal (else 0, 0 comes back), to `most`. */
static sotto_bound solve(const composition *x, double (*at)(const composition *, double),
                         double log_delta, double from, double most)
{
    goal g = {x, log_delta, at};
    double at_low = miss(&g, from);

    if (!(at_low > 0))
        return (sotto_bound){0, 0};
    return sotto_root_narrow(miss, &g, (sotto_bound){from, most}, at_low, miss(&g, most), 1e-11);
}

static void enclose(sotto_bound *out, composition *x, double log_delta)
{
    x->c = choose_line(x, log_delta);
    sotto_slots_tilt(&x->slots, x->c);
    double chernoff = chernoff_eps(x, x->c, log_delta), most = fmax(0, chernoff) * (1 + 1e-9);

    if (chernoff < -1e-12) { /* then delta(0) is small enough */
        *out = (sotto_bound){0, 0};
        return;
    }

    /* A few slots all but alike, at a large delta: Renyi's own epsilon still holds. */
    if (!tabulate(x, most, log_delta)) {
        *out = (sotto_bound){0, sotto_round_up(most, 1)};
        return;
    }
    double high = solve(x, log_delta_high, log_delta, 0, most).high;

    out->high = high > 0 ? sotto_round_up(high * (1 + SOTTO_ROOT_PAD), 1) : 0;
    /* Without the extra release: delta(eps) >= delta'(eps + g) - delta_extra(g), by basic composition. */
    double mu = sqrt(fmax(0, x->slots.extra - x->given)),
           g = mu * (sqrt(2 * (5 - log_delta)) + mu / 2);
    double low = solve(x, log_delta_low, log_delta + (mu > 0 ? 0.01 : 0), 0.9 * high, most).low - g;

    out->low = fmax(0, fmin(low, out->high) * (1 - SOTTO_ROOT_PAD));
}

static const sotto_checkin_inflate as_proved = {1, 1, 1};

sotto_status sotto_checkin_fixed_window_optimal(sotto_bound *out, double eps0, double m, double p0,
                                                double log_delta, sotto_err *err)
{
    return sotto_checkin_fixed_window_optimal_inflated(out, eps0, m, p0, log_delta, &as_proved,
                                                       err);
}

sotto_status sotto_checkin_fixed_window_optimal_inflated(sotto_bound *out, double eps0, double m,
                                                         double p0, double log_delta,
                                                         const sotto_checkin_inflate *inflate,
                                                         sotto_err *err)
{
    composition x;

    x.inflate = *inflate;
    SOTTO_TRY(sotto_checkin_check_eps0(eps0, err));
    SOTTO_TRY(sotto_checkin_check_count("m", m, err));
    SOTTO_TRY(sotto_checkin_check_rate("p0", p0, err));
    SOTTO_TRY(sotto_checkin_check_log("delta", log_delta, err));
    sotto_slots_open(&x.slots, eps0, m, p0);
    x.given = 0;
    enclose(out, &x, log_delta);
    out->high = fmin(out->high, x.slots.sum);
    return SOTTO_OK;
}

sotto_status sotto_compose_mixed_epsilon(sotto_bound *out, const sotto_binary_part *parts,
                                         size_t kinds, double mu_squared, double log_delta,
                                         sotto_err *err)
{
    composition x;

    SOTTO_TRY(sotto_check_count("kinds of parts", (double)kinds, 1, SOTTO_MIXED_MOST, err));
    SOTTO_TRY(sotto_check_range("mu squared", mu_squared, 0, 1e12, err));
    SOTTO_TRY(sotto_checkin_check_log("delta", log_delta, err));
    for (size_t i = 0; i < kinds; i++) {
        SOTTO_TRY(sotto_check_range("epsilon", parts[i].eps, 1e-9, 100, err));
        SOTTO_TRY(
            sotto_check_count("count", parts[i].count, 1, parts[i].steps > 0 ? 1e9 : 1e12, err));
    }
    x.inflate = as_proved;
    sotto_slots_set(&x.slots, parts, kinds, mu_squared);
    x.given = mu_squared;
    enclose(out, &x, log_delta);
    if (mu_squared == 0)
        out->high = fmin(out->high, x.slots.sum);
    return SOTTO_OK;
}
