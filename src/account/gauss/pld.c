#include "account/gauss/pld.h"

#include "account/numeric/elementary.h"
#include "account/numeric/fft.h"
#include "base/alloc.h"

#include <float.h>

#define U              (DBL_EPSILON / 2)
#define MOST_CELLS     200000
#define MOST_UNCOUNTED 32768

/* Gauss-Legendre on [-1, 1]. */
static const double gauss2_x[] = {-0.57735026918962576451, 0.57735026918962576451};
static const double gauss2_w[] = {1, 1};
static const double gauss3_x[] = {-0.77459666924148337704, 0, 0.77459666924148337704};
static const double gauss3_w[] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
static const double gauss5_x[] = {-0.90617984593866399280, -0.53846931010568309104, 0,
                                  0.53846931010568309104, 0.90617984593866399280};
static const double gauss5_w[] = {0.23692688505618908751, 0.47862867049936646804, 128.0 / 225,
                                  0.47862867049936646804, 0.23692688505618908751};

/* d = log r - log(1-q) runs over (0, inf) in both directions: the loss is log(1-q) + d or its opposite.
 * Cells lie between the lattice points index[i] and index[i+1]. */
typedef struct cells {
    size_t count;
    size_t room;
    double *index; /* count + 1 */
    double *mass;  /* count + 1: at the points */
    double *moved; /* count: mass of each cell before it was shared */
    double *grown; /* count + 1: e^d - 1 at the points */
    double *x;     /* count + 1: of the points */
    double
        *width; /* count: e^w - 1, or 1 - e^-w, w the cell's width: what a share is a quotient by */
    double wrong; /* relative error of a mass, the largest */
    double split; /* of what a cell's points share, times the width of the cell */
    double zero;  /* index of about the loss 0: tilts count from there */
} cells;

typedef struct spot {
    double near; /* mass for the point with the smaller d */
    double far;
} spot;

/* How a cell of one width is shared. */
typedef struct cell_width {
    double width, up, fall; /* w, e^w - 1, 1 - e^-w */
} cell_width;

/* Points of the rule whose exponentials are taken together. */
#define GROUP 256

typedef struct group {
    const sotto_sgm_law *law;
    cells *to;
    double inverse, half_precision; /* 1/sigma, 1/(2 sigma^2) */
    size_t count;
    double x[GROUP], weight[GROUP];
    size_t cell[GROUP];
} group;

static void share(double mass, double far, cells *to, size_t cell)
{
    to->moved[cell] += mass;
    to->mass[cell] += mass * (1 - far);
    to->mass[cell + 1] += mass * far;
}

static void group_end(group *g)
{
    double q = g->law->q, odds = q / (1 - q), tilt[GROUP], density[GROUP];

    for (size_t i = 0; i < g->count; i++) {
        tilt[i] = (2 * g->x[i] - 1) * g->half_precision;
        density[i] = -g->x[i] * g->x[i] * g->half_precision;
    }
    sotto_exp_all(tilt, tilt, g->count);
    sotto_exp_all(density, density, g->count);
    for (size_t i = 0; i < g->count; i++) {
        double v = odds * tilt[i], v0 = g->to->grown[g->cell[i]];
        double mass = g->weight[i] * density[i];
        /* With rho = (v - v0)/(1 + v0): rho, or rho/(1 + rho), over what the cell is wide. */
        double far = (v - v0) / ((1 + (g->law->add ? v0 : v)) * g->to->width[g->cell[i]]);
        far = far > 0 ? far : 0;
        share(g->law->add ? mass : mass * ((1 - q) * (1 + v)), far < 1 ? far : 1, g->to,
              g->cell[i]);
    }
    g->count = 0;
}

/* What a rule may miss of a mass, in roundings. The integrand is a Gaussian round 0 or 1, whose m-th derivative is at most
 * (|z| + 2)^m/sigma^m of it, m <= 10. So n points miss turn^2n (n!)^4/((2n+1) (2n)!^3) of the largest value, which is at
 * most e^turn times the mean. That is 2.1 roundings with 2 points, 8.6 with 3 and 1.9 with 5. */
#define RULE_ROUNDINGS 9
#define TURN_2         0.001
#define TURN_3         0.035
#define TURN_5         0.45

/* Mass of [a, b], to be shared between the points of `cell`. */
static void group_add(group *g, double a, double b, size_t cell)
{
    double size = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    double turn = (b - a) * (g->inverse * (size * g->inverse + 2) + 4 * g->half_precision);
    size_t pieces = turn < TURN_5 ? 1 : (size_t)ceil(turn / TURN_5);
    size_t n = turn < TURN_2 ? 2 : turn < TURN_3 ? 3 : 5;
    const double *gx = n == 2 ? gauss2_x : n == 3 ? gauss3_x : gauss5_x;
    const double *gw = n == 2 ? gauss2_w : n == 3 ? gauss3_w : gauss5_w;
    double half = (b - a) / (2 * (double)pieces),
           scale = half * g->inverse * 0.39894228040143267794;

    for (size_t i = 0; i < pieces; i++) {
        double centre = a + half * (double)(2 * i + 1);
        if (g->count + n > GROUP)
            group_end(g);
        for (size_t k = 0; k < n; k++) {
            size_t at = g->count++;
            g->x[at] = centre + half * gx[k];
            g->weight[at] = gw[k] * scale;
            g->cell[at] = cell;
        }
    }
}

/* Cells are one lattice step wide, or further out a small part of how fast the loss moves there: over one
 * deviation of x it moves by (1 - e^-d)/sigma. */
static double next_index(double grain, double index, double spacing)
{
    if (grain * spacing > 0.5)
        return index + 1;
    /* A little below 1 - e^-d. */
    double d = index * spacing, grown = d + d * d / 2;
    double wide = floor(grown / ((1 + grown) * (grain * spacing)));

    return index + (wide > 1 ? wide : 1);
}

static double grain_of(const sotto_sgm_law *law)
{
    return 768 * fmin(fmax(1, law->sigma / 4), 32);
}

static spot share_cap(const sotto_sgm_law *law, double v0, const cell_width *w, double *error)
{
    double v = law->q / (1 - law->q) * exp(sotto_sgm_tilt(law, law->high));
    double rho = fmax((v - v0) / (1 + v0), 0);
    double mass = sotto_sgm_cap_weight(law, error) * (1 - law->q) * (1 + v);
    double far = fmin(rho / (1 + rho) / w->fall, 1);

    return (spot){mass * (1 - far), mass * far};
}

static double d_at(const sotto_sgm_law *law, double x)
{
    return sotto_sgm_log_ratio(law, x) - log1p(-law->q);
}

/* The last lattice point below all losses. */
static double first_index(const sotto_sgm_law *law, double spacing)
{
    return fmax(floor(d_at(law, law->low) / spacing) - 1, 0);
}

static size_t cells_needed(const sotto_sgm_law *law, double spacing)
{
    double index = first_index(law, spacing), most = d_at(law, law->high);
    double all = ceil(most / spacing) - index + 2;
    size_t count = 0;

    /* So few that it is not worth counting them. */
    if (all < MOST_UNCOUNTED)
        return all > 2 ? (size_t)all : 2;
    while (index * spacing < most && count <= MOST_CELLS) {
        index = next_index(grain_of(law), index, spacing);
        count++;
    }
    return count;
}

static void set_width(cell_width *w, double width)
{
    if (w->width != width)
        *w = (cell_width){width, expm1(width), -expm1(-width)};
}

/* The lattice points round all losses, and where in x they lie. */
static bool points_fill(cells *out, const sotto_sgm_law *law, double spacing)
{
    double most = d_at(law, law->high), grain = grain_of(law), index = first_index(law, spacing);
    double odds = log1p(-law->q) - log(law->q);
    size_t count = 0;

    out->index[0] = index;
    while (index * spacing < most) {
        if (count + 1 > out->room)
            return false;
        out->index[++count] = index = next_index(grain, index, spacing);
    }
    out->count = count;
    for (size_t i = 0; i <= count; i++) {
        out->x[i] = out->index[i] * spacing;
        out->mass[i] = out->moved[i] = 0;
    }
    sotto_expm1_all(out->grown, out->x, count + 1);
    /* Far out, log(e^d - 1) is d; at d = 0 it is -infinity. */
    for (size_t i = 0; i <= count; i++)
        out->x[i] = out->grown[i] > 0x1p-1000 ? out->grown[i] : 0x1p-1000;
    sotto_log_all(out->x, out->x, count + 1);
    for (size_t i = 0; i <= count; i++) {
        double d = out->index[i] * spacing, v = d < 30 ? out->x[i] : d;
        out->x[i] = d > 0 ? 0.5 + law->sigma * law->sigma * (odds + v) : -INFINITY;
    }
    return true;
}

static bool cells_fill(cells *out, const sotto_sgm_law *law, double spacing)
{
    double far = fmax(law->high, -law->low) / law->sigma, a = law->low;
    cell_width w = {0};
    group g;

    if (!points_fill(out, law, spacing))
        return false;
    g.law = law;
    g.to = out;
    g.inverse = 1 / law->sigma;
    g.half_precision = 1 / (2 * law->sigma * law->sigma);
    g.count = 0;
    for (size_t i = 0; i < out->count; i++) {
        double b = out->x[i + 1] < law->high ? out->x[i + 1] : law->high;
        set_width(&w, (out->index[i + 1] - out->index[i]) * spacing);
        out->width[i] = law->add ? w.up : w.fall;
        if (b > a) {
            group_add(&g, a, b, i);
            a = b;
        }
    }
    group_end(&g);
    double raised = far * far / 2 + fabs(sotto_sgm_tilt(law, law->high));
    out->wrong = U * (RULE_ROUNDINGS + 32 + 8 * raised);
    out->split = U * (RULE_ROUNDINGS + 32 + 8 * fabs(sotto_sgm_tilt(law, law->high)));
    if (law->capped && out->count > 0) {
        double error;
        size_t last = out->count - 1;
        spot m = share_cap(law, out->grown[last], &w, &error);
        out->moved[last] += m.near + m.far;
        out->mass[last] += m.near;
        out->mass[last + 1] += m.far;
        out->wrong += error;
    }
    return true;
}

/* What aliases are bounded with: log of the sum of the masses times exp(c (loss - origin)), from above, at
 * these parts of c/4. */
static const int alias_power[SOTTO_CONTOUR_ALIASES] = {5, 6, 7, 8, 10, 16, 32};

static void fill_aliases(sotto_pld *p, const sotto_sgm_law *law, const cells *m)
{
    double sum[SOTTO_CONTOUR_ALIASES] = {0}, top = -INFINITY;
    double scale = (law->add ? -1 : 1) * p->c * p->spacing / 4;

    for (size_t i = 0; i <= m->count; i++)
        if (m->mass[i] > 0)
            top = fmax(top, scale * (m->index[i] - m->zero));
    /* At most one, so that no power overflows; what vanishes is nothing beside the largest. */
    for (size_t i = 0; i <= m->count; i++)
        m->x[i] = scale * (m->index[i] - m->zero) - top;
    sotto_exp_all(m->x, m->x, m->count + 1);
    for (size_t i = 0; i <= m->count; i++) {
        double u = m->x[i], u2 = u * u, u4 = u2 * u2;
        double u8 = u4 * u4, u16 = u8 * u8, x = m->mass[i];
        sum[0] += x * (u4 * u);
        sum[1] += x * (u4 * u2);
        sum[2] += x * (u4 * u2 * u);
        sum[3] += x * u8;
        sum[4] += x * (u8 * u2);
        sum[5] += x * u16;
        sum[6] += x * (u16 * u16);
    }
    for (size_t i = 0; i < SOTTO_CONTOUR_ALIASES; i++) {
        p->alias_c[i] = p->c * alias_power[i] / 4;
        p->alias_log[i] = alias_power[i] * top + log(sum[i]) + 1e-11 + 1e-14 * fabs(top);
    }
}

static bool transform(sotto_pld *p, const sotto_sgm_law *law, const cells *m, double *data,
                      double *twiddle)
{
    double sum = 0, worn = 0, split = 0, sign = law->add ? -1 : 1;

    for (size_t i = 0; i <= m->count; i++)
        m->x[i] = sign * p->c * p->spacing * (m->index[i] - m->zero);
    sotto_exp_all(m->x, m->x, m->count + 1);
    for (size_t i = 0; i <= m->count; i++) {
        double at = m->index[i] - m->zero, tilt = sign * p->c * p->spacing * at;
        double x = m->mass[i] * m->x[i];
        data[(size_t)(at - floor(at / (double)p->size) * (double)p->size)] += x;
        sum += x;
        worn += x * fabs(tilt);
        /* A share that is wrong by e moves e x from one point to the next: e x (e^(c w) - 1) of the sum. */
        double wide = i > 0 ? (m->index[i] - m->index[i - 1]) * p->spacing : p->spacing;
        double grows = p->c * wide;
        split += x * (grows < 0.5 ? 1.3 * p->c : expm1(fmin(grows, 600)) / wide);
    }
    if (!(sum < 1e150))
        return false;
    int log2_size = ilogb((double)p->size);
    double bad = SOTTO_FFT_ERROR(log2_size) * sum + m->wrong * sum + 4 * U * worn + 32 * U * sum +
                 m->split * split;
    double *re = p->log_modulus, *im = p->phase;
    sotto_fft_real(data, p->size, re, im, twiddle);
    for (size_t k = 0; k < p->nodes; k++) {
        double modulus = sqrt(re[k] * re[k] + im[k] * im[k]);
        data[k] = modulus > bad ? modulus : bad;
        im[k] = law->add ? im[k] : -im[k];
        p->error[k] = 1.01 * bad / data[k];
    }
    sotto_angle_all(im, im, re, p->nodes);
    sotto_log_all(re, data, p->nodes);
    double most = -INFINITY;
    for (size_t k = p->nodes; k-- > 0;) {
        /* log(1 + error) is at most the error. */
        double here = re[k] + p->error[k];
        most = here > most ? here : most;
        p->most[k] = most + 4 * U * fabs(most);
    }
    return true;
}

static bool fill(sotto_pld *p, const sotto_sgm_law *law, cells *m, double *data, double *twiddle)
{
    for (size_t i = 0; i < p->size; i++)
        data[i] = 0;
    if (!cells_fill(m, law, p->spacing) || !transform(p, law, m, data, twiddle))
        return false;
    fill_aliases(p, law, m);
    return true;
}

static bool keep_cells(sotto_pld *p, const cells *m)
{
    p->cell_mass = sotto_alloc(2 * m->count * sizeof(double));
    if (!p->cell_mass)
        return false;
    p->cell_width = p->cell_mass + m->count;
    p->cell_room = m->count;
    for (size_t i = 0; i < m->count; i++) {
        double width = (m->index[i + 1] - m->index[i]) * p->spacing;
        size_t last = p->cells > 0 ? p->cells - 1 : 0;
        if (p->cells > 0 && p->cell_width[last] == width) {
            p->cell_mass[last] += m->moved[i];
        } else {
            p->cell_width[p->cells] = width;
            p->cell_mass[p->cells++] = m->moved[i];
        }
    }
    return true;
}

double sotto_pld_log_shift(const sotto_pld *p, double rate)
{
    double sum = 0;

    for (size_t i = 0; i < p->cells; i++)
        if (p->cell_mass[i] > 0)
            sum += p->cell_mass[i] *
                   exp((rate + rate * rate) * p->cell_width[i] * p->cell_width[i] / 8);
    return log(sum) + 1e-11;
}

sotto_pld *sotto_pld_new(const sotto_sgm_law *law, double c, double spacing, size_t size,
                         sotto_scratch *work)
{
    size_t needed = cells_needed(law, spacing);
    if (needed > MOST_CELLS)
        return NULL;
    size_t each = needed + 2;
    sotto_pld *p = sotto_alloc(sizeof *p);
    double *room = sotto_scratch_take(work, 6 * each + 2 * size);
    bool done = false;

    if (p && room) {
        cells m = {.room = needed,
                   .index = room,
                   .mass = room + each,
                   .moved = room + 2 * each,
                   .grown = room + 3 * each,
                   .x = room + 4 * each,
                   .width = room + 5 * each,
                   .zero = round(-log1p(-law->q) / spacing)};
        *p = (sotto_pld){.c = c, .spacing = spacing, .size = size};
        p->nodes = size / 2 + 1;
        double origin = log1p(-law->q) + m.zero * spacing;
        p->origin = law->add ? -origin : origin;
        p->origin_error = 4 * U * fabs(log1p(-law->q));
        p->log_modulus = sotto_alloc(4 * p->nodes * sizeof(double));
        if (p->log_modulus) {
            p->phase = p->log_modulus + p->nodes;
            p->error = p->phase + p->nodes;
            p->most = p->error + p->nodes;
            done = fill(p, law, &m, room + 6 * each, room + 6 * each + size) && keep_cells(p, &m);
        }
    }
    if (done)
        return p;
    sotto_pld_free(p);
    return NULL;
}

void sotto_pld_free(sotto_pld *p)
{
    if (!p)
        return;
    if (p->log_modulus)
        sotto_release(p->log_modulus, 4 * p->nodes * sizeof(double));
    if (p->cell_mass)
        sotto_release(p->cell_mass, 2 * p->cell_room * sizeof(double));
    sotto_release(p, sizeof *p);
}
