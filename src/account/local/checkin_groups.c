#include "account/local/checkin_groups.h"

#include "account/local/laplace.h"
#include "account/numeric/gauss_legendre.h"

#include <complex.h>

#define PI      3.14159265358979323846
#define MOMENTS SOTTO_SLOT_MOMENTS
/* mu^2 of the extra release, relative to the sum of the eps_i^2: costs half of it in epsilon. */
#define EXTRA 1e-5
/* What a group may leave out of the exponent. */
#define ENOUGH 1e-12
/* Up to so many slots are summed one by one. */
#define FEW 128

/* ---- gathering ----------------------------------------------------------------------------------------- */

double sotto_slot_eps(const sotto_slots *s, double i)
{
    return log1p(s->rise / (s->end - i));
}

static double slot_slope(const sotto_slots *s, double i)
{
    double left = s->end - i;

    return s->rise / (left * (left + s->rise));
}

static void add_powers(double sums[MOMENTS + 1], double x, double weight)
{
    for (int k = 0; k <= MOMENTS; k++) {
        sums[k] += weight;
        weight *= x;
    }
}

/* Sums of (eps_i - centre)^k over many slots: the integral over [first - 1/2, last + 1/2], less a 24th of the
 * derivative's difference. Next comes a term of the order of count^-4, below 1e-8 of the moment. */
static void integrate_powers(double sums[MOMENTS + 1], const sotto_slots *s, double first,
                             double last, double centre)
{
    double from = first - 0.5, to = last + 0.5, half = (to - from) / 2, middle = from + half;
    double low = sotto_slot_eps(s, from) - centre, high = sotto_slot_eps(s, to) - centre;
    double low_power = slot_slope(s, from) / 24, high_power = slot_slope(s, to) / 24;

    for (int i = 0; i < SOTTO_GAUSS_HALF; i++) {
        double x = half * sotto_gauss_node[i], weight = half * sotto_gauss_weight[i];

        add_powers(sums, sotto_slot_eps(s, middle - x) - centre, weight);
        add_powers(sums, sotto_slot_eps(s, middle + x) - centre, weight);
    }
    for (int k = 1; k <= MOMENTS; k++) {
        sums[k] -= k * (high_power - low_power);
        low_power *= low;
        high_power *= high;
    }
}

/* From sums of powers around one centre to those around another, `by` further up. */
static void shift_powers(double sums[MOMENTS + 1], double by)
{
    for (int round = 0; round < MOMENTS; round++)
        for (int k = MOMENTS; k > round; k--)
            sums[k] -= by * sums[k - 1];
}

static void gather(sotto_slot_group *g, const sotto_slots *s, double first, double last)
{
    double centre = sotto_slot_eps(s, (first + last) / 2), sums[MOMENTS + 1] = {0};
    double count = last - first + 1;

    *g = (sotto_slot_group){.first = first, .last = last, .eps = centre};
    if (count == 1)
        return;
    if (count <= FEW)
        for (double i = first; i <= last; i++)
            add_powers(sums, sotto_slot_eps(s, i) - centre, 1);
    else
        integrate_powers(sums, s, first, last, centre);
    sums[0] = count;
    double by = sums[1] / count;

    shift_powers(sums, by);
    g->eps = centre + by;
    g->reach =
        fmax(sotto_slot_eps(s, last) - g->eps, g->eps - sotto_slot_eps(s, first)) * (1 + 1e-9);
    for (int k = 2; k <= MOMENTS; k++)
        g->moments[k] = sums[k];
}

/* Four parts of equal ratio: epsilon is about in proportion to 1/(end - i). */
static void divide(sotto_slots *s, size_t at)
{
    double first = s->groups[at].first, last = s->groups[at].last, count = last - first + 1;

    if (count <= 1 || s->count + 4 > SOTTO_SLOT_GROUPS)
        return;
    double from = s->end - first + 1, ratio = pow((s->end - last) / from, 0.25);

    s->groups[at].parts = s->count;
    for (int i = 0; i < 4; i++) {
        double left = last - first + 1, to = floor(s->end - from * ratio);

        from *= ratio;
        /* one slot at least for each part that follows; an empty part is marked by first > last */
        to = i == 3 ? last : fmin(fmax(to, first), last - (3 - i));
        if (left <= 0 || to < first)
            to = left <= 0 ? first - 1 : first;
        s->groups[s->count++] = (sotto_slot_group){.first = first, .last = to};
        first = to + 1;
    }
}

/* A group from its four parts: their moments around its own mean. */
static void combine(sotto_slot_group *g, const sotto_slot_group parts[4])
{
    double count = g->last - g->first + 1, mean = 0;

    for (int i = 0; i < 4; i++)
        mean += (parts[i].last - parts[i].first + 1) / count * parts[i].eps;
    g->eps = mean;
    for (int i = 0; i < 4; i++) {
        double sums[MOMENTS + 1] = {parts[i].last - parts[i].first + 1};

        if (sums[0] <= 0)
            continue;
        for (int k = 2; k <= MOMENTS; k++)
            sums[k] = parts[i].moments[k];
        shift_powers(sums, mean - parts[i].eps);
        for (int k = 2; k <= MOMENTS; k++)
            g->moments[k] += sums[k];
        g->reach = fmax(g->reach, (fabs(mean - parts[i].eps) + parts[i].reach) * (1 + 1e-12));
    }
}

void sotto_slots_open(sotto_slots *s, double eps0, double m, double p0)
{
    double e = exp(eps0);

    /* p0 q_i (e^eps0 - 1) with q_i = e^eps0 / (m e^eps0 - (e^eps0 - 1)(i - 1)) */
    s->rise = p0 * e;
    s->end = m * (e / expm1(eps0)) + 1;
    s->roots = s->count = 1;
    s->groups[0] = (sotto_slot_group){.first = 1, .last = m};
    s->squares = s->sum = 0;
    for (size_t i = 0; i < s->count; i++)
        divide(s, i);
    for (size_t i = s->count; i-- > 0;) { /* parts come after what they are parts of */
        sotto_slot_group *g = &s->groups[i];
        double count = g->last - g->first + 1;

        if (g->parts > 0) {
            combine(g, &s->groups[g->parts]);
        } else if (count > 0) {
            gather(g, s, g->first, g->last);
            s->squares += count * g->eps * g->eps + g->moments[2];
            s->sum += count * g->eps;
        }
    }
    s->sum *= 1 + 1e-11;
    s->extra = EXTRA * s->squares;
}

void sotto_slots_set(sotto_slots *s, const sotto_binary_part *parts, size_t kinds,
                     double mu_squared)
{
    s->roots = s->count = kinds;
    s->rise = 0;
    s->squares = s->sum = 0;
    for (size_t i = 0; i < kinds; i++) {
        s->groups[i] = (sotto_slot_group){
            .first = 1, .last = parts[i].count, .eps = parts[i].eps, .steps = parts[i].steps};
        s->squares += parts[i].count * parts[i].eps * parts[i].eps;
        s->sum += parts[i].count * parts[i].eps;
    }
    s->sum *= 1 + 1e-11;
    s->extra = fmax(mu_squared, EXTRA * s->squares);
}

/* ---- summing ------------------------------------------------------------------------------------------- */

/* Adds up the groups, each by its own sum or by its parts'. */
typedef struct walk {
    const sotto_slots *slots;
    double complex w; /* c + 1/2 + it, or 1/2 */
    sotto_slot_log sum;
    double re, im; /* product over single slots, not yet in the sum */
} walk;

/* The series of log cosh around a = eps w. Its terms after the k-th are at most those of a sum over the poles of
 * tanh, the nearest at a distance `near`. That is (3 + near) ratio^(k+1) / (k+1), with ratio = reach |w| / near.
 * Returns how many terms are enough, at most MOMENTS, and what they leave out. */
static int terms_for(const sotto_slot_group *g, double complex w, double *missing)
{
    double re = g->eps * creal(w), im = g->eps * cimag(w) / PI - 0.5;
    double up = PI * (im - rint(im)), near = sqrt(re * re + up * up);
    double ratio = g->reach * sqrt(creal(w) * creal(w) + cimag(w) * cimag(w)) / near;
    double power = (g->last - g->first + 1) * (3 + near) * ratio * ratio / (1 - ratio);
    int terms = 1;

    *missing = INFINITY;
    if (!(ratio < 0.9))
        return MOMENTS;
    do { /* power: of the first term left out */
        terms++;
        power *= ratio;
    } while (terms < MOMENTS && power > ENOUGH * (terms + 1));
    *missing = power / (terms + 1);
    return terms;
}

/* What the spread of a group adds to its mean: sum of tau_(k-1) w^k / k times the k-th moment, tau the Taylor
 * coefficients of tanh, from tanh' = 1 - tanh^2. */
static double complex spread_part(const sotto_slot_group *g, double complex w,
                                  double complex tanh_a, int terms)
{
    double re[MOMENTS], im[MOMENTS], sum_re = 0, sum_im = 0;
    double power_re = creal(w), power_im = cimag(w), w_re = power_re, w_im = power_im;

    re[0] = creal(tanh_a);
    im[0] = cimag(tanh_a);
    for (int k = 1; k < terms; k++) {
        double next_re = k == 1 ? 1 : 0, next_im = 0;

        /* The square of what is there so far: each product but the middle one twice. */
        for (int i = 0, j = k - 1; i < j; i++, j--) {
            next_re -= 2 * (re[i] * re[j] - im[i] * im[j]);
            next_im -= 2 * (re[i] * im[j] + im[i] * re[j]);
        }
        if (k % 2 == 1) {
            int i = k / 2;
            next_re -= (re[i] - im[i]) * (re[i] + im[i]);
            next_im -= 2 * re[i] * im[i];
        }
        re[k] = next_re / k;
        im[k] = next_im / k;
        double turned = power_re * w_re - power_im * w_im;

        power_im = power_re * w_im + power_im * w_re;
        power_re = turned;
        double scale = g->moments[k + 1] / (k + 1);

        sum_re += scale * (re[k] * power_re - im[k] * power_im);
        sum_im += scale * (re[k] * power_im + im[k] * power_re);
    }
    return sum_re + I * sum_im;
}

static double log_cosh(double x)
{
    x = fabs(x);
    return x < 0.02
               ? x * x * (0.5 - x * x * (1.0 / 12 - x * x * (1.0 / 45 - x * x * (17.0 / 2520))))
               : x + log1p(exp(-2 * x)) - 0.69314718055994530942;
}

/* Groups are met from the largest down; one that is exact enough ends its branch. */
static bool enough(const sotto_slot_group *g, double missing)
{
    return missing <= ENOUGH || g->parts == 0;
}

/* What to add for releases by Laplace noise, for one slot, and for a group of slots by the first terms of its series. */
typedef struct walk_ops {
    void (*laplace)(walk *k, const sotto_slot_group *g);
    void (*single)(walk *k, const sotto_slot_group *g);
    void (*many)(walk *k, const sotto_slot_group *g, double count, int terms);
} walk_ops;

static void add_group(walk *k, const walk_ops *add, size_t at)
{
    const sotto_slot_group *g = &k->slots->groups[at];
    double count = g->last - g->first + 1, missing;

    if (g->steps > 0) {
        add->laplace(k, g);
        return;
    }
    if (count <= 1) {
        if (count == 1)
            add->single(k, g);
        return;
    }
    int terms = terms_for(g, k->w, &missing);

    if (!enough(g, missing)) {
        for (size_t i = 0; i < 4; i++)
            add_group(k, add, g->parts + i);
        return;
    }
    k->sum.off += missing;
    add->many(k, g, count, terms);
}

/* Releases by Laplace noise, all alike. */
static void add_laplace_real(walk *k, const sotto_slot_group *g)
{
    double off = 0;

    k->sum.size += g->last * sotto_laplace_log_transform(g->eps, g->steps, creal(k->w), &off);
    k->sum.off += g->last * off;
}

static void add_laplace(walk *k, const sotto_slot_group *g)
{
    double size, angle, off;

    sotto_laplace_turn(&size, &angle, &off, g->eps, g->steps, creal(k->w), cimag(k->w));
    k->sum.size += g->last * size;
    k->sum.angle += g->last * angle;
    k->sum.off += g->last * off;
}

static void add_single_real(walk *k, const sotto_slot_group *g)
{
    k->sum.size += log_cosh(g->eps * creal(k->w));
}

static void add_many_real(walk *k, const sotto_slot_group *g, double count, int terms)
{
    double a = g->eps * creal(k->w);

    k->sum.size += count * log_cosh(a) + creal(spread_part(g, k->w, tanh(a), terms));
}

static const walk_ops real = {add_laplace_real, add_single_real, add_many_real};

double sotto_slots_log_moment(const sotto_slots *s, double c, double *off)
{
    walk at = {.slots = s, .w = c + 0.5}, none = {.slots = s, .w = 0.5};

    for (size_t i = 0; i < s->roots; i++) {
        add_group(&at, &real, i);
        add_group(&none, &real, i);
    }
    *off += at.sum.off + none.sum.off;
    return at.sum.size - none.sum.size + s->extra * c * (c + 1) / 2;
}

void sotto_slots_tilt(sotto_slots *s, double c)
{
    s->c = c;
    for (size_t i = 0; i < s->count; i++) {
        sotto_slot_group *g = &s->groups[i];
        double wide = cosh(fmin(g->eps * (c + 0.5), 300));

        g->lift = 1 / (wide * wide);
        g->least = g->lift;
        if (g->reach > 0) {
            wide = cosh(fmin((g->eps + g->reach) * (c + 0.5), 300));
            g->least = 1 / (wide * wide);
        }
        g->thin = tanh(g->eps * (c + 0.5));
        g->spread = g->reach > 0 ? creal(spread_part(g, c + 0.5, g->thin, MOMENTS)) : 0;
    }
}

static void fold(walk *k)
{
    k->sum.size += log(hypot(k->re, k->im));
    k->sum.angle += atan2(k->im, k->re);
    k->re = 1;
    k->im = 0;
}

/* cosh(a + ib) / cosh(a) = cos b + i tanh(a) sin b. A product is cheaper than its logarithms, and is folded into them
 * before it gets near the end of the doubles. */
static void add_single(walk *k, const sotto_slot_group *g)
{
    double b = g->eps * cimag(k->w), re = cos(b), im = g->thin * sin(b);
    double next = k->re * re - k->im * im;

    k->im = k->re * im + k->im * re;
    k->re = next;
    if (fabs(k->re) + fabs(k->im) < 1e-150)
        fold(k);
}

static void add_many(walk *k, const sotto_slot_group *g, double count, int terms)
{
    double b = g->eps * cimag(k->w), sine = sin(b), cosine = cos(b);

    /* |cosh(a + ib)|^2 / cosh(a)^2 = 1 - sin(b)^2 / cosh(a)^2 */
    k->sum.size += count * 0.5 * log1p(-sine * sine * g->lift);
    k->sum.angle += count * atan2(g->thin * sine, cosine);
    double complex tanh_a = (g->thin * cosine + I * sine) / (cosine + I * (g->thin * sine));
    double complex more = spread_part(g, k->w, tanh_a, terms);

    k->sum.size += creal(more) - g->spread;
    k->sum.angle += cimag(more);
}

static const walk_ops relative = {add_laplace, add_single, add_many};

sotto_slot_log sotto_slots_relative(const sotto_slots *s, double t)
{
    walk k = {.slots = s, .w = s->c + 0.5 + I * t, .re = 1};

    k.sum.size = -s->extra * t * t / 2;
    k.sum.angle = s->extra * t * (2 * s->c + 1) / 2;
    for (size_t i = 0; i < s->roots; i++)
        add_group(&k, &relative, i);
    fold(&k);
    return k.sum;
}

/* ---- damping -------------------------------------------------------------------------------------------- */

/* 1 - sin^2 / cosh^2, slot by slot; within a group the sine moves by reach t at most, and the last slot's cosh is the
 * largest. */
static double damping_of(const sotto_slots *s, size_t at, double t, double most, size_t *looked)
{
    const sotto_slot_group *g = &s->groups[at];
    double count = g->last - g->first + 1, blur = g->reach * t, sum = 0;

    if (count <= 0 || g->steps > 0) /* nothing is counted on Laplace noise to damp */
        return 0;
    ++*looked;
    if (blur > 0.25 * fmin(1, g->eps * t) && g->parts > 0) {
        for (size_t i = 0; i < 4 && sum <= most; i++)
            sum += damping_of(s, g->parts + i, t, most - sum, looked);
        return sum;
    }
    double sine = fmax(0, fabs(sin(g->eps * t)) - blur);

    return count * sine * sine * g->least;
}

double sotto_slots_damping(const sotto_slots *s, double t, double most, size_t *looked)
{
    double sum = 0;

    for (size_t i = 0; i < s->roots && sum <= most; i++)
        sum += damping_of(s, i, t, most - sum, looked);
    return sum * (1 - 1e-9);
}

double sotto_slots_damping_slope(const sotto_slots *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->count; i++) {
        const sotto_slot_group *g = &s->groups[i];
        double count = g->last - g->first + 1, narrow = fmax(0, g->eps - g->reach) * (s->c + 0.5);

        if (g->parts > 0 || count <= 0 || g->steps > 0)
            continue;
        double wide = cosh(fmin(narrow, 300));

        sum += count * (g->eps + g->reach) / (wide * wide);
    }
    return sum;
}
