#include "account/gauss/sgm_method.h"

#include "account/gauss/sgm_single_round.h"
#include "account/gauss/sgm_transform.h"

/* Cut, aliases and truncation are kept below exp(-DIGITS) of delta, or, where that costs too much, below
 * exp(-FEWER_DIGITS): that moves eps by some 1e-6 of itself. */
#define DIGITS       19.0
#define FEWER_DIGITS 11.5
#define LEAST_DIGITS 8.5
/* Sines that a line of nodes may cost before the lattice is cheaper. */
#define MOST_SINES       2e6
#define MOST_SINES_RARE  2.5e7 /* where the rate is below 1e-4 */
#define MOST_SINES_ROUGH 3e6
#define MANY_ROUNDS      1000
/* Of eps, about what a lattice may cost. */
#define TOLERANCE       3e-5
#define TOLERANCE_ROUGH 1e-3

static const char by_single[] = "closed form of one round";
static const char by_gaussian[] = "Gaussian without sampling";
static const char by_contour[] = "contour inversion";
static const char by_lattice[] = "tilted lattice of losses";
static const char by_renyi[] = "Renyi divergence at the best order";

/* All rounds without sampling: they add up to one Gaussian, and sampling never costs more. */
static sotto_sgm_law unsampled(const sotto_sgm_question *q)
{
    double precision = 0;

    for (size_t i = 0; i < q->count; i++) {
        const sotto_sgm *m = q->parts[i].mechanism;
        precision += (double)q->parts[i].rounds / (m->sigma * m->sigma);
    }
    return (sotto_sgm_law){
        .q = 1, .sigma = sotto_round_down(1 / sqrt(precision), 8), .add = q->add};
}

static bool is_single(const sotto_sgm_question *q, sotto_sgm_law *law)
{
    if (q->count == 1 && q->parts[0].rounds == 1) {
        *law = sotto_sgm_side_of(q, 0)->law;
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
        const sotto_sgm_law *law = &sotto_sgm_side_of(q, i)->law;
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

    if (q->rough)
        return MOST_SINES_ROUGH;
    for (size_t i = 0; i < q->count; i++)
        rate = fmin(rate, q->parts[i].mechanism->rate);
    /* A lattice must be finer by the square root of the rounds. */
    double finer = fmin(fmax(sqrt(sotto_sgm_rounds(q) / 30), 1), 5);
    return rate < 1e-4 ? MOST_SINES_RARE : MOST_SINES * finer;
}

static void improve(sotto_sgm_answer *out, double high, const char *route)
{
    if (high < out->value.high) {
        out->value.high = high;
        out->route = route;
    }
}

/* Reads the answer off a line or a lattice, whichever is cheap; leaves *out alone if neither works. */
static void invert(sotto_sgm_answer *out, sotto_sgm_question *q, const sotto_sgm_plan *p,
                   const sotto_sgm_reader *r, double tolerance)
{
    bool done = false;

    if (p->sines <= most_sines(q)) {
        sotto_contour line;
        done = sotto_sgm_build_contour(&line, q, p);
        if (done && q->rough) {
            improve(out, sotto_contour_high(&line, r->given, r->start), by_contour);
        } else if (done) {
            sotto_bound b = sotto_sgm_read(&line, q, r);
            out->value.low = fmax(out->value.low, b.low);
            improve(out, b.high, by_contour);
        }
    }
    /* Without the memory for a line a lattice may still fit, and without that the bound in *out stands. */
    sotto_bound b;
    if (!done && sotto_sgm_try_lattice(&b, q, p, *r, tolerance)) {
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
    double mean = sotto_sgm_log_moment(q, j) / sotto_sgm_c(j) / (1 + sotto_sgm_c(j));
    sotto_sgm_law law = {.q = 1, .sigma = 1 / sqrt(2 * mean)};

    return 0.9 * sotto_sgm_single_high(&law, log_delta);
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
static bool attempt(sotto_sgm_answer *out, sotto_sgm_question *q, const sotto_sgm_plan *p,
                    const sotto_sgm_reader *r)
{
    /* The more rounds, the finer a lattice must be: then it comes last. */
    double patience = sotto_sgm_rounds(q) < MANY_ROUNDS ? FEWER_DIGITS : LEAST_DIGITS;
    bool worth = p->sines <= most_sines(q) || sotto_sgm_is_short(q) || q->digits <= patience;

    if (worth)
        invert(out, q, p, r, q->rough ? TOLERANCE_ROUGH : TOLERANCE);
    return worth;
}

/* Where Chernoff's bound is least; it is an answer, too. */
static int best_order(sotto_sgm_answer *out, const sotto_sgm_question *q, double log_delta)
{
    int best = sotto_sgm_lowest(q, sotto_sgm_renyi_epsilon, log_delta,
                                sotto_sgm_first_guess(q, log_delta));

    improve(out, fmax(sotto_sgm_renyi_epsilon(q, best, log_delta), 0) * (1 + 1e-12), by_renyi);
    return best;
}

/* below: about the answer, from below; most: certainly from above. */
static sotto_sgm_plan plan_epsilon(const sotto_sgm_question *q, int best, double log_delta,
                                   double below, double most)
{
    below = fmax(below, gaussian_guess(q, best, log_delta));
    return sotto_sgm_plan_for(q, best, log_delta, fmin(below, most));
}

/* ---- the same way as last time ----------------------------------------------------------------------- */

static double log_rounds(const sotto_sgm_question *q)
{
    return log(sotto_sgm_rounds(q));
}

static void remember(const sotto_sgm_question *q, const sotto_sgm_plan *p, bool wants_eps,
                     double given, const sotto_bound *out, bool by_chernoff)
{
    sotto_sgm *m = q->parts[0].mechanism;

    if (q->count == 1)
        m->past[q->add][m->next_past[q->add]++ % SOTTO_SGM_PASTS] =
            (sotto_sgm_past){.known = true,
                             .wants_eps = wants_eps,
                             .by_chernoff = by_chernoff,
                             .log_rounds = log_rounds(q),
                             .given = given,
                             .level = q->level,
                             .cap = q->cap,
                             .until = q->until,
                             .digits = q->digits,
                             .plan = *p,
                             .high = out->high,
                             .gap = out->high - out->low};
}

/* About the eps of a question like an old one: Chernoff's bound at a fixed order says how it moves with rounds and
 * delta. */
static double expected(sotto_sgm_question *q, const sotto_sgm_past *old, bool wants_eps,
                       double given)
{
    if (!wants_eps)
        return given;
    q->level = old->level;
    q->cap = old->cap;
    double more = (1 - exp(old->log_rounds - log_rounds(q))) * sotto_sgm_log_moment(q, old->plan.j);
    double there = old->high + (more - (given - old->given)) / old->plan.c;
    return isfinite(there) ? fmax(there, 0) : old->high;
}

/* Of the questions of this kind, the one nearest to this; NULL if none is near. Of those that are as near, the last, and
 * rather one with a line of nodes, for lattices are slow, narrow sides,
 * and a cap that is far enough away. */
static const sotto_sgm_past *recall(sotto_sgm_question *q, bool wants_eps, double given)
{
    const sotto_sgm_past *found = NULL;
    double best = 1, here = log_rounds(q);

    for (int i = 0; i < SOTTO_SGM_PASTS && q->count == 1; i++) {
        const sotto_sgm_past *old = &q->parts[0].mechanism->past[q->add][i];
        double apart = wants_eps ? fabs(given - old->given) / 3
                                 : fabs(given - old->given) / (0.2 * old->given + 1e-9);
        apart = fmax(apart, fabs(here - old->log_rounds) / 0.7);
        if (!old->known || old->wants_eps != wants_eps || !(apart <= best))
            continue;
        apart += old->plan.sines > most_sines(q) ? 0.02 : 0;
        apart += old->gap > (wants_eps ? 1e-5 * old->high : 1e-4) ? 0.05 : 0;
        apart += expected(q, old, wants_eps, given) > old->until ? 0.03 : 0;
        if (apart <= best) {
            best = apart;
            found = old;
        }
    }
    return found;
}

/* Whether Chernoff's bound says enough. */
static bool is_enough(sotto_sgm_answer *out, const sotto_sgm_question *q, int j, bool wants_eps,
                      double given)
{
    if (!(q->enough > (wants_eps ? 0 : -INFINITY)))
        return false;
    double bound = wants_eps ? sotto_sgm_renyi_epsilon(q, j, given)
                             : log(exp(sotto_sgm_renyi_log_delta(q, j, given)) + sotto_sgm_lost(q));
    improve(out, wants_eps ? fmax(bound, 0) * (1 + 1e-12) : fmin(bound + 1e-12, 0), by_renyi);
    return out->value.high <= q->enough;
}

/* Cut, cap and line of a question like this one, whose tables are there: what comes out is as true as any,
 * and mostly as tight. False where it is not. */
static bool again(sotto_sgm_answer *out, sotto_sgm_question *q, bool wants_eps, double given)
{
    const sotto_sgm_past *old = recall(q, wants_eps, given);

    if (!old)
        return false;
    sotto_sgm_past like = *old; /* a later question may take its place */
    sotto_sgm_plan p = like.plan;
    double eps = expected(q, &like, wants_eps, given);
    q->level = like.level;
    q->cap = like.cap;
    q->digits = like.digits;
    q->until = q->cap == SOTTO_SGM_NO_CAP ? INFINITY : eps;
    if (is_enough(out, q, p.j, wants_eps, given))
        return true;
    if (like.by_chernoff)
        return false;
    bool on_lattice = p.sines > most_sines(q);
    p.log_delta = wants_eps ? given : fmin(like.high, 0);
    p.eps = wants_eps && on_lattice ? fmin(eps, like.high) : eps;
    /* About as many rounds on the same lattice: what was fine enough then is so now. */
    bool same = on_lattice && fabs(log_rounds(q) - like.log_rounds) < 0.05;
    if (on_lattice)
        same = sotto_sgm_fit_lattice(&p, q, same ? 1.06 : 1) && same;
    sotto_sgm_reader r = {wants_eps, given, eps};
    invert(out, q, &p, &r, same ? 0 : TOLERANCE);
    double gap = out->value.high - out->value.low;
    if (out->value.high <= q->enough)
        return true;
    /* Far above what was to be expected: there is a better line. */
    if (wants_eps && out->value.high > 1.1 * fmax(eps, like.high) + 1 / p.c)
        return false;
    /* No more is asked for than was found then. */
    double most = on_lattice ? (wants_eps ? 0.1 * out->value.high : 0.5)
                             : (wants_eps ? 1e-6 * out->value.high : 1e-5);
    return gap <= fmax(most, 2 * like.gap) || (on_lattice && gap * p.c < 0.05);
}

/* The log delta whose estimated eps is this one. */
static double log_delta_guess(const sotto_sgm_question *q, double eps)
{
    double low = -720, high = -0.5;

    for (int i = 0; i < 9; i++) {
        /* Closer together where delta is large. */
        double mid = -sqrt(low * high);
        if (sotto_sgm_estimate(q, mid) > eps)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static int best_for(sotto_sgm_answer *out, const sotto_sgm_question *q, double eps, double guess)
{
    int best = sotto_sgm_lowest(q, sotto_sgm_renyi_log_delta, eps, sotto_sgm_first_guess(q, guess));
    double value = fmin(sotto_sgm_renyi_log_delta(q, best, eps), 0);

    improve(out, fmin(log(exp(value) + sotto_sgm_lost(q)) + 1e-12, 0), by_renyi);
    return best;
}

/* The same as attempt_epsilon, for the other question. */
static bool attempt_log_delta(sotto_sgm_answer *out, sotto_sgm_question *q, double eps)
{
    double least = fmax(out->value.low - 1, -720);
    bool tight = false;

    q->cap = SOTTO_SGM_NO_CAP;
    sotto_sgm_choose_cut(q, -60);
    /* The estimate of eps is mostly too large, so that of delta is too: a deeper cut costs little. */
    double about = fmax(1.3 * log_delta_guess(q, eps), least);
    for (int i = 0; i < 3; i++) {
        about = fmin(about, out->value.high);
        sotto_sgm_choose_cut(q, fmax(about - 2, -720));
        sotto_sgm_choose_cap(q, eps, about - 2);
        int best = best_for(out, q, eps, about);
        sotto_sgm_plan p = {.j = best, .c = sotto_sgm_c(best)};
        if (out->value.high <= q->enough) {
            remember(q, &p, false, eps, &out->value, true);
            return true;
        }
        p = sotto_sgm_plan_for(q, best, fmin(about, out->value.high), eps);
        sotto_sgm_reader r = {false, eps, eps};
        if (!attempt(out, q, &p, &r))
            return false;
        remember(q, &p, false, eps, &out->value, false);
        double high = out->value.high, gap = high - out->value.low;
        double lost = sotto_sgm_lost(q) - (q->cap == SOTTO_SGM_NO_CAP ? 0 : sotto_sgm_sure(q));
        bool placed = lost < exp(high - 9) && (p.sines > most_sines(q) ? gap < 0.5 : gap < 1e-5);
        tight = gap < 0.5;
        about = fmax(fmax(out->value.low, high - 6), least);
        if (placed || fabs(about - p.log_delta) < 1)
            return tight;
    }
    return tight;
}

/* One cut. Where an answer shows that the guess behind cap and plan was far off, they are made again. */
static bool attempt_epsilon(sotto_sgm_answer *out, sotto_sgm_question *q, double log_delta)
{
    q->cap = SOTTO_SGM_NO_CAP;
    sotto_sgm_choose_cut(q, log_delta);
    double about = fmin(sotto_sgm_estimate(q, log_delta), out->value.high);
    double above = fmin(1.15 * about, out->value.high),
           below = fmax(0.6 * about, 0.98 * out->value.low);
    bool tight = false;
    for (int i = 0; i < 3; i++) {
        sotto_sgm_choose_cap(q, above, log_delta);
        int best = best_order(out, q, log_delta);
        sotto_sgm_plan p = {.j = best, .c = sotto_sgm_c(best)};
        if (out->value.high <= q->enough) {
            remember(q, &p, true, log_delta, &out->value, true);
            return true;
        }
        p = plan_epsilon(q, best, log_delta, below, out->value.high);
        sotto_sgm_reader r = {true, log_delta, fmin(out->value.high, about)};
        double planned = q->until, gap_before = out->value.high - out->value.low;
        if (!attempt(out, q, &p, &r))
            return false;
        if (q->rough)
            return true;
        double high = out->value.high, gap = high - out->value.low;
        q->until = planned;
        /* What bettered nothing is no example. */
        if (gap < gap_before)
            remember(q, &p, true, log_delta, &out->value, false);
        /* A line that was well placed leaves no more than this; a lattice may leave more. Where delta(0) is
         * hardly above delta, a gap is large beside eps but small beside what moves delta. */
        bool on_lattice = p.sines > most_sines(q);
        tight = gap <= 0.1 * high || gap * p.c < 0.05;
        /* Of a capped line the cap owes the rest: a deeper cut may do without. */
        if (q->cap != SOTTO_SGM_NO_CAP && !on_lattice)
            tight = gap <= 1e-3 * high;
        bool placed = on_lattice ? tight : gap <= 1e-6 * high;
        if (placed || (high <= planned && fabs(high - p.eps) * p.c < 1))
            return tight;
        above = about = high;
        below = high * (1 - 1e-6);
    }
    return tight;
}

double sotto_sgm_method_rough(sotto_sgm *mechanism, uint64_t rounds, double log_delta)
{
    sotto_sgm_part part = {mechanism, rounds};
    sotto_sgm_question q = {.parts = &part,
                            .count = 1,
                            .rough = true,
                            .digits = LEAST_DIGITS,
                            .cap = SOTTO_SGM_NO_CAP,
                            .until = INFINITY};
    sotto_sgm_law one;
    sotto_sgm_answer out = {{0, INFINITY}, by_renyi};

    sotto_sgm_choose_cut(&q, log_delta);
    if (is_single(&q, &one))
        return sotto_sgm_single_high(&one, log_delta);
    one = unsampled(&q);
    improve(&out, sotto_sgm_single_high(&one, log_delta), by_gaussian);
    (void)attempt_epsilon(&out, &q, log_delta);
    return out.value.high;
}

void sotto_sgm_method_epsilon(sotto_sgm_answer *out, sotto_sgm_question *q, double log_delta)
{
    sotto_sgm_law one;
    q->digits = sotto_sgm_is_short(q) ? FEWER_DIGITS : DIGITS;
    q->cap = SOTTO_SGM_NO_CAP;
    q->until = INFINITY;
    sotto_sgm_choose_cut(q, log_delta);
    if (is_single(q, &one)) {
        *out = (sotto_sgm_answer){sotto_sgm_single_epsilon(&one, log_delta), by_single};
        return;
    }
    double parts = 0;
    for (size_t i = 0; i < q->count; i++)
        parts += (double)q->parts[i].rounds *
                 exp(sotto_sgm_single_log_delta(&sotto_sgm_side_of(q, i)->law, 0).high);
    if (log(parts) + 1e-12 <= log_delta) {
        *out = (sotto_sgm_answer){{0, 0}, "sum of the rounds' deltas at 0"};
        return;
    }
    *out = (sotto_sgm_answer){{0, largest_loss(q)}, "largest loss"};
    if (again(out, q, true, log_delta))
        return;
    q->digits = sotto_sgm_is_short(q) ? FEWER_DIGITS : DIGITS;
    q->cap = SOTTO_SGM_NO_CAP;
    q->until = INFINITY;
    sotto_sgm_choose_cut(q, log_delta);
    out->value.low = fmin(fmax(out->value.low, low_of_single(q, true, log_delta)), out->value.high);
    one = unsampled(q);
    improve(out, sotto_sgm_single_high(&one, log_delta), by_gaussian);
    if (out->value.high <= q->enough)
        return;
    bool tight;
    do {
        tight = attempt_epsilon(out, q, log_delta);
    } while (out->value.high > q->enough && fewer_digits(q, tight));
}

void sotto_sgm_method_log_delta(sotto_sgm_answer *out, sotto_sgm_question *q, double eps)
{
    sotto_sgm_law one;
    q->digits = sotto_sgm_is_short(q) ? FEWER_DIGITS : DIGITS;
    q->cap = SOTTO_SGM_NO_CAP;
    q->until = INFINITY;
    sotto_sgm_choose_cut(q, -60);
    if (is_single(q, &one)) {
        *out = (sotto_sgm_answer){sotto_sgm_single_log_delta(&one, eps), by_single};
        return;
    }
    if (eps >= largest_loss(q)) {
        *out = (sotto_sgm_answer){{-INFINITY, -INFINITY}, "largest loss"};
        return;
    }
    *out = (sotto_sgm_answer){{-INFINITY, 0}, "delta is at most one"};
    if (again(out, q, false, eps))
        return;
    q->digits = sotto_sgm_is_short(q) ? FEWER_DIGITS : DIGITS;
    q->cap = SOTTO_SGM_NO_CAP;
    q->until = INFINITY;
    sotto_sgm_choose_cut(q, -60);
    out->value.low = fmin(fmax(out->value.low, low_of_single(q, false, eps)), out->value.high);
    one = unsampled(q);
    improve(out, sotto_sgm_single_log_delta(&one, eps).high, by_gaussian);
    if (out->value.high <= q->enough)
        return;
    bool tight;
    do {
        tight = attempt_log_delta(out, q, eps);
    } while (out->value.high > q->enough && fewer_digits(q, tight));
}
