#include "account/gauss/sgm_saddle.h"

#include "account/gauss/sgm_single_round.h"

#include <float.h>

#define U (DBL_EPSILON / 2)

sotto_sgm_side *sotto_sgm_side_of(const sotto_sgm_question *q, size_t i)
{
    return sotto_sgm_side_at(q->parts[i].mechanism, q->add, q->level, q->cap);
}

double sotto_sgm_rounds(const sotto_sgm_question *q)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++)
        sum += (double)q->parts[i].rounds;
    return sum;
}

double sotto_sgm_lost(const sotto_sgm_question *q)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++)
        sum += (double)q->parts[i].rounds * sotto_sgm_side_of(q, i)->law.lost;
    return sum * (1 + 4 * U);
}

double sotto_sgm_log_moment(const sotto_sgm_question *q, int j)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++)
        sum += (double)q->parts[i].rounds * sotto_sgm_side_cumulant(sotto_sgm_side_of(q, i), j);
    return sum * (1 + 4 * U);
}

double sotto_sgm_renyi_epsilon(const sotto_sgm_question *q, int j, double log_delta)
{
    double c = sotto_sgm_c(j);
    double rest = log_delta + log1p(-sotto_sgm_lost(q) / exp(log_delta));
    double eps = (sotto_sgm_log_moment(q, j) + sotto_contour_chernoff(c) - rest) / c;

    return isnan(eps) ? INFINITY : eps;
}

double sotto_sgm_renyi_log_delta(const sotto_sgm_question *q, int j, double eps)
{
    double c = sotto_sgm_c(j);
    double value = sotto_sgm_log_moment(q, j) + sotto_contour_chernoff(c) - c * eps;

    return isnan(value) ? INFINITY : value;
}

int sotto_sgm_lowest(const sotto_sgm_question *q, sotto_sgm_objective f, double given, int start)
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

int sotto_sgm_first_guess(const sotto_sgm_question *q, double log_delta)
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

/* ---- a guess at the answer -------------------------------------------------------------------------- */

#define GUESS_POINTS 128

/* The mean square of losses up to `most`, about. */
static double square_below(const sotto_sgm_law *law, double most)
{
    double reach = 8 * law->sigma, pace = (2 * reach + 1) / GUESS_POINTS, sum = 0;

    for (int k = 0; k < GUESS_POINTS; k++) {
        double x = -reach + pace * (k + 0.5), loss = sotto_sgm_log_ratio(law, x);
        double density = exp(sotto_sgm_log_density(law, x) + (law->add ? 0 : loss));
        if ((law->add ? -loss : loss) <= most || law->q == 1)
            sum += density * loss * loss * pace;
    }
    return sum;
}

typedef struct guess_part {
    sotto_sgm_law law;
    double rounds;
} guess_part;

static double estimate(const guess_part *parts, size_t count, double log_delta)
{
    double single = 0, rounds = 0;

    for (size_t i = 0; i < count; i++)
        rounds += parts[i].rounds;
    for (size_t i = 0; i < count; i++)
        single = fmax(single, sotto_sgm_single_high(&parts[i].law, log_delta - log(2 * rounds)));
    double eps = single;
    for (int k = 0; k < 12; k++) {
        double v = 0;
        for (size_t i = 0; i < count; i++)
            v += parts[i].rounds * square_below(&parts[i].law, eps);
        double root = sqrt(v);
        /* Of a Gaussian so narrow delta is about its width times the density at eps. */
        double tail = fmin(log_delta - log(fmin(root, 1)), -0.7);
        double next = single + v / 2 + root * sqrt(fmax(-2 * tail - log(-12 * tail), 0.1));
        if (next < 1.05 * eps)
            break;
        eps = next;
    }
    return eps;
}

double sotto_sgm_estimate(const sotto_sgm_question *q, double log_delta)
{
    guess_part parts[SOTTO_SGM_MOST_PARTS];

    for (size_t i = 0; i < q->count; i++)
        parts[i] = (guess_part){sotto_sgm_side_of(q, i)->law, (double)q->parts[i].rounds};
    return estimate(parts, q->count, log_delta);
}

double sotto_sgm_estimate_one(double rate, double sigma, uint64_t rounds, double log_delta)
{
    guess_part one = {{.q = rate, .sigma = sigma}, (double)rounds};

    return estimate(&one, 1, log_delta);
}

/* ---- cut and cap ------------------------------------------------------------------------------------ */

void sotto_sgm_choose_cut(sotto_sgm_question *q, double log_delta)
{
    q->level = (int)floor((log_delta - log(sotto_sgm_rounds(q)) - q->digits) / 6);
}

/* How far below 0 all rounds together can be. */
static double deepest(const sotto_sgm_question *q)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++)
        sum -= (double)q->parts[i].rounds * log1p(-q->parts[i].mechanism->rate);
    return sum * (1 + 1e-12);
}

/* log E exp(-(c+1) L) of all rounds, c = 2^(j/4), from above: the moment c of the other direction. Its cut
 * leaves out at most `lost`, where exp(-cL) is at most (1-q)^-c. */
static double log_fall(const sotto_sgm_question *q, int j)
{
    double sum = 0, c = sotto_sgm_c(j);

    for (size_t i = 0; i < q->count; i++) {
        sotto_sgm *m = q->parts[i].mechanism;
        sotto_sgm_side *side = sotto_sgm_side_at(m, true, q->level, SOTTO_SGM_NO_CAP);
        double one = sotto_sgm_side_cumulant(side, j);
        one += side->law.lost * exp(fmin(-c * log1p(-m->rate) - one, 700));
        sum += (double)q->parts[i].rounds * one;
    }
    return sum * (1 + 4 * U);
}

/* The distance d at which exp(log_fall - (c+1) d) is below exp(-need). */
static double distance(const sotto_sgm_question *q, int j, double need)
{
    double d = (log_fall(q, j) + need) / (sotto_sgm_c(j) + 1);

    return isnan(d) ? INFINITY : d;
}

/* log of the probability that some round exceeds eps, from above or nearly. */
static double log_chance(const sotto_sgm_question *q, double eps)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++) {
        sotto_sgm_law law = sotto_sgm_side_of(q, i)->law;
        sotto_sgm_law_cap(&law, eps);
        sum += (double)q->parts[i].rounds * (law.capped ? law.above : law.lost);
    }
    return log(fmin(sum, 1));
}

static double largest_end(const sotto_sgm_question *q)
{
    double end = 0;

    for (size_t i = 0; i < q->count; i++) {
        const sotto_sgm_law *law = &sotto_sgm_side_of(q, i)->law;
        end = fmax(end, sotto_sgm_log_ratio(law, law->high));
    }
    return end;
}

void sotto_sgm_choose_cap(sotto_sgm_question *q, double eps, double log_delta)
{
    q->cap = SOTTO_SGM_NO_CAP;
    q->until = INFINITY;
    if (q->add)
        return;
    double end = largest_end(q), room = deepest(q);
    if (!(end > 1.2 * eps))
        return;
    double need = log_chance(q, eps) - log_delta + q->digits;
    if (!(end > 1.2 * (eps + room))) {
        int j = sotto_sgm_lowest(q, distance, need, sotto_sgm_first_guess(q, log_delta));
        room = fmin(room, distance(q, j, need));
    }
    int cap = (int)ceil(4 * log2(eps + fmax(room, 0)));
    if (cap > SOTTO_SGM_FIRST_C && cap < SOTTO_SGM_LAST_C && end > 1.2 * sotto_sgm_c(cap)) {
        q->cap = cap;
        q->until = eps;
    }
}

double sotto_sgm_sure(const sotto_sgm_question *q)
{
    double infinite = 0, above = 0, d = sotto_sgm_c(q->cap) * (1 - 1e-12) - q->until;

    for (size_t i = 0; i < q->count; i++) {
        const sotto_sgm_law *law = &sotto_sgm_side_of(q, i)->law;
        infinite += (double)q->parts[i].rounds * law->beyond;
        above += (double)q->parts[i].rounds * (law->capped ? law->above : 0);
    }
    infinite = fmax(infinite * (1 - infinite / 2) * (1 - 1e-12), 0);
    if (d >= deepest(q) || above == 0)
        return infinite;
    if (!(d > 0))
        return -1;
    int j = sotto_sgm_lowest(q, distance, -log(above), sotto_sgm_first_guess(q, log(above) - 20));
    double excess = above * exp(log_fall(q, j) + above - (sotto_sgm_c(j) + 1) * d);
    return infinite - fmin(excess * (1 + 1e-9), 1);
}
