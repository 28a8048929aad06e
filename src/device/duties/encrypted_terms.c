#include "device/duties/encrypted_terms.h"

#include "base/rule.h"
#include "recipe/encrypted.h"

#include <string.h>

sotto_status sotto_encrypted_terms(sotto_duties_terms *out, bool *is_one,
                                   const sotto_recipe *recipe, const sotto_round *round,
                                   sotto_err *err)
{
    uint8_t session[32];
    sotto_encrypted plan;

    *is_one = sotto_recipe_encrypted(&plan, recipe);
    if (!*is_one)
        return SOTTO_OK;
    SOTTO_TRY(sotto_encrypted_plan(&plan, recipe, err));
    SOTTO_TRY(sotto_encrypted_agrees(round, &plan, recipe, err));
    /* Rounds of a session share its budget. A server that opened another session would begin again with nothing spent. */
    sotto_encrypted_session(session, recipe);
    if (SOTTO_RULE(rounds_session) && memcmp(session, round->session, sizeof session) != 0)
        return sotto_fail(err, SOTTO_DENIED, "recipe %.63s: the round is of another session",
                          recipe->name);
    *out = (sotto_duties_terms){.methods = 1u << SOTTO_METHOD_AERO,
                                .least = recipe->min_cohort,
                                .cohort = plan.largest,
                                .committee = plan.terms.committee,
                                .noise = plan.noise};
    memcpy(out->recipe, recipe->hash, sizeof out->recipe);
    return SOTTO_OK;
}
