/* Threads that take devices of the file, a block at a time, and the run that they make together. */
#define _POSIX_C_SOURCE 200809L
#include "sim.h"

#include "base/arena.h"
#include "terminal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

typedef struct crew {
    sim_job *job;
    pthread_mutex_t lock; /* over the rows, and what follows */
    sotto_err err;
    uint64_t devices;
    atomic_uint_fast64_t done, total; /* bytes of the file, or devices */
    atomic_bool failed;
    atomic_uint running;
} crew;

typedef struct hand {
    crew *crew;
    sotto_sim_worker *worker;
    sotto_people_block block;
    pthread_t thread;
} hand;

static void fail(crew *c, sotto_status status, const sotto_err *err)
{
    (void)pthread_mutex_lock(&c->lock);
    if (!atomic_load(&c->failed)) {
        c->err = *err;
        c->err.status = status;
    }
    atomic_store(&c->failed, true);
    (void)pthread_mutex_unlock(&c->lock);
}

static sotto_status next_block(hand *h, sotto_err *err)
{
    crew *c = h->crew;
    uint64_t total;

    (void)pthread_mutex_lock(&c->lock);
    const sotto_status status = sotto_people_next(c->job->people, &h->block, err);
    c->devices += status == SOTTO_OK ? h->block.count : 0;
    const uint64_t done = sotto_people_done(c->job->people, &total);
    atomic_store(&c->done, c->job->devices ? c->devices : done);
    atomic_store(&c->total, c->job->devices ? c->job->devices : total);
    (void)pthread_mutex_unlock(&c->lock);
    return status;
}

static sotto_status take_block(hand *h, sotto_err *err)
{
    sotto_sim_device devices[SOTTO_PEOPLE_BLOCK];

    for (size_t i = 0; i < h->block.count; i++) {
        const sotto_person *p = &h->block.people[i];

        devices[i] = (sotto_sim_device){p->rows, p->values, p->times, p->described};
    }
    return sotto_worker_take(h->worker, h->block.first, devices, h->block.count, err);
}

static void *work(void *context)
{
    hand *h = context;
    sotto_err err = {0};
    sotto_status status;

    do {
        status = next_block(h, &err);
        if (status == SOTTO_OK)
            status = take_block(h, &err);
    } while (status == SOTTO_OK && h->block.count > 0 && !atomic_load(&h->crew->failed));
    if (status != SOTTO_OK)
        fail(h->crew, status, &err);
    (void)atomic_fetch_sub(&h->crew->running, 1);
    return NULL;
}

/* Until all threads are done, how far they are. */
static void watch(crew *c, const char *what)
{
    sotto_progress progress = {.what = what, .quiet = c->job->options->quiet};
    const struct timespec moment = {0, 50000000}, short_moment = {0, 2000000};

    for (unsigned looks = 0; atomic_load(&c->running) > 0; looks++) {
        (void)nanosleep(looks < 25 ? &short_moment : &moment, NULL);
        progress.total = atomic_load(&c->total);
        if (progress.total > 0 && looks >= 25)
            sotto_progress_show(&progress, atomic_load(&c->done));
    }
    if (progress.shown > 0)
        sotto_progress_end(&progress);
}

static sotto_status open_hands(crew *c, hand *hands, size_t count, sotto_err *err)
{
    for (size_t i = 0; i < count; i++) {
        hands[i].crew = c;
        sotto_arena_init(&hands[i].block.arena, (size_t)256 << 20);
        SOTTO_TRY(sotto_worker_open(&hands[i].worker, &c->job->trial, err));
    }
    return SOTTO_OK;
}

static sotto_status run_hands(crew *c, hand *hands, size_t count, const char *what, sotto_err *err)
{
    size_t started = 0;

    atomic_store(&c->running, (unsigned)count);
    while (started < count &&
           pthread_create(&hands[started].thread, NULL, work, &hands[started]) == 0)
        started++;
    (void)atomic_fetch_sub(&c->running, (unsigned)(count - started));
    watch(c, what);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(hands[i].thread, NULL);
    if (started == 0)
        return sotto_fail(err, SOTTO_IO, "no thread for the devices");
    if (atomic_load(&c->failed))
        return sotto_fail(err, c->err.status, "%s", c->err.reason);
    c->job->simulated = c->devices;
    return c->devices > 0
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MALFORMED, "%.100s: it has no row behind its first line",
                            c->job->options->csv);
}

/* Each cohort in turn. */
static sotto_status end(sim_job *job, hand *hands, size_t count, sim_outcome_fn *show,
                        void *context, sotto_err *err)
{
    sotto_sim_worker *workers[SIM_THREADS];
    sotto_status status = SOTTO_OK;
    sotto_arena arena;

    for (size_t i = 0; i < count; i++)
        workers[i] = hands[i].worker;
    sotto_arena_init(&arena, (size_t)1 << 30);
    for (size_t i = 0; i < job->trial.cohorts && status == SOTTO_OK; i++) {
        sotto_sim_outcome outcome;

        status = sotto_trial_end(&outcome, &job->trial, workers, count, i, job->options->confidence,
                                 &arena, err);
        if (status == SOTTO_OK)
            status = show(context, job, &outcome, &arena, err);
        sotto_arena_reset(&arena);
    }
    sotto_arena_clear(&arena);
    return status;
}

sotto_status sim_run(sim_job *job, uint64_t repeat, const char *what, sim_outcome_fn *show,
                     void *context, sotto_err *err)
{
    const size_t count = (size_t)job->options->threads;
    const sotto_arena_mark here = sotto_arena_here(&job->arena);
    crew c = {.job = job, .lock = PTHREAD_MUTEX_INITIALIZER};
    hand *hands = sotto_arena_take_array(&job->arena, count, sizeof *hands);

    if (!hands)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%zu threads", count);
    sotto_trial_begin(&job->trial, job->options->seed, repeat, job->options->fast);
    sotto_status status = repeat > 0 ? sotto_people_rewind(job->people, err) : SOTTO_OK;
    if (status == SOTTO_OK)
        status = open_hands(&c, hands, count, err);
    if (status == SOTTO_OK)
        status = run_hands(&c, hands, count, what, err);
    if (status == SOTTO_OK)
        status = end(job, hands, count, show, context, err);
    for (size_t i = 0; i < count; i++) {
        sotto_worker_close(hands[i].worker);
        sotto_arena_clear(&hands[i].block.arena);
    }
    sotto_arena_rollback(&job->arena, here);
    return status;
}
