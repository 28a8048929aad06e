/* What the server does, step by step. A phase ends when all have spoken or its time is up, whichever comes first. */
#include "aggregate/flamingo/server.h"

#include "aggregate/machine.h"
#include "base/rule.h"

#include <string.h>

enum { MOST_ATTEMPTS = 16, ROOM = 4 << 20 };

static void burn(flamingo_server *s, sotto_effects *effects, const char *reason)
{
    s->phase = SERVER_BURNT;
    sotto_effects_done(effects, SOTTO_DENIED, reason);
}

static sotto_status no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo server: no memory");
}

static uint32_t members_of(const flamingo_server *s)
{
    return s->round->decryptors->record.count;
}

static uint64_t label_by(const flamingo_server *s)
{
    return s->round->closes + (s->round->verify_by - s->round->closes) / 2;
}

/* ---- labels ---------------------------------------------------------------------------------------------- */

/* A client below the wanted neighbours burns the round: its vector is in the sum and can't be taken out again. */
static sotto_status close_window(flamingo_server *s, sotto_effects *effects, sotto_err *err)
{
    if (sotto_flamingo_server_reports(s) < s->round->least) {
        burn(s, effects, "flamingo: too few clients reported");
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_flamingo_server_send_labels(s, effects, err));
    s->phase = SERVER_LABEL;
    sotto_effects_wake(effects, label_by(s));
    return SOTTO_OK;
}

/* ---- opening --------------------------------------------------------------------------------------------- */

/* Those who did not answer yet come first: their shares are new. */
static bool choose_set(flamingo_server *s)
{
    uint32_t wanted = sotto_decryptors_threshold(members_of(s)), count = 0;

    memset(s->set, 0, sizeof s->set);
    for (unsigned pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < members_of(s) && count < wanted; i++) {
            const server_decryptor *d = &s->decryptors[i];
            unsigned rank = d->flags & DECRYPTOR_SLOW ? 2 : d->answer.data ? 1 : 0;

            if (!d->vote.data || (d->flags & DECRYPTOR_OUT) || rank != pass)
                continue;
            sotto_bits_set(s->set, i);
            count++;
        }
    return count == wanted;
}

/* Another set, or the same one with proofs. */
static sotto_status try_again(flamingo_server *s, bool same_set, sotto_effects *effects,
                              sotto_err *err)
{
    if (s->attempt >= MOST_ATTEMPTS || (!same_set && !choose_set(s))) {
        burn(s, effects, "flamingo: too few decryptors answered as they should");
        return SOTTO_OK;
    }
    s->attempt++;
    SOTTO_TRY(sotto_flamingo_server_send_open(s, effects, err));
    s->deadline = 0;
    sotto_effects_wake(effects, 0); /* the next tick knows the time */
    return SOTTO_OK;
}

static sotto_status start_opening(flamingo_server *s, sotto_effects *effects, sotto_err *err)
{
    SOTTO_TRY(sotto_flamingo_server_want(s, err));
    s->phase = SERVER_OPEN;
    return try_again(s, false, effects, err);
}

/* Somebody lied. First whoever made what can't be opened; then everybody proves; then whoever could not. */
static sotto_status find_liar(flamingo_server *s, server_outcome outcome, uint32_t client,
                              sotto_effects *effects, sotto_err *err)
{
    bool all = true;

    if (outcome == OUTCOME_PARTS && !s->prove) {
        if (sotto_flamingo_server_bad_clients(s)) {
            burn(s, effects, "flamingo: a client sent what can't be opened");
            return SOTTO_OK;
        }
        s->prove = true;
        return try_again(s, true, effects, err);
    }
    if (outcome == OUTCOME_PARTS && sotto_flamingo_server_bad_decryptors(s))
        return try_again(s, false, effects, err);
    for (uint32_t i = 0; i < members_of(s); i++)
        all = all && (!s->decryptors[i].vote.data || s->decryptors[i].answer.data ||
                      (s->decryptors[i].flags & (DECRYPTOR_OUT | DECRYPTOR_SLOW)));
    if (outcome != OUTCOME_PARTS && !all)
        return try_again(s, false, effects, err);
    if (outcome == OUTCOME_SHARES) {
        /* Decryptors that keep silent, or a client that dealt them what it did not sign: nobody can tell, nobody is named. */
        burn(s, effects, "flamingo: too few shares of a client's mask");
        return SOTTO_OK;
    }
    sotto_flamingo_server_blame(s, client);
    burn(s, effects, "flamingo: a client's masks can't be opened");
    return SOTTO_OK;
}

static sotto_status finish(flamingo_server *s, sotto_effects *effects, sotto_err *err)
{
    server_outcome outcome;
    uint32_t client = 0;

    SOTTO_TRY(sotto_flamingo_server_recover(s, &outcome, &client, err));
    if (outcome != OUTCOME_WHOLE)
        return find_liar(s, outcome, client, effects, err);
    s->phase = SERVER_RELEASED;
    sotto_effects_done(effects, SOTTO_OK, "flamingo: released");
    return SOTTO_OK;
}

/* ---- messages -------------------------------------------------------------------------------------------- */

/* Shares for every decryptor, and an edge for every neighbour that the beacon gave: else masks would stay. */
static sotto_status judge_report(flamingo_server *s, const sotto_message *m, sotto_arena *scratch,
                                 sotto_err *err)
{
    uint8_t *row = sotto_arena_take(scratch, s->graph.count);
    int64_t place = sotto_flamingo_place(&s->graph, m->from);
    sotto_flamingo_body body;
    size_t at = 0;

    if (!row)
        return no_memory(err);
    if (place < 0)
        return sotto_fail(err, SOTTO_REJECTED, "report: of somebody who was not drawn");
    SOTTO_TRY(sotto_flamingo_body_decode(&body, SOTTO_FLAMINGO_REPORT, s->round->registered,
                                         m->body, err));
    SOTTO_TRY(sotto_flamingo_row(&s->graph, (uint32_t)place, row, err));
    for (uint32_t j = 0; j < s->graph.count; j++) {
        if (!row[j])
            continue;
        if (at == body.b.count || sotto_row_index(sotto_rows_at(&body.b, at)) != s->graph.cohort[j])
            return sotto_fail(err, SOTTO_REJECTED, "report: not the edges that were drawn");
        at++;
    }
    if (at != body.b.count || body.a.count != members_of(s))
        return sotto_fail(err, SOTTO_REJECTED, "report: not the edges or shares that are wanted");
    return SOTTO_OK;
}

/* For `size` bytes, and as many more as `like` messages of this size want: the system gives one large block faster than many. */
static uint8_t *take_room(flamingo_server *s, size_t size, size_t like)
{
    const size_t most = ROOM / size, block = size * (like < most ? like : most);

    if (size > s->room_left && block >= size) {
        s->room = sotto_arena_take(s->arena, block);
        s->room_left = s->room ? block : 0;
    }
    if (size > s->room_left)
        return sotto_arena_take(s->arena, size);
    uint8_t *taken = s->room;
    s->room += size;
    s->room_left -= size;
    return taken;
}

/* Kept messages and those of this step are the caller's: the machine copies what it needs until it is restored. like: how many of this
 * kind there may be from now on. */
static sotto_status keep(flamingo_server *s, const sotto_message *m, size_t like,
                         sotto_effects *effects, sotto_err *err)
{
    sotto_message copy = *m;
    uint8_t *body = take_room(s, m->body.len + SOTTO_SIGNATURE, like);

    if (!body)
        return no_memory(err);
    uint8_t *signature = body + m->body.len;
    memcpy(body, m->body.data, m->body.len);
    memcpy(signature, m->signature.data, SOTTO_SIGNATURE);
    copy.body.data = body;
    copy.signature.data = signature;
    (void)sotto_flamingo_server_file(s, &copy);
    return sotto_effects_keep_held(effects, &copy, err);
}

static sotto_status take_report(flamingo_server *s, const sotto_message *m, sotto_effects *effects,
                                sotto_err *err)
{
    /* Labels are on their way: what is added now, nobody takes the masks from. */
    if (SOTTO_RULE(flamingo_late_reports) && s->phase != SERVER_COLLECT)
        return SOTTO_STALE;
    if (s->clients[m->from].report.data)
        return SOTTO_STALE;
    SOTTO_TRY(judge_report(s, m, effects->arena, err));
    SOTTO_TRY(keep(s, m, s->graph.count - sotto_flamingo_server_reports(s), effects, err));
    return sotto_flamingo_server_reports(s) == s->graph.count ? close_window(s, effects, err)
                                                              : SOTTO_OK;
}

static sotto_status take_vote(flamingo_server *s, const sotto_message *m, sotto_effects *effects,
                              sotto_err *err)
{
    int place = sotto_decryptors_place(s->round->decryptors, m->from);

    if (s->phase < SERVER_LABEL)
        return SOTTO_AGAIN;
    if (s->phase != SERVER_LABEL || s->decryptors[place].vote.data)
        return SOTTO_STALE;
    SOTTO_TRY(sotto_flamingo_server_label(s, effects->arena, err));
    if (memcmp(s->labels, m->body.data, sizeof s->labels) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "vote: for labels that were not sent");
    SOTTO_TRY(keep(s, m, members_of(s), effects, err));
    return sotto_flamingo_server_votes(s) == members_of(s) ? start_opening(s, effects, err)
                                                           : SOTTO_OK;
}

static sotto_status take_answer(flamingo_server *s, const sotto_message *m, sotto_effects *effects,
                                sotto_err *err)
{
    int place = sotto_decryptors_place(s->round->decryptors, m->from);
    sotto_flamingo_body body, earlier;

    if (s->phase != SERVER_OPEN)
        return s->phase < SERVER_OPEN ? SOTTO_AGAIN : SOTTO_STALE;
    SOTTO_TRY(sotto_flamingo_body_decode(&body, SOTTO_FLAMINGO_ANSWER, s->round->registered,
                                         m->body, err));
    if (body.head.data[0] != s->attempt || !sotto_bits_has(s->set, (uint32_t)place) ||
        sotto_flamingo_server_answer(s, (uint32_t)place, &earlier))
        return SOTTO_STALE;
    if (body.b.count != s->wanted.count)
        return sotto_fail(err, SOTTO_REJECTED, "answer: not as many parts as were asked for");
    SOTTO_TRY(keep(s, m, sotto_decryptors_threshold(members_of(s)), effects, err));
    return sotto_flamingo_server_all_answered(s) ? finish(s, effects, err) : SOTTO_OK;
}

static sotto_status deliver_one(flamingo_server *s, const sotto_message *m, sotto_status *verdict,
                                sotto_effects *effects, sotto_err *err)
{
    sotto_status status = SOTTO_REJECTED;

    *verdict = SOTTO_STALE;
    if (s->phase == SERVER_BURNT || s->phase == SERVER_RELEASED)
        return SOTTO_OK;
    if (m->kind == SOTTO_FLAMINGO_REPORT)
        status = take_report(s, m, effects, err);
    else if (m->kind == SOTTO_FLAMINGO_VOTE)
        status = take_vote(s, m, effects, err);
    else if (m->kind == SOTTO_FLAMINGO_ANSWER)
        status = take_answer(s, m, effects, err);
    if (status != SOTTO_OK && status != SOTTO_REJECTED && status != SOTTO_STALE &&
        status != SOTTO_AGAIN)
        return status;
    *verdict = status;
    return SOTTO_OK;
}

static sotto_status deliver(sotto_machine *machine, const sotto_message *messages, size_t count,
                            sotto_status *verdicts, sotto_effects *effects, sotto_err *err)
{
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(
            deliver_one((flamingo_server *)machine, &messages[i], &verdicts[i], effects, err));
    return SOTTO_OK;
}

/* ---- time ------------------------------------------------------------------------------------------------ */

static sotto_status tick_label(flamingo_server *s, uint64_t now_ms, sotto_effects *effects,
                               sotto_err *err)
{
    bool quorum = sotto_flamingo_server_votes(s) >= sotto_decryptors_quorum(members_of(s));

    if (quorum && now_ms >= label_by(s))
        return start_opening(s, effects, err);
    if (now_ms >= s->round->verify_by)
        burn(s, effects, "flamingo: too few decryptors signed the labels");
    else
        sotto_effects_wake(effects, now_ms < label_by(s) ? label_by(s) : s->round->verify_by);
    return SOTTO_OK;
}

/* Half of the time that is left for each attempt. */
static sotto_status tick_open(flamingo_server *s, uint64_t now_ms, sotto_effects *effects,
                              sotto_err *err)
{
    sotto_flamingo_body body;

    if (now_ms >= s->round->release_by) {
        burn(s, effects, "flamingo: too few decryptors answered in time");
        return SOTTO_OK;
    }
    if (s->deadline == 0)
        s->deadline = now_ms + (s->round->release_by - now_ms) / 2;
    if (now_ms < s->deadline) {
        sotto_effects_wake(effects, s->deadline);
        return SOTTO_OK;
    }
    for (uint32_t i = 0; i < members_of(s); i++)
        if (sotto_bits_has(s->set, i) && !sotto_flamingo_server_answer(s, i, &body))
            s->decryptors[i].flags |= DECRYPTOR_SLOW;
    return try_again(s, false, effects, err);
}

static sotto_status tick(sotto_machine *machine, uint64_t now_ms, sotto_effects *effects,
                         sotto_err *err)
{
    flamingo_server *s = (flamingo_server *)machine;

    switch (s->phase) {
    case SERVER_COLLECT:
        if (now_ms >= s->round->closes)
            return close_window(s, effects, err);
        sotto_effects_wake(effects, s->round->closes);
        return SOTTO_OK;
    case SERVER_LABEL:
        return tick_label(s, now_ms, effects, err);
    case SERVER_OPEN:
        return tick_open(s, now_ms, effects, err);
    default:
        return SOTTO_OK;
    }
}

static sotto_status result(const sotto_machine *machine, sotto_round_result *out, sotto_err *err)
{
    const flamingo_server *s = (const flamingo_server *)machine;

    SOTTO_TRY(sotto_machine_outcome(out, s->blamed, s->blamed_count, s->phase == SERVER_BURNT,
                                    s->phase == SERVER_RELEASED, err));
    out->contributions = sotto_bits_count(s->online, (size_t)(s->round->registered + 7) / 8);
    out->opening = sotto_buf_bytes(&s->opening);
    return SOTTO_OK;
}

const sotto_machine_ops sotto_flamingo_server = {
    .join = sotto_flamingo_server_join,
    .offer = sotto_machine_offers_nothing,
    .check = sotto_flamingo_check,
    .deliver = deliver,
    .tick = tick,
    .result = result,
    .save = sotto_flamingo_server_save,
    .restore = sotto_flamingo_server_restore,
    .leave = sotto_flamingo_server_leave,
};
