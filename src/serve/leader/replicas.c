/* What a leader hears of its other replicas over one PostgreSQL. A job that one of them ended may be what a collection waits
 * for here, and a collection that one of them has may wait for reports in our lanes. SQLite has one process, and nothing of
 * this. */
#include "serve/leader/replicas.h"

#include "base/alloc.h"
#include "serve/leader/collection.h"
#include "serve/tasks/schema.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define CHANNEL "jobs"

enum { FLUSHED_AT_ONCE = 64, WAIT_MS = 1000 };

struct sotto_leader_others {
    sotto_leader *leader;
    pthread_t thread;
    atomic_bool stopping;
};

/* ---- jobs that ended ------------------------------------------------------------------------------------------- */

sotto_status sotto_leader_tell_others(sotto_tx *tx, const sotto_leader *leader, sotto_err *err)
{
    return leader->alone ? SOTTO_OK : sotto_tx_wake(tx, CHANNEL, err);
}

/* What is missed is looked at a second later in any case. */
static void *listen(void *context)
{
    sotto_leader_others *others = context;
    sotto_leader *leader = others->leader;
    sotto_db *db = leader->server->db;

    while (!atomic_load(&others->stopping)) {
        uint64_t seen = sotto_db_woken(db, CHANNEL);

        sotto_steps_hurry(leader->steps, &sotto_leader_queues[SOTTO_LEADER_COLLECTIONS]);
        while (!atomic_load(&others->stopping) && !sotto_db_wait(db, CHANNEL, seen, WAIT_MS))
            ;
    }
    return NULL;
}

sotto_status sotto_leader_others_open(sotto_leader *leader, sotto_err *err)
{
    sotto_leader_others *others;

    if (leader->alone)
        return SOTTO_OK;
    others = sotto_alloc(sizeof *others);
    if (!others)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the leader");
    others->leader = leader;
    if (pthread_create(&others->thread, NULL, listen, others) != 0) {
        sotto_release(others, sizeof *others);
        return sotto_fail(err, SOTTO_IO, "no thread for the leader");
    }
    leader->others = others;
    return SOTTO_OK;
}

void sotto_leader_others_close(sotto_leader *leader)
{
    sotto_leader_others *others = leader->others;

    if (!others)
        return;
    atomic_store(&others->stopping, true);
    sotto_db_wake(leader->server->db, CHANNEL);
    (void)pthread_join(others->thread, NULL);
    sotto_release(others, sizeof *others);
    leader->others = NULL;
}

/* ---- collections that wait --------------------------------------------------------------------------------------- */

/* A few at a time, each time those behind the last. A collection for which too few reports came may be asked for as
 * long as its task lives, and must not hide later ones. */
typedef struct waiting_collections {
    sotto_collection_cursor after, last;
    size_t count;
    int64_t tasks[FLUSHED_AT_ONCE];
    sotto_batch_range ranges[FLUSHED_AT_ONCE];
} waiting_collections;

static sotto_status read_waiting(sotto_tx *tx, void *context, sotto_err *err)
{
    waiting_collections *a = context;
    sotto_sql q;
    bool row;

    a->count = 0;
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT task, first_bucket, end_bucket, added, n FROM release"
                                " WHERE state = ?1 AND (added, n) > (?2, ?3)"
                                " ORDER BY added, n LIMIT ?4",
                                err));
    sotto_sql_int(&q, 1, SOTTO_RELEASE_WAITING);
    sotto_sql_int(&q, 2, a->after.added);
    sotto_sql_int(&q, 3, a->after.n);
    sotto_sql_int(&q, 4, FLUSHED_AT_ONCE);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row && a->count < FLUSHED_AT_ONCE) {
        sotto_batch_range *range = &a->ranges[a->count];

        a->tasks[a->count++] = sotto_sql_column_int(&q, 0);
        *range = (sotto_batch_range){.first_bucket = (uint64_t)sotto_sql_column_int(&q, 1),
                                     .end_bucket = (uint64_t)sotto_sql_column_int(&q, 2)};
        range->leader_selected = range->end_bucket == 0;
        a->last =
            (sotto_collection_cursor){sotto_sql_column_int(&q, 3), sotto_sql_column_int(&q, 4)};
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return sotto_sql_run(&q, NULL, err);
}

void sotto_leader_flush_for_others(sotto_leader *leader)
{
    waiting_collections *a;

    if (leader->alone || sotto_lanes_reports(leader->lanes) == 0)
        return;
    a = sotto_alloc(sizeof *a);
    if (!a)
        return;
    a->after = leader->flushed;
    if (sotto_db_read(leader->server->db, read_waiting, a, NULL) == SOTTO_OK) { /* else later */
        for (size_t i = 0; i < a->count; i++)
            sotto_lanes_flush(leader->lanes, a->tasks[i], &a->ranges[i]);
        leader->flushed = a->count == FLUSHED_AT_ONCE ? a->last : (sotto_collection_cursor){0, 0};
    }
    sotto_release(a, sizeof *a);
}
