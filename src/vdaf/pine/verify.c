/* The aggregators: check a share's proofs together, add shares up. */
#include "vdaf/pine/joint.h"

#include "base/declassify.h"
#include "base/rule.h"

#include <string.h>

/* A report's share laid open. */
typedef struct opened {
    sotto_pine_scene scene;
    const sotto_pine *pine;
    const sotto_pine_ops *f;
    unsigned aggregator;
    const uint8_t *meas;
    const uint8_t *proofs;
    const uint8_t *blinds; /* for dot products, then for the main proof */
    uint8_t *dots;
    uint8_t *joint_rand;
    uint8_t *query_rand;
    void *query_scratch;
    sotto_arena *arena;
} opened;

static sotto_status take(void *slot, sotto_arena *arena, size_t size, sotto_err *err)
{
    void *room = sotto_arena_take(arena, size);

    memcpy(slot, &room, sizeof room);
    return room ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "PINE share: no memory");
}

static sotto_status open_leader(opened *o, sotto_bytes share, sotto_err *err)
{
    size_t elements = o->pine->meas_len + sotto_pine_proof_elements(o->pine);
    uint64_t good = o->f->canonical(share.data, elements);

    SOTTO_DECLASSIFY(&good, sizeof good);
    if (SOTTO_RULE(pine_elements_canonical) && !good)
        return sotto_fail(err, SOTTO_MALFORMED, "leader's share: an element is above the modulus");
    o->meas = share.data;
    o->proofs = o->meas + o->pine->meas_len * o->f->element_size;
    o->blinds = share.data + elements * o->f->element_size;
    return SOTTO_OK;
}

static sotto_status open_helper(opened *o, sotto_bytes share, sotto_err *err)
{
    size_t seed = o->pine->sizes.seed, size = o->f->element_size;
    uint8_t *meas, *proofs;

    SOTTO_TRY(take(&meas, o->arena, o->pine->meas_len * size, err));
    SOTTO_TRY(take(&proofs, o->arena, sotto_pine_proof_elements(o->pine) * size, err));
    SOTTO_TRY(sotto_pine_meas_share(meas, &o->scene, share.data, err));
    SOTTO_TRY(sotto_pine_proof_share(proofs, &o->scene, share.data + seed, err));
    o->meas = meas;
    o->proofs = proofs;
    o->blinds = share.data + 2 * seed;
    return SOTTO_OK;
}

static sotto_status open_share(opened *o, const sotto_pine_input *input, sotto_err *err)
{
    const sotto_pine_sizes *sizes = &o->pine->sizes;
    size_t size = o->f->element_size;
    size_t wanted = input->aggregator ? sizes->helper_share : sizes->leader_share;
    size_t queries = o->pine->config.norm_proofs + o->pine->config.proofs;

    if (input->input_share.len != wanted || input->public_share.len != sizes->public_share)
        return sotto_fail(err, SOTTO_MALFORMED, "PINE share: wrong length");
    SOTTO_TRY(take(&o->dots, o->arena, o->pine->config.checks * size, err));
    SOTTO_TRY(take(&o->joint_rand, o->arena,
                   (size_t)SOTTO_PINE_JOINT_RAND * o->pine->config.proofs * size, err));
    SOTTO_TRY(take(&o->query_rand, o->arena, queries * size, err));
    SOTTO_TRY(take(&o->query_scratch, o->arena, o->f->scratch(o->pine), err));
    return input->aggregator ? open_helper(o, input->input_share, err)
                             : open_leader(o, input->input_share, err);
}

/* This party's own part, and the seed that it gives with the part that the client says the other has. */
static sotto_status correct_seed(const opened *o, uint8_t *part, uint8_t *seed, bool wrap,
                                 const uint8_t *claimed, sotto_err *err)
{
    size_t len = o->pine->sizes.seed;
    uint8_t parts[2 * SOTTO_PINE_MAX_SEED];

    SOTTO_TRY(sotto_pine_part(
        part, &o->scene, wrap ? SOTTO_PINE_WRAP_PART : SOTTO_PINE_JOINT_RAND_PART, o->aggregator,
        o->blinds + (wrap ? 0 : len), o->meas, wrap ? o->pine->head_len : o->pine->meas_len, err));
    memcpy(parts, claimed, 2 * len);
    memcpy(parts + o->aggregator * len, part, len);
    return sotto_pine_joint_seed(
        seed, &o->scene, wrap ? SOTTO_PINE_WRAP_SEED : SOTTO_PINE_JOINT_RAND_SEED, parts, err);
}

static sotto_status draw_query_rand(opened *o, const uint8_t *verify_key, sotto_err *err)
{
    const sotto_pine_config *c = &o->pine->config;
    sotto_pine_purpose p = sotto_pine_purpose_of(&o->scene, SOTTO_PINE_QUERY_RANDOMNESS);

    p.binder[0] = (uint8_t)c->norm_proofs;
    p.binder[1] = (uint8_t)c->proofs;
    memcpy(p.binder + 2, o->scene.nonce, SOTTO_PINE_NONCE);
    p.binder_len = 2 + SOTTO_PINE_NONCE;
    return sotto_pine_expand(o->query_rand, c->norm_proofs + c->proofs, &p, verify_key, err);
}

static bool query_all(const opened *o, uint8_t *verifier)
{
    const sotto_pine *pine = o->pine;
    size_t size = o->f->element_size;
    const uint8_t *proof = o->proofs, *point = o->query_rand, *joint = o->joint_rand;
    const sotto_pine_claim claim = {o->meas, o->dots};
    bool good = true;

    for (unsigned i = 0; i < pine->config.norm_proofs; i++, point += size) {
        good &= o->f->query_norm(pine, verifier, o->meas, proof, point, o->query_scratch);
        verifier += pine->norm.verifier_len * size;
        proof += pine->norm.proof_len * size;
    }
    for (unsigned i = 0; i < pine->config.proofs; i++, point += size) {
        good &= o->f->query_main(pine, verifier, &claim, proof, point, joint, o->query_scratch);
        verifier += pine->main.verifier_len * size;
        proof += pine->main.proof_len * size;
        joint += SOTTO_PINE_JOINT_RAND * size;
    }
    return good;
}

static sotto_status verify(opened *o, sotto_pine_state *state, uint8_t *out_share,
                           uint8_t *verifier_share, const uint8_t *verify_key,
                           const sotto_pine_input *input, sotto_err *err)
{
    const sotto_pine *pine = o->pine;
    size_t seed = pine->sizes.seed;
    uint8_t *parts = verifier_share + pine->sizes.verifier_share - 2 * seed;
    const uint8_t *claimed = input->public_share.data;

    SOTTO_TRY(open_share(o, input, err));
    SOTTO_TRY(correct_seed(o, parts, state->seeds, true, claimed, err));
    SOTTO_TRY(sotto_pine_dots(o->dots, &o->scene, state->seeds, o->meas, o->arena, err));
    SOTTO_TRY(correct_seed(o, parts + seed, state->seeds + seed, false, claimed + 2 * seed, err));
    SOTTO_TRY(sotto_pine_joint_rands(o->joint_rand, &o->scene, state->seeds + seed, err));
    SOTTO_TRY(draw_query_rand(o, verify_key, err));
    bool good = query_all(o, verifier_share);
    SOTTO_DECLASSIFY(&good, sizeof good);
    if (!good)
        return sotto_fail(err, SOTTO_REJECTED, "PINE share: the query point is a root of unity");
    memcpy(out_share, o->meas, pine->sizes.out_share);
    return SOTTO_OK;
}

sotto_status sotto_pine_verify_init(const sotto_pine *pine, sotto_pine_state *state,
                                    uint8_t *out_share, uint8_t *verifier_share,
                                    const uint8_t *verify_key, sotto_bytes context,
                                    const sotto_pine_input *input, sotto_arena *scratch,
                                    sotto_err *err)
{
    opened o = {.scene = {pine, context, input->nonce},
                .pine = pine,
                .f = pine->config.field,
                .aggregator = input->aggregator,
                .arena = scratch};
    sotto_arena_mark mark = sotto_arena_here(scratch);
    sotto_status status;

    if (input->aggregator > 1)
        return sotto_fail(err, SOTTO_BUG, "PINE has two aggregators, not %u",
                          input->aggregator + 1);
    if (context.len > SOTTO_PINE_MAX_CONTEXT)
        return sotto_fail(err, SOTTO_MALFORMED, "context: longer than %d bytes",
                          SOTTO_PINE_MAX_CONTEXT);
    status = verify(&o, state, out_share, verifier_share, verify_key, input, err);
    sotto_arena_rollback(scratch, mark);
    return status;
}

/* ---- decision ------------------------------------------------------------------------------------ */

static sotto_status decide_all(const sotto_pine *pine, const uint8_t *leader, const uint8_t *helper,
                               sotto_err *err)
{
    const sotto_pine_ops *f = pine->config.field;
    size_t norm = pine->norm.verifier_len * f->element_size;
    size_t main = pine->main.verifier_len * f->element_size;
    bool norms = true, mains = true;

    for (unsigned i = 0; i < pine->config.norm_proofs; i++, leader += norm, helper += norm)
        norms &= f->decide_norm(pine, leader, helper);
    for (unsigned i = 0; i < pine->config.proofs; i++, leader += main, helper += main)
        mains &= f->decide_main(pine, leader, helper);
    if (SOTTO_RULE(pine_norm_proved) && !norms)
        return sotto_fail(err, SOTTO_REJECTED, "PINE: the proof of the norm does not hold");
    if (SOTTO_RULE(pine_bits_and_dots_proved) && !mains)
        return sotto_fail(err, SOTTO_REJECTED,
                          "PINE: the proof of bits and dot products does not hold");
    return SOTTO_OK;
}

sotto_status sotto_pine_verifier_shares_to_message(const sotto_pine *pine, uint8_t *message,
                                                   sotto_bytes context, sotto_bytes leader,
                                                   sotto_bytes helper, sotto_err *err)
{
    const sotto_pine_scene scene = {.pine = pine, .context = context};
    const sotto_pine_ops *f = pine->config.field;
    size_t seed = pine->sizes.seed, parts_at = pine->sizes.verifier_share - 2 * seed;
    size_t elements = parts_at / f->element_size;
    uint8_t parts[2 * SOTTO_PINE_MAX_SEED];

    if (leader.len != pine->sizes.verifier_share || helper.len != pine->sizes.verifier_share)
        return sotto_fail(err, SOTTO_MALFORMED, "verifier share: wrong length");
    if (SOTTO_RULE(pine_verifiers_canonical) &&
        (!f->canonical(leader.data, elements) || !f->canonical(helper.data, elements)))
        return sotto_fail(err, SOTTO_MALFORMED, "verifier share: an element is above the modulus");
    SOTTO_TRY(decide_all(pine, leader.data, helper.data, err));
    for (unsigned wrap = 0; wrap < 2; wrap++) {
        memcpy(parts, leader.data + parts_at + wrap * seed, seed);
        memcpy(parts + seed, helper.data + parts_at + wrap * seed, seed);
        SOTTO_TRY(sotto_pine_joint_seed(message + wrap * seed, &scene,
                                        wrap ? SOTTO_PINE_JOINT_RAND_SEED : SOTTO_PINE_WRAP_SEED,
                                        parts, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_pine_verify_next(const sotto_pine *pine, const sotto_pine_state *state,
                                    sotto_bytes message, sotto_err *err)
{
    if (message.len != pine->sizes.verifier_message)
        return sotto_fail(err, SOTTO_MALFORMED, "verifier message: wrong length");
    if (SOTTO_RULE(pine_joint_randomness_agreed) &&
        !sotto_bytes_equal(message, sotto_bytes_of(state->seeds, pine->sizes.verifier_message)))
        return sotto_fail(err, SOTTO_REJECTED, "PINE: joint randomness differs");
    return SOTTO_OK;
}

/* ---- sums ------------------------------------------------------------------------------------------ */

void sotto_pine_accumulate(const sotto_pine *pine, uint8_t *agg, const uint8_t *out_share)
{
    pine->config.field->add(agg, out_share, (size_t)pine->config.dimension);
}

sotto_status sotto_pine_unshard(const sotto_pine *pine, int64_t *result, const uint8_t *leader,
                                const uint8_t *helper, sotto_err *err)
{
    const sotto_pine_ops *f = pine->config.field;
    bool fits = true;

    for (size_t i = 0; i < pine->config.dimension; i++)
        fits &= f->decode(&result[i], leader + i * f->element_size, helper + i * f->element_size);
    return fits ? SOTTO_OK
                : sotto_fail(err, SOTTO_TOO_LARGE, "PINE sum: an entry has over 63 bits");
}
