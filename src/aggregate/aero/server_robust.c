/* The robust opening: dealers are called, what they deal is posted by digest and handed out, and points are put together. Members whose
 * point is wrong are named, and so are dealers of too much noise. */
#include "aggregate/aero/robust.h"
#include "aggregate/aero/server.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

static size_t point_size(const sotto_aero_plan *plan)
{
    return 1 + plan->ciphertexts * sotto_aero_poly_size(&plan->aero) +
           (size_t)plan->terms.threshold * SOTTO_AERO_LOOKS * 16;
}

sotto_status sotto_aero_server_call(sotto_aero_aggregator *s, sotto_effects *effects,
                                    sotto_err *err)
{
    uint8_t body[1 + SOTTO_AERO_MOST_COMMITTEE];

    body[0] = s->attempts[0];
    memcpy(body + 1, s->set, s->base.plan->terms.threshold);
    return sotto_aero_post(&s->base, effects, SOTTO_AERO_DEALERS,
                           sotto_bytes_of(body, 1 + (size_t)s->base.plan->terms.threshold), err);
}

sotto_status sotto_aero_server_dealt(sotto_aero_aggregator *s, const sotto_message *message,
                                     sotto_status *verdict, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    int place = sotto_aero_committee_place(plan, message->from);
    bool is_point = message->kind == SOTTO_AERO_POINT;
    size_t size =
        is_point ? point_size(plan) : 1 + plan->terms.committee * sotto_aero_noises_sealed(plan);
    sotto_bytes *at = NULL;
    uint8_t **room = NULL;

    *verdict = SOTTO_REJECTED;
    if (message->body.len != size || place < 0 || plan->terms.opening != SOTTO_AERO_ROBUST)
        return SOTTO_OK;
    *verdict = SOTTO_STALE;
    if (message->body.data[0] != s->attempts[0])
        return SOTTO_OK;
    for (uint32_t i = 0; i < plan->terms.threshold && !is_point; i++)
        if (s->set[i] == place) {
            at = &s->parts[i];
            room = &s->part_room[i];
        }
    if (is_point) {
        at = &s->points[place];
        room = &s->point_room[place];
    }
    if (!at || at->len)
        return SOTTO_OK;
    SOTTO_TRY(sotto_aero_server_hold(s, at, room, message->body, err));
    *verdict = SOTTO_OK;
    return SOTTO_OK;
}

/* ---- shares ---------------------------------------------------------------------------------------------- */

static sotto_bytes sealed_to(const sotto_aero_aggregator *s, uint32_t dealer, uint32_t place)
{
    size_t each = sotto_aero_noises_sealed(s->base.plan);

    return sotto_bytes_of(s->parts[dealer].data + 1 + place * each, each);
}

static void digests_of(const sotto_aero_aggregator *s, uint8_t *out, uint32_t dealer)
{
    for (uint32_t i = 0; i < s->base.plan->terms.committee; i++)
        sotto_hash_once(out + 32 * (size_t)i, SOTTO_SHA256, sealed_to(s, dealer, i));
}

static sotto_status post_dealt(sotto_aero_aggregator *s, sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_terms *t = &s->base.plan->terms;
    uint8_t body[1 + 32 * SOTTO_AERO_MOST_COMMITTEE], digests[32 * SOTTO_AERO_MOST_COMMITTEE];

    body[0] = s->attempts[0];
    for (uint32_t d = 0; d < t->threshold; d++) {
        digests_of(s, digests, d);
        sotto_aero_dealt_digest(body + 1 + 32 * (size_t)d,
                                sotto_bytes_of(digests, 32 * (size_t)t->committee));
    }
    return sotto_aero_post(&s->base, effects, SOTTO_AERO_DEALT,
                           sotto_bytes_of(body, 1 + 32 * (size_t)t->threshold), err);
}

static sotto_status hand_out(sotto_aero_aggregator *s, sotto_buf *body, const uint8_t *digests,
                             uint32_t place, sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    size_t head = 32 * (size_t)plan->terms.committee;

    body->len = 0;
    body->data[body->len++] = s->attempts[0];
    for (uint32_t d = 0; d < plan->terms.threshold; d++) {
        sotto_bytes sealed = sealed_to(s, d, place);

        memcpy(body->data + body->len, digests + d * head, head);
        memcpy(body->data + body->len + head, sealed.data, sealed.len);
        body->len += head + sealed.len;
    }
    return sotto_aero_send(effects, s->base.round, &s->base.self, plan->committee[place],
                           SOTTO_AERO_SHARES, sotto_buf_bytes(body), err);
}

sotto_status sotto_aero_server_hand_out(sotto_aero_aggregator *s, sotto_effects *effects,
                                        sotto_err *err)
{
    const sotto_aero_terms *t = &s->base.plan->terms;
    size_t head = 32 * (size_t)t->committee;
    uint32_t voted[SOTTO_AERO_MOST_COMMITTEE], votes = sotto_aero_verdicts(s->base.view, 0, voted);
    sotto_buf body = sotto_aero_buffer(
        effects->arena, 1 + t->threshold * (head + sotto_aero_noises_sealed(s->base.plan)));
    uint8_t *digests = sotto_arena_take_array(effects->arena, t->threshold, head);

    if (!body.data || !digests)
        return sotto_aero_no_memory(err);
    if (s->base.view->call.calls != s->attempts[0] + 1u)
        return SOTTO_OK;
    for (uint32_t d = 0; d < t->threshold; d++) {
        if (s->parts[d].len == 0)
            return SOTTO_OK;
        digests_of(s, digests + d * head, d);
    }
    for (uint32_t i = 0; i < votes; i++)
        SOTTO_TRY(hand_out(s, &body, digests, voted[i], effects, err));
    return SOTTO_OK;
}

/* ---- points ---------------------------------------------------------------------------------------------- */

typedef struct reading {
    sotto_aero_point at[SOTTO_AERO_MOST_COMMITTEE];
    sotto_aero_points points;
    sotto_aero_poly *constant;
    bool liars[SOTTO_AERO_MOST_COMMITTEE], dealers[SOTTO_AERO_MOST_COMMITTEE];
} reading;

/* A point whose residues are not below their primes is none. */
static sotto_status decode_point(const sotto_aero_plan *plan, sotto_aero_point *out,
                                 sotto_bytes wire, sotto_arena *scratch, sotto_err *err)
{
    size_t each = sotto_aero_poly_size(&plan->aero);
    uint64_t second = plan->aero.ring.set->second ? plan->aero.ring.set->second : 1;
    sotto_aero_poly *parts = sotto_arena_take_array(scratch, plan->ciphertexts, sizeof *parts);
    sotto_aero_looks *looks = sotto_arena_take_array(scratch, plan->terms.threshold, sizeof *looks);
    const uint8_t *at = wire.data + 1;

    if (!parts || !looks)
        return sotto_aero_no_memory(err);
    for (uint32_t i = 0; i < plan->ciphertexts; i++, at += each)
        SOTTO_TRY(sotto_aero_poly_decode(&plan->aero, &parts[i], sotto_bytes_of(at, each), NULL));
    for (uint32_t d = 0; d < plan->terms.threshold; d++)
        for (size_t i = 0; i < SOTTO_AERO_LOOKS; i++, at += 16) {
            looks[d].first[i] = sotto_f64_load(at);
            looks[d].second[i] = sotto_load64(at + 8);
            if (looks[d].first[i].v >= SOTTO_F64_P || looks[d].second[i] >= second)
                return SOTTO_MALFORMED;
        }
    out->parts = parts;
    out->looks = looks;
    return SOTTO_OK;
}

static sotto_status read_points(const sotto_aero_aggregator *s, reading *r, sotto_arena *scratch,
                                sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;

    r->points = (sotto_aero_points){.at = r->at,
                                    .threshold = plan->terms.threshold,
                                    .ciphertexts = plan->ciphertexts,
                                    .dealers = plan->terms.threshold,
                                    .look = plan->ledger.look};
    r->constant = sotto_arena_take_array(scratch, plan->ciphertexts, sizeof *r->constant);
    if (!r->constant)
        return sotto_aero_no_memory(err);
    for (uint32_t i = 0; i < plan->terms.committee; i++) {
        sotto_aero_point *p = &r->at[r->points.count];

        if (s->points[i].len == 0)
            continue;
        sotto_status status = decode_point(plan, p, s->points[i], scratch, err);
        if (status == SOTTO_NO_MEMORY)
            return status;
        p->member = i;
        r->points.count += status == SOTTO_OK;
    }
    return SOTTO_OK;
}

static void blame(sotto_aero_aggregator *s, uint32_t place)
{
    uint32_t index = s->base.plan->committee[place];

    s->missed[place] = SOTTO_AERO_MOST_TRIES; /* asked last */
    for (uint32_t i = 0; i < s->blamed_count; i++)
        if (s->blamed[i] == index)
            return;
    s->blamed[s->blamed_count++] = index;
}

static sotto_status open_points(sotto_aero_aggregator *s, sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    reading *r = sotto_arena_take(scratch, sizeof *r);

    if (!r)
        return sotto_aero_no_memory(err);
    sotto_aero_findings found = {r->liars, r->dealers};
    SOTTO_TRY(read_points(s, r, scratch, err));
    sotto_status status =
        sotto_aero_points_open_vartime(&plan->aero, r->constant, &found, &r->points, scratch, err);
    for (size_t i = 0; i < r->points.count; i++)
        if (r->liars[i])
            blame(s, r->at[i].member);
    for (uint32_t d = 0; d < plan->terms.threshold; d++)
        if (r->dealers[d])
            blame(s, s->set[d]);
    SOTTO_TRY(status);
    for (uint32_t i = 0; i < plan->ciphertexts; i++) {
        const sotto_aero_poly *part = &r->constant[i];

        SOTTO_TRY(sotto_aero_server_read(s, i, &part, 1, scratch, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_aero_server_open_points(sotto_aero_aggregator *s, sotto_effects *effects,
                                           sotto_err *err)
{
    sotto_arena scratch;

    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    sotto_status status = open_points(s, &scratch, NULL);
    sotto_arena_clear(&scratch);
    if (status == SOTTO_NO_MEMORY)
        return sotto_aero_no_memory(err);
    if (status == SOTTO_OK)
        return sotto_aero_server_released(s, effects);
    for (uint32_t i = 0; i < s->base.plan->terms.threshold; i++)
        if (s->missed[s->set[i]] < SOTTO_AERO_MOST_TRIES)
            s->missed[s->set[i]]++;
    return sotto_aero_server_again(s, 0, effects, err);
}

/* All have dealt, and too few had a point: one of them dealt what nobody opens, and nobody can tell which. */
static bool is_missed(const sotto_aero_aggregator *s, uint32_t dealer, uint32_t noises)
{
    if (SOTTO_RULE(aero_dealers_change) && noises == s->base.plan->terms.threshold)
        return true;
    return s->parts[dealer].len == 0;
}

sotto_status sotto_aero_server_deal_on(sotto_aero_aggregator *s, bool is_late,
                                       sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_terms *t = &s->base.plan->terms;
    const sotto_aero_call *call = &s->base.view->call;
    uint32_t voted[SOTTO_AERO_MOST_COMMITTEE], votes = sotto_aero_verdicts(s->base.view, 0, voted);
    uint32_t noises = 0, points = 0;

    for (uint32_t i = 0; i < t->threshold; i++)
        noises += s->parts[i].len > 0;
    for (uint32_t i = 0; i < t->committee; i++)
        points += s->points[i].len > 0;
    if (points > 0 && (points >= votes || (is_late && points >= 2 * t->threshold - 1)))
        return sotto_aero_server_open_points(s, effects, err);
    bool is_posted = call->is_dealt && call->calls == s->attempts[0] + 1u;
    if (!is_late && noises == t->threshold && !is_posted)
        return post_dealt(s, effects, err);
    if (!is_late)
        return SOTTO_OK;
    for (uint32_t i = 0; i < t->threshold; i++)
        if (s->missed[s->set[i]] < SOTTO_AERO_MOST_TRIES)
            s->missed[s->set[i]] = (uint8_t)(s->missed[s->set[i]] + is_missed(s, i, noises));
    return sotto_aero_server_again(s, 0, effects, err);
}
