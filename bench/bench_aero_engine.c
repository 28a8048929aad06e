/* A whole round of encrypted sums among a million devices, of which 10^4 contribute one ciphertext each, with all faults of the simulated
 * network. Proofs are stubbed, and the names of the cases say so: a million devices' proofs are no work of one machine. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include "aero_stub.h"
#include "sim/population.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void note(const sotto_bench *b, const char *stem, const char *what, const char *unit,
                 double value)
{
    char name[128];

    (void)snprintf(name, sizeof name, "%s/%s", stem, what);
    sotto_bench_note(b, name, unit, value);
}

static void play(const sotto_bench *b, const char *kind, unsigned proved_in)
{
    const bool is_short = b->seconds < 0.05;
    const uint32_t devices = is_short ? 2000 : 1000000;
    const sotto_sim_population_plan plan = {.devices = devices,
                                            .rate = 0.01,
                                            .one_in = is_short ? 20 : 100,
                                            .checks = 40,
                                            .committee = 15,
                                            .threshold = 7,
                                            .noise = 40,
                                            .missing = 8,
                                            .liars = is_short ? 10 : 400,
                                            .length = 1000,
                                            .seed = 1,
                                            .faults = {.drop = 0.002,
                                                       .duplicate = 0.01,
                                                       .late = 0.002,
                                                       .late_ms = 2000,
                                                       .delay_least_ms = 1,
                                                       .delay_most_ms = 300,
                                                       .crash_before = 1e-5,
                                                       .crash_after = 1e-5},
                                            .memory = (uint64_t)4 << 30};
    sotto_sim_population_report r;
    sotto_sim_population *population;
    sotto_arena arena;
    sotto_err err = {SOTTO_OK, ""};
    char stem[64];

    (void)snprintf(stem, sizeof stem, "aero/engine/%s%s", is_short ? "short/" : "", kind);
    if (!sotto_bench_wanted(b, stem))
        return;
    sotto_arena_init(&arena, (size_t)8 << 30);
    sotto_bench_prove_one_in(proved_in);
    double begin = cpu_seconds();
    if (sotto_sim_population_new(&population, &plan, &arena, &err) != SOTTO_OK)
        sotto_bench_fail(err.reason);
    double registered = cpu_seconds();
    if (sotto_sim_population_run(population, &r, &err) != SOTTO_OK)
        sotto_bench_fail(err.reason);
    double end = cpu_seconds();
    const sotto_bench_proofs proofs = sotto_bench_proofs_made();
    sotto_bench_prove_one_in(1);
    sotto_bench_expect(r.net.released && r.is_exact && r.wrong == 0, "a round of the engine");
    note(b, stem, "registration", "s", registered - begin);
    note(b, stem, "round", "s", end - registered);
    note(b, stem, "devices", "count", plan.devices);
    note(b, stem, "contributions", "count", (double)r.net.contributions);
    note(b, stem, "lost-contributions", "count", (double)(r.drawn - r.net.contributions));
    note(b, stem, "leaves-checked", "count", (double)r.answered);
    note(b, stem, "asked-on-the-board", "count", (double)r.challenges);
    note(b, stem, "proofs-made", "count", proofs.proved);
    note(b, stem, "proofs-checked", "count", proofs.verified);
    sotto_sim_population_free(population);
    sotto_arena_clear(&arena);
}

void sotto_bench_aero_engine(const sotto_bench *b)
{
    play(b, "proofs-stubbed", 0);
    /* Of 20 contributors one percent would be nobody. */
    play(b, b->seconds < 0.05 ? "twenty-percent-proved" : "one-percent-proved",
         b->seconds < 0.05 ? 5 : 100);
}
