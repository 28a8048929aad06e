/* What a participant looks at before it joins. The server writes a round's terms: whatever protects must not be theirs to switch off. */
#include "aggregate/aero/terms.h"

#include "account/gauss/rdp.h"
#include "account/numeric/special.h"
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

/* More than `tolerated` of so many are corrupt: exact tails, rounded up. */
static sotto_status check_tail(const char *whom, double tolerated, double size, sotto_err *err)
{
    sotto_bound tail = {0};

    if (tolerated >= size)
        return SOTTO_OK;
    SOTTO_TRY(sotto_binomial_upper(&tail, tolerated + 1, size, SOTTO_AERO_CORRUPT,
                                   1 - SOTTO_AERO_CORRUPT, err));
    if (tail.high > SOTTO_AERO_ODDS)
        return sotto_fail(err, SOTTO_DENIED,
                          "aero: more than %.0f of %.0f %s are corrupt with probability %.2g",
                          tolerated, size, whom, tail.high);
    return SOTTO_OK;
}

static sotto_status check_odds(const sotto_aero_plan *plan, sotto_err *err)
{
    const sotto_aero_terms *t = &plan->terms;
    const sotto_round *r = plan->round;
    double leaves = (double)r->largest + t->noise_members;
    double miss =
        sotto_aero_miss(t, (double)r->registered, leaves, SOTTO_AERO_CORRUPT, SOTTO_AERO_OFFLINE);

    if (!(miss <= SOTTO_AERO_ODDS))
        return sotto_fail(err, SOTTO_DENIED, "aero: nobody looks at a leaf with probability %.2g",
                          miss);
    SOTTO_TRY(check_tail("members", t->threshold - 1.0, t->committee, err));
    SOTTO_TRY(check_tail("noise members", t->noise_corrupt, t->noise_members, err));
    return check_tail("contributors", t->liars, (double)r->largest, err);
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
        return sotto_fail(err, SOTTO_DENIED, "aero: sizes that protect nobody");
    return SOTTO_OK;
}
