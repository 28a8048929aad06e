/* What taking part at random makes of a learning recipe's epsilon, where nobody sees who does. */
#include "account/gauss/known_size.h"
#include "account/honest.h"
#include "account/local/sampling.h"
#include "account/numeric/decimal.h"
#include "base/rule.h"
#include "recipe/learning_correlated.h"
#include "recipe/learning_slots.h"
#include "recipe/listed_keys.h"

#include <math.h>

/* Each round has to be a fresh sample: neither whether a device answers nor what it sends may depend on coins of earlier rounds
 * (docs/decisions/0216). Turns that are counted depend on them. They don't where turns are drawn beforehand, or hardly ever end. */
const char *sotto_learning_unsampled(const sotto_learning *l)
{
    const sotto_anonymity *a = &l->head.anonymity;

    if (SOTTO_RULE(learning_sampling_by_coins) && sotto_learning_once(l))
        return "not claimed here: a device draws one round of all of them, which `explain` and "
               "receipts price by itself";
    if (SOTTO_RULE(learning_sampling_uncorrelated) && sotto_learning_correlated(l))
        return "not claimed: noise is correlated over rounds, and the theorem is for noise that is "
               "fresh in each";
    if (SOTTO_RULE(learning_sampling_seen) && sotto_learning_one_server(l))
        return "not claimed: the one server sees who takes part";
    if (SOTTO_RULE(learning_sampling_hidden) && (!a->relay || !a->tokens || !a->log))
        return "not claimed: without a relay, tokens and a log it is seen who takes part";
    if (SOTTO_RULE(learning_sampling_fresh) && !l->zeros && l->separation > 1)
        return "not claimed: a device is silent for some rounds after it took part, so rounds are "
               "no fresh samples. A separation of 1 would do, or \"on_no_turn\": \"zeros\"";
    if (SOTTO_RULE(learning_sampling_shown) && a->tokens == SOTTO_TOKENS_ARC &&
        l->rounds > SOTTO_ARC_SHOWS - SOTTO_ARC_OTHERS)
        return "not claimed: in so many rounds a device may use up its ARC credential, and its "
               "silence then follows from earlier coins. Fewer rounds would do, or tokens of type "
               "2";
    if (SOTTO_RULE(learning_sampling_by_servers) && l->head.by != SOTTO_BY_SERVERS)
        return "not claimed: the theorem for samples of known size is taken for servers' noise";
    return NULL;
}

uint64_t sotto_learning_spacing(const sotto_learning *l)
{
    const uint64_t least = (l->rounds + l->participations - 1) / l->participations;

    return least > l->separation ? least : l->separation;
}

/* log of a bound on the chance that the coins of any device pass its participations (Hoeffding 1963, theorem 1, and a union over devices).
 * There may be ten times the devices that the recipe states. */
static double log_ended(const sotto_learning *l)
{
    enum { TIMES = 10 };
    const double rounds = (double)l->rounds, rate = l->head.participation.rate,
                 part = ((double)l->participations + 1) / rounds;

    if (part > 1)
        return -INFINITY;
    if (part <= rate)
        return 0;
    const double divergence =
        part * log(part / rate) + (part < 1 ? (1 - part) * log((1 - part) / (1 - rate)) : 0);
    return log(TIMES * (double)l->head.population) - rounds * divergence * (1 - 1e-9) + 1e-9;
}

/* Where turns may end, the law of all rounds together is off by the chance that one does, and that costs (1 + e^epsilon) times as much
 * of delta. */
static bool turns_last(const sotto_learning *l, double epsilon, double log_part)
{
    return l->zeros || log_ended(l) + log1p(exp(epsilon)) + 1e-9 <= log_part;
}

/* A sixteenth of delta is for rounds in which more devices take part than are priced, or fewer exist than reports show. Another one is
 * for turns that end, where they may. */
sotto_status sotto_learning_sample(sotto_learning_claim *out, const sotto_learning *l,
                                   sotto_decimal honest, double log_delta, sotto_err *err)
{
    const double rate = l->head.participation.rate,
                 all = (double)sotto_honest_count(l->head.population, honest),
                 part = sotto_round_down(log_delta - log(16), 8),
                 miss = sotto_round_down(part - log(2 * (double)l->rounds), 8),
                 parts = !l->zeros && l->participations < l->rounds ? 2 : 1,
                 left = sotto_round_down(log_delta + log1p(-parts / 16), 8);
    double shown, share;
    sotto_bound eps;

    SOTTO_TRY(sotto_sampled_fewest(&shown, (double)out->honest, rate, miss, err));
    SOTTO_TRY(sotto_sampled_share(&share, fmin(all, shown), rate, miss, err));
    SOTTO_TRY(sotto_known_size_epsilon(&eps, share, out->rho, l->rounds, left, err));
    if (SOTTO_RULE(learning_turns_last) && !turns_last(l, eps.high, part)) {
        out->unsampled_why = "not claimed: devices use up their participations too often, so "
                             "rounds are no fresh samples. More participations would do, or "
                             "\"on_no_turn\": \"zeros\"";
        return sotto_fail(err, SOTTO_DENIED, "participations: devices use them up");
    }
    out->sampled_share = share;
    out->sampled_epsilon = eps.high;
    return SOTTO_OK;
}

sotto_decimal sotto_learning_charge(const sotto_learning *l, const sotto_learning_claim *claim)
{
    if (!claim->session)
        return l->head.epsilon;
    return (sotto_decimal){(uint64_t)ceil(claim->sampled_epsilon / SOTTO_DECIMAL_UNIT) + 1};
}
