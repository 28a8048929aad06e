#include "account/gauss/sgm.h"

#include "account/gauss/sgm_method.h"

#define LEAST_RATE  1e-9
#define LEAST_SIGMA 0.1
#define MOST_SIGMA  1e6

/* One inverse question: everything but the unknown. */
typedef struct target {
    double rate;
    double sigma;
    uint64_t rounds;
    double eps;
    double log_delta;
    bool unknown_sigma;
} target;

/* By how much what is asked for is exceeded where the unknown is exp(u): log of eps over the wanted one, which is
 * almost straight in u; at eps 0, log of delta over the wanted one. */
static sotto_status excess(sotto_bound *out, const target *q, double u, sotto_err *err)
{
    sotto_sgm *m = NULL;
    sotto_sgm_answer answer;
    sotto_status status;

    SOTTO_TRY(sotto_sgm_new(&m, q->unknown_sigma ? q->rate : fmin(exp(u), 1),
                            q->unknown_sigma ? exp(u) : q->sigma, err));
    sotto_sgm_part part = {m, q->rounds};
    if (q->eps > 0) {
        double wanted = log(q->eps) - 1e-15;
        status = sotto_sgm_epsilon(&answer, &part, 1, q->log_delta, SOTTO_EITHER, err);
        *out = (sotto_bound){log(answer.value.low) - wanted, log(answer.value.high) - wanted};
    } else {
        status = sotto_sgm_log_delta(&answer, &part, 1, q->eps, SOTTO_EITHER, err);
        *out = (sotto_bound){answer.value.low - q->log_delta, answer.value.high - q->log_delta};
    }
    sotto_sgm_free(m);
    return status;
}

/* So many of the last answers tell where to look next. */
#define TRIALS 4

typedef struct trial {
    double u, f;
} trial;

/* What has been asked: where the answer is certainly low enough, and where that could not be shown. */
typedef struct progress {
    trial good, bad;
    bool has_good, has_bad;
    trial last;
    double gap;   /* how far apart the sides were at good */
    double slope; /* of the excess                        */
    double noise; /* answers that differ by no more say nothing about it */
    double
        sure; /* the last place where what is asked for is certainly exceeded; NAN if none was seen */
    trial seen[TRIALS];
    int count; /* of those seen: all of them, also where only the last are kept */
} progress;

static double finite(double x)
{
    return isfinite(x) ? x : copysign(1e3, x);
}

static sotto_status visit(progress *p, const target *q, double u, sotto_err *err)
{
    sotto_bound b;

    SOTTO_TRY(excess(&b, q, u, err));
    trial here = {u, finite(b.high)}, before = p->last;
    p->noise = 0.02 * fmin(finite(b.high) - finite(b.low), 50);
    if ((p->has_good || p->has_bad) && fabs(here.f) < 900 && fabs(before.f) < 900 &&
        fabs(here.f - before.f) > p->noise) {
        double chord = (here.f - before.f) / (u - before.u);
        if (chord * p->slope > 0 && isfinite(chord))
            p->slope = chord;
    }
    p->last = here;
    p->seen[p->count++ % TRIALS] = here;
    if (b.low > 0)
        p->sure = u;
    if (here.f <= 0) {
        p->good = here;
        p->gap = fmin(finite(b.high) - finite(b.low), 50);
        p->has_good = true;
    } else {
        p->bad = here;
        p->has_bad = true;
    }
    return SOTTO_OK;
}

/* How close to the wanted an answer must come. Where its two sides are further apart than that, closer is an
 * accident. */
static double enough(const progress *p)
{
    return fmax(3e-8, 6e-3 * p->gap);
}

/* Where the excess is `aim`: u as a polynomial of it, through the last answers (Neville). With one answer, or where
 * they are not in order, by the slope. */
static double interpolate(const progress *p, double aim)
{
    double u[TRIALS], by_slope = p->last.u + (aim - p->last.f) / p->slope;
    int n = p->count < TRIALS ? p->count : TRIALS;

    for (int i = 0; i < n; i++) {
        u[i] = p->seen[i].u;
        for (int j = 0; j < i; j++)
            if (!((u[i] - u[j]) / (p->seen[i].f - p->seen[j].f) * p->slope > 0) ||
                fabs(p->seen[i].f - p->seen[j].f) < p->noise)
                return by_slope;
    }
    for (int k = 1; k < n; k++)
        for (int i = 0; i + k < n; i++) {
            double here = aim - p->seen[i].f, there = aim - p->seen[i + k].f;

            u[i] = (there * u[i] - here * u[i + 1]) / (there - here);
        }
    return n > 1 && isfinite(u[0]) ? u[0] : by_slope;
}

/* Where to look next: just inside, kept between good and bad. The third look aims a little outside, by about what it will
 * miss: from there the wanted is enclosed from the other side too. */
static double next_guess(const progress *p, int turn)
{
    bool outside = p->count == 2 && fabs(p->last.f) < 0.05;
    /* Ever further inside, as long as nothing good was found. */
    double inside =
        fmax(0.3 * enough(p), p->has_good ? 0 : 1e-3 * p->noise * exp2(fmin(p->count, 12)));
    double aim = outside ? 0.01 * fabs(p->last.f) : -inside;
    double next = interpolate(p, aim);

    if (!(p->has_good && p->has_bad))
        return p->last.u + fmin(fmax(next - p->last.u, -0.7), 0.7);
    double width = p->bad.u - p->good.u, inset = 1e-6 * fabs(width);
    double low = fmin(p->good.u, p->bad.u) + inset, high = fmax(p->good.u, p->bad.u) - inset;
    if (!(next > low && next < high)) /* answers that do not fit together: only the nearest two */
        next = p->good.u + width * (aim - p->good.f) / (p->bad.f - p->good.f);
    /* Noise in the answers can hold a search up for ever. */
    if (turn > 6 && turn % 2 == 1)
        next = p->good.u + width / 2;
    return fmin(fmax(next, low), high);
}

/* SOTTO_DENIED where nothing in [least, most] passes. */
static sotto_status solve(progress *p, const target *q, double start, double slope, double least,
                          double most, sotto_err *err)
{
    double at = start;

    *p = (progress){.slope = slope, .sure = NAN};
    for (int i = 0; i < 80; i++) {
        SOTTO_TRY(visit(p, q, at, err));
        if (p->has_good && (p->good.f >= -enough(p) || p->good.u == (slope < 0 ? least : most)))
            return SOTTO_OK;
        if (p->has_good && p->has_bad &&
            fabs(p->good.u - p->bad.u) < fmax(2e-9, 4e-3 * p->gap / fabs(slope)))
            return SOTTO_OK;
        double next = fmin(fmax(next_guess(p, i), least), most);
        if (next == at && !p->has_good)
            return sotto_fail(err, SOTTO_DENIED, "nothing in range satisfies eps %g", q->eps);
        at = next;
    }
    if (!p->has_good)
        return sotto_fail(err, SOTTO_DENIED, "nothing in range satisfies eps %g", q->eps);
    return SOTTO_OK;
}

static double estimate_at(const target *q, double u)
{
    return sotto_sgm_estimate_one(q->rate, exp(u), q->rounds, q->log_delta);
}

/* The noise at which the estimate of eps is what is wanted, and its slope there. */
static double first_sigma(const target *q, double *slope)
{
    double low = log(LEAST_SIGMA), high = log(MOST_SIGMA);

    for (int i = 0; i < 12; i++) {
        double mid = (low + high) / 2;
        /* The estimate is mostly a quarter too high. */
        if (estimate_at(q, mid) > 1.25 * q->eps)
            low = mid;
        else
            high = mid;
    }
    double mid = (low + high) / 2, ratio = estimate_at(q, mid + 0.05) / estimate_at(q, mid - 0.05);
    *slope = log(ratio) / 0.1;
    if (!(*slope < -0.5 && *slope > -50))
        *slope = -1.5;
    return mid;
}

/* From there to where a rough answer, in one direction only, is nearly what is wanted. */
static sotto_status nearer_sigma(double *u, double *slope, const target *q, sotto_err *err)
{
    trial last = {0};

    for (int i = 0; i < 4; i++) {
        sotto_sgm *m = NULL;
        SOTTO_TRY(sotto_sgm_new(&m, q->rate, exp(*u), err));
        trial here = {*u, log(sotto_sgm_route_rough(m, q->rounds, q->log_delta) / q->eps)};
        sotto_sgm_free(m);
        if (!isfinite(here.f))
            break;
        double chord = (here.f - last.f) / (here.u - last.u);
        if (i > 0 && chord < -0.3 && chord > -100)
            *slope = chord;
        *u = fmin(fmax(*u - fmin(fmax(here.f / *slope, -0.7), 0.7), log(LEAST_SIGMA)),
                  log(MOST_SIGMA) - 1e-12);
        if (fabs(here.f) < 0.02)
            break;
        last = here;
    }
    return SOTTO_OK;
}

sotto_status sotto_sgm_sigma_for(sotto_bound *out, double rate, uint64_t rounds, double eps,
                                 double log_delta, sotto_err *err)
{
    target q = {rate, 0, rounds, eps, log_delta, true};
    progress found;

    if (!(log_delta >= -690.8 && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "delta: exp(%g) is not in [1e-300, 1)", log_delta);
    if (!(eps > 0 && eps <= 1e12))
        return sotto_fail(err, SOTTO_MALFORMED, "eps: %g is not in (0, 1e12]", eps);
    double least = log(LEAST_SIGMA), most = log(MOST_SIGMA) - 1e-12;
    double slope = 0, start = fmin(fmax(first_sigma(&q, &slope), least), most);
    SOTTO_TRY(nearer_sigma(&start, &slope, &q, err));
    SOTTO_TRY(solve(&found, &q, start, slope, least, most, err));
    out->high = exp(found.good.u) * (1 + SOTTO_ROOT_PAD);
    out->low = found.good.u - found.sure < 3e-5 ? exp(found.sure) : 0;
    /* From the other side only where the lower bound of delta says so. */
    double back = fmax(1.2 * (found.gap - found.good.f) / fabs(found.slope), 1e-8);
    for (int i = 0; i < 4 && out->low == 0 && found.good.u - back >= least; i++, back *= 3) {
        sotto_bound b;
        SOTTO_TRY(excess(&b, &q, found.good.u - back, err));
        if (b.low > 0)
            out->low = exp(found.good.u - back);
    }
    return SOTTO_OK;
}

sotto_status sotto_sgm_rate_for(double *out, double sigma, uint64_t rounds, double eps,
                                double log_delta, sotto_err *err)
{
    target q = {0, sigma, rounds, eps, log_delta, false};
    progress found;

    if (!(log_delta >= -690.8 && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "delta: exp(%g) is not in [1e-300, 1)", log_delta);
    if (!(eps >= 0 && eps <= 1e12))
        return sotto_fail(err, SOTTO_MALFORMED, "eps: %g is not in 0..1e12", eps);
    double guess = sigma * fmax(eps, 1e-6) / sqrt((double)rounds * -2 * log_delta);
    double least = log(LEAST_RATE) + 1e-12, most = 0;
    SOTTO_TRY(solve(&found, &q, fmin(fmax(log(guess), least), most), 1, least, most, err));
    *out = found.good.u == 0 ? 1 : exp(found.good.u) * (1 - SOTTO_ROOT_PAD);
    return SOTTO_OK;
}

sotto_status sotto_sgm_rounds_for(uint64_t *out, sotto_sgm *m, double eps, double log_delta,
                                  sotto_err *err)
{
    uint64_t good = 0, bad = 1;
    sotto_sgm_answer answer;

    if (!(log_delta >= -690.8 && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "delta: exp(%g) is not in [1e-300, 1)", log_delta);
    while (good == 0 || bad - good > 1) {
        uint64_t mid = bad;
        if (good > 0)
            mid = bad > SOTTO_SGM_MOST_ROUNDS ? good * 4 : good + (bad - good) / 2;
        if (mid > SOTTO_SGM_MOST_ROUNDS)
            mid = SOTTO_SGM_MOST_ROUNDS;
        sotto_sgm_part part = {m, mid};
        SOTTO_TRY(sotto_sgm_log_delta(&answer, &part, 1, eps, SOTTO_EITHER, err));
        bool fits = answer.value.high <= log_delta;
        if (fits) {
            good = mid;
            if (bad == 1)
                bad = UINT64_MAX;
            if (mid == SOTTO_SGM_MOST_ROUNDS)
                break;
        } else {
            if (mid == 1)
                return sotto_fail(err, SOTTO_DENIED, "not one round satisfies eps %g", eps);
            bad = mid;
        }
    }
    *out = good;
    return SOTTO_OK;
}
