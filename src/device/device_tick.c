#include "device/device_internal.h"

#include "base/rule.h"
#include "device/answer/participate.h"
#include "device/device_log.h"
#include "device/ledger/consent.h"
#include "device/round.h"

#include <string.h>

enum { RETAIN = 600 };

/* ---- answering -------------------------------------------------------------------------------------------- */

/* Reasons that only the record can tell a person later. */
static bool worth_noting(sotto_why why)
{
    switch (why) {
    case SOTTO_WHY_SLOT_MISSED:
    case SOTTO_WHY_NOT_TARGETED:
    case SOTTO_WHY_COHORT_VALUE:
    case SOTTO_WHY_POLICY:
    case SOTTO_WHY_FIELD:
    case SOTTO_WHY_BUDGET:
    case SOTTO_WHY_PARTIES:
    case SOTTO_WHY_QUERY_FAILED:
    case SOTTO_WHY_ANALYSIS_DONE:
    case SOTTO_WHY_TOKEN:
    case SOTTO_WHY_LOG:
    case SOTTO_WHY_ROUNDS:
    case SOTTO_WHY_MODEL:
    case SOTTO_WHY_TRAINER:
        return true;
    default:
        return false;
    }
}

/* Another process may have answered first, or been told no by the person. Neither is a failure, and both are in the
 * record already. */
sotto_status sotto_case_overtaken(sotto_device *device, sotto_case *c, sotto_status status,
                                  const sotto_err *first, sotto_err *err)
{
    if (sotto_ledger_closed(device->ledger) || (status != SOTTO_STALE && status != SOTTO_DENIED))
        return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", first->reason);
    if (status == SOTTO_STALE)
        sotto_explain(&c->out, SOTTO_WHY_TRANSPORT, "", "%s", first->reason);
    else if (sotto_consent_check(device->ledger, NULL) != SOTTO_OK) /* as the transaction saw it */
        sotto_explain(&c->out, SOTTO_WHY_NO_CONSENT, "", "%s", first->reason);
    else
        sotto_explain(&c->out, SOTTO_WHY_BUDGET, "", "%s", first->reason);
    return SOTTO_OK;
}

static sotto_status make_dummy(sotto_device *device, sotto_case *c, sotto_entropy *entropy,
                               sotto_err *err)
{
    const sotto_dummy dummy = {c->recipe->name, c->recipe->analysis,
                               sotto_participation_round(c->recipe, &c->decision),
                               sotto_participation_scope(&c->recipe->participation), &c->asked};
    sotto_report report;
    sotto_err first = {0};

    c->asked = sotto_shelf_asked(c->recipe);
    SOTTO_TRY(sotto_answer_seal(&report, &c->plan, SOTTO_NO_VALUE, entropy, &device->work, err));
    sotto_status status = sotto_outbox_put_dummy(device->ledger, &dummy, &report, c->now, &first);
    return sotto_case_overtaken(device, c, status, &first, err);
}

/* A limit may be passed because of an event's value, so only the kind of limit is recorded. */
sotto_status sotto_case_read_bin(sotto_case *c, uint64_t *bin, bool *silent, sotto_entropy *entropy,
                                 sotto_err *err)
{
    sotto_err first = {0};
    sotto_status status = sotto_answer_bin(bin, silent, c->recipe, c->query, entropy, &first);

    switch (status) {
    case SOTTO_DENIED:
    case SOTTO_TOO_LARGE:
    case SOTTO_MALFORMED:
    case SOTTO_MISSING:
        sotto_explain(&c->out, SOTTO_WHY_QUERY_FAILED, "query", "%s", first.reason);
        return SOTTO_OK;
    default:
        return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", first.reason);
    }
}

/* Another process may have spent since the check. */
static sotto_status pay(sotto_device *device, sotto_case *c, uint64_t bin, bool silent,
                        sotto_entropy *entropy, sotto_err *err)
{
    sotto_report report;
    sotto_refusal refusal;
    sotto_err first = {0};
    sotto_status status;

    if (silent) {
        status =
            sotto_ledger_spend_on_silence(device->ledger, &c->charge, c->now, &refusal, &first);
    } else {
        SOTTO_TRY(sotto_answer_seal(&report, &c->plan, bin, entropy, &device->work, err));
        status = sotto_ledger_spend(device->ledger, &c->charge, &report, c->now, &refusal, &first);
    }
    if (status == SOTTO_DENIED && refusal.check) {
        sotto_case_refuse(c, &refusal);
        return SOTTO_OK;
    }
    return sotto_case_overtaken(device, c, status, &first, err);
}

static sotto_status make(sotto_device *device, sotto_case *c, bool *made, sotto_err *err)
{
    sotto_entropy entropy;
    uint64_t bin = SOTTO_NO_VALUE;
    bool silent = false;
    sotto_status status;

    sotto_device_entropy(device, &entropy);
    if (!c->query) {
        status = make_dummy(device, c, &entropy, err);
    } else {
        status = sotto_case_read_bin(c, &bin, &silent, &entropy, err);
        sotto_query_finish(c->query); /* its memory is wanted for the report */
        if (status == SOTTO_OK && c->recipe->participation.type == SOTTO_IMPORTANCE) {
            status =
                sotto_participation_weigh(&silent, &c->recipe->participation, bin, &entropy, err);
            if (device->simulation.drawn)
                device->simulation.drawn(device->simulation.context, bin);
        }
        if (status == SOTTO_OK && c->out.why == SOTTO_WHY_READY)
            status = pay(device, c, bin, silent, &entropy, err);
    }
    *made = status == SOTTO_OK && c->out.why == SOTTO_WHY_READY && !silent;
    if (*made && device->simulation.answered)
        device->simulation.answered(device->simulation.context, bin);
    sotto_wipe(&bin, sizeof bin);
    sotto_entropy_clear(&entropy);
    return status;
}

static sotto_status answer(sotto_device *device, const sotto_shelved *shelved, int64_t now,
                           bool *made, sotto_err *err)
{
    sotto_case c = {.shelved = *shelved, .now = now, .draw = true};
    sotto_status status = sotto_device_judge(device, &c, err);

    *made = false;
    if (status == SOTTO_OK && c.out.why == SOTTO_WHY_READY)
        status = c.round ? sotto_linked_rounds->make(device, &c, made, err)
                         : make(device, &c, made, err);
    if (status == SOTTO_OK && worth_noting(c.out.why))
        status = sotto_device_note(device, shelved->name, c.recipe ? c.recipe->analysis : NULL,
                                   &c.out, err);
    sotto_case_close(device, &c);
    return status;
}

/* A failure with one recipe does not stop the others; it is returned at the end. */
static sotto_status answer_all(sotto_device *device, int64_t now, sotto_tick *out, sotto_err *err)
{
    sotto_status first = SOTTO_OK;
    sotto_shelved shelved = {0};
    bool found = true, given, made;

    while (found) {
        SOTTO_TRY(sotto_consent_hold(device->ledger, &given, err));
        if (SOTTO_RULE(nothing_begun_after_a_no) && !given)
            break;
        SOTTO_TRY(sotto_shelf_next(device->ledger, &shelved, &found, shelved.id, err));
        if (!found)
            break;
        sotto_status status = answer(device, &shelved, now, &made, err);
        out->made += made;
        first = first == SOTTO_OK ? status : first;
        if (sotto_ledger_closed(device->ledger))
            break;
    }
    return first;
}

/* A closed recipe's reports are tried for SOTTO_SEAL_GRACE; then they and the recipe go. */
static sotto_status tidy(sotto_device *device, int64_t now, sotto_err *err)
{
    sotto_shelved shelved = {0};
    bool found = true;

    while (found) {
        SOTTO_TRY(sotto_shelf_next(device->ledger, &shelved, &found, shelved.id, err));
        if (!found || now - SOTTO_SEAL_GRACE < shelved.closes)
            continue;
        sotto_outcome outcome;
        SOTTO_TRY(sotto_record_outcome(device->ledger, &outcome, shelved.name, err));
        if (outcome.kind && outcome.kind != SOTTO_RECORD_ACKNOWLEDGED &&
            outcome.kind != SOTTO_RECORD_GIVEN_UP)
            SOTTO_TRY(
                sotto_outbox_empty(device->ledger, shelved.name, "its recipe closed", now, err));
        SOTTO_TRY(sotto_shelf_remove(device->ledger, &shelved, err));
    }
    return SOTTO_OK;
}

/* ---- the tick --------------------------------------------------------------------------------------------- */

static sotto_status act(sotto_device *device, sotto_tick *out, int64_t now, sotto_err *err)
{
    sotto_err first = {0};

    SOTTO_TRY(sotto_device_look_for_parties(device, err));
    SOTTO_TRY(tidy(device, now, err));
    device->called_off = false;
    sotto_status answered = answer_all(device, now, out, &first);
    /* The memory in which reports were made is freed before they are sent: a phone has no room for
     * both. */
    sotto_arena_clear(&device->work);
    /* Without a transport nothing may be recorded as handed to one. */
    if (device->host.exchange)
        SOTTO_TRY(sotto_device_send(device, now, &out->waiting, err));
    else
        SOTTO_TRY(sotto_outbox_count(device->ledger, &out->waiting, err));
    /* Not before reports are made: pages that are read for it would take the memory that they need. */
    SOTTO_TRY(sotto_wallet_tidy(device->ledger, now, err));
    /* After sending, so that the record shows whether a report left in this tick. */
    if (device->host.exchange)
        SOTTO_TRY(sotto_device_ask_tokens(device, now, err));
    /* Last, so that a recipe from the feed is answered by a later tick, and no report leaves right after
     * a fetch. */
    if (!device->called_off)
        SOTTO_TRY(sotto_device_fetch(device, now, err));
    return answered == SOTTO_OK ? SOTTO_OK : sotto_fail(err, answered, "%s", first.reason);
}

/* A withdrawal that could not finish is finished: the no is written where it was not, and what waits is erased,
 * to its last byte. */
static sotto_status stay_silent(sotto_device *device, int64_t now, sotto_err *err)
{
    uint64_t waiting;

    SOTTO_TRY(sotto_consent_settle(device->ledger, now, err));
    SOTTO_TRY(sotto_outbox_count(device->ledger, &waiting, err));
    if (waiting == 0 && !sotto_outbox_lingers(device->ledger))
        return SOTTO_OK;
    return sotto_outbox_empty(device->ledger, NULL, "consent was withdrawn", now, err);
}

/* Retention reads every event, so it does not run at every tick of a busy host. A clock that jumps must
 * not delay it. */
static sotto_status retain(sotto_device *device, int64_t now, sotto_err *err)
{
    if (device->retained && now >= device->retained_at && now - device->retained_at < RETAIN)
        return SOTTO_OK;
    SOTTO_TRY(sotto_store_retain(device->store, now, err));
    device->retained = true;
    device->retained_at = now;
    return SOTTO_OK;
}

sotto_status sotto_device_tick(sotto_device *device, sotto_tick *out, sotto_conditions conditions,
                               sotto_err *err)
{
    sotto_err_clear(err);

    bool good = conditions.idle && conditions.charging && conditions.network;
    const char *closed = sotto_ledger_closed(device->ledger);
    int64_t now = sotto_device_now(device);
    sotto_tick ignored = {0};
    sotto_err first = {0};
    bool given;

    out = out ? out : &ignored;
    *out = (sotto_tick){0};
    sotto_device_note_tick(device, conditions);
    /* Always: the retention time is promised to every person, also to those who do not take part. */
    sotto_status retained = retain(device, now, &first);
    if (closed)
        return sotto_fail(err, SOTTO_DENIED, "%s", closed);
    SOTTO_TRY(sotto_consent_get(device->ledger, &given, err));
    if (!given)
        SOTTO_TRY(stay_silent(device, now, err));
    /* Nothing is answered from events that should be gone. */
    if (retained != SOTTO_OK)
        return sotto_fail(err, retained, "%s", first.reason);
    if (!given)
        return SOTTO_OK;
    if (good)
        return act(device, out, now, err);
    return sotto_outbox_count(device->ledger, &out->waiting, err);
}
