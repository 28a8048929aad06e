#include "serve/host/last_seen.h"

#include "base/alloc.h"

#include <pthread.h>
#include <string.h>

struct sotto_last_seen {
    pthread_mutex_t lock;
    size_t size;
    unsigned looks;
    _Alignas(max_align_t) unsigned char view[];
};

sotto_status sotto_last_seen_new(sotto_last_seen **out, size_t size, sotto_err *err)
{
    sotto_last_seen *seen = sotto_alloc(sizeof *seen + size);

    if (!seen)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a server's health");
    seen->size = size;
    (void)pthread_mutex_init(&seen->lock, NULL);
    *out = seen;
    return SOTTO_OK;
}

void sotto_last_seen_free(sotto_last_seen *seen)
{
    if (!seen)
        return;
    (void)pthread_mutex_destroy(&seen->lock);
    sotto_release(seen, sizeof *seen + seen->size);
}

void sotto_last_seen_put(sotto_last_seen *seen, const void *view)
{
    (void)pthread_mutex_lock(&seen->lock);
    memcpy(seen->view, view, seen->size);
    seen->looks++;
    (void)pthread_mutex_unlock(&seen->lock);
}

unsigned sotto_last_seen_look(sotto_last_seen *seen, void *view)
{
    unsigned looks;

    (void)pthread_mutex_lock(&seen->lock);
    memcpy(view, seen->view, seen->size);
    looks = seen->looks;
    (void)pthread_mutex_unlock(&seen->lock);
    return looks;
}
