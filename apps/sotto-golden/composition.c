/* Many releases of pure epsilon, and the donation-time formula. */
#include "golden.h"

#include "account/local/compose_pure.h"

typedef struct inputs {
    double eps;
    double delta_each;
    double rounds;
    double log_delta;
    sotto_status status; /* of log_delta: a row may ask for one that is refused */
} inputs;

/*   delta  the column that log_delta comes from */
static sotto_status read_inputs(inputs *in, const sotto_golden_row *row, const char *delta,
                                sotto_err *err)
{
    *in = (inputs){.status = SOTTO_OK};
    SOTTO_TRY(sotto_golden_number(&in->eps, row, "eps", err));
    SOTTO_TRY(sotto_golden_number(&in->delta_each, row, "delta_each", err));
    SOTTO_TRY(sotto_golden_number(&in->rounds, row, "T", err));
    return sotto_golden_log_delta(&in->log_delta, &in->status, row, delta, err);
}

static sotto_status advanced(sotto_golden_answer *out, const sotto_golden_row *row,
                             sotto_advanced form, sotto_err *err)
{
    sotto_bound bound = {0};
    inputs in;

    SOTTO_TRY(read_inputs(&in, row, "delta_target", err));
    if (in.status == SOTTO_OK)
        in.status = sotto_compose_advanced(&bound, NULL, form, in.eps, in.delta_each, in.rounds,
                                           in.log_delta, err);
    return sotto_golden_take(out, bound, in.status, err);
}

static sotto_status optimal(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    sotto_bound bound = {0};
    inputs in;

    SOTTO_TRY(read_inputs(&in, row, "delta_target", err));
    if (in.status == SOTTO_OK && in.delta_each != 0)
        in.status = sotto_fail(err, SOTTO_DENIED, "delta_each: 0 for this theorem");
    if (in.status == SOTTO_OK)
        in.status = sotto_compose_optimal_epsilon(&bound, in.eps, in.rounds, in.log_delta, err);
    return sotto_golden_take(out, bound, in.status, err);
}

/* The input is delta_each: delta_target is a rounded display of (m + 1) delta_each. */
static sotto_status donation(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    sotto_bound bound = {0};
    inputs in;

    SOTTO_TRY(read_inputs(&in, row, "delta_each", err));
    if (in.status == SOTTO_OK)
        in.status = sotto_donation_formula(&bound, NULL, in.eps, in.rounds, in.log_delta, err);
    return sotto_golden_take(out, bound, in.status, err);
}

/* Once is once: the release's own epsilon. */
static sotto_status one_participation(sotto_golden_answer *out, const sotto_golden_row *row,
                                      sotto_err *err)
{
    double eps;

    SOTTO_TRY(sotto_golden_number(&eps, row, "eps", err));
    return sotto_golden_take(out, (sotto_bound){eps, eps}, SOTTO_OK, err);
}

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    if (sotto_golden_is(row, "setting", "pure_dp")) {
        if (sotto_golden_is(row, "quantity", "advanced_composition_seed000_thm3"))
            return advanced(out, row, SOTTO_ADVANCED_DRV, err);
        if (sotto_golden_is(row, "quantity", "advanced_composition_half_eps2"))
            return advanced(out, row, SOTTO_ADVANCED_ZCDP, err);
        if (sotto_golden_is(row, "quantity", "optimal_homogeneous_composition"))
            return optimal(out, row, err);
    } else if (sotto_golden_is(row, "setting", "donation_time")) {
        if (sotto_golden_is(row, "quantity", "eps_prime_seed000_appendixA"))
            return donation(out, row, err);
        if (sotto_golden_is(row, "quantity", "no-amplification reference"))
            return one_participation(out, row, err);
    } else {
        return sotto_golden_unknown("setting", sotto_golden_text(row, "setting"), err);
    }
    return sotto_golden_unknown("quantity", sotto_golden_text(row, "quantity"), err);
}

const sotto_golden_format sotto_golden_composition = {
    "composition",
    "setting,eps,delta_each,T,delta_target,quantity,value,kind,rel_tol,method,source",
    answer,
};
