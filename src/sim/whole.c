/* Devices as applications have them, in memory: store, ledger, proof and seal; and what they upload goes to both servers. */
#include "base/arena.h"
#include "sim/worker.h"
#include "sotto/device.h"

#include <string.h>

static sotto_status read_body(sotto_exchange *exchange, sotto_buf *out)
{
    size_t len = 0;

    for (uint64_t at = 0; at < exchange->body_length; at += len) {
        SOTTO_TRY(exchange->read(exchange, at, out->data + out->len, out->cap - out->len, &len));
        out->len += len;
    }
    return SOTTO_OK;
}

/* A report on its way: the leader has it at once. */
static sotto_status exchange_of(void *context, sotto_exchange *exchange)
{
    const sotto_exchange_head accepted = {.size = sizeof accepted, .status = 200};
    sotto_sim_worker *w = context;
    sotto_buf body;

    SOTTO_TRY(sotto_buf_take(&body, &w->work, (size_t)exchange->body_length + 1, NULL));
    SOTTO_TRY(read_body(exchange, &body));
    SOTTO_TRY(sotto_sim_servers_put(w->servers, (size_t)(w->cohort - w->cohorts),
                                    sotto_buf_bytes(&body), NULL));
    return exchange->begin(exchange, &accepted);
}

static int64_t clock_of(void *context)
{
    return ((const sotto_sim_worker *)context)->now;
}

static sotto_status random_of(void *context, void *out, size_t len, sotto_err *err)
{
    return sotto_sim_random_fill(&((sotto_sim_worker *)context)->random, out, len, err);
}

static void note_answer(void *context, uint64_t bin)
{
    sotto_worker_count(((sotto_sim_worker *)context)->cohort, bin);
}

static void note_draw(void *context, uint64_t bin)
{
    sotto_worker_count_drawn(((sotto_sim_worker *)context)->cohort, bin);
}

/* ---- one device ------------------------------------------------------------------------------------------------ */

static sotto_status donate(sotto_sim_worker *w, sotto_device *device, const sotto_sim_device *made,
                           sotto_err *err)
{
    const sotto_trial *t = w->trial;
    const sotto_value nothing = {.type = SOTTO_TYPE_NULL};
    sotto_event *events = sotto_arena_take_array(&w->work, made->rows + 1, sizeof *events);

    if (!events)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a device of %zu rows", made->rows);
    for (size_t i = 0; i < made->rows; i++) {
        events[i] = (sotto_event){
            .stream = t->table.stream.name,
            .time = sotto_sim_time(t, made->times[i]),
            .values = t->table.unread ? &nothing : &made->values[i * t->table.stream.field_count],
            .value_count = t->table.stream.field_count};
        sotto_sim_random_bytes(&w->random, events[i].id, sizeof events[i].id);
    }
    return sotto_device_donate(device, events, made->rows, NULL, err);
}

static sotto_status tick(sotto_sim_worker *w, sotto_device *device, sotto_explanation *why,
                         sotto_err *err)
{
    sotto_tick state;

    SOTTO_TRY(sotto_device_tick(device, &state, (sotto_conditions){true, true, true}, err));
    if (state.waiting > 0)
        return sotto_fail(err, SOTTO_BUG, "a report was made and not taken");
    *why = (sotto_explanation){.why = SOTTO_WHY_ANSWERED};
    return state.made > 0 ? SOTTO_OK : sotto_device_why(device, why, w->trial->recipe->name, err);
}

/* The device does not tell its secret slot; but whether it is to come can be asked at any time. */
static sotto_status await_slot(sotto_sim_worker *w, sotto_device *device, sotto_explanation *why,
                               sotto_err *err)
{
    const sotto_recipe *recipe = w->trial->recipe;
    const sotto_participation *p = &recipe->participation;
    const int64_t length = (int64_t)p->length, opens = recipe->opens,
                  start = p->type == SOTTO_CHECK_IN_SLIDING_WINDOW && opens > p->start
                              ? opens - (opens - p->start) % length
                              : p->start;
    uint64_t low = 0, high = (uint64_t)((recipe->closes - 1 - start) / length) + 1;

    high = high < p->slots ? high : p->slots; /* its slot is in low .. high - 1, or after the end */
    while (low < high && why->why == SOTTO_WHY_SLOT_TO_COME) {
        const uint64_t middle = low + (high - low) / 2;

        w->now = start + (int64_t)middle * length;
        SOTTO_TRY(sotto_device_why(device, why, recipe->name, err));
        if (why->why == SOTTO_WHY_SLOT_TO_COME) {
            low = middle + 1;
        } else if (why->why == SOTTO_WHY_SLOT_MISSED) {
            high = middle;
            why->why = SOTTO_WHY_SLOT_TO_COME;
        }
    }
    return why->why == SOTTO_WHY_READY ? tick(w, device, why, err) : SOTTO_OK;
}

/* Whatever a device says no to, all say no to. */
static sotto_status judge(sotto_sim_worker *w, const sotto_explanation *why, sotto_err *err)
{
    switch (why->why) {
    case SOTTO_WHY_ANSWERED: /* counted where the bin was told */
        return SOTTO_OK;
    case SOTTO_WHY_NOT_SAMPLED:
    case SOTTO_WHY_SLOT_TO_COME:
    case SOTTO_WHY_SLOT_MISSED:
    case SOTTO_WHY_NO_VALUE:
        w->cohort->silent++;
        return SOTTO_OK;
    default:
        return sotto_fail(err, SOTTO_DENIED, "devices stay silent: %.130s", why->sentence);
    }
}

static sotto_status live(sotto_sim_worker *w, sotto_device *device, const sotto_sim_device *made,
                         sotto_err *err)
{
    const sotto_trial *t = w->trial;
    sotto_explanation why;

    SOTTO_TRY(sotto_device_consent(device, true, err));
    for (size_t i = 0; i < t->table.described_count; i++)
        SOTTO_TRY(sotto_device_describe(device, t->table.described[i], made->described[i], err));
    SOTTO_TRY(donate(w, device, made, err));
    SOTTO_TRY(sotto_device_offer(device, t->recipe_text, err));
    SOTTO_TRY(tick(w, device, &why, err));
    if (why.why == SOTTO_WHY_SLOT_TO_COME)
        SOTTO_TRY(await_slot(w, device, &why, err));
    return judge(w, &why, err);
}

sotto_status sotto_worker_take_whole(sotto_sim_worker *w, uint64_t number,
                                     const sotto_sim_device *made, sotto_err *err)
{
    const sotto_trial *t = w->trial;
    const sotto_device_simulation simulation = {random_of, w, note_answer, true, note_draw};
    const sotto_device_options options = {
        .policy = t->policy_text,
        .parties = t->parties_text,
        .streams = &t->table.stream,
        .stream_count = 1,
        .host = {.exchange = exchange_of, .clock = clock_of, .context = w},
        .simulation = &simulation,
        .shared = w->shared};
    sotto_device *device;
    size_t cohort;
    bool asked;

    sotto_worker_cohort(t, made, &cohort, &asked);
    if (!asked)
        return SOTTO_OK;
    w->cohort = &w->cohorts[cohort];
    w->random = sotto_sim_random_fork(&t->run.random, number);
    w->now = t->recipe->opens;
    SOTTO_TRY(sotto_device_open(&device, &options, err));
    const sotto_status status = live(w, device, made, err);
    sotto_device_close(device);
    sotto_arena_reset(&w->work);
    return status;
}
