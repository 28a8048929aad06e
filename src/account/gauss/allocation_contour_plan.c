#include "account/gauss/allocation_contour_plan.h"

#include "account/gauss/allocation_quadrature.h"
#include "account/gauss/allocation_truncation.h"
#include "account/numeric/root.h"
#include "account/numeric/special.h"

#define PI 3.14159265358979323846
/* e^-MARGIN of delta may be lost to cutting Y off. */
#define MARGIN 22.0
/* e^LOSS: how much larger than the answer what is added up along the line may be. */
#define LOSS 14.0
/* Of the part above the heap, a tail of the normal law. */
#define MORE_OFF 1e-12

/* ---- where Y is cut off -------------------------------------------------------------------------------- */

/* Where Y is cut off: as far out as E |Z - cut Z| matters; for removal at Z = cap at the latest, where all that lies
 * above is heaped up. */
static void cut_off(sotto_allocation_contour *q, double cap)
{
    double reach = sqrt(2 * (MARGIN - q->log_delta)), a = q->a;
    double under = exp(sotto_log_tail(reach)) * (1 + 1e-9);

    q->over = a + reach;
    q->under = reach;
    q->heap = q->top = q->above = q->more = q->square = 0;
    double low_part = exp(sotto_log_tail(q->under)) - exp(sotto_log_tail(q->under + a));

    if (q->sign < 0) {
        q->gap_high = under;
        q->gap_low = exp(sotto_log_tail(q->over - a)) * (1 + 1e-9);
        q->beyond = exp(sotto_log_tail(q->over)) * (1 + 1e-9) + under;
        /* E (Y - 1) over what is kept is minus that of what is not. */
        q->mean = -(low_part - exp(sotto_log_tail(q->over - a)) + exp(sotto_log_tail(q->over)));
        return;
    }
    q->over = fmin(q->over, (log1p(cap) + a * a / 2) / a);
    q->top = expm1(a * q->over - a * a / 2);
    q->heap = exp(sotto_log_tail(q->over));
    q->above = exp(sotto_log_tail(q->over - a));
    q->more = fmax(0, q->above - (1 + q->top) * q->heap);
    /* E Z^2: up to there no more than E (Y - 1)^2 is, or than E Y^2 up to there; and the heap. */
    q->square = fmin(expm1(a * a), exp(a * a + sotto_log_tail(2 * a - q->over))) +
                q->top * q->top * q->heap + under;
    q->gap_high = q->more + q->above * MORE_OFF;
    q->gap_low = under;
    q->beyond = under;
    q->mean = low_part - q->more;
}

/* (Y - 1 - top)+ adds to the sum's excess in full, unless
 * the others' sum is so low that the excess starts above the heap. P(sum Z < mean - d) <= e^(-d^2 / (2 (t E Z^2 + d/3)))
 * for Z >= -1 (Bernstein). */
double sotto_contour_plan_sure_above(const sotto_allocation_contour *q, double A)
{
    double room = q->top - A - q->t * fabs(q->mean);

    if (!(room > 0))
        return 0;
    double spread = q->t * q->square * (1 + 1e-9) + room * (1 + fabs(q->mean)) / 3;

    return fmax(0, q->more - q->above * MORE_OFF) * fmax(0, 1 - exp(-room * room / (2 * spread)));
}

/* ---- the saddle --------------------------------------------------------------------------------------- */

/* The A at which a saddle-point formula through c gives the goal, log of E (sum Z - A)+; by log c. */
typedef struct saddle_goal {
    const sotto_allocation_contour *line;
    double log_goal;
} saddle_goal;

static double rough_place(const void *self, double log_c)
{
    const saddle_goal *at = self;
    const sotto_allocation_contour *q = at->line;
    double c = exp(log_c), bend, less = sotto_allocation_mgf(q, c, &bend);
    double spread = q->t * bend / (1 + less) + 2 / (c * c);

    return (q->t * log1p(less) - 2 * log_c - 0.5 * log(2 * PI * spread) - at->log_goal) / c;
}

/* The c that gives the smallest A. */
static double best_c(const sotto_allocation_contour *q, double deviation, double log_goal,
                     double *place)
{
    double reach = q->sign > 0 ? expm1(q->a * q->over - q->a * q->a / 2) : 1;
    double from = log(1e-2 / deviation), to = log(fmin(200 / deviation, 600 / reach));
    saddle_goal at = {q, log_goal};

    return exp(sotto_root_least(rough_place, &at, fmin(from, to - 3), to, 0.02, place));
}

/* Roughly: the answer, and a saddle that a line to it goes through. */
static sotto_status find_saddle(sotto_allocation_contour *q, double *saddle, double *place,
                                sotto_err *err)
{
    double deviation = sqrt(q->t * expm1(q->a * q->a)), error;
    double reach = q->sign > 0 ? expm1(q->a * q->over - q->a * q->a / 2) : 1;
    double usual = fmin(sqrt(1 - 2 * q->log_delta) / deviation, (MARGIN - q->log_delta) / reach);

    if (!sotto_allocation_quadrature_place(
            q, usual, 0, 1e-6 * fmin(1, usual * usual * expm1(q->a * q->a)), &error))
        return sotto_fail(err, SOTTO_DENIED, "sigma = %g: too many points", 1 / q->a);
    q->guess = 0;
    for (int i = 0; i < (q->sign > 0 ? 1 : 4); i++) { /* e^eps is in delta when adding */
        double rest = fmax(1e-3, 1 - q->more * exp(-q->log_delta));
        double goal = q->log_delta + log(q->t * rest) - (q->sign > 0 ? 0 : q->guess);

        *saddle = best_c(q, deviation, goal, place);
        if (q->sign < 0 && *place > 0.999999 * q->t)
            return sotto_fail(err, SOTTO_DENIED, "t = %g: no sum is as small as that", q->t);
        q->guess = *place > 0 ? q->sign * log1p(q->sign * *place / q->t) : 0;
    }
    return SOTTO_OK;
}

/* The A at which one term alone would exceed often enough: E (Y - 1 - A)+ = delta. */
static double single_jump(const sotto_allocation_contour *q)
{
    double low = 0, high = q->a + sqrt(2 * (MARGIN - q->log_delta));

    for (int i = 0; i < 40; i++) {
        double w = (low + high) / 2, y = exp(q->a * w - q->a * q->a / 2);
        double call = exp(sotto_log_tail(w - q->a)) - y * exp(sotto_log_tail(w));

        *(call > exp(q->log_delta) ? &low : &high) = w;
    }
    return fmax(0, expm1(q->a * high - q->a * q->a / 2));
}

/* Cuts Y off as low as the lower end allows: of what is above the heap, e^-margin of delta may be in doubt. */
static void lower_cap(sotto_allocation_contour *q, double A)
{
    double low = A, high = fmax(A, q->top), enough = exp(q->log_delta - q->margin);

    for (int i = 0; i < 30 && high - low > 1e-3 * high; i++) {
        double cap = (low + high) / 2;

        cut_off(q, cap);
        *(q->more - sotto_contour_plan_sure_above(q, A) <= enough + q->above * MORE_OFF ? &high
                                                                                        : &low) =
            cap;
    }
    cut_off(q, high);
}

/* A single huge term makes a line long, and matters only by how much it exceeds. So its mass is put at what the sum
 * must exceed (A) and by how much others may fall short. */
static sotto_status find_cap(sotto_allocation_contour *q, double near, double *saddle,
                             double *place, sotto_err *err)
{
    double deviation = sqrt(q->t * expm1(q->a * q->a)), z = q->log_delta + log(q->t / deviation);
    double jump = single_jump(q), A = fmax(jump, deviation * sqrt(fmax(0, -2 * z)));

    if (near > 0)
        A = q->t * expm1(near);
    cut_off(q, INFINITY);
    if (q->sign > 0)
        lower_cap(q, 1.02 * A);
    SOTTO_TRY(find_saddle(q, saddle, place, err));
    /* A saddle point's formula is above the truth where a single term decides, the larger of the two regimes below it. */
    if (q->sign > 0) {
        *place = fmax(jump, fmin(*place, A + 0.25 * fmax(0, *place - A)));
        *place = near > 0 ? A : *place;
        q->guess = log1p(*place / q->t);
    }
    return SOTTO_OK;
}

/* ---- how long, how fine --------------------------------------------------------------------------------- */

double sotto_contour_plan_truncation(const sotto_allocation_contour *q, double c, double log_whole,
                                     double cut)
{
    double points = q->beyond + q->heap * exp(c * q->top) * (1 + 1e-9);
    sotto_tilted_law law = {q->a, q->sign, c, q->under, q->over, points, log_whole};

    return sotto_tilted_law_truncation(&law, exp(-cut / q->t));
}

/* c in even steps of its logarithm, around the saddle: every fourth below it is looked at, and all above that for its
 * aliases. */
enum { BELOW = 36, ABOVE = 28, STEPS = BELOW + 1 + ABOVE, STRIDE = 4 };
#define RATIO 0.96

typedef struct ladder {
    double c[STEPS], whole[STEPS]; /* falling; log E e^(cZ) */
} ladder;

/* log of about the sum of absolute values along the line through the i-th c, for A. */
static double height_at(const sotto_allocation_contour *q, const ladder *l, int i, double A)
{
    return q->t * l->whole[i] - l->c[i] * A - log(l->c[i]);
}

/* Aliases below are e^(-c period), those above follow from Chernoff's bound at the c_far that does best. */
static sotto_contour_plan plot_course(const sotto_allocation_contour *q, const ladder *l, int at,
                                      double A)
{
    double goal = q->log_delta + log(q->t) - q->margin, c = l->c[at];
    double deviation = sqrt(q->t * expm1(q->a * q->a));
    sotto_contour_plan way = {c, 0, INFINITY, 0, 0};

    for (int i = at - 1; i >= 0 && i >= at - ABOVE; i--) {
        double period = (height_at(q, l, i, A) - goal) / (l->c[i] - c);

        if (period < way.period) {
            way.period = period;
            way.c_far = l->c[i];
        }
    }
    way.period = fmax(way.period, (log(q->t + deviation) - goal) / c);
    way.cut = fmin(45, q->margin + fmax(0, height_at(q, l, at, A) - q->log_delta - log(q->t)));
    way.end = sotto_contour_plan_truncation(q, c, l->whole[at], way.cut);
    return way;
}

/* Below the saddle the aliases are further apart in units of 1/c, but there are fewer far ones where a single term of
 * the sum can be huge. The cheaper of both is used, as long as it loses no more than some e^10 of the digits. */
static sotto_contour_plan cheapest_course(const sotto_allocation_contour *q, double saddle,
                                          double A)
{
    ladder l;
    double c = saddle / pow(RATIO, ABOVE), bend, least = INFINITY;

    for (int i = 0; i < STEPS; i++, c *= RATIO) {
        l.c[i] = c;
        l.whole[i] = log1p(sotto_allocation_mgf(q, c, &bend));
        if (i >= ABOVE)
            least = fmin(least, height_at(q, &l, i, A));
    }
    double most = fmax(least + 2, q->log_delta + log(q->t) + LOSS);
    sotto_contour_plan best = {0, 0, INFINITY, 0, INFINITY};

    for (int i = ABOVE, worse = 0; i < STEPS && worse < 2; i += STRIDE) {
        if (height_at(q, &l, i, A) > most)
            continue;
        sotto_contour_plan other = plot_course(q, &l, i, A);

        worse = other.end * other.period < best.end * best.period ? 0 : worse + 1;
        if (worse == 0)
            best = other;
    }
    return best;
}

sotto_status sotto_contour_plan_choose(sotto_contour_plan *out, sotto_allocation_contour *q,
                                       double near, sotto_err *err)
{
    double saddle = 0, place = 0, bend;

    SOTTO_TRY(find_cap(q, near, &saddle, &place, err));
    double whole = log1p(sotto_allocation_mgf(q, saddle, &bend));

    /* No period is shorter than what is asked about, no line through a smaller c is much shorter. */
    if (sotto_contour_plan_truncation(q, saddle, whole, q->margin) * fmax(place, 0) >
        2 * PI * SOTTO_ALLOCATION_NODES)
        return sotto_fail(err, SOTTO_DENIED, "t = %g: the line takes too many nodes", q->t);
    *out = cheapest_course(q, saddle, fmax(place, 0));
    return SOTTO_OK;
}
