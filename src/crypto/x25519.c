#include "crypto/x25519.h"

#include "base/cpu.h"

#include <stdatomic.h>
#include <string.h>

/* Where the crypto library is the best there is. */
static const sotto_x25519_lanes none = {"none", 0, 0, NULL};

/* NULL until the first use. Two threads that meet here choose the same. */
static _Atomic(const sotto_x25519_lanes *) chosen;

/* The best first; what this machine lacks is NULL. The last one never is. */
enum { SETS = 3 };

static void list(const sotto_x25519_lanes *found[SETS])
{
    found[0] = found[1] = NULL;
    found[2] = &none;
#if defined(__x86_64__)
    const unsigned cpu = sotto_cpu();

    if (cpu & SOTTO_CPU_AVX2)
        found[1] = &sotto_x25519_avx2;
    if (cpu & SOTTO_CPU_IFMA)
        found[0] = &sotto_x25519_ifma;
#endif
}

/* The best one if name is NULL. */
static const sotto_x25519_lanes *find(const char *name)
{
    const sotto_x25519_lanes *found[SETS];

    list(found);
    for (unsigned i = 0; i < SETS; i++)
        if (found[i] && (!name || strcmp(name, found[i]->name) == 0))
            return found[i];
    return NULL;
}

static const sotto_x25519_lanes *best(void)
{
    const sotto_x25519_lanes *set = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (!set) {
        set = find(NULL);
        atomic_store_explicit(&chosen, set, memory_order_relaxed);
    }
    return set;
}

bool sotto_x25519_use(const char *name)
{
    const sotto_x25519_lanes *set = find(name);

    if (set)
        atomic_store_explicit(&chosen, set, memory_order_relaxed);
    return set != NULL;
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
