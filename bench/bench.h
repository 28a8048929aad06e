/* bench/bench.h - measure one piece of work: medians of thread CPU time, one JSON line each.
 *
 * A bench_<room>.c offers one function that runs its cases; main.c calls them all.
 */
#ifndef SOTTO_BENCH_BENCH_H
#define SOTTO_BENCH_BENCH_H

#include "sotto/base.h"

typedef struct sotto_bench {
    const char *filter; /* only names that contain it */
    double seconds;     /* spent on each case         */
    bool json;
} sotto_bench;

/* Is this case asked for? Saves preparing what will not run. */
bool sotto_bench_wanted(const sotto_bench *b, const char *name);

/* Runs work(arg) until the time is up, in samples; each call does `ops` operations. Prints the case and
 * returns its median nanoseconds an operation, or 0 if it is not asked for. */
double sotto_bench_run(const sotto_bench *b, const char *name, void (*work)(void *arg), void *arg,
                       double ops);

/* Prints a number that is not a time: bytes, a count, a ratio. */
void sotto_bench_note(const sotto_bench *b, const char *name, const char *unit, double value);

/* A case that needs every core says so, and pins the program again afterwards. */
void sotto_bench_unpin(void);
void sotto_bench_pin(void);

/* Ends the program with a sentence: a benchmark that fails measures nothing. */
_Noreturn void sotto_bench_fail(const char *what);

static inline void sotto_bench_expect(bool holds, const char *what)
{
    if (!holds)
        sotto_bench_fail(what);
}

void sotto_bench_aero(const sotto_bench *b);
void sotto_bench_aero_engine(const sotto_bench *b);
void sotto_bench_analyst(const sotto_bench *b);
void sotto_bench_aggregate(const sotto_bench *b);
void sotto_bench_discover(const sotto_bench *b);
void sotto_bench_flamingo(const sotto_bench *b);
void sotto_bench_ingest(const sotto_bench *b);
void sotto_bench_learning(const sotto_bench *b);
void sotto_bench_log(const sotto_bench *b);
void sotto_bench_oblivious(const sotto_bench *b);
void sotto_bench_token(const sotto_bench *b);
void sotto_bench_base(const sotto_bench *b);
void sotto_bench_crypto(const sotto_bench *b);
void sotto_bench_db(const sotto_bench *b);
void sotto_bench_pipeline(const sotto_bench *b);
void sotto_bench_math(const sotto_bench *b);
void sotto_bench_device(const sotto_bench *b);
void sotto_bench_pine(const sotto_bench *b);
void sotto_bench_vdaf(const sotto_bench *b);
void sotto_bench_seal(const sotto_bench *b);
void sotto_bench_sim(const sotto_bench *b);
void sotto_bench_transport(const sotto_bench *b);
void sotto_bench_privacy(const sotto_bench *b);
void sotto_bench_privacy_noise(const sotto_bench *b);

#endif
