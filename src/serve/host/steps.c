/* It does not poll: services wake it. A slow timer finds lost wake-ups, and work that other processes left. */
#define _POSIX_C_SOURCE 200809L
#include "serve/host/steps.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/wait.h"
#include "serve/host/row.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CLAIM_AT_ONCE = 4, LOOK_EVERY_MS = 1000, MAX_WAITING = 64 };

/* One queue, while the runner runs. */
typedef struct running {
    const sotto_queue *queue;
    unsigned under_way;
    bool more; /* the last claim got as many as it asked for: there may be others */
    sotto_lease waiting[MAX_WAITING]; /* some waiting items, tried again when something changes */
    size_t waiting_count;
    sotto_step_times times;
    int64_t retried; /* the last of whose retries ...                                      */
    char reason[SOTTO_STEP_REASON]; /* ... this is the reason; "" for none                 */
} running;

struct sotto_steps {
    const sotto_service *service;
    void *state;
    sotto_db *db;
    int64_t lease_ms;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* over all that follows */
    pthread_cond_t change;
    bool woken, look, stopping;
    unsigned under_way; /* of all queues, and what hurries them */
    running queues[];
};

const unsigned sotto_step_times_ms[SOTTO_STEP_TIMES - 1] = {10,   50,    100,   500,  1000,
                                                            5000, 10000, 30000, 60000};

static size_t size_of(const sotto_service *service)
{
    return sizeof(sotto_steps) + service->queue_count * sizeof(running);
}

static running *running_of(sotto_steps *steps, const sotto_queue *queue)
{
    return &steps->queues[queue - steps->service->queues];
}

/* ---- waking -------------------------------------------------------------------------------------------------------- */

static void wake(sotto_steps *steps, bool look)
{
    (void)pthread_mutex_lock(&steps->lock);
    steps->woken = true;
    steps->look = steps->look || look;
    (void)pthread_cond_broadcast(&steps->change);
    (void)pthread_mutex_unlock(&steps->lock);
}

void sotto_steps_wake(sotto_steps *steps)
{
    wake(steps, false);
}

void sotto_steps_look(sotto_steps *steps)
{
    wake(steps, true);
}

/* ---- beginning ------------------------------------------------------------------------------------------------------- */

/* Under the lock: how many more may begin. */
static unsigned room_in(const sotto_steps *steps, const running *r)
{
    unsigned most = r->queue->most(steps->state);

    return steps->stopping || r->under_way >= most ? 0 : most - r->under_way;
}

bool sotto_steps_have_room(sotto_steps *steps, const sotto_queue *queue)
{
    bool room;

    (void)pthread_mutex_lock(&steps->lock);
    room = room_in(steps, running_of(steps, queue)) > 0;
    (void)pthread_mutex_unlock(&steps->lock);
    return room;
}

sotto_step *sotto_step_begin(sotto_steps *steps, const sotto_queue *queue, int64_t n)
{
    running *r = running_of(steps, queue);
    sotto_step *step = sotto_alloc(sizeof *step);
    bool room;

    if (!step)
        return NULL;
    *step = (sotto_step){.steps = steps, .queue = queue, .n = n, .since_ms = sotto_clock_ms()};
    (void)pthread_mutex_lock(&steps->lock);
    room = room_in(steps, r) > 0;
    if (room) {
        r->under_way++;
        steps->under_way++;
    }
    (void)pthread_mutex_unlock(&steps->lock);
    if (room)
        return step;
    sotto_release(step, sizeof *step);
    return NULL;
}

typedef struct claim {
    int64_t queue, duration_ms;
    size_t most, count;
    sotto_lease leases[CLAIM_AT_ONCE];
} claim;

static sotto_status claim_some(sotto_tx *tx, void *context, sotto_err *err)
{
    claim *c = context;

    return sotto_lease_claim(tx, c->leases, c->most, &c->count, c->queue, c->duration_ms, err);
}

/* What was claimed but can't begin now is found again when its lease ends. */
static void begin(sotto_steps *steps, const sotto_queue *queue, const sotto_lease *lease)
{
    sotto_step *step = sotto_step_begin(steps, queue, sotto_row_of(lease->item, lease->item_len));

    if (!step)
        return;
    step->lease = *lease;
    queue->step(steps->state, step);
}

static void claim_work(sotto_steps *steps, running *r)
{
    claim c = {.queue = r->queue->number, .duration_ms = steps->lease_ms};

    do {
        (void)pthread_mutex_lock(&steps->lock);
        c.most = room_in(steps, r);
        (void)pthread_mutex_unlock(&steps->lock);
        c.most = c.most < CLAIM_AT_ONCE ? c.most : CLAIM_AT_ONCE;
        if (c.most == 0 || sotto_db_run(steps->db, claim_some, &c, NULL) != SOTTO_OK)
            return;
        (void)pthread_mutex_lock(&steps->lock);
        r->more = c.count == c.most;
        (void)pthread_mutex_unlock(&steps->lock);
        for (size_t i = 0; i < c.count; i++)
            begin(steps, r->queue, &c.leases[i]);
    } while (c.count == c.most);
}

/* ---- ending ------------------------------------------------------------------------------------------------------------ */

/* Nothing may touch the runner after this: it may be freed. */
static void leave(sotto_steps *steps, running *r, uint64_t took_ms)
{
    unsigned time = 0;

    while (time < SOTTO_STEP_TIMES - 1 && took_ms > sotto_step_times_ms[time])
        time++;
    (void)pthread_mutex_lock(&steps->lock);
    steps->under_way--;
    if (r) {
        r->times.counts[time]++;
        r->times.sum_ms += took_ms;
        r->under_way--;
        steps->look = steps->look || r->more;
        r->more = false;
    }
    steps->woken = true;
    (void)pthread_cond_broadcast(&steps->change);
    (void)pthread_mutex_unlock(&steps->lock);
}

void sotto_step_end(sotto_step *step)
{
    sotto_steps *steps = step->steps;
    running *r = running_of(steps, step->queue);
    uint64_t took_ms = sotto_clock_ms() - step->since_ms;

    sotto_release(step, sizeof *step);
    leave(steps, r, took_ms);
}

void sotto_steps_times(sotto_steps *steps, const sotto_queue *queue, sotto_step_times *out)
{
    (void)pthread_mutex_lock(&steps->lock);
    *out = running_of(steps, queue)->times;
    (void)pthread_mutex_unlock(&steps->lock);
}

/* If even this fails, the lease runs out, and another step tries the item again. */
static void on_stored(void *context, sotto_status status, const sotto_err *err)
{
    (void)status;
    (void)err;
    sotto_step_end(context);
}

static void post(sotto_step *step, sotto_db_fn *fn, sotto_db_done *done)
{
    step->db = (sotto_db_job){fn, step, done, step, NULL, SOTTO_OK, {0}};
    sotto_db_post(step->steps->db, &step->db);
}

static sotto_status finish(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_step *step = context;

    return sotto_lease_finish(tx, &step->lease, err);
}

void sotto_step_done(sotto_step *step)
{
    post(step, finish, on_stored);
}

int64_t sotto_step_backoff_ms(const sotto_queue *queue, int64_t attempts, int64_t retry_after_ms)
{
    int64_t wait = queue->first_wait_ms;

    for (int64_t i = 1; i < attempts && wait < queue->longest_wait_ms; i++)
        wait *= 2;
    wait = wait < queue->longest_wait_ms ? wait : queue->longest_wait_ms;
    return wait > retry_after_ms ? wait : retry_after_ms;
}

sotto_status sotto_step_release(sotto_tx *tx, const sotto_step *step, sotto_err *err)
{
    int64_t wait = sotto_step_backoff_ms(step->queue, step->lease.attempts, step->retry_after_ms);

    return sotto_lease_release(tx, &step->lease, wait, err);
}

static sotto_status put_off(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_step_release(tx, context, err);
}

void sotto_step_note_retry(const sotto_step *step, const char *reason)
{
    running *r = running_of(step->steps, step->queue);

    (void)pthread_mutex_lock(&step->steps->lock);
    r->retried = step->n;
    (void)snprintf(r->reason, sizeof r->reason, "%s", reason ? reason : "");
    (void)pthread_mutex_unlock(&step->steps->lock);
}

void sotto_step_retry(sotto_step *step, const char *reason)
{
    if (reason)
        sotto_step_note_retry(step, reason);
    post(step, put_off, on_stored);
}

bool sotto_steps_last_retry(sotto_steps *steps, const sotto_queue *queue, int64_t *n,
                            char reason[SOTTO_STEP_REASON])
{
    const running *r = running_of(steps, queue);

    (void)pthread_mutex_lock(&steps->lock);
    *n = r->retried;
    memcpy(reason, r->reason, sizeof r->reason);
    (void)pthread_mutex_unlock(&steps->lock);
    return reason[0] != 0;
}

/* ---- those that wait ----------------------------------------------------------------------------------------------------- */

static sotto_status rest(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_step *step = context;

    return sotto_lease_release(tx, &step->lease, step->wait_ms, err);
}

/* Remembered once its lease is given back: only then can it be claimed early. */
static void on_resting(void *context, sotto_status status, const sotto_err *err)
{
    sotto_step *step = context;
    running *r = running_of(step->steps, step->queue);
    size_t i = 0;

    (void)pthread_mutex_lock(&step->steps->lock);
    while (i < r->waiting_count &&
           memcmp(r->waiting[i].item, step->lease.item, sizeof step->lease.item) != 0)
        i++;
    if (i == r->waiting_count && r->waiting_count < MAX_WAITING)
        r->waiting[r->waiting_count++] = step->lease;
    (void)pthread_mutex_unlock(&step->steps->lock);
    on_stored(step, status, err);
}

void sotto_step_wait(sotto_step *step, int64_t milliseconds)
{
    step->wait_ms = milliseconds;
    post(step, rest, on_resting);
}

typedef struct hurry {
    sotto_steps *steps;
    sotto_lease leases[MAX_WAITING];
    size_t count;
    sotto_db_job db;
} hurry;

static sotto_status hurry_all(sotto_tx *tx, void *context, sotto_err *err)
{
    const hurry *h = context;

    for (size_t i = 0; i < h->count; i++)
        SOTTO_TRY(sotto_lease_hurry(tx, h->leases[i].queue,
                                    sotto_bytes_of(h->leases[i].item, h->leases[i].item_len), err));
    return SOTTO_OK;
}

static void on_hurried(void *context, sotto_status status, const sotto_err *err)
{
    hurry *h = context;
    sotto_steps *steps = h->steps;

    (void)status;
    (void)err;
    sotto_release(h, sizeof *h);
    sotto_steps_look(steps);
    leave(steps, NULL, 0);
}

void sotto_steps_hurry(sotto_steps *steps, const sotto_queue *queue)
{
    running *r = running_of(steps, queue);
    hurry *h = NULL;

    (void)pthread_mutex_lock(&steps->lock);
    if (r->waiting_count > 0)
        h = sotto_alloc(sizeof *h);
    if (h) {
        memcpy(h->leases, r->waiting, r->waiting_count * sizeof *h->leases);
        h->count = r->waiting_count;
        h->steps = steps;
        r->waiting_count = 0;
        steps->under_way++;
    }
    (void)pthread_mutex_unlock(&steps->lock);
    if (!h)
        return;
    h->db = (sotto_db_job){hurry_all, h, on_hurried, h, NULL, SOTTO_OK, {0}};
    sotto_db_post(steps->db, &h->db);
}

/* ---- the thread ----------------------------------------------------------------------------------------------------------- */

/* Until something happens or the time is up; *look if the database should be looked into. False: stop. */
static bool wait_for_change(sotto_steps *steps, uint64_t wait_ms, bool *look)
{
    const struct timespec until = sotto_wait_until(wait_ms);
    bool go_on;

    (void)pthread_mutex_lock(&steps->lock);
    while (!steps->woken && !steps->stopping &&
           pthread_cond_timedwait(&steps->change, &steps->lock, &until) == 0)
        ;
    *look = steps->look;
    steps->woken = steps->look = false;
    go_on = !steps->stopping;
    (void)pthread_mutex_unlock(&steps->lock);
    return go_on;
}

static void *run(void *context)
{
    sotto_steps *steps = context;
    const sotto_service *service = steps->service;
    uint64_t looked = 0, wait = 0;
    bool look;

    while (wait_for_change(steps, wait, &look)) {
        uint64_t now = sotto_clock_ms();

        look = look || now - looked >= LOOK_EVERY_MS;
        for (size_t i = 0; look && i < service->queue_count; i++)
            claim_work(steps, &steps->queues[i]);
        looked = look ? now : looked;
        wait = service->idle ? service->idle(steps->state, look) : LOOK_EVERY_MS;
    }
    return NULL;
}

sotto_status sotto_steps_open(sotto_steps **out, const sotto_service *service, sotto_db *db,
                              uint64_t lease_ms, sotto_err *err)
{
    sotto_steps *steps = sotto_alloc(size_of(service));

    if (!steps || !sotto_wait_init(&steps->change)) {
        sotto_release(steps, steps ? size_of(service) : 0);
        return sotto_fail(err, SOTTO_NO_MEMORY, "a server's steps");
    }
    (void)pthread_mutex_init(&steps->lock, NULL);
    steps->service = service;
    steps->db = db;
    steps->lease_ms = (int64_t)lease_ms;
    for (size_t i = 0; i < service->queue_count; i++)
        steps->queues[i].queue = &service->queues[i];
    *out = steps;
    return SOTTO_OK;
}

/* What a process that was killed had under way waits for its leases to end, unless nobody else can hold them. */
static sotto_status take_over(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_service *service = context;

    for (size_t i = 0; i < service->queue_count; i++)
        SOTTO_TRY(sotto_lease_take_over(tx, service->queues[i].number, err));
    return SOTTO_OK;
}

sotto_status sotto_steps_start(sotto_steps *steps, void *state, bool alone, sotto_err *err)
{
    steps->state = state;
    if (steps->service->queue_count == 0 && !steps->service->idle)
        return SOTTO_OK;
    if (alone)
        SOTTO_TRY(sotto_db_run(steps->db, take_over, (void *)(uintptr_t)steps->service, err));
    if (pthread_create(&steps->thread, NULL, run, steps) != 0)
        return sotto_fail(err, SOTTO_IO, "no thread for a server's steps");
    steps->started = true;
    return SOTTO_OK;
}

/* Until nothing is under way; ms: NULL for as long as it takes. */
static void wait_for_steps(sotto_steps *steps, const uint64_t *ms)
{
    const struct timespec until = sotto_wait_until(ms ? *ms : 0);
    int late = 0;

    (void)pthread_mutex_lock(&steps->lock);
    while (steps->under_way > 0 && late == 0)
        late = ms ? pthread_cond_timedwait(&steps->change, &steps->lock, &until)
                  : pthread_cond_wait(&steps->change, &steps->lock);
    (void)pthread_mutex_unlock(&steps->lock);
}

void sotto_steps_stop(sotto_steps *steps, uint64_t milliseconds)
{
    if (!steps || !steps->started)
        return;
    (void)pthread_mutex_lock(&steps->lock);
    steps->stopping = true;
    (void)pthread_cond_broadcast(&steps->change);
    (void)pthread_mutex_unlock(&steps->lock);
    (void)pthread_join(steps->thread, NULL);
    steps->started = false;
    wait_for_steps(steps, &milliseconds);
}

void sotto_steps_close(sotto_steps *steps)
{
    if (!steps)
        return;
    sotto_steps_stop(steps, 0);
    wait_for_steps(steps, NULL);
    (void)pthread_cond_destroy(&steps->change);
    (void)pthread_mutex_destroy(&steps->lock);
    sotto_release(steps, size_of(steps->service));
}
