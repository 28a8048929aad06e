/* Squared errors of histograms: NONPRIV, AGG and SAMPAGG of Talwar et al. 2024, section 3.1. */
#include "figures.h"

#include "account/gauss/gaussian.h"
#include "account/histogram_error.h"
#include "sotto/privacy.h"

#include <math.h>
#include <stdio.h>

static const double epsilon = 1, delta = 1e-6;

/* ---- noise ------------------------------------------------------------------------------------------ */

typedef struct known_sigma {
    double rate, T, sigma;
} known_sigma;

/* What was found stays: panels differ in K, which noise does not depend on. */
static known_sigma known[4096];
static size_t known_count;

static sotto_status plan_sigma(double *out, double rate, double T, sotto_err *err)
{
    sotto_question question = {
        .adjacency = SOTTO_ADJACENCY_ADD_REMOVE,
        .trust = SOTTO_TRUST_SPLIT,
        .dishonest = {0, 1},
        .delta = delta,
        .participation_is_hidden = true,
        .mechanism = SOTTO_MECHANISM_SAMPLED_GAUSSIAN,
        .of.sampled = {
            .contribution = SOTTO_CLIPPED_VECTOR, .clip = 1, .rate = rate, .rounds = (uint64_t)T}};
    sotto_plan plan;

    SOTTO_TRY(sotto_privacy_plan(&plan, &question, SOTTO_FIND_SIGMA, epsilon, NULL, err));
    *out = plan.value;
    return SOTTO_OK;
}

sotto_status figure_sigma(double *out, double rate, double T, sotto_err *err)
{
    for (size_t i = 0; i < known_count; i++)
        if (known[i].rate == rate && known[i].T == T) {
            *out = known[i].sigma;
            return SOTTO_OK;
        }
    SOTTO_TRY(plan_sigma(out, rate, T, err));
    if (known_count < sizeof known / sizeof known[0])
        known[known_count++] = (known_sigma){rate, T, *out};
    return SOTTO_OK;
}

/* ---- curves ----------------------------------------------------------------------------------------- */

typedef enum noise_of { NO_NOISE, OF_ONE_RELEASE, OF_A_SAMPLE } noise_of;

typedef struct algorithm {
    const char *name;
    sotto_histogram kind;
    noise_of noise;
} algorithm;

/* Errors are of the distribution that values are drawn from, so that a curve does not end where all devices with rare values answer. */
static const algorithm dense[] = {
    {"NONPRIV", SOTTO_HISTOGRAM_PLAIN, NO_NOISE},
    {"AGG", SOTTO_HISTOGRAM_AGGREGATE, OF_ONE_RELEASE},
    {"SAMPAGG", SOTTO_HISTOGRAM_SAMPLED, OF_A_SAMPLE},
};
static const algorithm sparse[] = {
    {"NONPRIVUNIF", SOTTO_HISTOGRAM_SPARSE_UNIFORM, NO_NOISE},
    {"AGG", SOTTO_HISTOGRAM_SPARSE_AGGREGATE, OF_ONE_RELEASE},
    {"NONPRIVIMPSAMP", SOTTO_HISTOGRAM_SPARSE_IMPORTANCE_APPROXIMATE, NO_NOISE},
    {"SAMPAGG", SOTTO_HISTOGRAM_SPARSE_SAMPLED_APPROXIMATE, OF_A_SAMPLE},
};

static sotto_status sigma_of(double *out, const algorithm *a, const sotto_histogram_setting *s,
                             sotto_err *err)
{
    sotto_bound bound;
    double rate;

    *out = 0;
    if (a->noise == NO_NOISE)
        return SOTTO_OK;
    if (a->noise == OF_ONE_RELEASE) {
        SOTTO_TRY(sotto_gaussian_sigma(&bound, epsilon, log(delta), 1, 1, err));
        *out = bound.high;
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_histogram_rate(&rate, a->kind, s, err));
    return figure_sigma(out, rate, s->T, err);
}

static sotto_status error_at(double *out, double *sigma, const algorithm *a,
                             const sotto_histogram_setting *s, sotto_err *err)
{
    SOTTO_TRY(sigma_of(sigma, a, s, err));
    return sotto_histogram_error(out, a->kind, s, *sigma, err);
}

static sotto_status add_curve(figure_panel *panel, const algorithm *a, unsigned colour,
                              sotto_histogram_setting s, sotto_err *err)
{
    figure_series *curve;
    double sigma, error;

    SOTTO_TRY(figure_add(panel, &curve, a->name, colour, err));
    for (int i = 0; i < FIGURE_CURVE; i++) {
        s.M = fmin(s.N, s.N * pow(10, -3 + 3.0 * i / (FIGURE_CURVE - 1)));
        SOTTO_TRY(error_at(&error, &sigma, a, &s, err));
        curve->points[curve->count++] = (sotto_curve_point){s.M, error, error, true};
    }
    return SOTTO_OK;
}

/* ---- simulated points ------------------------------------------------------------------------------- */

/* From a hundredth of the devices up to nine tenths of them. */
static double reports_at(const figures_options *o, size_t i)
{
    const double part = o->points > 1 ? (double)i / (double)(o->points - 1) : 0.5;

    return floor((double)o->devices * 0.01 * pow(90, part));
}

/* The noise of each algorithm that draws devices alike is added to the same sums. */
static sotto_status simulate_group(figure_panel *panel, const algorithm *group, size_t count,
                                   figure_series *const *dots, const sotto_histogram_setting *s,
                                   const figures_options *o, uint64_t number, sotto_err *err)
{
    double sigmas[FIGURE_SIGMAS] = {0}, curve[FIGURE_SIGMAS], errors[FIGURE_SIGMAS];
    figure_draw draw = {.devices = o->devices,
                        .bins = (uint64_t)s->K,
                        .gamma = s->gamma,
                        .rate_default = s->M / s->N,
                        .sigmas = sigmas,
                        .count = count,
                        .seed = o->seed + number};

    SOTTO_TRY(sotto_histogram_rate(&draw.rate_other, group[0].kind, s, err));
    if (draw.rate_other !=
        draw.rate_default) /* importance: half of the reports are for the default */
        draw.rate_default = s->M / (2 * s->N);
    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(error_at(&curve[i], &sigmas[i], &group[i], s, err));
        if (group[i].noise == OF_ONE_RELEASE) /* of as many releases as a device joins */
            sigmas[i] *= sqrt(ceil(s->T * s->M / s->N));
    }
    SOTTO_TRY(figure_simulate(errors, &draw, err));
    for (size_t i = 0; i < count; i++)
        figure_simulated(panel, dots[i], s->M, errors[i], curve[i]);
    return SOTTO_OK;
}

static sotto_status simulate(figure_panel *panel, const algorithm *list, size_t count,
                             sotto_histogram_setting s, const figures_options *o, sotto_err *err)
{
    const bool is_sparse = s.gamma < 1;
    const size_t first = is_sparse ? 2 : 3; /* of the first way to draw devices */
    figure_series *dots[4];
    char name[FIGURE_TEXT];

    for (size_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "%s, simulated", list[i].name);
        SOTTO_TRY(figure_add(panel, &dots[i], name, (unsigned)i, err));
        dots[i]->dots = true;
    }
    for (size_t i = 0; i < o->points; i++) {
        s.M = reports_at(o, i);
        SOTTO_TRY(simulate_group(panel, list, first, dots, &s, o, 2 * i, err));
        if (is_sparse)
            SOTTO_TRY(simulate_group(panel, list + first, count - first, dots + first, &s, o,
                                     2 * i + 1, err));
    }
    return SOTTO_OK;
}

sotto_status figure_errors(figure_panel *panel, const figure_task *task, const figures_options *o,
                           sotto_err *err)
{
    const bool is_sparse = task->gamma < 1;
    const algorithm *list = is_sparse ? sparse : dense;
    const size_t count =
        is_sparse ? sizeof sparse / sizeof sparse[0] : sizeof dense / sizeof dense[0];
    const sotto_histogram_setting s = {
        .N = (double)o->devices, .M = 1, .K = task->K, .T = task->T, .gamma = task->gamma};

    panel->x_name = "devices that answer, M";
    panel->y_name = is_sparse ? "expected squared error of rare values" : "expected squared error";
    panel->log_x = true;
    (void)snprintf(panel->title, sizeof panel->title, "K %.0f, T %.0f%s", task->K, task->T, "");
    if (is_sparse)
        (void)snprintf(panel->title, sizeof panel->title, "K %.0f, T %.0f, gamma %g", task->K,
                       task->T, task->gamma);
    (void)snprintf(panel->others, sizeof panel->others, "N %.0f, epsilon %g, delta %g in total",
                   s.N, epsilon, delta);
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(add_curve(panel, &list[i], (unsigned)i, s, err));
    return o->points > 0 ? simulate(panel, list, count, s, o, err) : SOTTO_OK;
}
