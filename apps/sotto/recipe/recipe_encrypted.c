/* What lint prints of a recipe whose sums are encrypted. */
#include "recipe.h"
#include "recipe/encrypted.h"

#include "account/numeric/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Rounded down to tenths. */
static double soundness_of(const sotto_aero_profile *profile)
{
    return floor(10 * sotto_aero_profile_soundness(profile).bits) / 10;
}

/* The one that the recipe asks for, and the other. */
static void print_proofs(const sotto_encrypted *e)
{
    const sotto_aero_profile *const both[] = {&sotto_aero_profile_standard,
                                              &sotto_aero_profile_high},
                                    *own = both[e->terms.profile == SOTTO_AERO_HIGH],
                                    *other = both[e->terms.profile != SOTTO_AERO_HIGH];

    printf("  proofs          %u columns and %u bits of work: %.1f bits of soundness, that work "
           "included; with %u and %u, %.1f\n",
           own->queries, own->grind, soundness_of(own), other->queries, other->grind,
           soundness_of(other));
}

void sotto_recipe_print_encrypted(const sotto_recipe *recipe)
{
    sotto_encrypted e;

    if (sotto_encrypted_plan(&e, recipe, NULL) != SOTTO_OK)
        return;
    if (e.committees > 1)
        printf("  committees      %" PRIu64
               ", each with a key of its own; chances are that any one of them fails\n",
               e.committees);
    printf(
        "  a round         zCDP %.6g, of it %.3g by what openings tell\n"
        "  committee       %u members, %u may lie; more do with %.3g at most, too few answer "
        "with %.3g\n"
        "  noise members   %u, %u may lie and %u be missing; more lie with %.3g at most\n"
        "  spot checks     %u expected for each leaf; a wrong leaf is missed with %.3g at most\n"
        "  together        any of these three in a device's rounds, with %.3g at most; delta does "
        "not include it\n"
        "  contributors    %" PRIu64 " at most; fewer than %" PRIu64 " with %.3g at most\n"
        "  encryption      set %s: %u bits of security, %u with all hints; %" PRIu64
        " ciphertexts\n",
        sotto_bound_shown(e.rho, 6), sotto_bound_shown(e.ledger.rho, 3), e.terms.committee,
        e.terms.threshold - 1, sotto_bound_shown(e.odds.members, 3), sotto_bound_shown(e.stalls, 3),
        e.terms.noise_members, e.terms.noise_corrupt, e.terms.noise_missing,
        sotto_bound_shown(e.odds.noise, 3), e.terms.checks, sotto_bound_shown(e.odds.missed, 3),
        sotto_bound_shown(sotto_aero_odds_together(&e.odds, (double)e.sum.participations), 3),
        e.largest, recipe->min_cohort, sotto_bound_shown(e.few, 3), e.set->name, e.set->bits,
        e.set->bits_left, e.ciphertexts);
    print_proofs(&e);
    if (e.terms.clears > 0)
        printf("  opened          once %" PRIu32 " devices said that they found nothing wrong\n",
               e.terms.clears);
}

void sotto_recipe_encrypted_members(sotto_json *j, const sotto_recipe *recipe)
{
    sotto_encrypted e;

    if (sotto_encrypted_plan(&e, recipe, NULL) != SOTTO_OK)
        return;
    sotto_json_object(j, "encrypted");
    sotto_json_real(j, "rho", e.rho);
    sotto_json_real(j, "hint_rho", e.ledger.rho);
    sotto_json_uint(j, "committees", e.committees);
    sotto_json_uint(j, "committee", e.terms.committee);
    sotto_json_uint(j, "tolerated", e.terms.threshold - 1);
    sotto_json_real(j, "tail", e.odds.members);
    sotto_json_real(j, "stalls", e.stalls);
    sotto_json_uint(j, "noise_members", e.terms.noise_members);
    sotto_json_real(j, "noise_tail", e.odds.noise);
    sotto_json_uint(j, "checks", e.terms.checks);
    sotto_json_real(j, "miss", e.odds.missed);
    sotto_json_real(j, "together", sotto_aero_odds_together(&e.odds, (double)e.sum.participations));
    sotto_json_uint(j, "largest", e.largest);
    sotto_json_real(j, "too_few", e.few);
    sotto_json_text(j, "set", e.set->name);
    sotto_json_uint(j, "bits", e.set->bits);
    sotto_json_uint(j, "bits_with_hints", e.set->bits_left);
    sotto_json_uint(j, "ciphertexts", e.ciphertexts);
    sotto_json_uint(j, "clear", e.terms.clears);
    sotto_json_text(j, "opening", e.terms.opening == SOTTO_AERO_ROBUST ? "robust" : "fast");
    sotto_json_uint(j, "proof_columns", e.queries);
    sotto_json_uint(j, "proof_work", e.grind);
    sotto_json_real(j, "proof_bits",
                    soundness_of(e.terms.profile == SOTTO_AERO_HIGH
                                     ? &sotto_aero_profile_high
                                     : &sotto_aero_profile_standard));
    sotto_json_end(j);
}
