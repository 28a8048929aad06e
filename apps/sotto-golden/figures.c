/* Printed numbers about check-ins, dummies, committees, spot checks and estimates. */
#include "paper.h"

#include <math.h>

#include "account/local/checkin.h"
#include "account/numeric/parameter.h"
#include "account/numeric/special.h"

/* A value by a few operations on doubles. */
static sotto_bound about(double x)
{
    return (sotto_bound){x * (1 - 1e-12), x * (1 + 1e-12)};
}

static sotto_crowd crowd_of(sotto_paper *p, const char *name)
{
    return (sotto_crowd){.n_total = (double)sotto_paper_get_count(p, name)};
}

/* ---- Balle et al. 2020 ----------------------------------------------------------------------------- */

static sotto_status theorem_3_2(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double eps0 = sotto_paper_get(p, "eps0"), m = sotto_paper_get(p, "m");
    double p0 = sotto_paper_get(p, "p0"), log_delta = sotto_paper_get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_checkin_fixed_window(out, eps0, m, p0, log_delta, err);
}

static sotto_status proof_of_3_2(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double eps0 = sotto_paper_get(p, "eps0"), m = sotto_paper_get(p, "m");
    double p0 = sotto_paper_get(p, "p0"), log_delta = sotto_paper_get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_checkin_fixed_window_optimal(out, eps0, m, p0, log_delta, err);
}

/* 7 p0 eps0 sqrt(log(1/delta)/m) */
static sotto_status short_form(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double eps0 = sotto_paper_get(p, "eps0"), m = sotto_paper_get(p, "m");
    double p0 = sotto_paper_get(p, "p0"), log_delta = sotto_paper_get_log_delta(p);

    (void)err;
    SOTTO_TRY(p->status);
    *out = about(7 * p0 * eps0 * sqrt(-log_delta / m));
    return SOTTO_OK;
}

/* What the 7 could be. The theorem rises fastest in eps0 and falls fastest with m and delta. So its quotient by the rest
 * of the short form is largest at eps0 = 1, m = 1, p0 = 1, delta = 1/100. */
static sotto_status least_constant(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    sotto_bound eps;

    SOTTO_TRY(theorem_3_2(&eps, p, err));
    *out = about(eps.high / (sotto_paper_get(p, "p0") * sotto_paper_get(p, "eps0") *
                             sqrt(-sotto_paper_get_log_delta(p) / sotto_paper_get(p, "m"))));
    return p->status;
}

/* n/m repetitions at p0 = m/n have together the squares of one window of n slots with probability 1. */
static sotto_status corollary_3_3(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double eps0 = sotto_paper_get(p, "eps0"), n = sotto_paper_get(p, "n");
    double log_delta = sotto_paper_get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_checkin_fixed_window(out, eps0, n, 1, log_delta, err);
}

static sotto_status theorem_4_1(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    sotto_crowd crowd = crowd_of(p, "n");
    double eps0 = sotto_paper_get(p, "eps0"), m = sotto_paper_get(p, "m");
    double log_delta = sotto_paper_get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_checkin_averaged(out, eps0, &crowd, m, log_delta, log_delta, err);
}

static sotto_status theorem_4_3(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double eps0 = sotto_paper_get(p, "eps0"), m = sotto_paper_get(p, "m");
    double log_delta = sotto_paper_get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_checkin_sliding_window(out, eps0, m, log_delta, err);
}

static sotto_status theorem_5_1(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    sotto_crowd crowd = crowd_of(p, "n");
    double eps0 = sotto_paper_get(p, "eps0"), log_delta = sotto_paper_get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_checkin_shuffle(out, eps0, &crowd, log_delta, err);
}

static sotto_status shuffle_of_2019(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    sotto_crowd crowd = crowd_of(p, "n");
    double eps0 = sotto_paper_get(p, "eps0"), log_delta = sotto_paper_get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_checkin_shuffle_2019(out, eps0, &crowd, log_delta, err);
}

static sotto_status proposition_3_4(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double n = sotto_paper_get(p, "n"), m = sotto_paper_get(p, "m"), p0 = sotto_paper_get(p, "p0");

    SOTTO_TRY(p->status);
    return sotto_checkin_dummies_fixed(out, n, m, p0, err);
}

static sotto_status proposition_4_4(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double n = sotto_paper_get(p, "n"), m = sotto_paper_get(p, "m");

    SOTTO_TRY(p->status);
    return sotto_checkin_dummies_sliding(out, n, m, err);
}

/* ---- Talwar et al. 2024, section 4.6 --------------------------------------------------------------- */

static double poisson(double mean, double k)
{
    return k < 0 ? 0 : exp(k * log(mean) - mean - lgamma(k + 1));
}

/* How well the count tells one more report, where the dummies in it are a Poisson number: the larger of both directions. */
static double count_delta(double mean, double eps)
{
    double more = 0, less = 0, far = mean + 40 * sqrt(mean) + 60;

    for (double k = 0; k <= far; k++) {
        double without = poisson(mean, k), with = poisson(mean, k - 1);

        more += fmax(0, with - exp(eps) * without);
        less += fmax(0, without - exp(eps) * with);
    }
    return fmax(more, less);
}

static sotto_status dummies_delta(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double mean = sotto_paper_get(p, "expected"), eps = sotto_paper_get(p, "eps");

    SOTTO_TRY(p->status);
    SOTTO_TRY(sotto_check_range("expected", mean, 1e-3, 1e6, err));
    *out = about(count_delta(mean, eps));
    return SOTTO_OK;
}

/* The least whole number of expected dummies. */
static sotto_status dummies_needed(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double eps = sotto_paper_get(p, "eps"), delta = exp(sotto_paper_get_log_delta(p));
    double low = 1, high = 1e6;

    SOTTO_TRY(p->status);
    SOTTO_TRY(sotto_check_range("eps", eps, 0.01, 10, err));
    while (high - low > 1) {
        double middle = floor((low + high) / 2);

        *(count_delta(middle, eps) > delta ? &low : &high) = middle;
    }
    *out = (sotto_bound){high, high};
    return SOTTO_OK;
}

/* ---- McMillan et al. 2022, appendix A -------------------------------------------------------------- */

/* What the estimate of a count f is on average, with `times` n/(e^eps - 1) taken off. */
static sotto_status mean_estimate(sotto_bound *out, sotto_paper *p, double times)
{
    double n = sotto_paper_get(p, "n"), f = sotto_paper_get(p, "f");
    double e = exp(sotto_paper_get(p, "eps")), scale = 2 * (1 + e) / (e - 1);

    SOTTO_TRY(p->status);
    *out = about(scale * (f / 2 + (n - f) / (e + 1)) - times * n / (e - 1));
    return SOTTO_OK;
}

static sotto_status estimate_as_printed(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    (void)err;
    return mean_estimate(out, p, 1);
}

static sotto_status estimate_corrected(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    (void)err;
    return mean_estimate(out, p, 2);
}

static sotto_status estimate_variance(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double n = sotto_paper_get(p, "n"), f = sotto_paper_get(p, "f");
    double e = exp(sotto_paper_get(p, "eps")), scale = 2 * (1 + e) / (e - 1);

    (void)err;
    SOTTO_TRY(p->status);
    *out = about(scale * scale * (f / 4 + (n - f) * e / ((e + 1) * (e + 1))));
    return SOTTO_OK;
}

/* ---- Liu and Gupta 2023 ---------------------------------------------------------------------------- */

/* e^(-(1-f) s): no honest device looks at a bad leaf. */
static sotto_status spot_check(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double f = sotto_paper_get(p, "f"), s = sotto_paper_get(p, "s");

    (void)err;
    SOTTO_TRY(p->status);
    *out = about(exp(-(1 - f) * s));
    return SOTTO_OK;
}

/* Claim A.2: e^(-fC) (e f/t)^(tC). */
static sotto_status committee_printed(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double f = sotto_paper_get(p, "f"), c = sotto_paper_get(p, "C"),
           t = sotto_paper_get(p, "A") / c;

    (void)err;
    SOTTO_TRY(p->status);
    *out = about(exp(-f * c + t * c * (1 + log(f / t))));
    return SOTTO_OK;
}

/* P(Bin(n, p) >= k) for k above the mean. */
static sotto_status tail(sotto_bound *out, double k, double n, double p, sotto_err *err)
{
    sotto_bound ratio;
    double error, log_mass = sotto_binomial_log_pmf(k, n, p, 1 - p, &error);

    SOTTO_TRY(sotto_binomial_tail_ratio(&ratio, k, n, p, 1 - p, err));
    *out = (sotto_bound){ratio.low * exp(log_mass - error - 1e-12),
                         ratio.high * exp(log_mass + error + 1e-12)};
    return SOTTO_OK;
}

/* At least A of C are malicious, each with probability f. */
static sotto_status committee_exact(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double f = sotto_paper_get(p, "f"), c = sotto_paper_get(p, "C"), a = sotto_paper_get(p, "A");

    SOTTO_TRY(p->status);
    return tail(out, a, c, f, err);
}

/* The Chernoff bound that the paper's numbers are: e^-mean (e/k)^(k mean). */
static sotto_status contributors_printed(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double mean = sotto_paper_get(p, "mean"), k = sotto_paper_get(p, "k");

    (void)err;
    SOTTO_TRY(p->status);
    *out = about(exp(mean * (k - 1 - k * log(k))));
    return SOTTO_OK;
}

/* More than k times as many of W devices contribute as are expected. */
static sotto_status contributors_exact(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double mean = sotto_paper_get(p, "mean"), w = sotto_paper_get(p, "W"),
           k = sotto_paper_get(p, "k");

    SOTTO_TRY(p->status);
    return tail(out, floor(k * mean) + 1, w, mean / w, err);
}

const sotto_paper_item sotto_paper_figures[] = {
    {"000", "Section 4.6 dummies delta", dummies_delta},
    {"000", "Section 4.6 dummies needed", dummies_needed},
    {"001", "Theorem 3.2", theorem_3_2},
    {"001", "Theorem 3.2 proof", proof_of_3_2},
    {"001", "Theorem 3.2 short form", short_form},
    {"001", "Theorem 3.2 least constant", least_constant},
    {"001", "Corollary 3.3", corollary_3_3},
    {"001", "Theorem 4.1", theorem_4_1},
    {"001", "Theorem 4.3", theorem_4_3},
    {"001", "Theorem 5.1", theorem_5_1},
    {"001", "Shuffling of 2019", shuffle_of_2019},
    {"001", "Proposition 3.4", proposition_3_4},
    {"001", "Proposition 4.4", proposition_4_4},
    {"002", "Algorithm 2 as printed", estimate_as_printed},
    {"002", "Algorithm 2 corrected", estimate_corrected},
    {"002", "Theorem A.2 variance", estimate_variance},
    {"004", "spot check", spot_check},
    {"004", "committee as printed", committee_printed},
    {"004", "committee exact", committee_exact},
    {"004", "contributors as printed", contributors_printed},
    {"004", "contributors exact", contributors_exact},
};

const size_t sotto_paper_figure_count = sizeof sotto_paper_figures / sizeof sotto_paper_figures[0];
