/* The Gaussian mechanism of sensitivity 1: epsilon, delta or sigma from the other two. */
#include "golden.h"

#include "account/gauss/gaussian.h"

static sotto_status ask_epsilon(sotto_golden_answer *out, const sotto_golden_row *row,
                                sotto_err *err)
{
    double sigma = 0, log_delta = 0;
    sotto_status status = SOTTO_OK;
    sotto_bound bound = {0};

    SOTTO_TRY(sotto_golden_number(&sigma, row, "sigma", err));
    SOTTO_TRY(sotto_golden_log_delta(&log_delta, &status, row, "delta", err));
    if (status == SOTTO_OK)
        status = sotto_gaussian_epsilon(&bound, sigma, 1, 1, log_delta, err);
    return sotto_golden_take(out, bound, status, err);
}

static sotto_status ask_delta(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    double sigma = 0, eps = 0;
    sotto_bound bound = {0};

    SOTTO_TRY(sotto_golden_number(&sigma, row, "sigma", err));
    SOTTO_TRY(sotto_golden_number(&eps, row, "eps", err));
    sotto_status status = sotto_gaussian_log_delta(&bound, sigma, 1, 1, eps, err);
    return sotto_golden_take_log(out, bound, status, err);
}

static sotto_status ask_sigma(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    double eps = 0, log_delta = 0;
    sotto_status status = SOTTO_OK;
    sotto_bound bound = {0};

    SOTTO_TRY(sotto_golden_number(&eps, row, "eps", err));
    SOTTO_TRY(sotto_golden_log_delta(&log_delta, &status, row, "delta", err));
    if (status == SOTTO_OK)
        status = sotto_gaussian_sigma(&bound, eps, log_delta, 1, 1, err);
    return sotto_golden_take(out, bound, status, err);
}

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    if (sotto_golden_is(row, "query", "eps"))
        return ask_epsilon(out, row, err);
    if (sotto_golden_is(row, "query", "delta"))
        return ask_delta(out, row, err);
    if (sotto_golden_is(row, "query", "sigma"))
        return ask_sigma(out, row, err);
    return sotto_golden_unknown("query", sotto_golden_text(row, "query"), err);
}

const sotto_golden_format sotto_golden_gaussian = {
    "gaussian",
    "sigma,eps,delta,query,value,kind,rel_tol,method,source",
    answer,
};
