/* The ping-pong topology (draft-irtf-cfrg-vdaf-20, section 5.7.1) for Prio3's single round: the leader
 * says `initialize`, the helper answers `finish`. Pure: bytes in, bytes out, states in between. */
#include "vdaf/ping_pong.h"
#include "base/arena.h"
#include "vdaf/circuit.h"

#include <string.h>

enum { MESSAGE_HEAD = 5 };

sotto_status sotto_ping_pong_decode(sotto_ping_pong_message *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    memset(out, 0, sizeof *out);
    out->type = (sotto_ping_pong_type)sotto_read_uint(&in, 1);
    if (out->type > SOTTO_PING_PONG_FINISH)
        return sotto_fail(err, SOTTO_MALFORMED, "ping-pong message: no type %d", (int)out->type);
    if (out->type != SOTTO_PING_PONG_INITIALIZE)
        out->verifier_message = sotto_read_opaque32(&in);
    if (out->type != SOTTO_PING_PONG_FINISH)
        out->verifier_share = sotto_read_opaque32(&in);
    return sotto_reader_finish(&in, "ping-pong message", err);
}

sotto_status sotto_ping_pong_encode(sotto_bytes *out, sotto_ping_pong_type type, sotto_bytes item,
                                    sotto_arena *arena, sotto_err *err)
{
    sotto_buf buf;
    sotto_writer w;

    SOTTO_TRY(sotto_buf_take(&buf, arena, MESSAGE_HEAD + item.len, err));
    w = sotto_writer_on(&buf);
    sotto_write_uint(&w, type, 1);
    sotto_write_opaque32(&w, item);
    SOTTO_TRY(sotto_writer_finish(&w, "ping-pong message", err));
    *out = sotto_buf_bytes(&buf);
    return SOTTO_OK;
}

static sotto_status check_role(const sotto_prio3 *vdaf, unsigned aggregator, unsigned wanted,
                               sotto_err *err)
{
    if (aggregator != wanted)
        return sotto_fail(err, SOTTO_BUG, "ping-pong: the %s is aggregator %u",
                          wanted ? "helper" : "leader", wanted);
    if (vdaf->circuit->shares != 2)
        return sotto_fail(err, SOTTO_BUG, "ping-pong is for two aggregators, not %u",
                          vdaf->circuit->shares);
    return SOTTO_OK;
}

static void refuse(sotto_prio3_verification *state, sotto_status status, const char *reason)
{
    state->status = status;
    state->reason = reason;
}

/* Nothing of a failed batch may stay behind, and none of its reports may go on. */
static sotto_status abandon(sotto_status status, sotto_prio3_verification *states,
                            sotto_bytes *outbound, size_t count, sotto_arena *arena,
                            sotto_arena_mark mark)
{
    for (size_t i = 0; i < count; i++) {
        states[i] = (sotto_prio3_verification){0};
        refuse(&states[i], status, "the batch could not be worked on");
        outbound[i] = sotto_bytes_of(NULL, 0);
    }
    sotto_arena_rollback(arena, mark);
    return status;
}

/* ---- leader's first step --------------------------------------------------------------------------- */

static sotto_status initialize(const sotto_prio3 *vdaf, sotto_prio3_verification *states,
                               sotto_bytes *outbound, const sotto_prio3_verifier *verifier,
                               const sotto_prio3_report *reports, size_t count, sotto_arena *arena,
                               sotto_err *err)
{
    SOTTO_TRY(sotto_prio3_verify_init(vdaf, states, verifier, reports, count, arena, err));
    for (size_t i = 0; i < count; i++) {
        outbound[i] = sotto_bytes_of(NULL, 0);
        if (states[i].status == SOTTO_AGAIN)
            SOTTO_TRY(sotto_ping_pong_encode(&outbound[i], SOTTO_PING_PONG_INITIALIZE,
                                             states[i].verifier_share, arena, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_ping_pong_leader_init(const sotto_prio3 *vdaf, sotto_prio3_verification *states,
                                         sotto_bytes *outbound,
                                         const sotto_prio3_verifier *verifier,
                                         const sotto_prio3_report *reports, size_t count,
                                         sotto_arena *arena, sotto_err *err)
{
    sotto_arena_mark mark = sotto_arena_here(arena);
    sotto_status status = check_role(vdaf, verifier->aggregator, 0, err);

    if (status == SOTTO_OK)
        status = initialize(vdaf, states, outbound, verifier, reports, count, arena, err);
    return status == SOTTO_OK ? SOTTO_OK : abandon(status, states, outbound, count, arena, mark);
}

/* ---- helper --------------------------------------------------------------------------------------- */

/* Pairs the leader's verifier share with ours; a message that does not parse refuses its report. */
static void pair_shares(sotto_prio3_verification *state, sotto_bytes pair[2], sotto_bytes inbound)
{
    sotto_ping_pong_message message;

    pair[0] = pair[1] = sotto_bytes_of(NULL, 0);
    if (state->status != SOTTO_AGAIN)
        return;
    if (sotto_ping_pong_decode(&message, inbound, NULL) != SOTTO_OK) {
        refuse(state, SOTTO_MALFORMED, "ping-pong message: does not parse");
    } else if (message.type != SOTTO_PING_PONG_INITIALIZE) {
        refuse(state, SOTTO_MALFORMED, "ping-pong message: wanted initialize");
    } else {
        pair[0] = message.verifier_share;
        pair[1] = state->verifier_share;
    }
}

static sotto_status answer(const sotto_prio3 *vdaf, sotto_prio3_verification *states,
                           sotto_bytes *outbound, const sotto_prio3_verdict *verdicts, size_t count,
                           sotto_bytes *messages, sotto_arena *arena, sotto_err *err)
{
    for (size_t i = 0; i < count; i++) {
        outbound[i] = sotto_bytes_of(NULL, 0);
        messages[i] = sotto_bytes_of(verdicts[i].message, vdaf->sizes.verifier_message);
        if (states[i].status == SOTTO_AGAIN && verdicts[i].status != SOTTO_OK)
            refuse(&states[i], verdicts[i].status, verdicts[i].reason);
    }
    SOTTO_TRY(sotto_prio3_verify_next(vdaf, states, messages, count, err));
    for (size_t i = 0; i < count; i++)
        if (states[i].status == SOTTO_OK)
            SOTTO_TRY(sotto_ping_pong_encode(&outbound[i], SOTTO_PING_PONG_FINISH, messages[i],
                                             arena, err));
    return SOTTO_OK;
}

static sotto_status verify_and_finish(const sotto_prio3 *vdaf, sotto_prio3_verification *states,
                                      sotto_bytes *outbound, const sotto_prio3_verifier *verifier,
                                      const sotto_prio3_report *reports, const sotto_bytes *inbound,
                                      size_t count, sotto_arena *arena, sotto_err *err)
{
    SOTTO_TRY(sotto_prio3_verify_init(vdaf, states, verifier, reports, count, arena, err));

    sotto_bytes *pairs = sotto_arena_take_array(arena, count, 2 * sizeof *pairs);
    sotto_bytes *messages = sotto_arena_take_array(arena, count, sizeof *messages);
    sotto_prio3_verdict *verdicts = sotto_arena_take_array(arena, count, sizeof *verdicts);
    if (!pairs || !messages || !verdicts)
        return sotto_fail(err, SOTTO_NO_MEMORY, "ping-pong: no memory for %zu reports", count);
    for (size_t i = 0; i < count; i++)
        pair_shares(&states[i], &pairs[2 * i], inbound[i]);
    SOTTO_TRY(sotto_prio3_verifier_shares_to_message(vdaf, verdicts, verifier->context, pairs,
                                                     count, arena, err));
    return answer(vdaf, states, outbound, verdicts, count, messages, arena, err);
}

sotto_status sotto_ping_pong_helper_init(const sotto_prio3 *vdaf, sotto_prio3_verification *states,
                                         sotto_bytes *outbound,
                                         const sotto_prio3_verifier *verifier,
                                         const sotto_prio3_report *reports,
                                         const sotto_bytes *inbound, size_t count,
                                         sotto_arena *arena, sotto_err *err)
{
    sotto_arena_mark mark = sotto_arena_here(arena);
    sotto_status status = check_role(vdaf, verifier->aggregator, 1, err);

    if (status == SOTTO_OK)
        status = verify_and_finish(vdaf, states, outbound, verifier, reports, inbound, count, arena,
                                   err);
    return status == SOTTO_OK ? SOTTO_OK : abandon(status, states, outbound, count, arena, mark);
}

/* ---- leader's last step ------------------------------------------------------------------------------ */

static sotto_bytes take_finish(sotto_prio3_verification *state, sotto_bytes inbound)
{
    sotto_ping_pong_message message;

    if (state->status != SOTTO_AGAIN)
        return sotto_bytes_of(NULL, 0);
    if (inbound.len == 0)
        refuse(state, SOTTO_REJECTED, "refused by the other aggregator");
    else if (sotto_ping_pong_decode(&message, inbound, NULL) != SOTTO_OK)
        refuse(state, SOTTO_MALFORMED, "ping-pong message: does not parse");
    else if (message.type != SOTTO_PING_PONG_FINISH)
        refuse(state, SOTTO_MALFORMED, "ping-pong message: wanted finish");
    else
        return message.verifier_message;
    return sotto_bytes_of(NULL, 0);
}

sotto_status sotto_ping_pong_leader_continued(const sotto_prio3 *vdaf,
                                              sotto_prio3_verification *states,
                                              const sotto_bytes *inbound, size_t count,
                                              sotto_err *err)
{
    SOTTO_TRY(check_role(vdaf, 0, 0, err));
    for (size_t i = 0; i < count; i++) {
        sotto_bytes message = take_finish(&states[i], inbound[i]);

        SOTTO_TRY(sotto_prio3_verify_next(vdaf, &states[i], &message, 1, err));
    }
    return SOTTO_OK;
}
