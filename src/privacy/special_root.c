#include "privacy/special_root.h"

#define STEPS_MAX 200
#define PADS_MAX  12
#define PAD_STEP  6.0

/* Halves what is left, in the logarithm where the ends are far apart. */
static double between(double low, double high)
{
    if (low > 0 && high > 4 * low)
        return sqrt(low) * sqrt(high);
    return low > 0 || high < 1e-280 ? low + 0.5 * (high - low) : 0.125 * high;
}

/* Newton's step where it stays inside; the bracket shrinks each time. */
static double approach(sotto_curve curve, const void *self, double target, double low, double high)
{
    double x = between(low, high);
    double gap_before = INFINITY;

    for (int i = 0; i < STEPS_MAX && high - low > 1e-13 * high; i++) {
        sotto_point p = curve(self, x);
        double gap = 0.5 * (p.value.low + p.value.high) - target;

        if (gap > 0)
            low = x;
        else
            high = x;
        double next = x - gap / p.slope;
        bool good = p.slope < 0 && next > low && next < high && fabs(gap) < 0.5 * gap_before;

        /* A slope that is wrong makes small steps too: the value must be there as well. */
        if (good && fabs(next - x) <= 1e-12 * x && fabs(gap) < 1e-7)
            return next;
        gap_before = good || fabs(gap) < gap_before ? fabs(gap) : gap_before;
        x = good ? next : between(low, high);
    }
    return x;
}

void sotto_root_enclose(sotto_bound *out, sotto_curve curve, const void *self, double target,
                        double low, double high)
{
    double x = approach(curve, self, target, low, high);
    double pad = SOTTO_ROOT_PAD;

    out->low = low;
    out->high = high;
    for (int i = 0; i < PADS_MAX; i++) {
        double up = sotto_round_up(x * (1 + pad), 1);

        pad *= PAD_STEP;
        if (up >= high || !(curve(self, up).value.high <= target))
            continue;
        out->high = up;
        break;
    }
    pad = SOTTO_ROOT_PAD;
    for (int i = 0; i < PADS_MAX; i++) {
        double down = sotto_round_down(x * (1 - pad), 1);

        pad *= PAD_STEP;
        if (down <= low || !(curve(self, down).value.low >= target))
            continue;
        out->low = down;
        break;
    }
}
