/* The permutation and the XOF that every share and proof comes from, for each backend. */
#include "bench.h"

#include "crypto/keccak.h"
#include "crypto/turboshake.h"

#include <stdio.h>

enum { STREAM = 16384 };

typedef struct lanes {
    sotto_turboshake x;
    uint8_t bytes[SOTTO_LANES][STREAM];
} lanes;

static void permute_four(void *arg)
{
    sotto_keccak_permute(((lanes *)arg)->x.words, SOTTO_LANES);
}

static void permute_one(void *arg)
{
    sotto_keccak_permute(((lanes *)arg)->x.words, 1);
}

static void squeeze_four(void *arg)
{
    lanes *l = arg;
    uint8_t *out[SOTTO_LANES] = {l->bytes[0], l->bytes[1], l->bytes[2], l->bytes[3]};

    sotto_turboshake_squeeze(&l->x, out, STREAM);
}

static void absorb_four(void *arg)
{
    lanes *l = arg;
    const uint8_t *in[SOTTO_LANES] = {l->bytes[0], l->bytes[1], l->bytes[2], l->bytes[3]};

    sotto_turboshake_absorb(&l->x, SOTTO_TURBOSHAKE128_RATE, 1, SOTTO_LANES, in, 77, in, STREAM);
}

void sotto_bench_crypto(const sotto_bench *b)
{
    static const char *const backends[] = {"scalar", "bmi", "avx2", "avx512vl", "neon"};
    static lanes l;
    char name[64];

    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        if (!sotto_keccak_use(backends[i]))
            continue;
        absorb_four(&l);
        (void)snprintf(name, sizeof name, "crypto/keccak-one/%s", backends[i]);
        sotto_bench_run(b, name, permute_one, &l, 1);
        (void)snprintf(name, sizeof name, "crypto/keccak-four/%s", backends[i]);
        sotto_bench_run(b, name, permute_four, &l, 1);
        (void)snprintf(name, sizeof name, "crypto/turboshake-squeeze-byte/%s", backends[i]);
        sotto_bench_run(b, name, squeeze_four, &l, (double)STREAM * SOTTO_LANES);
        (void)snprintf(name, sizeof name, "crypto/turboshake-absorb-byte/%s", backends[i]);
        sotto_bench_run(b, name, absorb_four, &l, (double)STREAM * SOTTO_LANES);
    }
    sotto_bench_expect(sotto_keccak_use(NULL), "going back to the best backend");
}
