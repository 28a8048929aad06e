/* PINE as a client and each aggregator pay for it: vectors of a small model, and of a million entries. */
#include "bench.h"

#include "vdaf/pine/pine.h"

#include <stdio.h>
#include <string.h>

typedef struct pine_case {
    const char *name;
    uint64_t dimension;
    uint64_t norm_chunk;
    sotto_pine_xof xof;
} pine_case;

static const pine_case cases[] = {
    {"LeNet-48846", 48846, 256, SOTTO_PINE_HMAC_AES},
    {"LeNet-48846-turboshake", 48846, 256, SOTTO_PINE_TURBOSHAKE},
    {"million", 1000000, 1024, SOTTO_PINE_HMAC_AES},
};

typedef struct pine_round {
    sotto_arena fixed, job;
    sotto_pine pine;
    int64_t *vector;
    uint8_t nonce[SOTTO_PINE_NONCE], verify_key[SOTTO_PINE_MAX_SEED];
    uint8_t *rand, *out, *verifier;
    sotto_pine_report report;
    unsigned aggregator;
} pine_round;

static void *take(pine_round *r, size_t size)
{
    void *room = sotto_arena_take(&r->fixed, size);

    if (!room)
        sotto_bench_fail("no memory");
    return room;
}

/* Entries of both signs, as of a clipped and rounded update: their norm is half of the bound. */
static void prepare(pine_round *r, const pine_case *c)
{
    const sotto_pine_config config = {.field = &sotto_pine_ops64,
                                      .wire = SOTTO_PINE_DRAFT20,
                                      .xof = c->xof,
                                      .algorithm = 0xffff2001,
                                      .dimension = c->dimension,
                                      .norm_bound = 1 << 15,
                                      .alpha_tenths = 87,
                                      .checks = 100,
                                      .successes = 100,
                                      .proofs = 3,
                                      .norm_proofs = 1,
                                      .chunk = 64,
                                      .norm_chunk = c->norm_chunk};
    sotto_err err = {0};
    uint64_t state = c->dimension;

    sotto_arena_init(&r->fixed, (size_t)1 << 30);
    sotto_arena_init(&r->job, (size_t)1 << 30);
    sotto_bench_expect(sotto_pine_init(&r->pine, &r->fixed, &config, &err) == SOTTO_OK, err.reason);
    r->vector = take(r, (size_t)c->dimension * sizeof *r->vector);
    for (size_t i = 0; i < c->dimension; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        r->vector[i] = c->dimension > 100000 ? (int64_t)(state >> 62) * 16 - 24
                                             : (int64_t)((state >> 40) % 256) - 128;
    }
    r->rand = take(r, r->pine.sizes.rand);
    r->report = (sotto_pine_report){take(r, r->pine.sizes.public_share),
                                    take(r, r->pine.sizes.leader_share),
                                    take(r, r->pine.sizes.helper_share)};
    r->out = take(r, r->pine.sizes.out_share);
    r->verifier = take(r, r->pine.sizes.verifier_share);
    for (size_t i = 0; i < r->pine.sizes.rand; i++)
        r->rand[i] = (uint8_t)(i * 7);
}

static void shard(void *arg)
{
    pine_round *r = arg;
    sotto_err err = {0};

    r->rand[0]++;
    sotto_bench_expect(sotto_pine_shard(&r->pine, &r->report, sotto_bytes_of("bench", 5), r->vector,
                                        r->nonce, r->rand, &r->job, &err) == SOTTO_OK,
                       err.reason);
}

static void verify(void *arg)
{
    pine_round *r = arg;
    const sotto_pine_sizes *sizes = &r->pine.sizes;
    sotto_pine_state state;
    sotto_err err = {0};
    sotto_pine_input input = {
        .aggregator = r->aggregator,
        .nonce = r->nonce,
        .public_share = sotto_bytes_of(r->report.public_share, sizes->public_share),
        .input_share = r->aggregator ? sotto_bytes_of(r->report.helper_share, sizes->helper_share)
                                     : sotto_bytes_of(r->report.leader_share, sizes->leader_share)};

    sotto_bench_expect(sotto_pine_verify_init(&r->pine, &state, r->out, r->verifier, r->verify_key,
                                              sotto_bytes_of("bench", 5), &input, &r->job,
                                              &err) == SOTTO_OK,
                       err.reason);
}

static void bench_case(const sotto_bench *b, const pine_case *c)
{
    char names[3][64];
    static pine_round r;

    snprintf(names[0], sizeof names[0], "pine/client/%s", c->name);
    snprintf(names[1], sizeof names[1], "pine/leader/%s", c->name);
    snprintf(names[2], sizeof names[2], "pine/helper/%s", c->name);
    if (!sotto_bench_wanted(b, names[0]) && !sotto_bench_wanted(b, names[1]) &&
        !sotto_bench_wanted(b, names[2]))
        return;
    prepare(&r, c);
    shard(&r);
    if (sotto_bench_wanted(b, names[0]))
        sotto_bench_run(b, names[0], shard, &r, 1);
    for (r.aggregator = 0; r.aggregator < 2; r.aggregator++)
        if (sotto_bench_wanted(b, names[1 + r.aggregator]))
            sotto_bench_run(b, names[1 + r.aggregator], verify, &r, 1);
    sotto_arena_clear(&r.job);
    sotto_arena_clear(&r.fixed);
}

void sotto_bench_pine(const sotto_bench *b)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        bench_case(b, &cases[i]);
}
