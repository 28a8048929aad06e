#include "account/numeric/root.h"

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

        if (fabs(gap) <= 0.5 * (p.value.high - p.value.low) && isfinite(gap))
            return x; /* the curve itself can't tell any more */
        if (gap > 0)
            low = x;
        else
            high = x;
        double next = x - gap / p.slope;
        bool good = p.slope < 0 && next > low && next < high && fabs(gap) < 0.5 * gap_before;

        /* After a step of 1e-8 the next would be about its square: far inside the pad. A slope that is wrong makes
         * small steps too, so the value must be there as well. */
        if (good && fabs(next - x) <= 1e-8 * x && fabs(gap) < 1e-6)
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

sotto_bound sotto_root_narrow(sotto_reading gap, const void *self, sotto_bound in, double at_low,
                              double at_high, double width)
{
    int last = 0;

    for (int i = 0; i < 70 && in.high - in.low > width * in.high; i++) {
        double share = fmin(0.97, fmax(0.03, at_low / (at_low - at_high)));
        bool halve = i % 5 == 4 || !(at_high < 0);
        double x = in.low + (in.high - in.low) * (halve ? 0.5 : share), at = gap(self, x);

        if (at <= 0) {
            in.high = x;
            at_high = fmax(at, -1e3); /* an infinity would not steer */
            at_low = last == 1 ? at_low / 2 : at_low;
            last = 1;
        } else {
            in.low = x;
            at_low = at;
            at_high = last == -1 ? at_high / 2 : at_high;
            last = -1;
        }
    }
    return in;
}

double sotto_root_least(sotto_reading f, const void *self, double from, double to, double width,
                        double *least)
{
    const double g = 0.61803398874989484820;
    double left = to - g * (to - from), right = from + g * (to - from);
    double at_left = f(self, left), at_right = f(self, right);

    for (int i = 0; i < 100 && to - from > width; i++) {
        if (at_left <=
            at_right) { /* also where both are infinite: on to where they are not, mostly */
            to = right;
            right = left;
            at_right = at_left;
            left = to - g * (to - from);
            at_left = f(self, left);
        } else {
            from = left;
            left = right;
            at_left = at_right;
            right = from + g * (to - from);
            at_right = f(self, right);
        }
    }
    *least = fmin(at_left, at_right);
    return (from + to) / 2;
}
