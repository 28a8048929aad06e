#include "sotto/device.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rule.h"
#include "device/device_internal.h"
#include "device/device_log.h"
#include "device/ledger/consent.h"

#include <stdio.h>
#include <string.h>

enum { KEEP = 64 << 20 };
static const size_t work = (size_t)512 << 20;

static const sotto_recompute recompute = {sotto_recipe_recompute, NULL};

/* ---- small things ----------------------------------------------------------------------------------------- */

/* Sums and differences of such times, and of a recipe's, can't overflow. A broken clock at worst makes events old and
 * recipes closed; it never gives budget back. */
int64_t sotto_device_now(const sotto_device *device)
{
    static const int64_t last = INT64_C(253402300799); /* 9999-12-31T23:59:59Z */
    int64_t now = device->host.clock
                      ? device->host.clock(device->host.context)
                      : (int64_t)(sotto_clock_wall(&sotto_clock_system) / 1000000000);

    return now < 0 ? 0 : now > last ? last : now;
}

void sotto_device_entropy(const sotto_device *device, sotto_entropy *out)
{
    if (device->simulation.random)
        sotto_entropy_init(out, device->simulation.random, device->simulation.context);
    else
        sotto_entropy_system(out);
}

const char *sotto_device_described(const sotto_device *device, const char *field)
{
    for (size_t i = 0; i < device->described_count; i++)
        if (strcmp(device->described[i].field, field) == 0)
            return device->described[i].value;
    return NULL;
}

sotto_status sotto_device_describe(sotto_device *device, const char *field, const char *value,
                                   sotto_err *err)
{
    sotto_err_clear(err);

    size_t at = 0;

    while (at < device->described_count && strcmp(device->described[at].field, field) != 0)
        at++;
    if (!value) {
        if (at < device->described_count)
            device->described[at] = device->described[--device->described_count];
        return SOTTO_OK;
    }
    if (at == SOTTO_DEVICE_DESCRIBED)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%d fields of the device are known",
                          SOTTO_DEVICE_DESCRIBED);
    if (strlen(field) > SOTTO_STORE_MAX_NAME || strlen(value) >= SOTTO_DEVICE_VALUE)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a field of the device: a name or value too long");
    (void)snprintf(device->described[at].field, sizeof device->described[at].field, "%s", field);
    (void)snprintf(device->described[at].value, sizeof device->described[at].value, "%s", value);
    device->described_count += at == device->described_count;
    return SOTTO_OK;
}

/* ---- opening ---------------------------------------------------------------------------------------------- */

static sotto_status check_options(const sotto_device_options *options, sotto_err *err)
{
    bool memory = !options->events && !options->ledger;

    if (!options->events != !options->ledger)
        return sotto_fail(err, SOTTO_MALFORMED, "events and ledger: both in files, or neither");
    if (SOTTO_RULE(simulation_in_memory) && options->simulation && !memory)
        return sotto_fail(err, SOTTO_DENIED,
                          "randomness that can be repeated is for devices in memory alone");
    if (!options->host.counter.read != !options->host.counter.raise)
        return sotto_fail(err, SOTTO_MALFORMED, "a counter that can't be read, or not raised");
    return SOTTO_OK;
}

static sotto_status open_store(sotto_device *device, const sotto_device_options *options,
                               sotto_err *err)
{
    const sotto_store_options store = {
        .storage = options->storage,
        .path = options->events,
        .streams = options->streams,
        .stream_count = options->stream_count,
        .max_bytes = options->max_bytes,
        .now = sotto_device_now(device),
        .spare = options->events ? NULL : sotto_shared_take_store(device->shared),
    };

    return sotto_store_open(&device->store, &store, err);
}

static sotto_status adopt(sotto_device *device, sotto_err *err)
{
    if (sotto_ledger_closed(device->ledger))
        return SOTTO_OK;
    return sotto_ledger_adopt(device->ledger, &device->terms.budgets, &recompute,
                              sotto_device_now(device), err);
}

static sotto_status open_ledger(sotto_device *device, const sotto_device_options *options,
                                sotto_err *err)
{
    sotto_witness witnesses[2];
    sotto_ledger_options ledger = {
        .storage = options->storage,
        .path = options->ledger,
        .witnesses = witnesses,
        .spare = options->ledger ? NULL : sotto_shared_take_ledger(device->shared)};

    if (options->ledger)
        witnesses[ledger.witness_count++] = sotto_store_witness(device->store);
    if (options->host.counter.read)
        witnesses[ledger.witness_count++] = (sotto_witness){
            options->host.counter.read, options->host.counter.raise, options->host.context};
    SOTTO_TRY(sotto_ledger_open(&device->ledger, &ledger, err));
    return adopt(device, err);
}

sotto_status sotto_device_open(sotto_device **out, const sotto_device_options *options,
                               sotto_err *err)
{
    sotto_err_clear(err);

    *out = NULL;
    SOTTO_TRY(check_options(options, err));
    sotto_device *device = sotto_alloc(sizeof *device);
    if (!device)
        return sotto_fail(err, SOTTO_NO_MEMORY, "device");
    device->host = options->host;
    if (options->simulation)
        device->simulation = *options->simulation;
    sotto_arena_init(&device->keep, KEEP);
    sotto_arena_init(&device->work, work);
    device->shared = options->shared;
    if (!options->events && (!options->simulation || options->simulation->sealed_anew)) {
        device->ephemerals = sotto_shared_ephemerals(options->shared);
        device->requests = sotto_shared_tokens(options->shared);
    }
    sotto_arena_init(&device->replaced, KEEP);
    device->enrolled = options->enrolment != NULL;
    if (options->enrolment)
        memcpy(device->enrolment, options->enrolment, sizeof device->enrolment);
    sotto_status status = sotto_terms_read(&device->terms, device->shared, options->policy,
                                           options->parties, &device->keep, err);
    device->shipped = device->terms.parties;
    if (status == SOTTO_OK)
        status = open_store(device, options, err);
    if (status == SOTTO_OK)
        status = open_ledger(device, options, err);
    if (status == SOTTO_OK)
        status = sotto_device_look_for_parties(device, err);
    if (status == SOTTO_OK)
        *out = device;
    else
        sotto_device_close(device);
    return status;
}

void sotto_device_close(sotto_device *device)
{
    if (!device)
        return;
    sotto_shared_leave(device->shared, device->store, device->ledger);
    sotto_arena_clear(&device->work);
    sotto_arena_clear(&device->replaced);
    sotto_arena_clear(&device->keep);
    sotto_wipe(device->enrolment, sizeof device->enrolment);
    sotto_release(device, sizeof *device);
}

const char *sotto_device_closed(const sotto_device *device)
{
    return sotto_ledger_closed(device->ledger);
}

const char *sotto_device_set_aside(const sotto_device *device)
{
    return sotto_store_set_aside(device->store);
}

sotto_status sotto_device_reset(sotto_device *device, sotto_err *err)
{
    sotto_err_clear(err);

    SOTTO_TRY(sotto_ledger_reset(device->ledger, sotto_device_now(device), err));
    const char *closed = sotto_ledger_closed(device->ledger);
    if (closed)
        return sotto_fail(err, SOTTO_DENIED, "%s", closed);
    return adopt(device, err);
}

/* ---- the person ------------------------------------------------------------------------------------------- */

sotto_status sotto_device_consented(sotto_device *device, bool *given, sotto_err *err)
{
    sotto_err_clear(err);

    return sotto_consent_get(device->ledger, given, err);
}

static sotto_status empty_outbox(sotto_device *device, const char *why, sotto_err *err)
{
    return sotto_outbox_empty(device->ledger, NULL, why, sotto_device_now(device), err);
}

static sotto_status withdraw(sotto_device *device, sotto_err *err)
{
    SOTTO_TRY(sotto_consent_set(device->ledger, false, sotto_device_now(device), err));
    return empty_outbox(device, "consent was withdrawn", err);
}

sotto_status sotto_device_consent(sotto_device *device, bool given, sotto_err *err)
{
    sotto_err_clear(err);

    uint64_t waiting;
    bool before;

    if (!given)
        return withdraw(device, err);
    SOTTO_TRY(sotto_consent_get(device->ledger, &before, err));
    SOTTO_TRY(sotto_outbox_count(device->ledger, &waiting, err));
    /* Reports that an interrupted withdrawal left must not be sent after a later yes. */
    if (!before && waiting > 0)
        SOTTO_TRY(empty_outbox(device, "consent was withdrawn", err));
    return sotto_consent_set(device->ledger, true, sotto_device_now(device), err);
}

static sotto_status forget_answers(sotto_device *device, const char *stream, sotto_err *err)
{
    if (stream && sotto_ledger_closed(device->ledger))
        return SOTTO_OK; /* nothing is answered from it either */
    /* Another process may be answering from what it read before: that is no longer paid for, or is erased below. */
    SOTTO_TRY(sotto_consent_forget(device->ledger, stream, sotto_device_now(device), err));
    return stream ? SOTTO_OK : empty_outbox(device, "forgotten", err);
}

sotto_status sotto_device_forget(sotto_device *device, const char *stream, sotto_err *err)
{
    sotto_err_clear(err);

    sotto_err first = {0};
    sotto_status erased = sotto_store_forget(device->store, stream, &first);

    /* If a reader or the disk delays the erasure of events, reports made from them are still not
     * sent. */
    if (erased != SOTTO_MISSING)
        SOTTO_TRY(forget_answers(device, stream, err));
    return erased == SOTTO_OK ? SOTTO_OK : sotto_fail(err, erased, "%s", first.reason);
}

/* ---- events ----------------------------------------------------------------------------------------------- */

sotto_status sotto_device_donate(sotto_device *device, const sotto_event *events, size_t count,
                                 size_t *added, sotto_err *err)
{
    sotto_err_clear(err);

    return sotto_store_donate(device->store, events, count, added, err);
}

sotto_status sotto_device_retain(sotto_device *device, sotto_err *err)
{
    sotto_err_clear(err);

    return sotto_store_retain(device->store, sotto_device_now(device), err);
}

sotto_status sotto_device_events(sotto_device *device, const char *stream, uint64_t most,
                                 sotto_row_fn *row, void *context, sotto_err *err)
{
    sotto_err_clear(err);

    return sotto_store_show(device->store, stream, most, row, context, err);
}

/* ---- recipes ---------------------------------------------------------------------------------------------- */

static bool is_of_the_log(sotto_status status)
{
    return status == SOTTO_DENIED || status == SOTTO_REJECTED || status == SOTTO_STALE ||
           status == SOTTO_MISSING;
}

/* Notes for `why` that a recipe was not accepted from its log, if its name can be read. */
static sotto_status refuse(sotto_device *device, sotto_case *c, sotto_bytes recipe,
                           sotto_status status, const sotto_err *first, sotto_err *err)
{
    if (is_of_the_log(status) && !sotto_ledger_closed(device->ledger) &&
        sotto_case_read(device, c, recipe, NULL) == SOTTO_OK) {
        sotto_explain(&c->out, SOTTO_WHY_LOG, "", "Not taken: %s.", first->reason);
        (void)!sotto_device_note(device, c->recipe->name, c->recipe->analysis, &c->out, NULL);
    }
    return sotto_fail(err, status, "%s", first->reason);
}

static sotto_status take_recipe(sotto_device *device, sotto_case *c, sotto_bytes recipe,
                                sotto_err *err)
{
    SOTTO_TRY(sotto_device_admit(device, c, recipe, err));
    if (!c->out.why)
        return sotto_shelf_put(device->ledger, c->kept, device->terms.judge, c->known, c->now, err);
    SOTTO_TRY(sotto_device_note(device, c->recipe->name, c->recipe->analysis, &c->out, err));
    return sotto_fail(err, SOTTO_DENIED, "%.150s", c->out.sentence);
}

sotto_status sotto_device_offer_from(sotto_device *device, sotto_bytes recipe, sotto_bytes steps,
                                     sotto_err *err)
{
    sotto_err_clear(err);

    sotto_case c = {.now = sotto_device_now(device)};
    const char *closed = sotto_ledger_closed(device->ledger);
    sotto_err first = {0};
    sotto_logged logged;

    if (closed)
        return sotto_fail(err, SOTTO_DENIED, "%s", closed);
    sotto_status status =
        sotto_device_logged(device, &logged, recipe, SOTTO_ENTRY_RECIPE, steps, &first);
    c.log = logged.log;
    status = status == SOTTO_OK ? take_recipe(device, &c, logged.object, err)
                                : refuse(device, &c, logged.object, status, &first, err);
    sotto_case_close(device, &c);
    return status;
}

sotto_status sotto_device_offer(sotto_device *device, sotto_bytes recipe, sotto_err *err)
{
    sotto_err_clear(err);

    return sotto_device_offer_from(device, recipe, sotto_bytes_of(NULL, 0), err);
}
