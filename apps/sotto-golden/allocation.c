/* One participation in t slots, chosen at random: exactly, and as Poisson sampling of the same rate. */
#include "golden.h"

#include "account/gauss/allocation.h"
#include "sgm.h"

typedef struct inputs {
    double sigma;
    double slots;
    double log_delta;
} inputs;

static const struct direction {
    const char *quantity;
    sotto_allocation_direction direction;
} directions[] = {
    {"random_allocation_1_of_t_eps_remove", SOTTO_ALLOCATION_REMOVE},
    {"random_allocation_1_of_t_eps_add", SOTTO_ALLOCATION_ADD},
    {"random_allocation_1_of_t_eps_max", SOTTO_ALLOCATION_MAX},
};

static sotto_status poisson(sotto_bound *out, const inputs *in, sotto_err *err)
{
    if (!(in->slots >= 1 && in->slots <= 1e9 && in->slots == floor(in->slots)))
        return sotto_fail(err, SOTTO_MALFORMED, "t: a whole number from 1 to 1e9");
    return sotto_golden_sgm_epsilon(out, 1 / in->slots, in->sigma, (uint64_t)in->slots,
                                    in->log_delta, SOTTO_EITHER, err);
}

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    const struct direction *asked = NULL;
    bool as_poisson = sotto_golden_is(row, "quantity", "poisson_q=1/t_T=t_eps");
    inputs in = {0};
    sotto_bound bound = {0};
    sotto_status status = SOTTO_OK;

    for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++)
        if (sotto_golden_is(row, "quantity", directions[i].quantity))
            asked = &directions[i];
    if (asked == NULL && !as_poisson)
        return sotto_golden_unknown("quantity", sotto_golden_text(row, "quantity"), err);
    SOTTO_TRY(sotto_golden_number(&in.sigma, row, "sigma", err));
    SOTTO_TRY(sotto_golden_number(&in.slots, row, "t", err));
    SOTTO_TRY(sotto_golden_log_delta(&in.log_delta, &status, row, "delta", err));
    if (status == SOTTO_OK && as_poisson)
        status = poisson(&bound, &in, err);
    else if (status == SOTTO_OK)
        status =
            sotto_allocation_eps(&bound, asked->direction, in.sigma, in.slots, in.log_delta, err);
    return sotto_golden_take(out, bound, status, err);
}

const sotto_golden_format sotto_golden_allocation = {
    "random_allocation",
    "sigma,t,delta,quantity,value,kind,rel_tol,method,source",
    answer,
};
