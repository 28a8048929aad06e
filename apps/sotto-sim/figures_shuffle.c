/* Amplification by shuffling: the printed closed forms, and the theorem that always holds, evaluated and simulated. */
#include "figures.h"

#include "account/local/checkin.h"
#include "base/alloc.h"
#include "sim/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double delta = 1e-6;

/* ---- curves ----------------------------------------------------------------------------------------- */

typedef sotto_status evaluate(sotto_bound *out, double eps0, double n, sotto_err *err);

static sotto_status by_2021(sotto_bound *out, double eps0, double n, sotto_err *err)
{
    const sotto_crowd crowd = {n, 0};
    sotto_clone_law law;

    SOTTO_TRY(sotto_clone_law_generic(&law, eps0, err));
    return sotto_clone_eps(out, &law, &crowd, log(delta), err);
}

static sotto_status by_2022(sotto_bound *out, double eps0, double n, sotto_err *err)
{
    const sotto_crowd crowd = {n, 0};
    sotto_clone_law law;

    SOTTO_TRY(sotto_clone_law_restricted_class(&law, eps0, err));
    return sotto_clone_eps(out, &law, &crowd, log(delta), err);
}

static sotto_status by_closed_form(sotto_bound *out, double eps0, double n, sotto_err *err)
{
    const sotto_crowd crowd = {n, 0};

    return sotto_clone_closed_2022_restricted_class(out, eps0, &crowd, log(delta), err);
}

static sotto_status by_check_ins(sotto_bound *out, double eps0, double n, sotto_err *err)
{
    const sotto_crowd crowd = {n, 0};

    return sotto_checkin_shuffle(out, eps0, &crowd, log(delta), err);
}

static sotto_status by_2019(sotto_bound *out, double eps0, double n, sotto_err *err)
{
    const sotto_crowd crowd = {n, 0};

    return sotto_checkin_shuffle_2019(out, eps0, &crowd, log(delta), err);
}

static sotto_status no_gain(sotto_bound *out, double eps0, double n, sotto_err *err)
{
    (void)n;
    (void)err;
    *out = (sotto_bound){eps0, eps0};
    return SOTTO_OK;
}

/* Where the side condition of a closed form fails there is no point. */
static sotto_status add_point(figure_series *s, double x, evaluate *by, double eps0, double n,
                              sotto_err *err)
{
    sotto_bound eps = {0, 0};
    sotto_err why = {0};
    const sotto_status status = by(&eps, eps0, n, &why);

    if (status != SOTTO_OK && status != SOTTO_DENIED)
        return sotto_fail(err, status, "%s", why.reason);
    if (status == SOTTO_OK)
        s->points[s->count++] = (sotto_curve_point){x, eps.low, eps.high, true};
    return SOTTO_OK;
}

/* ---- simulated -------------------------------------------------------------------------------------- */

/* The pair of laws that Feldman et al. 2021, Theorem 3.1, ends with. C of the other people's reports could be one's own, each of either
 * kind by a fair coin. One's own report is of the first kind with chance alpha. Draws are tilted to where the loss is above epsilon, and
 * weighed by how much likelier that made them. So a million of them see a delta of 10^-6 as well as any other. */
enum { DRAWS = 1000000 };

typedef struct pair {
    double eps0, n, clone, alpha;
    double tilted_clone, tilted_coin, log_all, log_miss; /* of the weights */
} pair;

static pair pair_of(double eps0, double n, double eps)
{
    const double alpha = exp(eps0) / (exp(eps0) + 1), clone = exp(-eps0),
                 at = (exp(eps) * alpha - (1 - alpha)) / ((2 * alpha - 1) * (1 + exp(eps))),
                 coin = fmin(fmax(at, 0.5), 0.999),
                 cost = coin * log(2 * coin) + (1 - coin) * log(2 * (1 - coin)),
                 part = clone * exp(-cost), all = 1 - clone + part;

    return (pair){.eps0 = eps0,
                  .n = n,
                  .clone = clone,
                  .alpha = alpha,
                  .tilted_clone = part / all,
                  .tilted_coin = coin,
                  .log_all = (n - 1) * log(all),
                  .log_miss = cost};
}

/* Of n chances, by going out from the likeliest number on both sides. */
static double draw_binomial(double n, double p, sotto_sim_random *random)
{
    double up = fmin(floor((n + 1) * p), n), down = up, mass, at_up, at_down;
    double left = sotto_sim_random_unit(random);

    mass = exp(lgamma(n + 1) - lgamma(up + 1) - lgamma(n - up + 1) + up * log(p) +
               (n - up) * log1p(-p));
    at_up = at_down = mass;
    left -= mass;
    while (left > 0 && (up < n || down > 0)) {
        if (up < n) {
            at_up *= (n - up) / (up + 1) * p / (1 - p);
            left -= at_up;
            if (left <= 0)
                return up + 1;
            up++;
        }
        if (down > 0) {
            at_down *= down / (n - down + 1) * (1 - p) / p;
            left -= at_down;
            if (left <= 0)
                return down - 1;
            down--;
        }
        if (at_up + at_down < 1e-18)
            break;
    }
    return up == down ? up : floor(n * p);
}

typedef struct sample {
    double loss, weight;
} sample;

static sample draw_sample(const pair *p, sotto_sim_random *random)
{
    const double clones = draw_binomial(p->n - 1, p->tilted_clone, random),
                 heads = draw_binomial(clones, p->tilted_coin, random),
                 own = sotto_sim_random_chance(random, p->alpha), a = heads + own,
                 b = clones + 1 - a,
                 log_weight = p->log_all + clones * p->log_miss - clones * log(2) -
                              heads * log(p->tilted_coin) -
                              (clones - heads) * log1p(-p->tilted_coin);

    return (sample){log((p->alpha * a + (1 - p->alpha) * b) / ((1 - p->alpha) * a + p->alpha * b)),
                    exp(log_weight)};
}

static double delta_of(const sample *samples, double eps)
{
    double sum = 0;

    for (size_t i = 0; i < DRAWS; i++)
        if (samples[i].loss > eps)
            sum -= samples[i].weight * expm1(eps - samples[i].loss);
    return sum / DRAWS;
}

/* The epsilon at which the samples have this delta: it falls. */
static sotto_status simulate_eps(double *out, double eps0, double n, double near, uint64_t seed,
                                 sotto_err *err)
{
    const size_t bytes = DRAWS * sizeof(sample);
    sample *samples = sotto_alloc(bytes);
    const pair p = pair_of(eps0, n, near);
    double low = 0, high = eps0;
    sotto_sim_random random;

    if (!samples)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%d draws", DRAWS);
    sotto_sim_random_init(&random, seed);
    for (size_t i = 0; i < DRAWS; i++)
        samples[i] = draw_sample(&p, &random);
    for (int i = 0; i < 30; i++) {
        const double middle = (low + high) / 2;

        *(delta_of(samples, middle) > delta ? &low : &high) = middle;
    }
    *out = (low + high) / 2;
    sotto_release(samples, bytes);
    return SOTTO_OK;
}

static sotto_status add_simulated(figure_panel *panel, figure_series *s, double x, double eps0,
                                  double n, uint64_t seed, sotto_err *err)
{
    sotto_bound curve;
    double eps;

    SOTTO_TRY(by_2021(&curve, eps0, n, err));
    SOTTO_TRY(simulate_eps(&eps, eps0, n, curve.high, seed, err));
    figure_simulated(panel, s, x, eps, curve.high);
    return SOTTO_OK;
}

/* ---- panels ----------------------------------------------------------------------------------------- */

static double between(double from, double to, size_t i, size_t count)
{
    return count > 1 ? from * pow(to / from, (double)i / (double)(count - 1)) : from;
}

sotto_status figure_cohort(figure_panel *panel, double eps0, const figures_options *o,
                           sotto_err *err)
{
    static const struct {
        const char *name;
        evaluate *by;
        bool dashed;
    } curves[] = {{"2021: always holds", by_2021, false},
                  {"2022: some randomizers", by_2022, false},
                  {"closed form, printed", by_closed_form, true}};
    const double from = 1000, to = 100000;
    figure_series *s;

    panel->x_name = "people, n";
    panel->y_name = "epsilon at delta 1e-6";
    panel->log_x = true;
    (void)snprintf(panel->title, sizeof panel->title, "local epsilon %g", eps0);
    (void)snprintf(panel->others, sizeof panel->others, "replacement; all people honest");
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
        SOTTO_TRY(figure_add(panel, &s, curves[i].name, (unsigned)i, err));
        s->dashed = curves[i].dashed;
        for (size_t j = 0; j < FIGURE_CURVE; j++) {
            const double n = floor(between(from, to, j, FIGURE_CURVE));

            SOTTO_TRY(add_point(s, n, curves[i].by, eps0, n, err));
        }
    }
    if (o->points == 0)
        return SOTTO_OK;
    SOTTO_TRY(figure_add(panel, &s, "2021, simulated", 0, err));
    s->dots = true;
    for (size_t i = 0; i < o->points; i++) {
        const double n = floor(between(from, to, i, (size_t)o->points));

        SOTTO_TRY(add_simulated(panel, s, n, eps0, n, o->seed + i, err));
    }
    return SOTTO_OK;
}

sotto_status figure_local(figure_panel *panel, const figures_options *o, sotto_err *err)
{
    static const struct {
        const char *name;
        evaluate *by;
        double n;
        unsigned colour;
        bool dashed;
    } curves[] = {{"Theorem 5.1, n 10^3", by_check_ins, 1e3, 0, false},
                  {"Theorem 5.1, n 10^4", by_check_ins, 1e4, 1, false},
                  {"Theorem 5.1, n 10^5", by_check_ins, 1e5, 2, false},
                  {"of 2019, n 10^4", by_2019, 1e4, 0, true},
                  {"of 2019, n 10^5", by_2019, 1e5, 1, true},
                  {"of 2019, n 10^6", by_2019, 1e6, 2, true},
                  {"no gain", no_gain, 1, 7, true},
                  {"2021, n 10^4", by_2021, 1e4, 3, false}};
    const double from = 0.05, to = 2;
    figure_series *s;

    panel->x_name = "local epsilon";
    panel->y_name = "epsilon at delta 1e-6";
    panel->log_x = true;
    (void)snprintf(panel->title, sizeof panel->title, "amplification by shuffling");
    (void)snprintf(panel->others, sizeof panel->others, "replacement; all people honest");
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
        SOTTO_TRY(figure_add(panel, &s, curves[i].name, curves[i].colour, err));
        s->dashed = curves[i].dashed;
        for (size_t j = 0; j < FIGURE_CURVE; j++) {
            const double eps0 = between(from, to, j, FIGURE_CURVE);

            SOTTO_TRY(add_point(s, eps0, curves[i].by, eps0, curves[i].n, err));
        }
    }
    if (o->points == 0)
        return SOTTO_OK;
    SOTTO_TRY(figure_add(panel, &s, "2021, simulated", 3, err));
    s->dots = true;
    for (size_t i = 0; i < o->points; i++) {
        const double eps0 = between(0.1, to, i, (size_t)o->points);

        SOTTO_TRY(add_simulated(panel, s, eps0, eps0, 1e4, o->seed + i, err));
    }
    return SOTTO_OK;
}
