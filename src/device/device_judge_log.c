/* Whether a recipe is on the log that it has to be on, and whether that log shows one tree, and lately. */
#include "device/device_internal.h"

#include "base/rule.h"
#include "device/ledger/log_seen.h"

/* Whoever brings trees could keep later ones from this device, and with them a recipe's withdrawal or other keys. */
static bool is_frozen(const sotto_policy_log *log, const sotto_log_seen *seen, int64_t now)
{
    return log->trust.quorum > 0 && seen->note.len > 0 &&
           now - (int64_t)seen->checkpoint.cosigned > log->fresh_days * 86400;
}

/* There is but one tree of the log, and the last one that came is not old. */
static sotto_status check_tree(sotto_device *device, sotto_case *c, const sotto_policy_log *log,
                               sotto_err *err)
{
    sotto_log_seen seen;

    SOTTO_TRY(sotto_log_seen_get(device->ledger, &seen, log->key.name, &device->work, err));
    if (SOTTO_RULE(silent_after_a_fork) && seen.forked && c->recipe->anonymity.log)
        sotto_explain(&c->out, SOTTO_WHY_LOG, "anonymity",
                      "The log \"%.100s\" forked: others may have got another question.",
                      log->name);
    if (SOTTO_RULE(silent_where_frozen) && !c->out.why && is_frozen(log, &seen, c->now))
        sotto_explain(&c->out, SOTTO_WHY_LOG, "logs",
                      "The last tree of log \"%.100s\" was cosigned more than %d "
                      "days ago: newer ones may be kept from this device.",
                      log->name, (int)log->fresh_days);
    return SOTTO_OK;
}

/* The log that the recipe says it is on, which the task binds: it came from there. A recipe that names none came from any of them. */
sotto_status sotto_case_check_log(sotto_device *device, sotto_case *c, sotto_err *err)
{
    const sotto_policy *policy = device->terms.policy;
    const char *name = c->recipe->anonymity.log;
    const sotto_policy_log *log = name ? sotto_policy_log_named(policy, name) : NULL;

    for (size_t i = 0; !name && i < policy->log_count && !c->out.why; i++)
        SOTTO_TRY(check_tree(device, c, &policy->logs[i], err));
    if (!name)
        return SOTTO_OK;
    /* Offered just now. A kept recipe was checked when this policy accepted it. */
    if (SOTTO_RULE(recipe_on_its_own_log) && (!log || (!c->shelved.id && c->log != log))) {
        sotto_explain(&c->out, SOTTO_WHY_LOG, "anonymity",
                      "It is to be on the log \"%.100s\", and did not come from a log that the "
                      "policy has under this name.",
                      name);
        return SOTTO_OK;
    }
    return check_tree(device, c, log, err);
}
