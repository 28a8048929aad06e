/* What lint and explain say of encrypted sums. Devices link none of it. */
#include "recipe/encrypted.h"

#include "account/numeric/shown.h"
#include "account/trust.h"
#include "base/rule.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const sotto_place privacy = {NULL, "privacy", 0}, aggregation = {NULL, "aggregation", 0};

/* A chance, and how far it may go. */
static void check_odd(sotto_reading *at, const sotto_place *place, double odds, double most,
                      const char *accepted, const char *what)
{
    if (SOTTO_RULE(encrypted_odds) && !(odds <= most))
        sotto_reading_mistake(at, place, accepted, "%s with a chance of %.2g; at most %.2g goes",
                              what, sotto_bound_shown(odds, 2), most);
}

/* Odds above delta, of all rounds of a device and all together, would be no guarantee. Each by itself is told first: it says which is to blame. */
static void check_odds(sotto_reading *at, const sotto_encrypted *e, const sotto_recipe *recipe)
{
    static const sotto_place committee = {&aggregation, "committee", 0},
                             noise = {&aggregation, "noise", 0},
                             checks = {&aggregation, "checks", 0},
                             devices = {&aggregation, "devices", 0}, least = {&devices, "least", 0};
    const double delta = sotto_decimal_down(recipe->delta),
                 each = delta / (e->sum.participations > 0 ? (double)e->sum.participations : 1),
                 most = each < SOTTO_AERO_ODDS ? each : SOTTO_AERO_ODDS;

    check_odd(at, &committee, e->odds.members, most, "a larger committee, or more that may lie",
              "more members lie than may");
    check_odd(at, &noise, e->odds.noise, most, "a larger committee, or more that may lie",
              "more noise members lie than may");
    check_odd(at, &checks, e->odds.missed, most, "more checks",
              "nobody honest and online looks at a leaf");
    check_odd(at, &least, e->few, 0.01, "more devices, a larger rate, or a smaller min_cohort",
              "fewer than min_cohort contribute");
    /* Devices hold them to what the terms have for delta. */
    check_odd(at, &aggregation, sotto_aero_odds_together(&e->odds, (double)e->sum.participations),
              exp2(-(double)e->terms.delta_bits), "larger committees, or more checks",
              "committees or checks fail in one of a device's rounds");
}

/* What this version builds of what the keys could say. */
static void check_built(sotto_reading *at, const sotto_encrypted *e, const sotto_recipe *recipe)
{
    static const sotto_place proof = {&aggregation, "proof", 0}, group = {&proof, "group", 0},
                             taking = {NULL, "participation", 0}, cohorts = {NULL, "cohorts", 0};

    if (SOTTO_RULE(encrypted_proof_known) && !(e->queries == 118 && e->grind == 20) &&
        !(e->queries == 189 && e->grind == 0))
        sotto_reading_mistake(at, &proof, "118 queries and 20 bits of work, or 189 and none",
                              "no such proof");
    if (SOTTO_RULE(encrypted_group_known) && e->group != SOTTO_AERO_GROUP)
        sotto_reading_mistake(at, &group, "37", "a proof is of up to %d ciphertexts",
                              SOTTO_AERO_GROUP);
    if (SOTTO_RULE(encrypted_drawn_in_public) && recipe->participation.type != SOTTO_POISSON)
        sotto_reading_mistake(at, &taking, "poisson",
                              "devices draw themselves by the beacon, in every round anew");
    if (SOTTO_RULE(encrypted_one_cohort) && recipe->cohort_count > 0)
        sotto_reading_mistake(at, &cohorts, "a recipe without this key",
                              "not yet: a round has one cohort, and one budget");
}

/* A committee without a group opens nothing, and is one more to lose. */
static void check_count(sotto_reading *at, const sotto_encrypted *e)
{
    static const sotto_place committee = {&aggregation, "committee", 0},
                             count = {&committee, "count", 0};
    const uint64_t groups = (e->ciphertexts + SOTTO_AERO_GROUP - 1) / SOTTO_AERO_GROUP;

    if (SOTTO_RULE(encrypted_committees_work) &&
        (e->committees > groups || e->committees > SOTTO_AERO_MOST_COMMITTEES))
        sotto_reading_mistake(at, &count, "as many as there are groups, and 8 at most",
                              "%" PRIu64 " committees for %" PRIu64 " groups of ciphertexts",
                              e->committees, groups);
}

/* Corrupt devices may keep silent, and others are offline. */
static void check_clear(sotto_reading *at, const sotto_encrypted *e)
{
    static const sotto_place devices = {&aggregation, "devices", 0}, clear = {&devices, "clear", 0};
    const double there = (1 - e->corrupt) * (1 - e->offline) * (double)e->least;

    if (SOTTO_RULE(encrypted_clear_reached) && e->terms.clears > there)
        sotto_reading_mistake(at, &clear, "fewer",
                              "%" PRIu32 " devices, where %.0f are honest and online: no sum would "
                              "be opened",
                              e->terms.clears, floor(there));
}

/* Both committees of a hand-over have to agree: twice as many as may lie, and one. */
static void check_rekey(sotto_reading *at, const sotto_encrypted *e)
{
    static const sotto_place rekey = {&aggregation, "rekey", 0};

    if (!e->terms.rekey)
        return;
    if (SOTTO_RULE(encrypted_rekey_fits) &&
        (e->committees > 1 || 2 * (uint64_t)e->terms.threshold - 1 > e->terms.committee))
        sotto_reading_mistake(at, &rekey,
                              "round, or one committee of more than twice as many as may lie",
                              "%" PRIu64 " committees of %u, of whom %u may lie, hand over no key",
                              e->committees, e->terms.committee, e->terms.threshold - 1);
    if (SOTTO_RULE(encrypted_rekey_fast) && e->terms.opening == SOTTO_AERO_ROBUST)
        sotto_reading_mistake(at, &rekey, "round", "the robust path has a new key in each round");
}

void sotto_recipe_check_encrypted(sotto_reading *at, const sotto_recipe *recipe)
{
    sotto_encrypted e;
    sotto_err why = {0};

    if (!sotto_recipe_encrypted(&e, recipe))
        return;
    const bool whole = sotto_encrypted_plan(&e, recipe, &why) == SOTTO_OK;
    sotto_encrypted_check(at, recipe, &e, whole ? NULL : why.reason);
}

void sotto_encrypted_check(sotto_reading *at, const sotto_recipe *recipe, const sotto_encrypted *e,
                           const char *why)
{
    static const sotto_place by = {&privacy, "by", 0}, set = {&aggregation, "parameters", 0};

    check_built(at, e, recipe);
    if (SOTTO_RULE(encrypted_by_committee) && recipe->by != SOTTO_BY_COMMITTEE) {
        sotto_reading_mistake(at, &by, "committee",
                              "no amplification is earned where the server sees who takes part, "
                              "and nobody else adds noise");
        return;
    }
    if (why) {
        sotto_reading_mistake(at, &aggregation, "sizes that fit", "%.150s", why);
        return;
    }
    check_count(at, e);
    check_clear(at, e);
    check_rekey(at, e);
    if (e->set->bits_left < SOTTO_AERO_LEAST_BITS) {
        char what[160];

        (void)snprintf(what, sizeof what,
                       "set %s has %u bits of security, %u with hints: devices refuse it unless "
                       "they agreed to it by name",
                       e->set->name, e->set->bits, e->set->bits_left);
        sotto_reading_warn(at, &set, what);
    }
    check_odds(at, e, recipe);
}

void sotto_encrypted_explain(sotto_writer *w, const sotto_recipe *recipe)
{
    const sotto_trust_words *words = sotto_trust_words_of(recipe->trust);
    sotto_encrypted e;

    if (!sotto_recipe_encrypted(&e, recipe))
        return;
    sotto_write_format(w,
                       "Your device encrypts its answer and proves that it is within its bounds. "
                       "One server, %s, adds up at least %" PRIu64
                       " encrypted answers. Devices check its additions, and %s of %u "
                       "devices opens %s. %s %s %s\n",
                       e.name, recipe->min_cohort,
                       e.committees > 1 ? "each committee" : "a committee", e.terms.committee,
                       e.committees > 1 ? "its part of the sum" : "the sum", words->honest,
                       words->sees, words->inputs);
    if (e.terms.opening == SOTTO_AERO_ROBUST)
        sotto_write_format(w,
                           "Where no more members lie than may, the sum that they open is right, "
                           "and who lied is named.\n");
    if (sotto_encrypted_plan(&e, recipe, NULL) != SOTTO_OK)
        return;
    sotto_encrypted_say_odds(w, &e);
}

void sotto_encrypted_say_odds(sotto_writer *w, const sotto_encrypted *e)
{
    sotto_write_format(
        w,
        "Assumed: of %" PRIu64 " to %" PRIu64
        " devices, a part of at most %.4g lies and of %.4g is "
        "offline; %u of %u members, and %u of %u noise members, may lie. More of them do with "
        "chances of at most %.2g and %.2g. A wrong leaf is missed with %.2g. Any of these three "
        "happens in a "
        "device's rounds with a chance of at most %.2g, which delta does not include. Encryption "
        "has %u "
        "bits of security by the lattice estimator, by set %s.\n",
        e->least, e->most, e->corrupt, e->offline, e->terms.threshold - 1, e->terms.committee,
        e->terms.noise_corrupt, e->terms.noise_members, sotto_bound_shown(e->odds.members, 2),
        sotto_bound_shown(e->odds.noise, 2), sotto_bound_shown(e->odds.missed, 2),
        sotto_bound_shown(sotto_aero_odds_together(&e->odds, (double)e->sum.participations), 2),
        e->set->bits_left, e->set->name);
    if (e->terms.clears > 0)
        sotto_write_format(w,
                           "A sum is opened once %" PRIu32
                           " devices said that they found nothing wrong in it.\n",
                           e->terms.clears);
    if (e->terms.rekey)
        sotto_write_format(
            w,
            "Up to %u rounds have one key. A committee hands it to the next one's, and erases what "
            "it has. A committee with more liars than that reads all rounds under its key: the "
            "first of these chances counts all committees that have one.\n",
            e->terms.rekey);
}
