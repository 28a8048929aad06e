/* The same people in one window after another (Balle et al. 2020, Corollary 3.3). */
#include "account/local/checkin.h"

#include "account/local/checkin_check.h"
#include "account/local/compose_pure.h"

/* Parts of delta: one for the composition, one for all repetitions' own, which basic composition adds up. */
static double half_of(double log_delta)
{
    return sotto_round_down(log_delta - log(2.0), 4);
}

static sotto_status once(sotto_bound *out, const sotto_checkin *c, double log_delta, sotto_err *err)
{
    switch (c->form) {
    case SOTTO_CHECKIN_ONE_A_SLOT:
        return sotto_checkin_fixed_window_optimal(out, c->eps0, c->m, c->p0, log_delta, err);
    case SOTTO_CHECKIN_ALL_OF_A_SLOT:
        return sotto_checkin_averaged_halves(out, c->eps0, &c->crowd, c->m, log_delta, err);
    case SOTTO_CHECKIN_OWN_WINDOW:
        break;
    }
    return sotto_checkin_sliding_window(out, c->eps0, c->m, log_delta, err);
}

/* Each repetition is an (eps, delta / 2r)-DP release; these compose optimally (Kairouz, Oh and Viswanath 2015). */
static sotto_status by_releases(double *out, const sotto_checkin *c, double r, double log_delta,
                                sotto_err *err)
{
    const double half = half_of(log_delta), each = sotto_round_down(half - log(r), 4);
    sotto_bound eps, all;

    SOTTO_TRY(once(&eps, c, each, err));
    eps = sotto_checkin_promise(eps, c->eps0);
    if (eps.high < 1e-9) /* below what the composition takes: plain addition */
        all.high = sotto_round_up(r * eps.high, 1);
    else
        SOTTO_TRY(sotto_compose_optimal_epsilon(&all, eps.high, r, half, err));
    *out = fmin(all.high, sotto_round_up(r * eps.high, 1));
    return SOTTO_OK;
}

/* The proofs' steps, r times as many, in one heterogeneous composition: r times the sum of squares. */
static sotto_status by_steps(double *out, const sotto_checkin *c, double r, double log_delta,
                             sotto_err *err)
{
    sotto_bound squares;
    double log_composed = log_delta;

    if (c->form == SOTTO_CHECKIN_ALL_OF_A_SLOT) {
        log_composed = half_of(log_delta);
        SOTTO_TRY(sotto_checkin_averaged_squares(&squares, c->eps0, &c->crowd, c->m,
                                                 sotto_round_down(log_composed - log(r), 4), err));
    } else {
        SOTTO_TRY(sotto_checkin_fixed_squares(
            &squares, c->eps0, c->m, c->form == SOTTO_CHECKIN_ONE_A_SLOT ? c->p0 : 1, err));
    }
    const double total = r * squares.high;
    *out = sotto_round_up(total / 2 + sqrt(-2 * total * log_composed), 24);
    return SOTTO_OK;
}

sotto_status sotto_checkin_repeated(sotto_bound *out, const sotto_checkin *c, double repetitions,
                                    double log_delta, sotto_err *err)
{
    double steps = 0, releases = 0;

    *out = (sotto_bound){0, INFINITY};
    SOTTO_TRY(sotto_checkin_check_count("repetitions", repetitions, err));
    SOTTO_TRY(sotto_checkin_check_log("delta", log_delta, err));
    if (repetitions == 1)
        return once(out, c, log_delta, err);
    SOTTO_TRY(by_steps(&steps, c, repetitions, log_delta, err));
    SOTTO_TRY(by_releases(&releases, c, repetitions, log_delta, err));
    out->high = fmin(steps, releases);
    return SOTTO_OK;
}
