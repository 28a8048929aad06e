#include "support/pine.h"

#include "vdaf/pine/ops.h"

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

void sotto_test_pine_forge(sotto_test *t, sotto_test_pine *p, sotto_test_pine_report *r,
                           const int64_t *vector, const sotto_test_lie *lie)
{
    const sotto_pine_scene scene = {&p->pine, p->context, r->nonce};

    CHECK_OK(t, sotto_pine_forge(&r->shares, &scene, r->rand, vector, lie, &t->arena, &t->err));
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
