/* When keys are made, used and replaced. */
#define _POSIX_C_SOURCE 200809L
#include "serve/host/keys_internal.h"

#include <stdlib.h>

static sotto_key_use use_from(int64_t from, const sotto_key_times *times)
{
    const int64_t life = (int64_t)times->active;

    return (sotto_key_use){from, from + life, from + life / 2};
}

void sotto_ring_date(sotto_ring_key *key, const sotto_key_times *times)
{
    if (key->use.from > 0)
        return;
    if (key->state == SOTTO_KEY_ACTIVE)
        key->use = use_from(key->since, times);
    else if (key->state == SOTTO_KEY_PENDING)
        key->use = use_from(key->since + (int64_t)times->pending, times);
}

static int compare(const void *left, const void *right)
{
    const sotto_ring_key *a = left, *b = right;

    if (a->use.from != b->use.from)
        return a->use.from > b->use.from ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

void sotto_ring_sort(sotto_ring *ring)
{
    if (ring->count > 1)
        qsort(ring->keys, ring->count, sizeof ring->keys[0], compare);
}

/* The last that comes into use, or did; NULL: none is used, nor will be. */
static const sotto_ring_key *last_used(const sotto_ring *ring)
{
    for (size_t i = 0; i < ring->count; i++)
        if (ring->keys[i].state == SOTTO_KEY_ACTIVE || ring->keys[i].state == SOTTO_KEY_PENDING)
            return &ring->keys[i];
    return NULL;
}

/* The first that comes into use after `time`; NULL: none does. */
static const sotto_ring_key *next_used(const sotto_ring *ring, int64_t time)
{
    const sotto_ring_key *next = NULL;

    for (size_t i = 0; i < ring->count; i++)
        if (ring->keys[i].state == SOTTO_KEY_PENDING && ring->keys[i].use.from > time)
            next = &ring->keys[i];
    return next;
}

/* A key that is wanted at once, between others that come later. */
static bool plan_renewal(const sotto_ring *ring, sotto_key_use *out, const sotto_key_times *times,
                         int64_t now)
{
    const int64_t from = now + (int64_t)times->pending;
    const sotto_ring_key *next = next_used(ring, now), *after = next_used(ring, from);

    if (next && next->use.from <= from)
        return false;
    *out = use_from(from, times);
    if (after)
        out->next = after->use.from;
    return true;
}

bool sotto_ring_plan(const sotto_ring *ring, sotto_key_use *out, const sotto_key_times *times,
                     int64_t now, bool renew, bool fresh)
{
    const sotto_ring_key *last = last_used(ring);
    const int64_t soonest = now + (int64_t)times->pending, lead = now + (int64_t)times->lead;
    int64_t from, latest;

    if (!last) {
        *out = use_from(ring->count == 0 ? now : soonest, times);
        return true;
    }
    if (renew && plan_renewal(ring, out, times, now))
        return true;
    if (lead < last->use.next)
        return false;
    from = last->use.next;
    /* Files that were published name no more than `last`: those that stay good as long as they can. */
    if (!fresh && from < lead)
        from = lead;
    latest = last->use.until - 2 * (int64_t)times->pending;
    if (from > latest && !fresh)
        from = latest;
    *out = use_from(from < soonest ? soonest : from, times);
    return true;
}

const char *sotto_key_times_check(const sotto_key_times *times)
{
    if (times->active && times->active < 4 * times->pending)
        return "key_active: at least four times as long as key_pending";
    if (times->lead && times->lead < times->pending)
        return "key_lead: at least as long as key_pending";
    if (times->active && times->lead > 4 * times->active) /* a party has 16 keys at most */
        return "key_lead: at most four times as long as key_active";
    return NULL;
}
