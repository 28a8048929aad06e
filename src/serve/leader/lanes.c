/* Which segments wait, kept in memory beside the database: no query has to find them, and nobody polls.
 *
 * A lane is found by its task and bucket in a hash table, since a stranger may choose buckets and a task may accept many.
 * Each lane is in one of two queues. One has the lanes that have a job to give. The other has those that wait for more
 * reports, the one that will have waited long enough next at its head. */
#define _POSIX_C_SOURCE 200809L
#include "serve/leader/leader.h"

#include "base/alloc.h"
#include "base/rule.h"

#include <pthread.h>
#include <string.h>

enum { TABLE = 4096, CROWDS = 1024 };

typedef struct waiting {
    struct waiting *next;
    struct waiting *chain; /* in the table of numbers */
    sotto_job_segment segment;
    uint64_t since_ms;
} waiting;

/* How many lanes a task has, for as long as it has any. */
typedef struct crowd {
    struct crowd *chain;
    int64_t task;
    size_t lanes;
} crowd;

typedef struct lane {
    struct lane *chain;         /* in the table */
    struct lane *newer, *older; /* in a queue   */
    int64_t task;
    uint64_t bucket;
    waiting *first, **end;
    size_t reports;
    size_t full;
    uint64_t quiet_since_ms; /* when the newest came, or when more was last on its way */
    uint64_t rest_until_ms;  /* 0: it does not rest */
    bool flush, ready;
} lane;

typedef struct queue {
    lane *oldest, *newest;
} queue;

struct sotto_lanes {
    pthread_mutex_t lock;
    lane *table[TABLE];
    crowd *crowds[CROWDS];
    waiting *numbers[TABLE]; /* of segments, which are random */
    queue ready, aging;
    size_t count, reports;
    uint64_t delay_ms, quiet_ms;
    bool expected; /* more is on its way */
};

sotto_status sotto_lanes_open(sotto_lanes **out, uint64_t job_delay_ms, uint64_t quiet_ms,
                              sotto_err *err)
{
    sotto_lanes *lanes = sotto_alloc(sizeof *lanes);

    if (!lanes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "lanes");
    (void)pthread_mutex_init(&lanes->lock, NULL);
    lanes->delay_ms = job_delay_ms;
    lanes->quiet_ms = quiet_ms > 0 ? quiet_ms : 1; /* what is put off is due later than now */
    *out = lanes;
    return SOTTO_OK;
}

static waiting **number_of(sotto_lanes *lanes, int64_t n)
{
    return &lanes->numbers[(uint64_t)n % TABLE];
}

static void forget(sotto_lanes *lanes, waiting *w)
{
    waiting **at = number_of(lanes, w->segment.n);

    while (*at != w)
        at = &(*at)->chain;
    *at = w->chain;
    sotto_release(w, sizeof *w);
}

static void free_lane(sotto_lanes *lanes, lane *l)
{
    while (l->first) {
        waiting *w = l->first;

        l->first = w->next;
        sotto_cached_reports_free(w->segment.cached);
        forget(lanes, w);
    }
    sotto_release(l, sizeof *l);
}

void sotto_lanes_close(sotto_lanes *lanes)
{
    if (!lanes)
        return;
    for (size_t i = 0; i < TABLE; i++)
        while (lanes->table[i]) {
            lane *l = lanes->table[i];

            lanes->table[i] = l->chain;
            free_lane(lanes, l);
        }
    for (size_t i = 0; i < CROWDS; i++)
        while (lanes->crowds[i]) {
            crowd *c = lanes->crowds[i];

            lanes->crowds[i] = c->chain;
            sotto_release(c, sizeof *c);
        }
    (void)pthread_mutex_destroy(&lanes->lock);
    sotto_release(lanes, sizeof *lanes);
}

/* ---- queues -------------------------------------------------------------------------------------------------- */

/* Where nothing has come for a while, waiting for more only keeps what is there from being verified. */
static uint64_t due_of(const sotto_lanes *lanes, const lane *l)
{
    uint64_t oldest = l->first->since_ms + lanes->delay_ms;
    uint64_t quiet = l->quiet_since_ms + lanes->quiet_ms;

    if (l->rest_until_ms)
        return l->rest_until_ms;
    return quiet < oldest ? quiet : oldest;
}

/* Segments that can't become a job now, since the database fails or the task is unknown, must not be retried in a busy
 * loop. */
static uint64_t rest_of(unsigned tries)
{
    enum { FIRST_MS = 100, LONGEST_MS = 30000 };
    uint64_t rest = FIRST_MS;

    for (unsigned i = 1; i < tries && rest < LONGEST_MS; i++)
        rest *= 2;
    return rest < LONGEST_MS ? rest : LONGEST_MS;
}

static void let_rest(lane *l, unsigned tries, uint64_t now_ms)
{
    uint64_t until = now_ms + rest_of(tries);

    if (tries > 0 && until > l->rest_until_ms)
        l->rest_until_ms = until;
}

static void leave(sotto_lanes *lanes, lane *l)
{
    queue *q = l->ready ? &lanes->ready : &lanes->aging;

    *(l->older ? &l->older->newer : &q->oldest) = l->newer;
    *(l->newer ? &l->newer->older : &q->newest) = l->older;
    l->newer = l->older = NULL;
}

static void enter_behind(queue *q, lane *l, lane *older)
{
    l->older = older;
    l->newer = older ? older->newer : q->oldest;
    *(l->older ? &l->older->newer : &q->oldest) = l;
    *(l->newer ? &l->newer->older : &q->newest) = l;
}

/* At the end of those that are ready, so that one busy lane does not keep the others waiting. Or among those that wait,
 * where it nearly always belongs at the end too. */
static void enter(sotto_lanes *lanes, lane *l)
{
    lane *older;

    l->ready =
        (l->reports >= l->full || l->flush || sotto_job_segment_is_alone(&l->first->segment)) &&
        !l->rest_until_ms;
    if (l->ready) {
        enter_behind(&lanes->ready, l, lanes->ready.newest);
        return;
    }
    older = lanes->aging.newest;
    while (older && due_of(lanes, older) > due_of(lanes, l))
        older = older->older;
    enter_behind(&lanes->aging, l, older);
}

/* It is due only because nothing came to it for a while. */
static bool is_only_quiet(const sotto_lanes *lanes, const lane *l, uint64_t now_ms)
{
    return !l->rest_until_ms && now_ms < l->first->since_ms + lanes->delay_ms;
}

/* Those that have waited long enough. Where more is on its way, a pause means little: the machine may be busy. */
static void ripen(sotto_lanes *lanes, uint64_t now_ms)
{
    lane *l;

    while ((l = lanes->aging.oldest) && now_ms >= due_of(lanes, l)) {
        leave(lanes, l);
        if (lanes->expected && is_only_quiet(lanes, l, now_ms)) {
            l->quiet_since_ms = now_ms;
            enter(lanes, l);
            continue;
        }
        l->ready = true;
        l->rest_until_ms = 0;
        enter_behind(&lanes->ready, l, lanes->ready.newest);
    }
}

void sotto_lanes_expect(sotto_lanes *lanes, bool more)
{
    (void)pthread_mutex_lock(&lanes->lock);
    lanes->expected = more;
    (void)pthread_mutex_unlock(&lanes->lock);
}

/* ---- the table ----------------------------------------------------------------------------------------------- */

uint64_t sotto_lanes_hash(int64_t task, uint64_t bucket)
{
    uint64_t mixed =
        ((uint64_t)task ^ bucket * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);

    return mixed >> 32;
}

static lane **slot_of(sotto_lanes *lanes, int64_t task, uint64_t bucket)
{
    return &lanes->table[sotto_lanes_hash(task, bucket) % TABLE];
}

/* Where the task's is, or would be. */
static crowd **crowd_of(sotto_lanes *lanes, int64_t task)
{
    crowd **at = &lanes->crowds[sotto_lanes_hash(task, 0) % CROWDS];

    while (*at && (*at)->task != task)
        at = &(*at)->chain;
    return at;
}

static bool join_crowd(sotto_lanes *lanes, int64_t task)
{
    crowd **at = crowd_of(lanes, task);

    if (!*at) {
        *at = sotto_alloc(sizeof **at);
        if (!*at)
            return false;
        (*at)->task = task;
    }
    (*at)->lanes++;
    return true;
}

static void leave_crowd(sotto_lanes *lanes, int64_t task)
{
    crowd **at = crowd_of(lanes, task), *c = *at;

    if (!c || --c->lanes > 0)
        return;
    *at = c->chain;
    sotto_release(c, sizeof *c);
}

static lane *find(sotto_lanes *lanes, int64_t task, uint64_t bucket)
{
    lane *l = *slot_of(lanes, task, bucket);

    while (l && (l->task != task || l->bucket != bucket))
        l = l->chain;
    return l;
}

static lane *add_lane(sotto_lanes *lanes, int64_t task, uint64_t bucket)
{
    lane **slot = slot_of(lanes, task, bucket), *l = sotto_alloc(sizeof *l);

    if (!l || !join_crowd(lanes, task)) {
        sotto_release(l, sizeof *l);
        return NULL;
    }
    l->task = task;
    l->bucket = bucket;
    l->end = &l->first;
    l->chain = *slot;
    *slot = l;
    lanes->count++;
    return l;
}

static void remove_lane(sotto_lanes *lanes, lane *l)
{
    lane **at = slot_of(lanes, l->task, l->bucket);

    while (*at != l)
        at = &(*at)->chain;
    *at = l->chain;
    lanes->count--;
    leave_crowd(lanes, l->task);
    free_lane(lanes, l);
}

/* ---- in and out ---------------------------------------------------------------------------------------------- */

sotto_status sotto_lanes_add(sotto_lanes *lanes, int64_t task, uint64_t bucket,
                             const sotto_job_segment *segment, size_t full, uint64_t now_ms)
{
    waiting *w = sotto_alloc(sizeof *w);
    lane *l = NULL;

    (void)pthread_mutex_lock(&lanes->lock);
    if (w) {
        l = find(lanes, task, bucket);
        if (l)
            leave(lanes, l);
        else
            l = add_lane(lanes, task, bucket);
    }
    if (l) {
        waiting **number = number_of(lanes, segment->n);

        *w = (waiting){NULL, *number, *segment, now_ms};
        *number = w;
        *l->end = w;
        l->end = &w->next;
        l->reports += segment->reports;
        l->quiet_since_ms = now_ms;
        l->full = full;
        lanes->reports += segment->reports;
        let_rest(l, sotto_job_segment_tries(segment), now_ms);
        enter(lanes, l);
    }
    (void)pthread_mutex_unlock(&lanes->lock);
    if (!l) {
        sotto_cached_reports_free(segment->cached);
        sotto_release(w, sizeof *w);
    }
    return l ? SOTTO_OK : SOTTO_NO_MEMORY;
}

bool sotto_lanes_have(sotto_lanes *lanes, int64_t n)
{
    const waiting *w;

    (void)pthread_mutex_lock(&lanes->lock);
    w = *number_of(lanes, n);
    while (w && w->segment.n != n)
        w = w->chain;
    (void)pthread_mutex_unlock(&lanes->lock);
    return w != NULL;
}

static bool is_crowded(sotto_lanes *lanes, int64_t task)
{
    const crowd *c = *crowd_of(lanes, task);

    if (SOTTO_RULE(lanes_bounded) && lanes->count >= SOTTO_MAX_LANES)
        return true;
    if (SOTTO_RULE(lanes_bounded_by_task) && c && c->lanes >= SOTTO_MAX_TASK_LANES)
        return true;
    return false;
}

bool sotto_lanes_have_room(sotto_lanes *lanes, int64_t task, uint64_t bucket, uint64_t present)
{
    bool honest = bucket == present || bucket + 1 == present;
    bool room;

    (void)pthread_mutex_lock(&lanes->lock);
    room = honest || find(lanes, task, bucket) || !is_crowded(lanes, task);
    (void)pthread_mutex_unlock(&lanes->lock);
    return room;
}

void sotto_lanes_flush(sotto_lanes *lanes, int64_t task, const sotto_batch_range *range)
{
    (void)pthread_mutex_lock(&lanes->lock);
    for (lane *l = lanes->aging.oldest, *newer; l; l = newer) {
        newer = l->newer;
        if (l->task != task || (!range->leader_selected && (l->bucket < range->first_bucket ||
                                                            l->bucket >= range->end_bucket)))
            continue;
        l->flush = true;
        /* A lane that rests stays where it is. Entered anew, it would be put behind other resting lanes, which would be
         * put behind it in turn, without end. */
        if (l->rest_until_ms)
            continue;
        leave(lanes, l);
        enter(lanes, l);
    }
    (void)pthread_mutex_unlock(&lanes->lock);
}

static bool may_join(const sotto_job_segments *segments, const lane *l)
{
    const sotto_job_segment *next = &l->first->segment;

    if (SOTTO_RULE(unread_alone) &&
        (sotto_job_segment_is_alone(next) || sotto_job_segment_is_alone(&segments->list[0])))
        return false;
    return segments->reports + next->reports <= l->full;
}

/* Whole segments, as many as fit, and one in any case. */
static void fill(sotto_lanes *lanes, lane *l, sotto_job_segments *out)
{
    out->task = l->task;
    out->bucket = l->bucket;
    out->count = 0;
    out->reports = 0;
    while (l->first && out->count < SOTTO_JOB_MAX_SEGMENTS &&
           (out->count == 0 || may_join(out, l))) {
        waiting *w = l->first;

        out->list[out->count++] = w->segment;
        out->reports += w->segment.reports;
        l->first = w->next;
        forget(lanes, w);
    }
    if (!l->first)
        l->end = &l->first;
    l->reports -= out->reports;
    lanes->reports -= out->reports;
}

bool sotto_lanes_take(sotto_lanes *lanes, sotto_job_segments *out, uint64_t now_ms,
                      uint64_t *wait_ms)
{
    lane *l;

    (void)pthread_mutex_lock(&lanes->lock);
    ripen(lanes, now_ms);
    l = lanes->ready.oldest;
    if (l) {
        leave(lanes, l);
        fill(lanes, l, out);
        if (l->first)
            enter(lanes, l);
        else
            remove_lane(lanes, l);
    } else if (lanes->aging.oldest) {
        uint64_t left = due_of(lanes, lanes->aging.oldest) - now_ms;

        *wait_ms = left < *wait_ms ? left : *wait_ms;
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
