#define _POSIX_C_SOURCE 200809L
#include "serve/gateway/replays.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "sotto/random.h"

#include <pthread.h>
#include <string.h>

enum { FIRST_SLOTS = 1024, NAME = 16 };

/* Open addressing, at most half full; a slot of zeros is free. */
typedef struct generation {
    uint64_t *slots; /* two for each name */
    size_t slot_count, used;
} generation;

struct sotto_replays {
    pthread_mutex_t lock;
    uint8_t secret[32]; /* a secret, so that nobody can choose names that collide */
    uint64_t most;
    int64_t span; /* a generation takes new names for so many seconds */
    sotto_replays_time began;
    generation now, before;
};

static void clear(generation *g)
{
    sotto_release(g->slots, g->slot_count * NAME);
    *g = (generation){0};
}

/* The place of a name, or the free one where it belongs. */
static uint64_t *place_of(const generation *g, const uint64_t name[2])
{
    size_t i = (size_t)name[0] & (g->slot_count - 1);

    while ((g->slots[2 * i] | g->slots[2 * i + 1]) != 0 &&
           (g->slots[2 * i] != name[0] || g->slots[2 * i + 1] != name[1]))
        i = (i + 1) & (g->slot_count - 1);
    return g->slots + 2 * i;
}

static bool has(const generation *g, const uint64_t name[2])
{
    return g->slot_count > 0 && place_of(g, name)[1] != 0;
}

static sotto_status grow(generation *g, sotto_err *err)
{
    generation larger = {.slot_count = g->slot_count ? 2 * g->slot_count : FIRST_SLOTS};

    larger.slots = sotto_alloc(larger.slot_count * NAME);
    if (!larger.slots)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for replays");
    for (size_t i = 0; i < g->slot_count; i++)
        if (g->slots[2 * i + 1] != 0)
            memcpy(place_of(&larger, g->slots + 2 * i), g->slots + 2 * i, NAME);
    larger.used = g->used;
    clear(g);
    *g = larger;
    return SOTTO_OK;
}

/* A generation ends when both clocks say so. A wall clock that jumps ahead must not clear the memory, and after it was set
 * back the same dates are valid again. To remember longer than needed does no harm. */
static void turn(sotto_replays *r, sotto_replays_time now)
{
    const int64_t by_wall = now.wall - r->began.wall, passed = now.passed - r->began.passed;
    const int64_t age = by_wall < passed ? by_wall : passed;

    if (age < r->span)
        return;
    clear(&r->before);
    if (age < 2 * r->span) {
        r->before = r->now;
        r->now = (generation){0};
    } else {
        clear(&r->now);
    }
    r->began = now;
}

sotto_status sotto_replays_new(sotto_replays **out, uint64_t most, int64_t window, sotto_err *err)
{
    sotto_replays *r = sotto_alloc(sizeof *r);
    sotto_status status;

    if (!r)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for replays");
    r->most = most;
    r->span = 2 * window;
    (void)pthread_mutex_init(&r->lock, NULL);
    status = sotto_random_bytes(r->secret, sizeof r->secret, err);
    if (status != SOTTO_OK) {
        sotto_replays_free(r);
        return status;
    }
    *out = r;
    return SOTTO_OK;
}

void sotto_replays_free(sotto_replays *r)
{
    if (!r)
        return;
    clear(&r->now);
    clear(&r->before);
    (void)pthread_mutex_destroy(&r->lock);
    sotto_release(r, sizeof *r);
}

static sotto_status note(sotto_replays *r, const uint64_t name[2], sotto_err *err)
{
    if (SOTTO_RULE(gateway_no_replay) && (has(&r->now, name) || has(&r->before, name)))
        return sotto_fail(err, SOTTO_STALE, "this request was opened before");
    if (SOTTO_RULE(gateway_replays_bounded) && r->now.used + r->before.used >= r->most)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the memory for replays is full");
    if (2 * r->now.used >= r->now.slot_count)
        SOTTO_TRY(grow(&r->now, err));
    memcpy(place_of(&r->now, name), name, NAME);
    r->now.used++;
    return SOTTO_OK;
}

sotto_status sotto_replays_note(sotto_replays *r, sotto_bytes enc, sotto_replays_time now,
                                sotto_err *err)
{
    uint64_t name[4];
    sotto_hash hash;
    sotto_status status;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(r->secret, sizeof r->secret));
    sotto_hash_update(&hash, enc);
    sotto_hash_final(&hash, (uint8_t *)name);
    name[1] |= 1; /* never zeros */
    (void)pthread_mutex_lock(&r->lock);
    turn(r, now);
    status = note(r, name, err);
    (void)pthread_mutex_unlock(&r->lock);
    return status;
}

uint64_t sotto_replays_count(sotto_replays *r)
{
    (void)pthread_mutex_lock(&r->lock);
    const uint64_t count = r->now.used + r->before.used;
    (void)pthread_mutex_unlock(&r->lock);
    return count;
}
