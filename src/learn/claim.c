#include "learn/claim.h"

#include "account/gauss/lattice.h"
#include "account/gauss/rdp.h"
#include "account/gauss/sgm.h"
#include "account/numeric/special.h"
#include "account/put_aside.h"
#include "noise/noise.h"

#include <math.h>

#include "base/rule.h"

enum { ORDERS = 512, SLACK = 64 };

/* log of sum over k of C(a, k) (1-q)^(a-k) q^k e^(k (k-1) / 2 s^2), over a - 1; rounded up. */
static double sampled_divergence(double q, double s, unsigned a)
{
    double sum = -INFINITY, choose = 0;

    for (unsigned k = 0; k <= a; k++) {
        const double chance = (k ? k * log(q) : 0) + (k < a ? (a - k) * log1p(-q) : 0);

        sum = sotto_log_add(sum, choose + chance + (double)k * (k - 1.0) / (2 * s * s));
        choose += k < a ? log((double)(a - k)) - log(k + 1.0) : 0;
    }
    /* `choose` is at most 0.7 a, and each of its a steps is off by at most 2^-53 of it: below 2^-39 a in all, up to order
     * 16,384. All else is off by less than 2^-40 of the sum, or than 2^-39 a. */
    return sotto_round_up(fmax(sum, 0) * (1 + 0x1p-40) + 0x1p-38 * a, SLACK) / (a - 1);
}

/* Rounds of a real Gaussian composed optimally, where the integers stand for one and it is less. What that costs depends on how many
 * numbers were drawn. */
static sotto_status compose(sotto_learn_claim *out, const sotto_learn_question *q, double log_delta,
                            sotto_err *err)
{
    sotto_sgm_part part = {.rounds = q->rounds};
    sotto_sgm_answer found = {0};

    if (q->numbers == 0 || q->sigma < SOTTO_LATTICE_LEAST || q->rate < 1e-9)
        return SOTTO_OK;
    const double sigma = q->multiplier * sotto_lattice_shrink(q->sigma);
    if (sigma < 0.1)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sgm_new(&part.mechanism, q->rate, sigma, err));
    const sotto_status status = sotto_sgm_epsilon(&found, &part, 1, log_delta, SOTTO_EITHER, err);
    sotto_sgm_free(part.mechanism);
    SOTTO_TRY(status);
    const double lost =
        sotto_lattice_distance((double)q->numbers, q->sigma) + sotto_noise_delta(q->numbers);
    if (SOTTO_RULE(sampled_lattice_is_paid_for) &&
        !sotto_draws_are_paid(found.value.high, lost, q->delta))
        return SOTTO_OK;
    if (found.value.high < out->epsilon) {
        out->epsilon = found.value.high;
        out->order = 0;
        out->theorem = "Poisson-subsampled Gaussian, both directions, composed optimally";
    }
    return SOTTO_OK;
}

static sotto_status sampled(sotto_learn_claim *out, const sotto_learn_question *q, double log_delta,
                            sotto_err *err)
{
    double orders[ORDERS], divergence[ORDERS];
    sotto_bound bound;
    size_t count = 0;

    for (unsigned a = 2; a <= 16384 && count < ORDERS; a += a < 256 ? 1 : a / 16) {
        /* At a rate of 1 there is no sample, and the terms below the last have no logarithm. */
        const double one = q->rate < 1 ? sampled_divergence(q->rate, q->multiplier, a)
                                       : a / (2 * q->multiplier * q->multiplier);

        orders[count] = a;
        divergence[count] = sotto_round_up(one * (double)q->rounds, SLACK);
        if (divergence[count] < 1e14)
            count++;
    }
    if (count == 0)
        return sotto_fail(err, SOTTO_DENIED, "claim: the noise is too small for any bound");
    SOTTO_TRY(sotto_rdp_epsilon(&bound, &out->order, orders, divergence, count, log_delta, err));
    out->epsilon = bound.high;
    out->theorem = "Mironov, Talwar and Zhang 2019 at whole orders, for a discrete Gaussian";
    out->assumption = "nobody sees who takes part in a round, and who adds the noise is honest";
    return compose(out, q, log_delta, err);
}

static sotto_status concentrated(sotto_learn_claim *out, const sotto_learn_question *q,
                                 double log_delta, sotto_err *err)
{
    const bool tree = q->law == SOTTO_LEARN_TREE;
    sotto_bound bound;
    double rho;

    SOTTO_TRY(sotto_zcdp_of_gaussian(&rho, q->multiplier, 1, err));
    rho = sotto_round_up(rho * (double)q->participations * (tree ? (double)q->levels : 1), SLACK);
    SOTTO_TRY(sotto_zcdp_epsilon(&bound, rho, log_delta, err));
    out->epsilon = bound.high;
    out->order = 0;
    out->theorem = tree ? "Kairouz et al. 2021, with Canonne, Kamath and Steinke 2020"
                        : "Canonne, Kamath and Steinke 2020";
    out->assumption =
        tree ? "devices keep to one round a tree, and a server that adds the noise is honest"
             : "devices keep to their number of rounds, and who adds the noise is honest";
    return SOTTO_OK;
}

/* Each round releases integers with fresh noise, moved by what the rounds before revealed. The squares of all moves together are at
 * most that of the sensitivity, whoever chose them and when, so their zCDP adds up (docs/decisions/0189). */
static sotto_status buffered(sotto_learn_claim *out, const sotto_learn_question *q,
                             double log_delta, sotto_err *err)
{
    sotto_bound bound;
    double rho;

    SOTTO_TRY(sotto_zcdp_of_gaussian(&rho, q->multiplier, q->sensitivity, err));
    SOTTO_TRY(sotto_zcdp_epsilon(&bound, sotto_round_up(rho, SLACK), log_delta, err));
    out->epsilon = bound.high;
    out->order = 0;
    out->theorem = "Denisov et al. 2022 for a buffered Toeplitz matrix, by zCDP (decision 189)";
    out->assumption =
        "devices keep to their rounds, and one server is honest: it adds its noise in "
        "every round, and keeps the noise of all rounds secret";
    return SOTTO_OK;
}

static sotto_status check(const sotto_learn_question *q, sotto_err *err)
{
    if (q->law < SOTTO_LEARN_SAMPLED || q->law > SOTTO_LEARN_BLT)
        return sotto_fail(err, SOTTO_DENIED, "claim: law: sampled, counted, tree or blt wanted");
    if (q->law == SOTTO_LEARN_BLT && !(q->sensitivity >= 1 && q->sensitivity <= 1e6))
        return sotto_fail(err, SOTTO_DENIED, "claim: sensitivity: 1 to 10^6 wanted");
    if (!(q->multiplier >= 1e-3 && q->multiplier <= 1e6))
        return sotto_fail(err, SOTTO_DENIED, "claim: multiplier: 0.001 to 10^6 wanted");
    if (!(q->delta >= 1e-30 && q->delta < 1))
        return sotto_fail(err, SOTTO_DENIED, "claim: delta: 10^-30 to below 1 wanted");
    if (q->law == SOTTO_LEARN_SAMPLED &&
        (!(q->rate > 0 && q->rate <= 1) || q->rounds < 1 || q->rounds > 1000000))
        return sotto_fail(err, SOTTO_DENIED,
                          "claim: rate above 0, up to 1, and 1 to 10^6 rounds wanted");
    if ((q->law == SOTTO_LEARN_COUNTED || q->law == SOTTO_LEARN_TREE) &&
        (q->participations < 1 || q->participations > 1000000))
        return sotto_fail(err, SOTTO_DENIED, "claim: participations: 1 to 10^6 wanted");
    if (q->law == SOTTO_LEARN_TREE && (q->levels < 1 || q->levels > 64))
        return sotto_fail(err, SOTTO_DENIED, "claim: levels: 1 to 64 wanted");
    return SOTTO_OK;
}

sotto_status sotto_learn_claim_of(sotto_learn_claim *out, const sotto_learn_question *q,
                                  sotto_err *err)
{
    SOTTO_TRY(check(q, err));
    out->adjacency = "with a user's update or without it, where the number of users is public";
    const bool inexact = q->numbers > 0;
    const double log_delta = log(q->delta) - (inexact ? SOTTO_PUT_ASIDE : 0) - 0x1p-40;

    if (q->law == SOTTO_LEARN_SAMPLED)
        SOTTO_TRY(sampled(out, q, log_delta, err));
    else if (q->law == SOTTO_LEARN_BLT)
        SOTTO_TRY(buffered(out, q, log_delta, err));
    else
        SOTTO_TRY(concentrated(out, q, log_delta, err));
    if (SOTTO_RULE(inexact_draws_are_paid_for) && inexact &&
        !sotto_draws_are_paid(out->epsilon, sotto_noise_delta(q->numbers), q->delta))
        return sotto_fail(err, SOTTO_DENIED, "claim: delta: the samplers' own error takes it up");
    return SOTTO_OK;
}
