/* What taking part at random may claim. Devices link none of it: they are charged without any such gain. */
#include "recipe/claim.h"

#include "account/claims.h"
#include "account/numeric/bound.h"
#include "account/trust.h"
#include "base/rule.h"
#include "recipe/participation.h"

#include <math.h>

#define NO_RELAY  "names no relay, so servers see who takes part"
#define NO_TOKENS "asks for no tokens, so one device can answer as many"
#define NO_LOG    "names no log, so a device may be asked alone"

/* Each part that is missing, with what follows; NULL: none is. */
static const char *missing_parts(const sotto_anonymity *a)
{
    static const char *const whys[] = {
        [1] = "not claimed: the recipe " NO_RELAY,
        [2] = "not claimed: the recipe " NO_TOKENS,
        [3] = "not claimed: the recipe " NO_RELAY "; it " NO_TOKENS,
        [4] = "not claimed: the recipe " NO_LOG,
        [5] = "not claimed: the recipe " NO_RELAY "; it " NO_LOG,
        [6] = "not claimed: the recipe " NO_TOKENS "; it " NO_LOG,
        [7] = "not claimed: the recipe " NO_RELAY "; it " NO_TOKENS "; it " NO_LOG,
    };

    return whys[(a->relay ? 0 : 1) | (a->tokens ? 0 : 2) | (a->log ? 0 : 4)];
}

/* What is missing for a claim that nobody sees who takes part; NULL: nothing. */
static const char *seen_because(const sotto_recipe *recipe)
{
    const char *missing = missing_parts(&recipe->anonymity);

    if (!sotto_trust_model_of(recipe->trust)->can_hide)
        return "not claimed: whoever adds up sees who takes part";
    if (missing)
        return missing;
    /* An observer who sees when a device calls its relay can find its report by an exact time, however
     * the relay mixes. */
    if (SOTTO_RULE(sampling_coarse_times) && recipe->precision < SOTTO_HIDDEN_PRECISION)
        return "not claimed: reports tell their time to less than a minute, so a relay does not "
               "hide who made them";
    return NULL;
}

/* If no theorem applies, nothing is gained, and the cohort's epsilon is claimed. */
static sotto_status amplify(sotto_answer *out, const sotto_recipe *recipe,
                            const sotto_randomizer *r, uint64_t honest, uint64_t population)
{
    const sotto_participation *p = &recipe->participation;
    sotto_err none = {0};
    sotto_report_law law;

    SOTTO_TRY(sotto_recipe_law(&law, r, &none));
    const sotto_claim_question q = {.law = &law,
                                    .trust = recipe->trust,
                                    .hidden = true,
                                    .honest = honest,
                                    .log_delta = sotto_recipe_log_delta(recipe),
                                    .population = population};
    switch (p->type) {
    case SOTTO_POISSON:
        return sotto_claim_sampled(out, &q, p->rate, &none);
    case SOTTO_CHECK_IN_FIXED_WINDOW:
    case SOTTO_CHECK_IN_AVERAGED_WINDOW:
    case SOTTO_CHECK_IN_SLIDING_WINDOW:
        return sotto_participation_refused(p) ? SOTTO_DENIED
                                              : sotto_claim_check_in(out, &q, p->slots, &none);
    case SOTTO_DONATION:
        return sotto_claim_donation(out, &q, p->slots, p->rate, &none);
    case SOTTO_IMPORTANCE:
        return sotto_claim_importance(out, &q, p->rate, p->rate_other, &none);
    }
    return SOTTO_DENIED;
}

static void say_why(sotto_recipe_claim *out, const char *why)
{
    out->sampled_by = NULL;
    out->epsilon_sampled = out->epsilon_cohort;
    out->unsampled_why = why;
}

/* As many of the population are honest as of the smallest cohort, rounded down. */
static uint64_t honest_of(uint64_t population, const sotto_recipe_claim *claim,
                          const sotto_recipe *recipe)
{
    const double share = (double)claim->honest / (double)recipe->min_cohort;

    return (uint64_t)floor(sotto_round_down(share * (double)population, 4));
}

sotto_status sotto_recipe_claim_sampling(sotto_recipe_claim *out, const sotto_recipe *recipe,
                                         uint64_t population, sotto_err *err)
{
    const sotto_participation *p = &recipe->participation;
    const char *seen = seen_because(recipe);
    sotto_report_content content;
    sotto_answer answer;

    if (p->type == SOTTO_IMPORTANCE)
        out->seen_by = "the local epsilon, and what answering or not tells of the value";
    if (SOTTO_RULE(sampling_hidden) && seen) {
        say_why(out, seen);
        return SOTTO_OK;
    }
    if (SOTTO_RULE(importance_unclaimed) && p->type == SOTTO_IMPORTANCE) {
        say_why(out, "not claimed: nothing prices importance sampling where the number of reports "
                     "is known");
        return SOTTO_OK;
    }
    if (SOTTO_RULE(sampling_of_the_crowd) && recipe->by != SOTTO_BY_CROWD) {
        say_why(out, "not claimed: not yet where servers, or devices in shares, add the noise");
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_recipe_content(&content, recipe, err));
    if (SOTTO_RULE(population_stated) && population == 0) {
        say_why(out, "not claimed: no population is stated of whom a cohort is a sample");
        return SOTTO_OK;
    }
    if (amplify(&answer, recipe, &content.randomizer, out->honest,
                honest_of(population, out, recipe)) != SOTTO_OK ||
        !(answer.high < out->epsilon_cohort)) {
        say_why(out,
                "nothing gained: so many of the population take part that chance hides nobody");
        return SOTTO_OK;
    }
    out->epsilon_sampled = answer.high;
    out->sampled_by = answer.theorem;
    out->unsampled_why = NULL;
    return SOTTO_OK;
}
