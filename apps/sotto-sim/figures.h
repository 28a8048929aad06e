/* apps/sotto-sim/figures.h - the papers' figures: closed forms for whole curves, and simulated points beside them.
 *
 *     figures.c          the list of figures, and files
 *     figures_agree.c    whether simulated points lie on their curves
 *     figures_error.c    squared errors of histograms (Talwar et al. 2024, Figures 1 to 3 and 5 to 8)
 *     figures_devices.c  the same, simulated: devices draw, noise is added, counts are estimated
 *     figures_shuffle.c  amplification by shuffling (McMillan et al. 2022, Figure 1; Balle et al. 2020, Figure 2)
 *
 * Closed forms have their noise and epsilons from the certified accountant.
 */
#ifndef SOTTO_APPS_FIGURES_H
#define SOTTO_APPS_FIGURES_H

#include "sotto/base.h"
#include "view/curve.h"

enum {
    FIGURE_CURVE = 49,  /* points of a curve      */
    FIGURE_POINTS = 32, /* most that are simulated */
    FIGURE_SERIES = 12,
    FIGURE_PANELS = 12,
    FIGURE_TEXT = 128
};

typedef struct figures_options {
    const char *out, *only;
    uint64_t devices, points, seed;
    bool quiet, json;
} figures_options;

/* One curve, or what was simulated of it. */
typedef struct figure_series {
    char name[FIGURE_TEXT];
    sotto_curve_point points[FIGURE_CURVE > FIGURE_POINTS ? FIGURE_CURVE : FIGURE_POINTS];
    size_t count;
    bool dots, dashed;
    unsigned colour;
} figure_series;

typedef struct figure_panel {
    char title[FIGURE_TEXT], others[FIGURE_TEXT];
    const char *x_name, *y_name;
    bool log_x;
    figure_series series[FIGURE_SERIES];
    size_t count;
    size_t simulated; /* points        */
    double apart;     /* the farthest of them from its curve, as a part of it */
} figure_panel;

/* Adds a series, or fails with SOTTO_BUG. */
SOTTO_MUST_USE sotto_status figure_add(figure_panel *panel, figure_series **out, const char *name,
                                       unsigned colour, sotto_err *err);
/* A simulated point beside the value that the curve has there. One that is no number is infinitely far from it. */
void figure_simulated(figure_panel *panel, figure_series *series, double x, double simulated,
                      double curve);
/* All points are numbers above 0, and no simulated one is more than 5% from its curve. */
bool figure_agrees(const figure_panel *panel);

/* ---- figures_error.c -------------------------------------------------------------------------------------- */

/* K bins, T tasks; gamma: part of the devices with a rare value, 1 for all. */
typedef struct figure_task {
    double K, T, gamma;
} figure_task;
SOTTO_MUST_USE sotto_status figure_errors(figure_panel *panel, const figure_task *task,
                                          const figures_options *options, sotto_err *err);
/* The least noise of one release, and of T releases of secret samples, at epsilon 1 and delta 1e-6. */
SOTTO_MUST_USE sotto_status figure_sigma(double *out, double rate, double T, sotto_err *err);

/* ---- figures_devices.c ------------------------------------------------------------------------------------- */

/* What devices do in one panel at one number of reports. */
typedef struct figure_draw {
    uint64_t devices, bins;
    double gamma;
    double rate_default, rate_other;
    const double *sigmas; /* of the noise that is added to the same sums in turn; 0: none */
    size_t count;
    uint64_t seed;
} figure_draw;
enum { FIGURE_SIGMAS = 3 };
/* errors[i]: mean squared error of the estimated distribution, over all bins but the default one, with noise i. Values are drawn
 * as devices are. Repeats until one part in a hundred is left to chance, about. */
SOTTO_MUST_USE sotto_status figure_simulate(double errors[FIGURE_SIGMAS], const figure_draw *draw,
                                            sotto_err *err);

/* ---- figures_shuffle.c ------------------------------------------------------------------------------------- */

/* Epsilon over the number of people, at this local epsilon. */
SOTTO_MUST_USE sotto_status figure_cohort(figure_panel *panel, double eps0,
                                          const figures_options *options, sotto_err *err);
/* Epsilon over the local one, for several numbers of people. */
SOTTO_MUST_USE sotto_status figure_local(figure_panel *panel, const figures_options *options,
                                         sotto_err *err);

int sim_verb_figures(int argc, char **argv);

#endif
