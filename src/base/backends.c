#include "base/backends.h"

#include "base/cpu.h"

#include <string.h>

static const void *find(const sotto_backends *backends, const char *name)
{
    const unsigned cpu = sotto_cpu();

    for (size_t i = 0; i < backends->count; i++) {
        const sotto_backend *row = &backends->rows[i];

        if ((row->needs & ~cpu) == 0 &&
            (!name || strcmp(name, *(const char *const *)row->set) == 0))
            return row->set;
    }
    return NULL;
}

const void *sotto_backends_choose(sotto_backends *backends)
{
    const void *set = find(backends, NULL);

    atomic_store_explicit(&backends->chosen, set, memory_order_relaxed);
    return set;
}

bool sotto_backends_use(sotto_backends *backends, const char *name)
{
    const void *set = find(backends, name);

    if (set)
        atomic_store_explicit(&backends->chosen, set, memory_order_relaxed);
    return set != NULL;
}
