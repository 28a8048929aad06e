#include "privacy/sgm_route.h"

#include "base/alloc.h"
#include "privacy/sgm_single.h"

#include <float.h>

#define U  (DBL_EPSILON / 2)
#define PI 3.14159265358979323846
/* Cut, aliases and truncation are kept below exp(-DIGITS) of delta, or, where that costs too much, below
 * exp(-FEWER_DIGITS): that moves eps by some 1e-6 of itself. */
#define DIGITS       19.0
#define FEWER_DIGITS 11.5
#define LEAST_DIGITS 8.5
/* Sines that a line of nodes may cost before the lattice is cheaper. */
#define MOST_SINES      2e6
#define MOST_SINES_RARE 2.5e7 /* where the rate is below 1e-4 */
#define MOST_SIZE       ((size_t)1 << 18)

static const char by_single[] = "closed form of one round";
static const char by_gaussian[] = "Gaussian without sampling";
static const char by_contour[] = "contour inversion";
static const char by_lattice[] = "tilted lattice of losses";
static const char by_renyi[] = "Renyi divergence at the best order";

static sotto_sgm_side *side_of(const sotto_sgm_question *q, size_t i)
{
    return sotto_sgm_side_at(q->parts[i].mechanism, q->add, q->level);
}

static double rounds_of(const sotto_sgm_question *q)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++)
        sum += (double)q->parts[i].rounds;
    return sum;
}

/* What the cuts of all rounds may add to delta. */
static double lost_of(const sotto_sgm_question *q)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++)
        sum += (double)q->parts[i].rounds * side_of(q, i)->law.lost;
    return sum * (1 + 4 * U);
}

static void choose_cut(sotto_sgm_question *q, double log_delta)
{
    q->level = (int)floor((log_delta - log(rounds_of(q)) - q->digits) / 6);
}

static double log_moment(const sotto_sgm_question *q, int j)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++)
        sum += (double)q->parts[i].rounds * sotto_sgm_side_cumulant(side_of(q, i), j);
    return sum * (1 + 4 * U);
}

/* ---- where on the real axis -------------------------------------------------------------------- */

/* Upper bound on eps from the Chernoff bound at one point. */
static double renyi_epsilon(const sotto_sgm_question *q, int j, double log_delta)
{
    double c = sotto_sgm_c(j);
    double rest = log_delta + log1p(-lost_of(q) / exp(log_delta));
    double eps = (log_moment(q, j) + sotto_contour_chernoff(c) - rest) / c;

    return isnan(eps) ? INFINITY : eps;
}

static double renyi_log_delta(const sotto_sgm_question *q, int j, double eps)
{
    double c = sotto_sgm_c(j);
    double value = log_moment(q, j) + sotto_contour_chernoff(c) - c * eps;

    return isnan(value) ? INFINITY : value;
}

typedef double (*objective)(const sotto_sgm_question *q, int j, double given);

/* Both objectives have one valley. */
static int lowest(const sotto_sgm_question *q, objective f, double given, int start)
{
    int j = start;
    double best = f(q, j, given);

    for (int pace = 8; pace >= 1; pace /= 2) {
        for (int sign = -1; sign <= 1; sign += 2) {
            for (;;) {
                int next = j + sign * pace;
                if (next < SOTTO_SGM_FIRST_C || next > SOTTO_SGM_LAST_C)
                    break;
                double value = f(q, next, given);
                if (!(value < best) && !(isinf(best) && sign < 0))
                    break;
                best = value;
                j = next;
            }
        }
    }
    return j;
}

static int first_guess(const sotto_sgm_question *q, double log_delta)
{
    double variance = 0;

    for (size_t i = 0; i < q->count; i++) {
        const sotto_sgm *m = q->parts[i].mechanism;
        double spread = fmin(1 / (m->sigma * m->sigma), 50);
        variance += (double)q->parts[i].rounds * m->rate * m->rate * expm1(spread);
    }
    double c = sqrt(2 * fmax(-log_delta, 1) / variance);
    int j = (int)lround(4 * log2(c));
    return j < SOTTO_SGM_FIRST_C ? SOTTO_SGM_FIRST_C : j > 80 ? 80 : j;
}

/* ---- how wide, how far -------------------------------------------------------------------------- */

typedef struct plan {
    int j;
    double c;
    double log_delta; /* about what is read off          */
    double eps;       /* at about this eps, from below   */
    double period;
    double step;
    size_t nodes;
    double sines;
    double loss; /* log of the scale over delta: digits that cancel */
} plan;

static const int alias_at[] = {1, 2, 3, 4, 6, 8, 12};
#define ALIAS_COUNT (sizeof alias_at / sizeof alias_at[0])

static double period_for(const sotto_sgm_question *q, int j, const plan *p)
{
    double c = sotto_sgm_c(j), above = INFINITY;

    for (size_t i = 0; i < ALIAS_COUNT; i++) {
        double next = sotto_sgm_c(j + alias_at[i]);
        double need = log_moment(q, j + alias_at[i]) - next * p->eps +
                      sotto_contour_chernoff(next) - p->log_delta + q->digits;
        if (isnan(need))
            continue;
        above = fmin(above, fmax(need, 1) / (next - c));
        if (isinf(need))
            break;
    }
    return fmax(above, (q->digits - p->log_delta) / c);
}

/* The shortest period among the points whose cancellation can be borne: exp(loss) times the rounding
 * of a double is what delta will be known to. */
static bool choose_within(plan *p, const sotto_sgm_question *q, int best, double most)
{
    p->period = INFINITY;
    for (int j = best + 2, worse = 0; j > best - 24 && j > SOTTO_SGM_FIRST_C + 1 && worse < 3;
         j--) {
        double loss = log_moment(q, j) - sotto_sgm_c(j) * p->eps - p->log_delta;
        if (!(loss < most))
            continue;
        double period = period_for(q, j, p);
        if (period < p->period * 0.9) {
            p->period = period;
            p->j = j;
            p->loss = fmax(loss, 0);
            worse = 0;
        } else {
            worse++;
        }
    }
    return p->period < INFINITY;
}

static void choose_line(plan *p, const sotto_sgm_question *q, int best)
{
    if (!choose_within(p, q, best, 14) && !choose_within(p, q, best, 26)) {
        p->j = best;
        p->period =
            fmin(period_for(q, best, p), 4 * (q->digits - p->log_delta) / sotto_sgm_c(best));
        p->loss = fmax(log_moment(q, best) - sotto_sgm_c(best) * p->eps - p->log_delta, 0);
    }
    p->c = sotto_sgm_c(p->j);
    p->step = exp2(floor(log2(2 * PI / p->period)));
}

static double decay(const sotto_sgm_question *q, int j, double t)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++)
        sum += (double)q->parts[i].rounds * sotto_sgm_side_decay(side_of(q, i), j, t);
    return sum;
}

static void choose_nodes(plan *p, const sotto_sgm_question *q)
{
    double wanted = -(p->loss + q->digits), far = 8;

    while (far < 1e6 && decay(q, p->j, far * p->step) > wanted)
        far *= 2;
    double near = far / 2;
    for (int i = 0; i < 5 && far > 8; i++) {
        double mid = floor((near + far) / 2);
        if (decay(q, p->j, mid * p->step) > wanted)
            near = mid;
        else
            far = mid;
    }
    /* Rounded up, so that a neighbouring question finds the table long enough. */
    p->nodes = (size_t)(ceil(far / 16) * 16) + 1;
    p->sines = 0;
    for (size_t i = 0; i < q->count; i++) {
        p->sines += sotto_sgm_line_points(&side_of(q, i)->law, far * p->step) * (double)p->nodes;
    }
}

/* So few rounds that no power of M falls fast enough for a line of nodes. */
static bool is_short(const sotto_sgm_question *q)
{
    return rounds_of(q) < 8;
}

static plan plan_for(const sotto_sgm_question *q, int best, double log_delta, double eps)
{
    plan p = {.log_delta = log_delta, .eps = eps};

    choose_line(&p, q, best);
    if (is_short(q))
        p.sines = INFINITY;
    else
        choose_nodes(&p, q);
    return p;
}

/* ---- building the line --------------------------------------------------------------------------- */

static sotto_contour_terms terms_of(const sotto_sgm_question *q)
{
    sotto_contour_terms worst = SOTTO_CONTOUR_TERMS;

    for (size_t i = 0; i < q->count; i++) {
        const sotto_contour_terms *t = &q->parts[i].mechanism->terms;
        worst.aliasing = fmax(worst.aliasing, t->aliasing);
        worst.truncation = fmax(worst.truncation, t->truncation);
        worst.transform = fmax(worst.transform, t->transform);
        worst.rounding = fmax(worst.rounding, t->rounding);
    }
    return worst;
}

/* One part's transform to the power of its rounds; errors are raised with it. */
static void multiply(double *sum, size_t nodes, double rounds, const double *log_modulus,
                     const double *phase, const double *error)
{
    for (size_t k = 0; k < nodes; k++) {
        sum[k] += rounds * log_modulus[k];
        sum[nodes + k] += rounds * phase[k];
        sum[2 * nodes + k] += rounds * log1p(error[k]) + 3 * U * rounds * fabs(log_modulus[k]);
    }
}

static void finish(sotto_contour *line, double *sum, double log_rest)
{
    size_t n = line->nodes;

    for (size_t k = 0; k < n; k++)
        sum[2 * n + k] = expm1(fmin(sum[2 * n + k], 300));
    line->re = sum;
    line->im = sum + n;
    sotto_contour_fill(line, sum, sum + n, sum + 2 * n, log_rest);
}

static bool build_contour(sotto_contour *line, double **memory, const sotto_sgm_question *q,
                          const plan *p)
{
    *line = (sotto_contour){.c = p->c, .step = p->step, .nodes = p->nodes};
    line->terms = terms_of(q);
    line->lost = lost_of(q);
    double *sum = *memory = sotto_alloc(3 * p->nodes * sizeof(double)), rest = 0;
    if (!sum)
        return false;
    for (size_t i = 0; i < q->count; i++) {
        sotto_sgm_side *side = side_of(q, i);
        const sotto_sgm_nodes *n = sotto_sgm_side_line(side, p->j, p->step, p->nodes);
        if (!n)
            return false;
        multiply(sum, p->nodes, (double)q->parts[i].rounds, n->log_modulus, n->phase, n->error);
    }
    rest = log_moment(q, p->j) + decay(q, p->j, p->step * (double)(p->nodes - 1));
    for (size_t i = 0; i < SOTTO_CONTOUR_ALIASES; i++) {
        double value = log_moment(q, p->j + alias_at[i]);
        if (!(value < INFINITY))
            break;
        line->alias_c[i] = sotto_sgm_c(p->j + alias_at[i]);
        line->alias_log[i] = value;
        line->aliases = i + 1;
    }
    finish(line, sum, rest);
    return true;
}

static bool build_lattice(sotto_contour *line, double **memory, const sotto_sgm_question *q,
                          const plan *p, double spacing, size_t size)
{
    *line = (sotto_contour){.c = p->c, .lattice = spacing, .aliases = SOTTO_CONTOUR_ALIASES};
    line->terms = terms_of(q);
    line->lost = lost_of(q);
    line->nodes = size / 2 + 1;
    line->step = 2 * PI / ((double)size * spacing);
    double *sum = *memory = sotto_alloc(3 * line->nodes * sizeof(double));
    if (!sum)
        return false;
    for (size_t i = 0; i < q->count; i++) {
        const sotto_pld *l = sotto_sgm_side_lattice(side_of(q, i), p->j, spacing, size);
        if (!l)
            return false;
        double n = (double)q->parts[i].rounds;
        multiply(sum, line->nodes, n, l->log_modulus, l->phase, l->error);
        line->origin += n * l->origin;
        for (size_t k = 0; k < SOTTO_CONTOUR_ALIASES; k++) {
            line->alias_c[k] = l->alias_c[k];
            line->alias_log[k] += n * l->alias_log[k];
        }
    }
    finish(line, sum, 0);
    return true;
}

/* ---- the lattice ---------------------------------------------------------------------------------- */

/* What the lattice adds to log delta: its transform against the true one, on the real axis. */
static double spread(const sotto_contour *line, const sotto_sgm_question *q, const plan *p)
{
    return line->log_scale + p->c * line->origin - log_moment(q, p->j);
}

typedef struct reader {
    bool wants_eps;
    double given;
    double start;
} reader;

static sotto_bound read_line(const sotto_contour *line, const reader *r)
{
    if (r->wants_eps)
        return sotto_contour_epsilon(line, r->given, r->start);
    return sotto_contour_log_delta(line, r->given);
}

/* How far all rounds together may have been moved, but for a chance of exp(log_chance). */
static double shift_of(const sotto_sgm_question *q, const plan *p, double spacing, size_t size,
                       double log_chance)
{
    double best = INFINITY;
    /* Near the best rate for moves of one spacing a round; coarser cells want smaller ones. */
    double rate = sqrt(-8 * log_chance / rounds_of(q)) / spacing;

    for (int k = 0; k < 12; k++, rate /= 2) {
        double sum = -log_chance;
        for (size_t i = 0; i < q->count; i++) {
            const sotto_pld *l = sotto_sgm_side_lattice(side_of(q, i), p->j, spacing, size);
            if (!l)
                return INFINITY;
            sum += (double)q->parts[i].rounds * sotto_pld_log_shift(l, rate);
        }
        best = fmin(best, sum / rate);
    }
    return best;
}

/* From below: delta(eps - S) >= delta of the lattice at eps, less the chance of a move beyond S. */
static double lattice_low(const sotto_contour *line, const sotto_sgm_question *q, const plan *p,
                          size_t size, const reader *r)
{
    double chance = (r->wants_eps ? r->given : p->log_delta) - 5;
    double shift = shift_of(q, p, line->lattice, size, chance);

    if (!(shift < 1e300))
        return r->wants_eps ? 0 : -INFINITY;
    if (r->wants_eps) {
        double wanted = log(exp(r->given) + exp(chance)) + 1e-12;
        return wanted < 0 ? sotto_contour_epsilon(line, wanted, r->start).low - shift : 0;
    }
    double low = exp(sotto_contour_log_delta(line, r->given + shift).low) - exp(chance);
    return low > 0 ? log(low) - 1e-12 : -INFINITY;
}

/* The size at which the lattice would cost no more than `tolerance` of eps, judged from one of `size`. */
static size_t size_for(const sotto_contour *line, const sotto_sgm_question *q, const plan *p,
                       size_t size, double eps, double tolerance)
{
    /* The slope of log delta turns what the lattice adds to it into a change of eps. */
    double at = fmax(eps, 1e-12), more = at * 1.01;
    double fall = sotto_contour_log_delta(line, at).high - sotto_contour_log_delta(line, more).high;
    double slope = fmax(fall / (more - at), p->c);
    double moved = spread(line, q, p) * (slope * (slope + 1)) / (p->c * (p->c + 1));
    double finest = (double)size * sqrt(fabs(moved) / (tolerance * slope * at));
    size_t wanted = size;

    while ((double)wanted < finest && wanted < MOST_SIZE && wanted < 16 * size)
        wanted *= 2;
    return wanted;
}

/* A first lattice tells how fine the next must be. False if none could be built. */
static bool try_lattice(sotto_bound *out, const sotto_sgm_question *q, const plan *p, reader r,
                        double tolerance)
{
    double period = exp2(ceil(4 * log2(p->period)) / 4);
    size_t size = 4096, next = 0;

    *out = (sotto_bound){-INFINITY, INFINITY};
    for (int pass = 0; pass < 3 && size != next; pass++) {
        sotto_contour line;
        double *memory = NULL;
        bool built = build_lattice(&line, &memory, q, p, period / (double)size, size);
        size_t bytes = 3 * (size / 2 + 1) * sizeof(double);
        next = size;
        if (built) {
            double high = read_line(&line, &r).high, eps = r.wants_eps ? high : r.given;
            out->high = fmin(out->high, high);
            r.start = isfinite(eps) ? eps : r.start;
            if (pass < 2)
                next = size_for(&line, q, p, size, r.start, tolerance);
            if (next == size)
                out->low = lattice_low(&line, q, p, size, &r);
        }
        sotto_release(memory, bytes);
        size_t done = size;
        size = next;
        next = next == done ? size : 0;
    }
    return out->high < INFINITY;
}

/* ---- answers ---------------------------------------------------------------------------------------- */

/* All rounds without sampling: they add up to one Gaussian, and sampling never costs more. */
static sotto_sgm_law unsampled(const sotto_sgm_question *q)
{
    double precision = 0;

    for (size_t i = 0; i < q->count; i++) {
        const sotto_sgm *m = q->parts[i].mechanism;
        precision += (double)q->parts[i].rounds / (m->sigma * m->sigma);
    }
    return (sotto_sgm_law){1, sotto_round_down(1 / sqrt(precision), 8), q->add, 0, 0, 0};
}

static bool is_single(const sotto_sgm_question *q, sotto_sgm_law *law)
{
    if (q->count == 1 && q->parts[0].rounds == 1) {
        *law = side_of(q, 0)->law;
        return true;
    }
    for (size_t i = 0; i < q->count; i++)
        if (q->parts[i].mechanism->rate < 1)
            return false;
    *law = unsampled(q);
    return true;
}

/* No record is added at a higher cost than this. */
static double largest_loss(const sotto_sgm_question *q)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++)
        sum -= (double)q->parts[i].rounds * log1p(-q->parts[i].mechanism->rate);
    return q->add ? sum * (1 + 1e-12) : INFINITY;
}

/* More rounds never cost less: any one round is a bound from below. */
static double low_of_single(const sotto_sgm_question *q, bool eps, double given)
{
    double best = eps ? 0 : -INFINITY;

    for (size_t i = 0; i < q->count; i++) {
        const sotto_sgm_law *law = &side_of(q, i)->law;
        double low = eps ? sotto_sgm_single_epsilon(law, given).low
                         : sotto_sgm_single_log_delta(law, given).low;
        best = fmax(best, low);
    }
    return best;
}

/* A rare large loss is what a lattice does badly. */
static double most_sines(const sotto_sgm_question *q)
{
    double rate = 1;

    for (size_t i = 0; i < q->count; i++)
        rate = fmin(rate, q->parts[i].mechanism->rate);
    return rate < 1e-4 ? MOST_SINES_RARE : MOST_SINES;
}

static void improve(sotto_sgm_answer *out, double high, const char *route)
{
    if (high < out->value.high) {
        out->value.high = high;
        out->route = route;
    }
}

/* Reads the answer off a line or a lattice, whichever is cheap; leaves *out alone if neither works. */
static void invert(sotto_sgm_answer *out, const sotto_sgm_question *q, const plan *p,
                   const reader *r)
{
    bool done = false;

    if (p->sines <= most_sines(q)) {
        sotto_contour line;
        double *memory = NULL;
        done = build_contour(&line, &memory, q, p);
        if (done) {
            sotto_bound b = read_line(&line, r);
            out->value.low = fmax(out->value.low, b.low);
            improve(out, b.high, by_contour);
        }
        sotto_release(memory, 3 * p->nodes * sizeof(double));
    }
    /* Without the memory for a line a lattice may still fit, and without that the bound in *out stands. */
    sotto_bound b;
    if (!done && try_lattice(&b, q, p, *r, 3e-5)) {
        out->value.low = fmax(out->value.low, b.low);
        improve(out, b.high, by_lattice);
    }
    if (out->value.low > out->value.high)
        out->value.low = out->value.high;
}

/* About the answer, from below: the Gaussian of the same mean loss. Rare large losses only add to it. */
static double gaussian_guess(const sotto_sgm_question *q, int best, double log_delta)
{
    int j = best - 24 > SOTTO_SGM_FIRST_C ? best - 24 : SOTTO_SGM_FIRST_C;
    double mean = log_moment(q, j) / sotto_sgm_c(j) / (1 + sotto_sgm_c(j));
    sotto_sgm_law law = {1, 1 / sqrt(2 * mean), false, 0, 0, 0};

    return 0.9 * sotto_sgm_single_epsilon(&law, log_delta).low;
}

/* Whether to go on with a deeper cut: rare losses made the plan too slow, or cancellation left a wide
 * interval. Twice at most. */
static bool fewer_digits(sotto_sgm_question *q, bool tight)
{
    if (tight || q->digits == LEAST_DIGITS)
        return false;
    q->digits = q->digits == DIGITS ? FEWER_DIGITS : LEAST_DIGITS;
    return true;
}

/* Inverts, unless a deeper cut would spare a lattice. */
static bool attempt(sotto_sgm_answer *out, const sotto_sgm_question *q, const plan *p,
                    const reader *r)
{
    bool worth = p->sines <= most_sines(q) || is_short(q) || q->digits < DIGITS;

    if (worth)
        invert(out, q, p, r);
    return worth;
}

static plan plan_epsilon(sotto_sgm_answer *out, const sotto_sgm_question *q, double log_delta)
{
    int best = lowest(q, renyi_epsilon, log_delta, first_guess(q, log_delta));

    improve(out, fmax(renyi_epsilon(q, best, log_delta), 0) * (1 + 1e-12), by_renyi);
    return plan_for(q, best, log_delta, fmin(gaussian_guess(q, best, log_delta), out->value.high));
}

static plan plan_log_delta(sotto_sgm_answer *out, sotto_sgm_question *q, double eps)
{
    choose_cut(q, -60);
    int best = lowest(q, renyi_log_delta, eps, first_guess(q, -20));
    choose_cut(q, fmax(fmin(renyi_log_delta(q, best, eps), 0) - 4, -720));
    best = lowest(q, renyi_log_delta, eps, best);
    double whole = fmin(log(exp(renyi_log_delta(q, best, eps)) + lost_of(q)) + 1e-12, 0);
    improve(out, whole, by_renyi);
    /* The Chernoff bound forgets a factor of about the square root of what it bounds. */
    return plan_for(q, best, whole - 4, eps);
}

void sotto_sgm_route_epsilon(sotto_sgm_answer *out, sotto_sgm_question *q, double log_delta)
{
    sotto_sgm_law one;
    q->digits = is_short(q) ? FEWER_DIGITS : DIGITS;
    choose_cut(q, log_delta);
    if (is_single(q, &one)) {
        *out = (sotto_sgm_answer){sotto_sgm_single_epsilon(&one, log_delta), by_single};
        return;
    }
    double parts = 0;
    for (size_t i = 0; i < q->count; i++)
        parts += (double)q->parts[i].rounds *
                 exp(sotto_sgm_single_log_delta(&side_of(q, i)->law, 0).high);
    if (log(parts) + 1e-12 <= log_delta) {
        *out = (sotto_sgm_answer){{0, 0}, "sum of the rounds' deltas at 0"};
        return;
    }
    *out = (sotto_sgm_answer){{low_of_single(q, true, log_delta), largest_loss(q)}, "largest loss"};
    one = unsampled(q);
    improve(out, sotto_sgm_single_epsilon(&one, log_delta).high, by_gaussian);
    bool tight;
    do {
        choose_cut(q, log_delta);
        plan p = plan_epsilon(out, q, log_delta);
        if (out->value.high == 0)
            return;
        reader r = {true, log_delta, fmin(out->value.high, p.eps / 0.9)};
        tight = attempt(out, q, &p, &r) && out->value.low >= 0.9 * out->value.high;
    } while (fewer_digits(q, tight));
}

void sotto_sgm_route_log_delta(sotto_sgm_answer *out, sotto_sgm_question *q, double eps)
{
    sotto_sgm_law one;
    q->digits = is_short(q) ? FEWER_DIGITS : DIGITS;
    choose_cut(q, -60);
    if (is_single(q, &one)) {
        *out = (sotto_sgm_answer){sotto_sgm_single_log_delta(&one, eps), by_single};
        return;
    }
    if (eps >= largest_loss(q)) {
        *out = (sotto_sgm_answer){{-INFINITY, -INFINITY}, "largest loss"};
        return;
    }
    *out = (sotto_sgm_answer){{low_of_single(q, false, eps), 0}, "delta is at most one"};
    one = unsampled(q);
    improve(out, sotto_sgm_single_log_delta(&one, eps).high, by_gaussian);
    bool tight;
    do {
        plan p = plan_log_delta(out, q, eps);
        reader r = {false, eps, eps};
        tight = attempt(out, q, &p, &r) && out->value.low >= out->value.high - 0.5;
    } while (fewer_digits(q, tight));
}
