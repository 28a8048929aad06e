/* Vectors of PINE: dense ones of both signs, one at the bound, one of zeros. Then reports damaged in one place, and forged ones, whose
 * vectors are longer than their proofs say. */
#include "generate.h"

#include <stdio.h>
#include <string.h>

#include "math/field64.h"
#include "support/pine_forger.h"
#include "vdaf/pine/ops.h"
#include "vdaf/pine/pine.h"

enum { DIMENSION = 9, BOUND = 64, FRAC_BITS = 4, REPORTS = 5, CHECKS = 20, OUR_CHECKS = 90 };

typedef enum pine_kind {
    HONEST = 0,
    DAMAGED, /* every report but the first is damaged in one place    */
    FORGED   /* every report but the first lies, as `forgeries` says  */
} pine_kind;

typedef struct pine_plan {
    const char *name;
    const sotto_pine_ops *field;
    const char *field_name;
    sotto_pine_wire wire;
    sotto_pine_xof xof;
    uint32_t algorithm;
    pine_kind kind;
} pine_plan;

static const pine_plan plans[] = {
    {"Pine64_dense", &sotto_pine_ops64, "Field64", SOTTO_PINE_DRAFT20, SOTTO_PINE_TURBOSHAKE,
     0xffffffff, HONEST},
    {"Pine64_damaged", &sotto_pine_ops64, "Field64", SOTTO_PINE_DRAFT20, SOTTO_PINE_TURBOSHAKE,
     0xffffffff, DAMAGED},
    {"Pine64_forged", &sotto_pine_ops64, "Field64", SOTTO_PINE_DRAFT20, SOTTO_PINE_TURBOSHAKE,
     0xffffffff, FORGED},
    {"Pine128_dense", &sotto_pine_ops128, "Field128", SOTTO_PINE_DRAFT20, SOTTO_PINE_TURBOSHAKE,
     0xffffffff, HONEST},
    {"Pine64HmacSha256Aes128_dense", &sotto_pine_ops64, "Field64", SOTTO_PINE_DRAFT20,
     SOTTO_PINE_HMAC_AES, 0xffff1004, HONEST},
    {"Pine64_dense", &sotto_pine_ops64, "Field64", SOTTO_PINE_DRAFT11, SOTTO_PINE_TURBOSHAKE,
     0xffffffff, HONEST},
    {"Pine32HmacSha256Aes128_dense", &sotto_pine_ops32, "Field32", SOTTO_PINE_DRAFT11,
     SOTTO_PINE_HMAC_AES, 0xffff1005, HONEST},
    {"Pine40HmacSha256Aes128_dense", &sotto_pine_ops40, "Field40", SOTTO_PINE_DRAFT11,
     SOTTO_PINE_HMAC_AES, 0xffff1006, HONEST},
};

/* What is sent in the place of a vector within the bound, and what its proof says of it. */
typedef struct forgery {
    int64_t vector[DIMENSION];
    uint64_t wraps; /* not 0: squares add up to the modulus and this, in place of `vector` */
    sotto_test_lie lie;
} forgery;

/* Of all reports but the first. */
static const forgery forgeries[REPORTS - 1] = {
    {.vector = {-64, 1}, .lie = {.norm = 4096}},              /* one above */
    {.vector = {13, -20, 38, 60, -5}, .lie = {.norm = 4096}}, /* far above */
    {.wraps = 50, .lie = {.norm = 50}},
    {.wraps = 50, .lie = {.norm = 50, .all_succeed = true}},
};

typedef struct pine_gen {
    sotto_gen *gen;
    const pine_plan *plan;
    sotto_pine pine;
    sotto_bytes context, verify_key;
    json_t *root, *reports;
    uint8_t *agg[2];
    int64_t sum[DIMENSION];
} pine_gen;

/* One report in the making. */
typedef struct pine_report {
    int64_t vector[DIMENSION];
    sotto_bytes nonce, rand;
    sotto_pine_report shares;
    uint8_t *out[2], *verifier[2];
    bool rejected;
} pine_report;

static sotto_status take(void *slot, sotto_gen *gen, size_t size, sotto_err *err)
{
    void *room = sotto_arena_take(gen->arena, size);

    memcpy(slot, &room, sizeof room);
    return room ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "no memory");
}

/* The second is at the bound, the third is zeros, the others are drawn. */
static void draw_vector(pine_gen *g, pine_report *r, unsigned index)
{
    static const int64_t at_bound[DIMENSION] = {-48, 36, 8, 4, 16, -8, 8, -4, 4};

    for (size_t i = 0; i < DIMENSION; i++)
        r->vector[i] = index == 2 ? 0 : (int64_t)sotto_gen_number(g->gen, 40) - 20;
    if (index == 1)
        memcpy(r->vector, at_bound, sizeof at_bound);
}

static uint64_t root_of(sotto_u128 x)
{
    uint64_t root = 0;

    for (unsigned bit = 64; bit-- > 0;) {
        const sotto_u128 next = root | (uint64_t)1 << bit;

        root = next * next <= x ? (uint64_t)next : root;
    }
    return root;
}

/* The vector of a forgery. Squares that add up to the modulus of Field64 and a little are, modulo it, a norm of that little. */
static sotto_status take_forged(pine_report *r, const forgery *f, sotto_err *err)
{
    sotto_u128 left = f->wraps ? (sotto_u128)SOTTO_F64_P + f->wraps : 0;

    memcpy(r->vector, f->vector, sizeof r->vector);
    for (size_t i = 0; left > 0 && i < DIMENSION; i++) {
        r->vector[i] = (int64_t)root_of(left);
        left -= (sotto_u128)(uint64_t)r->vector[i] * (uint64_t)r->vector[i];
    }
    r->rejected = true;
    return left == 0 ? SOTTO_OK : sotto_fail(err, SOTTO_BUG, "PINE: no such sum of squares");
}

static sotto_status shard(pine_gen *g, pine_report *r, const forgery *f, sotto_err *err)
{
    const sotto_pine_scene scene = {&g->pine, g->context, r->nonce.data};

    if (f)
        return sotto_pine_forge(&r->shares, &scene, r->rand.data, r->vector, &f->lie, g->gen->arena,
                                err);
    return sotto_pine_shard(&g->pine, &r->shares, g->context, r->vector, r->nonce.data,
                            r->rand.data, g->gen->arena, NULL);
}

static sotto_status make_report(pine_gen *g, pine_report *r, unsigned index, sotto_err *err)
{
    const sotto_pine_sizes *sizes = &g->pine.sizes;
    const forgery *f = g->plan->kind == FORGED && index > 0 ? &forgeries[index - 1] : NULL;
    sotto_status status;

    SOTTO_TRY(take(&r->shares.public_share, g->gen, sizes->public_share, err));
    SOTTO_TRY(take(&r->shares.leader_share, g->gen, sizes->leader_share, err));
    SOTTO_TRY(take(&r->shares.helper_share, g->gen, sizes->helper_share, err));
    if (f)
        SOTTO_TRY(take_forged(r, f, err));
    else
        draw_vector(g, r, index);
    SOTTO_TRY(sotto_gen_bytes(g->gen, &r->nonce, SOTTO_PINE_NONCE, err));
    do {
        SOTTO_TRY(sotto_gen_bytes(g->gen, &r->rand, sizes->rand, err));
        status = shard(g, r, f, err);
    } while (status == SOTTO_AGAIN);
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "PINE: a vector can't be split");
}

/* One bit of: the leader's proofs, the helper's seed, its blind, the nonce (a report used again). */
static void damage(const pine_gen *g, pine_report *r, unsigned index)
{
    const sotto_pine_sizes *sizes = &g->pine.sizes;
    uint8_t *places[] = {r->shares.leader_share + g->pine.meas_len * g->plan->field->element_size,
                         r->shares.helper_share, r->shares.helper_share + 2 * sizes->seed,
                         (uint8_t *)(uintptr_t)r->nonce.data};

    *places[(index - 1) % 4] ^= 1;
    r->rejected = true;
}

static sotto_status verify(pine_gen *g, pine_report *r, uint8_t *message, sotto_err *err)
{
    const sotto_pine_sizes *sizes = &g->pine.sizes;
    sotto_pine_state state;

    for (unsigned a = 0; a < 2; a++) {
        sotto_pine_input input = {
            .aggregator = a,
            .nonce = r->nonce.data,
            .public_share = sotto_bytes_of(r->shares.public_share, sizes->public_share),
            .input_share = a ? sotto_bytes_of(r->shares.helper_share, sizes->helper_share)
                             : sotto_bytes_of(r->shares.leader_share, sizes->leader_share)};

        SOTTO_TRY(take(&r->out[a], g->gen, sizes->out_share, err));
        SOTTO_TRY(take(&r->verifier[a], g->gen, sizes->verifier_share, err));
        SOTTO_TRY(sotto_pine_verify_init(&g->pine, &state, r->out[a], r->verifier[a],
                                         g->verify_key.data, g->context, &input, g->gen->arena,
                                         err));
    }
    if (r->rejected)
        return SOTTO_OK;
    return sotto_pine_verifier_shares_to_message(
        &g->pine, message, g->context, sotto_bytes_of(r->verifier[0], sizes->verifier_share),
        sotto_bytes_of(r->verifier[1], sizes->verifier_share), err);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static json_t *list_of(sotto_gen *gen, sotto_bytes first, sotto_bytes second)
{
    json_t *list = json_array();

    sotto_gen_add(gen, list, sotto_gen_hex(gen, first));
    sotto_gen_add(gen, list, sotto_gen_hex(gen, second));
    return list;
}

static json_t *reals(sotto_gen *gen, const int64_t *values)
{
    json_t *list = json_array();

    for (size_t i = 0; i < DIMENSION; i++)
        sotto_gen_add(gen, list, json_real((double)values[i] / (1 << FRAC_BITS)));
    return list;
}

static json_t *elements(pine_gen *g, const uint8_t *vector)
{
    size_t size = g->plan->field->element_size;
    json_t *list = json_array();

    for (size_t i = 0; i < DIMENSION; i++)
        sotto_gen_add(g->gen, list, sotto_gen_hex(g->gen, sotto_bytes_of(vector + i * size, size)));
    return list;
}

static void put_report(pine_gen *g, const pine_report *r, const uint8_t *message)
{
    const sotto_pine_sizes *sizes = &g->pine.sizes;
    sotto_gen *gen = g->gen;
    json_t *item = json_object(), *out = json_array(), *rounds = json_array();
    json_t *messages = json_array();

    sotto_gen_put(gen, item, "measurement", reals(gen, r->vector));
    sotto_gen_put_hex(gen, item, "nonce", r->nonce);
    sotto_gen_put_hex(gen, item, "rand", r->rand);
    sotto_gen_put_hex(gen, item, "public_share",
                      sotto_bytes_of(r->shares.public_share, sizes->public_share));
    sotto_gen_put(gen, item, "input_shares",
                  list_of(gen, sotto_bytes_of(r->shares.leader_share, sizes->leader_share),
                          sotto_bytes_of(r->shares.helper_share, sizes->helper_share)));
    sotto_gen_add(gen, rounds,
                  list_of(gen, sotto_bytes_of(r->verifier[0], sizes->verifier_share),
                          sotto_bytes_of(r->verifier[1], sizes->verifier_share)));
    sotto_gen_put(gen, item, "prep_shares", rounds);
    for (unsigned a = 0; a < 2; a++)
        sotto_gen_add(gen, out, elements(g, r->out[a]));
    sotto_gen_put(gen, item, "out_shares", out);
    if (r->rejected)
        sotto_gen_put(gen, item, "rejected", json_true());
    else
        sotto_gen_add(gen, messages,
                      sotto_gen_hex(gen, sotto_bytes_of(message, sizes->verifier_message)));
    sotto_gen_put(gen, item, "prep_messages", messages);
    sotto_gen_add(gen, g->reports, item);
}

static void put_parameters(pine_gen *g)
{
    const sotto_pine_config *c = &g->pine.config;
    sotto_gen *gen = g->gen;

    sotto_gen_put(gen, g->root, "agg_param", json_null());
    sotto_gen_put(gen, g->root, "alpha", json_real(c->alpha_tenths / 10.0));
    sotto_gen_put(gen, g->root, "field", json_string(g->plan->field_name));
    sotto_gen_put_number(gen, g->root, "chunk_length", c->chunk);
    sotto_gen_put_number(gen, g->root, "chunk_length_norm_equality", c->norm_chunk);
    sotto_gen_put_number(gen, g->root, "dimension", c->dimension);
    sotto_gen_put_number(gen, g->root, "l2_norm_bound", c->norm_bound);
    sotto_gen_put_number(gen, g->root, "num_frac_bits", FRAC_BITS);
    sotto_gen_put_number(gen, g->root, "num_wr_checks", c->checks);
    sotto_gen_put_number(gen, g->root, "num_wr_successes", c->successes);
    sotto_gen_put_number(gen, g->root, "proofs", c->proofs);
    sotto_gen_put_number(gen, g->root, "proofs_norm_equality", c->norm_proofs);
    sotto_gen_put_number(gen, g->root, "shares", 2);
    sotto_gen_put_hex(gen, g->root, "verify_key", g->verify_key);
    if (c->wire == SOTTO_PINE_DRAFT20)
        sotto_gen_put_hex(gen, g->root, "ctx", g->context);
}

/* ---- a file -------------------------------------------------------------------------------------- */

static sotto_status add_report(pine_gen *g, unsigned index, sotto_err *err)
{
    uint8_t message[2 * SOTTO_PINE_MAX_SEED];
    pine_report r = {.rejected = false};

    SOTTO_TRY(make_report(g, &r, index, err));
    if (g->plan->kind == DAMAGED && index > 0)
        damage(g, &r, index);
    SOTTO_TRY(verify(g, &r, message, err));
    put_report(g, &r, message);
    for (unsigned a = 0; a < 2 && !r.rejected; a++)
        sotto_pine_accumulate(&g->pine, g->agg[a], r.out[a]);
    for (size_t i = 0; i < DIMENSION && !r.rejected; i++)
        g->sum[i] += r.vector[i];
    return SOTTO_OK;
}

static sotto_status open_instance(pine_gen *g, sotto_err *err)
{
    const pine_plan *p = g->plan;
    const unsigned checks = p->wire == SOTTO_PINE_DRAFT20 ? OUR_CHECKS : CHECKS;
    const sotto_pine_config config = {.field = p->field,
                                      .wire = p->wire,
                                      .xof = p->xof,
                                      .algorithm = p->algorithm,
                                      .dimension = DIMENSION,
                                      .norm_bound = BOUND,
                                      .alpha_tenths = 87,
                                      .checks = checks,
                                      .successes = checks,
                                      .proofs = p->field->bits == 128 ? 1 : 3,
                                      .norm_proofs = 1,
                                      .chunk = 16,
                                      .norm_chunk = 4};

    SOTTO_TRY(sotto_pine_init(&g->pine, g->gen->arena, &config, err));
    SOTTO_TRY(sotto_gen_bytes(g->gen, &g->verify_key, g->pine.sizes.seed, err));
    if (p->wire == SOTTO_PINE_DRAFT20)
        SOTTO_TRY(sotto_gen_bytes(g->gen, &g->context, 12, err));
    for (unsigned a = 0; a < 2; a++) {
        SOTTO_TRY(take(&g->agg[a], g->gen, g->pine.sizes.out_share, err));
        memset(g->agg[a], 0, g->pine.sizes.out_share);
    }
    return SOTTO_OK;
}

static sotto_status generate(sotto_gen *gen, const pine_plan *plan, sotto_err *err)
{
    pine_gen g = {.gen = gen, .plan = plan, .root = json_object(), .reports = json_array()};

    sotto_gen_start(gen, plan->name);
    SOTTO_TRY(open_instance(&g, err));
    put_parameters(&g);
    for (unsigned i = 0; i < REPORTS; i++)
        SOTTO_TRY(add_report(&g, i, err));
    sotto_gen_put(gen, g.root, "agg_shares",
                  list_of(gen, sotto_bytes_of(g.agg[0], g.pine.sizes.out_share),
                          sotto_bytes_of(g.agg[1], g.pine.sizes.out_share)));
    sotto_gen_put(gen, g.root, "agg_result", reals(gen, g.sum));
    sotto_gen_put(gen, g.root, "prep", g.reports);
    return sotto_gen_write(gen, plan->name, g.root, err);
}

static sotto_status generate_all(sotto_gen *gen, sotto_pine_wire wire, sotto_err *err)
{
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        if (plans[i].wire == wire)
            SOTTO_TRY(generate(gen, &plans[i], err));
    return SOTTO_OK;
}

sotto_status sotto_generate_pine(sotto_gen *gen, sotto_err *err)
{
    return generate_all(gen, SOTTO_PINE_DRAFT20, err);
}

sotto_status sotto_generate_pine_draft(sotto_gen *gen, sotto_err *err)
{
    return generate_all(gen, SOTTO_PINE_DRAFT11, err);
}
