#include "serve/leader/collection_waits.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rule.h"

#include <pthread.h>

#define CHANNEL "collections"

enum { IDLE_MS = 1000 };

struct sotto_collection_waits {
    sotto_db *db;
    pthread_t thread;
    pthread_mutex_t lock; /* over all that follows */
    bool started, stopping;
    unsigned wait_ms;
    sotto_collection_wait *first; /* the newest */
    unsigned count;
};

/* ---- whoever waits ------------------------------------------------------------------------------------------------ */

/* The thread is woken for the new one too: what ended just before it came is seen by that look. */
bool sotto_collection_waits_put(sotto_collection_waits *waits, sotto_collection_wait *wait)
{
    bool taken;

    wait->over = wait->expects = wait->looking = wait->given = false;
    (void)pthread_mutex_lock(&waits->lock);
    wait->until_ms = sotto_clock_ms() + waits->wait_ms;
    taken = !waits->stopping;
    if (SOTTO_RULE(collectors_held_bounded) && waits->count >= SOTTO_COLLECTION_WAITS)
        taken = false;
    if (taken) {
        wait->next = waits->first;
        waits->first = wait;
        waits->count++;
    }
    (void)pthread_mutex_unlock(&waits->lock);
    if (taken)
        sotto_db_wake(waits->db, CHANNEL);
    return taken;
}

void sotto_collection_waits_release(sotto_collection_waits *waits, int64_t n)
{
    bool any = false;

    (void)pthread_mutex_lock(&waits->lock);
    for (sotto_collection_wait *w = waits->first; w; w = w->next)
        if (w->n == n)
            any = w->over = true;
    (void)pthread_mutex_unlock(&waits->lock);
    if (any)
        sotto_db_wake(waits->db, CHANNEL);
}

void sotto_collection_waits_expect(sotto_collection_waits *waits, int64_t n)
{
    (void)pthread_mutex_lock(&waits->lock);
    for (sotto_collection_wait *w = waits->first; w; w = w->next)
        w->expects = w->expects || (w->n == n && w->take);
    (void)pthread_mutex_unlock(&waits->lock);
}

void sotto_collection_waits_give(sotto_collection_waits *waits, int64_t n, sotto_bytes answer)
{
    bool any = false;

    (void)pthread_mutex_lock(&waits->lock);
    for (sotto_collection_wait *w = waits->first; w; w = w->next) {
        if (w->n != n || !w->expects)
            continue;
        any = true;
        w->expects = false;
        w->given = !w->looking && answer.len > 0 && w->take(w, answer);
    }
    (void)pthread_mutex_unlock(&waits->lock);
    if (any)
        sotto_db_wake(waits->db, CHANNEL);
}

sotto_status sotto_collection_waits_tell(sotto_tx *tx, sotto_err *err)
{
    return sotto_tx_wake(tx, CHANNEL, err);
}

/* ---- the thread --------------------------------------------------------------------------------------------------- */

static void end(sotto_collection_waits *waits, sotto_collection_wait *wait)
{
    sotto_collection_wait **at = &waits->first;

    (void)pthread_mutex_lock(&waits->lock);
    while (*at != wait)
        at = &(*at)->next;
    *at = wait->next;
    waits->count--;
    (void)pthread_mutex_unlock(&waits->lock);
    wait->answer(wait);
}

/* Whether it may wait no longer; *wait_ms: how long it still may. */
static bool is_last(sotto_collection_waits *waits, const sotto_collection_wait *w,
                    uint64_t *wait_ms)
{
    uint64_t now = sotto_clock_ms(), left = w->until_ms > now ? w->until_ms - now : 0;
    bool last;

    (void)pthread_mutex_lock(&waits->lock);
    last = waits->stopping || w->over || left == 0;
    (void)pthread_mutex_unlock(&waits->lock);
    *wait_ms = left < *wait_ms ? left : *wait_ms;
    return last;
}

/* GIVEN: it has its answer. EXPECTING: that is about to come. */
typedef enum whether { LOOK, GIVEN, EXPECTING } whether;

static whether begin_look(sotto_collection_waits *waits, sotto_collection_wait *w, bool last)
{
    whether what = LOOK;

    (void)pthread_mutex_lock(&waits->lock);
    if (w->given)
        what = GIVEN;
    else if (w->expects && !last)
        what = EXPECTING;
    w->looking = what == LOOK;
    (void)pthread_mutex_unlock(&waits->lock);
    return what;
}

static void end_look(sotto_collection_waits *waits, sotto_collection_wait *w)
{
    (void)pthread_mutex_lock(&waits->lock);
    w->looking = false;
    (void)pthread_mutex_unlock(&waits->lock);
}

static bool is_stopping(sotto_collection_waits *waits)
{
    bool stopping;

    (void)pthread_mutex_lock(&waits->lock);
    stopping = waits->stopping;
    (void)pthread_mutex_unlock(&waits->lock);
    return stopping;
}

/* Looks at each once, and stops at the first look that fails: a look may wait for a database that does not answer, and a
 * drain would wait with it. Returns the milliseconds until the next timeout of those that stay. Only this thread takes any
 * out, and new ones come in front: the list can be walked without the lock. */
static unsigned look_at_all(sotto_collection_waits *waits)
{
    uint64_t wait_ms = IDLE_MS;
    sotto_collection_wait *w, *next;
    bool blind = false;

    (void)pthread_mutex_lock(&waits->lock);
    w = waits->first;
    (void)pthread_mutex_unlock(&waits->lock);
    for (; w; w = next) {
        bool last = is_last(waits, w, &wait_ms);

        next = w->next;
        blind = blind || is_stopping(waits);
        if (SOTTO_RULE(no_looks_at_a_dead_database) && blind) {
            end(waits, w);
            continue;
        }
        whether what = begin_look(waits, w, last);
        if (what == GIVEN)
            end(waits, w);
        if (what != LOOK)
            continue;
        w->unseen = false;
        last = w->look(w) || last;
        blind = w->unseen;
        end_look(waits, w);
        if (last)
            end(waits, w);
    }
    return (unsigned)wait_ms;
}

/* Nobody waits, and nobody will. */
static bool is_over(sotto_collection_waits *waits)
{
    bool over;

    (void)pthread_mutex_lock(&waits->lock);
    over = waits->stopping && !waits->first;
    (void)pthread_mutex_unlock(&waits->lock);
    return over;
}

static void *run(void *context)
{
    sotto_collection_waits *waits = context;

    while (!is_over(waits)) {
        uint64_t seen = sotto_db_woken(waits->db, CHANNEL);
        unsigned wait_ms = look_at_all(waits);

        if (!is_over(waits))
            (void)sotto_db_wait(waits->db, CHANNEL, seen, wait_ms);
    }
    return NULL;
}

sotto_status sotto_collection_waits_open(sotto_collection_waits **out, sotto_db *db, sotto_err *err)
{
    sotto_collection_waits *waits = sotto_alloc(sizeof *waits);

    if (!waits)
        return sotto_fail(err, SOTTO_NO_MEMORY, "collectors that wait");
    waits->db = db;
    waits->wait_ms = SOTTO_COLLECTION_WAIT_MS;
    (void)pthread_mutex_init(&waits->lock, NULL);
    if (pthread_create(&waits->thread, NULL, run, waits) != 0) {
        (void)pthread_mutex_destroy(&waits->lock);
        sotto_release(waits, sizeof *waits);
        return sotto_fail(err, SOTTO_IO, "no thread for collectors that wait");
    }
    waits->started = true;
    *out = waits;
    return SOTTO_OK;
}

void sotto_collection_waits_allow(sotto_collection_waits *waits, unsigned milliseconds)
{
    (void)pthread_mutex_lock(&waits->lock);
    waits->wait_ms = milliseconds;
    (void)pthread_mutex_unlock(&waits->lock);
}

unsigned sotto_collection_waits_count(sotto_collection_waits *waits)
{
    unsigned count;

    (void)pthread_mutex_lock(&waits->lock);
    count = waits->count;
    (void)pthread_mutex_unlock(&waits->lock);
    return count;
}

void sotto_collection_waits_stop(sotto_collection_waits *waits)
{
    if (!waits || !waits->started)
        return;
    (void)pthread_mutex_lock(&waits->lock);
    waits->stopping = true;
    (void)pthread_mutex_unlock(&waits->lock);
    sotto_db_wake(waits->db, CHANNEL);
    (void)pthread_join(waits->thread, NULL);
    waits->started = false;
}

void sotto_collection_waits_close(sotto_collection_waits *waits)
{
    if (!waits)
        return;
    sotto_collection_waits_stop(waits);
    (void)pthread_mutex_destroy(&waits->lock);
    sotto_release(waits, sizeof *waits);
}
