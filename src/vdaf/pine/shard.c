/* The client: split a vector and prove that its norm is within the bound. */
#include "vdaf/pine/joint.h"

#include "base/declassify.h"
#include "base/stack.h"
#include "math/ct.h"
#include "math/wide.h"

#include <string.h>

/* `rand` cut into seeds, in the draft's order. */
enum { HELPER_MEAS, HELPER_PROOF, HELPER_WRAP, HELPER_JOINT, LEADER_WRAP, LEADER_JOINT, PROVE };

typedef struct client {
    sotto_pine_scene scene;
    const sotto_pine *pine;
    const sotto_pine_ops *f;
    const uint8_t *rand;
    uint8_t *leader; /* the leader's share as it is sent           */
    uint8_t *meas;   /* the measurement itself                     */
    uint8_t *helper; /* the helper's share of it, then of proofs   */
    uint8_t *dots;   /* dot products                               */
    uint8_t *prove_rand;
    uint8_t *joint_rand;
    void *prove_scratch;
    sotto_arena *arena;
} client;

static const uint8_t *seed_at(const client *k, unsigned which)
{
    return k->rand + which * k->pine->sizes.seed;
}

static sotto_status take(void *slot, sotto_arena *arena, size_t size, sotto_err *err)
{
    void *room = sotto_arena_take(arena, size);

    memcpy(slot, &room, sizeof room);
    return room ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "PINE report: no memory");
}

static sotto_status take_room(client *k, sotto_err *err)
{
    const sotto_pine *pine = k->pine;
    size_t size = k->f->element_size, proofs = sotto_pine_proof_elements(pine);
    size_t seeds =
        pine->config.norm_proofs * pine->norm.arity + pine->config.proofs * pine->main.arity;

    SOTTO_TRY(take(&k->meas, k->arena, pine->meas_len * size, err));
    SOTTO_TRY(take(&k->helper, k->arena, (pine->meas_len > proofs ? pine->meas_len : proofs) * size,
                   err));
    SOTTO_TRY(take(&k->dots, k->arena, pine->config.checks * size, err));
    SOTTO_TRY(take(&k->prove_rand, k->arena, seeds * size, err));
    SOTTO_TRY(take(&k->joint_rand, k->arena,
                   (size_t)SOTTO_PINE_JOINT_RAND * pine->config.proofs * size, err));
    return take(&k->prove_scratch, k->arena, k->f->scratch(pine), err);
}

/* The vector, its squared norm, and what is left of that to the bound's square. */
static sotto_status encode_head(client *k, const int64_t *vector, sotto_err *err)
{
    const sotto_pine *pine = k->pine;
    size_t d = (size_t)pine->config.dimension, size = k->f->element_size;
    sotto_u128 norm = 0, bound = pine->config.norm_bound;
    uint64_t wide = 0;

    for (size_t i = 0; i < d; i++) {
        uint64_t negative = sotto_ct_mask((uint64_t)vector[i] >> 63);
        uint64_t entry = ((uint64_t)vector[i] ^ negative) - negative;

        /* With every entry at most the bound, which has 48 bits, 2^26 squares do not overflow. */
        wide |= sotto_ct_less(pine->config.norm_bound, entry);
        norm += (sotto_u128)(entry & ~wide) * (entry & ~wide);
    }
    uint64_t fits = (uint64_t)(wide == 0) & (uint64_t)(norm <= bound * bound);
    SOTTO_DECLASSIFY(&fits, sizeof fits);
    if (!fits)
        return sotto_fail(err, SOTTO_TOO_LARGE, "vector: its norm is above the bound");
    k->f->encode(k->meas, vector, d);
    k->f->spell(k->meas + d * size, sotto_u128_low(norm), sotto_u128_high(norm), pine->norm_bits);
    norm = bound * bound - norm;
    k->f->spell(k->meas + (d + pine->norm_bits) * size, sotto_u128_low(norm), sotto_u128_high(norm),
                pine->norm_bits);
    return SOTTO_OK;
}

/* Parts of both parties over the first `count` elements of their shares, and the seed that they give. */
static sotto_status agree(client *k, uint8_t *parts, uint8_t *seed, bool wrap, size_t count,
                          sotto_err *err)
{
    sotto_pine_usage part = wrap ? SOTTO_PINE_WRAP_PART : SOTTO_PINE_JOINT_RAND_PART;
    sotto_pine_usage usage = wrap ? SOTTO_PINE_WRAP_SEED : SOTTO_PINE_JOINT_RAND_SEED;

    SOTTO_TRY(sotto_pine_part(parts, &k->scene, part, 0,
                              seed_at(k, wrap ? LEADER_WRAP : LEADER_JOINT), k->leader, count,
                              err));
    SOTTO_TRY(sotto_pine_part(parts + k->pine->sizes.seed, &k->scene, part, 1,
                              seed_at(k, wrap ? HELPER_WRAP : HELPER_JOINT), k->helper, count,
                              err));
    return sotto_pine_joint_seed(seed, &k->scene, usage, parts, err);
}

/* Spells every dot product, and marks the first `successes` that are small. SOTTO_AGAIN if there are too few. */
static sotto_status encode_dots(client *k, sotto_err *err)
{
    const sotto_pine *pine = k->pine;
    size_t size = k->f->element_size;
    uint64_t marked = 0;

    for (size_t i = 0; i < pine->config.checks; i++) {
        uint8_t *at = k->meas + (pine->head_len + i * (pine->wrap_bits + 1)) * size;
        uint64_t offset, small = k->f->within(&offset, k->dots + i * size, pine->wrap_bound);
        uint64_t success = small & sotto_ct_less(marked, pine->config.successes);

        k->f->spell(at, offset, 0, pine->wrap_bits);
        k->f->spell(at + pine->wrap_bits * size, success & 1, 0, 1);
        marked += success & 1;
    }
    uint64_t enough = marked == pine->config.successes;
    SOTTO_DECLASSIFY(&enough, sizeof enough);
    if (!enough)
        return sotto_fail(err, SOTTO_AGAIN, "PINE report: too few dot products are small");
    return SOTTO_OK;
}

/* Splits elements `from` to `to` of the measurement. */
static void split(client *k, size_t from, size_t to)
{
    size_t size = k->f->element_size;

    k->f->subtract(k->leader + from * size, k->meas + from * size, k->helper + from * size,
                   to - from);
}

static sotto_status draw_prove_rand(client *k, sotto_err *err)
{
    const sotto_pine_config *c = &k->pine->config;
    sotto_pine_purpose p = sotto_pine_purpose_of(&k->scene, SOTTO_PINE_PROVE_RANDOMNESS);

    p.binder[0] = (uint8_t)c->norm_proofs;
    p.binder[1] = (uint8_t)c->proofs;
    p.binder_len = 2;
    return sotto_pine_expand(k->prove_rand,
                             c->norm_proofs * k->pine->norm.arity + c->proofs * k->pine->main.arity,
                             &p, seed_at(k, PROVE), err);
}

static sotto_status prove(client *k, const uint8_t *joint_seed, sotto_err *err)
{
    const sotto_pine *pine = k->pine;
    size_t size = k->f->element_size;
    uint8_t *proof = k->leader + pine->meas_len * size;
    const uint8_t *rand = k->prove_rand, *joint = k->joint_rand;
    const sotto_pine_claim claim = {k->meas, k->dots};

    SOTTO_TRY(draw_prove_rand(k, err));
    SOTTO_TRY(sotto_pine_joint_rands(k->joint_rand, &k->scene, joint_seed, err));
    for (unsigned i = 0; i < pine->config.norm_proofs; i++) {
        k->f->prove_norm(pine, proof, k->meas, rand, k->prove_scratch);
        proof += pine->norm.proof_len * size;
        rand += pine->norm.arity * size;
    }
    for (unsigned i = 0; i < pine->config.proofs; i++) {
        k->f->prove_main(pine, proof, &claim, rand, joint, k->prove_scratch);
        proof += pine->main.proof_len * size;
        rand += pine->main.arity * size;
        joint += SOTTO_PINE_JOINT_RAND * size;
    }
    SOTTO_TRY(sotto_pine_proof_share(k->helper, &k->scene, seed_at(k, HELPER_PROOF), err));
    proof = k->leader + pine->meas_len * size;
    k->f->subtract(proof, proof, k->helper, sotto_pine_proof_elements(pine));
    return SOTTO_OK;
}

static sotto_status make(client *k, const sotto_pine_report *out, const int64_t *vector,
                         sotto_err *err)
{
    const sotto_pine *pine = k->pine;
    size_t seed = pine->sizes.seed;
    uint8_t joint[SOTTO_PINE_MAX_SEED];

    SOTTO_TRY(take_room(k, err));
    SOTTO_TRY(encode_head(k, vector, err));
    SOTTO_TRY(sotto_pine_meas_share(k->helper, &k->scene, seed_at(k, HELPER_MEAS), err));
    split(k, 0, pine->head_len);
    SOTTO_TRY(agree(k, out->public_share, joint, true, pine->head_len, err));
    SOTTO_TRY(sotto_pine_dots(k->dots, &k->scene, joint, k->meas, k->arena, err));
    SOTTO_TRY(encode_dots(k, err));
    split(k, pine->head_len, pine->meas_len);
    SOTTO_TRY(agree(k, out->public_share + 2 * seed, joint, false, pine->meas_len, err));
    SOTTO_TRY(prove(k, joint, err));
    memcpy(out->leader_share + pine->sizes.leader_share - 2 * seed, seed_at(k, LEADER_WRAP),
           2 * seed);
    memcpy(out->helper_share, k->rand, pine->sizes.helper_share);
    return SOTTO_OK;
}

sotto_status sotto_pine_shard(const sotto_pine *pine, const sotto_pine_report *out,
                              sotto_bytes context, const int64_t *vector,
                              const uint8_t nonce[SOTTO_PINE_NONCE], const uint8_t *rand,
                              sotto_arena *scratch, sotto_err *err)
{
    client k = {.scene = {pine, context, nonce},
                .pine = pine,
                .f = pine->config.field,
                .rand = rand,
                .leader = out->leader_share,
                .arena = scratch};
    sotto_arena_mark mark = sotto_arena_here(scratch);
    sotto_status status;

    if (context.len > SOTTO_PINE_MAX_CONTEXT)
        return sotto_fail(err, SOTTO_MALFORMED, "context: longer than %d bytes",
                          SOTTO_PINE_MAX_CONTEXT);
    status = make(&k, out, vector, err);
    sotto_arena_rollback(scratch, mark);
    if (status != SOTTO_OK)
        sotto_wipe(out->leader_share, pine->sizes.leader_share);
    sotto_wipe_stack();
    return status;
}
