#include "recipe/target.h"

#include "account/honest.h"
#include "base/rule.h"
#include "tlog/bundle.h"

#include <inttypes.h>
#include <string.h>

bool sotto_recipe_release(sotto_tlog_entry *out, const sotto_recipe *recipe)
{
    sotto_bundle bundle;

    return recipe->release.bundle.len > 0 &&
           sotto_bundle_decode(&bundle, recipe->release.bundle, NULL) == SOTTO_OK &&
           sotto_tlog_entry_decode(out, bundle.entry, NULL) == SOTTO_OK;
}

/* In a log of the policy, cosigned by its quorum. Its tree may be older than the last one that a device saw: an entry stays. */
static sotto_status verify(sotto_tlog_entry *out, const sotto_recipe *recipe,
                           const sotto_policy *policy, sotto_err *err)
{
    const sotto_policy_log *log;
    sotto_bundle_facts facts;
    sotto_inclusion inclusion;
    sotto_checkpoint unproved;
    sotto_bundle bundle;

    SOTTO_TRY(sotto_bundle_decode(&bundle, recipe->release.bundle, err));
    SOTTO_TRY(sotto_inclusion_decode(&inclusion, bundle.proof, err));
    log = sotto_policy_log_of(policy, &unproved, inclusion.checkpoint);
    if (!log)
        return sotto_fail(err, SOTTO_DENIED, "it is on no log that the policy names");
    SOTTO_TRY(sotto_bundle_verify(&facts, recipe->release.bundle, &log->trust, err));
    *out = facts.entry;
    if (SOTTO_RULE(target_rests_on_a_release) && out->type != SOTTO_ENTRY_RELEASE)
        return sotto_fail(err, SOTTO_MALFORMED, "it is an entry of another type");
    if (SOTTO_RULE(target_of_the_named_recipe) &&
        memcmp(recipe->release.recipe.data, out->digest, sizeof out->digest) != 0)
        return sotto_fail(err, SOTTO_DENIED, "it is of another recipe than the one that is named");
    return SOTTO_OK;
}

static bool is_listed(const sotto_listed *listed, sotto_bytes value)
{
    for (size_t i = 0; i < listed->count; i++)
        if (sotto_bytes_equal_vartime(sotto_bytes_of(listed->values[i], strlen(listed->values[i])),
                                      value))
            return true;
    return false;
}

/* Whether every device that was counted has one of the values of this field. */
static bool counted_within(const sotto_listed *listed, sotto_bytes cohort)
{
    const sotto_bytes wanted = sotto_bytes_of(listed->field, strlen(listed->field));
    sotto_bytes field, value;

    while (sotto_entry_cohort_next(&field, &value, &cohort))
        if (sotto_bytes_equal_vartime(field, wanted))
            return is_listed(listed, value);
    return false;
}

static sotto_status judge(const sotto_recipe *recipe, const sotto_policy *policy, sotto_err *err)
{
    sotto_tlog_entry release;

    SOTTO_TRY(verify(&release, recipe, policy, err));
    for (size_t i = 0; i < recipe->targeting_count; i++)
        if (SOTTO_RULE(target_was_counted) &&
            !counted_within(&recipe->targeting[i], release.cohort))
            return sotto_fail(err, SOTTO_DENIED,
                              "it counted devices outside of the target by %.60s",
                              recipe->targeting[i].field);
    const uint64_t honest = sotto_honest_count(release.count, policy->honest);
    if (SOTTO_RULE(target_is_large) && honest < policy->targeting_floor)
        return sotto_fail(err, SOTTO_DENIED,
                          "it counted %" PRIu64 ", %" PRIu64
                          " of them honest; the policy wants %" PRIu64,
                          release.count, honest, policy->targeting_floor);
    if (SOTTO_RULE(target_was_counted_before) && release.end > (uint64_t)recipe->opens)
        return sotto_fail(err, SOTTO_STALE, "it ends after the recipe opens");
    if (SOTTO_RULE(target_was_counted_lately) && recipe->opens > SOTTO_RELEASE_AGE &&
        release.end < (uint64_t)(recipe->opens - SOTTO_RELEASE_AGE))
        return sotto_fail(err, SOTTO_STALE, "it ended more than 400 days before the recipe opens");
    return SOTTO_OK;
}

sotto_status sotto_recipe_target_check(const sotto_recipe *recipe, const sotto_policy *policy,
                                       sotto_err *err)
{
    const bool named = recipe->release.bundle.len > 0;
    sotto_err first = {0};

    if (SOTTO_RULE(targets_only_with_a_floor) && !policy->targets)
        return sotto_fail(err, SOTTO_DENIED,
                          "the policy has no targeting_floor, and so allows no targeting");
    if (SOTTO_RULE(target_names_a_release) && policy->targeting_floor > 0 && !named)
        return sotto_fail(err, SOTTO_DENIED,
                          "the policy wants a logged release of %" PRIu64
                          " such devices; the recipe names none",
                          policy->targeting_floor);
    if (policy->targeting_floor == 0 || !named || judge(recipe, policy, &first) == SOTTO_OK)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_DENIED, "the release that it names: %s", first.reason);
}
