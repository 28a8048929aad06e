#include "crypto/keccak.h"

#include "base/cpu.h"

#include <stdatomic.h>
#include <string.h>

/* The last twelve of the twenty-four constants of Keccak-f[1600] (RFC 9861, 2.2). */
const uint64_t sotto_keccak_round_constants[SOTTO_KECCAK_ROUNDS] = {
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

/* NULL until the first use. Two threads that meet here choose the same. */
static _Atomic(const sotto_keccak_backend *) chosen;

/* The best first; what this machine lacks is NULL. The last one, scalar, never is. */
enum { BACKENDS = 4 };

static void list(const sotto_keccak_backend *found[BACKENDS])
{
    found[0] = found[1] = found[2] = NULL;
    found[3] = &sotto_keccak_scalar;
#if defined(__x86_64__)
    const unsigned cpu = sotto_cpu();

    if (!(cpu & SOTTO_CPU_BMI))
        return;
    found[2] = &sotto_keccak_bmi;
    if (cpu & SOTTO_CPU_AVX2)
        found[1] = &sotto_keccak_avx2;
    if (cpu & SOTTO_CPU_AVX512VL)
        found[0] = &sotto_keccak_avx512vl;
#elif defined(__aarch64__)
    found[0] = &sotto_keccak_neon; /* part of every 64-bit ARM */
#endif
}

/* The best one if name is NULL. */
static const sotto_keccak_backend *find(const char *name)
{
    const sotto_keccak_backend *found[BACKENDS];

    list(found);
    for (unsigned i = 0; i < BACKENDS; i++)
        if (found[i] && (!name || strcmp(name, found[i]->name) == 0))
            return found[i];
    return NULL;
}

static const sotto_keccak_backend *backend(void)
{
    const sotto_keccak_backend *b = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (!b) {
        b = find(NULL);
        atomic_store_explicit(&chosen, b, memory_order_relaxed);
    }
    return b;
}

bool sotto_keccak_use(const char *name)
{
    const sotto_keccak_backend *b = find(name);

    if (b)
        atomic_store_explicit(&chosen, b, memory_order_relaxed);
    return b != NULL;
}

void sotto_keccak_install(const sotto_keccak_backend *backend_of_caller)
{
    atomic_store_explicit(&chosen, backend_of_caller, memory_order_release);
}

const char *sotto_keccak_backend_name(void)
{
    return backend()->name;
}

void sotto_keccak_permute(sotto_keccak_row *words, unsigned lanes)
{
    backend()->permute(words, lanes);
}

void sotto_keccak_absorb(sotto_keccak_row *words, unsigned lanes, unsigned rate,
                         const uint8_t *const *in, size_t blocks)
{
    const sotto_keccak_backend *b = backend();

    if (lanes > 1 && b->absorb) {
        const uint8_t *four[SOTTO_LANES];

        for (unsigned lane = 0; lane < SOTTO_LANES; lane++)
            four[lane] = in[lane < lanes ? lane : 0];
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

        for (unsigned lane = 0; lane < SOTTO_LANES; lane++)
            four[lane] = out[lane < lanes ? lane : 0];
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
