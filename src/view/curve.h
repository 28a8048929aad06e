/* view/curve.h - points of one curve or several, as text, CSV or SVG; and several such plots beside each other. */
#ifndef SOTTO_VIEW_CURVE_H
#define SOTTO_VIEW_CURVE_H

#include "sotto/view.h"

typedef struct sotto_curve_point {
    double x;
    double low, high;
    bool answered; /* otherwise refused: there is nothing to draw */
} sotto_curve_point;

/* One of several curves. */
typedef struct sotto_curve_series {
    const char *name;
    const sotto_curve_point *points;
    size_t count;
    bool dots; /* no line: what was measured or simulated, beside the curve of the same colour */
    bool dashed;
    unsigned colour; /* 0 to SOTTO_CURVE_COLOURS - 1 */
} sotto_curve_series;

enum { SOTTO_CURVE_COLOURS = 8 };

typedef struct sotto_curve_plot {
    const char *x_name;
    const char *y_name;
    const char *title;
    const char *others; /* the parameters that stay as they are */
    bool log_x;
    const sotto_curve_point *points;
    size_t count;
    /* In place of points and count, where there are several. */
    const sotto_curve_series *series;
    size_t series_count;
} sotto_curve_plot;

/* Plots beside each other, in rows of so many columns. */
typedef struct sotto_curve_page {
    const char *title;
    const sotto_curve_plot *plots;
    size_t count, columns;
} sotto_curve_page;

/* SOTTO_DENIED: JSON, of which a caller writes a line as soon as it has a point. */
SOTTO_MUST_USE sotto_status sotto_view_curve(const sotto_view *view, const sotto_curve_plot *plot,
                                             sotto_err *err);

/* CSV and SVG alone. */
SOTTO_MUST_USE sotto_status sotto_view_curves(const sotto_view *view, const sotto_curve_page *page,
                                              sotto_err *err);

#endif
