#include "account/gauss/sgm_contour_plan.h"

#define PI 3.14159265358979323846

const int sotto_sgm_alias_at[SOTTO_CONTOUR_ALIASES] = {1, 2, 3, 4, 6, 8, 12};

static double period_for(const sotto_sgm_question *q, int j, const sotto_sgm_plan *p)
{
    double c = sotto_sgm_c(j), above = INFINITY;

    for (size_t i = 0; i < SOTTO_CONTOUR_ALIASES; i++) {
        double next = sotto_sgm_c(j + sotto_sgm_alias_at[i]);
        double need = sotto_sgm_log_moment(q, j + sotto_sgm_alias_at[i]) - next * p->eps +
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
static bool choose_within(sotto_sgm_plan *p, const sotto_sgm_question *q, int best, double most)
{
    p->period = INFINITY;
    for (int j = best + 2, worse = 0; j > best - 24 && j > SOTTO_SGM_FIRST_C + 1 && worse < 3;
         j--) {
        double loss = sotto_sgm_log_moment(q, j) - sotto_sgm_c(j) * p->eps - p->log_delta;
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

static void choose_line(sotto_sgm_plan *p, const sotto_sgm_question *q, int best)
{
    /* More cancellation only where that shortens the period much: the eps it is judged by is a guess. */
    sotto_sgm_plan bold = *p;
    bool found = choose_within(p, q, best, 14);
    if (choose_within(&bold, q, best, 26) && (!found || p->period > 2.5 * bold.period)) {
        *p = bold;
        found = true;
    }
    if (!found && !choose_within(p, q, best, 32)) {
        p->j = best;
        p->period =
            fmin(period_for(q, best, p), 4 * (q->digits - p->log_delta) / sotto_sgm_c(best));
        p->loss =
            fmax(sotto_sgm_log_moment(q, best) - sotto_sgm_c(best) * p->eps - p->log_delta, 0);
    }
    p->c = sotto_sgm_c(p->j);
    p->step = exp2(floor(log2(2 * PI / p->period)));
}

/* Of one bound that holds from here on. */
static double decay_beyond(const sotto_sgm_question *q, int j, double t)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++)
        sum += (double)q->parts[i].rounds * sotto_sgm_side_decay(sotto_sgm_side_of(q, i), j, t);
    return sum;
}

/* How much further a bound that holds on a stretch only is used. */
#define STRETCH 2.2

double sotto_sgm_decay(const sotto_sgm_question *q, int j, double t)
{
    double near = 0, beyond = decay_beyond(q, j, t);

    for (size_t i = 0; i < q->count; i++)
        near += (double)q->parts[i].rounds *
                sotto_sgm_side_decay_until(sotto_sgm_side_of(q, i), j, t, STRETCH * t);
    return near < beyond ? fmin(beyond, fmax(near, decay_beyond(q, j, STRETCH * t))) : beyond;
}

/* The least t, in steps, from which on |M| is small enough, between near and far where it is. */
static double bisect(const sotto_sgm_plan *p, const sotto_sgm_question *q, double wanted,
                     double near, double far,
                     double (*fall)(const sotto_sgm_question *, int, double))
{
    for (int i = 0; i < 5 && far > 8; i++) {
        double mid = floor((near + far) / 2);
        if (fall(q, p->j, mid * p->step) > wanted)
            near = mid;
        else
            far = mid;
    }
    return far;
}

/* More than any line may take, though the last doubling and a better bound may spare a twentieth of them. */
#define FAR_TOO_MANY 1e9

static double sines_until(const sotto_sgm_question *q, const sotto_sgm_plan *p, double nodes)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++)
        sum += sotto_sgm_line_points(&sotto_sgm_side_of(q, i)->law, nodes * p->step) * nodes;
    return sum;
}

static void choose_nodes(sotto_sgm_plan *p, const sotto_sgm_question *q)
{
    double wanted = -(p->loss + q->digits), far = 8;

    while (far < 1e6 && decay_beyond(q, p->j, far * p->step) > wanted) {
        far *= 2;
        if (far > 2048 && sines_until(q, p, far) > FAR_TOO_MANY) {
            p->nodes = (size_t)far;
            p->sines = FAR_TOO_MANY;
            return;
        }
    }
    far = bisect(p, q, wanted, far / 2, far, decay_beyond);
    /* The better bound takes longer: only where there is much to spare. */
    if (far > 100)
        far = bisect(p, q, wanted, far / STRETCH, far, sotto_sgm_decay);
    /* Rounded up, so that a neighbouring question finds the table long enough. */
    p->nodes = (size_t)(ceil(far / 16) * 16) + 1;
    p->sines = sines_until(q, p, far) / far * (double)p->nodes;
}

double sotto_sgm_lattice_period(double period)
{
    return exp2(ceil(4 * log2(period)) / 4);
}

bool sotto_sgm_fit_lattice(sotto_sgm_plan *p, const sotto_sgm_question *q, double slack)
{
    if (period_for(q, p->j, p) <= slack * sotto_sgm_lattice_period(p->period))
        return true;
    choose_line(p, q, p->j);
    p->sines = INFINITY;
    return false;
}

bool sotto_sgm_is_short(const sotto_sgm_question *q)
{
    return sotto_sgm_rounds(q) < 8;
}

sotto_sgm_plan sotto_sgm_plan_for(const sotto_sgm_question *q, int best, double log_delta,
                                  double eps)
{
    sotto_sgm_plan p = {.log_delta = log_delta, .eps = eps};

    choose_line(&p, q, best);
    if (sotto_sgm_is_short(q))
        p.sines = INFINITY;
    else
        choose_nodes(&p, q);
    return p;
}
