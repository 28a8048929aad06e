#include "analyse/receipt_encryption.h"

#include "account/numeric/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define ESTIMATOR                                                                                  \
    "lattice estimator (Albrecht, Player and Scott 2015), commit 27a581b: primal uSVP and dual "   \
    "hybrid, default cost models"

/* Rounded down to tenths, as it is printed. */
static double soundness_of(const sotto_aero_terms *t)
{
    const sotto_aero_profile *p =
        t->profile == SOTTO_AERO_HIGH ? &sotto_aero_profile_high : &sotto_aero_profile_standard;

    return floor(10 * sotto_aero_profile_soundness(p).bits) / 10;
}

void sotto_stated_encryption_of(sotto_stated_encryption *out, const sotto_encrypted *plan,
                                double delta)
{
    const sotto_encrypted e = *plan;
    const double together = sotto_aero_odds_together(&e.odds, (double)e.sum.participations);

    *out = (sotto_stated_encryption){
        .is_known = true,
        .devices_least = e.least,
        .devices_most = e.most,
        .corrupt = e.corrupt,
        .offline = e.offline,
        .committees = e.committees,
        .committee = e.terms.committee,
        .tolerated = e.terms.threshold - 1,
        .rekey = e.terms.rekey,
        .noise_members = e.terms.noise_members,
        .noise_corrupt = e.terms.noise_corrupt,
        .noise_missing = e.terms.noise_missing,
        .checks = e.terms.checks,
        .miss = e.odds.missed,
        .tail = e.odds.members,
        .noise_tail = e.odds.noise,
        .stalls = e.stalls,
        .bits = e.set->bits,
        .bits_left = e.set->bits_left,
        .estimator = ESTIMATOR,
        .hint_rho = e.ledger.rho,
        .rho = e.rho,
        .soundness = soundness_of(&e.terms),
        .norm = sqrt((double)e.sum.norm2),
        .together = together,
        .holds = together <= delta,
    };
    (void)snprintf(out->set, sizeof out->set, "%s", e.set->name);
}

void sotto_receipt_encryption(sotto_receipt *r, const sotto_recipe *recipe)
{
    sotto_encrypted plan;

    if (!sotto_recipe_encrypted(&plan, recipe))
        return;
    (void)snprintf(r->server, sizeof r->server, "%s", plan.name);
    if (sotto_encrypted_plan(&plan, recipe, NULL) == SOTTO_OK)
        sotto_stated_encryption_of(&r->encryption, &plan, r->delta);
}

#define say sotto_write_format

static void say_round(sotto_writer *w, const sotto_stated_encryption *e)
{
    say(w, "  left out: ");
    if (e->dropped_count == 0)
        say(w, "nobody");
    for (size_t i = 0; i < e->dropped_count; i++)
        say(w, "%s%" PRIu64 " %s", i ? ", " : "", e->dropped[i].devices, e->dropped[i].cause);
    say(w, "\n");
    if (e->entry_count > 0)
        say(w, "  on the log: ");
    for (size_t i = 0; i < e->entry_count; i++)
        say(w, "%s%s at %" PRIu64, i ? ", " : "", e->entries[i].what, e->entries[i].index);
    if (e->entry_count > 0)
        say(w, "\n");
    if (e->is_trial)
        say(w, "  a trial: nobody held these sizes to their odds, and so they protect nobody\n");
}

void sotto_stated_encryption_say(sotto_writer *w, const sotto_stated_encryption *e)
{
    if (e->committees > 1)
        say(w,
            "  committees: %" PRIu64 ", each of the size below and with a key of its own; "
            "chances are that any one of them fails\n",
            e->committees);
    if (e->rekey)
        say(w,
            "  keys: each for up to %" PRIu64
            " rounds; a committee's chance below counts all committees that have its key\n",
            e->rekey);
    say(w,
        "  stated: of %" PRIu64 " to %" PRIu64
        " devices, a part of at most %.4g lies and of %.4g is "
        "offline\n"
        "  committee: %" PRIu64 " members, of whom %" PRIu64
        " may lie; more do with at most %.3g, and too few answer with %.3g\n"
        "  noise committee: %" PRIu64 " members, of whom %" PRIu64 " may lie and %" PRIu64
        " be missing; more lie with at most %.3g\n"
        "  spot checks: %" PRIu64 " expected for each leaf; a wrong leaf is missed with at most "
        "%.3g\n"
        "  together: in all rounds of a device any of these three happens with at most %.3g; delta "
        "does not include it\n",
        e->devices_least, e->devices_most, e->corrupt, e->offline, e->committee, e->tolerated,
        sotto_bound_shown(e->tail, 3), sotto_bound_shown(e->stalls, 3), e->noise_members,
        e->noise_corrupt, e->noise_missing, sotto_bound_shown(e->noise_tail, 3), e->checks,
        sotto_bound_shown(e->miss, 3), sotto_bound_shown(e->together, 3));
    if (!e->holds)
        say(w, "  these sizes prove nothing against a server that works with liars: that chance is "
               "above delta\n");
    say(w,
        "  encryption: set %s, %" PRIu64 " bits of security, %" PRIu64 " with all hints (%s)\n"
        "  proofs: %.1f bits; a contribution's norm is at most %.6g\n"
        "  zCDP of the round: %.4g, of it %.3g by what openings tell of a device's randomness\n",
        e->set, e->bits, e->bits_left, e->estimator, e->soundness, e->norm,
        sotto_bound_shown(e->rho, 4), sotto_bound_shown(e->hint_rho, 3));
    if (!e->is_session)
        say_round(w, e);
}
