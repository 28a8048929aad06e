/* Entries of a board as a server hands them to a member of the committee: whole records, excerpts in their place, and bytes that are neither. Input: a
 * list of up to 64 times (how, kind, from, pieces of an excerpt in two bytes, length of two bytes, body). Pieces: the first one and how many; 0: those
 * that this member is shown. `how`: 1 an excerpt, 2 the body itself in the place of a record, 4 under another number. With 8 in the first of them, the round begins with the key of the one before, of which this member has a
 * share. What is handed over is filled up with zeros. Records are signed as they should be, so that they are read. Each input has a
 * member of its own.
 * A part of the key is longer than a body here, and counts only where its dealer committed to it. 16: the body is put where the shares of such a
 * part are, or behind the commitment to it, or over the public key that is posted. 32: what this member itself posted, by its number, which takes the place of the kind. */
#include "aero_stage.h"
#include "target.h"

#include "aggregate/aero/member.h"
#include "aggregate/excerpt.h"
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum {
    PEOPLE = 4,
    POSTS = 8,
    RECORDS = 64,
    EXCERPT = 1,
    RAW = 2,
    ELSEWHERE = 4,
    HANDED = 8,
    FITTING = 16,
    OWN = 32
};

typedef struct stage {
    bool is_there;
    sotto_round rounds[2], *round; /* with a new key, and with one that is handed over */
    uint8_t *carried;              /* of the latter */
    size_t carried_len, hand_len;
    sotto_registry registry;
    uint8_t keys[PEOPLE][32], pair[PEOPLE][32], channel[PEOPLE][32];
    uint8_t terms[2][SOTTO_AERO_TERMS_HANDED];
    sotto_signer signer;
    sotto_self_secrets secrets;
    sotto_arena memory, scratch;
    sotto_message posted[POSTS];
    unsigned posts;
    uint64_t next;
} stage;

static stage s;

static sotto_status make_keys(stage *g)
{
    const sotto_kem *kem = sotto_kem_find(SOTTO_KEM_X25519);
    const uint8_t seed[32] = {1}, pair[32] = {2}, channel[32] = {3};

    SOTTO_TRY(sotto_signer_init(&g->signer, seed, NULL));
    SOTTO_TRY(sotto_dh_init(&g->secrets.pair, kem, sotto_bytes_of(pair, 32), NULL));
    SOTTO_TRY(sotto_dh_init(&g->secrets.channel, kem, sotto_bytes_of(channel, 32), NULL));
    for (unsigned i = 0; i < PEOPLE; i++) {
        memcpy(g->keys[i], g->signer.public_key, 32);
        memcpy(g->pair[i], g->secrets.pair.public_key, 32);
        memcpy(g->channel[i], g->secrets.channel.public_key, 32);
    }
    g->registry = (sotto_registry){.keys = (const uint8_t(*)[32])g->keys,
                                   .pair = (const uint8_t(*)[32])g->pair,
                                   .channel = (const uint8_t(*)[32])g->channel,
                                   .count = PEOPLE};
    memcpy(g->registry.server, g->signer.public_key, sizeof g->registry.server);
    return SOTTO_OK;
}

/* A share of zeros, of the round before. */
static sotto_status make_carried(stage *g)
{
    sotto_aero_carried *c = sotto_arena_take(&g->scratch, sizeof *c);
    sotto_aero_plan *plan = sotto_arena_take(&g->scratch, sizeof *plan);
    sotto_buf out;

    if (!c || !plan)
        return SOTTO_NO_MEMORY;
    SOTTO_TRY(sotto_aero_plan_init(plan, &g->rounds[1], &g->scratch, NULL));
    SOTTO_TRY(sotto_aero_key_terms(c->terms, plan, NULL));
    c->number = g->rounds[1].number - 1;
    g->carried_len = sotto_aero_carried_size(&plan->aero);
    g->hand_len = sotto_aero_hand_size(plan);
    g->carried = malloc(g->carried_len);
    if (!g->carried)
        return SOTTO_NO_MEMORY;
    out = sotto_buf_over(g->carried, g->carried_len);
    return sotto_aero_carried_encode(&plan->aero, &out, c, NULL);
}

static sotto_status set_up(stage *g)
{
    SOTTO_TRY(make_keys(g));
    for (uint8_t i = 0; i < 2; i++)
        SOTTO_TRY(fuzz_aero_round(&g->rounds[i], g->terms[i], &g->registry, SOTTO_AERO_FAST, i));
    sotto_arena_init(&g->memory, (size_t)1 << 28);
    sotto_arena_init(&g->scratch, (size_t)1 << 28);
    SOTTO_TRY(make_carried(g));
    g->is_there = true;
    return SOTTO_OK;
}

/* Longer than an input says. */
static sotto_status fill_up(stage *g, sotto_bytes *body, unsigned kind)
{
    sotto_buf out;

    if (kind != SOTTO_AERO_HAND || body->len >= g->hand_len)
        return SOTTO_OK;
    SOTTO_TRY(sotto_buf_take(&out, &g->scratch, g->hand_len, NULL));
    memset(out.data, 0, g->hand_len);
    if (body->len)
        memcpy(out.data, body->data, body->len);
    *body = sotto_bytes_of(out.data, g->hand_len);
    return SOTTO_OK;
}

/* The public key as this member has to read it, with the input's bytes over it. */
static sotto_status fit_keyed(stage *g, sotto_bytes *body, const sotto_aero_view *view)
{
    sotto_buf out;

    SOTTO_TRY(sotto_buf_take(&out, &g->scratch, sotto_aero_keyed_size(view->plan), NULL));
    SOTTO_TRY(sotto_aero_keyed_encode(view, &out, NULL));
    for (size_t i = 0; i < body->len && i < out.len; i++)
        out.data[i] ^= body->data[i];
    *body = sotto_buf_bytes(&out);
    return SOTTO_OK;
}

/* Zeros, as long as a part of the key has to be, with the input's bytes in place of the shares; or what commits to it. */
static sotto_status fit(stage *g, sotto_bytes *body, const sotto_aero_plan *plan,
                        const sotto_message *m)
{
    const size_t each = sotto_aero_poly_size(&plan->aero), head = 32 + each;
    const size_t len = sotto_aero_key_size(plan);
    uint8_t *key = sotto_arena_take(&g->scratch, len);
    uint8_t *seal = sotto_arena_take(&g->scratch, SOTTO_AERO_SEAL_SIZE);
    const bool is_key = m->kind == SOTTO_AERO_KEY;
    const size_t room = is_key ? len - head : 64;

    if (!key || !seal)
        return SOTTO_NO_MEMORY;
    memset(key, 0, len);
    memset(seal, 0, SOTTO_AERO_SEAL_SIZE);
    sotto_aero_seal_key(seal, plan, m->from, key, sotto_bytes_of(key + 32, each));
    if (body->len)
        memcpy(is_key ? key + head : seal + 32, body->data, body->len < room ? body->len : room);
    *body = is_key ? sotto_bytes_of(key, len) : sotto_bytes_of(seal, SOTTO_AERO_SEAL_SIZE);
    return SOTTO_OK;
}

/* Which pieces an excerpt has; none where the body has no such ones. */
static void choose_pieces(const stage *g, sotto_pieces *out, unsigned chosen,
                          const sotto_message *m)
{
    if (chosen == 0) {
        (void)sotto_excerpt_for(out, &sotto_method_aero, g->round, m, 0);
        return;
    }
    *out = (sotto_pieces){.count = 1, .at = {{chosen >> 8, chosen & 255}}};
    if (!sotto_pieces_fit(out, m->body.len))
        out->count = 0;
}

/* A record as it was signed; whoever is no member is the server. */
static sotto_status write_record(stage *g, sotto_buf *out, unsigned how, const sotto_message *m,
                                 unsigned chosen)
{
    sotto_pieces pieces;

    choose_pieces(g, &pieces, chosen, m);
    SOTTO_TRY(sotto_buf_take(out, &g->scratch,
                             how & EXCERPT ? sotto_excerpt_size(m, &pieces) : sotto_message_size(m),
                             NULL));
    return how & EXCERPT ? sotto_excerpt_encode(out, m, &pieces, NULL)
                         : sotto_message_encode(out, m, NULL);
}

/* What the member says goes to the board only where the input says so. */
static void write_down(stage *g, const sotto_effects *effects)
{
    for (const sotto_effect_message *m = effects->sent; m && g->posts < POSTS; m = m->next) {
        sotto_message *to = &g->posted[g->posts++];
        uint8_t *signature = sotto_arena_take(&g->memory, SOTTO_SIGNATURE);
        uint8_t *body = sotto_arena_take(&g->memory, m->message.body.len + 1);

        if (!signature || !body)
            abort();
        *to = m->message;
        memcpy(signature, to->signature.data, SOTTO_SIGNATURE);
        if (to->body.len)
            memcpy(body, to->body.data, to->body.len);
        to->signature.data = signature;
        to->body.data = body;
    }
}

static void tell(stage *g, sotto_machine *machine, unsigned how, sotto_bytes record)
{
    const uint64_t number = how & ELSEWHERE ? g->next + 1 : g->next;
    sotto_message entry = {.epoch = g->round->epoch,
                           .round = g->round->number,
                           .kind = SOTTO_AERO_ENTRY,
                           .from = SOTTO_TO_BOARD,
                           .to = SOTTO_TO_EVERYBODY};
    sotto_status verdict = SOTTO_OK;
    sotto_effects effects;
    sotto_buf body;

    if (sotto_buf_take(&body, &g->scratch, record.len + 12, NULL) != SOTTO_OK ||
        sotto_entry_encode(&body, number, record, NULL) != SOTTO_OK)
        return;
    entry.body = sotto_buf_bytes(&body);
    sotto_effects_init(&effects, &g->scratch);
    if (machine->ops->check(g->round, &entry, &g->scratch, NULL) != SOTTO_OK ||
        machine->ops->deliver(machine, &entry, 1, &verdict, &effects, NULL) != SOTTO_OK)
        return;
    if (how & ELSEWHERE ? verdict == SOTTO_OK : verdict == SOTTO_AGAIN)
        abort();
    g->next += verdict == SOTTO_OK;
    write_down(g, &effects);
}

/* What stands for a record in the board's tree is the same for all of its excerpts, and none is longer than it may be. */
static void compare_leaves(sotto_bytes record, sotto_bytes other)
{
    uint8_t one[SOTTO_EXCERPT_LEAF], two[SOTTO_EXCERPT_LEAF];
    sotto_buf a = sotto_buf_over(one, sizeof one), b = sotto_buf_over(two, sizeof two);

    if (sotto_excerpt_leaf(&a, record, NULL) != sotto_excerpt_leaf(&b, other, NULL) ||
        a.len != b.len || memcmp(one, two, a.len) != 0)
        abort();
}

/* A part of the key of which the member was shown something else has no share for it. */
static void expect_no_share(const sotto_aero_committee_member *m, uint32_t dealers)
{
    if (m->base.view->dealers > dealers && !m->lacks)
        abort();
}

static sotto_status make_message(stage *g, sotto_message *m, uint8_t signature[SOTTO_SIGNATURE],
                                 unsigned how, const sotto_aero_view *view)
{
    if (how & FITTING) {
        sotto_bytes body = m->body;

        SOTTO_TRY(m->kind == SOTTO_AERO_KEYED ? fit_keyed(g, &body, view)
                                              : fit(g, &body, view->plan, m));
        m->body = body;
    }
    return sotto_message_sign(m, signature, &g->signer, NULL);
}

static void read_one(stage *g, sotto_machine *machine, sotto_reader *in)
{
    const sotto_aero_committee_member *member = (const sotto_aero_committee_member *)machine;
    unsigned how = (unsigned)sotto_read_uint(in, 1), kind = (unsigned)sotto_read_uint(in, 1);
    unsigned from = (unsigned)sotto_read_uint(in, 1);
    unsigned chosen = (unsigned)sotto_read_uint(in, 2);
    sotto_bytes body = sotto_read_opaque16(in);
    uint8_t leaf[SOTTO_EXCERPT_LEAF], signature[SOTTO_SIGNATURE];
    sotto_buf out = sotto_buf_over(leaf, sizeof leaf), whole;
    sotto_message m = {.epoch = g->round->epoch,
                       .round = g->round->number,
                       .kind = (uint16_t)kind,
                       .from = from < PEOPLE ? from : SOTTO_TO_SERVER,
                       .to = SOTTO_TO_BOARD,
                       .body = body};

    if (how & RAW) {
        (void)!sotto_excerpt_leaf(&out, body, NULL);
        tell(g, machine, how, body);
        return;
    }
    if (fill_up(g, &m.body, kind) != SOTTO_OK || ((how & OWN) && kind >= g->posts))
        return;
    if (how & OWN)
        m = g->posted[kind];
    else if (make_message(g, &m, signature, how, member->base.view) != SOTTO_OK)
        return;
    if (write_record(g, &out, how, &m, chosen) != SOTTO_OK ||
        write_record(g, &whole, how & ~(unsigned)EXCERPT, &m, chosen) != SOTTO_OK)
        return;
    compare_leaves(sotto_buf_bytes(&out), sotto_buf_bytes(&whole));
    const uint32_t dealers = member->base.view->dealers;
    tell(g, machine, how, sotto_buf_bytes(&out));
    if ((how & EXCERPT) && chosen)
        expect_no_share(member, dealers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_reader in = sotto_reader_over(sotto_bytes_of(data, size));
    sotto_machine *machine = NULL;

    if (!s.is_there && set_up(&s) != SOTTO_OK)
        abort();
    sotto_arena_reset(&s.memory);
    s.next = s.posts = 0;
    const bool handed = size && (data[0] & HANDED);
    const sotto_self self = {.index = 0,
                             .keys = &s.signer,
                             .secrets = &s.secrets,
                             .seed = {7},
                             .carried = sotto_bytes_of(s.carried, handed ? s.carried_len : 0)};
    s.round = &s.rounds[handed];
    if (sotto_aero_member_ops.join(&machine, s.round, &self, &s.memory, NULL) != SOTTO_OK)
        abort();
    for (unsigned i = 0; i < RECORDS && sotto_reader_left(&in) >= 7; i++) {
        sotto_arena_reset(&s.scratch);
        read_one(&s, machine, &in);
    }
    machine->ops->leave(machine);
    return 0;
}
