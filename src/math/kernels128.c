#include "math/kernels128.h"

#include "base/cpu.h"

#include <stdatomic.h>
#include <string.h>

static const sotto_f128_kernels portable = {
    "portable",
    sotto_f128_power_sums_portable,
    sotto_f128_vectors_add_portable,
    sotto_f128_factor_level_portable,
};

#if defined(__x86_64__)
static const sotto_f128_kernels avx2 = {
    "avx2",
    sotto_f128_power_sums_avx2,
    sotto_f128_vectors_add_avx2,
    sotto_f128_factor_level_portable,
};

static const sotto_f128_kernels ifma = {
    "ifma",
    sotto_f128_power_sums_ifma,
    sotto_f128_vectors_add_ifma,
    sotto_f128_factor_level_ifma,
};
#endif

/* NULL until the first use. Two threads that meet here choose the same. */
static _Atomic(const sotto_f128_kernels *) chosen;

/* The best first; what this machine lacks is NULL. The last one never is. */
enum { SETS = 3 };

static void list(const sotto_f128_kernels *found[SETS])
{
    found[0] = found[1] = NULL;
    found[2] = &portable;
#if defined(__x86_64__)
    const unsigned cpu = sotto_cpu();

    if (cpu & SOTTO_CPU_AVX2)
        found[1] = &avx2;
    if (cpu & SOTTO_CPU_IFMA)
        found[0] = &ifma;
#endif
}

/* The best one if name is NULL. */
static const sotto_f128_kernels *find(const char *name)
{
    const sotto_f128_kernels *found[SETS];

    list(found);
    for (unsigned i = 0; i < SETS; i++)
        if (found[i] && (!name || strcmp(name, found[i]->name) == 0))
            return found[i];
    return NULL;
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
