/* The opening: a set of members, their parts, and what to do when one is missing or wrong. At most eight retries: each is one more hint
 * on the key. */
#include "aggregate/aero/server.h"

#include "base/rule.h"

#include <string.h>

/* Where a committee's set, parts and misses begin. */
static uint32_t first_of(const sotto_aero_aggregator *s, uint32_t committee)
{
    return committee * s->base.plan->terms.committee;
}

/* Those who let the server wait are asked last. */
static bool choose(sotto_aero_aggregator *s, uint32_t committee)
{
    uint32_t voted[SOTTO_AERO_MOST_COMMITTEE], threshold = s->base.plan->terms.threshold;
    uint32_t votes = sotto_aero_verdicts(s->base.view, committee, voted), chosen = 0;
    const uint32_t first = first_of(s, committee), each = s->base.plan->terms.committee;
    bool taken[SOTTO_AERO_MOST_COMMITTEE] = {false};

    if (votes < threshold)
        return false;
    for (unsigned missed = 0; missed <= SOTTO_AERO_MOST_TRIES && chosen < threshold; missed++)
        for (uint32_t i = 0; i < votes && chosen < threshold; i++)
            if (s->missed[first + voted[i]] == missed) {
                taken[voted[i]] = true;
                chosen++;
            }
    chosen = 0;
    for (uint32_t i = 0; i < each; i++)
        if (taken[i])
            s->set[first + chosen++] = (uint8_t)i;
    memset(s->parts + first, 0, each * sizeof *s->parts);
    memset(s->points + first, 0, each * sizeof *s->points);
    return chosen == threshold;
}

static sotto_status ask(sotto_aero_aggregator *s, uint32_t committee, sotto_effects *effects,
                        sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    const uint32_t first = first_of(s, committee);
    uint8_t body[1 + SOTTO_AERO_MOST_COMMITTEE];

    if (plan->terms.opening == SOTTO_AERO_ROBUST)
        return sotto_aero_server_call(s, effects, err);
    body[0] = s->attempts[committee];
    memcpy(body + 1, s->set + first, plan->terms.threshold);
    for (uint32_t i = 0; i < plan->terms.threshold; i++)
        SOTTO_TRY(sotto_aero_send(effects, s->base.round, &s->base.self,
                                  plan->committee[first + s->set[first + i]], SOTTO_AERO_OPEN,
                                  sotto_bytes_of(body, 1 + (size_t)plan->terms.threshold), err));
    return SOTTO_OK;
}

static sotto_status begin(sotto_aero_aggregator *s, uint32_t committee, sotto_effects *effects,
                          sotto_err *err)
{
    if (s->attempts[committee] != SOTTO_AERO_NOT_OPENING || !choose(s, committee))
        return SOTTO_OK;
    s->attempts[committee] = 0;
    return ask(s, committee, effects, err);
}

/* On the robust path everybody's point is of use, so it waits for all verdicts, or for the deadline. */
sotto_status sotto_aero_server_try(sotto_aero_aggregator *s, sotto_effects *effects, sotto_err *err)
{
    uint32_t voted[SOTTO_AERO_MOST_COMMITTEE];
    const sotto_aero_terms *t = &s->base.plan->terms;

    if (t->opening == SOTTO_AERO_ROBUST &&
        sotto_aero_verdicts(s->base.view, 0, voted) < t->committee)
        return SOTTO_OK;
    for (uint32_t d = 0; d < t->committees; d++)
        SOTTO_TRY(begin(s, d, effects, err));
    return SOTTO_OK;
}

sotto_status sotto_aero_server_again(sotto_aero_aggregator *s, uint32_t committee,
                                     sotto_effects *effects, sotto_err *err)
{
    if (s->attempts[committee] + 1u >= SOTTO_AERO_MOST_TRIES || !choose(s, committee)) {
        s->posted |= SOTTO_AERO_FAILED;
        sotto_effects_done(effects, SOTTO_DENIED, "the committee did not open the sum");
        return SOTTO_OK;
    }
    s->attempts[committee]++;
    return ask(s, committee, effects, err);
}

static sotto_status late_one(sotto_aero_aggregator *s, uint32_t committee, sotto_effects *effects,
                             sotto_err *err)
{
    const uint32_t first = first_of(s, committee);

    if (s->opened[committee])
        return SOTTO_OK;
    if (s->attempts[committee] == SOTTO_AERO_NOT_OPENING)
        return begin(s, committee, effects, err);
    for (uint32_t i = 0; i < s->base.plan->terms.threshold; i++) {
        uint8_t *missed = &s->missed[first + s->set[first + i]];

        *missed = (uint8_t)(*missed + (s->parts[first + i].len == 0));
    }
    return sotto_aero_server_again(s, committee, effects, err);
}

sotto_status sotto_aero_server_late(sotto_aero_aggregator *s, sotto_effects *effects,
                                    sotto_err *err)
{
    const sotto_aero_terms *t = &s->base.plan->terms;

    if (t->opening == SOTTO_AERO_ROBUST && s->attempts[0] != SOTTO_AERO_NOT_OPENING)
        return sotto_aero_server_deal_on(s, true, effects, err);
    /* After a restart nobody knows which parts were opened before. */
    if (t->committees > 1)
        SOTTO_TRY(sotto_aero_server_open(s, effects, err));
    for (uint32_t d = 0;
         d < t->committees && !(s->posted & (SOTTO_AERO_RELEASED | SOTTO_AERO_FAILED)); d++)
        SOTTO_TRY(late_one(s, d, effects, err));
    return SOTTO_OK;
}

/* Nine attempts of megabytes from each member have no room beside what devices revealed: one member that lies each time would end the round. */
sotto_status sotto_aero_server_hold(sotto_aero_aggregator *s, sotto_bytes *at, uint8_t **room,
                                    sotto_bytes what, sotto_err *err)
{
    if (!*room)
        *room = sotto_arena_take(s->base.arena, what.len);
    if (!*room)
        return sotto_aero_no_memory(err);
    memcpy(*room, what.data, what.len);
    *at = sotto_bytes_of(*room, what.len);
    return SOTTO_OK;
}

sotto_status sotto_aero_server_part(sotto_aero_aggregator *s, const sotto_message *message,
                                    sotto_status *verdict, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    const int at = sotto_aero_committee_place(plan, message->from);

    *verdict = SOTTO_REJECTED;
    if (at < 0)
        return SOTTO_OK;
    const uint32_t committee = sotto_aero_committee_of_place(plan, (uint32_t)at);
    const uint32_t first = first_of(s, committee), place = (uint32_t)at - first;
    const size_t opens = sotto_aero_committee_opens(plan, committee);
    if (message->body.len != 1 + opens * sotto_aero_poly_size(&plan->aero))
        return SOTTO_OK;
    /* On the robust path noises are in these places, and have another size. */
    if (SOTTO_RULE(aero_parts_fast) && plan->terms.opening != SOTTO_AERO_FAST)
        return SOTTO_OK;
    *verdict = SOTTO_STALE;
    if (message->body.data[0] != s->attempts[committee])
        return SOTTO_OK;
    for (uint32_t i = first; i < first + plan->terms.threshold; i++)
        if (s->set[i] == place && s->parts[i].len == 0) {
            SOTTO_TRY(
                sotto_aero_server_hold(s, &s->parts[i], &s->part_room[i], message->body, err));
            *verdict = SOTTO_OK;
        }
    return SOTTO_OK;
}

/* ---- the sum ---------------------------------------------------------------------------------------------- */

sotto_status sotto_aero_server_read(sotto_aero_aggregator *s, uint32_t cipher,
                                    const sotto_aero_poly *const *parts, size_t count,
                                    sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    const sotto_aero_cipher *total =
        &s->totals[cipher / SOTTO_AERO_GROUP][cipher % SOTTO_AERO_GROUP];
    sotto_aero_poly *c2 = sotto_arena_take(scratch, sizeof *c2);
    int64_t *sum = sotto_arena_take_array(scratch, SOTTO_AERO_N, sizeof *sum);
    uint64_t at = (uint64_t)cipher * SOTTO_AERO_SLOTS;

    if (!c2 || !sum)
        return sotto_aero_no_memory(err);
    sotto_aero_total_reduce(&plan->aero, c2, &total->c2);
    SOTTO_TRY(sotto_aero_open_vartime(&plan->aero, sum, c2, parts, count,
                                      sotto_aero_ledger_most(&plan->ledger), err));
    /* Every leaf brought the round's number: what was replayed from another round shows here at the latest. */
    if (SOTTO_RULE(aero_rounds_counted) && sum[0] != (int64_t)(plan->round->number * s->present))
        return sotto_fail(err, SOTTO_REJECTED, "aero: slot 0 is not of this round");
    for (size_t k = 1; k < SOTTO_AERO_N && at < plan->round->length; k++, at++)
        sotto_store64(s->sum + 8 * at, (uint64_t)sum[k]);
    return SOTTO_OK;
}

/* at: which one of those that the committee opens. */
static sotto_status open_one(sotto_aero_aggregator *s, uint32_t committee, uint32_t cipher,
                             uint32_t at, sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    size_t each = sotto_aero_poly_size(&plan->aero);
    uint32_t count = plan->terms.threshold;
    sotto_aero_poly *parts = sotto_arena_take_array(scratch, count, sizeof *parts);
    const sotto_aero_poly *all[SOTTO_AERO_MOST_COMMITTEE];

    if (!parts)
        return sotto_aero_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *from = s->parts[first_of(s, committee) + i].data + 1 + at * each;

        all[i] = &parts[i];
        SOTTO_TRY(sotto_aero_poly_decode(&plan->aero, &parts[i], sotto_bytes_of(from, each), err));
    }
    return sotto_aero_server_read(s, cipher, all, count, scratch, err);
}

static sotto_status open_all(sotto_aero_aggregator *s, uint32_t committee, sotto_arena *scratch,
                             sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    uint32_t at = 0;

    for (uint32_t g = committee; g < plan->groups; g += plan->terms.committees)
        for (uint32_t i = 0; i < sotto_aero_group_size(plan, g); i++) {
            sotto_arena_reset(scratch);
            SOTTO_TRY(open_one(s, committee, g * SOTTO_AERO_GROUP + i, at++, scratch, err));
        }
    return SOTTO_OK;
}

sotto_status sotto_aero_server_released(sotto_aero_aggregator *s, sotto_effects *effects)
{
    s->posted |= SOTTO_AERO_RELEASED;
    sotto_effects_done(effects, SOTTO_OK, "released");
    return SOTTO_OK;
}

static sotto_status open_committee(sotto_aero_aggregator *s, uint32_t committee,
                                   sotto_effects *effects, sotto_err *err)
{
    const uint32_t first = first_of(s, committee), count = s->base.plan->terms.threshold;
    sotto_arena scratch;

    for (uint32_t i = first; i < first + count; i++)
        if (s->opened[committee] || s->parts[i].len == 0)
            return SOTTO_OK;
    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    sotto_status status = open_all(s, committee, &scratch, NULL);
    sotto_arena_clear(&scratch);
    if (status == SOTTO_NO_MEMORY)
        return sotto_aero_no_memory(err);
    s->opened[committee] = status == SOTTO_OK;
    if (status == SOTTO_OK)
        return SOTTO_OK;
    /* One of them is wrong, and nobody can tell which: another set. */
    for (uint32_t i = first; i < first + count; i++)
        s->missed[first + s->set[i]]++;
    return sotto_aero_server_again(s, committee, effects, err);
}

sotto_status sotto_aero_server_open(sotto_aero_aggregator *s, sotto_effects *effects,
                                    sotto_err *err)
{
    const sotto_aero_terms *t = &s->base.plan->terms;
    bool all = true;

    if (t->opening == SOTTO_AERO_ROBUST)
        return sotto_aero_server_open_points(s, effects, err);
    for (uint32_t d = 0; d < t->committees; d++) {
        SOTTO_TRY(open_committee(s, d, effects, err));
        all = all && s->opened[d];
    }
    return all ? sotto_aero_server_released(s, effects) : SOTTO_OK;
}
