#include "crypto/x25519.h"

#include "base/backends.h"
#include "base/cpu.h"

/* Where the crypto library is the best there is. */
static const sotto_x25519_lanes none = {"none", 0, 0, NULL};

/* Instrumented lanes take fifty times as long as the crypto library, so a sanitized build uses them where a test asks by name. */
static const sotto_backend rows[] = {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    {0, &none},
#endif
#if defined(__x86_64__)
    {SOTTO_CPU_IFMA, &sotto_x25519_ifma},
    {SOTTO_CPU_AVX2, &sotto_x25519_avx2},
#endif
    {0, &none},
};
static sotto_backends backends = {rows, sizeof rows / sizeof rows[0], NULL};

static const sotto_x25519_lanes *best(void)
{
    return sotto_backends_chosen(&backends);
}

bool sotto_x25519_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}

const char *sotto_x25519_name(void)
{
    return best()->name;
}

/* Fewer than there are lanes: the first pair fills the others too, for nobody. */
static void multiply_some(const sotto_x25519_lanes *set, uint8_t *const *out,
                          const uint8_t *const *scalars, const uint8_t *const *points, size_t count)
{
    uint8_t unused[SOTTO_X25519_SIZE] = {0}, *o[SOTTO_X25519_MAX_LANES];
    const uint8_t *s[SOTTO_X25519_MAX_LANES], *p[SOTTO_X25519_MAX_LANES];

    for (size_t i = 0; i < set->lanes; i++) {
        o[i] = i < count ? out[i] : unused;
        s[i] = scalars[i < count ? i : 0];
        p[i] = points[i < count ? i : 0];
    }
    set->multiply(o, s, p);
    sotto_wipe(unused, sizeof unused);
}

size_t sotto_x25519_many(uint8_t *const *out, const uint8_t *const *scalars,
                         const uint8_t *const *points, size_t count)
{
    const sotto_x25519_lanes *set = best();
    size_t done = 0;

    if (!set->multiply)
        return 0;
    for (; count - done >= set->lanes; done += set->lanes)
        set->multiply(out + done, scalars + done, points + done);
    if (count - done < set->least)
        return done;
    multiply_some(set, out + done, scalars + done, points + done, count - done);
    return count;
}
