#include "serve/aggregator/put_queue.h"

#include "base/alloc.h"

void sotto_put_clear(sotto_put *put)
{
    sotto_release(put->answer.data, put->answer.data ? put->answer.cap : 0);
    put->answer = (sotto_buf){0};
}

void sotto_put_queue_init(sotto_put_queue *q)
{
    *q = (sotto_put_queue){.due = UINT64_MAX};
    q->last = &q->first;
    pthread_mutex_init(&q->lock, NULL);
}

void sotto_put_queue_clear(sotto_put_queue *q)
{
    sotto_put_queue_hurry(q);
    for (sotto_put *some; (some = sotto_put_queue_take(q, 0)) != NULL;)
        while (some) {
            sotto_put *one = some;

            some = one->next;
            one->status = SOTTO_IO;
            one->done(one);
        }
    pthread_mutex_destroy(&q->lock);
}

/* By any clock. Who takes may have looked at its clock a moment ago: what is due from "now" on would be left behind. */
#define AT_ONCE ((uint64_t)0)

void sotto_put_queue_add(sotto_put_queue *q, sotto_put *put)
{
    put->next = NULL;
    pthread_mutex_lock(&q->lock);
    *q->last = put;
    q->last = &put->next;
    if (++q->count == 1)
        q->due = q->taken ? q->taken + SOTTO_PUTS_GATHER_MS : AT_ONCE;
    if (!put->may_wait || q->count >= SOTTO_PUTS_TOGETHER)
        q->due = AT_ONCE;
    pthread_mutex_unlock(&q->lock);
}

void sotto_put_queue_return(sotto_put_queue *q, sotto_put *puts, uint64_t due)
{
    sotto_put **end = &puts;

    pthread_mutex_lock(&q->lock);
    for (; *end; end = &(*end)->next)
        q->count++;
    *end = q->first;
    if (!q->first)
        q->last = end;
    q->first = puts;
    q->due = due;
    pthread_mutex_unlock(&q->lock);
}

void sotto_put_queue_hurry(sotto_put_queue *q)
{
    pthread_mutex_lock(&q->lock);
    if (q->first)
        q->due = AT_ONCE;
    pthread_mutex_unlock(&q->lock);
}

bool sotto_put_queue_begin(sotto_put_queue *q, uint64_t now)
{
    pthread_mutex_lock(&q->lock);
    const bool begins = !q->at_work && q->due <= now;
    q->at_work = q->at_work || begins;
    pthread_mutex_unlock(&q->lock);
    return begins;
}

sotto_put *sotto_put_queue_take(sotto_put_queue *q, uint64_t now)
{
    sotto_put *taken = NULL, **end = &taken;

    pthread_mutex_lock(&q->lock);
    q->at_work = q->due <= now;
    if (q->at_work) {
        taken = q->first;
        for (unsigned i = 0; i < SOTTO_PUTS_TOGETHER && *end; i++, q->count--)
            end = &(*end)->next;
        q->first = *end;
        *end = NULL;
        if (!q->first)
            q->last = &q->first;
        q->due = q->first ? AT_ONCE : UINT64_MAX;
        q->taken = now;
    }
    pthread_mutex_unlock(&q->lock);
    return taken;
}

bool sotto_put_queue_is_empty(sotto_put_queue *q)
{
    pthread_mutex_lock(&q->lock);
    const bool empty = !q->first;
    pthread_mutex_unlock(&q->lock);
    return empty;
}

uint64_t sotto_put_queue_wait(sotto_put_queue *q, uint64_t now)
{
    pthread_mutex_lock(&q->lock);
    const uint64_t due = q->due;
    pthread_mutex_unlock(&q->lock);
    return due == UINT64_MAX ? UINT64_MAX : due > now ? due - now : 0;
}
