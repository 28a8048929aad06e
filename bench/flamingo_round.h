/* bench/flamingo_round.h - a round of flamingo whose machines a benchmark drives by hand.
 *
 * Callers:  bench_flamingo.c, bench_ingest.c.
 * Memory:   two arenas: what lasts as long as the round, and what one step needs.
 */
#ifndef SOTTO_BENCH_FLAMINGO_ROUND_H
#define SOTTO_BENCH_FLAMINGO_ROUND_H

#include "aggregate/flamingo/flamingo.h"
#include "sim/net.h"

typedef struct sotto_bench_size {
    const char *name;
    uint32_t clients, degree, members;
    size_t length;
    bool always; /* false: where the filter asks for it */
} sotto_bench_size;

typedef struct sotto_bench_round {
    const sotto_bench_size *size;
    sotto_arena arena, step;
    sotto_sim_cast cast;
    sotto_round round;
} sotto_bench_round;

/* Everybody's keys, and a committee whose key was dealt to it. Ends the program after a failure.
 *   opens   milliseconds; later times follow
 *   window  milliseconds */
void sotto_bench_round_open(sotto_bench_round *r, const sotto_bench_size *size,
                            const sotto_signer *server, uint64_t opens, uint64_t window);
void sotto_bench_round_close(sotto_bench_round *r);

/* One client's report, in the step's arena; ns: CPU time that it took. Entry i of its vector is its index and i modulo 8. */
void sotto_bench_round_report(sotto_bench_round *r, uint32_t client, sotto_effects *effects,
                              uint64_t *ns);

#endif
