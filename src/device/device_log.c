#include "device/device_log.h"

#include "base/arena.h"
#include "base/rule.h"
#include "device/ledger/log_seen.h"
#include "tlog/feed.h"

#include <string.h>

/* ---- which log -------------------------------------------------------------------------------------------- */

static sotto_status find_log(const sotto_policy_log **out, sotto_checkpoint *checkpoint,
                             const sotto_policy *policy, sotto_bytes note, sotto_err *err)
{
    *out = sotto_policy_log_of(policy, checkpoint, note);
    return *out ? SOTTO_OK : sotto_fail(err, SOTTO_DENIED, "it is on no log that the policy names");
}

/* ---- what is on it ---------------------------------------------------------------------------------------- */

static sotto_status verify(const sotto_policy *policy, sotto_device_shared *shared,
                           sotto_logged *out, sotto_bundle_facts *facts, sotto_bytes bytes,
                           sotto_entry_type type, sotto_err *err)
{
    sotto_inclusion inclusion;
    sotto_tlog_entry entry;
    sotto_bundle bundle;

    *out = (sotto_logged){.object = bytes};
    if (!sotto_bundle_is(bytes)) {
        if (SOTTO_RULE(logged_or_not_at_all) && policy->log_count > 0)
            return sotto_fail(err, SOTTO_DENIED,
                              "the policy takes it from a public log alone, and it came without a "
                              "proof (a bundle)");
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_bundle_decode(&bundle, bytes, err));
    SOTTO_TRY(sotto_tlog_entry_decode(&entry, bundle.entry, err));
    if (SOTTO_RULE(bundle_of_its_type) && entry.type != type)
        return sotto_fail(err, SOTTO_MALFORMED, "a bundle of another entry than %s",
                          sotto_entry_type_name(type));
    out->object = bundle.object;
    out->serial = entry.serial;
    if (policy->log_count == 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_inclusion_decode(&inclusion, bundle.proof, err));
    facts->note = inclusion.checkpoint;
    SOTTO_TRY(find_log(&out->log, &facts->checkpoint, policy, facts->note, err));
    return sotto_shared_bundle(shared, facts, bytes, policy, &out->log->trust, err);
}

sotto_status sotto_device_logged_before(const sotto_policy *policy, sotto_logged *out,
                                        sotto_bytes bytes, sotto_entry_type type, sotto_err *err)
{
    sotto_bundle_facts facts;

    return verify(policy, NULL, out, &facts, bytes, type, err);
}

sotto_status sotto_device_logged(sotto_device *device, sotto_logged *out, sotto_bytes bytes,
                                 sotto_entry_type type, sotto_bytes steps, sotto_err *err)
{
    sotto_bundle_facts facts = {0};

    SOTTO_TRY(verify(device->terms.policy, device->shared, out, &facts, bytes, type, err));
    if (!out->log)
        return SOTTO_OK;
    return sotto_log_seen_take(device->ledger, &facts.checkpoint, facts.note, steps,
                               sotto_device_now(device), &device->work, err);
}

sotto_status sotto_device_saw(sotto_device *device, const sotto_policy_log **log, sotto_bytes note,
                              sotto_bytes steps, sotto_err *err)
{
    sotto_checkpoint now;

    SOTTO_TRY(find_log(log, &now, device->terms.policy, note, err));
    SOTTO_TRY(sotto_checkpoint_open(&now, note, &(*log)->trust, err));
    return sotto_log_seen_take(device->ledger, &now, note, steps, sotto_device_now(device),
                               &device->work, err);
}

/* ---- for the host ----------------------------------------------------------------------------------------- */

static sotto_status show_one(sotto_device *device, const sotto_policy_log *log,
                             sotto_known_log_fn *show, void *context, sotto_err *err)
{
    sotto_log_seen seen;
    sotto_fork_evidence fork = {{0}, {0}, {0}};

    SOTTO_TRY(sotto_log_seen_get(device->ledger, &seen, log->key.name, &device->work, err));
    (void)sotto_fork_evidence_decode(&fork, seen.fork);
    const sotto_known_log known = {.name = log->name,
                                   .origin = log->key.name,
                                   .entries = seen.checkpoint.size,
                                   .seen = seen.at,
                                   .fetch = seen.due,
                                   .checkpoint = seen.note,
                                   .forked = seen.forked,
                                   .fork_before = fork.seen,
                                   .fork_after = fork.now,
                                   .fork_steps = fork.steps};
    return show(context, &known, err);
}

sotto_status sotto_device_logs(sotto_device *device, sotto_known_log_fn *show, void *context,
                               sotto_err *err)
{
    sotto_err_clear(err);

    const sotto_policy *policy = device->terms.policy;
    sotto_status status = SOTTO_OK;

    for (size_t i = 0; status == SOTTO_OK && i < policy->log_count; i++) {
        status = show_one(device, &policy->logs[i], show, context, err);
        sotto_arena_reset(&device->work);
    }
    return status;
}

sotto_status sotto_device_log_resolve(sotto_device *device, const char *name, sotto_err *err)
{
    sotto_err_clear(err);

    const sotto_policy_log *log = sotto_policy_log_named(device->terms.policy, name);

    if (!log)
        return sotto_fail(err, SOTTO_MISSING, "the policy names no log \"%.100s\"", name);
    return sotto_log_seen_resolve(device->ledger, log->key.name, sotto_device_now(device), err);
}
