#include "learn/kernels.h"

#include "base/backends.h"
#include "base/cpu.h"

static const sotto_backend rows[] = {
#if defined(__x86_64__)
    {SOTTO_CPU_AVX2 | SOTTO_CPU_FMA, &sotto_kernels_avx2},
#endif
    {0, &sotto_kernels_portable},
};
static sotto_backends backends = {rows, sizeof rows / sizeof rows[0], NULL};

const sotto_kernels *sotto_kernels_chosen(void)
{
    return sotto_backends_chosen(&backends);
}

bool sotto_kernels_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}
