#include "support/pine_forger.h"

#include "base/arena.h"
#include "vdaf/pine/ops.h"

#include <string.h>

enum { HELPER_MEAS, HELPER_PROOF, HELPER_WRAP, HELPER_JOINT, LEADER_WRAP, LEADER_JOINT, PROVE };

typedef struct forger {
    const sotto_pine_scene *scene;
    const sotto_pine *pine;
    const sotto_pine_ops *f;
    const sotto_pine_report *out;
    const uint8_t *rand;
    sotto_err *err;
    uint8_t *meas, *helper, *dots, *coins, *joint, *share;
    void *scratch;
} forger;

static const uint8_t *seed_at(const forger *k, unsigned which)
{
    return k->rand + which * k->pine->sizes.seed;
}

static size_t coins_of(const sotto_pine *pine)
{
    return pine->config.norm_proofs * pine->norm.arity + pine->config.proofs * pine->main.arity;
}

static sotto_status open_forger(forger *k, sotto_arena *arena)
{
    const sotto_pine *pine = k->pine;
    const size_t size = k->f->element_size;

    k->meas = sotto_arena_take(arena, pine->meas_len * size);
    k->helper = sotto_arena_take(arena, pine->meas_len * size);
    k->dots = sotto_arena_take(arena, pine->config.checks * size);
    k->coins = sotto_arena_take(arena, coins_of(pine) * size);
    k->joint = sotto_arena_take(arena, 3 * pine->config.proofs * size);
    k->share = sotto_arena_take(arena, sotto_pine_proof_elements(pine) * size);
    k->scratch = sotto_arena_take(arena, k->f->scratch(pine));
    return k->meas && k->helper && k->dots && k->coins && k->joint && k->share && k->scratch
               ? SOTTO_OK
               : sotto_fail(k->err, SOTTO_NO_MEMORY, "no memory for a forger");
}

static sotto_status agree(forger *k, uint8_t *parts, uint8_t *seed, bool wrap, size_t count)
{
    const sotto_pine_usage part = wrap ? SOTTO_PINE_WRAP_PART : SOTTO_PINE_JOINT_RAND_PART;

    SOTTO_TRY(sotto_pine_part(parts, k->scene, part, 0,
                              seed_at(k, wrap ? LEADER_WRAP : LEADER_JOINT), k->out->leader_share,
                              count, k->err));
    SOTTO_TRY(sotto_pine_part(parts + k->pine->sizes.seed, k->scene, part, 1,
                              seed_at(k, wrap ? HELPER_WRAP : HELPER_JOINT), k->helper, count,
                              k->err));
    return sotto_pine_joint_seed(
        seed, k->scene, wrap ? SOTTO_PINE_WRAP_SEED : SOTTO_PINE_JOINT_RAND_SEED, parts, k->err);
}

static void spell_dots(forger *k, bool all_succeed)
{
    const size_t size = k->f->element_size;
    unsigned marked = 0;

    for (size_t i = 0; i < k->pine->config.checks; i++) {
        uint8_t *at = k->meas + (k->pine->head_len + i * (k->pine->wrap_bits + 1)) * size;
        uint64_t offset, small = k->f->within(&offset, k->dots + i * size, k->pine->wrap_bound);
        const bool mark = all_succeed || (small && marked < k->pine->config.successes);

        k->f->spell(at, offset, 0, k->pine->wrap_bits);
        k->f->spell(at + k->pine->wrap_bits * size, mark, 0, 1);
        marked += mark;
    }
}

static sotto_status prove(forger *k, const uint8_t *joint_seed)
{
    const sotto_pine_config *c = &k->pine->config;
    const size_t size = k->f->element_size;
    uint8_t *proof = k->out->leader_share + k->pine->meas_len * size, *proofs = proof,
            *coins = k->coins;
    const sotto_pine_claim claim = {k->meas, k->dots};
    sotto_pine_purpose p = sotto_pine_purpose_of(k->scene, SOTTO_PINE_PROVE_RANDOMNESS);

    SOTTO_TRY(sotto_pine_expand(coins, coins_of(k->pine), &p, seed_at(k, PROVE), k->err));
    SOTTO_TRY(sotto_pine_joint_rands(k->joint, k->scene, joint_seed, k->err));
    for (unsigned i = 0; i < c->norm_proofs; i++, coins += k->pine->norm.arity * size) {
        k->f->prove_norm(k->pine, proof, k->meas, coins, k->scratch);
        proof += k->pine->norm.proof_len * size;
    }
    for (unsigned i = 0; i < c->proofs; i++, coins += k->pine->main.arity * size) {
        k->f->prove_main(k->pine, proof, &claim, coins, k->joint + 3 * i * size, k->scratch);
        proof += k->pine->main.proof_len * size;
    }
    SOTTO_TRY(sotto_pine_proof_share(k->share, k->scene, seed_at(k, HELPER_PROOF), k->err));
    k->f->subtract(proofs, proofs, k->share, sotto_pine_proof_elements(k->pine));
    return SOTTO_OK;
}

static void encode_head(forger *k, const int64_t *vector, uint64_t norm)
{
    const size_t d = (size_t)k->pine->config.dimension, size = k->f->element_size;
    const uint64_t bound = k->pine->config.norm_bound;

    k->f->encode(k->meas, vector, d);
    k->f->spell(k->meas + d * size, norm, 0, k->pine->norm_bits);
    k->f->spell(k->meas + (d + k->pine->norm_bits) * size, bound * bound - norm, 0,
                k->pine->norm_bits);
}

sotto_status sotto_pine_forge(sotto_pine_report *out, const sotto_pine_scene *scene,
                              const uint8_t *rand, const int64_t *vector, const sotto_test_lie *lie,
                              sotto_arena *arena, sotto_err *err)
{
    const sotto_pine *pine = scene->pine;
    const size_t seed_len = pine->sizes.seed;
    forger k = {.scene = scene,
                .pine = pine,
                .f = pine->config.field,
                .out = out,
                .rand = rand,
                .err = err};
    uint8_t joint[SOTTO_PINE_MAX_SEED];

    SOTTO_TRY(open_forger(&k, arena));
    encode_head(&k, vector, lie->norm);
    if (lie->edit && !lie->edit_dots)
        lie->edit(pine, k.meas);
    SOTTO_TRY(sotto_pine_meas_share(k.helper, scene, seed_at(&k, HELPER_MEAS), err));
    k.f->subtract(out->leader_share, k.meas, k.helper, pine->head_len);
    SOTTO_TRY(agree(&k, out->public_share, joint, true, pine->head_len));
    SOTTO_TRY(sotto_pine_dots(k.dots, scene, joint, k.meas, arena, err));
    spell_dots(&k, lie->all_succeed);
    if (lie->edit && lie->edit_dots)
        lie->edit(pine, k.meas);
    k.f->subtract(out->leader_share, k.meas, k.helper, pine->meas_len);
    SOTTO_TRY(agree(&k, out->public_share + 2 * seed_len, joint, false, pine->meas_len));
    SOTTO_TRY(prove(&k, joint));
    memcpy(out->leader_share + pine->sizes.leader_share - 2 * seed_len, seed_at(&k, LEADER_WRAP),
           2 * seed_len);
    memcpy(out->helper_share, rand, pine->sizes.helper_share);
    return SOTTO_OK;
}
