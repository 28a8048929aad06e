/* Renyi divergence of one round of the Poisson-subsampled Gaussian. */
#include "golden.h"

#include "account/gauss/sgm.h"

static sotto_status compute(sotto_bound *out, double q, double sigma, double alpha,
                            sotto_direction direction, sotto_err *err)
{
    sotto_sgm *mechanism = NULL;

    SOTTO_TRY(sotto_sgm_new(&mechanism, q, sigma, err));
    sotto_status status = sotto_sgm_renyi(out, mechanism, alpha, direction, err);
    sotto_sgm_free(mechanism);
    return status;
}

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    double q = 0, sigma = 0, alpha = 0;
    sotto_bound bound = {0};
    sotto_direction direction = SOTTO_REMOVE;

    if (sotto_golden_is(row, "direction", "gaussian_vs_mixture"))
        direction = SOTTO_ADD;
    else if (!sotto_golden_is(row, "direction", "mixture_vs_gaussian"))
        return sotto_golden_unknown("direction", sotto_golden_text(row, "direction"), err);
    SOTTO_TRY(sotto_golden_number(&q, row, "q", err));
    SOTTO_TRY(sotto_golden_number(&sigma, row, "sigma", err));
    SOTTO_TRY(sotto_golden_number(&alpha, row, "alpha", err));
    sotto_status status = compute(&bound, q, sigma, alpha, direction, err);
    return sotto_golden_take(out, bound, status, err);
}

const sotto_golden_format sotto_golden_sgm_rdp = {
    "sgm_rdp",
    "q,sigma,alpha,direction,value,kind,rel_tol,method,source",
    answer,
};
