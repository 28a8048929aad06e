#include "account/gauss/sgm_transform.h"

#define FIRST_SIZE ((size_t)1 << 11)
/* Of two or three rounds, which need less. */
#define LEAST_SIZE ((size_t)1 << 10)
#define MOST_SIZE  ((size_t)1 << 17)
/* Where the rate is below 1e-4, which may take longer. */
#define MOST_SIZE_RARE  ((size_t)1 << 18)
#define MOST_SIZE_ROUGH ((size_t)1 << 13)
#define MOST_KEPT       ((size_t)1 << 17)

/* What the lattice adds to log delta: its transform against the true one, on the real axis. */
static double spread(const sotto_contour *line, const sotto_sgm_question *q,
                     const sotto_sgm_plan *p)
{
    return line->log_scale + p->c * line->origin - sotto_sgm_log_moment(q, p->j);
}

sotto_bound sotto_sgm_read(sotto_contour *line, sotto_sgm_question *q, const sotto_sgm_reader *r)
{
    if (!r->wants_eps)
        return sotto_contour_log_delta(line, r->given);
    sotto_bound out = {0, sotto_contour_high(line, r->given, r->start)};
    if (out.high > 0 && out.high < INFINITY) {
        sotto_sgm_reach(line, q, out.high);
        out.low = fmin(sotto_contour_low(line, r->given, out.high), out.high);
    }
    return out;
}

/* What shift_of says by Chernoff's bound at one rate. */
static double shift_at(const sotto_sgm_question *q, const sotto_sgm_plan *p, double spacing,
                       size_t size, double log_chance, double rate)
{
    double sum = -log_chance;

    for (size_t i = 0; i < q->count; i++) {
        const sotto_pld *l = sotto_sgm_side_lattice(sotto_sgm_side_of(q, i), p->j, spacing, size);
        if (!l)
            return INFINITY;
        sum += (double)q->parts[i].rounds * sotto_pld_log_shift(l, rate);
    }
    return sum / rate;
}

/* How far all rounds together may have been moved, but for a chance of exp(log_chance). */
static double shift_of(const sotto_sgm_question *q, const sotto_sgm_plan *p, double spacing,
                       size_t size, double log_chance)
{
    /* Near the best rate for moves of one spacing a round; coarser cells want smaller ones. */
    double rate = sqrt(-8 * log_chance / sotto_sgm_rounds(q)) / spacing, at = rate;
    double best = INFINITY;

    for (int k = 0; k < 12; k++, rate /= 2) {
        double shift = shift_at(q, p, spacing, size, log_chance, rate);
        at = shift < best ? rate : at;
        best = fmin(best, shift);
    }
    for (double ratio = 1.4142; ratio > 1.1; ratio = sqrt(ratio)) {
        double up = shift_at(q, p, spacing, size, log_chance, at * ratio);
        double down = shift_at(q, p, spacing, size, log_chance, at / ratio);
        if (fmin(up, down) < best)
            at = up < down ? at * ratio : at / ratio;
        best = fmin(best, fmin(up, down));
    }
    return best;
}

/* From below: delta(eps - S) >= delta of the lattice at eps, less the chance of a move beyond S. */
static double lattice_low(const sotto_contour *line, const sotto_sgm_question *q,
                          const sotto_sgm_plan *p, size_t size, const sotto_sgm_reader *r)
{
    double chance = (r->wants_eps ? r->given : p->log_delta) - 5;
    double shift = shift_of(q, p, line->lattice, size, chance);

    if (!(shift < 1e300))
        return r->wants_eps ? 0 : -INFINITY;
    if (r->wants_eps) {
        double wanted = log(exp(r->given) + exp(chance)) + 1e-12;
        return wanted < 0 ? sotto_contour_low(line, wanted, r->start) - shift : 0;
    }
    double low = exp(sotto_contour_log_delta(line, r->given + shift).low) - exp(chance);
    return low > 0 ? log(low) - 1e-12 : -INFINITY;
}

/* Whether what losses are moved by comes from cells that are wider than the lattice has to have them: a finer one has
 * the same. */
static bool is_coarse(const sotto_sgm_question *q, const sotto_sgm_plan *p, double spacing,
                      size_t size)
{
    for (size_t i = 0; i < q->count; i++) {
        const sotto_pld *l = sotto_sgm_side_lattice(sotto_sgm_side_of(q, i), p->j, spacing, size);
        double narrow = 0, all = 0;
        for (size_t k = 0; l && k < l->cells; k++) {
            double spread_of = l->cell_mass[k] * l->cell_width[k] * l->cell_width[k];
            narrow += l->cell_width[k] < 1.5 * spacing ? spread_of : 0;
            all += spread_of;
        }
        if (!l || narrow > 0.1 * all)
            return false;
    }
    return true;
}

/* The size at which the lattice would cost no more than `tolerance` of eps, judged from one of `size`. */
static size_t size_for(const sotto_contour *line, const sotto_sgm_question *q,
                       const sotto_sgm_plan *p, size_t size, double eps, double tolerance)
{
    if (is_coarse(q, p, line->lattice, size))
        return size;
    /* The slope of log delta turns what the lattice adds to it into a change of eps. */
    double at = eps, more = at + fmax(0.01 * at, 0.05 / p->c);
    double fall = sotto_contour_log_delta(line, at).high - sotto_contour_log_delta(line, more).high;
    double slope = fmax(fall / (more - at), p->c);
    double moved = spread(line, q, p) * (slope * (slope + 1)) / (p->c * (p->c + 1));
    /* Where delta(0) is hardly above delta, a part of eps is less than anybody wants. */
    double scale = fmax(at, 0.1 / slope);
    double finest = (double)size * sqrt(fabs(moved) / (tolerance * slope * scale));
    size_t wanted = size;
    size_t most = q->parts[0].mechanism->rate < 1e-4 ? MOST_SIZE_RARE : MOST_SIZE;
    most = q->rough ? MOST_SIZE_ROUGH : most;

    /* What is a little too coarse costs a little more than the tolerance, never twice it. */
    while (1.25 * (double)wanted < finest && wanted < most && wanted < 16 * size)
        wanted *= 2;
    return wanted;
}

/* One lattice: betters *out and says which size comes next, the same if this was the last. */
static size_t pass(sotto_bound *out, sotto_sgm_question *q, const sotto_sgm_plan *p,
                   sotto_sgm_reader *r, double period, size_t size, double tolerance)
{
    sotto_contour line;
    size_t next = size;

    if (sotto_sgm_build_lattice(&line, q, p, period / (double)size, size)) {
        double high = r->wants_eps ? sotto_contour_high(&line, r->given, r->start)
                                   : sotto_contour_log_delta(&line, r->given).high;
        /* A finer lattice that says no less has met its rounding: one still finer would, too. */
        bool last = high >= out->high || tolerance == 0;
        out->high = fmin(out->high, high);
        if (r->wants_eps && isfinite(high))
            r->start = high;
        bool is_zero = r->wants_eps && high == 0;
        if (!last && !is_zero)
            next = size_for(&line, q, p, size, r->start, tolerance);
        /* For `low` alone not as much is spent. */
        if (high <= q->enough && next > 2 * size)
            next = size;
        if (next == size && !is_zero && !q->rough) {
            if (r->wants_eps)
                sotto_sgm_reach(&line, q, high);
            out->low = lattice_low(&line, q, p, size, r);
        }
    }
    return next;
}

/* A first lattice tells how fine the next must be, unless the last question did. */
bool sotto_sgm_try_lattice(sotto_bound *out, sotto_sgm_question *q, const sotto_sgm_plan *p,
                           sotto_sgm_reader r, double tolerance)
{
    double period = sotto_sgm_lattice_period(p->period);
    size_t kept = sotto_sgm_side_of(q, 0)->lattice_size,
           size = sotto_sgm_rounds(q) < 4 ? LEAST_SIZE : FIRST_SIZE;

    size = kept > 0 ? kept : size;
    size_t best = size;
    *out = (sotto_bound){-INFINITY, INFINITY};
    for (int i = 0; i < 3; i++) {
        size_t next = pass(out, q, p, &r, period, size, i < 2 ? tolerance : 0);
        /* Too fine for its rounding: the next question need not go as far. */
        best = r.wants_eps && r.start > 1.003 * out->high ? best : size;
        if (next == size)
            break;
        size = next;
    }
    sotto_sgm_side_of(q, 0)->lattice_size = best < MOST_KEPT ? best : MOST_KEPT;
    return out->high < INFINITY;
}
