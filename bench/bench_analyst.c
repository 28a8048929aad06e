/* What an analyst waits for once the sums are there. */
#include "bench.h"

#include "base/arena.h"
#include "sotto/analyse.h"

#include <string.h>

enum { BINS = 1000000, REPORTS = 5000000 };

/* The example with a bin for each of a million numbers, in place of its two columns. */
static const char by_crowd[] =
    "{\"recipe\": \"1\", \"version\": 1, \"analysis\": \"bench\", \"query\": \"SELECT x FROM y\","
    "\"encode\": {\"x\": {\"type\": \"integer\", \"min\": 0, \"max\": 999999}},"
    "\"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\", \"epsilon_local\": 4.0},"
    "\"participation\": {\"type\": \"poisson\", \"rate\": 0.1},"
    "\"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 0.3, \"delta\": 1e-6, "
    "\"min_cohort\": 40000},"
    "\"aggregation\": {\"trust\": \"split\", \"leader\": \"a\", \"helper\": \"b\"},"
    "\"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": \"2026-11-27T00:00:00Z\", "
    "\"precision\": \"1h\"}, \"population\": 1000000, \"on_no_match\": \"no-value\"}";
static const char by_servers[] =
    "{\"recipe\": \"1\", \"version\": 1, \"analysis\": \"bench\", \"query\": \"SELECT x FROM y\","
    "\"encode\": {\"x\": {\"type\": \"integer\", \"min\": 0, \"max\": 999999}},"
    "\"participation\": {\"type\": \"poisson\", \"rate\": 0.1},"
    "\"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 3, \"delta\": 1e-6, "
    "\"min_cohort\": 40000, \"by\": \"servers\", \"sigma\": 30},"
    "\"aggregation\": {\"trust\": \"split\", \"leader\": \"a\", \"helper\": \"b\"},"
    "\"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": \"2026-11-27T00:00:00Z\", "
    "\"precision\": \"1h\"}, \"population\": 1000000, \"on_no_match\": \"no-value\"}";

typedef struct batch {
    const sotto_recipe *recipe;
    sotto_uint128 *sums;
    size_t count;
    sotto_result_options options;
    sotto_arena held, used;
} batch;

/* Sums as they would come: most of them chance alone, some far above it. */
static void make(batch *b, const char *text, double middle, double spread)
{
    static sotto_mistakes mistakes;
    uint64_t state = 1;

    sotto_arena_init(&b->held, (size_t)1 << 30);
    sotto_arena_init(&b->used, (size_t)1 << 30);
    mistakes = (sotto_mistakes){0};
    sotto_bench_expect(sotto_recipe_read(&b->recipe, sotto_bytes_of(text, strlen(text)), &b->held,
                                         &mistakes, NULL) == SOTTO_OK,
                       "reading the recipe");
    b->sums = sotto_arena_take_array(&b->held, BINS + 1, sizeof *b->sums);
    sotto_bench_expect(b->sums != NULL, "memory for sums");
    for (size_t i = 0; i <= BINS; i++) {
        double off = 0;

        for (int j = 0; j < 12; j++) { /* nearly a bell */
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            off += (double)(state >> 11) * 0x1p-53 - 0.5;
        }
        const int64_t sum = (int64_t)(middle + spread * off + 1e6 / (double)(1 + i));
        b->sums[i] = (sotto_uint128){(uint64_t)sum, sum < 0 ? UINT64_MAX : 0};
    }
}

static void estimate(void *arg)
{
    batch *b = arg;
    sotto_result result;

    sotto_arena_reset(&b->used);
    sotto_bench_expect(sotto_result_estimate(&result, b->recipe, b->sums, b->count, REPORTS,
                                             &b->options, &b->used, NULL) == SOTTO_OK,
                       "estimating");
}

static void run(const sotto_bench *bench, const char *name, const char *text, size_t count,
                double middle, double spread, sotto_result_options options)
{
    static batch b;

    if (!sotto_bench_wanted(bench, name))
        return;
    b.count = count;
    b.options = options;
    make(&b, text, middle, spread);
    (void)sotto_bench_run(bench, name, estimate, &b, 1);
    sotto_arena_clear(&b.used);
    sotto_arena_clear(&b.held);
}

/* One operation is a whole answer of 10^6 bins: counts, intervals of each and of all. */
void sotto_bench_analyst(const sotto_bench *bench)
{
    const sotto_result_options plain = {0}, all = {.rate = 0.1, .adjust = true};

    run(bench, "analyst/estimate-1000000/crowd", by_crowd, BINS, 89931, 297, plain);
    run(bench, "analyst/estimate-1000000/servers", by_servers, BINS + 1, 0, 42.4, plain);
    run(bench, "analyst/estimate-1000000/crowd-scaled-adjusted", by_crowd, BINS, 89931, 297, all);
}
