#include "aggregate/aero/client.h"

#include "aggregate/machine.h"
#include "base/rule.h"

#include <string.h>

static bool wants(const sotto_aero_device *d, uint8_t role)
{
    if (SOTTO_RULE(aero_noise_by_consent) && role == SOTTO_AERO_NOISE && d->base.self.no_noise)
        return false;
    return sotto_aero_is_certified(d->base.view) && !d->base.view->is_committed &&
           !(d->done & SOTTO_AERO_HAS_PROMISED(role)) &&
           sotto_aero_may(d->base.plan, role, d->base.self.index);
}

/* What was promised is shown once all promises are on the board: nobody can make its own depend on it. */
static sotto_status reveal(sotto_aero_device *d, sotto_effects *effects, sotto_err *err)
{
    if (d->done & SOTTO_AERO_HAS_REVEALED)
        return SOTTO_OK;
    if (SOTTO_RULE(aero_reveal_after_commit) && !d->base.view->is_committed)
        return SOTTO_OK;
    for (unsigned role = SOTTO_AERO_NOISE; role < SOTTO_AERO_ROLES; role++)
        for (uint32_t g = 0; g < d->base.plan->groups; g++)
            if ((d->done & SOTTO_AERO_HAS_PROMISED(role)) && d->reveals[role][g].body.len)
                SOTTO_TRY(sotto_effects_send(effects, &d->reveals[role][g], NULL, err));
    if (d->done & (SOTTO_AERO_HAS_PROMISED(SOTTO_AERO_NOISE) |
                   SOTTO_AERO_HAS_PROMISED(SOTTO_AERO_CONTRIBUTOR)))
        d->done |= d->done & SOTTO_AERO_CLOSES_SOON
                       ? SOTTO_AERO_HAS_REVEALED | SOTTO_AERO_REVEALED_LATE
                       : SOTTO_AERO_HAS_REVEALED;
    return SOTTO_OK;
}

static sotto_status go_on(sotto_aero_device *d, sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_view *view = d->base.view;

    if (wants(d, SOTTO_AERO_NOISE))
        SOTTO_TRY(sotto_aero_contribute(d, SOTTO_AERO_NOISE, NULL, effects, err));
    if (wants(d, SOTTO_AERO_CONTRIBUTOR))
        sotto_effects_want_vector(effects);
    SOTTO_TRY(reveal(d, effects, err));
    if (!view->is_summed || (d->done & SOTTO_AERO_HAS_ASKED))
        return SOTTO_OK;
    d->done |= SOTTO_AERO_HAS_ASKED;
    SOTTO_TRY(sotto_aero_choose(d, err));
    return sotto_aero_ask_all(d, effects, err);
}

/* What leaves in the last quarter may arrive after the end, through no fault of the server's. */
static uint64_t reveal_by(const sotto_round *r)
{
    return r->closes - (r->closes - r->commit_by) / 4;
}

/* Unanswered questions are told early enough for an answer on the board. */
static uint64_t complain_at(const sotto_round *r)
{
    return r->verify_by - (r->verify_by - r->closes) / 3;
}

static sotto_status join(sotto_machine **out, const sotto_round *round, const sotto_self *self,
                         sotto_arena *arena, sotto_err *err)
{
    sotto_aero_device *d = sotto_arena_take(arena, sizeof *d);

    *out = NULL;
    if (!d)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(sotto_aero_join(&d->base, &sotto_aero_client, round, self, arena, err));
    *out = &d->base.machine;
    return SOTTO_OK;
}

static sotto_status offer(sotto_machine *machine, sotto_vector *mine, sotto_effects *effects,
                          sotto_err *err)
{
    sotto_aero_device *d = (sotto_aero_device *)machine;

    if (d->done & SOTTO_AERO_HAS_PROMISED(SOTTO_AERO_CONTRIBUTOR))
        return sotto_fail(err, SOTTO_STALE, "aero: a vector was given before");
    if (!wants(d, SOTTO_AERO_CONTRIBUTOR))
        return sotto_fail(err, SOTTO_AGAIN, "aero: no vector is wanted now");
    if (mine->ring != d->base.round->ring || mine->length != d->base.round->length)
        return sotto_fail(err, SOTTO_DENIED, "aero: not a vector of this round");
    SOTTO_TRY(sotto_aero_contribute(d, SOTTO_AERO_CONTRIBUTOR, mine, effects, err));
    return reveal(d, effects, err);
}

static sotto_status deliver_one(sotto_aero_device *d, const sotto_message *message,
                                sotto_status *verdict, sotto_effects *effects, sotto_err *err)
{
    sotto_message known;

    *verdict = SOTTO_REJECTED;
    if (message->kind == SOTTO_AERO_SAMPLE)
        return sotto_aero_take_sample(d, message, verdict, effects, err);
    if (message->kind != SOTTO_AERO_ENTRY)
        return SOTTO_OK;
    SOTTO_TRY(sotto_aero_take_entry(&d->base, &known, message, verdict, effects, err));
    return *verdict == SOTTO_OK ? go_on(d, effects, err) : SOTTO_OK;
}

static sotto_status deliver(sotto_machine *machine, const sotto_message *messages, size_t count,
                            sotto_status *verdicts, sotto_effects *effects, sotto_err *err)
{
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(
            deliver_one((sotto_aero_device *)machine, &messages[i], &verdicts[i], effects, err));
    return SOTTO_OK;
}

/* Whoever is shown the sums when a complaint would come too late does not say that they are right. Else a server could show them to all
 * devices then, and answer the many that ask for leaves which are sound. */
static bool is_early_enough(const sotto_round *r, uint64_t now_ms)
{
    if (SOTTO_RULE(aero_clears_in_time) && now_ms >= r->verify_by - (r->verify_by - r->closes) / 6)
        return false;
    return true;
}

/* Sums that come late are asked about all the same: who complained about nothing has not complained. */
static sotto_status complain(sotto_aero_device *d, uint64_t now_ms, sotto_effects *effects,
                             sotto_err *err)
{
    const sotto_round *r = d->base.round;
    bool is_summed = d->base.view->is_summed;

    if (d->done & SOTTO_AERO_HAS_COMPLAINED)
        return SOTTO_OK;
    if (SOTTO_RULE(aero_late_sums_asked) && !is_summed) {
        if (now_ms < r->verify_by)
            sotto_effects_wake(effects, now_ms + (r->verify_by - r->closes) / 12 + 1);
        return SOTTO_OK;
    }
    d->done |= SOTTO_AERO_HAS_COMPLAINED;
    if (!is_summed)
        return SOTTO_OK;
    SOTTO_TRY(sotto_aero_complain(d, effects, err));
    return is_early_enough(r, now_ms) ? sotto_aero_say_clear(d, effects, err) : SOTTO_OK;
}

static sotto_status tick(sotto_machine *machine, uint64_t now_ms, sotto_effects *effects,
                         sotto_err *err)
{
    sotto_aero_device *d = (sotto_aero_device *)machine;

    if (now_ms >= d->base.round->release_by) {
        sotto_effects_done(effects, SOTTO_OK, "the round is over");
        return SOTTO_OK;
    }
    sotto_effects_wake(effects, d->base.round->release_by);
    if (now_ms < reveal_by(d->base.round))
        sotto_effects_wake(effects, reveal_by(d->base.round));
    else
        d->done |= SOTTO_AERO_CLOSES_SOON;
    if (now_ms < complain_at(d->base.round)) {
        sotto_effects_wake(effects, complain_at(d->base.round));
        return go_on(d, effects, err);
    }
    SOTTO_TRY(go_on(d, effects, err));
    return complain(d, now_ms, effects, err);
}

static sotto_status save(const sotto_machine *machine, sotto_buf *out, sotto_err *err)
{
    const sotto_aero_device *d = (const sotto_aero_device *)machine;
    uint8_t own[1 + sizeof d->answered];

    own[0] = d->done;
    memcpy(own + 1, d->answered, sizeof d->answered);
    return sotto_aero_save(&d->base, out, sotto_bytes_of(own, sizeof own), err);
}

/* A message that was kept is borrowed: it outlives the machine. */
static void keep_reveal(sotto_aero_device *d, const sotto_message *kept)
{
    if (kept->body.len < 2 || kept->body.data[0] >= SOTTO_AERO_ROLES ||
        kept->body.data[1] >= d->base.plan->groups)
        return;
    d->reveals[kept->body.data[0]][kept->body.data[1]] = *kept;
}

static sotto_status restore(sotto_machine **out, const sotto_round *round, const sotto_self *self,
                            sotto_bytes saved, const sotto_message *kept, size_t count,
                            sotto_arena *arena, sotto_err *err)
{
    sotto_machine *machine = NULL;
    sotto_message known;

    *out = NULL;
    SOTTO_TRY(join(&machine, round, self, arena, err));
    if (!machine)
        return sotto_aero_no_memory(err);
    sotto_aero_device *d = (sotto_aero_device *)machine;
    uint8_t own[1 + sizeof d->answered];
    SOTTO_TRY(sotto_aero_saved(&d->base, saved, own, sizeof own, err));
    for (size_t i = 0; i < count; i++) {
        if (kept[i].kind == SOTTO_AERO_REVEAL)
            keep_reveal(d, &kept[i]);
        else
            SOTTO_TRY(sotto_aero_read_again(&d->base, &known, &kept[i], err));
    }
    d->done = own[0];
    memcpy(d->answered, own + 1, sizeof d->answered);
    if (d->done & SOTTO_AERO_HAS_ASKED)
        SOTTO_TRY(sotto_aero_choose(d, err));
    *out = machine;
    return SOTTO_OK;
}

static void leave(sotto_machine *machine)
{
    sotto_wipe(machine, sizeof(sotto_aero_device));
}

const sotto_machine_ops sotto_aero_client = {
    .join = join,
    .offer = offer,
    .check = sotto_aero_check,
    .deliver = deliver,
    .tick = tick,
    .result = sotto_machine_has_no_result,
    .save = save,
    .restore = restore,
    .leave = leave,
};
