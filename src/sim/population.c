#include "sim/population.h"

#include "aggregate/aero/client.h"
#include "sim/net_internal.h"

#include <math.h>
#include <string.h>

enum { NOBODY = UINT32_MAX, MOST = 1000, DEVICE_MEMORY = 64 << 20 };

/* What a device said, and says when promises are posted. */
typedef struct speaker {
    uint32_t index;
    uint8_t role;
    sotto_bytes reveal;
} speaker;

typedef struct checker {
    uint32_t index;
    uint8_t answered[SOTTO_AERO_MOST_ASKS / 8];
} checker;

struct sotto_sim_population {
    sotto_sim_population_plan plan;
    sotto_round round;
    sotto_registry registry;
    sotto_aero_account account;
    uint8_t (*keys)[32], (*pair)[32], (*channel)[32], parameters[SOTTO_AERO_TERMS_HANDED];
    sotto_aero_plan derived;
    sotto_aero_view view;
    sotto_signer server, *signers;
    sotto_self_secrets *secrets;
    sotto_sim_net *net;
    sotto_arena *arena, scratch, of_entry;
    sotto_sim_random random;
    speaker *speakers;
    uint32_t speaker_count;
    uint8_t *done; /* by device: bits of the machine */
    checker *checkers;
    uint32_t checker_count, *checker_of;
    bool has_promised, has_revealed, has_asked;
    sotto_status status; /* of what the tap did */
    sotto_err err;
    sotto_sim_population_report report;
};

/* ---- keys ------------------------------------------------------------------------------------------------- */

/* The same whenever it speaks. */
static void secret_of(const sotto_sim_population *c, uint8_t out[32], uint32_t index,
                      unsigned purpose)
{
    uint64_t text[3] = {c->plan.seed, index, purpose};

    sotto_hash_once(out, SOTTO_SHA256, sotto_bytes_of(text, sizeof text));
}

static sotto_status signer_of(const sotto_sim_population *c, sotto_signer *out, uint32_t index,
                              sotto_err *err)
{
    uint8_t secret[32];

    secret_of(c, secret, index, 1);
    return sotto_signer_init(out, secret, err);
}

static sotto_status register_all(sotto_sim_population *c, sotto_err *err)
{
    uint32_t count = c->plan.devices;

    c->keys = sotto_arena_take_array(c->arena, count, sizeof *c->keys);
    c->pair = sotto_arena_take_array(c->arena, count, sizeof *c->pair);
    c->channel = sotto_arena_take_array(c->arena, count, sizeof *c->channel);
    c->done = sotto_arena_take(c->arena, count);
    c->checker_of = sotto_arena_take_array(c->arena, count, sizeof *c->checker_of);
    if (!c->keys || !c->pair || !c->channel || !c->done || !c->checker_of)
        return sotto_sim_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        sotto_signer signer;

        SOTTO_TRY(signer_of(c, &signer, i, err));
        memcpy(c->keys[i], signer.public_key, 32);
        sotto_signer_clear(&signer);
        c->checker_of[i] = NOBODY;
    }
    SOTTO_TRY(signer_of(c, &c->server, NOBODY, err));
    c->registry = (sotto_registry){.keys = (const uint8_t(*)[32])c->keys,
                                   .pair = (const uint8_t(*)[32])c->pair,
                                   .channel = (const uint8_t(*)[32])c->channel,
                                   .count = count};
    memcpy(c->registry.server, c->server.public_key, 32);
    return SOTTO_OK;
}

/* Only members of the committee need X25519 keys. Who they are does not depend on any key. */
static sotto_status equip(sotto_sim_population *c, const uint32_t *members, sotto_err *err)
{
    const sotto_kem *kem = sotto_kem_find(SOTTO_KEM_X25519);
    uint8_t secret[32];

    c->signers = sotto_arena_take_array(c->arena, c->plan.committee, sizeof *c->signers);
    c->secrets = sotto_arena_take_array(c->arena, c->plan.committee, sizeof *c->secrets);
    if (!c->signers || !c->secrets)
        return sotto_sim_no_memory(err);
    for (uint32_t i = 0; i < c->plan.committee; i++) {
        sotto_self_secrets *s = &c->secrets[i];

        SOTTO_TRY(signer_of(c, &c->signers[i], members[i], err));
        secret_of(c, secret, members[i], 2);
        SOTTO_TRY(sotto_dh_init(&s->pair, kem, sotto_bytes_of(secret, 32), err));
        secret_of(c, secret, members[i], 3);
        SOTTO_TRY(sotto_dh_init(&s->channel, kem, sotto_bytes_of(secret, 32), err));
        memcpy(c->pair[members[i]], s->pair.public_key, 32);
        memcpy(c->channel[members[i]], s->channel.public_key, 32);
    }
    return SOTTO_OK;
}

/* ---- the round -------------------------------------------------------------------------------------------- */

static sotto_status make_round(sotto_sim_population *c, sotto_err *err)
{
    const sotto_sim_population_plan *p = &c->plan;
    const sotto_aero_terms terms = {.set = 0,
                                    .profile = SOTTO_AERO_STANDARD,
                                    .bits = 12,
                                    .checks = p->checks,
                                    .committee = p->committee,
                                    .committees = 1,
                                    .threshold = p->threshold,
                                    .noise_members = p->noise,
                                    .noise_missing = p->missing,
                                    .liars = p->liars,
                                    .rate = (uint64_t)ldexp(p->rate, 64),
                                    .delta_bits = 30};
    double expected = p->rate * p->devices;
    sotto_buf out = sotto_buf_over(c->parameters, sizeof c->parameters);

    SOTTO_TRY(sotto_aero_terms_encode(&out, &terms, err));
    c->account.is_trial = true;
    c->round = (sotto_round){.session = {1},
                             .recipe = {2},
                             .epoch = 3,
                             .number = 4,
                             .method = SOTTO_METHOD_AERO,
                             .version = SOTTO_ROUND_VERSION,
                             .ring = SOTTO_RING_Z64,
                             .length = p->length,
                             .most = MOST,
                             .least = (uint64_t)(expected / 2),
                             .largest = (uint64_t)(expected + 6 * sqrt(expected)) + 1,
                             .noise = {.den = 1, .shares = p->noise - p->missing},
                             .registered = p->devices,
                             .opens = 100,
                             .commit_by = 20000,
                             .closes = 40000,
                             .verify_by = 80000,
                             .release_by = 120000,
                             .parameters = sotto_buf_bytes(&out),
                             .keys = &c->registry,
                             .account = &c->account};
    secret_of(c, c->round.beacon, NOBODY, 4);
    /* Twice: the first time says who the members are, whose keys are then part of the registry. */
    SOTTO_TRY(sotto_aero_plan_init(&c->derived, &c->round, c->arena, err));
    SOTTO_TRY(equip(c, c->derived.committee, err));
    sotto_registry_root(&c->registry, c->round.registry);
    SOTTO_TRY(sotto_aero_plan_init(&c->derived, &c->round, c->arena, err));
    c->account.members = c->derived.committee;
    return sotto_aero_view_init(&c->view, &c->derived, c->arena, err);
}

static int64_t entry_of(uint32_t index, uint32_t k)
{
    return (int64_t)((index * UINT64_C(2654435761) + k * UINT64_C(40503)) % (2 * MOST + 1)) - MOST;
}

/* ---- what a device sends ----------------------------------------------------------------------------------- */

/* To the server, some time within `within`, by a network with faults and from a device that may crash. */
static sotto_status send(sotto_sim_population *c, sotto_bytes wire, uint64_t within, sotto_err *err)
{
    const sotto_sim_faults *f = &c->plan.faults;
    unsigned copies = sotto_sim_random_chance(&c->random, f->duplicate) ? 2 : 1;
    uint64_t at = c->net->now + 1 + sotto_sim_random_below(&c->random, within);

    if (sotto_sim_random_chance(&c->random, f->drop))
        return SOTTO_OK;
    if (sotto_sim_random_chance(&c->random, f->crash_before))
        at += within / 10;
    if (sotto_sim_random_chance(&c->random, f->crash_after))
        copies++;
    for (unsigned i = 0; i < copies; i++)
        SOTTO_TRY(sotto_sim_schedule(c->net,
                                     (event){.time = at + sotto_sim_delay(c->net),
                                             .type = EVENT_MESSAGE,
                                             .to = SOTTO_TO_SERVER,
                                             .wire = wire},
                                     err));
    return SOTTO_OK;
}

/* A device as its machine would be now. Clear the signer. */
static sotto_aero_device *be(sotto_sim_population *c, sotto_signer *signer, uint32_t index,
                             sotto_err *err)
{
    sotto_aero_device *d = sotto_arena_take(&c->scratch, sizeof *d);

    if (!d || signer_of(c, signer, index, err) != SOTTO_OK)
        return NULL;
    d->base = (sotto_aero_base){.machine = {&sotto_aero_client},
                                .round = &c->round,
                                .self = {.part = SOTTO_PART_CLIENT, .index = index, .keys = signer},
                                .arena = &c->scratch,
                                .plan = &c->derived,
                                .view = &c->view};
    secret_of(c, d->base.self.seed, index, 5);
    d->done = c->done[index];
    return d;
}

static sotto_status promise(sotto_sim_population *c, sotto_aero_device *d, uint8_t role,
                            sotto_err *err)
{
    uint64_t *entries = sotto_arena_take_array(&c->scratch, c->plan.length, sizeof *entries);
    speaker *s = &c->speakers[c->speaker_count];
    sotto_vector mine = {.ring = SOTTO_RING_Z64, .length = c->plan.length, .of.z64 = entries};
    sotto_effects effects;
    sotto_bytes wire = {NULL, 0};

    if (!entries)
        return sotto_sim_no_memory(err);
    for (uint32_t k = 0; k < c->plan.length; k++)
        entries[k] = (uint64_t)entry_of(d->base.self.index, k);
    sotto_effects_init(&effects, &c->scratch);
    SOTTO_TRY(
        sotto_aero_contribute(d, role, role == SOTTO_AERO_NOISE ? NULL : &mine, &effects, err));
    c->done[d->base.self.index] = d->done;
    *s = (speaker){.index = d->base.self.index, .role = role};
    SOTTO_TRY(sotto_sim_encoded(&s->reveal, &d->reveals[role][0], c->arena, err));
    SOTTO_TRY(sotto_sim_encoded(&wire, &effects.sent->message, c->arena, err));
    c->speaker_count++;
    return send(c, wire, (c->round.commit_by - c->net->now) * 3 / 4, err);
}

static sotto_status promise_as(sotto_sim_population *c, uint32_t index, uint8_t role,
                               sotto_err *err)
{
    sotto_signer signer;

    sotto_arena_reset(&c->scratch);
    sotto_aero_device *d = be(c, &signer, index, err);
    if (!d)
        return sotto_sim_no_memory(err);
    sotto_status status = promise(c, d, role, err);
    sotto_signer_clear(&signer);
    return status;
}

static sotto_status promise_all(sotto_sim_population *c, sotto_err *err)
{
    size_t most = (size_t)c->round.largest + c->plan.noise;

    c->has_promised = true;
    c->speakers = sotto_arena_take_array(c->arena, most, sizeof *c->speakers);
    if (!c->speakers)
        return sotto_sim_no_memory(err);
    for (uint32_t i = 0; i < c->plan.noise; i++)
        SOTTO_TRY(promise_as(c, c->derived.noise[i], SOTTO_AERO_NOISE, err));
    c->report.noise = c->plan.noise;
    for (uint32_t i = 0; i < c->plan.devices && c->report.drawn < c->round.largest; i++) {
        if (!sotto_aero_is_sampled(&c->derived, i))
            continue;
        SOTTO_TRY(promise_as(c, i, SOTTO_AERO_CONTRIBUTOR, err));
        c->report.drawn++;
    }
    return SOTTO_OK;
}

static sotto_status reveal_all(sotto_sim_population *c, sotto_err *err)
{
    c->has_revealed = true;
    for (uint32_t i = 0; i < c->speaker_count; i++) {
        c->done[c->speakers[i].index] |= SOTTO_AERO_HAS_REVEALED;
        SOTTO_TRY(send(c, c->speakers[i].reveal, (c->round.closes - c->net->now) / 2, err));
    }
    return SOTTO_OK;
}

/* ---- checks ----------------------------------------------------------------------------------------------- */

static sotto_status ask(sotto_sim_population *c, sotto_aero_device *d, sotto_err *err)
{
    checker *k = &c->checkers[c->checker_count];
    sotto_bytes wire = {NULL, 0};
    sotto_effects effects;

    SOTTO_TRY(sotto_aero_choose(d, err));
    if (d->ask_count == 0)
        return SOTTO_OK;
    k->index = d->base.self.index;
    c->checker_of[k->index] = c->checker_count++;
    sotto_effects_init(&effects, &c->scratch);
    SOTTO_TRY(sotto_aero_ask_all(d, &effects, err));
    for (const sotto_effect_message *m = effects.sent; m; m = m->next) {
        SOTTO_TRY(sotto_sim_encoded(&wire, &m->message, c->arena, err));
        SOTTO_TRY(send(c, wire, (c->round.verify_by - c->net->now) / 4, err));
        c->report.asked++;
    }
    return SOTTO_OK;
}

static sotto_status ask_all(sotto_sim_population *c, sotto_err *err)
{
    uint32_t most = c->plan.devices / c->plan.one_in + 1;

    c->has_asked = true;
    c->checkers = sotto_arena_take_array(c->arena, most, sizeof *c->checkers);
    if (!c->checkers)
        return sotto_sim_no_memory(err);
    for (uint32_t i = 0; i < c->plan.devices; i += c->plan.one_in) {
        sotto_signer signer;

        sotto_arena_reset(&c->scratch);
        sotto_aero_device *d = be(c, &signer, i, err);
        if (!d)
            return sotto_sim_no_memory(err);
        sotto_status status = ask(c, d, err);
        sotto_signer_clear(&signer);
        SOTTO_TRY(status);
    }
    return SOTTO_OK;
}

static sotto_status post_all(sotto_sim_population *c, const sotto_effects *effects, sotto_err *err)
{
    for (const sotto_effect_message *m = effects->sent; m; m = m->next)
        SOTTO_TRY(sotto_sim_post(c->net, &m->message, err));
    return SOTTO_OK;
}

static uint32_t answered_of(const checker *k)
{
    uint32_t count = 0;

    for (size_t i = 0; i < 8 * sizeof k->answered; i++)
        count += (uint32_t)k->answered[i / 8] >> (i % 8) & 1u;
    return count;
}

/* One answer is for all of a device's questions about that leaf: who draws a leaf twice asks twice. */
static sotto_status judge(sotto_sim_population *c, sotto_aero_device *d, checker *k,
                          const sotto_message *m, sotto_err *err)
{
    const uint32_t before = answered_of(k);
    sotto_status verdict;
    sotto_effects effects;

    if (sotto_aero_check(&c->round, m, &c->scratch, NULL) != SOTTO_OK)
        return SOTTO_OK;
    SOTTO_TRY(sotto_aero_choose(d, err));
    memcpy(d->answered, k->answered, sizeof d->answered);
    sotto_effects_init(&effects, &c->scratch);
    SOTTO_TRY(sotto_aero_take_sample(d, m, &verdict, &effects, err));
    memcpy(k->answered, d->answered, sizeof d->answered);
    c->report.answered += answered_of(k) - before;
    c->report.wrong += verdict == SOTTO_REJECTED;
    return post_all(c, &effects, err);
}

/* What the server sends to a device. */
static sotto_status take(void *context, sotto_sim_net *net, uint32_t to, sotto_bytes wire,
                         sotto_err *err)
{
    sotto_sim_population *c = context;
    sotto_message m;
    sotto_signer signer;

    (void)net;
    if (to >= c->plan.devices || c->checker_of[to] == NOBODY ||
        sotto_message_decode(&m, wire, NULL) != SOTTO_OK)
        return SOTTO_OK;
    sotto_arena_reset(&c->scratch);
    sotto_aero_device *d = be(c, &signer, to, err);
    if (!d)
        return sotto_sim_no_memory(err);
    sotto_status status = judge(c, d, &c->checkers[c->checker_of[to]], &m, err);
    sotto_signer_clear(&signer);
    return status;
}

/* Who got no answer says so on the board. */
static sotto_status complain(sotto_sim_population *c, const checker *k, sotto_err *err)
{
    sotto_signer signer;
    sotto_effects effects;

    sotto_arena_reset(&c->scratch);
    sotto_aero_device *d = be(c, &signer, k->index, err);
    if (!d)
        return sotto_sim_no_memory(err);
    sotto_status status = sotto_aero_choose(d, err);
    memcpy(d->answered, k->answered, sizeof d->answered);
    sotto_effects_init(&effects, &c->scratch);
    if (status == SOTTO_OK)
        status = sotto_aero_complain(d, &effects, err);
    for (const sotto_effect_message *m = effects.sent; m; m = m->next)
        c->report.challenges++;
    if (status == SOTTO_OK)
        status = post_all(c, &effects, err);
    sotto_signer_clear(&signer);
    return status;
}

/* ---- the board --------------------------------------------------------------------------------------------- */

static sotto_status read_entry(sotto_sim_population *c, const sotto_message *m, sotto_err *err)
{
    sotto_message known;
    sotto_bytes record;
    uint64_t index;

    SOTTO_TRY(sotto_entry_decode(&index, &record, m->body, err));
    if (index != c->view.next)
        return SOTTO_OK;
    sotto_arena_reset(&c->of_entry);
    SOTTO_TRY(sotto_aero_view_read(&c->view, &known, index, record, false, &c->of_entry, err));
    if (!c->has_promised && sotto_aero_is_certified(&c->view))
        SOTTO_TRY(promise_all(c, err));
    if (!c->has_revealed && c->view.is_committed)
        SOTTO_TRY(reveal_all(c, err));
    return !c->has_asked && c->view.is_summed ? ask_all(c, err) : SOTTO_OK;
}

static void watch(void *context, sotto_sim_net *net, const sotto_message *m, sotto_bytes wire)
{
    sotto_sim_population *c = context;

    (void)net;
    (void)wire;
    if (m->kind == SOTTO_AERO_ENTRY && c->status == SOTTO_OK)
        c->status = read_entry(c, m, &c->err);
}

/* ---- a whole round ------------------------------------------------------------------------------------------ */

sotto_status sotto_sim_population_new(sotto_sim_population **out,
                                      const sotto_sim_population_plan *plan, sotto_arena *arena,
                                      sotto_err *err)
{
    sotto_sim_population *c = sotto_arena_take(arena, sizeof *c);

    *out = NULL;
    if (!c)
        return sotto_sim_no_memory(err);
    c->plan = *plan;
    c->arena = arena;
    sotto_sim_random_init(&c->random, plan->seed);
    sotto_arena_init(&c->scratch, DEVICE_MEMORY);
    sotto_arena_init(&c->of_entry, DEVICE_MEMORY);
    SOTTO_TRY(register_all(c, err));
    SOTTO_TRY(make_round(c, err));
    const sotto_sim_staff staff = {.server = &c->server,
                                   .signers = c->signers,
                                   .secrets = c->secrets,
                                   .indices = c->derived.committee,
                                   .count = plan->committee,
                                   .ceiling = (size_t)plan->memory};
    SOTTO_TRY(sotto_sim_net_of_staff(&c->net, &sotto_method_aero, &c->round, &staff, plan->seed,
                                     arena, err));
    sotto_sim_net_faults(c->net, &plan->faults);
    sotto_sim_net_tap(c->net, watch, c);
    c->net->strangers = take;
    c->net->strangers_context = c;
    *out = c;
    return SOTTO_OK;
}

void sotto_sim_population_free(sotto_sim_population *c)
{
    sotto_sim_net_free(c->net);
    for (uint32_t i = 0; i < c->plan.committee; i++) {
        sotto_signer_clear(&c->signers[i]);
        sotto_dh_clear(&c->secrets[i].pair);
        sotto_dh_clear(&c->secrets[i].channel);
    }
    sotto_signer_clear(&c->server);
    sotto_arena_clear(&c->scratch);
    sotto_arena_clear(&c->of_entry);
}

sotto_sim_net *sotto_sim_population_net(sotto_sim_population *c)
{
    return c->net;
}

static bool is_exact(const sotto_sim_population *c)
{
    const sotto_sim_report *r = &c->report.net;
    uint64_t counted = 0;

    for (uint32_t i = 0; i < c->plan.devices && r->released; i++)
        counted += r->counted[i];
    if (!r->released || counted != r->contributions)
        return false;
    for (uint32_t k = 0; k < c->plan.length; k++) {
        uint64_t sum = 0;

        for (uint32_t i = 0; i < c->plan.devices; i++)
            sum += r->counted[i] ? (uint64_t)entry_of(i, k) : 0;
        if (sum != r->sum.of.z64[k])
            return false;
    }
    return true;
}

/* Until then; what the tap did counts. */
static sotto_status run_until(sotto_sim_population *c, uint64_t until_ms, sotto_err *err)
{
    SOTTO_TRY(sotto_sim_net_run(c->net, until_ms, &c->report.net, err));
    if (c->status != SOTTO_OK)
        return sotto_fail(err, c->status, "%s", c->err.reason);
    return SOTTO_OK;
}

sotto_status sotto_sim_population_run(sotto_sim_population *c, sotto_sim_population_report *report,
                                      sotto_err *err)
{
    const sotto_round *r = &c->round;
    uint64_t window = r->verify_by - r->closes, begin = r->verify_by - window / 3;

    SOTTO_TRY(run_until(c, begin, err));
    /* One after the other, so that no more wait for an answer than there is room for. */
    for (uint32_t i = 0; i < c->checker_count; i++) {
        uint64_t before = c->report.challenges;

        SOTTO_TRY(complain(c, &c->checkers[i], err));
        if (c->report.challenges > before)
            SOTTO_TRY(run_until(c, c->net->now + window / 3 / (c->report.asked + 1) + 1, err));
    }
    SOTTO_TRY(run_until(c, 2 * r->release_by, err));
    c->report.is_exact = is_exact(c);
    *report = c->report;
    return SOTTO_OK;
}
