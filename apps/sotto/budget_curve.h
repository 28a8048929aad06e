/* apps/sotto/budget_curve.h - points of a curve, and the three ways to show them. */
#ifndef SOTTO_APPS_BUDGET_CURVE_H
#define SOTTO_APPS_BUDGET_CURVE_H

#include "sotto/base.h"

#include <stdio.h>

enum { CURVE_POINTS = 2000, CURVE_CAPTION = 300 };

typedef struct sotto_curve_point {
    double x;
    double low, high;
    bool answered; /* otherwise refused: there is nothing to draw */
} sotto_curve_point;

typedef struct sotto_curve_plot {
    const char *x_name;
    const char *y_name;
    const char *title;
    const char *others; /* the parameters that stay as they are */
    bool log_x, log_y;
    const sotto_curve_point *points;
    size_t count;
} sotto_curve_plot;

/* Where a point lies between the smallest and largest, 0 to 1. */
typedef struct sotto_curve_frame {
    double x_from, x_to, y_from, y_to;
    bool log_x, log_y;
} sotto_curve_frame;

/* False: no point was answered. */
bool sotto_curve_fit(sotto_curve_frame *out, const sotto_curve_plot *plot);
double sotto_curve_place(double x, double from, double to, bool logarithmic);

void sotto_curve_print_csv(FILE *out, const sotto_curve_plot *plot);
void sotto_curve_print_svg(FILE *out, const sotto_curve_plot *plot);
void sotto_curve_print_terminal(FILE *out, const sotto_curve_plot *plot);

#endif
