/* What taking part at random makes of a learning recipe's epsilon, where nobody sees who does. */
#include "account/gauss/known_size.h"
#include "account/honest.h"
#include "account/local/sampling.h"
#include "base/rule.h"
#include "recipe/learning.h"

#include <math.h>

/* Each round has to be a fresh sample, whatever a device did before. A device that has had its participations is silent. So is one in the
 * rounds between two of its own. How many devices answer then depends on what they answered before. */
const char *sotto_learning_unsampled(const sotto_learning *l)
{
    const sotto_anonymity *a = &l->head.anonymity;

    if (SOTTO_RULE(learning_sampling_seen) && sotto_learning_one_server(l))
        return "not claimed: the one server sees who takes part";
    if (SOTTO_RULE(learning_sampling_hidden) && (!a->relay || !a->tokens || !a->log))
        return "not claimed: without a relay, tokens and a log it is seen who takes part";
    if (SOTTO_RULE(learning_sampling_fresh) && (l->participations < l->rounds || l->separation > 1))
        return "not claimed: a device that has had its participations is silent, so rounds are no "
               "fresh samples. As many participations as rounds, and a separation of 1, would be";
    if (SOTTO_RULE(learning_sampling_by_servers) && l->head.by != SOTTO_BY_SERVERS)
        return "not claimed: the theorem for samples of known size is taken for servers' noise";
    return NULL;
}

/* A sixteenth of delta is for rounds in which more devices take part than are priced, or fewer exist than reports show. */
sotto_status sotto_learning_sample(sotto_learning_claim *out, const sotto_learning *l,
                                   sotto_decimal honest, double log_delta, sotto_err *err)
{
    const double rate = l->head.participation.rate,
                 all = (double)sotto_honest_count(l->head.population, honest),
                 miss = sotto_round_down(log_delta - log(16) - log(2 * (double)l->rounds), 8),
                 left = sotto_round_down(log_delta + log1p(-1.0 / 16), 8);
    double shown, share;
    sotto_bound eps;

    SOTTO_TRY(sotto_sampled_fewest(&shown, (double)out->honest, rate, miss, err));
    SOTTO_TRY(sotto_sampled_share(&share, fmin(all, shown), rate, miss, err));
    SOTTO_TRY(sotto_known_size_epsilon(&eps, share, out->rho, l->rounds, left, err));
    out->sampled_share = share;
    out->sampled_epsilon = eps.high;
    return SOTTO_OK;
}
