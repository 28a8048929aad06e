#include "account/gauss/allocation_convolution.h"

#include "account/gauss/allocation_approximation.h"
#include "account/numeric/gauss_legendre.h"
#include "account/numeric/root.h"
#include "account/numeric/special.h"

#define POINTS 800
/* So many for six additions; more of them on fewer points each take as long, and lose a little more. */
#define POINTS_USUAL 480.0
#define POINTS_LEAST 320.0
#define USUAL_REACH  9.7
/* So many where a sum only steers. */
#define POINTS_ROUGH 240
/* Enough to see that a person added costs much less than one removed. */
#define POINTS_CHERNOFF 128
/* A formula that says so much more than is known already is believed. */
#define SURELY 1e-3
/* Of x, around what is asked about, on either side: beyond it points lie further and further apart. */
#define FINE_LEAST 0.3
#define FINE_MOST  3.0
/* e^-MARGIN of the answer may be lost at either end of a law. */
#define MARGIN 14.0
/* Panels of the quadrature are no wider: sixteen points are exact to 1e-17 there. */
#define PANEL     0.5
#define STRETCHES 8
/* Relative error of a mass: of one lognormal's, and what adding two laws brings (2 POINTS^2 roundings). */
#define ROUNDING (4e-14 + 2.5 * POINTS * POINTS * SOTTO_UNIT_ROUNDOFF)

typedef struct law {
    double slots;
    size_t count; /* of points */
    double at[POINTS], mass[POINTS];
    size_t first;  /* below it there is no mass                                              */
    double lost;   /* E of what was left out: no (S - K)+ is larger by more                  */
    double astray; /* probability of what was left out or moved up: (1 - S/K)+ is at most one */
} law;

/* ---- one lognormal ------------------------------------------------------------------------------------ */

/* Mass of Y = e^(a w - a^2/2) for w between from and to, split between the points left and right. */
static void split(double a, double from, double to, double left, double right, double *at_left,
                  double *at_right)
{
    double pieces = ceil((to - from) / PANEL), half = (to - from) / (2 * pieces);

    for (double i = 0; i < pieces; i++) {
        double mid = from + (2 * i + 1) * half;

        for (int k = 0; k < 2 * SOTTO_GAUSS_HALF; k++) {
            double w = mid + (k % 2 == 0 ? half : -half) * sotto_gauss_node[k / 2];
            double mass = half * sotto_gauss_weight[k / 2] * exp(-w * w / 2 - SOTTO_LOG_SQRT_2PI);
            double y = exp(a * w - a * a / 2);
            double share = fmin(fmax((y - left) / (right - left), 0), 1);

            *at_right += mass * share;
            *at_left += mass * (1 - share);
        }
    }
}

static double place_of(double a, double y, double under, double over)
{
    return y > 0 ? fmin(fmax(log(y) / a + a / 2, -under), over) : -under;
}

/* The law of Y between -under and over. What lies below goes to the first point, what lies above is lost. */
static void lognormal(law *out, double a, double under, double over)
{
    for (size_t i = 0; i < out->count; i++)
        out->mass[i] = 0;
    double from = place_of(a, out->at[0], under, over);
    double below = exp(sotto_log_tail(-from)) * (1 + 1e-9);

    for (size_t i = 0; i + 1 < out->count; i++) {
        double to = place_of(a, out->at[i + 1], under, over);

        if (to > from)
            split(a, from, to, out->at[i], out->at[i + 1], &out->mass[i], &out->mass[i + 1]);
        from = fmax(from, to);
    }
    out->mass[0] += below;
    out->first = 0;
    out->lost = exp(sotto_log_tail(from - a)) * (1 + 1e-9);
    out->astray = below + exp(sotto_log_tail(from)) * (1 + 1e-9);
}

/* ---- sums --------------------------------------------------------------------------------------------- */

typedef struct shape {
    double a, reach; /* standard deviations of w that count */
    double top;      /* of one Y */
    double slots;
    size_t points;
    double tiny;  /* what a point of a sum may lose, for each of the slots: a part of delta */
    double far;   /* about how far above its mean the sum is asked about */
    double fine;  /* of x, around there */
    double plain; /* from 0 to 1: how much the sum is like a normal one there */
} shape;

/* Points lie as close as the sum is narrow around its mean, and apart by a part of themselves far out: at
 * +-flat (e^|x| - 1) from it. What a cell's mass loses by being split counts where the answer is made: of one large term and
 * others at their mean. That is as far above the mean as is asked about, for any number of slots. So the x are centre + fine
 * sinh u, u in even steps; evenly around the mean where the sum is like a normal one. */
typedef struct layout {
    double flat, below, centre;
    double first, step; /* of u */
} layout;

static layout layout_of(const shape *s, double slots)
{
    double variance = expm1(s->a * s->a), bulk = fmin(sqrt(slots * variance), slots);
    double flat = (1 + 7 * exp(-s->a * s->a)) * bulk;
    double below = fmin(slots, 14 * bulk), above = s->top + (s->reach + 3) * bulk;
    double centre = (1 - s->plain) * log1p(s->far / flat);
    double first = asinh((-log1p(below / flat) - centre) / s->fine);
    double last = asinh((log1p(above / flat) - centre) / s->fine);

    return (layout){flat, below, centre, first, (last - first) / (double)(s->points - 1)};
}

static void lay_grid(law *out, const shape *s, double slots)
{
    layout lie = layout_of(s, slots);

    out->slots = slots;
    out->count = s->points;
    for (size_t i = 0; i < out->count; i++) {
        double x = lie.centre + s->fine * sinh(lie.first + lie.step * (double)i);

        out->at[i] = slots + copysign(lie.flat * expm1(fabs(x)), x);
    }
    out->at[0] = slots - lie.below;
}

/* A law's tails, from each point on. */
typedef struct tails {
    double mass[POINTS + 1], mean[POINTS + 1];
} tails;

/* Where a row may end: what is lost beyond that is certainly little. A law of n slots is needed t/n times. */
static size_t stop_at(const law *first, size_t i, const tails *rest, const shape *s, double slots)
{
    size_t low = 0, high = s->points;

    while (low < high) {
        size_t mid = (low + high) / 2;
        double astray = first->mass[i] * rest->mass[mid];
        double lost = first->at[i] * astray + first->mass[i] * rest->mean[mid];

        if (lost <= s->tiny * slots && astray <= s->tiny * slots / s->slots)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* A sum under way. The cells of one row are the next row's, or a little above: no search, and nothing to guess wrong. */
typedef struct addition {
    law *out;
    const law *first, *second;
    double closeness[POINTS]; /* one over the width of a cell of out */
    size_t cell[POINTS]; /* by the second's point: not above where its sum with the first's falls */
    double left[POINTS], right[POINTS]; /* what a cell gives to its ends */
} addition;

static void add_pair(addition *w, double here, double mass, size_t j)
{
    law *out = w->out;
    double sum = here + w->second->at[j], weight = mass * w->second->mass[j];
    size_t cell = w->cell[j];

    cell += sum >= out->at[cell + 1];
    cell += sum >= out->at[cell + 1];
    while (sum >= out->at[cell + 1])
        cell++;
    w->cell[j] = cell;
    double share = weight * ((sum - out->at[cell]) * w->closeness[cell]);

    w->left[cell] += weight - share;
    w->right[cell] += share;
}

/* Adds the first law's point i to the second's points from `from` to `stop`. Several stretches at once, since neighbours
 * would have to wait for each other's cell. */
static void add_row(addition *w, size_t i, size_t from, size_t stop, double times)
{
    law *out = w->out;
    const law *second = w->second;
    double here = w->first->at[i], mass = times * w->first->mass[i];
    double top = out->at[out->count - 1];

    for (; from < stop && here + second->at[from] < out->at[0];
         from++) { /* moved up to the first */
        out->mass[0] += mass * second->mass[from];
        out->astray += mass * second->mass[from];
    }
    for (; from < stop && here + second->at[stop - 1] >= top; stop--) {
        out->lost += mass * second->mass[stop - 1] * (here + second->at[stop - 1]);
        out->astray += mass * second->mass[stop - 1];
    }
    size_t part = (stop - from) / STRETCHES;

    for (size_t j = from; j < from + part; j++)
        for (size_t k = 0; k < STRETCHES; k++)
            add_pair(w, here, mass, j + k * part);
    for (size_t j = from + STRETCHES * part; j < stop; j++)
        add_pair(w, here, mass, j);
}

/* Where the first row's sums fall. */
static void start_cells(addition *w, size_t first)
{
    const law *out = w->out;
    size_t cell = 0;

    for (size_t j = 0; j < out->count; j++) {
        while (cell + 2 < out->count && w->first->at[first] + w->second->at[j] >= out->at[cell + 1])
            cell++;
        w->cell[j] = cell;
    }
}

/* Masses that nothing depends on, at the lower end, would cost time and end among the subnormals: moved up. */
static void lift_dust(law *out, const shape *s)
{
    double limit = 1e-3 * s->tiny * out->slots / s->slots;

    for (out->first = 0; out->first + 1 < out->count && out->mass[out->first] < limit;
         out->first++) {
        out->mass[out->first + 1] += out->mass[out->first];
        out->mass[out->first] = 0;
    }
    out->astray += limit;
}

static void add_laws(law *out, const shape *s, const law *first, const law *second)
{
    tails rest = {{0}, {0}};
    addition w = {.out = out, .first = first, .second = second};

    lay_grid(out, s, first->slots + second->slots);
    for (size_t j = out->count; j-- > 0;) {
        if (j + 1 < out->count)
            w.closeness[j] = 1 / (out->at[j + 1] - out->at[j]);
        rest.mass[j] = rest.mass[j + 1] + second->mass[j];
        rest.mean[j] = rest.mean[j + 1] + second->mass[j] * second->at[j];
        out->mass[j] = 0;
    }
    out->lost = first->lost + second->lost;
    out->astray = first->astray + second->astray;
    start_cells(&w, first->first);
    for (size_t i = first->first; i < out->count; i++) {
        bool same = first == second; /* by halves: each pair counts twice, lost or not */
        size_t from = same ? i : second->first, stop = stop_at(first, i, &rest, s, out->slots);

        stop = stop > from ? stop : from;
        if (same && stop > i)
            add_row(&w, i, i, i + 1, 1);
        if (stop > from)
            add_row(&w, i, same ? i + 1 : from, stop, same ? 2 : 1);
        double mass = (same ? 2 : 1) * first->mass[i];

        out->lost += mass * (first->at[i] * rest.mass[stop] + rest.mean[stop]);
        out->astray += mass * rest.mass[stop];
    }
    for (size_t i = 0; i < out->count; i++)
        out->mass[i] += w.left[i] + (i > 0 ? w.right[i - 1] : 0);
    lift_dust(out, s);
}

/* The mean over fewer slots is larger in the convex order, so t may be rounded down. It keeps twelve binary digits, or more
 * while no more than six are ones, since each one is an addition. Where one large term decides, epsilon rises by what log t
 * falls by: with eight digits that was up to 4e-3, and 4e-4 of an answer. */
static double fewer_slots(double t)
{
    double bit = exp2(floor(log2(t))), fewer = 0, ones = 0, least = bit / 2048;

    for (; bit >= 1 && (bit >= least || ones < 6); bit /= 2)
        if (t - fewer >= bit) {
            fewer += bit;
            ones++;
        }
    return fewer;
}

static double additions(double t)
{
    double count = 0;

    for (double bit = exp2(floor(log2(t))); (bit /= 2) >= 1;)
        count += 1 + fmod(floor(t / bit), 2);
    return count;
}

/* All slots' sum, in out; spare is scratch. */
static void add_slots(law *out, law *spare, const shape *s, double t)
{
    law one = {0};
    double bit = exp2(floor(log2(t)));

    lay_grid(&one, s, 1);
    lognormal(&one, s->a, s->reach, s->a + s->reach);
    lift_dust(&one, s);
    *out = one;
    while ((bit /= 2) >= 1) {
        add_laws(spare, s, out, out);
        if (fmod(floor(t / bit), 2) == 1)
            add_laws(out, s, spare, &one);
        else
            *out = *spare;
    }
}

/* ---- removing a person -------------------------------------------------------------------------------- */

/* One direction's question about the sum. */
typedef struct aim {
    const law *sum;
    double log_delta, left_out, worn;
} aim;

/* A log of a sum against its goal. */
static double over_goal(double sum, const aim *q)
{
    return sum > 0 ? fmax(-700, log(sum) + q->worn - q->log_delta) : -700;
}

static double removal_miss(const void *self, double eps)
{
    const aim *q = self;
    const law *s = q->sum;
    double from = s->slots * exp(eps) * (1 - 1e-12), sum = q->left_out;

    for (size_t i = s->count; i-- > 0 && s->at[i] > from;)
        sum += s->mass[i] * (s->at[i] - from);
    return over_goal(sum / s->slots, q);
}

/* e^eps E (K - S)+ / t is E (1 - S/K)+, K = t e^-eps. */
static double addition_miss(const void *self, double eps)
{
    const aim *q = self;
    const law *s = q->sum;
    double to = s->slots * exp(-eps) * (1 + 1e-12), sum = q->left_out;

    for (size_t i = s->first; i < s->count && s->at[i] < to; i++)
        sum += s->mass[i] * (1 - s->at[i] / to);
    return over_goal(sum, q);
}

/* Where a falling reading is certainly no more than 0, at most cap. */
static double smallest(sotto_reading miss, const void *self, double cap, double width)
{
    double at_zero = miss(self, 0);

    if (at_zero <= 0)
        return 0;
    if (miss(self, cap) > 0)
        return cap;
    sotto_bound in = sotto_root_narrow(miss, self, (sotto_bound){0, cap}, at_zero, -1, width);
    return fmin(cap, in.high * (1 + SOTTO_ROOT_PAD));
}

/* From below, with others at their mean (Jensen): E (S - K)+ >= E (Y - K + t - 1)+. Or each alone, since no term is
 * negative: (S - K)+ >= the sum of (Y - K)+. */
typedef struct jump {
    double a, t, log_delta;
    bool each;
} jump;

static double jump_miss(const void *self, double eps)
{
    const jump *q = self;
    double k = q->each ? q->t * exp(eps) : q->t * expm1(eps) + 1;
    double d = q->a / 2 - log(k) / q->a, over = exp(sotto_log_tail(-d));
    double value = over * (1 - 1e-12) - k * exp(sotto_log_tail(q->a - d));

    return value > 0 ? fmax(-700, log(q->each ? value : value / q->t) - q->log_delta) : -700;
}

static double largest_jump(double a, double t, double log_delta, double high)
{
    double best = 0;

    for (int each = 0; each < 2; each++) {
        jump q = {a, t, log_delta, each == 1};
        double at_zero = jump_miss(&q, 0);

        if (at_zero > 0)
            best = fmax(
                best,
                sotto_root_narrow(jump_miss, &q, (sotto_bound){0, high}, at_zero, -1, 1e-10).low);
    }
    return fmin(best * (1 - SOTTO_ROOT_PAD), high);
}

/* ---- adding a person ---------------------------------------------------------------------------------- */

typedef struct chernoff {
    law one; /* even in w */
    double t, log_delta;
    double beyond, worn;
    double eps; /* at which c is sought */
} chernoff;

/* log of the bound at c = e^x: delta = e^eps E (K - S)+ / t, and (K - S)+ <= e^(c (K - S)) / (e c). */
static double chernoff_at(const void *self, double x)
{
    const chernoff *q = self;
    double c = exp(x), sum = q->beyond;

    for (size_t i = 0; i < q->one.count; i++)
        sum += q->one.mass[i] * exp(-c * q->one.at[i]);
    return q->eps - log(q->t) + q->t * (c * exp(-q->eps) * (1 + 1e-12) + log(sum)) - x - 1 +
           q->worn;
}

static double chernoff_miss(const void *self, double eps)
{
    chernoff q = *(const chernoff *)self;
    double least;

    q.eps = eps;
    (void)sotto_root_least(chernoff_at, &q, -12, 12 + eps, 0.02, &least);
    return fmax(-700, least - q.log_delta);
}

static void open_chernoff(chernoff *q, size_t points, double a, double t, double log_delta,
                          const sotto_allocation_inflate *inflate)
{
    double reach = sqrt(2 * (MARGIN - log_delta));

    *q = (chernoff){.one = {.count = points}, .t = t, .log_delta = log_delta};
    for (size_t i = 1; i < points; i++)
        q->one.at[i] = exp(a * reach * (2 * (double)i / (double)(points - 1) - 1) - a * a / 2);
    lognormal(&q->one, a, reach, reach);
    q->beyond = 2 * exp(sotto_log_tail(reach)) * (1 + 1e-9) * inflate->cut;
    q->worn = t * 1e-12 * inflate->rounding + 1e-9;
}

bool sotto_convolution_adds_less(double a, double t, double log_delta, double eps,
                                 const sotto_allocation_inflate *inflate)
{
    chernoff q;

    open_chernoff(&q, POINTS_CHERNOFF, a, t, log_delta, inflate);
    return chernoff_miss(&q, eps) <= 0;
}

/* ---- without adding ------------------------------------------------------------------------------------ */

/* What is asked of the sum, without a grid or as if on one. */
typedef struct outline {
    const shape *s; /* NULL: without */
    double a, t, log_delta;
} outline;

/* What splitting adds to the variance of a term that lies `far` above its mean: h^2/6 of a cell's width h, for the term
 * itself and at every addition. Cells are that wide where the layout's centre is. */
static double split_variance(const shape *s, double far)
{
    layout lie = layout_of(s, 1);
    double h = s->fine * lie.step * (far + lie.flat), sum = h * h, slots = 1;

    for (double bit = exp2(floor(log2(s->slots))); (bit /= 2) >= 1;) {
        bool odd = fmod(floor(s->slots / bit), 2) == 1;

        slots *= 2;
        for (int again = odd ? 2 : 1; again > 0; again--) {
            lie = layout_of(s, slots);
            h = s->fine * lie.step * (far + lie.flat);
            sum += h * h;
            slots += again == 2 ? 1 : 0;
        }
    }
    return sum / 6;
}

static double outline_miss(const void *self, double eps)
{
    const outline *q = self;
    double split = q->s != NULL ? split_variance(q->s, q->t * expm1(eps)) : 0;

    return fmax(-700, log(fmax(0, sotto_allocation_approximate_delta(q->a, q->t, eps, split))) -
                          q->log_delta);
}

/* ---- both --------------------------------------------------------------------------------------------- */

/* How much a sum is like a normal one where it is asked about: 1, or down to 0 where that is far out. All of it counts then, and
 * adding a person costs nearly as much. */
static double plainness(double a, double slots, double far)
{
    double variance = expm1(a * a), bulk = fmin(sqrt(slots * variance), slots);
    double x = log1p(far / ((1 + 7 * exp(-a * a)) * bulk)) / 1.2;

    return exp(-x * x);
}

/* far: about how far above its mean the sum is asked about. The further a law reaches, the more points it takes; for a
 * large delta all of it counts. */
static shape shape_of(double a, double slots, double log_delta, double far)
{
    double reach = sqrt(2 * (MARGIN - log_delta)), steps = additions(slots);
    double plain = plainness(a, slots, far), all = fmax(plain, exp(log_delta / 2));
    double points = (POINTS_USUAL + (POINTS - POINTS_USUAL) * all) * sqrt(6 / steps);

    points = fmin(POINTS, fmax(POINTS_LEAST, points) * fmax(1, reach / USUAL_REACH));
    return (shape){a,
                   reach,
                   exp(a * (a + reach) - a * a / 2),
                   slots,
                   (size_t)points,
                   exp(log_delta - MARGIN) / (points * (1 + steps)),
                   far,
                   FINE_LEAST + (FINE_MOST - FINE_LEAST) * all,
                   plain};
}

static shape removal_shape(double a, double slots, double log_delta, double cap)
{
    outline q = {NULL, a, slots, log_delta};

    return shape_of(a, slots, log_delta, slots * expm1(smallest(outline_miss, &q, cap, 1e-10)));
}

static double by_sum(const shape *s, double *add, double log_delta, double cap,
                     const sotto_allocation_inflate *inflate)
{
    law sum = {0}, spare = {0};

    add_slots(&sum, &spare, s, s->slots);
    aim q = {&sum, log_delta, sum.lost * inflate->cut, s->slots * ROUNDING * inflate->rounding};
    double remove = smallest(removal_miss, &q, cap, 1e-10);

    q.left_out = sum.astray * inflate->cut;
    *add = smallest(addition_miss, &q, cap, 1e-10);
    return remove;
}

/* Whether one large term decides, so that a formula says what the grid would. */
static bool by_formula(const shape *s)
{
    return s->plain < 0.1;
}

static double rough(const shape *s, double log_delta, double cap)
{
    outline q = {s, s->a, s->slots, log_delta};

    return smallest(outline_miss, &q, cap, 1e-10);
}

double sotto_convolution_rough(double a, double t, double log_delta, double cap)
{
    const sotto_allocation_inflate as_proved = {1, 1, 1};
    shape s = removal_shape(a, fewer_slots(t), log_delta, cap);
    double add;

    if (by_formula(&s))
        return rough(&s, log_delta, cap);
    s.points = POINTS_ROUGH;
    return by_sum(&s, &add, log_delta, cap, &as_proved);
}

void sotto_convolution_remove(sotto_bound *remove, double *add, double a, double t,
                              double log_delta, double cap, const sotto_allocation_inflate *inflate)
{
    shape s = removal_shape(a, fewer_slots(t), log_delta, cap);

    remove->high = *add = cap;
    if (!by_formula(&s) || rough(&s, log_delta, 2 * cap) < cap * (1 + SURELY))
        remove->high = by_sum(&s, add, log_delta, cap, inflate);
    remove->low = largest_jump(a, t, log_delta, remove->high);
}

double sotto_convolution_add(double a, double t, double log_delta, double cap,
                             const sotto_allocation_inflate *inflate)
{
    shape s = shape_of(a, fewer_slots(t), log_delta, 0);
    chernoff other;
    double high;

    (void)by_sum(&s, &high, log_delta, cap, inflate);
    /* Sums far below their mean are where the grid is coarse. */
    open_chernoff(&other, POINTS, a, t, log_delta, inflate);
    return chernoff_miss(&other, high) < 0 ? smallest(chernoff_miss, &other, high, 1e-4) : high;
}
