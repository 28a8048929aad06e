/* Which segments wait, kept in memory beside the database: no query has to find them, and nobody polls. */
#define _POSIX_C_SOURCE 200809L
#include "serve/leader.h"

#include "base/alloc.h"

#include <pthread.h>
#include <string.h>

typedef struct waiting {
    struct waiting *next;
    int64_t segment;
    size_t reports;
    uint64_t since_ms;
} waiting;

typedef struct lane {
    struct lane *next;
    int64_t task;
    uint64_t bucket;
    waiting *first, **end;
    size_t reports;
    size_t full;
    bool flush;
} lane;

struct sotto_lanes {
    pthread_mutex_t lock;
    lane *first;
    size_t reports;
    uint64_t delay_ms;
};

sotto_status sotto_lanes_open(sotto_lanes **out, uint64_t job_delay_ms, sotto_err *err)
{
    sotto_lanes *lanes = sotto_alloc(sizeof *lanes);

    if (!lanes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "lanes");
    (void)pthread_mutex_init(&lanes->lock, NULL);
    lanes->delay_ms = job_delay_ms;
    *out = lanes;
    return SOTTO_OK;
}

static void free_lane(lane *l)
{
    while (l->first) {
        waiting *w = l->first;

        l->first = w->next;
        sotto_release(w, sizeof *w);
    }
    sotto_release(l, sizeof *l);
}

void sotto_lanes_close(sotto_lanes *lanes)
{
    if (!lanes)
        return;
    while (lanes->first) {
        lane *l = lanes->first;

        lanes->first = l->next;
        free_lane(l);
    }
    (void)pthread_mutex_destroy(&lanes->lock);
    sotto_release(lanes, sizeof *lanes);
}

static lane *find_or_add(sotto_lanes *lanes, int64_t task, uint64_t bucket)
{
    lane *l;

    for (l = lanes->first; l; l = l->next)
        if (l->task == task && l->bucket == bucket)
            return l;
    l = sotto_alloc(sizeof *l);
    if (!l)
        return NULL;
    l->task = task;
    l->bucket = bucket;
    l->end = &l->first;
    l->next = lanes->first;
    lanes->first = l;
    return l;
}

sotto_status sotto_lanes_add(sotto_lanes *lanes, int64_t task, uint64_t bucket, int64_t segment,
                             size_t reports, size_t full, uint64_t now_ms)
{
    waiting *w = sotto_alloc(sizeof *w);
    lane *l = NULL;

    (void)pthread_mutex_lock(&lanes->lock);
    if (w)
        l = find_or_add(lanes, task, bucket);
    if (l) {
        *w = (waiting){NULL, segment, reports, now_ms};
        *l->end = w;
        l->end = &w->next;
        l->reports += reports;
        l->full = full;
        lanes->reports += reports;
    }
    (void)pthread_mutex_unlock(&lanes->lock);
    if (!l)
        sotto_release(w, sizeof *w);
    return l ? SOTTO_OK : SOTTO_NO_MEMORY;
}

void sotto_lanes_flush(sotto_lanes *lanes, int64_t task, const sotto_batch_range *range)
{
    (void)pthread_mutex_lock(&lanes->lock);
    for (lane *l = lanes->first; l; l = l->next)
        if (l->task == task && (range->leader_selected || (l->bucket >= range->first_bucket &&
                                                           l->bucket < range->end_bucket)))
            l->flush = true;
    (void)pthread_mutex_unlock(&lanes->lock);
}

/* Whether the lane has a load to give; else how long until it has. */
static bool is_ready(const sotto_lanes *lanes, const lane *l, uint64_t now_ms, uint64_t *wait_ms)
{
    uint64_t due = l->first->since_ms + lanes->delay_ms;

    if (l->reports >= l->full || l->flush || now_ms >= due)
        return true;
    if (due - now_ms < *wait_ms)
        *wait_ms = due - now_ms;
    return false;
}

/* Whole segments, as many as fit, and one in any case. */
static void fill(sotto_lanes *lanes, lane *l, sotto_load *out)
{
    out->task = l->task;
    out->bucket = l->bucket;
    out->count = 0;
    out->reports = 0;
    while (l->first && out->count < SOTTO_JOB_MAX_SEGMENTS &&
           (out->count == 0 || out->reports + l->first->reports <= l->full)) {
        waiting *w = l->first;

        out->segments[out->count++] = w->segment;
        out->reports += w->reports;
        l->first = w->next;
        sotto_release(w, sizeof *w);
    }
    if (!l->first)
        l->end = &l->first;
    l->reports -= out->reports;
    lanes->reports -= out->reports;
}

bool sotto_lanes_take(sotto_lanes *lanes, sotto_load *out, uint64_t now_ms, uint64_t *wait_ms)
{
    lane **at, *l = NULL;

    (void)pthread_mutex_lock(&lanes->lock);
    for (at = &lanes->first; *at; at = &(*at)->next)
        if (is_ready(lanes, *at, now_ms, wait_ms)) {
            l = *at;
            break;
        }
    if (l) {
        fill(lanes, l, out);
        *at = l->next;
        if (!l->first) {
            free_lane(l);
        } else { /* to the end, so that one busy lane does not keep the others waiting */
            while (*at)
                at = &(*at)->next;
            l->next = NULL;
            *at = l;
        }
    }
    (void)pthread_mutex_unlock(&lanes->lock);
    return l != NULL;
}

size_t sotto_lanes_reports(sotto_lanes *lanes)
{
    size_t reports;

    (void)pthread_mutex_lock(&lanes->lock);
    reports = lanes->reports;
    (void)pthread_mutex_unlock(&lanes->lock);
    return reports;
}
