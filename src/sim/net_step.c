#include "sim/net_internal.h"

#include <stdio.h>
#include <string.h>

enum { TRIES = 20, RETRY_MS = 50, PIECE = 4096 };

/* ---- storing a step -------------------------------------------------------------------------------------- */

/* False: another vow stands in its place. */
static bool keeps_vows(const participant *p, const sotto_effects *effects)
{
    for (const sotto_effect_vow *new = effects->vows; new; new = new->next)
        for (const stored_vow *old = p->vows; old; old = old->next)
            if (old->vow.kind == new->vow.kind && old->vow.epoch == new->vow.epoch &&
                old->vow.round == new->vow.round &&
                old->vow.subject ==
                    new->vow.subject &&memcmp(old->vow.digest, new->vow.digest,
                                              sizeof old->vow.digest) != 0)
                return false;
    return true;
}

static sotto_status save(sotto_sim_net *net, participant *p, sotto_buf *out, sotto_err *err)
{
    size_t most = SOTTO_MACHINE_MOST_SAVED(net->clients);

    *out = sotto_buf_over(sotto_arena_take(&net->scratch, most), most);
    if (!out->data)
        return sotto_sim_no_memory(err);
    SOTTO_TRY(p->ops->save(p->machine, out, err));
    if (out->len > net->report.largest_save)
        net->report.largest_save = out->len;
    return SOTTO_OK;
}

static sotto_status store_state(sotto_sim_net *net, participant *p, sotto_err *err)
{
    stored_state old = p->before;
    sotto_buf now;

    SOTTO_TRY(save(net, p, &now, err));
    p->before = p->state;
    if (old.cap < now.len) {
        old.cap = now.len + now.len / 4 + 64;
        old.data = sotto_arena_take(net->arena, old.cap);
        if (!old.data)
            return sotto_sim_no_memory(err);
    }
    memcpy(old.data, now.data, now.len);
    old.len = now.len;
    old.is_there = true;
    p->state = old;
    return SOTTO_OK;
}

static sotto_status store_vows(sotto_sim_net *net, participant *p, const sotto_effects *effects,
                               sotto_err *err)
{
    for (const sotto_effect_vow *v = effects->vows; v; v = v->next) {
        stored_vow *node = sotto_arena_take(net->arena, sizeof *node);

        if (!node)
            return sotto_sim_no_memory(err);
        node->vow = v->vow;
        node->next = p->vows;
        p->vows = node;
    }
    return SOTTO_OK;
}

sotto_status sotto_sim_encoded(sotto_bytes *out, const sotto_message *m, sotto_arena *arena,
                               sotto_err *err)
{
    size_t size = sotto_message_size(m);
    sotto_buf wire = sotto_buf_over(sotto_arena_take(arena, size), size);

    if (!wire.data)
        return sotto_sim_no_memory(err);
    SOTTO_TRY(sotto_message_encode(&wire, m, err));
    *out = sotto_buf_bytes(&wire);
    return SOTTO_OK;
}

static sotto_status store_kept(sotto_sim_net *net, participant *p, const sotto_effects *effects,
                               sotto_err *err)
{
    for (const sotto_effect_message *k = effects->kept; k; k = k->next) {
        sotto_bytes wire = {NULL, 0};

        sotto_message *kept =
            sotto_sim_grow(net, p->kept, p->kept_count, &p->kept_cap, sizeof *kept);

        if (!kept)
            return sotto_sim_no_memory(err);
        p->kept = kept;
        SOTTO_TRY(sotto_sim_encoded(&wire, &k->message, net->arena, err));
        SOTTO_TRY(sotto_message_decode(&p->kept[p->kept_count++], wire, err));
    }
    return SOTTO_OK;
}

/* ---- sending --------------------------------------------------------------------------------------------- */

static void note_bulk(sotto_sim_net *net, participant *p, sotto_bytes bulk)
{
    uint8_t digest[32];

    sotto_hash_once(digest, SOTTO_SHA256, bulk);
    if (p->has_sent_bulk && memcmp(digest, p->bulk_digest, sizeof digest) != 0)
        net->report.second_bulks++;
    if (!p->has_sent_bulk && p->index < net->round->registered)
        net->answered_anew[p->index] = p->shifted != 0;
    p->has_sent_bulk = true;
    memcpy(p->bulk_digest, digest, sizeof digest);
}

/* The board is a log: it takes whatever is posted, and everybody reads all of it, in order and sooner or later. */
sotto_status sotto_sim_post(sotto_sim_net *net, const sotto_message *m, sotto_err *err)
{
    const sotto_kind *entry = net->method->kinds;
    sotto_message e = {
        .epoch = m->epoch, .round = m->round, .from = SOTTO_TO_BOARD, .to = SOTTO_TO_EVERYBODY};
    size_t room = sotto_message_size(m) + 16;
    sotto_buf body = sotto_buf_over(sotto_arena_take(&net->scratch, room), room);
    sotto_bytes record = {NULL, 0}, wire = {NULL, 0};

    while (entry < net->method->kinds + net->method->kind_count && entry->from != SOTTO_PART_BOARD)
        entry++;
    if (!body.data)
        return sotto_sim_no_memory(err);
    memcpy(e.session, m->session, sizeof e.session);
    e.kind = entry->kind;
    SOTTO_TRY(sotto_sim_encoded(&record, m, &net->scratch, err));
    SOTTO_TRY(sotto_entry_encode(&body, net->board++, record, err));
    e.body = sotto_buf_bytes(&body);
    SOTTO_TRY(sotto_sim_encoded(&wire, &e, net->arena, err));
    for (uint32_t i = 0; i <= net->clients + net->decryptors; i++) {
        participant *p = &net->all[i];
        uint64_t at = net->now + sotto_sim_delay(net);

        if (!p->is_here)
            continue;
        at = at >= p->cut_from && at < p->cut_until ? p->cut_until : at;
        p->read_at = at > p->read_at ? at : p->read_at;
        SOTTO_TRY(sotto_sim_schedule(
            net, (event){.time = p->read_at, .type = EVENT_MESSAGE, .to = p->index, .wire = wire},
            err));
    }
    return SOTTO_OK;
}

static sotto_status send_one(sotto_sim_net *net, participant *p, const sotto_effect_message *sent,
                             sotto_err *err)
{
    const sotto_kind *kind = sotto_method_kind(net->method, sent->message.kind);
    sotto_message m = sent->message;
    sotto_bytes bulk = sent->bulk ? sotto_vector_bytes(sent->bulk) : (sotto_bytes){NULL, 0};
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_bytes wire = {NULL, 0};

    if (sent->bulk)
        note_bulk(net, p, bulk);
    if (p->liar) {
        if (!p->liar(p->liar_context, net, &m, &bulk))
            return SOTTO_OK;
        if (kind->is_signed)
            SOTTO_TRY(sotto_message_sign(&m, signature, p->self.keys, err));
    }
    net->report.messages++;
    if (m.to == SOTTO_TO_BOARD)
        return sotto_sim_is_cut_off(net, p) ? SOTTO_OK : sotto_sim_post(net, &m, err);
    unsigned copies = sotto_sim_random_chance(&net->random, net->faults.duplicate) ? 2 : 1;
    if (sotto_sim_random_chance(&net->random, net->faults.drop) || sotto_sim_is_cut_off(net, p) ||
        sotto_sim_is_cut_off(net, sotto_sim_find(net, sotto_sim_net_address(net, &m))))
        return SOTTO_OK;
    SOTTO_TRY(sotto_sim_encoded(&wire, &m, &net->scratch, err));
    for (unsigned i = 0; i < copies; i++)
        SOTTO_TRY(sotto_sim_net_inject(net, sotto_sim_net_address(net, &m), wire, bulk,
                                       net->now + sotto_sim_delay(net), err));
    return SOTTO_OK;
}

static sotto_status send_all(sotto_sim_net *net, participant *p, const sotto_effects *effects,
                             sotto_err *err)
{
    for (const sotto_effect_message *m = effects->sent; m; m = m->next)
        SOTTO_TRY(send_one(net, p, m, err));
    if (effects->wake != UINT64_MAX)
        SOTTO_TRY(sotto_sim_schedule(
            net,
            (event){.time = effects->wake > net->now ? effects->wake : net->now + 1,
                    .type = EVENT_TICK,
                    .to = p->index},
            err));
    if (effects->wants_vector)
        SOTTO_TRY(sotto_sim_schedule(
            net, (event){.time = net->now + 1, .type = EVENT_OFFER, .to = p->index}, err));
    return SOTTO_OK;
}

/* ---- one step -------------------------------------------------------------------------------------------- */

/* What a step leaves behind for its transaction. */
typedef struct outcome {
    sotto_effects effects;
    sotto_message message;
    sotto_status verdict;
    void *bulk; /* whole, and to be added if the verdict is OK */
    bool is_stored;
} outcome;

sotto_status sotto_sim_remember(sotto_sim_net *net, participant *p, sotto_err *err)
{
    sotto_buf again;

    if (p->machine)
        return SOTTO_OK;
    if (!p->state.is_there)
        return p->ops->join(&p->machine, net->round, &p->self, &p->arena, err);
    sotto_self self = p->self;
    memset(self.seed, 0, sizeof self.seed); /* it is in the saved state */
    SOTTO_TRY(p->ops->restore(&p->machine, net->round, &self,
                              sotto_bytes_of(p->state.data, p->state.len), p->kept, p->kept_count,
                              &p->arena, err));
    SOTTO_TRY(save(net, p, &again, err));
    if (!sotto_bytes_equal_vartime(sotto_buf_bytes(&again),
                                   sotto_bytes_of(p->state.data, p->state.len)))
        net->report.forgetful++;
    return SOTTO_OK;
}

static sotto_status run_offer(sotto_sim_net *net, participant *p, outcome *o, sotto_err *err)
{
    sotto_vector *mine = sotto_arena_take(&net->scratch, sizeof *mine);
    sotto_bytes input = sotto_vector_bytes(p->input), copy;

    if (!mine)
        return sotto_sim_no_memory(err);
    SOTTO_TRY(sotto_sim_copied(&copy, input, &net->scratch, err));
    *mine = *p->input;
    if (mine->ring == SOTTO_RING_Z32)
        mine->of.z32 = (uint32_t *)(void *)(size_t)copy.data;
    else
        mine->of.z64 = (uint64_t *)(void *)(size_t)copy.data;
    if (p->shifted && mine->ring == SOTTO_RING_Z32)
        mine->of.z32[0]--;
    else if (p->shifted)
        mine->of.z64[0]--;
    sotto_status status = p->ops->offer(p->machine, mine, &o->effects, err);
    return status == SOTTO_STALE || status == SOTTO_AGAIN ? SOTTO_OK : status;
}

static sotto_status take_bulk(sotto_sim_net *net, const event *e, outcome *o)
{
    const sotto_bulk_ops *bulk = net->method->bulk;

    if (o->message.bulk_len == 0)
        return SOTTO_OK;
    o->bulk = sotto_arena_take(&net->scratch, bulk->state_size(net->round));
    if (!o->bulk)
        return SOTTO_NO_MEMORY;
    SOTTO_TRY(bulk->begin(o->bulk, net->round, &o->message, NULL));
    for (size_t at = 0; at < e->bulk.len; at += PIECE) {
        size_t left = e->bulk.len - at;

        SOTTO_TRY(bulk->feed(o->bulk, at,
                             sotto_bytes_of(e->bulk.data + at, left < PIECE ? left : PIECE), NULL));
    }
    return bulk->finish(o->bulk, NULL);
}

static sotto_status run_message(sotto_sim_net *net, participant *p, const event *e, outcome *o,
                                sotto_err *err)
{
    o->verdict = sotto_message_decode(&o->message, e->wire, NULL);
    if (o->verdict == SOTTO_OK)
        o->verdict = p->ops->check(net->round, &o->message, &net->scratch, NULL);
    if (o->verdict == SOTTO_OK)
        o->verdict = take_bulk(net, e, o);
    if (o->verdict != SOTTO_OK)
        return SOTTO_OK;
    if (net->tap)
        net->tap(net->tap_context, net, &o->message, e->wire);
    return p->ops->deliver(p->machine, &o->message, 1, &o->verdict, &o->effects, err);
}

static sotto_status store_carried(sotto_sim_net *net, participant *p, const sotto_effects *effects,
                                  sotto_err *err)
{
    if (!effects->carries)
        return SOTTO_OK;
    p->self.carried = (sotto_bytes){NULL, 0};
    return sotto_sim_copied(&p->self.carried, effects->carried, net->arena, err);
}

static sotto_status commit(sotto_sim_net *net, participant *p, const event *e, outcome *o,
                           sotto_err *err)
{
    if (!keeps_vows(p, &o->effects)) {
        net->report.vow_conflicts++;
        p->is_over = true; /* the transaction fails, and nothing of it leaves */
        sotto_sim_lose_memory(p);
        return SOTTO_OK;
    }
    SOTTO_TRY(store_state(net, p, err));
    SOTTO_TRY(store_vows(net, p, &o->effects, err));
    SOTTO_TRY(store_kept(net, p, &o->effects, err));
    SOTTO_TRY(store_carried(net, p, &o->effects, err));
    o->is_stored = true;
    if (e->type == EVENT_MESSAGE)
        net->report.verdicts[o->verdict]++;
    if (e->type == EVENT_MESSAGE && o->bulk && o->verdict == SOTTO_OK) {
        SOTTO_TRY(net->method->bulk->add(&net->tally, o->bulk, err));
        net->counted[o->message.from] = true;
    }
    SOTTO_TRY(send_all(net, p, &o->effects, err));
    if (o->effects.done) {
        p->is_over = true;
        if (p->index == SOTTO_TO_SERVER) {
            net->report.outcome = o->effects.outcome;
            (void)snprintf(net->report.reason, sizeof net->report.reason, "%s", o->effects.reason);
        }
    }
    return SOTTO_OK;
}

static sotto_sim_crash crash_now(sotto_sim_net *net, const participant *p)
{
    bool before = sotto_sim_random_chance(&net->random, net->faults.crash_before);
    bool after = sotto_sim_random_chance(&net->random, net->faults.crash_after);

    net->report.steps++;
    if (net->report.steps == net->crash_step &&
        (net->crash_how != SOTTO_SIM_ROLLBACK || p->index != SOTTO_TO_SERVER))
        return net->crash_how;
    return before ? SOTTO_SIM_CRASH_BEFORE : after ? SOTTO_SIM_CRASH_AFTER : (sotto_sim_crash)0;
}

/* Comes back from a backup that is one step old, and makes up its mind anew. */
static sotto_status roll_back(sotto_sim_net *net, participant *p, sotto_err *err)
{
    sotto_sim_lose_memory(p);
    if (!p->before.is_there)
        return SOTTO_OK;
    p->state = p->before;
    p->before = (stored_state){0};
    p->is_over = false;
    p->shifted = 1;
    return sotto_sim_schedule(
        net, (event){.time = net->now + 2, .type = EVENT_TICK, .to = p->index}, err);
}

static sotto_status run_step(sotto_sim_net *net, participant *p, event e, sotto_err *err)
{
    outcome o = {.verdict = SOTTO_OK};
    sotto_status status;

    sotto_effects_init(&o.effects, &net->scratch);
    SOTTO_TRY(sotto_sim_remember(net, p, err));
    if (e.type == EVENT_TICK)
        status = p->ops->tick(p->machine, net->now, &o.effects, err);
    else if (e.type == EVENT_OFFER)
        status = run_offer(net, p, &o, err);
    else
        status = run_message(net, p, &e, &o, err);
    SOTTO_TRY(status);
    sotto_sim_crash crash = crash_now(net, p);
    if (crash == SOTTO_SIM_CRASH_BEFORE) {
        sotto_sim_lose_memory(p);
        e.time = net->now + 1;
        return sotto_sim_schedule(net, e, err);
    }
    SOTTO_TRY(commit(net, p, &e, &o, err));
    if (e.type == EVENT_MESSAGE && o.verdict == SOTTO_AGAIN && e.tries++ < TRIES) {
        e.time = net->now + RETRY_MS;
        SOTTO_TRY(sotto_sim_schedule(net, e, err));
    }
    /* Whoever comes back sends what it finds stored; where a vow stood in the way, that is nothing. */
    if (crash == SOTTO_SIM_CRASH_AFTER && o.is_stored)
        SOTTO_TRY(send_all(net, p, &o.effects, err));
    if (crash == SOTTO_SIM_CRASH_AFTER || net->forget_always)
        sotto_sim_lose_memory(p);
    return crash == SOTTO_SIM_ROLLBACK ? roll_back(net, p, err) : SOTTO_OK;
}

sotto_status sotto_sim_happen(sotto_sim_net *net, event e, sotto_err *err)
{
    participant *p = sotto_sim_find(net, e.to);
    uint64_t head[2] = {e.time, (uint64_t)e.to << 8 | (unsigned)e.type};

    sotto_hash_update(&net->transcript, sotto_bytes_of(head, sizeof head));
    sotto_hash_update(&net->transcript, e.wire);
    if (!p && net->strangers)
        return net->strangers(net->strangers_context, net, e.to, e.wire, err);
    if (!p || !p->is_here || p->is_over)
        return SOTTO_OK;
    sotto_status status = run_step(net, p, e, err);
    sotto_arena_reset(&net->scratch);
    return status;
}
