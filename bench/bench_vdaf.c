/* Prio3 as servers and devices pay for it: distinct reports, decoding included, batches of 64. */
#include "bench.h"

#include "crypto/keccak.h"
#include "math/kernels128.h"
#include "sotto/vdaf.h"
#include "vdaf/circuit.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 64 };

typedef struct vdaf_case {
    const char *name;
    sotto_prio3_config config;
} vdaf_case;

static const vdaf_case cases[] = {
    {"Count", {.type = SOTTO_PRIO3_COUNT, .shares = 2}},
    {"Sum-32", {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = 0xffffffff}},
    {"Histogram-100",
     {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 100, .chunk_length = 10}},
    {"Histogram-1000",
     {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 1000, .chunk_length = 32}},
    {"Histogram-10000",
     {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 10000, .chunk_length = 100}},
    {"SumVec-1bit-10000",
     {.type = SOTTO_PRIO3_SUM_VEC, .shares = 2, .length = 10000, .chunk_length = 100, .max = 1}},
    {"Multihot-1000",
     {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC,
      .shares = 2,
      .length = 1000,
      .chunk_length = 32,
      .max = 5}},
};

/* Everything a case needs; reports differ in nonce, randomness and measurement. */
typedef struct round {
    sotto_prio3 vdaf;
    sotto_arena fixed, job;
    sotto_bytes context;
    sotto_prio3_verifier leader, helper;
    uint64_t *values;
    sotto_measurement measurement[BATCH];
    uint8_t nonce[BATCH][SOTTO_PRIO3_NONCE_SIZE];
    sotto_bytes rand[BATCH];
    sotto_buf public_share[BATCH], input_shares[BATCH][2];
    sotto_prio3_report leader_reports[BATCH], helper_reports[BATCH];
    sotto_bytes from_leader[BATCH], from_helper[BATCH];
    sotto_bytes messages[BATCH];
    sotto_prio3_verification states[BATCH];
    sotto_prio3_agg agg;
    size_t next;
    size_t permutations; /* four-lane ones that a batch of the helper's work needs */
} round;

static uint64_t next_random(void)
{
    static uint64_t state = 1;
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint8_t *random_bytes(sotto_arena *arena, size_t len)
{
    uint8_t *bytes = sotto_arena_take(arena, len);

    if (!bytes)
        sotto_bench_fail("no memory");
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)next_random();
    return bytes;
}

static sotto_measurement random_measurement(round *r)
{
    const sotto_prio3_config *config = &r->vdaf.config;
    size_t count = r->vdaf.circuit->one_hot ? 1 : r->vdaf.sizes.outputs;
    uint64_t *values = sotto_arena_take_array(&r->fixed, count, sizeof *values);

    if (!values)
        sotto_bench_fail("no memory");
    if (config->type == SOTTO_PRIO3_MULTIHOT_COUNT_VEC)
        values[next_random() % count] = 1;
    else if (config->type == SOTTO_PRIO3_HISTOGRAM)
        values[0] = next_random() % config->length;
    else
        for (size_t i = 0; i < count; i++)
            values[i] = next_random() % (r->vdaf.circuit->max + 1);
    return (sotto_measurement){values, count};
}

static void shard_one(round *r, size_t i)
{
    sotto_err err = {0};

    r->public_share[i].len = r->input_shares[i][0].len = r->input_shares[i][1].len = 0;
    sotto_bench_expect(sotto_prio3_shard(&r->vdaf, &r->public_share[i], r->input_shares[i],
                                         r->context, r->measurement[i], r->nonce[i], r->rand[i],
                                         &r->job, &err) == SOTTO_OK,
                       err.reason);
}

static void make_reports(round *r)
{
    for (size_t i = 0; i < BATCH; i++) {
        r->measurement[i] = random_measurement(r);
        memcpy(r->nonce[i], random_bytes(&r->fixed, 16), 16);
        r->rand[i] =
            sotto_bytes_of(random_bytes(&r->fixed, r->vdaf.sizes.rand), r->vdaf.sizes.rand);
        r->public_share[i] = sotto_buf_over(random_bytes(&r->fixed, r->vdaf.sizes.public_share),
                                            r->vdaf.sizes.public_share);
        r->input_shares[i][0] = sotto_buf_over(random_bytes(&r->fixed, r->vdaf.sizes.leader_share),
                                               r->vdaf.sizes.leader_share);
        r->input_shares[i][1] = sotto_buf_over(random_bytes(&r->fixed, r->vdaf.sizes.helper_share),
                                               r->vdaf.sizes.helper_share);
        shard_one(r, i);
        sotto_arena_reset(&r->job);
        for (unsigned s = 0; s < 2; s++) {
            sotto_prio3_report *report = s ? &r->helper_reports[i] : &r->leader_reports[i];
            memcpy(report->nonce, r->nonce[i], sizeof report->nonce);
            report->public_share = sotto_buf_bytes(&r->public_share[i]);
            report->input_share = sotto_buf_bytes(&r->input_shares[i][s]);
        }
    }
}

static sotto_bytes keep(sotto_arena *arena, sotto_bytes bytes)
{
    uint8_t *copy = sotto_arena_take(arena, bytes.len);

    if (!copy)
        sotto_bench_fail("no memory");
    if (bytes.len)
        memcpy(copy, bytes.data, bytes.len);
    return sotto_bytes_of(copy, bytes.len);
}

/* ---- what is measured ------------------------------------------------------------------------------ */

static void shard(void *arg)
{
    round *r = arg;

    shard_one(r, r->next++ % BATCH);
    sotto_arena_reset(&r->job);
}

static void leader_init(void *arg)
{
    round *r = arg;

    sotto_bench_expect(sotto_prio3_verify_init(&r->vdaf, r->states, &r->leader, r->leader_reports,
                                               BATCH, &r->job, NULL) == SOTTO_OK,
                       "leader init");
    sotto_arena_reset(&r->job);
}

static void helper(void *arg)
{
    round *r = arg;

    r->agg.reports = 0;
    sotto_bench_expect(
        sotto_prio3_verify_init(&r->vdaf, r->states, &r->helper, r->helper_reports, BATCH, &r->job,
                                NULL) == SOTTO_OK &&
            sotto_prio3_verify_next(&r->vdaf, r->states, r->messages, BATCH, NULL) == SOTTO_OK &&
            sotto_prio3_accumulate(&r->vdaf, &r->agg, r->states, BATCH, NULL) == SOTTO_OK &&
            r->agg.reports == BATCH,
        "helper");
    sotto_arena_reset(&r->job);
}

static void helper_whole(void *arg)
{
    round *r = arg;

    r->agg.reports = 0;
    sotto_bench_expect(sotto_ping_pong_helper_init(&r->vdaf, r->states, r->from_helper, &r->helper,
                                                   r->helper_reports, r->from_leader, BATCH,
                                                   &r->job, NULL) == SOTTO_OK &&
                           sotto_prio3_accumulate(&r->vdaf, &r->agg, r->states, BATCH, NULL) ==
                               SOTTO_OK &&
                           r->agg.reports == BATCH,
                       "whole helper");
    sotto_arena_reset(&r->job);
}

/* ---- the floor: the permutations themselves ---------------------------------------------------------- */

static const sotto_keccak_backend *counted;
static size_t permutations;

static void count_permute(sotto_keccak_row *words, unsigned lanes)
{
    permutations++;
    counted->permute(words, lanes);
}

/* How many four-lane permutations a batch of the helper's work needs. */
static size_t count_permutations(round *r)
{
    static sotto_keccak_backend counting = {"counting", count_permute, NULL, NULL, NULL};

    counted = &sotto_keccak_scalar;
    permutations = 0;
    sotto_keccak_install(&counting);
    helper(r);
    sotto_bench_expect(sotto_keccak_use(NULL), "going back to the best backend");
    return permutations;
}

static void permute_four(void *arg)
{
    sotto_keccak_permute(arg, SOTTO_LANES);
}

/* The helper's work over the permutations it needs, both with one backend and in one run. */
static double bench_floor(const sotto_bench *b, round *r, const char *name, const char *suffix)
{
    static _Alignas(64) sotto_keccak_row words[SOTTO_KECCAK_WORDS];
    double batch = (double)r->permutations;
    char full[96];

    (void)snprintf(full, sizeof full, "prio3/helper%s/%s", suffix, name);
    double helper_ns = sotto_bench_run(b, full, helper, r, BATCH);
    (void)snprintf(full, sizeof full, "prio3/helper-keccak-floor%s/%s", suffix, name);
    double floor_ns = sotto_bench_run(b, full, permute_four, words, BATCH / batch);
    if (floor_ns > 0 && helper_ns > 0) {
        (void)snprintf(full, sizeof full, "prio3/helper-over-keccak-floor%s/%s", suffix, name);
        sotto_bench_note(b, full, "x", helper_ns / floor_ns);
    }
    return helper_ns;
}

/* A machine without its newer instructions. */
static bool pretend(const char *keccak, const char *field)
{
    return sotto_keccak_use(keccak) && sotto_f128_use(field);
}

/* As this machine is; then as one with AVX2, which most servers have; then as one with nothing. */
static void bench_helper(const sotto_bench *b, round *r, const char *name)
{
    double avx2 = 0;
    char full[96];

    r->permutations = count_permutations(r);
    (void)bench_floor(b, r, name, "");
    if (pretend("avx2", "avx2"))
        avx2 = bench_floor(b, r, name, "-avx2");
    sotto_bench_expect(pretend("scalar", "portable"), "the portable backends");
    (void)snprintf(full, sizeof full, "prio3/helper-scalar/%s", name);
    double scalar = sotto_bench_run(b, full, helper, r, BATCH);
    if (avx2 > 0 && scalar > 0) {
        (void)snprintf(full, sizeof full, "prio3/scalar-over-avx2/%s", name);
        sotto_bench_note(b, full, "x", scalar / avx2);
    }
    sotto_bench_expect(pretend(NULL, NULL), "going back to the best backends");
}

/* ---- one case ----------------------------------------------------------------------------------------- */

static void prepare(round *r, const vdaf_case *v)
{
    static const uint8_t context[38] = "dap-18"; /* as long as DAP's: a tag and a task id */
    sotto_err err = {0};

    memset(r, 0, sizeof *r);
    sotto_arena_init(&r->fixed, (size_t)1 << 32);
    sotto_arena_init(&r->job, (size_t)1 << 32);
    r->context = sotto_bytes_of(context, sizeof context);
    r->leader = (sotto_prio3_verifier){{1, 2, 3}, r->context, 0};
    r->helper = (sotto_prio3_verifier){{1, 2, 3}, r->context, 1};
    sotto_bench_expect(sotto_prio3_init(&r->vdaf, &r->fixed, &v->config, &err) == SOTTO_OK,
                       err.reason);
    sotto_bench_expect(sotto_prio3_agg_init(&r->vdaf, &r->agg, &r->fixed, &err) == SOTTO_OK,
                       err.reason);
    make_reports(r);
    /* A whole round once, for the messages that cross. */
    sotto_bench_expect(sotto_ping_pong_leader_init(&r->vdaf, r->states, r->from_leader, &r->leader,
                                                   r->leader_reports, BATCH, &r->job,
                                                   &err) == SOTTO_OK,
                       err.reason);
    for (size_t i = 0; i < BATCH; i++)
        r->from_leader[i] = keep(&r->fixed, r->from_leader[i]);
    sotto_arena_reset(&r->job);
    sotto_bench_expect(sotto_ping_pong_helper_init(&r->vdaf, r->states, r->from_helper, &r->helper,
                                                   r->helper_reports, r->from_leader, BATCH,
                                                   &r->job, &err) == SOTTO_OK,
                       err.reason);
    for (size_t i = 0; i < BATCH; i++) {
        sotto_bench_expect(r->states[i].status == SOTTO_OK, "an honest report was refused");
        sotto_bytes answer = keep(&r->fixed, r->from_helper[i]);
        r->messages[i] = sotto_bytes_of(answer.data + 5, answer.len - 5);
    }
    sotto_arena_reset(&r->job);
}

static void bench_case(const sotto_bench *b, const vdaf_case *v)
{
    static round r;
    char name[96];

    prepare(&r, v);
    (void)snprintf(name, sizeof name, "prio3/shard/%s", v->name);
    sotto_bench_run(b, name, shard, &r, 1);
    (void)snprintf(name, sizeof name, "prio3/leader_init/%s", v->name);
    sotto_bench_run(b, name, leader_init, &r, BATCH);
    (void)snprintf(name, sizeof name, "prio3/helper_whole/%s", v->name);
    sotto_bench_run(b, name, helper_whole, &r, BATCH);
    bench_helper(b, &r, v->name);
    sotto_arena_clear(&r.job);
    sotto_arena_clear(&r.fixed);
}

/* What one large report takes from a helper's arena, beyond the accumulator. */
static void bench_memory(const sotto_bench *b)
{
    static const vdaf_case large = {
        "Histogram-100000",
        {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 100000, .chunk_length = 316}};
    const char *name = "prio3/helper-memory/Histogram-100000";
    static round r;
    sotto_arena one;

    if (!sotto_bench_wanted(b, name))
        return;
    prepare(&r, &large);
    sotto_arena_init(&one, (size_t)1 << 30);
    sotto_bench_expect(sotto_ping_pong_helper_init(&r.vdaf, r.states, r.from_helper, &r.helper,
                                                   r.helper_reports, r.from_leader, 1, &one,
                                                   NULL) == SOTTO_OK,
                       "one large report");
    sotto_bench_note(b, name, "MiB", (double)one.peak / 1048576);
    sotto_arena_clear(&one);
    sotto_arena_clear(&r.job);
    sotto_arena_clear(&r.fixed);
}

void sotto_bench_vdaf(const sotto_bench *b)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        bench_case(b, &cases[i]);
    bench_memory(b);
}
