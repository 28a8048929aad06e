#include "support/pine.h"

#include "vdaf/pine/joint.h"
#include "vdaf/pine/ops.h"

#include <string.h>

static const char context[] = "pine test";

sotto_test_pine sotto_test_pine_of(sotto_test *t, sotto_pine_config config, uint64_t seed)
{
    sotto_test_pine p = {0};

    if (!config.checks) {
        config.checks = config.successes = 100;
        config.alpha_tenths = 87;
        config.chunk = 64;
        config.norm_chunk = 16;
        config.norm_proofs = 1;
        config.proofs = config.field->bits == 128 ? 1 : 3;
    }
    if (config.wire == SOTTO_PINE_DRAFT20)
        p.context = sotto_bytes_of(context, sizeof context - 1);
    CHECK_OK(t, sotto_pine_init(&p.pine, &t->arena, &config, &t->err));
    sotto_sim_random_init(&p.random, seed);
    sotto_sim_random_bytes(&p.random, p.verify_key, sizeof p.verify_key);
    return p;
}

sotto_test_pine_report sotto_test_pine_report_of(sotto_test *t, sotto_test_pine *p)
{
    const sotto_pine_sizes *sizes = &p->pine.sizes;
    sotto_test_pine_report r = {.rand = sotto_test_take(t, sizes->rand),
                                .shares = {sotto_test_take(t, sizes->public_share),
                                           sotto_test_take(t, sizes->leader_share),
                                           sotto_test_take(t, sizes->helper_share)}};

    for (unsigned a = 0; a < 2; a++) {
        r.out[a] = sotto_test_take(t, sizes->out_share);
        r.verifier[a] = sotto_test_take(t, sizes->verifier_share);
    }
    sotto_sim_random_bytes(&p->random, r.nonce, sizeof r.nonce);
    sotto_sim_random_bytes(&p->random, r.rand, sizes->rand);
    return r;
}

sotto_status sotto_test_pine_shard(sotto_test *t, sotto_test_pine *p, sotto_test_pine_report *r,
                                   const int64_t *vector)
{
    return sotto_pine_shard(&p->pine, &r->shares, p->context, vector, r->nonce, r->rand, &t->arena,
                            &t->err);
}

/* ---- a client without checks --------------------------------------------------------------------- */

enum { HELPER_MEAS, HELPER_PROOF, HELPER_WRAP, HELPER_JOINT, LEADER_WRAP, LEADER_JOINT, PROVE };

typedef struct forger {
    sotto_test *t;
    const sotto_pine *pine;
    const sotto_pine_ops *f;
    sotto_pine_scene scene;
    sotto_test_pine_report *r;
    uint8_t *meas, *helper, *dots;
} forger;

static const uint8_t *seed_at(const forger *k, unsigned which)
{
    return k->r->rand + which * k->pine->sizes.seed;
}

static void agree(forger *k, uint8_t *parts, uint8_t *seed, bool wrap, size_t count)
{
    sotto_test *t = k->t;
    sotto_pine_usage part = wrap ? SOTTO_PINE_WRAP_PART : SOTTO_PINE_JOINT_RAND_PART;

    CHECK_OK(t, sotto_pine_part(parts, &k->scene, part, 0,
                                seed_at(k, wrap ? LEADER_WRAP : LEADER_JOINT),
                                k->r->shares.leader_share, count, &t->err));
    CHECK_OK(t, sotto_pine_part(parts + k->pine->sizes.seed, &k->scene, part, 1,
                                seed_at(k, wrap ? HELPER_WRAP : HELPER_JOINT), k->helper, count,
                                &t->err));
    CHECK_OK(t, sotto_pine_joint_seed(seed, &k->scene,
                                      wrap ? SOTTO_PINE_WRAP_SEED : SOTTO_PINE_JOINT_RAND_SEED,
                                      parts, &t->err));
}

static void spell_dots(forger *k, bool all_succeed)
{
    size_t size = k->f->element_size;
    unsigned marked = 0;

    for (size_t i = 0; i < k->pine->config.checks; i++) {
        uint8_t *at = k->meas + (k->pine->head_len + i * (k->pine->wrap_bits + 1)) * size;
        uint64_t offset, small = k->f->within(&offset, k->dots + i * size, k->pine->wrap_bound);
        bool mark = all_succeed || (small && marked < k->pine->config.successes);

        k->f->spell(at, offset, 0, k->pine->wrap_bits);
        k->f->spell(at + k->pine->wrap_bits * size, mark, 0, 1);
        marked += mark;
    }
}

static void prove(forger *k, const uint8_t *joint_seed)
{
    sotto_test *t = k->t;
    const sotto_pine_config *c = &k->pine->config;
    size_t size = k->f->element_size;
    size_t seeds = c->norm_proofs * k->pine->norm.arity + c->proofs * k->pine->main.arity;
    uint8_t *rand = sotto_test_take(t, seeds * size);
    uint8_t *joint = sotto_test_take(t, 3 * c->proofs * size);
    void *scratch = sotto_test_take(t, k->f->scratch(k->pine));
    uint8_t *proof = k->r->shares.leader_share + k->pine->meas_len * size, *proofs = proof;
    const sotto_pine_claim claim = {k->meas, k->dots};
    sotto_pine_purpose p = sotto_pine_purpose_of(&k->scene, SOTTO_PINE_PROVE_RANDOMNESS);

    CHECK_OK(t, sotto_pine_expand(rand, seeds, &p, seed_at(k, PROVE), &t->err));
    CHECK_OK(t, sotto_pine_joint_rands(joint, &k->scene, joint_seed, &t->err));
    for (unsigned i = 0; i < c->norm_proofs; i++, rand += k->pine->norm.arity * size) {
        k->f->prove_norm(k->pine, proof, k->meas, rand, scratch);
        proof += k->pine->norm.proof_len * size;
    }
    for (unsigned i = 0; i < c->proofs; i++, rand += k->pine->main.arity * size) {
        k->f->prove_main(k->pine, proof, &claim, rand, joint + 3 * i * size, scratch);
        proof += k->pine->main.proof_len * size;
    }
    uint8_t *share = sotto_test_take(t, sotto_pine_proof_elements(k->pine) * size);
    CHECK_OK(t, sotto_pine_proof_share(share, &k->scene, seed_at(k, HELPER_PROOF), &t->err));
    k->f->subtract(proofs, proofs, share, sotto_pine_proof_elements(k->pine));
}

static void encode_head(forger *k, const int64_t *vector, uint64_t norm)
{
    size_t d = (size_t)k->pine->config.dimension, size = k->f->element_size;
    uint64_t bound = k->pine->config.norm_bound;

    k->f->encode(k->meas, vector, d);
    k->f->spell(k->meas + d * size, norm, 0, k->pine->norm_bits);
    k->f->spell(k->meas + (d + k->pine->norm_bits) * size, bound * bound - norm, 0,
                k->pine->norm_bits);
}

void sotto_test_pine_forge(sotto_test *t, sotto_test_pine *p, sotto_test_pine_report *r,
                           const int64_t *vector, const sotto_test_lie *lie)
{
    const sotto_pine *pine = &p->pine;
    size_t size = pine->config.field->element_size, seed_len = pine->sizes.seed;
    forger k = {.t = t,
                .pine = pine,
                .f = pine->config.field,
                .scene = {pine, p->context, r->nonce},
                .r = r,
                .meas = sotto_test_take(t, pine->meas_len * size),
                .helper = sotto_test_take(t, pine->meas_len * size),
                .dots = sotto_test_take(t, pine->config.checks * size)};
    uint8_t joint[SOTTO_PINE_MAX_SEED];

    encode_head(&k, vector, lie->norm);
    if (lie->edit && !lie->edit_dots)
        lie->edit(pine, k.meas);
    CHECK_OK(t, sotto_pine_meas_share(k.helper, &k.scene, seed_at(&k, HELPER_MEAS), &t->err));
    k.f->subtract(r->shares.leader_share, k.meas, k.helper, pine->head_len);
    agree(&k, r->shares.public_share, joint, true, pine->head_len);
    CHECK_OK(t, sotto_pine_dots(k.dots, &k.scene, joint, k.meas, &t->arena, &t->err));
    spell_dots(&k, lie->all_succeed);
    if (lie->edit && lie->edit_dots)
        lie->edit(pine, k.meas);
    k.f->subtract(r->shares.leader_share, k.meas, k.helper, pine->meas_len);
    agree(&k, r->shares.public_share + 2 * seed_len, joint, false, pine->meas_len);
    prove(&k, joint);
    memcpy(r->shares.leader_share + pine->sizes.leader_share - 2 * seed_len,
           seed_at(&k, LEADER_WRAP), 2 * seed_len);
    memcpy(r->shares.helper_share, r->rand, pine->sizes.helper_share);
}

/* ---- aggregators --------------------------------------------------------------------------------- */

sotto_status sotto_test_pine_verify(sotto_test *t, sotto_test_pine *p, sotto_test_pine_report *r)
{
    const sotto_pine_sizes *sizes = &p->pine.sizes;
    uint8_t message[2 * SOTTO_PINE_MAX_SEED];

    for (unsigned a = 0; a < 2; a++) {
        sotto_pine_input input = {
            .aggregator = a,
            .nonce = r->nonce,
            .public_share = sotto_bytes_of(r->shares.public_share, sizes->public_share),
            .input_share = a ? sotto_bytes_of(r->shares.helper_share, sizes->helper_share)
                             : sotto_bytes_of(r->shares.leader_share, sizes->leader_share)};

        SOTTO_TRY(sotto_pine_verify_init(&p->pine, &r->state[a], r->out[a], r->verifier[a],
                                         p->verify_key, p->context, &input, &t->arena, &t->err));
    }
    SOTTO_TRY(sotto_pine_verifier_shares_to_message(
        &p->pine, message, p->context, sotto_bytes_of(r->verifier[0], sizes->verifier_share),
        sotto_bytes_of(r->verifier[1], sizes->verifier_share), &t->err));
    for (unsigned a = 0; a < 2; a++)
        SOTTO_TRY(sotto_pine_verify_next(
            &p->pine, &r->state[a], sotto_bytes_of(message, sizes->verifier_message), &t->err));
    return SOTTO_OK;
}
