#include "math/several128.h"

#include "base/backends.h"
#include "base/cpu.h"
#include "math/poly.h"

static size_t room(unsigned log)
{
    (void)log;
    return 0;
}

static void prepare(sotto_f128 *at, unsigned log, const sotto_f128 *roots, const sotto_f128 *shift)
{
    (void)at;
    (void)log;
    (void)roots;
    (void)shift;
}

static void to_odd_values(sotto_f128 *v, size_t count, unsigned log, const sotto_f128 *roots,
                          const sotto_f128 *shift, sotto_f128 *at)
{
    (void)at;
    for (size_t i = 0; i < count; i++)
        sotto_f128_to_odd_values(v + (i << log), log, roots, shift);
}

const sotto_several128 sotto_several128_portable = {"portable", room, prepare, to_odd_values};

static const sotto_backend rows[] = {
#if defined(__x86_64__)
    {SOTTO_CPU_AVX2, &sotto_several128_avx2},
#endif
    {0, &sotto_several128_portable},
};
static sotto_backends backends = {rows, sizeof rows / sizeof rows[0], NULL};

const sotto_several128 *sotto_several128_best(void)
{
    return sotto_backends_chosen(&backends);
}

bool sotto_several128_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}
