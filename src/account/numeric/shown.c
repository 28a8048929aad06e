#include "account/numeric/shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double UNSEEN = 1e-13;

double sotto_bound_shown(double x, int digits)
{
    char text[40];
    double shown, unit;

    if (!(x > 0) || !isfinite(x))
        return x;
    (void)snprintf(text, sizeof text, "%.*e", digits - 1, x);
    shown = strtod(text, NULL);
    if (shown >= x * (1 - UNSEEN))
        return shown;
    unit = pow(10, floor(log10(shown)) - (digits - 1));
    (void)snprintf(text, sizeof text, "%.*e", digits - 1, shown + unit);
    return strtod(text, NULL);
}
