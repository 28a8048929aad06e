/* Epsilon of T rounds of the Poisson-subsampled Gaussian, add/remove. */
#include "golden.h"
#include "sgm.h"

sotto_status sotto_golden_sgm_epsilon(sotto_bound *out, double q, double sigma, uint64_t rounds,
                                      double log_delta, sotto_direction direction, sotto_err *err)
{
    sotto_sgm_part part = {.rounds = rounds};
    sotto_sgm_answer found = {0};

    SOTTO_TRY(sotto_sgm_new(&part.mechanism, q, sigma, err));
    sotto_status status = sotto_sgm_epsilon(&found, &part, 1, log_delta, direction, err);
    sotto_sgm_free(part.mechanism);
    *out = found.value;
    return status;
}

sotto_status sotto_golden_sgm_delta(sotto_bound *out, double q, double sigma, uint64_t rounds,
                                    double eps, sotto_err *err)
{
    sotto_sgm_part part = {.rounds = rounds};
    sotto_sgm_answer found = {0};

    SOTTO_TRY(sotto_sgm_new(&part.mechanism, q, sigma, err));
    sotto_status status = sotto_sgm_log_delta(&found, &part, 1, eps, SOTTO_EITHER, err);
    sotto_sgm_free(part.mechanism);
    *out = sotto_golden_exp(found.value);
    return status;
}

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    double q = 0, sigma = 0, log_delta = 0;
    uint64_t rounds = 0;
    sotto_bound bound = {0};
    sotto_status status = SOTTO_OK;
    sotto_direction direction = SOTTO_EITHER;

    if (sotto_golden_is(row, "quantity", "eps_remove"))
        direction = SOTTO_REMOVE;
    else if (sotto_golden_is(row, "quantity", "eps_add"))
        direction = SOTTO_ADD;
    else if (!sotto_golden_is(row, "quantity", "eps_max"))
        return sotto_golden_unknown("quantity", sotto_golden_text(row, "quantity"), err);
    SOTTO_TRY(sotto_golden_number(&q, row, "q", err));
    SOTTO_TRY(sotto_golden_number(&sigma, row, "sigma", err));
    SOTTO_TRY(sotto_golden_count(&rounds, row, "T", err));
    SOTTO_TRY(sotto_golden_log_delta(&log_delta, &status, row, "delta", err));
    if (status == SOTTO_OK)
        status = sotto_golden_sgm_epsilon(&bound, q, sigma, rounds, log_delta, direction, err);
    return sotto_golden_take(out, bound, status, err);
}

const sotto_golden_format sotto_golden_sgm_eps = {
    "sgm_eps",
    "q,sigma,T,delta,quantity,value,kind,rel_tol,method,source",
    answer,
};
