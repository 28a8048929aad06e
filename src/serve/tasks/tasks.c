/* Tasks as rows, and compiled in memory. A compiled task is never changed or freed before the server closes. */
#define _POSIX_C_SOURCE 200809L
#include "serve/tasks/tasks_internal.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/rule.h"
#include "serve/tasks/arc_keys.h"
#include "serve/tasks/log_task.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Each second; and when somebody asks for a task that is not there, but no more often than that. */
enum { MAX_TASKS = 1 << 16, LOOK_EVERY_MS = 1000, LOOK_APART_MS = 50 };

typedef sotto_task_entry entry;

/* Rows are only ever added, to both tables: if both have as many rows as before, nothing changed. (A population changes in
 * its row, and is read where it is needed. So do the parties of a task while it waits for its pairing, a row that is yet to
 * come.) */
/* A sum over what is stored. One task may be deleted and another added between two looks. Row numbers are random, so their
 * sum then differs. */
typedef struct extent {
    int64_t tasks, numbers, pairings;
} extent;

struct sotto_tasks {
    sotto_db *db;
    const sotto_column_keys *keys;
    sotto_role role;
    const sotto_log_sink *log;
    pthread_rwlock_t lock; /* over the list; entries themselves don't change */
    entry *first;
    size_t count, broken;
    pthread_mutex_t refreshing; /* over what follows */
    extent read;                /* what was stored when all rows were read */
    bool again;                 /* some row may compile at the next look  */
    pthread_t looker;
    bool looking;
    atomic_bool stopping;
    atomic_uint_fast64_t asked_ms; /* when somebody last asked in vain, and a look followed */
};

/* ---- loading --------------------------------------------------------------------------------------------- */

typedef struct loading {
    sotto_tasks *tasks;
    entry *found; /* the newest first */
    extent there;
    bool changed; /* else nothing was read */
    bool again;
    size_t broken;
    sotto_own_keys own;
} loading;

static entry *find_row(sotto_tasks *tasks, int64_t n)
{
    entry *e = tasks->first;

    while (e && e->task.n != n)
        e = e->next;
    return e;
}

static void forget_found(loading *l)
{
    while (l->found) {
        entry *e = l->found;

        l->found = e->next;
        sotto_task_entry_free(e);
    }
}

/* A row that does not compile here (a newer version's, or damaged) must not keep the others from being served. It may compile later
 * only if memory was short; it is logged once in any case. */
static void pass_over(loading *l, int64_t n, const sotto_err *why)
{
    l->broken++;
    l->again = l->again || why->status == SOTTO_NO_MEMORY;
    if (!l->tasks->again)
        sotto_log(l->tasks->log, SOTTO_LOG_ERROR, "task.broken", sotto_log_int("row", n),
                  sotto_log_text("reason", why->reason));
}

static sotto_status load_token_keys(entry *e, sotto_tx *tx, const sotto_column_keys *columns,
                                    sotto_err *err)
{
    sotto_admitting_keys *keys = &e->task.token_keys;
    sotto_arc_key *own;

    if (!keys->arc)
        return sotto_admitting_keys_load(tx, keys, e->task.n, &e->arena, err);
    keys->own = own = sotto_arena_take(&e->arena, sizeof *own);
    if (!own)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an ARC key");
    return sotto_arc_key_load(tx, own, e->task.n, columns, err);
}

/* A task whose parties are not paired yet is not served: there is no key to verify its reports. */
static sotto_status load_row(sotto_tx *tx, loading *l, const sotto_sql *q, sotto_err *err)
{
    entry *e = sotto_task_entry_new();
    sotto_mistakes mistakes = {0};
    sotto_err why = {0};
    sotto_status status;

    if (!e)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a task");
    e->task.n = sotto_sql_column_int(q, 0);
    status = sotto_task_entry_compile(e, l->tasks->role, sotto_sql_column_bytes(q, 1),
                                      sotto_sql_column_bytes(q, 2),
                                      (size_t)sotto_sql_column_int(q, 3), &mistakes, &why);
    if (status == SOTTO_OK)
        status = sotto_task_entry_check(e, sotto_sql_column_bytes(q, 4), &why);
    if (status == SOTTO_OK)
        status = sotto_task_entry_keys(e, tx, &l->own, true, &why);
    if (status == SOTTO_OK && e->task.token_keys.issuer)
        status = load_token_keys(e, tx, l->tasks->keys, &why);
    if (status == SOTTO_OK)
        status = sotto_task_entry_pair(e, tx, l->tasks->keys, &why);
    if (status == SOTTO_IO) { /* the database's trouble, not the row's */
        sotto_task_entry_free(e);
        return sotto_fail(err, status, "%s", why.reason);
    }
    if (status != SOTTO_OK)
        pass_over(l, e->task.n, &why);
    if (status != SOTTO_OK || !e->task.pairing) {
        sotto_task_entry_free(e);
        return SOTTO_OK;
    }
    e->next = l->found;
    l->found = e;
    return SOTTO_OK;
}

static bool is_known(sotto_tasks *tasks, int64_t n)
{
    bool known;

    (void)pthread_rwlock_rdlock(&tasks->lock);
    known = find_row(tasks, n) != NULL;
    (void)pthread_rwlock_unlock(&tasks->lock);
    return known;
}

static sotto_status measure(sotto_tx *tx, extent *out, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "SELECT (SELECT count(*) FROM task),"
                          " (SELECT CAST(coalesce(sum(n % 1000000007), 0) AS BIGINT) FROM task),"
                          " (SELECT count(*) FROM pairing)",
                          err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *out = (extent){sotto_sql_column_int(&q, 0), sotto_sql_column_int(&q, 1),
                    sotto_sql_column_int(&q, 2)};
    return sotto_sql_run(&q, NULL, err);
}

/* Repeatable: starts from nothing each time. */
static sotto_status load(sotto_tx *tx, void *context, sotto_err *err)
{
    loading *l = context;
    const sotto_tasks *tasks = l->tasks;
    sotto_sql q;
    bool row;

    forget_found(l);
    l->broken = 0;
    l->again = false;
    SOTTO_TRY(measure(tx, &l->there, err));
    l->changed = tasks->again || l->there.tasks != tasks->read.tasks ||
                 l->there.numbers != tasks->read.numbers ||
                 l->there.pairings != tasks->read.pairings;
    if (!l->changed)
        return SOTTO_OK;
    SOTTO_TRY(sotto_keys_own(tx, &l->own, tasks->keys, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT n, recipe, parties, cohort, id FROM task"
                                " WHERE role = ?1 AND n NOT IN (SELECT task FROM retired)"
                                " ORDER BY added, n",
                                err));
    sotto_sql_int(&q, 1, (int64_t)l->tasks->role);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        if (!is_known(l->tasks, sotto_sql_column_int(&q, 0)))
            SOTTO_TRY(load_row(tx, l, &q, err));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

static void adopt(sotto_tasks *tasks, loading *l)
{
    const entry *known = tasks->first; /* which nobody else changes */
    char id[SOTTO_DAP_ID_TEXT_MAX];

    (void)pthread_rwlock_wrlock(&tasks->lock);
    while (l->found && tasks->count < MAX_TASKS) {
        entry *e = l->found;

        l->found = e->next;
        e->next = tasks->first;
        tasks->first = e;
        tasks->count++;
    }
    tasks->broken = l->broken;
    (void)pthread_rwlock_unlock(&tasks->lock);
    tasks->read = l->there;
    tasks->again = l->again;
    for (const entry *e = tasks->first; e != known; e = e->next)
        sotto_log(tasks->log, SOTTO_LOG_INFO, "task.served", sotto_log_task(id, &e->task));
}

sotto_status sotto_tasks_refresh(sotto_tasks *tasks, sotto_err *err)
{
    loading l = {.tasks = tasks};
    sotto_status status;

    (void)pthread_mutex_lock(&tasks->refreshing); /* or two would adopt the same row */
    status = sotto_db_read(tasks->db, load, &l, err);
    if (status == SOTTO_OK && l.changed)
        adopt(tasks, &l);
    (void)pthread_mutex_unlock(&tasks->refreshing);
    forget_found(&l);
    return status;
}

/* ---- the list ---------------------------------------------------------------------------------------------- */

static void *look(void *context)
{
    sotto_tasks *tasks = context;

    while (!atomic_load(&tasks->stopping)) {
        uint64_t seen = sotto_db_woken(tasks->db, SOTTO_TASKS_CHANNEL);

        /* What fails now is looked at again in a second. */
        (void)(sotto_tasks_refresh(tasks, NULL) == SOTTO_OK);
        if (!atomic_load(&tasks->stopping))
            (void)sotto_db_wait(tasks->db, SOTTO_TASKS_CHANNEL, seen, LOOK_EVERY_MS);
    }
    return NULL;
}

sotto_status sotto_tasks_open(sotto_tasks **out, sotto_db *db, const sotto_column_keys *keys,
                              sotto_role role, const sotto_log_sink *log, sotto_err *err)
{
    sotto_tasks *tasks = sotto_alloc(sizeof *tasks);
    sotto_status status;

    if (!tasks)
        return sotto_fail(err, SOTTO_NO_MEMORY, "tasks");
    tasks->db = db;
    tasks->keys = keys;
    tasks->role = role;
    tasks->log = log;
    tasks->read = (extent){-1, -1, -1};
    (void)pthread_rwlock_init(&tasks->lock, NULL);
    (void)pthread_mutex_init(&tasks->refreshing, NULL);
    status = sotto_tasks_refresh(tasks, err);
    if (status == SOTTO_OK && pthread_create(&tasks->looker, NULL, look, tasks) != 0)
        status = sotto_fail(err, SOTTO_IO, "no thread that looks for tasks");
    if (status != SOTTO_OK) {
        sotto_tasks_close(tasks);
        return status;
    }
    tasks->looking = true;
    *out = tasks;
    return SOTTO_OK;
}

void sotto_tasks_stop(sotto_tasks *tasks)
{
    if (!tasks || !tasks->looking)
        return;
    atomic_store(&tasks->stopping, true);
    sotto_db_wake(tasks->db, SOTTO_TASKS_CHANNEL);
    (void)pthread_join(tasks->looker, NULL);
    tasks->looking = false;
}

void sotto_tasks_close(sotto_tasks *tasks)
{
    if (!tasks)
        return;
    sotto_tasks_stop(tasks);
    while (tasks->first) {
        entry *e = tasks->first;

        tasks->first = e->next;
        sotto_task_entry_free(e);
    }
    (void)pthread_rwlock_destroy(&tasks->lock);
    (void)pthread_mutex_destroy(&tasks->refreshing);
    sotto_release(tasks, sizeof *tasks);
}

/* It may have been added since the last look: `sotto admin` is another process, whose commits in SQLite wake nobody here. A stranger may
 * ask for tasks that never were, as often as he likes, and each look is a transaction. */
static void look_soon(sotto_tasks *tasks)
{
    const uint64_t now = sotto_clock_ms();
    uint64_t last = atomic_load(&tasks->asked_ms);

    if (SOTTO_RULE(looks_apart) && now - last < LOOK_APART_MS)
        return;
    if (atomic_compare_exchange_strong(&tasks->asked_ms, &last, now))
        sotto_db_wake(tasks->db, SOTTO_TASKS_CHANNEL);
}

const sotto_server_task *sotto_tasks_find(sotto_tasks *tasks, const uint8_t id[SOTTO_TASK_ID_SIZE])
{
    entry *e;

    (void)pthread_rwlock_rdlock(&tasks->lock);
    for (e = tasks->first; e; e = e->next)
        if (memcmp(e->task.dap.id, id, SOTTO_TASK_ID_SIZE) == 0)
            break;
    (void)pthread_rwlock_unlock(&tasks->lock);
    if (SOTTO_RULE(unknown_is_looked_for) && !e)
        look_soon(tasks);
    return e ? &e->task : NULL;
}

const sotto_server_task *sotto_tasks_by_row(sotto_tasks *tasks, int64_t n)
{
    entry *e;

    (void)pthread_rwlock_rdlock(&tasks->lock);
    e = find_row(tasks, n);
    (void)pthread_rwlock_unlock(&tasks->lock);
    return e ? &e->task : NULL;
}

const sotto_server_task *sotto_tasks_at(sotto_tasks *tasks, size_t i)
{
    entry *e;

    (void)pthread_rwlock_rdlock(&tasks->lock);
    for (e = tasks->first; e && i > 0; e = e->next)
        i--;
    (void)pthread_rwlock_unlock(&tasks->lock);
    return e ? &e->task : NULL;
}

size_t sotto_tasks_count(sotto_tasks *tasks)
{
    size_t count;

    (void)pthread_rwlock_rdlock(&tasks->lock);
    count = tasks->count;
    (void)pthread_rwlock_unlock(&tasks->lock);
    return count;
}

size_t sotto_tasks_broken(sotto_tasks *tasks)
{
    size_t broken;

    (void)pthread_rwlock_rdlock(&tasks->lock);
    broken = tasks->broken;
    (void)pthread_rwlock_unlock(&tasks->lock);
    return broken;
}
