/* Symmetric one-hot encoding and binary randomized response, added up. */
#include "symohe.h"

#include "golden.h"

sotto_status sotto_golden_symohe_by_rdp(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                                        double log_delta, sotto_err *err)
{
    sotto_bound exact = {0};

    SOTTO_TRY(sotto_onehot_eps_by_rdp(out, SOTTO_ONEHOT_REPLACEMENT, eps0, crowd, log_delta, err));
    SOTTO_TRY(sotto_onehot_eps(&exact, SOTTO_ONEHOT_REPLACEMENT, eps0, crowd, log_delta, err));
    out->low = exact.low;
    return SOTTO_OK;
}

static sotto_status ask_renyi(sotto_golden_answer *out, const sotto_golden_row *row, double eps0,
                              const sotto_crowd *crowd, sotto_err *err)
{
    double alpha = 0;
    sotto_bound bound = {0};

    SOTTO_TRY(sotto_golden_number(&alpha, row, "alpha", err));
    sotto_status status = sotto_onehot_rdp_bit(&bound, eps0, crowd, alpha, err);
    return sotto_golden_take(out, bound, status, err);
}

static sotto_status two_bits(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                             double log_delta, sotto_err *err)
{
    return sotto_onehot_eps(out, SOTTO_ONEHOT_REPLACEMENT, eps0, crowd, log_delta, err);
}

static sotto_status one_bit(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                            double log_delta, sotto_err *err)
{
    return sotto_onehot_eps(out, SOTTO_ONEHOT_DELETION, eps0, crowd, log_delta, err);
}

static const struct quantity {
    const char *name;
    sotto_status (*compute)(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                            double log_delta, sotto_err *err);
} quantities[] = {
    {"symOHE eps via Theorem C.3 RDP + seed000 Thm 1 conversion", sotto_golden_symohe_by_rdp},
    {"symOHE eps exact (two coordinates, worst data set)", two_bits},
    {"binary randomized response shuffled, exact eps", one_bit},
};

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    sotto_crowd crowd = {0};
    double eps0 = 0, log_delta = 0;
    sotto_bound bound = {0};
    sotto_status status = SOTTO_OK;
    const struct quantity *asked = NULL;
    bool renyi =
        sotto_golden_is(row, "quantity", "rho_2RR (max over directions, others all equal)");

    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++)
        if (sotto_golden_is(row, "quantity", quantities[i].name))
            asked = &quantities[i];
    if (asked == NULL && !renyi)
        return sotto_golden_unknown("quantity", sotto_golden_text(row, "quantity"), err);
    SOTTO_TRY(sotto_golden_number(&crowd.n_total, row, "n", err));
    SOTTO_TRY(sotto_golden_number(&eps0, row, "eps0", err));
    if (asked == NULL)
        return ask_renyi(out, row, eps0, &crowd, err);
    SOTTO_TRY(sotto_golden_log_delta(&log_delta, &status, row, "delta", err));
    if (status == SOTTO_OK)
        status = asked->compute(&bound, eps0, &crowd, log_delta, err);
    return sotto_golden_take(out, bound, status, err);
}

const sotto_golden_format sotto_golden_symohe = {
    "symohe",
    "n,eps0,alpha,delta,quantity,value,kind,rel_tol,method,source",
    answer,
};
