#include "aggregate/aero/member.h"

#include "aggregate/machine.h"
#include "base/rule.h"

#include <string.h>

static sotto_status once(sotto_aero_committee_member *m, uint8_t what,
                         sotto_status (*run)(sotto_aero_committee_member *, sotto_effects *,
                                             sotto_err *),
                         sotto_effects *effects, sotto_err *err)
{
    if (m->done & what)
        return SOTTO_OK;
    SOTTO_TRY(run(m, effects, err));
    m->done = (uint8_t)(m->done | what);
    return SOTTO_OK;
}

/* The round as the board shows it: the right key, a price that the session's budget still has. Otherwise silence. */
static sotto_status certify(sotto_aero_committee_member *m, sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_view *view = m->base.view;
    const sotto_bytes body = sotto_bytes_of(view->certificate, sizeof view->certificate);

    if (!sotto_aero_is_dealt(view) || sotto_aero_budget(m->base.plan, NULL) != SOTTO_OK)
        return SOTTO_OK;
    SOTTO_TRY(sotto_aero_vow(&m->base, effects, SOTTO_AERO_CERTIFY, 0, body, err));
    return sotto_aero_post(&m->base, effects, SOTTO_AERO_CERTIFY, body, err);
}

/* Nothing that a complaint showed, no leaf without an answer, and sums that are those of the trees. */
static bool is_content(const sotto_aero_committee_member *m)
{
    const sotto_aero_view *view = m->base.view;

    if (!view->is_summed || !sotto_aero_is_certified(view))
        return false;
    if (SOTTO_RULE(aero_sums_in_time) && !(m->done & SOTTO_AERO_SUMS_IN_TIME))
        return false;
    if (SOTTO_RULE(aero_complaints_heard) && view->is_refuted)
        return false;
    for (uint32_t i = 0; i < view->challenge_count; i++)
        if (SOTTO_RULE(aero_answers_wanted) && !view->challenges[i].is_answered)
            return false;
    /* Other committees look at other groups. */
    for (uint32_t g = m->committee; g < m->base.plan->groups; g += m->base.plan->terms.committees)
        if (!m->roots[g].is_there || !m->roots[g].is_right)
            return false;
    return true;
}

static sotto_status judge(sotto_aero_committee_member *m, sotto_effects *effects, sotto_err *err)
{
    const sotto_bytes body = sotto_bytes_of(m->base.view->verdict, 32);

    SOTTO_TRY(sotto_aero_vow(&m->base, effects, SOTTO_AERO_VERDICT, 0, body, err));
    return sotto_aero_post(&m->base, effects, SOTTO_AERO_VERDICT, body, err);
}

/* All that can be done with what was read. */
static sotto_status go_on(sotto_aero_committee_member *m, sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_view *view = m->base.view;

    if (!m->is_old)
        SOTTO_TRY(once(m, SOTTO_AERO_HAS_SEALED, sotto_aero_member_seal, effects, err));
    SOTTO_TRY(sotto_aero_member_hand_on(m, effects, err));
    if (m->is_old) {
        if (view->handing.is_over)
            sotto_effects_done(effects, SOTTO_OK, "the key of the round before is handed over");
        return SOTTO_OK;
    }
    const uint32_t place = m->committee * m->base.plan->terms.committee + m->place;
    if (view->is_sealed && view->members[place].has_sealed && sotto_aero_wants_key(view))
        SOTTO_TRY(once(m, SOTTO_AERO_HAS_DEALT, sotto_aero_member_deal, effects, err));
    if (!view->is_keyed || m->lacks)
        return SOTTO_OK;
    SOTTO_TRY(once(m, SOTTO_AERO_HAS_CERTIFIED, certify, effects, err));
    SOTTO_TRY(sotto_aero_member_bequeath(m, effects, err));
    /* Whoever knew the points before the roots could make sums that are wrong and add up there. */
    if (SOTTO_RULE(aero_points_after_roots) && !view->is_added)
        return SOTTO_OK;
    SOTTO_TRY(once(m, SOTTO_AERO_HAS_OPENED, sotto_aero_member_value, effects, err));
    if ((m->done & SOTTO_AERO_TIME_IS_UP) && is_content(m))
        SOTTO_TRY(once(m, SOTTO_AERO_HAS_JUDGED, judge, effects, err));
    return SOTTO_OK;
}

/* ---- the machine ----------------------------------------------------------------------------------------- */

static sotto_status join(sotto_machine **out, const sotto_round *round, const sotto_self *self,
                         sotto_arena *arena, sotto_err *err)
{
    sotto_aero_committee_member *m = sotto_arena_take(arena, sizeof *m);

    *out = NULL;
    if (!m)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(sotto_aero_join(&m->base, &sotto_aero_member_ops, round, self, arena, err));
    if (!self->secrets || !round->keys->pair || !round->keys->channel)
        return sotto_fail(err, SOTTO_DENIED, "aero: the registry has no X25519 keys");
    int place = sotto_aero_committee_place(m->base.plan, self->index);
    if (place < 0 && sotto_aero_old_place(m->base.plan, self->index) < 0)
        return sotto_fail(err, SOTTO_DENIED, "aero: %u is no member of the committee", self->index);
    m->is_old = place < 0;
    m->base.view->reader = self->index;
    if (place >= 0) {
        m->committee = sotto_aero_committee_of_place(m->base.plan, (uint32_t)place);
        m->place = (uint32_t)place % m->base.plan->terms.committee;
    }
    SOTTO_TRY(sotto_aero_member_inherit(m, err));
    *out = &m->base.machine;
    return SOTTO_OK;
}

/* What a record that counts changes in its own memory: the same after a restart. */
static sotto_status learn(sotto_aero_committee_member *m, const sotto_message *known,
                          sotto_err *err)
{
    if (known->kind == SOTTO_AERO_KEY && !m->is_old)
        return sotto_aero_member_take(m, known->from, m->base.view->last.own, err);
    return sotto_aero_member_learn(m, known, err);
}

static sotto_status deliver_entry(sotto_aero_committee_member *m, const sotto_message *message,
                                  sotto_status *verdict, sotto_effects *effects, sotto_err *err)
{
    sotto_message known;

    SOTTO_TRY(sotto_aero_take_entry(&m->base, &known, message, verdict, effects, err));
    if (*verdict != SOTTO_OK)
        return SOTTO_OK;
    SOTTO_TRY(learn(m, &known, err));
    if (known.kind == SOTTO_AERO_DEALERS && !m->is_old)
        SOTTO_TRY(sotto_aero_member_noises(m, effects, err));
    return go_on(m, effects, err);
}

static sotto_status deliver_one(sotto_aero_committee_member *m, const sotto_message *message,
                                sotto_status *verdict, sotto_effects *effects, sotto_err *err)
{
    *verdict = SOTTO_REJECTED;
    if (message->kind == SOTTO_AERO_ENTRY)
        return deliver_entry(m, message, verdict, effects, err);
    if (m->is_old)
        return SOTTO_OK;
    switch (message->kind) {
    case SOTTO_AERO_ROOTS:
        SOTTO_TRY(sotto_aero_member_roots(m, message, verdict, err));
        if (*verdict != SOTTO_OK)
            return SOTTO_OK;
        SOTTO_TRY(sotto_effects_keep(effects, message, err));
        return go_on(m, effects, err);
    case SOTTO_AERO_OPEN:
        return sotto_aero_member_part(m, message, verdict, effects, err);
    case SOTTO_AERO_SHARES:
        return sotto_aero_member_point(m, message, verdict, effects, err);
    default:
        return SOTTO_OK;
    }
}

static sotto_status deliver(sotto_machine *machine, const sotto_message *messages, size_t count,
                            sotto_status *verdicts, sotto_effects *effects, sotto_err *err)
{
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(deliver_one((sotto_aero_committee_member *)machine, &messages[i], &verdicts[i],
                              effects, err));
    return SOTTO_OK;
}

/* Devices need time for their reveals, and to check what is posted: a server that posts sums at the end of the window is checked by nobody.
 * A member looks when half of each time is over. One that was away until devices complain can't tell when the sums came. */
static void look_at_the_clock(sotto_aero_committee_member *m, uint64_t now_ms,
                              sotto_effects *effects)
{
    const sotto_round *r = m->base.round;
    const sotto_aero_view *view = m->base.view;
    uint64_t window = r->verify_by - r->closes;
    uint64_t promises_by = r->commit_by + (r->closes - r->commit_by) / 2;
    uint64_t sums_by = r->closes + window / 2;

    if (m->done & (SOTTO_AERO_SUMS_IN_TIME | SOTTO_AERO_NEVER_JUDGES))
        return;
    if (view->is_summed && now_ms < r->verify_by - window / 3) {
        m->done |= SOTTO_AERO_SUMS_IN_TIME;
        return;
    }
    if (SOTTO_RULE(aero_promises_in_time) && !view->is_committed && now_ms >= promises_by) {
        m->done |= SOTTO_AERO_NEVER_JUDGES;
        return;
    }
    if (now_ms < promises_by)
        sotto_effects_wake(effects, promises_by);
    else if (now_ms < sums_by)
        sotto_effects_wake(effects, sums_by);
    else
        m->done |= SOTTO_AERO_NEVER_JUDGES;
}

static sotto_status tick(sotto_machine *machine, uint64_t now_ms, sotto_effects *effects,
                         sotto_err *err)
{
    sotto_aero_committee_member *m = (sotto_aero_committee_member *)machine;

    if (SOTTO_RULE(aero_members_go_home) && now_ms >= m->base.round->release_by) {
        /* Whoever takes the member's host later finds no share of this round, but for what the next one has of the same key. */
        sotto_wipe(&m->share, sizeof m->share);
        sotto_wipe(&m->pads, sizeof m->pads);
        sotto_aero_member_forget(m);
        m->lacks = true;
        sotto_effects_done(effects, SOTTO_OK, "the round is over");
        return SOTTO_OK;
    }
    /* Whatever came of the hand-over: the round goes on with another key, or not at all. */
    if (m->base.plan->old_members && now_ms >= m->base.round->commit_by)
        SOTTO_TRY(sotto_aero_member_erase(m, effects, err));
    else if (m->base.plan->old_members)
        sotto_effects_wake(effects, m->base.round->commit_by);
    if (m->is_old && now_ms >= m->base.round->commit_by) {
        sotto_effects_done(effects, SOTTO_OK, "no key was handed over in time");
        return SOTTO_OK;
    }
    look_at_the_clock(m, now_ms, effects);
    if (now_ms >= m->base.round->verify_by)
        m->done = (uint8_t)(m->done | SOTTO_AERO_TIME_IS_UP);
    else
        sotto_effects_wake(effects, m->base.round->verify_by);
    sotto_effects_wake(effects, m->base.round->release_by);
    return go_on(m, effects, err);
}

static sotto_status save(const sotto_machine *machine, sotto_buf *out, sotto_err *err)
{
    const sotto_aero_committee_member *m = (const sotto_aero_committee_member *)machine;
    const uint8_t own[3] = {m->done, m->tries, m->hand};

    return sotto_aero_save(&m->base, out, sotto_bytes_of(own, sizeof own), err);
}

static sotto_status restore(sotto_machine **out, const sotto_round *round, const sotto_self *self,
                            sotto_bytes saved, const sotto_message *kept, size_t count,
                            sotto_arena *arena, sotto_err *err)
{
    sotto_machine *machine = NULL;
    sotto_message known;
    sotto_status verdict;
    uint8_t own[3];

    *out = NULL;
    SOTTO_TRY(join(&machine, round, self, arena, err));
    if (!machine)
        return sotto_aero_no_memory(err);
    sotto_aero_committee_member *m = (sotto_aero_committee_member *)machine;
    SOTTO_TRY(sotto_aero_saved(&m->base, saved, own, sizeof own, err));
    m->hand = own[2] & SOTTO_AERO_TAKES_NOTHING; /* what it reads again changes nothing of that */
    for (size_t i = 0; i < count; i++) {
        if (kept[i].kind == SOTTO_AERO_ROOTS) {
            SOTTO_TRY(sotto_aero_member_roots(m, &kept[i], &verdict, err));
            continue;
        }
        SOTTO_TRY(sotto_aero_read_again(&m->base, &known, &kept[i], err));
        SOTTO_TRY(learn(m, &known, err));
    }
    m->done = own[0];
    m->tries = own[1];
    m->hand = own[2];
    if (m->hand & SOTTO_AERO_HAS_ERASED)
        sotto_aero_member_forget(m);
    *out = machine;
    return SOTTO_OK;
}

static void leave(sotto_machine *machine)
{
    sotto_aero_member_forget((sotto_aero_committee_member *)machine);
    sotto_wipe(machine, sizeof(sotto_aero_committee_member));
}

const sotto_machine_ops sotto_aero_member_ops = {
    .join = join,
    .offer = sotto_machine_offers_nothing,
    .check = sotto_aero_check,
    .deliver = deliver,
    .tick = tick,
    .result = sotto_machine_has_no_result,
    .save = save,
    .restore = restore,
    .leave = leave,
};
