/* The generator that keys, seeds and noise come from. */
#include "bench.h"

#include "sotto/random.h"

enum { LARGE = 1 << 20, SEED = 32 };

static void random_large(void *arg)
{
    sotto_bench_expect(sotto_random_bytes(arg, LARGE, NULL) == SOTTO_OK, "random bytes");
}

static void random_seed(void *arg)
{
    sotto_bench_expect(sotto_random_bytes(arg, SEED, NULL) == SOTTO_OK, "random bytes");
}

void sotto_bench_base(const sotto_bench *b)
{
    static uint8_t out[LARGE];

    sotto_bench_run(b, "base/random-byte", random_large, out, LARGE);
    sotto_bench_run(b, "base/random-32-bytes", random_seed, out, 1);
}
