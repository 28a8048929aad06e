/* Simulated devices at both speeds: a histogram of 100 values, one-hot. */
#include "bench.h"
#include "sim/trial.h"

#include <stdio.h>
#include <string.h>

enum { BINS = 100, DEVICES = 256, FAST = 65536, WHOLE = 256, TEXT = 4096 };

typedef struct bench_town {
    sotto_trial trial;
    sotto_value values[DEVICES];
    int64_t times[DEVICES];
    sotto_sim_device devices[DEVICES];
    sotto_sim_worker *worker;
    uint64_t next;
    size_t count; /* of devices in a call */
} bench_town;

static const char policy[] =
    "{\"policy\": \"p\", \"version\": 1, \"analyses\": {\"a\": {\"epsilon\": 4, \"delta\": 1e-5, "
    "\"reports\": 1, "
    "\"fields\": [\"s.v\"]}}, \"fields\": {\"s.v\": {\"epsilon_local\": 4, \"epsilon\": 4, "
    "\"delta\": 1e-5, "
    "\"reports\": 1}}, \"non_sensitive\": [], \"min_cohort\": 1000, \"honest\": 0.5}";
static const char recipe[] =
    "{\"recipe\": \"r\", \"version\": 1, \"analysis\": \"a\", \"query\": \"SELECT v FROM s\", "
    "\"encode\": {\"v\": {\"type\": \"integer\", \"min\": 0, \"max\": 99}}, "
    "\"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\", \"epsilon_local\": 4.0}, "
    "\"participation\": {\"type\": \"poisson\", \"rate\": 1}, "
    "\"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 1, \"delta\": 1e-6, "
    "\"min_cohort\": 40000}, "
    "\"aggregation\": {\"trust\": \"split\", \"leader\": \"l\", \"helper\": \"h\"}, "
    "\"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": \"2026-11-27T00:00:00Z\", "
    "\"precision\": "
    "\"1h\"}, \"population\": 1000000}";

static void prepare(bench_town *t)
{
    const sotto_field field = {"v", SOTTO_TYPE_INTEGER};
    sotto_err err = {0};

    sotto_bench_expect(sotto_trial_init(&t->trial, sotto_bytes_of(recipe, strlen(recipe)),
                                        sotto_bytes_of(policy, strlen(policy)), NULL,
                                        &err) == SOTTO_OK,
                       err.reason);
    sotto_bench_expect(sotto_trial_type(&t->trial, &field, &err) == SOTTO_OK, err.reason);
    for (size_t i = 0; i < DEVICES; i++) {
        t->values[i] = (sotto_value){SOTTO_TYPE_INTEGER, {.integer = (int64_t)(i % BINS)}};
        t->times[i] = INT64_MIN;
        t->devices[i] = (sotto_sim_device){1, &t->values[i], &t->times[i], NULL};
    }
}

static void take(void *arg)
{
    bench_town *t = arg;
    sotto_err err = {0};

    for (size_t done = 0; done < t->count; done += DEVICES, t->next += DEVICES)
        sotto_bench_expect(sotto_worker_take(t->worker, t->next, t->devices, DEVICES, &err) ==
                               SOTTO_OK,
                           err.reason);
}

static void run(const sotto_bench *b, bench_town *t, const char *name, bool fast)
{
    sotto_err err = {0};

    if (!sotto_bench_wanted(b, name))
        return;
    sotto_trial_begin(&t->trial, 1, 0, fast);
    sotto_bench_expect(sotto_worker_open(&t->worker, &t->trial, &err) == SOTTO_OK, err.reason);
    t->count = fast ? FAST : WHOLE;
    (void)sotto_bench_run(b, name, take, t, (double)t->count);
    sotto_worker_close(t->worker);
}

void sotto_bench_sim(const sotto_bench *b)
{
    static bench_town town;

    if (!sotto_bench_wanted(b, "analyst/sim-fast-histogram-100 analyst/sim-whole-histogram-100"))
        return;
    prepare(&town);
    run(b, &town, "analyst/sim-fast-histogram-100", true);
    run(b, &town, "analyst/sim-whole-histogram-100", false);
    sotto_trial_clear(&town.trial);
}
