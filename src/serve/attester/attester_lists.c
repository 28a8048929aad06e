#include "serve/attester/attester_lists.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <pthread.h>
#include <string.h>

enum { LISTED = 4096, MISSES = 1024, MISS_MS = 10000 };

/* A device for which the list was fetched, and did not have its key so far. */
typedef struct miss {
    uint8_t device[SOTTO_ATTESTER_ID];
    uint64_t until_ms; /* 0: it had */
} miss;

struct sotto_attester_lists {
    pthread_mutex_t lock;
    sotto_attester_listed listed[LISTED];
    size_t listed_count;
    miss misses[MISSES];
    size_t miss_count;
};

sotto_status sotto_attester_lists_new(sotto_attester_lists **out, sotto_err *err)
{
    *out = sotto_alloc(sizeof **out);
    if (!*out)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the attester's lists");
    pthread_mutex_init(&(*out)->lock, NULL);
    return SOTTO_OK;
}

void sotto_attester_lists_free(sotto_attester_lists *lists)
{
    if (!lists)
        return;
    pthread_mutex_destroy(&lists->lock);
    sotto_release(lists, sizeof *lists);
}

bool sotto_attester_is_listed(sotto_attester_lists *lists, sotto_attester_listed *key)
{
    bool found = false;

    pthread_mutex_lock(&lists->lock);
    for (size_t i = 0; i < LISTED && i < lists->listed_count && !found; i++) {
        const sotto_attester_listed *l = &lists->listed[i];

        found = sotto_attester_is_arc(l->from) == sotto_attester_is_arc(key->from) &&
                memcmp(l->key.id, key->key.id, SOTTO_ATTESTER_ID) == 0;
        if (found)
            *key = *l;
    }
    pthread_mutex_unlock(&lists->lock);
    return found;
}

void sotto_attester_remember(sotto_attester_lists *lists, const sotto_attester_listed *key)
{
    pthread_mutex_lock(&lists->lock);
    lists->listed[lists->listed_count++ % LISTED] = *key;
    pthread_mutex_unlock(&lists->lock);
}

/* Under the lock. */
static miss *miss_of(sotto_attester_lists *lists, const uint8_t device[SOTTO_ATTESTER_ID])
{
    for (size_t i = 0; i < MISSES && i < lists->miss_count; i++)
        if (memcmp(lists->misses[i].device, device, SOTTO_ATTESTER_ID) == 0)
            return &lists->misses[i];
    return NULL;
}

bool sotto_attester_may_fetch(sotto_attester_lists *lists, const uint8_t device[SOTTO_ATTESTER_ID])
{
    const uint64_t now = sotto_clock_ms();
    bool may;

    pthread_mutex_lock(&lists->lock);
    miss *m = miss_of(lists, device);
    may = !m || m->until_ms <= now;
    if (!m) {
        m = &lists->misses[lists->miss_count++ % MISSES];
        memcpy(m->device, device, sizeof m->device);
    }
    if (may)
        m->until_ms = now + MISS_MS;
    pthread_mutex_unlock(&lists->lock);
    return may;
}

void sotto_attester_forget_miss(sotto_attester_lists *lists,
                                const uint8_t device[SOTTO_ATTESTER_ID])
{
    pthread_mutex_lock(&lists->lock);
    miss *m = miss_of(lists, device);
    if (m)
        m->until_ms = 0;
    pthread_mutex_unlock(&lists->lock);
}
