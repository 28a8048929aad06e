/* The client (draft-irtf-cfrg-vdaf-20, section 7.2.1): split a measurement and prove it valid. */
#include "vdaf/flp.h"
#include "vdaf/prio3_xof.h"

#include "base/declassify.h"
#include "base/stack.h"

#include <string.h>

enum { SEED = SOTTO_PRIO3_SEED_SIZE };

/* `rand` cut into seeds, in the draft's order. */
typedef struct client_seeds {
    const uint8_t *rand;
    bool blinds;
    unsigned helpers;
} client_seeds;

static const uint8_t *helper_seed(const client_seeds *s, unsigned helper)
{
    return s->rand + (size_t)(helper - 1) * (s->blinds ? 2 * SEED : SEED);
}

static const uint8_t *blind(const client_seeds *s, unsigned aggregator)
{
    return aggregator ? helper_seed(s, aggregator) + SEED : s->rand + (size_t)s->helpers * 2 * SEED;
}

static const uint8_t *prove_seed(const client_seeds *s)
{
    return s->rand + (size_t)s->helpers * (s->blinds ? 2 * SEED : SEED) + (s->blinds ? SEED : 0);
}

/* Everything a client works with, laid out in its scratch arena. */
typedef struct client {
    const sotto_prio3 *vdaf;
    const sotto_circuit *c;
    sotto_bytes context;
    const uint8_t *nonce;
    client_seeds seeds;
    uint8_t *leader; /* the leader's share: measurement, proofs, blind */
    uint8_t *helper; /* one helper's measurement or proof share        */
    uint8_t *meas;   /* the measurement itself                         */
    uint8_t *parts;  /* joint randomness parts: the public share       */
    uint8_t *prove_rand;
    uint8_t *joint_rand;
    void *prove_scratch;
} client;

static sotto_prio3_xof one_lane(const client *k, sotto_prio3_usage usage, const uint8_t *seed)
{
    return (sotto_prio3_xof){
        .circuit = k->c, .usage = usage, .context = k->context, .lanes = 1, .seeds = {seed}};
}

static inline sotto_prio3_xof helper_xof(const client *k, sotto_prio3_usage usage, unsigned helper)
{
    sotto_prio3_xof x = one_lane(k, usage, helper_seed(&k->seeds, helper));

    if (usage == SOTTO_USAGE_PROOF_SHARE)
        x.binder[0][x.binder_len++] = (uint8_t)k->c->proofs;
    x.binder[0][x.binder_len++] = (uint8_t)helper;
    return x;
}

static void expand_helper(const client *k, sotto_prio3_usage usage, unsigned helper, size_t count)
{
    sotto_prio3_xof x = helper_xof(k, usage, helper);

    sotto_prio3_expand(&x, &k->helper, count);
}

/* Joint randomness parts of one helper and, once its share is final, of the leader: two lanes cost little more than one. */
static inline sotto_prio3_xof parts_xof(const client *k, unsigned helper, uint8_t *out[2])
{
    const unsigned who[2] = {helper, 0}, lanes = helper + 1 == k->c->shares ? 2 : 1;
    const uint8_t *shares[2] = {k->helper, k->leader};
    sotto_prio3_xof x = {.circuit = k->c,
                         .usage = SOTTO_USAGE_JOINT_RAND_PART,
                         .context = k->context,
                         .lanes = lanes,
                         .binder_len = 1 + SOTTO_PRIO3_NONCE_SIZE,
                         .body_len = sotto_circuit_bytes(k->c, k->c->meas_len)};

    for (unsigned l = 0; l < lanes; l++) {
        x.seeds[l] = blind(&k->seeds, who[l]);
        x.binder[l][0] = (uint8_t)who[l];
        memcpy(x.binder[l] + 1, k->nonce, SOTTO_PRIO3_NONCE_SIZE);
        x.bodies[l] = shares[l];
        out[l] = k->parts + (size_t)who[l] * SEED;
    }
    return x;
}

#ifdef __OPTIMIZE_SIZE__

static void share_with(client *k, unsigned helper)
{
    expand_helper(k, SOTTO_USAGE_MEAS_SHARE, helper, k->c->meas_len);
    k->c->flp->subtract(k->leader, k->helper, k->c->meas_len);
    if (k->seeds.blinds) {
        uint8_t *out[2] = {NULL, NULL};
        sotto_prio3_xof parts = parts_xof(k, helper, out);

        sotto_prio3_derive_seed(&parts, out);
    }
}

#else

static void take_from_leader(void *arg, size_t from, size_t count)
{
    const client *k = arg;
    size_t at = sotto_circuit_bytes(k->c, from);

    k->c->flp->subtract(k->leader + at, k->helper + at, count);
}

static void share_with(client *k, unsigned helper)
{
    size_t count = k->c->meas_len;

    if (!k->seeds.blinds) {
        expand_helper(k, SOTTO_USAGE_MEAS_SHARE, helper, count);
        take_from_leader(k, 0, count);
        return;
    }
    uint8_t *out[2] = {NULL, NULL};
    sotto_prio3_xof x = helper_xof(k, SOTTO_USAGE_MEAS_SHARE, helper);
    sotto_prio3_xof parts = parts_xof(k, helper, out);

    sotto_prio3_expand_and_derive(&x, k->helper, count, take_from_leader, k, &parts, out);
}

#endif

/* Takes every helper's share away from the measurement; what is left is the leader's. */
static void share_measurement(client *k)
{
    memcpy(k->leader, k->meas, sotto_circuit_bytes(k->c, k->c->meas_len));
    for (unsigned helper = 1; helper < k->c->shares; helper++)
        share_with(k, helper);
}

static void derive_joint_rand(const client *k)
{
    static const uint8_t zeros[SEED];
    uint8_t seed[SEED], *out = seed;
    sotto_prio3_xof x = one_lane(k, SOTTO_USAGE_JOINT_RAND_SEED, zeros);

    x.bodies[0] = k->parts;
    x.body_len = k->vdaf->sizes.public_share;
    sotto_prio3_derive_seed(&x, &out);

    x = one_lane(k, SOTTO_USAGE_JOINT_RANDOMNESS, seed);
    x.binder[0][x.binder_len++] = (uint8_t)k->c->proofs;
    sotto_prio3_expand(&x, &k->joint_rand, k->c->joint_rand_len * k->c->proofs);
    sotto_wipe(seed, sizeof seed);
}

static void prove_and_share(const client *k, sotto_measurement measurement)
{
    const sotto_circuit *c = k->c;
    sotto_prio3_xof x = one_lane(k, SOTTO_USAGE_PROVE_RANDOMNESS, prove_seed(&k->seeds));
    uint8_t *proofs = k->leader + sotto_circuit_bytes(c, c->meas_len);

    x.binder[0][x.binder_len++] = (uint8_t)c->proofs;
    sotto_prio3_expand(&x, &k->prove_rand, c->prove_rand_len * c->proofs);
    for (unsigned i = 0; i < c->proofs; i++)
        c->flp->prove(c, proofs + sotto_circuit_bytes(c, i * c->proof_len), k->meas, measurement,
                      k->prove_rand + sotto_circuit_bytes(c, i * c->prove_rand_len),
                      k->joint_rand + sotto_circuit_bytes(c, i * c->joint_rand_len),
                      k->prove_scratch);
    for (unsigned helper = 1; helper < c->shares; helper++) {
        expand_helper(k, SOTTO_USAGE_PROOF_SHARE, helper, c->proof_len * c->proofs);
        c->flp->subtract(proofs, k->helper, c->proof_len * c->proofs);
    }
}

static sotto_status lay_out(client *k, sotto_arena *scratch, sotto_err *err)
{
    const sotto_circuit *c = k->c;
    size_t proofs = c->proof_len * c->proofs;
    size_t larger = c->meas_len > proofs ? c->meas_len : proofs;

    k->leader = sotto_arena_take(scratch, k->vdaf->sizes.leader_share);
    k->helper = sotto_arena_take(scratch, sotto_circuit_bytes(c, larger));
    k->meas = sotto_arena_take(scratch, sotto_circuit_bytes(c, c->meas_len));
    k->parts = sotto_arena_take(scratch, k->vdaf->sizes.public_share);
    k->prove_rand =
        sotto_arena_take(scratch, sotto_circuit_bytes(c, c->prove_rand_len * c->proofs));
    k->joint_rand =
        sotto_arena_take(scratch, sotto_circuit_bytes(c, c->joint_rand_len * c->proofs));
    k->prove_scratch = sotto_arena_take(scratch, c->flp->prove_scratch(c));
    if (!k->leader || !k->helper || !k->meas || !k->parts || !k->prove_rand || !k->joint_rand ||
        !k->prove_scratch)
        return sotto_fail(err, SOTTO_NO_MEMORY, "shard: the scratch arena is too small");
    return SOTTO_OK;
}

static sotto_status check_room(const sotto_prio3 *vdaf, const sotto_buf *public_share,
                               const sotto_buf *input_shares, sotto_err *err)
{
    bool fits = public_share->cap - public_share->len >= vdaf->sizes.public_share;

    for (unsigned s = 0; s < vdaf->circuit->shares; s++)
        fits = fits && input_shares[s].cap - input_shares[s].len >=
                           (s ? vdaf->sizes.helper_share : vdaf->sizes.leader_share);
    return fits ? SOTTO_OK
                : sotto_fail(err, SOTTO_TOO_LARGE, "shard: the shares' buffers are too small");
}

static void append(sotto_buf *out, const uint8_t *bytes, size_t len)
{
    if (len) /* room was checked before any work was done */
        memcpy(out->data + out->len, bytes, len);
    out->len += len;
}

static sotto_status split(client *k, sotto_buf *public_share, sotto_buf *input_shares,
                          sotto_measurement measurement, sotto_arena *scratch, sotto_err *err)
{
    const sotto_circuit *c = k->c;
    size_t leader_share = k->vdaf->sizes.leader_share;

    SOTTO_TRY(lay_out(k, scratch, err));
    bool fits = c->flp->encode(c, k->meas, measurement);
    SOTTO_DECLASSIFY(&fits, sizeof fits);
    if (!fits)
        return sotto_fail(err, SOTTO_DENIED, "measurement: not one of this type");

    share_measurement(k);
    if (k->seeds.blinds)
        derive_joint_rand(k);
    prove_and_share(k, measurement);
    if (k->seeds.blinds)
        memcpy(k->leader + leader_share - SEED, blind(&k->seeds, 0), SEED);

    append(public_share, k->parts, k->vdaf->sizes.public_share);
    append(&input_shares[0], k->leader, leader_share);
    for (unsigned helper = 1; helper < c->shares; helper++)
        append(&input_shares[helper], helper_seed(&k->seeds, helper), k->vdaf->sizes.helper_share);
    return SOTTO_OK;
}

sotto_status sotto_prio3_shard(const sotto_prio3 *vdaf, sotto_buf *public_share,
                               sotto_buf *input_shares, sotto_bytes context,
                               sotto_measurement measurement,
                               const uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE], sotto_bytes rand,
                               sotto_arena *scratch, sotto_err *err)
{
    const sotto_circuit *c = vdaf->circuit;
    client k = {.vdaf = vdaf, .c = c, .context = context, .nonce = nonce};
    sotto_arena_mark mark = sotto_arena_here(scratch);

    SOTTO_TRY(sotto_prio3_check_context(context, err));
    if (rand.len != vdaf->sizes.rand)
        return sotto_fail(err, SOTTO_MALFORMED, "rand: wanted %zu bytes, got %zu", vdaf->sizes.rand,
                          rand.len);
    SOTTO_TRY(check_room(vdaf, public_share, input_shares, err));
    k.seeds = (client_seeds){rand.data, c->joint_rand_len != 0, c->shares - 1};
    sotto_status status = split(&k, public_share, input_shares, measurement, scratch, err);
    sotto_arena_rollback(scratch, mark);
    /* Registers spill seeds and Keccak states below us. */
    sotto_wipe_stack();
    return status;
}
