/* Rounds that run here: who uses them, and what is due by the clock. */
#include "serve/aggregator/aggregator.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/rule.h"
#include "serve/host/steps.h"

#include <string.h>

enum { LOOK_MS = 1000, TICK_MS = 20, AT_ONCE = 16 };

/* ---- the list ------------------------------------------------------------------------------------------------ */

uint64_t sotto_aggregator_now_ms(const sotto_aggregator *a)
{
    return sotto_clock_wall(a->context.clock) / 1000000;
}

sotto_listed_round *sotto_aggregator_find(sotto_aggregator *a, const uint8_t id[SOTTO_ROUND_ID])
{
    for (sotto_listed_round *one = a->rounds; one; one = one->next)
        if (memcmp(sotto_running_posted(one->running)->id, id, SOTTO_ROUND_ID) == 0)
            return one;
    return NULL;
}

void sotto_aggregator_let_go(sotto_aggregator *a, sotto_listed_round *one)
{
    pthread_mutex_lock(&a->lock);
    one->users--;
    for (sotto_listed_round **at = &a->rounds; *at;) {
        sotto_listed_round *old = *at;

        if (old->users > 0 || !sotto_running_is_over(old->running) ||
            !sotto_put_queue_is_empty(sotto_running_puts(old->running))) {
            at = &old->next;
            continue;
        }
        *at = old->next;
        a->count--;
        atomic_fetch_add(&a->over, 1);
        sotto_running_free(old->running);
        sotto_head_free(old->head);
        sotto_release(old, sizeof *old);
    }
    pthread_mutex_unlock(&a->lock);
}

sotto_status sotto_aggregator_enlist(sotto_aggregator *a, sotto_listed_round **out,
                                     sotto_running *running, sotto_err *err)
{
    sotto_listed_round *fresh = sotto_alloc(sizeof *fresh);
    sotto_status status = SOTTO_OK;

    *out = NULL;
    pthread_mutex_lock(&a->lock);
    sotto_listed_round *known = sotto_aggregator_find(a, sotto_running_posted(running)->id);
    if (known) {
        known->users++;
        *out = known;
    } else if (!fresh) {
        status = sotto_fail(err, SOTTO_NO_MEMORY, "a round");
    } else {
        *fresh = (sotto_listed_round){.next = a->rounds, .of = a, .running = running, .users = 1};
        *out = a->rounds = fresh;
        a->count++;
        fresh = NULL;
        running = NULL;
    }
    pthread_mutex_unlock(&a->lock);
    sotto_release(fresh, fresh ? sizeof *fresh : 0);
    sotto_running_free(running);
    if (status == SOTTO_OK && a->host->steps)
        sotto_steps_wake(a->host->steps);
    return status;
}

sotto_status sotto_aggregator_hold(sotto_aggregator *a, sotto_listed_round **out,
                                   const uint8_t id[SOTTO_ROUND_ID], sotto_arena *arena,
                                   sotto_err *err)
{
    sotto_round_outcome outcome;
    sotto_running *running;
    sotto_bytes wire;

    pthread_mutex_lock(&a->lock);
    *out = sotto_aggregator_find(a, id);
    if (*out)
        (*out)->users++;
    pthread_mutex_unlock(&a->lock);
    if (*out)
        return SOTTO_OK;
    /* Whoever asks is not known yet: a round that is over costs a row, not a posting with all its signatures. */
    SOTTO_TRY(sotto_round_store_outcome(a->host->db, id, &outcome, err));
    if (SOTTO_RULE(aggregator_over_is_cheap) && outcome != SOTTO_ROUND_RUNS)
        return sotto_fail(err, SOTTO_STALE, "the round is over");
    SOTTO_TRY(sotto_round_store_posting(a->host->db, id, &wire, arena, err));
    SOTTO_TRY(sotto_running_new(&running, &a->context, wire, err));
    return sotto_aggregator_enlist(a, out, running, err);
}

/* ---- by the clock -------------------------------------------------------------------------------------------------- */

static void tick_round(void *context, sotto_worker *worker)
{
    sotto_listed_round *one = context;
    sotto_aggregator *a = one->of;

    (void)worker;
    sotto_running_tick(one->running);
    pthread_mutex_lock(&a->lock);
    one->ticking = false;
    pthread_mutex_unlock(&a->lock);
    sotto_aggregator_let_go(a, one);
    if (a->host->steps)
        sotto_steps_wake(a->host->steps);
}

/* Rounds of an earlier process, and those that other replicas were given: all of them, also where max_rounds was lowered. */
static void look_for_rounds(void *context, sotto_worker *worker)
{
    sotto_aggregator *a = context;
    uint8_t ids[AT_ONCE][SOTTO_ROUND_ID], last[SOTTO_ROUND_ID];
    size_t count = AT_ONCE;
    sotto_listed_round *one;

    for (const uint8_t *after = NULL; count == AT_ONCE; after = last) {
        if (sotto_round_store_list(a->host->db, after, ids, &count, NULL) != SOTTO_OK)
            break;
        for (size_t i = 0; i < count; i++) {
            if (sotto_aggregator_hold(a, &one, ids[i], worker->arena, NULL) == SOTTO_OK)
                sotto_aggregator_let_go(a, one);
            memcpy(last, ids[i], sizeof last);
        }
    }
    pthread_mutex_lock(&a->lock);
    a->looking = false;
    pthread_mutex_unlock(&a->lock);
}

uint64_t sotto_aggregator_begin_due(void *state, bool looked)
{
    sotto_aggregator *a = state;
    const uint64_t now = sotto_aggregator_now_ms(a);
    uint64_t wait = LOOK_MS;

    (void)looked;
    if (atomic_load(&a->stopped))
        return LOOK_MS;
    pthread_mutex_lock(&a->lock);
    for (sotto_listed_round *one = a->rounds; one; one = one->next) {
        const uint64_t wake = sotto_running_wake(one->running);
        const uint64_t look = sotto_head_begin(a, one, now);

        wait = look < wait ? look : wait;
        if (one->ticking || wake == UINT64_MAX)
            continue;
        if (wake > now) {
            wait = wake - now < wait ? wake - now : wait;
            continue;
        }
        one->ticking = true;
        one->users++;
        if (sotto_pool_post(a->host->pool, tick_round, one, NULL) != SOTTO_OK) {
            one->ticking = false;
            one->users--;
            wait = TICK_MS;
        }
    }
    if (!a->looking && now >= a->next_look) {
        a->next_look = now + LOOK_MS;
        sotto_uploads_look(&a->uploads);
        a->looking = sotto_pool_post(a->host->pool, look_for_rounds, a, NULL) == SOTTO_OK;
    }
    pthread_mutex_unlock(&a->lock);
    return wait;
}
