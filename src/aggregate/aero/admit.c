/* What a participant looks at before it joins. The server writes a round's terms: whatever protects must not be theirs to switch off. */
#include "aggregate/aero/odds.h"

#include "account/gauss/rdp.h"
#include "base/rule.h"

#include <math.h>
#include <string.h>

sotto_status sotto_aero_budget(const sotto_aero_plan *plan, sotto_err *err)
{
    const sotto_aero_terms *t = &plan->terms;
    const sotto_aero_account *account = plan->round->account;
    sotto_bound eps = {0};

    if (SOTTO_RULE(aero_account_known) && !account)
        return sotto_fail(err, SOTTO_DENIED, "aero: nobody knows what was spent before");
    if (t->epsilon == 0) {
        if (SOTTO_RULE(aero_claim_wanted) && (!account || !account->is_trial))
            return sotto_fail(err, SOTTO_DENIED, "aero: a round without a budget");
        return SOTTO_OK;
    }
    double rho = nextafter((account ? account->rho : 0) + plan->rho, INFINITY);
    if (!(rho >= 0 && rho < 1e12))
        return sotto_fail(err, SOTTO_DENIED, "aero: a round without noise has no price");
    SOTTO_TRY(sotto_zcdp_epsilon(&eps, rho, -(double)t->delta_bits * log(2), err));
    if (SOTTO_RULE(aero_budget_kept) && eps.high > (double)t->epsilon / 1e6)
        return sotto_fail(err, SOTTO_DENIED, "aero: epsilon would be %.6g, and %.6g is allowed",
                          eps.high, (double)t->epsilon / 1e6);
    return SOTTO_OK;
}

static sotto_status check_odds(const sotto_aero_plan *plan, sotto_err *err)
{
    const sotto_aero_people people = {.registered = (double)plan->round->registered,
                                      .largest = (double)plan->round->largest,
                                      .corrupt = SOTTO_AERO_CORRUPT,
                                      .offline = SOTTO_AERO_OFFLINE};
    sotto_aero_odds odds;

    SOTTO_TRY(sotto_aero_odds_of(&odds, &plan->terms, &people, err));
    const double together = sotto_aero_odds_together(&odds, plan->terms.participations),
                 delta = exp2(-(double)plan->terms.delta_bits);
    if (SOTTO_RULE(aero_odds_together) && !(together <= delta))
        return sotto_fail(err, SOTTO_DENIED,
                          "aero: sizes fail with a chance of %.2e in a device's rounds, and delta "
                          "is %.2e",
                          together, delta);
    if (odds.missed <= SOTTO_AERO_ODDS && odds.members <= SOTTO_AERO_ODDS &&
        odds.noise <= SOTTO_AERO_ODDS && odds.liars <= SOTTO_AERO_ODDS)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_DENIED,
                      "aero: sizes that protect nobody: chances of %.1e to miss a leaf, and of too "
                      "many liars %.1e (members), %.1e (noise), %.1e (contributors)",
                      odds.missed, odds.members, odds.noise, odds.liars);
}

sotto_status sotto_aero_admit(const sotto_aero_plan *plan, sotto_err *err)
{
    const sotto_aero_account *account = plan->round->account;
    const sotto_aero_set *set = plan->ledger.set;

    SOTTO_TRY(sotto_aero_budget(plan, err));
    if (account && account->is_trial)
        return SOTTO_OK;
    if (SOTTO_RULE(aero_set_agreed) && set->bits_left < SOTTO_AERO_LEAST_BITS &&
        (!account || !account->set || strcmp(account->set, set->name) != 0))
        return sotto_fail(err, SOTTO_DENIED,
                          "aero: set %s has %u bits of security, and was not asked for by name",
                          set->name, set->bits);
    if (SOTTO_RULE(aero_odds_kept) && check_odds(plan, err) != SOTTO_OK)
        return SOTTO_DENIED;
    return SOTTO_OK;
}
