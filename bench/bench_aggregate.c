/* What masks cost, and a whole round of single-round secure aggregation: all clients and the server on one core. */
#include "bench.h"

#include "aggregate/bbglr/bbglr.h"
#include "aggregate/shared/mask.h"
#include "base/clock.h"
#include "sim/net.h"

#include <stdio.h>
#include <string.h>

enum { ENTRIES = 1 << 16, CLIENTS = 100, SILENT = 10 };

typedef struct masked {
    sotto_vector vector;
    uint8_t seed[32];
} masked;

static void mask(void *arg)
{
    masked *m = arg;

    sotto_bench_expect(sotto_mask_apply(&m->vector, m->seed, 1, NULL) == SOTTO_OK, "a mask");
}

static void bench_masks(const sotto_bench *b)
{
    static uint64_t entries[ENTRIES];
    masked m = {.vector = {.ring = SOTTO_RING_Z64, .length = ENTRIES, .of.z64 = entries}};

    sotto_bench_run(b, "aggregate/mask-entry/z64", mask, &m, ENTRIES);
    m.vector.ring = SOTTO_RING_Z32;
    m.vector.of.z32 = (uint32_t *)(void *)entries;
    sotto_bench_run(b, "aggregate/mask-entry/z32", mask, &m, ENTRIES);
}

/* Degree and threshold as a test of 100 clients would have them, 5 of whom may work for the server. */
static void fill_round(sotto_round *round, uint8_t parameters[SOTTO_BBGLR_PARAMETERS],
                       const sotto_sim_cast *cast)
{
    const sotto_bbglr_parameters p = {
        .degree = 20, .threshold = 10, .quorum = 53, .corrupt = 5, .keys_by = 1000};
    sotto_buf out = sotto_buf_over(parameters, SOTTO_BBGLR_PARAMETERS);

    *round = (sotto_round){.method = SOTTO_METHOD_BBGLR,
                           .version = SOTTO_ROUND_VERSION,
                           .ring = SOTTO_RING_Z32,
                           .length = ENTRIES,
                           .most = 1000000,
                           .least = CLIENTS - 2 * SILENT,
                           .largest = CLIENTS,
                           .registered = CLIENTS,
                           .opens = 1,
                           .commit_by = 2000,
                           .closes = 3000,
                           .verify_by = 4000,
                           .release_by = 5000,
                           .keys = &cast->registry};
    sotto_registry_root(&cast->registry, round->registry);
    sotto_bench_expect(sotto_bbglr_parameters_encode(&out, &p, NULL) == SOTTO_OK, "parameters");
    round->parameters = sotto_buf_bytes(&out);
}

static void run_round(sotto_arena *arena)
{
    static uint32_t ones[ENTRIES];
    static const sotto_vector input = {.ring = SOTTO_RING_Z32, .length = ENTRIES, .of.z32 = ones};
    unsigned silent = SOTTO_BBGLR_MASKED;
    uint8_t parameters[SOTTO_BBGLR_PARAMETERS];
    sotto_sim_report report;
    sotto_sim_cast cast;
    sotto_sim_net *net;
    sotto_round round;

    for (size_t i = 0; i < ENTRIES; i++)
        ones[i] = 1;
    sotto_bench_expect(sotto_sim_cast_init(&cast, CLIENTS, 1, arena, NULL) == SOTTO_OK, "a cast");
    fill_round(&round, parameters, &cast);
    sotto_bench_expect(
        sotto_sim_net_new(&net, &sotto_method_bbglr, &round, &cast, 1, arena, NULL) == SOTTO_OK,
        "a network");
    for (uint32_t i = 0; i < CLIENTS; i++)
        sotto_sim_net_input(net, i, &input);
    for (uint32_t i = 0; i < SILENT; i++)
        sotto_sim_net_lie(net, 7 * i, sotto_sim_liar_silent, &silent);
    sotto_bench_expect(sotto_sim_net_run(net, 50000, &report, NULL) == SOTTO_OK &&
                           report.released && report.sum.of.z32[ENTRIES - 1] == CLIENTS - SILENT,
                       "a sum");
    sotto_sim_net_free(net);
    sotto_sim_cast_clear(&cast);
}

void sotto_bench_aggregate(const sotto_bench *b)
{
    sotto_arena arena;

    bench_masks(b);
    if (!sotto_bench_wanted(b, "aggregate/bbglr-round/100-of-65536"))
        return;
    sotto_arena_init(&arena, (size_t)1 << 30);
    uint64_t start = sotto_clock_thread_cpu();
    run_round(&arena);
    sotto_bench_note(b, "aggregate/bbglr-round/100-of-65536", "ms",
                     (double)(sotto_clock_thread_cpu() - start) / 1e6);
    sotto_arena_clear(&arena);
}
