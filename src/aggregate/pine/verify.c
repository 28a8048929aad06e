/* PINE's two servers: a batch of reports by the ping-pong topology (draft-irtf-cfrg-vdaf-20, section 5.7.1). */
#include "aggregate/pine/pine.h"

#include "base/arena.h"
#include "vdaf/ping_pong.h"

typedef struct verifying {
    const sotto_pine *pine;
    const sotto_vdaf_verifier *verifier;
    sotto_arena *arena;
} verifying;

static sotto_status batch_take(sotto_vdaf_batch *batch, size_t room, sotto_arena *arena,
                               sotto_err *err)
{
    *batch = (sotto_vdaf_batch){
        .room = room,
        .status = sotto_arena_take_array(arena, room + 1, sizeof *batch->status),
        .outbound = sotto_arena_take_array(arena, room + 1, sizeof *batch->outbound),
        .states = sotto_arena_take_array(arena, room + 1, sizeof(sotto_pine_verification))};
    return batch->status && batch->outbound && batch->states
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_NO_MEMORY, "a batch of %zu reports", room);
}

/* What is wrong with one report is that report's; only these end the work on a batch. */
static bool ends_the_batch(sotto_status status)
{
    return status == SOTTO_NO_MEMORY || status == SOTTO_BUG;
}

/* A batch that could not be worked on has every report rejected. */
static sotto_status tell(sotto_vdaf_batch *batch, sotto_status status)
{
    const sotto_pine_verification *states = batch->states;

    /* What a leader sent stays there: by it whoever added up awaited reports knows which to take off. */
    for (size_t i = 0; i < batch->count; i++) {
        batch->status[i] = status == SOTTO_OK ? states[i].status : status;
        if (status != SOTTO_OK)
            batch->outbound[i] = sotto_bytes_of(NULL, 0);
    }
    return status;
}

/* ---- first step of either server --------------------------------------------------------------------- */

/* A leader's out share stands in its input share, which lives as long as it is needed: a copy of each would be as
 * much memory again as the reports. */
static sotto_status query(const verifying *v, sotto_pine_verification *state, sotto_bytes *share,
                          const sotto_vdaf_report *report, sotto_err *err)
{
    const sotto_pine *pine = v->pine;
    const sotto_pine_input input = {.aggregator = v->verifier->aggregator,
                                    .nonce = report->nonce,
                                    .public_share = report->public_share,
                                    .input_share = report->input_share};
    uint8_t *verifier_share = sotto_arena_take(v->arena, pine->sizes.verifier_share);
    const sotto_arena_mark mark = sotto_arena_here(v->arena);
    uint8_t *out_share = sotto_arena_take(v->arena, pine->sizes.out_share);

    if (!verifier_share || !out_share)
        return sotto_fail(err, SOTTO_NO_MEMORY, "pine: no memory");
    const sotto_status status = sotto_pine_verify_init(pine, &state->state, out_share,
                                                       verifier_share, v->verifier->verify_key,
                                                       v->verifier->context, &input, v->arena, err);
    state->out_share = out_share;
    if (input.aggregator == 0 || status != SOTTO_OK) {
        sotto_arena_rollback(v->arena, mark);
        state->out_share = report->input_share.data;
    }
    *share = sotto_bytes_of(verifier_share, pine->sizes.verifier_share);
    return status;
}

/* ---- leader ------------------------------------------------------------------------------------------ */

static sotto_status leader_each(const verifying *v, sotto_vdaf_batch *batch, size_t first,
                                const sotto_vdaf_report *reports, size_t count, sotto_err *err)
{
    sotto_pine_verification *states = batch->states;
    sotto_err why;
    sotto_bytes share;

    for (size_t i = 0; i < count; i++) {
        sotto_pine_verification *state = &states[first + i];

        *state = (sotto_pine_verification){0};
        batch->outbound[first + i] = sotto_bytes_of(NULL, 0);
        sotto_err_clear(&why);
        state->status = query(v, state, &share, &reports[i], &why);
        if (ends_the_batch(state->status))
            return sotto_fail(err, state->status, "%s", why.reason);
        if (state->status != SOTTO_OK)
            continue;
        state->status = SOTTO_AGAIN;
        SOTTO_TRY(sotto_ping_pong_encode(&batch->outbound[first + i], SOTTO_PING_PONG_INITIALIZE,
                                         share, v->arena, err));
    }
    return SOTTO_OK;
}

static sotto_status check_role(const sotto_vdaf_verifier *verifier, unsigned wanted, sotto_err *err)
{
    return verifier->aggregator == wanted
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_BUG, "ping-pong: the %s is aggregator %u",
                            wanted ? "helper" : "leader", wanted);
}

static sotto_status leader_join(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                const sotto_vdaf_verifier *verifier,
                                const sotto_vdaf_report *reports, size_t count, sotto_arena *arena,
                                sotto_err *err)
{
    const verifying v = {vdaf->state, verifier, arena};
    const size_t first = batch->count;

    SOTTO_TRY(check_role(verifier, 0, err));
    if (count > batch->room - first)
        return sotto_fail(err, SOTTO_BUG, "a batch: no room for %zu more", count);
    if (!batch->states)
        SOTTO_TRY(batch_take(batch, batch->room, arena, err));
    batch->count = first + count;
    return tell(batch, leader_each(&v, batch, first, reports, count, err));
}

static sotto_status leader_init(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                const sotto_vdaf_verifier *verifier,
                                const sotto_vdaf_report *reports, size_t count, sotto_arena *arena,
                                sotto_err *err)
{
    *batch = (sotto_vdaf_batch){.room = count};
    return leader_join(vdaf, batch, verifier, reports, count, arena, err);
}

/* An empty message: the helper rejected the report. */
static sotto_status finish(const sotto_pine *pine, const sotto_pine_verification *state,
                           sotto_bytes inbound)
{
    sotto_ping_pong_message message;

    if (inbound.len == 0)
        return SOTTO_REJECTED;
    if (sotto_ping_pong_decode(&message, inbound, NULL) != SOTTO_OK ||
        message.type != SOTTO_PING_PONG_FINISH)
        return SOTTO_MALFORMED;
    return sotto_pine_verify_next(pine, &state->state, message.verifier_message, NULL);
}

static sotto_status leader_finish(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                  const sotto_bytes *inbound, sotto_err *err)
{
    sotto_pine_verification *states = batch->states;

    (void)err; /* what is wrong with an answer is its report's */
    for (size_t i = 0; i < batch->count; i++)
        if (states[i].status == SOTTO_AGAIN)
            states[i].status = finish(vdaf->state, &states[i], inbound[i]);
    return tell(batch, SOTTO_OK);
}

/* ---- helper ------------------------------------------------------------------------------------------ */

static sotto_status decide(const verifying *v, sotto_pine_verification *state, sotto_bytes ours,
                           sotto_bytes inbound, uint8_t *verifier_message, sotto_err *err)
{
    sotto_ping_pong_message message;

    if (sotto_ping_pong_decode(&message, inbound, NULL) != SOTTO_OK ||
        message.type != SOTTO_PING_PONG_INITIALIZE)
        return sotto_fail(err, SOTTO_MALFORMED, "ping-pong message: wanted initialize");
    SOTTO_TRY(sotto_pine_verifier_shares_to_message(v->pine, verifier_message, v->verifier->context,
                                                    message.verifier_share, ours, err));
    return sotto_pine_verify_next(v->pine, &state->state,
                                  sotto_bytes_of(verifier_message, v->pine->sizes.verifier_message),
                                  err);
}

static sotto_status helper_one(const verifying *v, sotto_pine_verification *state,
                               sotto_bytes *outbound, const sotto_vdaf_report *report,
                               sotto_bytes inbound, sotto_err *err)
{
    uint8_t message[2 * SOTTO_PINE_MAX_SEED];
    sotto_bytes share;

    SOTTO_TRY(query(v, state, &share, report, err));
    SOTTO_TRY(decide(v, state, share, inbound, message, err));
    return sotto_ping_pong_encode(outbound, SOTTO_PING_PONG_FINISH,
                                  sotto_bytes_of(message, v->pine->sizes.verifier_message),
                                  v->arena, err);
}

static sotto_status helper_each(const verifying *v, sotto_vdaf_batch *batch,
                                const sotto_vdaf_report *reports, const sotto_bytes *inbound,
                                size_t count, sotto_err *err)
{
    sotto_pine_verification *states = batch->states;
    sotto_err why;

    for (size_t i = 0; i < count; i++) {
        states[i] = (sotto_pine_verification){0};
        batch->outbound[i] = sotto_bytes_of(NULL, 0);
        sotto_err_clear(&why);
        states[i].status =
            helper_one(v, &states[i], &batch->outbound[i], &reports[i], inbound[i], &why);
        if (ends_the_batch(states[i].status))
            return sotto_fail(err, states[i].status, "%s", why.reason);
    }
    return SOTTO_OK;
}

static sotto_status helper_init(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                const sotto_vdaf_verifier *verifier,
                                const sotto_vdaf_report *reports, const sotto_bytes *inbound,
                                size_t count, sotto_arena *arena, sotto_err *err)
{
    const verifying v = {vdaf->state, verifier, arena};

    SOTTO_TRY(check_role(verifier, 1, err));
    SOTTO_TRY(batch_take(batch, count, arena, err));
    batch->count = count;
    return tell(batch, helper_each(&v, batch, reports, inbound, count, err));
}

const sotto_vdaf_server_ops sotto_pine_server = {
    .client = &sotto_pine_client,
    .most_added = SOTTO_PINE_ADDED_LIMIT,
    .parameters_decode = sotto_pine_config_decode,
    .leader_init = leader_init,
    .leader_join = leader_join,
    .helper_init = helper_init,
    .leader_finish = leader_finish,
    .tally_init = sotto_pine_tally_init,
    .accumulate = sotto_pine_tally_accumulate,
    .accumulate_awaited = sotto_pine_tally_accumulate_awaited,
    .take_off = sotto_pine_tally_take_off,
    .open = sotto_pine_open,
};
