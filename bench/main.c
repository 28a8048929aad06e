/* sotto-bench - how fast the rooms are, on one pinned core. */
#define _GNU_SOURCE
#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A run that only shows that every case still works needs no median worth reading. */
enum { MAX_SAMPLES = 4096, MIN_SAMPLES = 15, FEWEST_SAMPLES = 2 };

static double thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

bool sotto_bench_wanted(const sotto_bench *b, const char *name)
{
    return !b->filter || strstr(name, b->filter);
}

void sotto_bench_fail(const char *what)
{
    (void)fprintf(stderr, "sotto-bench: failed: %s\n", what);
    exit(1);
}

/* How many calls make a sample long enough for the clock. */
static size_t calls_a_sample(void (*work)(void *), void *arg)
{
    for (size_t calls = 1;; calls *= 2) {
        double start = thread_ns();
        for (size_t i = 0; i < calls; i++)
            work(arg);
        if (thread_ns() - start > 200e3)
            return calls;
    }
}

double sotto_bench_run(const sotto_bench *b, const char *name, void (*work)(void *arg), void *arg,
                       double ops)
{
    static double samples[MAX_SAMPLES];
    const size_t least = b->seconds < 0.1 ? FEWEST_SAMPLES : MIN_SAMPLES;
    size_t count = 0;

    if (!sotto_bench_wanted(b, name))
        return 0;
    size_t calls = calls_a_sample(work, arg);
    double begin = thread_ns();
    while (count < least || (count < MAX_SAMPLES && thread_ns() - begin < b->seconds * 1e9)) {
        double start = thread_ns();
        for (size_t i = 0; i < calls; i++)
            work(arg);
        samples[count++] = (thread_ns() - start) / (double)calls / ops;
    }
    qsort(samples, count, sizeof samples[0], by_value);
    double median = samples[count / 2];
    if (b->json)
        printf("{\"name\":\"%s\",\"ns_per_op\":%.2f,\"ops_per_s\":%.1f,\"min_ns\":%.2f,"
               "\"samples\":%zu}\n",
               name, median, 1e9 / median, samples[0], count);
    else
        printf("%-44s %14.2f ns %16.1f /s\n", name, median, 1e9 / median);
    (void)fflush(stdout);
    return median;
}

void sotto_bench_note(const sotto_bench *b, const char *name, const char *unit, double value)
{
    if (!sotto_bench_wanted(b, name))
        return;
    if (b->json)
        printf("{\"name\":\"%s\",\"value\":%.4f,\"unit\":\"%s\"}\n", name, value, unit);
    else
        printf("%-44s %14.3f %s\n", name, value, unit);
    (void)fflush(stdout);
}

static cpu_set_t allowed; /* to this process, before it was pinned */

void sotto_bench_unpin(void)
{
    (void)sched_setaffinity(0, sizeof allowed, &allowed);
}

/* The last core: the first one gets most of the machine's interrupts. */
void sotto_bench_pin(void)
{
    cpu_set_t one;

    for (size_t core = CPU_SETSIZE; core-- > 0;) {
        if (!CPU_ISSET(core, &allowed))
            continue;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        (void)sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static int usage(FILE *to, int code)
{
    (void)fprintf(
        to, "usage: sotto-bench [--filter TEXT] [--json] [--seconds S]\n"
            "Runs every case whose name contains TEXT for S seconds (1) on one core; of pipeline/, "
            "the load:\nits servers have all cores.\n");
    return code;
}

int main(int argc, char **argv)
{
    sotto_bench b = {.seconds = 1.0};

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            b.json = true;
        else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc)
            b.filter = argv[++i];
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc &&
                 (b.seconds = strtod(argv[i + 1], NULL)) > 0)
            i++;
        else if (strcmp(argv[i], "--help") == 0)
            return usage(stdout, 0);
        else
            return usage(stderr, 2);
    }
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        sotto_bench_pin();
    sotto_bench_base(&b);
    sotto_bench_math(&b);
    sotto_bench_crypto(&b);
    sotto_bench_seal(&b);
    sotto_bench_vdaf(&b);
    sotto_bench_pine(&b);
    sotto_bench_aero(&b);
    sotto_bench_aero_engine(&b);
    sotto_bench_aggregate(&b);
    sotto_bench_flamingo(&b);
    sotto_bench_transport(&b);
    sotto_bench_analyst(&b);
    sotto_bench_privacy(&b);
    sotto_bench_privacy_noise(&b);
    sotto_bench_device(&b); /* before anything else uses SQLite */
    sotto_bench_db(&b);
    sotto_bench_ingest(&b);
    sotto_bench_oblivious(&b);
    sotto_bench_learning(&b);
    sotto_bench_log(&b);
    sotto_bench_token(&b);
    sotto_bench_sim(&b);
    sotto_bench_discover(&b);
    sotto_bench_pipeline(&b);
    return 0;
}
