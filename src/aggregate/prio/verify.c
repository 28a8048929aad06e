/* Prio3's two servers: a batch of reports by the ping-pong topology (draft-irtf-cfrg-vdaf-20, section 5.7.1). */
#include "aggregate/prio/prio.h"

#include "base/arena.h"

static sotto_status batch_take(sotto_vdaf_batch *batch, size_t count, sotto_arena *arena,
                               sotto_err *err)
{
    *batch = (sotto_vdaf_batch){
        .count = count,
        .room = count,
        .status = sotto_arena_take_array(arena, count + 1, sizeof *batch->status),
        .outbound = sotto_arena_take_array(arena, count + 1, sizeof *batch->outbound),
        .states = sotto_arena_take_array(arena, count + 1, sizeof(sotto_prio3_verification))};
    return batch->status && batch->outbound && batch->states
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_NO_MEMORY, "a batch of %zu reports", count);
}

/* Whatever the call came to: a batch that could not be worked on has every report rejected. */
static sotto_status tell(sotto_vdaf_batch *batch, sotto_status status)
{
    const sotto_prio3_verification *states = batch->states;

    for (size_t i = 0; i < batch->count; i++)
        batch->status[i] = states[i].status;
    return status;
}

static sotto_status leader_init(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                const sotto_vdaf_verifier *verifier,
                                const sotto_vdaf_report *reports, size_t count, sotto_arena *arena,
                                sotto_err *err)
{
    SOTTO_TRY(batch_take(batch, count, arena, err));
    return tell(batch, sotto_ping_pong_leader_init(vdaf->state, batch->states, batch->outbound,
                                                   verifier, reports, count, arena, err));
}

static sotto_status leader_join(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                const sotto_vdaf_verifier *verifier,
                                const sotto_vdaf_report *reports, size_t count, sotto_arena *arena,
                                sotto_err *err)
{
    size_t first = batch->count;
    sotto_prio3_verification *states;
    sotto_status status;

    if (count > batch->room - first)
        return sotto_fail(err, SOTTO_BUG, "a batch: no room for %zu more", count);
    if (!batch->states) {
        SOTTO_TRY(batch_take(batch, batch->room, arena, err));
        batch->count = 0;
    }
    states = batch->states;
    status = sotto_ping_pong_leader_init(vdaf->state, states + first, batch->outbound + first,
                                         verifier, reports, count, arena, err);
    batch->count = first + count;
    return tell(batch, status);
}

static sotto_status helper_init(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                const sotto_vdaf_verifier *verifier,
                                const sotto_vdaf_report *reports, const sotto_bytes *inbound,
                                size_t count, sotto_arena *arena, sotto_err *err)
{
    SOTTO_TRY(batch_take(batch, count, arena, err));
    return tell(batch, sotto_ping_pong_helper_init(vdaf->state, batch->states, batch->outbound,
                                                   verifier, reports, inbound, count, arena, err));
}

static sotto_status leader_finish(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                  const sotto_bytes *inbound, sotto_err *err)
{
    return tell(batch, sotto_ping_pong_leader_continued(vdaf->state, batch->states, inbound,
                                                        batch->count, err));
}

const sotto_vdaf_server_ops sotto_prio_server = {
    .client = &sotto_prio_client,
    .most_added = SOTTO_PRIO3_ADDED_LIMIT,
    .parameters_decode = sotto_prio_config_decode,
    .leader_init = leader_init,
    .leader_join = leader_join,
    .helper_init = helper_init,
    .leader_finish = leader_finish,
    .tally_init = sotto_prio_tally_init,
    .accumulate = sotto_prio_accumulate,
    .accumulate_awaited = sotto_prio_accumulate_awaited,
    .take_off = sotto_prio_take_off,
    .open = sotto_prio_open,
};
