#include "privacy/pld.h"

#include "base/alloc.h"
#include "privacy/elementary.h"
#include "privacy/fft.h"

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
    double wrong;  /* relative error of a mass, the largest */
    double split;  /* of what a cell's points share, times the width of the cell */
    double zero;   /* index of about the loss 0: tilts count from there */
} cells;

typedef struct spot {
    double near; /* mass for the point with the smaller d */
    double far;
} spot;

/* The lattice point at `index`: d there, e^d - 1, and x. */
typedef struct point {
    double index, d, grown, x;
} point;

static point point_at(const sotto_sgm_law *law, double index, double spacing)
{
    point p = {index, index * spacing, expm1(index * spacing), 0};
    double v = p.d < 30 ? log(p.grown) : p.d;

    p.x = 0.5 + law->sigma * law->sigma * (log1p(-law->q) - log(law->q) + v);
    return p;
}

/* How a cell of one width is shared. */
typedef struct cell_width {
    double width, up, fall; /* w, e^w - 1, 1 - e^-w */
} cell_width;

/* Mass of [a, b], shared between the cell's points; v0 is e^d - 1 at the first. */
static spot share(const sotto_sgm_law *law, double a, double b, double v0, const cell_width *w)
{
    spot out = {0, 0};
    double s = law->sigma, var = s * s, q = law->q;
    double bend = (fmax(fabs(a), fabs(b)) / s + 2) / s + 2 / var, turn = bend * (b - a);
    size_t pieces = turn < 0.7 ? 1 : (size_t)ceil(turn / 0.7);
    int n = turn < 0.002 ? 2 : turn < 0.06 ? 3 : 5;
    const double *gx = n == 2 ? gauss2_x : n == 3 ? gauss3_x : gauss5_x;
    const double *gw = n == 2 ? gauss2_w : n == 3 ? gauss3_w : gauss5_w;
    double half = (b - a) / (2 * (double)pieces), scale = half / (s * 2.50662827463100050242);
    double odds = q / (1 - q);

    for (size_t i = 0; i < pieces; i++) {
        double centre = a + half * (double)(2 * i + 1);
        for (int k = 0; k < n; k++) {
            double x = centre + half * gx[k];
            double v = odds * exp((2 * x - 1) / (2 * var));
            double rho = fmax((v - v0) / (1 + v0), 0);
            double mass = gw[k] * scale * exp(-x * x / (2 * var));
            double far;
            if (law->add) {
                far = fmin(rho / w->up, 1);
            } else {
                mass *= (1 - q) * (1 + v);
                far = fmin(rho / (1 + rho) / w->fall, 1);
            }
            out.far += mass * far;
            out.near += mass * (1 - far);
        }
    }
    return out;
}

/* Cells are one lattice step wide, or further out a small part of how fast the loss moves there: over one
 * deviation of x it moves by (1 - e^-d)/sigma. */
static double next_index(const sotto_sgm_law *law, const point *at, double spacing)
{
    double grain = 768 * fmin(fmax(1, law->sigma / 4), 32);
    double moves = at->grown < 1e300 ? at->grown / (1 + at->grown) : 1;
    double wide = floor(moves / (grain * spacing));

    return at->index + (wide > 1 ? wide : 1);
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
        point at = {index, index * spacing, expm1(index * spacing), 0};
        index = next_index(law, &at, spacing);
        count++;
    }
    return count;
}

static void set_width(cell_width *w, double width)
{
    if (w->width != width)
        *w = (cell_width){width, expm1(width), -expm1(-width)};
}

static bool cells_fill(cells *out, const sotto_sgm_law *law, double spacing)
{
    double most = d_at(law, law->high), far = law->high / law->sigma, a = law->low;
    point at = point_at(law, first_index(law, spacing), spacing);
    cell_width w = {0};
    double before = 0; /* e^d - 1 at the last cell's start */
    size_t i = 0;

    out->index[0] = at.index;
    out->mass[0] = 0;
    while (at.d < most) {
        if (i + 1 > out->room)
            return false;
        point to = point_at(law, next_index(law, &at, spacing), spacing);
        double b = fmin(to.x, law->high);
        set_width(&w, (to.index - at.index) * spacing);
        out->index[i + 1] = to.index;
        out->mass[i + 1] = out->moved[i] = 0;
        if (b > a) {
            spot m = share(law, a, b, at.grown, &w);
            out->moved[i] = m.near + m.far;
            out->mass[i] += m.near;
            out->mass[i + 1] += m.far;
            a = b;
        }
        before = at.grown;
        at = to;
        i++;
    }
    out->count = i;
    out->wrong = 16 * U + 4 * U * fmin(60, far * far / 2);
    out->split = U * (32 + 4 * fabs(sotto_sgm_tilt(law, law->high)));
    if (law->capped && i > 0) {
        double error;
        spot m = share_cap(law, before, &w, &error);
        out->moved[i - 1] += m.near + m.far;
        out->mass[i - 1] += m.near;
        out->mass[i] += m.far;
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
    for (size_t i = 0; i <= m->count; i++) {
        /* At most one, so that no power overflows; what vanishes is nothing beside the largest. */
        double u = exp(scale * (m->index[i] - m->zero) - top), u2 = u * u, u4 = u2 * u2;
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

    for (size_t i = 0; i <= m->count; i++) {
        double at = m->index[i] - m->zero, tilt = sign * p->c * p->spacing * at;
        double x = m->mass[i] * exp(tilt);
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
    return true;
}

static bool fill(sotto_pld *p, const sotto_sgm_law *law, cells *m)
{
    bool filled = false;
    double *data = sotto_alloc(p->size * sizeof(double));
    double *twiddle = sotto_alloc(p->size * sizeof(double));

    if (data && twiddle && cells_fill(m, law, p->spacing) && transform(p, law, m, data, twiddle)) {
        fill_aliases(p, law, m);
        filled = true;
    }
    sotto_release(data, p->size * sizeof(double));
    sotto_release(twiddle, p->size * sizeof(double));
    return filled;
}

static bool keep_cells(sotto_pld *p, const cells *m)
{
    p->cell_mass = sotto_alloc(2 * m->count * sizeof(double));
    if (!p->cell_mass)
        return false;
    p->cells = m->count;
    p->cell_width = p->cell_mass + m->count;
    for (size_t i = 0; i < m->count; i++) {
        p->cell_mass[i] = m->moved[i];
        p->cell_width[i] = (m->index[i + 1] - m->index[i]) * p->spacing;
    }
    return true;
}

double sotto_pld_log_shift(const sotto_pld *p, double rate)
{
    double sum = 0, last = -1, factor = 1;

    for (size_t i = 0; i < p->cells; i++) {
        if (p->cell_width[i] != last) {
            last = p->cell_width[i];
            factor = exp((rate + rate * rate) * last * last / 8);
        }
        if (p->cell_mass[i] > 0)
            sum += p->cell_mass[i] * factor;
    }
    return log(sum) + 1e-11;
}

sotto_pld *sotto_pld_new(const sotto_sgm_law *law, double c, double spacing, size_t size)
{
    size_t needed = cells_needed(law, spacing);
    if (needed > MOST_CELLS)
        return NULL;
    size_t bytes = 3 * (needed + 2) * sizeof(double);
    sotto_pld *p = sotto_alloc(sizeof *p);
    double *room = sotto_alloc(bytes);
    bool done = false;

    if (p && room) {
        cells m = {.room = needed,
                   .index = room,
                   .mass = room + needed + 2,
                   .moved = room + 2 * (needed + 2),
                   .zero = round(-log1p(-law->q) / spacing)};
        *p = (sotto_pld){.c = c, .spacing = spacing, .size = size};
        p->nodes = size / 2 + 1;
        double origin = log1p(-law->q) + m.zero * spacing;
        p->origin = law->add ? -origin : origin;
        p->origin_error = 4 * U * fabs(log1p(-law->q));
        p->log_modulus = sotto_alloc(3 * p->nodes * sizeof(double));
        if (p->log_modulus) {
            p->phase = p->log_modulus + p->nodes;
            p->error = p->phase + p->nodes;
            done = fill(p, law, &m) && keep_cells(p, &m);
        }
    }
    sotto_release(room, bytes);
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
        sotto_release(p->log_modulus, 3 * p->nodes * sizeof(double));
    if (p->cell_mass)
        sotto_release(p->cell_mass, 2 * p->cells * sizeof(double));
    sotto_release(p, sizeof *p);
}
