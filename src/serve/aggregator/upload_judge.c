/* Messages that wait to be judged. One thread takes all that came while it was at it. So lanes are filled when there is much to do,
 * and a message that comes alone is judged alone, at once. */
#include "serve/aggregator/aggregator.h"

/* With the lock: those of one round. */
static size_t take_some(sotto_uploads *u, sotto_upload **some)
{
    size_t count = 0;

    while (u->asked && count < SOTTO_JUDGED_TOGETHER &&
           (count == 0 || u->asked->round == some[0]->round)) {
        some[count] = u->asked;
        u->asked = some[count]->behind;
        some[count++]->is_at_work = true;
    }
    if (!u->asked)
        u->last_asked = &u->asked;
    return count;
}

/* With the lock. Those whose requests have gone meanwhile come first, and are counted. */
static size_t tell(sotto_upload **some, const sotto_judged *judged, size_t count)
{
    size_t lost = 0;

    for (size_t i = 0; i < count; i++) {
        sotto_upload *one = some[i];

        one->judged = judged[i];
        one->is_judged = true;
        one->is_at_work = false;
        if (one->is_lost)
            some[lost++] = one;
        else
            sotto_http_wake(one->request);
    }
    return lost;
}

static void judge_asked(void *context, sotto_worker *worker)
{
    sotto_uploads *u = &((sotto_aggregator *)context)->uploads;
    sotto_upload *some[SOTTO_JUDGED_TOGETHER];
    sotto_judged judged[SOTTO_JUDGED_TOGETHER];
    size_t count;

    (void)worker;
    pthread_mutex_lock(&u->lock);
    while ((count = take_some(u, some)) > 0) {
        pthread_mutex_unlock(&u->lock);
        for (size_t i = 0; i < count; i++)
            judged[i] = (sotto_judged){.message = sotto_upload_message(some[i])};
        sotto_running_judge(some[0]->round->running, judged, count);
        pthread_mutex_lock(&u->lock);
        const size_t lost = tell(some, judged, count);
        pthread_mutex_unlock(&u->lock);
        for (size_t i = 0; i < lost; i++)
            sotto_upload_end(some[i]);
        pthread_mutex_lock(&u->lock);
    }
    u->judging = false;
    pthread_mutex_unlock(&u->lock);
}

/* With the lock. */
static void unlist(sotto_uploads *u, const sotto_upload *one)
{
    for (sotto_upload **at = &u->asked; *at; at = &(*at)->behind)
        if (*at == one) {
            *at = one->behind;
            if (u->last_asked == &one->behind)
                u->last_asked = at;
            return;
        }
}

void sotto_upload_ask(sotto_upload *one)
{
    sotto_uploads *u = &one->of->uploads;

    pthread_mutex_lock(&u->lock);
    one->behind = NULL;
    *u->last_asked = one;
    u->last_asked = &one->behind;
    const bool begins = !u->judging;
    u->judging = true;
    pthread_mutex_unlock(&u->lock);
    /* The pool may be full, or end: those that ask meanwhile count on whoever began. */
    if (begins && sotto_pool_post(one->of->host->pool, judge_asked, one->of, NULL) != SOTTO_OK)
        judge_asked(one->of, NULL);
}

bool sotto_upload_is_judged(sotto_upload *one)
{
    sotto_uploads *u = &one->of->uploads;

    pthread_mutex_lock(&u->lock);
    const bool is = one->is_judged;
    pthread_mutex_unlock(&u->lock);
    return is;
}

bool sotto_upload_asks_no_more(sotto_upload *one)
{
    sotto_uploads *u = &one->of->uploads;

    pthread_mutex_lock(&u->lock);
    one->is_lost = one->is_at_work;
    if (!one->is_lost)
        unlist(u, one);
    const bool gone = !one->is_lost;
    pthread_mutex_unlock(&u->lock);
    return gone;
}
