#include "crypto/keccak.h"

#include "base/backends.h"
#include "base/cpu.h"

/* The last twelve of the twenty-four constants of Keccak-f[1600] (RFC 9861, 2.2). */
const uint64_t sotto_keccak_round_constants[SOTTO_KECCAK_ROUNDS] = {
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

static const sotto_backend rows[] = {
#if defined(__x86_64__)
    {SOTTO_CPU_BMI | SOTTO_CPU_AVX512VL, &sotto_keccak_avx512vl},
    {SOTTO_CPU_BMI | SOTTO_CPU_AVX2, &sotto_keccak_avx2},
    {SOTTO_CPU_BMI, &sotto_keccak_bmi},
#elif defined(__aarch64__)
    {0, &sotto_keccak_neon}, /* part of every 64-bit ARM */
#endif
    {0, &sotto_keccak_scalar},
};
static sotto_backends backends = {rows, sizeof rows / sizeof rows[0], NULL};

static const sotto_keccak_backend *backend(void)
{
    return sotto_backends_chosen(&backends);
}

bool sotto_keccak_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}

void sotto_keccak_install(const sotto_keccak_backend *backend_of_caller)
{
    atomic_store_explicit(&backends.chosen, backend_of_caller, memory_order_release);
}

const char *sotto_keccak_backend_name(void)
{
    return backend()->name;
}

void sotto_keccak_permute(sotto_keccak_row *words, unsigned lanes)
{
    backend()->permute(words, lanes);
}

/* Pointers of unused lanes are copies of the first. */
static void fill_in(const uint8_t *four[SOTTO_LANES], const uint8_t *const *in, unsigned lanes)
{
    for (unsigned lane = 0; lane < SOTTO_LANES; lane++)
        four[lane] = in[lane < lanes ? lane : 0];
}

static void fill_out(uint8_t *four[SOTTO_LANES], uint8_t *const *out, unsigned lanes)
{
    for (unsigned lane = 0; lane < SOTTO_LANES; lane++)
        four[lane] = out[lane < lanes ? lane : 0];
}

void sotto_keccak_absorb(sotto_keccak_row *words, unsigned lanes, unsigned rate,
                         const uint8_t *const *in, size_t blocks)
{
    const sotto_keccak_backend *b = backend();

    if (lanes > 1 && b->absorb) {
        const uint8_t *four[SOTTO_LANES];

        fill_in(four, in, lanes);
        b->absorb(words, rate, four, blocks);
        return;
    }
    for (size_t at = 0; blocks > 0; blocks--, at += rate) {
        for (unsigned lane = 0; lane < lanes; lane++)
            for (unsigned w = 0; w < rate / 8; w++)
                words[w][lane] ^= sotto_keccak_load(in[lane] + at + (size_t)8 * w);
        b->permute(words, lanes);
    }
}

void sotto_keccak_squeeze(sotto_keccak_row *words, unsigned lanes, unsigned rate,
                          uint8_t *const *out, size_t blocks)
{
    const sotto_keccak_backend *b = backend();

    if (lanes > 1 && b->squeeze) {
        uint8_t *four[SOTTO_LANES];

        fill_out(four, out, lanes);
        b->squeeze(words, rate, four, blocks);
        return;
    }
    for (size_t at = 0; blocks > 0; blocks--, at += rate) {
        b->permute(words, lanes);
        for (unsigned lane = 0; lane < lanes; lane++)
            for (unsigned w = 0; w < rate / 8; w++)
                sotto_keccak_store(out[lane] + at + (size_t)8 * w, words[w][lane]);
    }
}

#ifndef __OPTIMIZE_SIZE__

void sotto_keccak_exchange(sotto_keccak_row *from, uint8_t *const *out, sotto_keccak_row *to,
                           const uint8_t *const *in, unsigned lanes, unsigned rate, size_t blocks)
{
    const sotto_keccak_backend *b = backend();

    if (lanes > 1 && b->exchange) {
        uint8_t *four_out[SOTTO_LANES];
        const uint8_t *four_in[SOTTO_LANES];

        fill_out(four_out, out, lanes);
        fill_in(four_in, in, lanes);
        b->exchange(from, four_out, to, four_in, rate, blocks);
        return;
    }
    sotto_keccak_squeeze(from, lanes, rate, out, blocks);
    sotto_keccak_absorb(to, lanes, rate, in, blocks);
}

#endif
