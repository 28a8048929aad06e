/* A contribution: encrypt, commit, prove; the promise goes out now, everything else once the promises are posted (Liu and Gupta 2023,
 * Figure 4, lines 1 and 4). */
#include "aggregate/aero/client.h"

#include "base/declassify.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "math/ct.h"

#include <string.h>

enum { FOR_GROUP = 16, FOR_NONCE, FOR_PROOF };

typedef struct contribution {
    sotto_aero_device *d;
    uint8_t role;
    const sotto_vector *vector;
    sotto_aero_public key;
    sotto_aero_sealed of;
    uint8_t nonce[SOTTO_AERO_MOST_GROUPS][32];
    int64_t *m; /* of one group: 4096 of each ciphertext */
    sotto_aero_witness *witnesses;
    sotto_aero_cipher *ciphers;
    sotto_buf wire, proof;
    sotto_noise noise;
    bool has_noise;
} contribution;

static int64_t entry_of(const sotto_vector *v, size_t at)
{
    return v->ring == SOTTO_RING_Z32 ? (int32_t)v->of.z32[at] : (int64_t)v->of.z64[at];
}

/* Slot 0 of every ciphertext is the round's number, so that no ciphertext serves in two rounds. */
static sotto_status fill(contribution *c, uint32_t group, sotto_entropy *entropy, sotto_err *err)
{
    const sotto_aero_plan *plan = c->d->base.plan;
    size_t count = sotto_aero_group_size(plan, group);
    size_t at = (size_t)group * SOTTO_AERO_GROUP * SOTTO_AERO_SLOTS;

    memset(c->m, 0, count * SOTTO_AERO_N * sizeof *c->m);
    for (size_t i = 0; i < count; i++) {
        int64_t *m = c->m + i * SOTTO_AERO_N;

        for (size_t k = 1; k < SOTTO_AERO_N && c->vector; k++, at++)
            if (at < c->vector->length)
                m[k] = entry_of(c->vector, at);
        if (c->has_noise)
            SOTTO_TRY(sotto_noise_draw(&c->noise, m + 1, SOTTO_AERO_SLOTS, entropy, err));
        m[0] = (int64_t)plan->round->number;
    }
    return SOTTO_OK;
}

/* An honest device proves nothing that is not so: such a proof would tell something of the witness. */
static bool is_within(const contribution *c, uint32_t group)
{
    const sotto_aero_plan *plan = c->d->base.plan;
    uint64_t most = c->role == SOTTO_AERO_NOISE ? (UINT64_C(1) << (plan->terms.bits - 1)) - 1
                                                : plan->round->most;
    uint64_t squares = 0, beyond = 0;

    for (size_t i = 0; i < sotto_aero_group_size(plan, group); i++)
        for (size_t k = 1; k < SOTTO_AERO_N; k++) {
            uint64_t x = (uint64_t)c->m[i * SOTTO_AERO_N + k];
            uint64_t sign = sotto_ct_mask(x >> 63), magnitude = (x ^ sign) - sign;
            uint64_t over = sotto_ct_less(most, magnitude);

            beyond |= over;
            squares += (magnitude & ~over) * (magnitude & ~over);
        }
    beyond |= sotto_ct_less(sotto_aero_norm2(plan, c->role, group), squares);
    SOTTO_DECLASSIFY(&beyond, sizeof beyond);
    return beyond == 0;
}

/* Each committee has a key, and opens its groups. */
static const sotto_aero_poly *key_of(const contribution *c, uint32_t group)
{
    const sotto_aero_base *base = &c->d->base;

    return &base->view->b[sotto_aero_committee_of_group(base->plan, group)];
}

/* The same every time: what was promised is what is proved. */
static sotto_status make_group(contribution *c, uint32_t group, sotto_err *err)
{
    sotto_aero_base *base = &c->d->base;
    const sotto_aero_plan *plan = base->plan;
    size_t count = sotto_aero_group_size(plan, group);
    sotto_aero_stream stream;

    c->wire.len = 0;
    sotto_aero_public_of(&plan->aero, &c->key, &plan->a, key_of(c, group));
    sotto_status status =
        sotto_aero_stream_open(&stream, base, FOR_GROUP, (uint32_t)c->role << 16 | group, err);
    if (status == SOTTO_OK)
        status = fill(c, group, &stream.entropy, err);
    if (status == SOTTO_OK && !is_within(c, group))
        status = sotto_fail(err, SOTTO_DENIED, "aero: the vector is beyond the round's bounds");
    for (size_t i = 0; i < count && status == SOTTO_OK; i++) {
        status = sotto_aero_draw(&plan->aero, &c->witnesses[i], &stream.entropy, err);
        if (status == SOTTO_OK)
            status = sotto_aero_encrypt(&plan->aero, &c->ciphers[i], &c->key, &c->witnesses[i],
                                        c->m + i * SOTTO_AERO_N, err);
    }
    sotto_aero_stream_close(&stream);
    if (status == SOTTO_OK)
        status = sotto_aero_group_encode(&c->wire, plan, c->ciphers, count, err);
    return status;
}

static sotto_status seal_all(contribution *c, sotto_err *err)
{
    sotto_aero_base *base = &c->d->base;

    for (uint32_t g = 0; g < base->plan->groups; g++) {
        SOTTO_TRY(make_group(c, g, err));
        SOTTO_TRY(
            sotto_aero_secret_of(base, c->nonce[g], FOR_NONCE, (uint32_t)c->role << 16 | g, err));
        sotto_aero_seal_group(c->of.sealed[g], base->plan, c->role, base->self.index, g,
                              c->nonce[g], sotto_buf_bytes(&c->wire));
    }
    return SOTTO_OK;
}

static sotto_status prove(contribution *c, uint32_t group, sotto_arena *scratch, sotto_err *err)
{
    sotto_aero_base *base = &c->d->base;
    sotto_arena_mark mark = sotto_arena_here(scratch);
    uint8_t commitment[32];
    sotto_aero_stream stream;

    c->proof.len = 0;
    sotto_aero_commitment_of(commitment, base->plan, &c->of);
    const sotto_aero_statement of = sotto_aero_statement_of(
        base->plan, key_of(c, group), c->role, base->self.index, group, commitment, c->ciphers);
    sotto_status status =
        sotto_aero_stream_open(&stream, base, FOR_PROOF, (uint32_t)c->role << 16 | group, err);
    if (status == SOTTO_OK)
        status =
            sotto_aero_prove(&c->proof, &of, c->witnesses, c->m, &stream.entropy, scratch, err);
    sotto_aero_stream_close(&stream);
    sotto_arena_rollback(scratch, mark);
    return status;
}

/* The proofs' digests are part of the promise, and lists of digests part of what is revealed: bodies are finished when all are known. */
static sotto_status reveal_body(contribution *c, sotto_buf *body, uint32_t group,
                                sotto_arena *arena, sotto_err *err)
{
    uint32_t groups = c->d->base.plan->groups;

    *body = sotto_aero_buffer(arena, 2 + 32 + (size_t)64 * groups + 8 + c->wire.len + c->proof.len);
    if (!body->data)
        return sotto_aero_no_memory(err);
    sotto_writer w = sotto_writer_on(body);
    sotto_write_uint(&w, c->role, 1);
    sotto_write_uint(&w, group, 1);
    sotto_write_bytes(&w, sotto_bytes_of(c->nonce[group], 32));
    sotto_write_bytes(&w, sotto_bytes_of(c->of.sealed, (size_t)32 * groups));
    sotto_write_bytes(&w, sotto_bytes_of(c->of.proofs, (size_t)32 * groups));
    sotto_write_opaque32(&w, sotto_buf_bytes(&c->wire));
    sotto_write_opaque32(&w, sotto_buf_bytes(&c->proof));
    return sotto_writer_finish(&w, "reveal", err);
}

static sotto_status keep_reveal(contribution *c, uint32_t group, const sotto_buf *body,
                                sotto_effects *effects, sotto_err *err)
{
    sotto_aero_base *base = &c->d->base;
    sotto_message *m = &c->d->reveals[c->role][group];
    sotto_buf signature = sotto_aero_buffer(base->arena, SOTTO_SIGNATURE);

    if (!signature.data)
        return sotto_aero_no_memory(err);
    memcpy(body->data + 34 + (size_t)32 * base->plan->groups, c->of.proofs,
           (size_t)32 * base->plan->groups);
    *m = (sotto_message){.epoch = base->round->epoch,
                         .round = base->round->number,
                         .kind = SOTTO_AERO_REVEAL,
                         .from = base->self.index,
                         .to = SOTTO_TO_SERVER,
                         .body = sotto_buf_bytes(body)};
    memcpy(m->session, base->round->session, sizeof m->session);
    SOTTO_TRY(sotto_message_sign(m, signature.data, base->self.keys, err));
    return sotto_effects_keep(effects, m, err);
}

static sotto_status promise(contribution *c, sotto_effects *effects, sotto_err *err)
{
    sotto_aero_base *base = &c->d->base;
    uint8_t digest[32], body[33];

    sotto_aero_promise_of(digest, base->plan, &c->of);
    (void)sotto_aero_commit_message(base->round, body, c->role, base->self.index, digest);
    SOTTO_TRY(sotto_aero_vow(base, effects, SOTTO_AERO_COMMIT, c->role,
                             sotto_bytes_of(body, sizeof body), err));
    SOTTO_TRY(sotto_aero_send(effects, base->round, &base->self, SOTTO_TO_SERVER, SOTTO_AERO_COMMIT,
                              sotto_bytes_of(body, sizeof body), err));
    c->d->done = (uint8_t)(c->d->done | SOTTO_AERO_HAS_PROMISED(c->role));
    return SOTTO_OK;
}

static sotto_status set_up(contribution *c, sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = c->d->base.plan;
    const sotto_round *round = plan->round;
    size_t most = sotto_aero_group_size(plan, 0), proof = 0;

    c->m = sotto_arena_take_array(scratch, most * SOTTO_AERO_N, sizeof *c->m);
    c->witnesses = sotto_arena_take_array(scratch, most, sizeof *c->witnesses);
    c->ciphers = sotto_arena_take_array(scratch, most, sizeof *c->ciphers);
    c->wire = sotto_aero_buffer(scratch, sotto_aero_group_bytes(plan, 0));
    if (!c->m || !c->witnesses || !c->ciphers || !c->wire.data)
        return sotto_aero_no_memory(err);
    const uint8_t none[32] = {0};
    const sotto_aero_statement of = sotto_aero_statement_of(
        plan, c->d->base.view->b, c->role, c->d->base.self.index, 0, none, c->ciphers);
    SOTTO_TRY(sotto_aero_proof_size(&proof, &of, err));
    c->proof = sotto_aero_buffer(scratch, proof);
    if (!c->proof.data)
        return sotto_aero_no_memory(err);
    c->has_noise = c->role == SOTTO_AERO_NOISE && round->noise.num > 0;
    if (c->has_noise)
        return sotto_noise_gaussian(&c->noise, round->noise.num, round->noise.den, scratch, err);
    return SOTTO_OK;
}

static sotto_status contribute(contribution *c, sotto_arena *scratch, sotto_effects *effects,
                               sotto_err *err)
{
    const sotto_aero_plan *plan = c->d->base.plan;
    sotto_buf bodies[SOTTO_AERO_MOST_GROUPS] = {{NULL, 0, 0}};

    SOTTO_TRY(set_up(c, scratch, err));
    SOTTO_TRY(seal_all(c, err));
    for (uint32_t g = 0; g < plan->groups; g++) {
        SOTTO_TRY(make_group(c, g, err));
        SOTTO_TRY(prove(c, g, scratch, err));
        sotto_hash_once(c->of.proofs[g], SOTTO_SHA256, sotto_buf_bytes(&c->proof));
        SOTTO_TRY(reveal_body(c, &bodies[g], g, c->d->base.arena, err));
    }
    for (uint32_t g = 0; g < plan->groups; g++)
        SOTTO_TRY(keep_reveal(c, g, &bodies[g], effects, err));
    return promise(c, effects, err);
}

sotto_status sotto_aero_contribute(sotto_aero_device *d, uint8_t role, const sotto_vector *vector,
                                   sotto_effects *effects, sotto_err *err)
{
    sotto_status status = SOTTO_NO_MEMORY;
    sotto_arena scratch;

    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    contribution *c = sotto_arena_take(&scratch, sizeof *c);
    if (c) {
        c->d = d;
        c->role = role;
        c->vector = vector;
        status = contribute(c, &scratch, effects, err);
    }
    sotto_arena_clear(&scratch);
    return status == SOTTO_NO_MEMORY ? sotto_aero_no_memory(err) : status;
}
