/* The opening: a set of members, their parts, and what to do when one is missing or wrong. At most eight retries: each is one more hint
 * on the key. */
#include "aggregate/aero/server.h"

#include "base/rule.h"

#include <string.h>

/* Those who let the server wait are asked last. */
static bool choose(sotto_aero_aggregator *s)
{
    uint32_t voted[SOTTO_AERO_MOST_COMMITTEE], threshold = s->base.plan->terms.threshold;
    uint32_t votes = sotto_aero_verdicts(s->base.view, voted), chosen = 0;
    bool taken[SOTTO_AERO_MOST_COMMITTEE] = {false};

    if (votes < threshold)
        return false;
    for (unsigned missed = 0; missed <= SOTTO_AERO_MOST_TRIES && chosen < threshold; missed++)
        for (uint32_t i = 0; i < votes && chosen < threshold; i++)
            if (s->missed[voted[i]] == missed) {
                taken[voted[i]] = true;
                chosen++;
            }
    chosen = 0;
    for (uint32_t i = 0; i < s->base.plan->terms.committee; i++)
        if (taken[i])
            s->set[chosen++] = (uint8_t)i;
    memset(s->parts, 0, sizeof s->parts);
    memset(s->points, 0, sizeof s->points);
    return chosen == threshold;
}

static sotto_status ask(sotto_aero_aggregator *s, sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    uint8_t body[1 + SOTTO_AERO_MOST_COMMITTEE];

    if (plan->terms.opening == SOTTO_AERO_ROBUST)
        return sotto_aero_server_call(s, effects, err);
    body[0] = s->attempt;
    memcpy(body + 1, s->set, plan->terms.threshold);
    for (uint32_t i = 0; i < plan->terms.threshold; i++)
        SOTTO_TRY(sotto_aero_send(effects, s->base.round, &s->base.self, plan->committee[s->set[i]],
                                  SOTTO_AERO_OPEN,
                                  sotto_bytes_of(body, 1 + (size_t)plan->terms.threshold), err));
    return SOTTO_OK;
}

static sotto_status begin(sotto_aero_aggregator *s, sotto_effects *effects, sotto_err *err)
{
    if (s->attempt != SOTTO_AERO_NOT_OPENING || !choose(s))
        return SOTTO_OK;
    s->attempt = 0;
    return ask(s, effects, err);
}

/* On the robust path everybody's point is of use, so it waits for all verdicts, or for the deadline. */
sotto_status sotto_aero_server_try(sotto_aero_aggregator *s, sotto_effects *effects, sotto_err *err)
{
    uint32_t voted[SOTTO_AERO_MOST_COMMITTEE];
    const sotto_aero_terms *t = &s->base.plan->terms;

    if (t->opening == SOTTO_AERO_ROBUST && sotto_aero_verdicts(s->base.view, voted) < t->committee)
        return SOTTO_OK;
    return begin(s, effects, err);
}

sotto_status sotto_aero_server_again(sotto_aero_aggregator *s, sotto_effects *effects,
                                     sotto_err *err)
{
    if (s->attempt + 1u >= SOTTO_AERO_MOST_TRIES || !choose(s)) {
        s->posted |= SOTTO_AERO_FAILED;
        sotto_effects_done(effects, SOTTO_DENIED, "the committee did not open the sum");
        return SOTTO_OK;
    }
    s->attempt++;
    return ask(s, effects, err);
}

sotto_status sotto_aero_server_late(sotto_aero_aggregator *s, sotto_effects *effects,
                                    sotto_err *err)
{
    if (s->attempt == SOTTO_AERO_NOT_OPENING)
        return begin(s, effects, err);
    if (s->base.plan->terms.opening == SOTTO_AERO_ROBUST)
        return sotto_aero_server_deal_on(s, true, effects, err);
    for (uint32_t i = 0; i < s->base.plan->terms.threshold; i++)
        s->missed[s->set[i]] = (uint8_t)(s->missed[s->set[i]] + (s->parts[i].len == 0));
    return sotto_aero_server_again(s, effects, err);
}

sotto_status sotto_aero_server_part(sotto_aero_aggregator *s, const sotto_message *message,
                                    sotto_status *verdict, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    int place = sotto_aero_committee_place(plan, message->from);
    size_t size = 1 + plan->ciphertexts * sotto_aero_poly_size(&plan->aero);

    *verdict = SOTTO_REJECTED;
    if (message->body.len != size || place < 0)
        return SOTTO_OK;
    /* On the robust path noises are in these places, and have another size. */
    if (SOTTO_RULE(aero_parts_fast) && plan->terms.opening != SOTTO_AERO_FAST)
        return SOTTO_OK;
    *verdict = SOTTO_STALE;
    if (message->body.data[0] != s->attempt)
        return SOTTO_OK;
    for (uint32_t i = 0; i < plan->terms.threshold; i++)
        if (s->set[i] == place && s->parts[i].len == 0) {
            SOTTO_TRY(sotto_aero_copied(&s->parts[i], message->body, s->base.arena, err));
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
    sotto_aero_cipher *c = sotto_arena_take(scratch, sizeof *c);
    int64_t *sum = sotto_arena_take_array(scratch, SOTTO_AERO_N, sizeof *sum);
    uint64_t at = (uint64_t)cipher * SOTTO_AERO_SLOTS;

    if (!c || !sum)
        return sotto_aero_no_memory(err);
    sotto_aero_total_reduce(&plan->aero, c, total);
    SOTTO_TRY(sotto_aero_open_vartime(&plan->aero, sum, &c->c2, parts, count,
                                      sotto_aero_ledger_most(&plan->ledger), err));
    /* Every leaf brought the round's number: what was replayed from another round shows here at the latest. */
    if (SOTTO_RULE(aero_rounds_counted) && sum[0] != (int64_t)(plan->round->number * s->present))
        return sotto_fail(err, SOTTO_REJECTED, "aero: slot 0 is not of this round");
    for (size_t k = 1; k < SOTTO_AERO_N && at < plan->round->length; k++, at++)
        sotto_store64(s->sum + 8 * at, (uint64_t)sum[k]);
    return SOTTO_OK;
}

static sotto_status open_one(sotto_aero_aggregator *s, uint32_t cipher, sotto_arena *scratch,
                             sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    size_t each = sotto_aero_poly_size(&plan->aero);
    uint32_t count = plan->terms.threshold;
    sotto_aero_poly *parts = sotto_arena_take_array(scratch, count, sizeof *parts);
    const sotto_aero_poly *at[SOTTO_AERO_MOST_COMMITTEE];

    if (!parts)
        return sotto_aero_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *from = s->parts[i].data + 1 + cipher * each;

        at[i] = &parts[i];
        SOTTO_TRY(sotto_aero_poly_decode(&plan->aero, &parts[i], sotto_bytes_of(from, each), err));
    }
    return sotto_aero_server_read(s, cipher, at, count, scratch, err);
}

static sotto_status open_all(sotto_aero_aggregator *s, sotto_arena *scratch, sotto_err *err)
{
    for (uint32_t i = 0; i < s->base.plan->ciphertexts; i++) {
        sotto_arena_reset(scratch);
        SOTTO_TRY(open_one(s, i, scratch, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_aero_server_released(sotto_aero_aggregator *s, sotto_effects *effects)
{
    s->posted |= SOTTO_AERO_RELEASED;
    sotto_effects_done(effects, SOTTO_OK, "released");
    return SOTTO_OK;
}

sotto_status sotto_aero_server_open(sotto_aero_aggregator *s, sotto_effects *effects,
                                    sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    sotto_arena scratch;

    if (plan->terms.opening == SOTTO_AERO_ROBUST)
        return sotto_aero_server_open_points(s, effects, err);
    for (uint32_t i = 0; i < plan->terms.threshold; i++)
        if (s->parts[i].len == 0)
            return SOTTO_OK;
    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    sotto_status status = open_all(s, &scratch, NULL);
    sotto_arena_clear(&scratch);
    if (status == SOTTO_NO_MEMORY)
        return sotto_aero_no_memory(err);
    if (status == SOTTO_OK)
        return sotto_aero_server_released(s, effects);
    /* One of them is wrong, and nobody can tell which: another set. */
    for (uint32_t i = 0; i < plan->terms.threshold; i++)
        s->missed[s->set[i]]++;
    return sotto_aero_server_again(s, effects, err);
}
