/* view/curve.h - points of a curve, as text, CSV or SVG. */
#ifndef SOTTO_VIEW_CURVE_H
#define SOTTO_VIEW_CURVE_H

#include "sotto/view.h"

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
    bool log_x;
    const sotto_curve_point *points;
    size_t count;
} sotto_curve_plot;

/* SOTTO_DENIED: JSON, of which a caller writes a line as soon as it has a point. */
SOTTO_MUST_USE sotto_status sotto_view_curve(const sotto_view *view, const sotto_curve_plot *plot,
                                             sotto_err *err);

#endif
