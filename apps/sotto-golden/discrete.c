/* The integer Gaussian: delta at epsilon, and how far a sum of n of them is from one. */
#include "golden.h"

#include <string.h>

#include "account/gauss/discrete_gaussian.h"

static sotto_status ask_delta(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    double sigma = 0, sensitivity = 0, eps = 0;
    sotto_bound bound = {0};

    SOTTO_TRY(sotto_golden_number(&sigma, row, "sigma", err));
    SOTTO_TRY(sotto_golden_number(&sensitivity, row, "sensitivity", err));
    SOTTO_TRY(sotto_golden_number(&eps, row, "eps", err));
    sotto_status status =
        sotto_discrete_gaussian_log_delta(&bound, sigma, sensitivity, eps, NULL, err);
    return sotto_golden_take_log(out, bound, status, err);
}

static sotto_status ask_tau(sotto_golden_answer *out, const sotto_golden_row *row,
                            const char *n_text, sotto_err *err)
{
    double sigma = 0;
    uint64_t n = 0;
    sotto_bound bound = {0};

    SOTTO_TRY(sotto_golden_number(&sigma, row, "sigma", err));
    SOTTO_TRY(sotto_golden_count_of(&n, n_text, "n of ddg_tau_n", err));
    sotto_status status = sotto_discrete_gaussian_sum_tau(&bound, sigma, (double)n, err);
    return sotto_golden_take(out, bound, status, err);
}

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    static const char tau[] = "ddg_tau_n=";
    const char *query = sotto_golden_text(row, "query");

    if (strcmp(query, "delta") == 0)
        return ask_delta(out, row, err);
    if (strncmp(query, tau, sizeof tau - 1) == 0)
        return ask_tau(out, row, query + sizeof tau - 1, err);
    return sotto_golden_unknown("query", query, err);
}

const sotto_golden_format sotto_golden_discrete = {
    "discrete_gaussian",
    "sigma,sensitivity,eps,delta,query,value,kind,rel_tol,method,source",
    answer,
};
