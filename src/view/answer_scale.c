/* Figures of an answer as marks on scales of their own: a mean and a count have no unit in common. */
#include "view/view.h"

#include <math.h>

double sotto_scale_step(double most, unsigned ticks)
{
    double step = pow(10, floor(log10(most / ticks)));

    for (int i = 0; most / step > ticks; i++)
        step *= i % 3 == 1 ? 2.5 : 2;
    return step;
}

/* An interval and as much beside it as is wide; what can't be below 0 has no scale there. */
static void draw_scale(sotto_figure_mark *m)
{
    enum { TICKS = 6 };
    const double low = fmin(m->low, m->value), high = fmax(m->high, m->value);
    double beside = (high - low) / 2;

    if (!isfinite(low) || !isfinite(high)) {
        m->to = m->step = 1;
        return;
    }
    if (!(beside > 1e-9 * fabs(high)))
        beside = fmax(fabs(high) / 10, 1);
    m->step = sotto_scale_step(high - low + 2 * beside, TICKS);
    m->from = floor((low - beside) / m->step) * m->step;
    m->to = ceil((high + beside) / m->step) * m->step;
    if (low >= 0 && m->from < 0)
        m->from = 0;
}

size_t sotto_figure_marks(sotto_figure_mark out[SOTTO_FIGURE_MARKS], const sotto_result *result)
{
    size_t count = 0;

    for (size_t i = 0; i < result->figure_count; i++) {
        const sotto_result_figure *f = &result->figures[i];

        out[count++] =
            (sotto_figure_mark){f->name, "", f->deviation, f->value, f->low, f->high, 0, 0, 0};
        if (result->rate > 0)
            out[count++] = (sotto_figure_mark){f->name,
                                               ", of all devices",
                                               hypot(f->whole.privacy, f->whole.sampling),
                                               f->whole.count,
                                               f->whole.low,
                                               f->whole.high,
                                               0,
                                               0,
                                               0};
    }
    for (size_t i = 0; i < count; i++)
        draw_scale(&out[i]);
    return count;
}

double sotto_figure_place(const sotto_figure_mark *m, double x)
{
    return isfinite(x) ? fmin(fmax((x - m->from) / (m->to - m->from), 0), 1) : 0;
}
