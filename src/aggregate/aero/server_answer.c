/* What the server shows: any leaf to any device, and the roots with all noise leaves to members. */
#include "aggregate/aero/server.h"

#include "aggregate/aero/odds.h"
#include "base/rule.h"

#include <string.h>

sotto_status sotto_aero_server_sample(sotto_aero_aggregator *s, sotto_buf *out, uint32_t group,
                                      uint32_t position, sotto_arena *arena, sotto_err *err)
{
    const sotto_aero_entrant *e = &s->entrants[position];
    sotto_aero_sample *sample = sotto_arena_take(arena, sizeof *sample);

    if (!sample)
        return sotto_aero_no_memory(err);
    sample->group = group;
    sample->position = position;
    sotto_aero_leaf_of(s, &sample->leaf, group, position);
    sotto_aero_sum_path_of(&sample->leaf_path, &s->leaves[group], 0, position);
    sotto_aero_sum_path_of(&sample->sum_path, &s->sums[group], 0, position);
    sample->has_next = position + 1 < s->count;
    if (sample->has_next) {
        sotto_aero_leaf_of(s, &sample->next, group, position + 1);
        sotto_aero_sum_path_of(&sample->next_path, &s->leaves[group], 0, position + 1);
    }
    if (sample->leaf.is_there) {
        const sotto_aero_revealed *r = &e->groups[group];

        sample->promise = e->promise;
        sotto_aero_sum_path_of(&sample->promise_path, &s->promises, 0, position);
        sample->of = e->of;
        memcpy(sample->nonce, r->nonce, sizeof sample->nonce);
        sample->ciphers = r->ciphers;
        sample->proof = r->proof;
    }
    *out = sotto_aero_buffer(arena, sotto_aero_sample_size(s->base.plan, sample));
    if (!out->data)
        return sotto_aero_no_memory(err);
    return sotto_aero_sample_encode(out, s->base.plan, sample, err);
}

/* Where the leaf is that was asked for; the number of leaves: nowhere. */
static uint32_t position_of(const sotto_aero_aggregator *s, const sotto_message *ask,
                            uint32_t position)
{
    uint32_t role = position - SOTTO_AERO_OWN_LEAF;
    int place = -1;

    if (position < SOTTO_AERO_OWN_LEAF)
        return position < s->count ? position : s->count;
    if (role == SOTTO_AERO_NOISE)
        place = sotto_aero_noise_place(s->base.plan, ask->from);
    else if (role == SOTTO_AERO_CONTRIBUTOR)
        place = (int)s->place[ask->from] - 1;
    return place < 0 ? s->count : (uint32_t)place;
}

/* A question has five bytes, and its answer megabytes. Who lost answers may ask again; beyond that a device says on the board that it got
 * none, and is answered there. */
static bool has_asked_enough(const sotto_aero_aggregator *s, uint32_t device)
{
    const sotto_aero_plan *plan = s->base.plan;
    const uint32_t each = plan->groups * (2 + sotto_aero_most_checks(&plan->terms));

    if (SOTTO_RULE(aero_asks_counted) && s->asked[device] >= SOTTO_AERO_ASKS_AGAIN * each)
        return true;
    return false;
}

sotto_status sotto_aero_server_answer(sotto_aero_aggregator *s, const sotto_message *ask,
                                      sotto_status *verdict, sotto_effects *effects, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(ask->body);
    uint32_t group = (uint32_t)sotto_read_uint(&in, 1);
    uint32_t position = (uint32_t)sotto_read_uint(&in, 4);
    sotto_buf body = {NULL, 0, 0};

    *verdict = SOTTO_REJECTED;
    if (sotto_reader_finish(&in, "ask", NULL) != SOTTO_OK || group >= s->base.plan->groups)
        return SOTTO_OK;
    *verdict = SOTTO_AGAIN;
    if (!s->base.view->is_summed || !(s->posted & SOTTO_AERO_POSTED_SUMMED))
        return SOTTO_OK;
    *verdict = SOTTO_REJECTED;
    position = position_of(s, ask, position);
    if (position == s->count)
        return SOTTO_OK;
    *verdict = SOTTO_STALE;
    if (has_asked_enough(s, ask->from))
        return SOTTO_OK;
    s->asked[ask->from]++;
    *verdict = SOTTO_OK;
    SOTTO_TRY(sotto_aero_server_sample(s, &body, group, position, effects->arena, err));
    return sotto_aero_send(effects, s->base.round, &s->base.self, ask->from, SOTTO_AERO_SAMPLE,
                           sotto_buf_bytes(&body), err);
}

sotto_status sotto_aero_server_answer_all(sotto_aero_aggregator *s, uint32_t group,
                                          uint32_t position, sotto_effects *effects, sotto_err *err)
{
    sotto_buf body = {NULL, 0, 0};

    SOTTO_TRY(sotto_aero_server_sample(s, &body, group, position, effects->arena, err));
    return sotto_aero_post(&s->base, effects, SOTTO_AERO_ANSWER, sotto_buf_bytes(&body), err);
}

/* ---- roots ------------------------------------------------------------------------------------------------ */

static sotto_status roots_body(sotto_aero_aggregator *s, sotto_buf *body, uint32_t group,
                               sotto_arena *arena, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    const size_t size = sotto_aero_total_size(plan, group, s->count);
    sotto_aero_sum_path path;
    uint8_t digest[32], second[32];

    *body = sotto_aero_buffer(arena, 1 + 32 + size + plan->terms.noise_members * SOTTO_AERO_LEAF +
                                         1 + (size_t)32 * SOTTO_AERO_DEPTH);
    if (!body->data)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(sotto_aero_total_digests(digest, second, plan, group, s->count, s->totals[group],
                                       arena, err));
    body->data[body->len++] = (uint8_t)group;
    memcpy(body->data + body->len, second, sizeof second);
    body->len += sizeof second;
    SOTTO_TRY(sotto_aero_total_encode(body, plan, group, s->count, s->totals[group], false, err));
    sotto_writer w = sotto_writer_on(body);
    for (uint32_t i = 0; i < plan->terms.noise_members; i++) {
        sotto_aero_leaf leaf;

        sotto_aero_leaf_of(s, &leaf, group, i);
        sotto_aero_leaf_write(&w, &leaf);
    }
    sotto_aero_sum_first_of(&path, &s->leaves[group], plan->terms.noise_members);
    sotto_aero_sum_path_write(&w, &path, false);
    return sotto_writer_finish(&w, "roots", err);
}

sotto_status sotto_aero_server_roots(sotto_aero_aggregator *s, sotto_effects *effects,
                                     sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    sotto_buf body = {NULL, 0, 0};

    for (uint32_t g = 0; g < plan->groups; g++) {
        SOTTO_TRY(roots_body(s, &body, g, effects->arena, err));
        const uint32_t first = sotto_aero_committee_of_group(plan, g) * plan->terms.committee;
        for (uint32_t i = 0; i < plan->terms.committee; i++)
            SOTTO_TRY(sotto_aero_send(effects, s->base.round, &s->base.self,
                                      plan->committee[first + i], SOTTO_AERO_ROOTS,
                                      sotto_buf_bytes(&body), err));
    }
    return SOTTO_OK;
}
