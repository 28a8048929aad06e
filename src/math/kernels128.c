#include "math/kernels128.h"

#include <stdatomic.h>
#include <string.h>

static const sotto_f128_kernels portable = {"portable", sotto_f128_power_sums_portable,
                                            sotto_f128_vectors_add_portable};

#if defined(__x86_64__)
static const sotto_f128_kernels ifma = {"ifma", sotto_f128_power_sums_ifma,
                                        sotto_f128_vectors_add_ifma};

static bool has_ifma(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512ifma");
}
#endif

/* NULL until the first use. Two threads that meet here choose the same. */
static _Atomic(const sotto_f128_kernels *) chosen;

/* The best one if name is NULL. */
static const sotto_f128_kernels *find(const char *name)
{
#if defined(__x86_64__)
    if ((!name || strcmp(name, ifma.name) == 0) && has_ifma())
        return &ifma;
#endif
    return !name || strcmp(name, portable.name) == 0 ? &portable : NULL;
}

const sotto_f128_kernels *sotto_f128_best(void)
{
    const sotto_f128_kernels *k = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (!k) {
        k = find(NULL);
        atomic_store_explicit(&chosen, k, memory_order_relaxed);
    }
    return k;
}

bool sotto_f128_use(const char *name)
{
    const sotto_f128_kernels *k = find(name);

    if (k)
        atomic_store_explicit(&chosen, k, memory_order_relaxed);
    return k != NULL;
}
