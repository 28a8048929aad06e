#include "math/kernels128.h"

#include "base/backends.h"
#include "base/cpu.h"

static const sotto_f128_kernels portable = {
    "portable",
    false,
    sotto_f128_power_sums_portable,
    sotto_f128_vectors_add_portable,
    sotto_f128_factor_level_portable,
};

#if defined(__x86_64__)
static const sotto_f128_kernels avx2 = {
    "avx2",
    false,
    sotto_f128_power_sums_avx2,
    sotto_f128_vectors_add_avx2,
    sotto_f128_factor_level_portable,
};

static const sotto_f128_kernels ifma = {
    "ifma",
    true,
    sotto_f128_power_sums_ifma,
    sotto_f128_vectors_add_ifma,
    sotto_f128_factor_level_ifma,
};
#endif

static const sotto_backend rows[] = {
#if defined(__x86_64__)
    {SOTTO_CPU_IFMA, &ifma},
    {SOTTO_CPU_AVX2, &avx2},
#endif
    {0, &portable},
};
static sotto_backends backends = {rows, sizeof rows / sizeof rows[0], NULL};

const sotto_f128_kernels *sotto_f128_best(void)
{
    return sotto_backends_chosen(&backends);
}

bool sotto_f128_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}
