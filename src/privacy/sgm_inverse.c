#include "privacy/sgm.h"

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

/* log delta at eps, less the wanted one; the unknown is exp(u). */
static sotto_status excess(sotto_bound *out, const target *q, double u, sotto_err *err)
{
    sotto_sgm *m = NULL;
    sotto_sgm_answer answer;

    SOTTO_TRY(sotto_sgm_new(&m, q->unknown_sigma ? q->rate : fmin(exp(u), 1),
                            q->unknown_sigma ? exp(u) : q->sigma, err));
    sotto_sgm_part part = {m, q->rounds};
    sotto_status status = sotto_sgm_log_delta(&answer, &part, 1, q->eps, SOTTO_EITHER, err);
    if (status == SOTTO_OK)
        *out = (sotto_bound){answer.value.low - q->log_delta, answer.value.high - q->log_delta};
    sotto_sgm_free(m);
    return status;
}

static double finite(double x)
{
    return isfinite(x) ? x : copysign(1e3, x);
}

/* Narrows (bad, good), where the high side of `good` passes and that of `bad` does not: secants with the
 * retained end halved, so that both ends close in. */
static sotto_status narrow(double *good, double *bad, const target *q, double f_good, double f_bad,
                           sotto_err *err)
{
    int side = 0;

    for (int i = 0; i < 40 && fabs(*good - *bad) > 2e-9; i++) {
        double mid = (*good * f_bad - *bad * f_good) / (f_bad - f_good);
        double inset = 1e-10 + 1e-4 * fabs(*good - *bad);
        double low = fmin(*good, *bad) + inset, high = fmax(*good, *bad) - inset;
        if (!(mid > low && mid < high))
            mid = low < high ? fmin(fmax(mid, low), high) : (*good + *bad) / 2;
        sotto_bound b;
        SOTTO_TRY(excess(&b, q, mid, err));
        double f = finite(b.high);
        if (f <= 0) {
            *good = mid;
            f_good = f;
            f_bad = side == 1 ? f_bad / 2 : f_bad;
            side = 1;
        } else {
            *bad = mid;
            f_bad = f;
            f_good = side == -1 ? f_good / 2 : f_good;
            side = -1;
        }
    }
    return SOTTO_OK;
}

/* Walks from `start` until the answer changes; SOTTO_DENIED where nothing in [least, most] passes. */
static sotto_status solve(double *good, double *bad, const target *q, double start, double least,
                          double most, sotto_err *err)
{
    double toward = q->unknown_sigma ? 1 : -1; /* where it gets safer */
    double at = start, pace = 0.25, f = 0, last = start, f_last = 0;
    sotto_bound b;

    SOTTO_TRY(excess(&b, q, at, err));
    f = finite(b.high);
    bool began_good = f <= 0;
    for (int i = 0; i < 200; i++) {
        last = at;
        f_last = f;
        double next = at + pace * (began_good ? -toward : toward);
        next = fmin(fmax(next, least), most);
        if (next == at) {
            if (!began_good)
                return sotto_fail(err, SOTTO_DENIED, "nothing in range satisfies eps %g", q->eps);
            *good = *bad = at;
            return SOTTO_OK;
        }
        at = next;
        pace *= 1.6;
        SOTTO_TRY(excess(&b, q, at, err));
        f = finite(b.high);
        if ((f <= 0) != began_good)
            break;
    }
    *good = began_good ? last : at;
    *bad = began_good ? at : last;
    return narrow(good, bad, q, began_good ? f_last : f, began_good ? f : f_last, err);
}

sotto_status sotto_sgm_sigma_for(sotto_bound *out, double rate, uint64_t rounds, double eps,
                                 double log_delta, sotto_err *err)
{
    target q = {rate, 0, rounds, eps, log_delta, true};
    double good = 0, bad = 0;

    if (!(log_delta >= -690.8 && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "delta: exp(%g) is not in [1e-300, 1)", log_delta);
    if (!(eps > 0))
        return sotto_fail(err, SOTTO_MALFORMED, "eps: %g is not in (0, 1e12]", eps);
    /* A sampled Gaussian of many rounds is about q sqrt(T) apart. */
    double guess = rate * sqrt((double)rounds) * sqrt(-2 * log_delta) / fmin(eps, 1e3) + 0.4;
    double least = log(LEAST_SIGMA), most = log(MOST_SIGMA) - 1e-12;
    SOTTO_TRY(solve(&good, &bad, &q, fmin(fmax(log(guess), least), most), least, most, err));
    out->high = exp(good) * (1 + SOTTO_ROOT_PAD);
    out->low = 0;
    /* From the other side only where the lower bound of delta says so. */
    for (double back = 1e-8; back < 1 && out->low == 0; back *= 8) {
        sotto_bound b;
        if (good - back < least)
            break;
        SOTTO_TRY(excess(&b, &q, good - back, err));
        if (b.low > 0)
            out->low = exp(good - back);
    }
    return SOTTO_OK;
}

sotto_status sotto_sgm_rate_for(double *out, double sigma, uint64_t rounds, double eps,
                                double log_delta, sotto_err *err)
{
    target q = {0, sigma, rounds, eps, log_delta, false};
    double good = 0, bad = 0;

    if (!(log_delta >= -690.8 && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "delta: exp(%g) is not in [1e-300, 1)", log_delta);
    double guess = sigma * fmax(eps, 1e-6) / sqrt((double)rounds * -2 * log_delta);
    double least = log(LEAST_RATE) + 1e-12, most = 0;
    SOTTO_TRY(solve(&good, &bad, &q, fmin(fmax(log(guess), least), most), least, most, err));
    *out = good == 0 ? 1 : exp(good) * (1 - SOTTO_ROOT_PAD);
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
