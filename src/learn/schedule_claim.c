#include "learn/schedule_claim.h"

#include "account/gauss/allocated.h"
#include "account/local/checkin.h"
#include "noise/noise.h"

#include <math.h>

#include "base/rule.h"

/* Theorem 4.1 divides by the number that came, and a report is there in any case: neither hides that somebody is absent. */
static const char replacement[] = "with other data of a user, who checks in either way";

/* ---- a Gaussian on each sum -------------------------------------------------------------------------------------- */

static sotto_status allocated(sotto_schedule_claim *out, const sotto_schedule *s,
                              const sotto_schedule_noise *n, uint64_t steps, double delta,
                              sotto_err *err)
{
    const sotto_schedule_config *c = &s->config;
    const uint64_t seen = steps < s->reach ? steps : s->reach;
    /* Where one of a slot is used, a device that comes takes another's place: the sum moves by two updates. */
    const double moves = c->policy == SOTTO_SLOT_ONE_OF ? 2 : 1;
    const sotto_allocated a = {.sigma = n->sigma,
                               .length = n->length * moves,
                               .chance = c->chance + 0x1p-53,
                               .reach = s->reach,
                               .seen = seen,
                               .numbers = (double)steps * (double)n->dimension,
                               .lost = sotto_noise_delta(steps * n->dimension)};

    SOTTO_TRY(sotto_allocated_eps(&out->epsilon, &a, delta, err));
    if (SOTTO_RULE(lattice_is_paid_for) && !sotto_allocated_is_paid(&a, out->epsilon, delta))
        return sotto_fail(
            err, SOTTO_DENIED,
            "claim: scale: integers are too coarse for this delta; take a larger scale");
    out->theorem = "random allocation of one release to a step, Gaussian noise in each";
    out->assumption = "nobody sees who checks in or when, and who adds the noise is honest";
    out->adjacency = "with a user's update or without it, where the number of users and their "
                     "arrivals are public";
    return SOTTO_OK;
}

/* ---- pure local randomizers -------------------------------------------------------------------------------------- */

static sotto_status averaged(sotto_schedule_claim *out, const sotto_schedule *s, double eps0,
                             double log_delta, sotto_err *err)
{
    const sotto_crowd crowd = {(double)s->config.devices, 0};
    sotto_bound bound;

    SOTTO_TRY(sotto_checkin_averaged_halves(&bound, eps0, &crowd, (double)s->config.slots,
                                            log_delta, err));
    out->theorem_epsilon = bound.high;
    out->proof_epsilon = NAN;
    out->theorem = "Balle et al. 2020, Theorem 4.1";
    out->assumption = "the server is trusted and hides who checks in when, and all devices are "
                      "honest and do not collude";
    out->adjacency = replacement;
    return SOTTO_OK;
}

/* No theorem is printed for donations, nor for a part of sliding windows: proofs are, and hold with other weights. */
static const char *replaced_by(sotto_schedule_law law, bool part)
{
    if (law == SOTTO_SCHEDULE_DONATION)
        return "the proof of Balle et al. 2020, Theorem 3.2, with weights (decision 149)";
    if (law != SOTTO_SCHEDULE_SLDW)
        return "Balle et al. 2020, Theorem 3.2 and its proof";
    return part ? "the proof of Balle et al. 2020, Theorem 4.3, with weights (decision 149)"
                : "Balle et al. 2020, Theorem 4.3 and its proof";
}

/* The first slots of a window are a window of their own, which a device checks in to with the chance that its slot is there. */
static sotto_status replaced(sotto_schedule_claim *out, const sotto_schedule *s, double eps0,
                             uint64_t steps, double log_delta, sotto_err *err)
{
    const sotto_schedule_config *c = &s->config;
    const uint64_t seen = (steps < s->reach ? steps : s->reach) * c->batch;
    const double p = fmin(1, (c->chance + 0x1p-53) * (double)seen / (double)c->slots);
    sotto_bound bound, optimal;

    SOTTO_TRY(sotto_checkin_fixed_window(&bound, eps0, (double)seen, fmin(1, p * (1 + 0x1p-40)),
                                         log_delta, err));
    SOTTO_TRY(sotto_checkin_fixed_window_optimal(&optimal, eps0, (double)seen,
                                                 fmin(1, p * (1 + 0x1p-40)), log_delta, err));
    out->theorem_epsilon = bound.high;
    out->proof_epsilon = optimal.high;
    out->theorem = replaced_by(c->law, steps < s->reach);
    out->assumption = "the server is trusted, hides who checks in when, and picks one of a slot at "
                      "random";
    out->adjacency = "with other data of a user, or none";
    return SOTTO_OK;
}

static sotto_status amplified(sotto_schedule_claim *out, const sotto_schedule *s, double eps0,
                              uint64_t steps, double delta, sotto_err *err)
{
    const double log_delta = log(delta) - 0x1p-30;

    if (SOTTO_RULE(all_of_a_slot_by_its_theorem) && s->config.policy != SOTTO_SLOT_ONE_OF &&
        s->config.law != SOTTO_SCHEDULE_AVG)
        return sotto_fail(
            err, SOTTO_DENIED,
            "claim: no theorem adds up all pure reports of a slot but avg's; take one "
            "of a slot");
    SOTTO_TRY(s->config.law == SOTTO_SCHEDULE_AVG ? averaged(out, s, eps0, log_delta, err)
                                                  : replaced(out, s, eps0, steps, log_delta, err));
    out->epsilon =
        fmin(out->theorem_epsilon, isnan(out->proof_epsilon) ? INFINITY : out->proof_epsilon);
    if (SOTTO_RULE(no_more_than_a_report) && !(out->epsilon < eps0)) {
        out->epsilon = eps0;
        out->theorem = "the randomizer of a report alone, as check-ins gain nothing here";
        out->assumption = "a device keeps to its randomizer";
        out->adjacency = replacement;
    }
    return SOTTO_OK;
}

sotto_status sotto_schedule_claim_of(sotto_schedule_claim *out, const sotto_schedule *schedule,
                                     const sotto_schedule_noise *noise, uint64_t steps,
                                     double delta, sotto_err *err)
{
    *out = (sotto_schedule_claim){.theorem_epsilon = NAN, .proof_epsilon = NAN};
    if (steps < 1 || steps > schedule->steps)
        return sotto_fail(err, SOTTO_DENIED, "claim: steps: 1 to %llu wanted",
                          (unsigned long long)schedule->steps);
    if (!(delta >= 1e-30 && delta < 1))
        return sotto_fail(err, SOTTO_DENIED, "claim: delta: 10^-30 to below 1 wanted");
    return noise->local_epsilon > 0
               ? amplified(out, schedule, noise->local_epsilon, steps, delta, err)
               : allocated(out, schedule, noise, steps, delta, err);
}
