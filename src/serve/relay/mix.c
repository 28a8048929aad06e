#define _POSIX_C_SOURCE 200809L
#include "serve/relay/mix.h"

#include "base/alloc.h"
#include "sotto/random.h"

#include <pthread.h>

enum { FIRST_ROOM = 256, IDLE_MS = 1000, POINTER = sizeof(void *) };

struct sotto_mix {
    pthread_mutex_t lock;
    uint64_t least, delay_ms, oldest_ms;
    sotto_mixed **waiting;
    size_t count, room;
};

sotto_status sotto_mix_new(sotto_mix **out, uint64_t least, uint64_t delay_ms, sotto_err *err)
{
    sotto_mix *mix = sotto_alloc(sizeof *mix);

    if (!mix)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a mix");
    mix->least = least;
    mix->delay_ms = delay_ms;
    (void)pthread_mutex_init(&mix->lock, NULL);
    *out = mix;
    return SOTTO_OK;
}

void sotto_mix_free(sotto_mix *mix)
{
    if (!mix)
        return;
    sotto_release(mix->waiting, mix->room * POINTER);
    (void)pthread_mutex_destroy(&mix->lock);
    sotto_release(mix, sizeof *mix);
}

static bool make_room(sotto_mix *mix)
{
    const size_t room = mix->room ? 2 * mix->room : FIRST_ROOM;
    sotto_mixed **longer = sotto_alloc(room * POINTER);

    for (size_t i = 0; longer && i < mix->count; i++)
        longer[i] = mix->waiting[i];
    if (longer) {
        sotto_release(mix->waiting, mix->room * POINTER);
        mix->waiting = longer;
        mix->room = room;
    }
    return longer != NULL;
}

bool sotto_mix_put(sotto_mix *mix, sotto_mixed *one, uint64_t now_ms)
{
    bool whole;

    (void)pthread_mutex_lock(&mix->lock);
    if (mix->count == mix->room && !make_room(mix)) {
        (void)pthread_mutex_unlock(&mix->lock);
        (void)sotto_http_refuse(one->request, &(sotto_http_problem){.status = 503});
        sotto_release(one, sizeof *one);
        return false;
    }
    if (mix->count == 0)
        mix->oldest_ms = now_ms;
    mix->waiting[mix->count++] = one;
    whole = mix->count == mix->least || mix->count == 1;
    (void)pthread_mutex_unlock(&mix->lock);
    return whole;
}

/* Below `limit`, each as likely as the others but for one part in 2^32. */
static size_t pick(uint32_t random, size_t limit)
{
    return (size_t)((uint64_t)random * limit >> 32);
}

/* Fisher and Yates. SOTTO_IO: the system has no randomness now. */
static sotto_status shuffle(sotto_mixed **list, size_t count)
{
    enum { AT_ONCE = 64 };
    uint32_t random[AT_ONCE];

    for (size_t left = count; left > 1; left--) {
        const size_t turn = (count - left) % AT_ONCE;

        if (turn == 0)
            SOTTO_TRY(sotto_random_bytes(random, sizeof random, NULL));
        const size_t other = pick(random[turn], left);
        sotto_mixed *one = list[left - 1];
        list[left - 1] = list[other];
        list[other] = one;
    }
    return SOTTO_OK;
}

sotto_mixed *sotto_mix_take(sotto_mix *mix, uint64_t now_ms, bool all, uint64_t *wait_ms)
{
    sotto_mixed *first = NULL;

    *wait_ms = IDLE_MS;
    (void)pthread_mutex_lock(&mix->lock);
    const uint64_t due_ms = mix->oldest_ms + mix->delay_ms;
    const bool due = all || mix->count >= mix->least || now_ms >= due_ms;
    if (mix->count > 0 && due && shuffle(mix->waiting, mix->count) == SOTTO_OK) {
        for (size_t i = 0; i < mix->count; i++) {
            mix->waiting[i]->next = first;
            first = mix->waiting[i];
        }
        mix->count = 0;
    } else if (mix->count > 0) {
        *wait_ms = due_ms > now_ms ? due_ms - now_ms : 1;
    }
    (void)pthread_mutex_unlock(&mix->lock);
    return first;
}
