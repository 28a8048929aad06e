/* base/backends.h - several implementations of the same functions; the best one that this machine can run is chosen.
 *
 * Callers:  aggregate/shared/mask.c, aggregate/shared/p256_sum.c, crypto/ed25519.c, crypto/gcm.c, crypto/hash_many.c,
 *           crypto/keccak.c, crypto/x25519.c, math/kernels128.c, noise/table_scan.c.
 * Threads:  any. Two that meet at the first use choose the same.
 */
#ifndef SOTTO_BASE_BACKENDS_H
#define SOTTO_BASE_BACKENDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct sotto_backend {
    unsigned needs;  /* bits of base/cpu.h, all of them; 0: any machine                 */
    const void *set; /* a struct of functions whose first member is its name, a text    */
} sotto_backend;

typedef struct sotto_backends {
    const sotto_backend *rows; /* the best first; the last one runs on any machine */
    size_t count;
    _Atomic(const void *) chosen; /* NULL until the first use */
} sotto_backends;

/* The best one, which is chosen from now on. */
const void *sotto_backends_choose(sotto_backends *backends);

/* Chooses the one of this name, or the best one if name is NULL. False: there is none, or not for this machine. */
bool sotto_backends_use(sotto_backends *backends, const char *name);

static inline const void *sotto_backends_chosen(sotto_backends *backends)
{
    const void *set = atomic_load_explicit(&backends->chosen, memory_order_relaxed);

    return set ? set : sotto_backends_choose(backends);
}

#endif
