/* Series of a panel, and whether what was simulated lies on its curve. */
#include "figures.h"

#include <math.h>
#include <stdio.h>

/* Points may be this far from their curves. */
#define AGREES 0.05

sotto_status figure_add(figure_panel *panel, figure_series **out, const char *name, unsigned colour,
                        sotto_err *err)
{
    if (panel->count == FIGURE_SERIES)
        return sotto_fail(err, SOTTO_BUG, "too many curves");
    *out = &panel->series[panel->count++];
    **out = (figure_series){.colour = colour};
    (void)snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    return SOTTO_OK;
}

/* A point that is NaN agrees with nothing. fmax would drop it, and so would a comparison that asks for more than 5%. */
static double apart(double simulated, double curve)
{
    const double part = fabs(simulated / curve - 1);

    return isfinite(part) && simulated > 0 && curve > 0 ? part : INFINITY;
}

void figure_simulated(figure_panel *panel, figure_series *series, double x, double simulated,
                      double curve)
{
    panel->apart = fmax(panel->apart, apart(simulated, curve));
    if (series->count == FIGURE_POINTS)
        return;
    series->points[series->count++] = (sotto_curve_point){x, simulated, simulated, true};
    panel->simulated++;
}

/* Curves have logarithmic axes: what is not above 0 has no place on them. */
static bool is_drawn(const figure_series *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (!(s->points[i].low > 0 && s->points[i].high >= s->points[i].low &&
              isfinite(s->points[i].high)))
            return false;
    return true;
}

bool figure_agrees(const figure_panel *panel)
{
    for (size_t i = 0; i < panel->count; i++)
        if (!is_drawn(&panel->series[i]))
            return false;
    return panel->apart <= AGREES;
}
