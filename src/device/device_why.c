#include "device/device_internal.h"
#include "device/ledger/consent.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    "",
    "ready",
    "answered",
    "unknown",
    "no-consent",
    "ledger-closed",
    "not-eligible",
    "not-open-yet",
    "closed",
    "not-sampled",
    "slot-to-come",
    "slot-missed",
    "not-targeted",
    "cohort-value",
    "policy",
    "field",
    "budget",
    "parties",
    "query-failed",
    "no-value",
    "analysis-done",
    "transport",
    "given-up",
    "token",
    "log",
    "rounds",
    "model",
    "trainer",
};

const char *sotto_why_name(sotto_why why)
{
    size_t index = (size_t)why;

    return index > 0 && index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

void sotto_explain(sotto_explanation *out, sotto_why why, const char *subject, const char *format,
                   ...)
{
    va_list args;

    *out = (sotto_explanation){.why = why};
    (void)snprintf(out->subject, sizeof out->subject, "%s", subject);
    va_start(args, format);
    (void)vsnprintf(out->sentence, sizeof out->sentence, format, args);
    va_end(args);
}

void sotto_explain_not_sampled(sotto_explanation *out)
{
    sotto_explain(out, SOTTO_WHY_NOT_SAMPLED, "",
                  "The secret draw was against taking part. It is never drawn again.");
}

/* The entry's `round` holds the reason's number, and above it that of the check. */
enum { CHECK_SHIFT = 8 };

sotto_status sotto_device_note(sotto_device *device, const char *recipe, const char *analysis,
                               const sotto_explanation *explanation, sotto_err *err)
{
    char note[SOTTO_RECORD_NOTE], last[SOTTO_RECORD_NOTE];
    const sotto_record_entry entry = {.at = sotto_device_now(device),
                                      .kind = SOTTO_RECORD_SILENT,
                                      .recipe = recipe,
                                      .analysis = analysis,
                                      .note = note,
                                      .round = (uint64_t)explanation->why |
                                               (uint64_t)explanation->check << CHECK_SHIFT};
    uint64_t why;
    bool found;

    (void)snprintf(note, sizeof note, "%.*s", (int)sizeof note - 1, explanation->sentence);
    SOTTO_TRY(
        sotto_record_last(device->ledger, &found, &why, last, SOTTO_RECORD_SILENT, recipe, err));
    if (found && why == entry.round && strcmp(last, note) == 0)
        return SOTTO_OK;
    return sotto_record_append(device->ledger, &entry, err);
}

/* ---- the last tick ------------------------------------------------------------------------------------------ */

enum { NOTED = 8, IDLE = 1, CHARGING = 2, NETWORK = 4, GOOD = NOTED | IDLE | CHARGING | NETWORK };

/* Success is noted only if the last note is a failure, so that most ticks write nothing more. */
void sotto_device_note_tick(sotto_device *device, sotto_conditions now)
{
    int64_t met =
        NOTED | (now.idle ? IDLE : 0) | (now.charging ? CHARGING : 0) | (now.network ? NETWORK : 0);

    if (!device->ticked && sotto_store_noted_tick(device->store, &device->noted, NULL) != SOTTO_OK)
        device->noted = 0;
    device->ticked = true;
    device->conditions = now;
    if (met == device->noted || (met == GOOD && device->noted == 0))
        return;
    if (sotto_store_note_tick(device->store, met, NULL) == SOTTO_OK)
        device->noted = met;
}

/* Of this process, or else of another. */
static sotto_status last_conditions(sotto_device *device, sotto_conditions *out, sotto_err *err)
{
    int64_t met = 0;

    *out = device->conditions;
    if (device->ticked)
        return SOTTO_OK;
    SOTTO_TRY(sotto_store_noted_tick(device->store, &met, err));
    met = met ? met : GOOD; /* nobody looked: nothing speaks against it */
    *out = (sotto_conditions){(met & IDLE) != 0, (met & CHARGING) != 0, (met & NETWORK) != 0};
    return SOTTO_OK;
}

/* ---- explaining ------------------------------------------------------------------------------------------- */

/* A recipe that is not on the shelf: refused when it was offered, or gone since it closed. What became of it before is
 * still on record. */
static sotto_status explain_absent(sotto_device *device, sotto_explanation *out, const char *recipe,
                                   sotto_err *err)
{
    sotto_case c = {.now = 0};
    char note[SOTTO_RECORD_NOTE];
    uint64_t why;
    bool found;

    SOTTO_TRY(sotto_device_outcome(device, &c, recipe, err));
    *out = c.out;
    if (out->why)
        return SOTTO_OK;
    SOTTO_TRY(
        sotto_record_last(device->ledger, &found, &why, note, SOTTO_RECORD_SILENT, recipe, err));
    if (found) {
        sotto_explain(out, (sotto_why)(why & ((1U << CHECK_SHIFT) - 1)), "", "%s", note);
        out->check = (int)(why >> CHECK_SHIFT);
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_ledger_decided(device->ledger, &c.decision, &c.decided, SOTTO_DECISION_RECIPE,
                                   recipe, err));
    SOTTO_TRY(
        sotto_record_last(device->ledger, &found, &why, note, SOTTO_RECORD_SEEN, recipe, err));
    if (c.decided && c.decision.choice == SOTTO_CHOICE_SILENT)
        sotto_explain_not_sampled(out);
    else if (found)
        sotto_explain(out, SOTTO_WHY_CLOSED, "", "The recipe closed, and is no longer kept.");
    else
        sotto_explain(out, SOTTO_WHY_UNKNOWN, "", "No such recipe was offered to this device.");
    return SOTTO_OK;
}

/* Nothing is wrong with the recipe: the device's last failure is the reason. */
static sotto_status explain_ready(sotto_device *device, sotto_case *c, sotto_err *err)
{
    sotto_conditions now;
    char note[SOTTO_RECORD_NOTE];
    uint64_t why;
    bool found;

    SOTTO_TRY(last_conditions(device, &now, err));
    if (!(now.idle && now.charging && now.network)) {
        sotto_explain(&c->out, SOTTO_WHY_NOT_ELIGIBLE, "", "The device was %s when it last looked.",
                      !now.network    ? "offline"
                      : !now.charging ? "not charging"
                                      : "in use");
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_record_last(device->ledger, &found, &why, note, SOTTO_RECORD_SILENT,
                                c->shelved.name, err));
    if (found && why == SOTTO_WHY_QUERY_FAILED)
        sotto_explain(&c->out, SOTTO_WHY_QUERY_FAILED, "query", "%s", note);
    return SOTTO_OK;
}

static bool is_over(sotto_why why)
{
    return why == SOTTO_WHY_ANSWERED || why == SOTTO_WHY_GIVEN_UP || why == SOTTO_WHY_CLOSED;
}

static sotto_status explain(sotto_device *device, sotto_explanation *out, const char *recipe,
                            sotto_err *err)
{
    sotto_case c = {.now = sotto_device_now(device)};
    bool found, given;

    SOTTO_TRY(sotto_shelf_find(device->ledger, &c.shelved, &found, recipe, err));
    if (!found)
        return explain_absent(device, out, recipe, err);
    sotto_status status = sotto_device_judge(device, &c, err);
    if (status == SOTTO_OK && c.out.why == SOTTO_WHY_READY)
        status = explain_ready(device, &c, err);
    sotto_case_close(device, &c);
    SOTTO_TRY(status);
    *out = c.out;
    SOTTO_TRY(sotto_consent_get(device->ledger, &given, err));
    if (!given && !is_over(out->why))
        sotto_explain(out, SOTTO_WHY_NO_CONSENT, "",
                      "Nobody has agreed that this device takes part.");
    return SOTTO_OK;
}

sotto_status sotto_device_why(sotto_device *device, sotto_explanation *out, const char *recipe,
                              sotto_err *err)
{
    sotto_err_clear(err);

    const char *closed = sotto_ledger_closed(device->ledger);

    *out = (sotto_explanation){0};
    if (!closed)
        return explain(device, out, recipe, err);
    sotto_explain(out, SOTTO_WHY_LEDGER_CLOSED, "", "%s", closed);
    return SOTTO_OK;
}
