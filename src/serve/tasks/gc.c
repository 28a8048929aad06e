#include "serve/tasks/gc.h"

#include "base/rule.h"
#include "recipe/learning_correlated.h"
#include "serve/tasks/arc_keys.h"
#include "serve/tasks/listing.h"
#include "serve/tasks/round_noise.h"
#include "serve/tasks/schema.h"
#include "serve/tasks/spent_tokens.h"

enum { DAY = 86400, PASS_ROWS = 5000, TASKS_AT_ONCE = 256 };

typedef struct old_tasks {
    sotto_gc *gc;
    int64_t fresh[TASKS_AT_ONCE], retired[TASKS_AT_ONCE];
    size_t fresh_count, retired_count;
} old_tasks;

/* Until the session is over, later rounds of its recipe may need the noise of one that closed long ago. */
static bool is_needed(const sotto_gc *gc, const sotto_server_task *task)
{
    return sotto_learning_correlated(task->learning) &&
           gc->now < task->learning->head.closes + (int64_t)gc->keep_seconds;
}

/* A run takes up to TASKS_AT_ONCE of each; the next one finds the others. */
static sotto_status sort_task(void *context, const sotto_task_line *line, sotto_err *err)
{
    old_tasks *old = context;
    sotto_gc *gc = old->gc;

    (void)err;
    if (line->retired) {
        if (old->retired_count < TASKS_AT_ONCE)
            old->retired[old->retired_count++] = line->n;
        return SOTTO_OK;
    }
    if (!line->task) { /* when it closes is not known */
        gc->broken++;
        return SOTTO_OK;
    }
    if (gc->now < (int64_t)(line->task->dap.closes + gc->keep_seconds))
        return SOTTO_OK;
    if (SOTTO_RULE(gc_keeps_correlated_noise) && is_needed(gc, line->task))
        return SOTTO_OK;
    if (line->busy)
        gc->waiting++;
    else if (old->fresh_count < TASKS_AT_ONCE)
        old->fresh[old->fresh_count++] = line->n;
    return SOTTO_OK;
}

static sotto_status retire(sotto_tx *tx, void *context, sotto_err *err)
{
    old_tasks *old = context;

    for (size_t i = 0; i < old->fresh_count; i++) {
        sotto_sql q;

        SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                    "INSERT INTO retired (task, since) VALUES (?1, {now})"
                                    " ON CONFLICT DO NOTHING",
                                    err));
        sotto_sql_int(&q, 1, old->fresh[i]);
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
        SOTTO_TRY(sotto_round_noise_forget(tx, old->fresh[i], err));
    }
    return SOTTO_OK;
}

/* ---- sweeping ------------------------------------------------------------------------------------------------ */

/* Keys in an inner SELECT, since not every SQLite has DELETE ... LIMIT. Jobs that are under way stay. */
static const char *const sweeps[] = {
    "DELETE FROM mark WHERE task = ?1 AND report IN"
    " (SELECT report FROM mark WHERE task = ?1 LIMIT ?2)",
    "DELETE FROM refused WHERE task = ?1 AND report IN"
    " (SELECT report FROM refused WHERE task = ?1 LIMIT ?2)",
    "DELETE FROM sub_aggregate WHERE task = ?1 AND job IN"
    " (SELECT job FROM sub_aggregate WHERE task = ?1 LIMIT ?2)",
    "DELETE FROM fold WHERE task = ?1 AND n IN (SELECT n FROM fold WHERE task = ?1 LIMIT ?2)",
    "DELETE FROM job WHERE task = ?1 AND n IN"
    " (SELECT n FROM job WHERE task = ?1 AND state >= 2 LIMIT ?2)",
    "DELETE FROM repair WHERE task = ?1 AND id IN"
    " (SELECT id FROM repair WHERE task = ?1 LIMIT ?2)",
};
enum { SWEEPS = sizeof sweeps / sizeof sweeps[0] };

typedef struct sweep {
    const char *sql;
    int64_t task;
    uint64_t rows, gone;
} sweep;

static sotto_status sweep_some(sotto_tx *tx, void *context, sotto_err *err)
{
    sweep *s = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, s->sql, err));
    sotto_sql_int(&q, 1, s->task);
    sotto_sql_int(&q, 2, (int64_t)s->rows);
    return sotto_sql_run(&q, &s->gone, err);
}

static sotto_status sweep_task(sotto_db *db, sotto_gc *gc, int64_t task, uint64_t *left,
                               sotto_err *err)
{
    uint64_t *counts[SWEEPS] = {&gc->marks,          &gc->refusals, &gc->sub_aggregates,
                                &gc->sub_aggregates, &gc->jobs,     &gc->repairs};

    for (size_t i = 0; i<SWEEPS && * left> 0;) {
        sweep s = {sweeps[i], task, gc->pass_rows < *left ? gc->pass_rows : *left, 0};

        SOTTO_TRY(sotto_db_run(db, sweep_some, &s, err));
        *counts[i] += s.gone;
        *left -= s.gone < *left ? s.gone : *left;
        if (s.gone == 0)
            i++;
    }
    return SOTTO_OK;
}

typedef struct forgetting {
    int64_t before;
    uint64_t rows, gone;
} forgetting;

static sotto_status forget_some(sotto_tx *tx, void *context, sotto_err *err)
{
    forgetting *f = context;

    SOTTO_TRY(sotto_arc_keys_erase(tx, f->before, err));
    return sotto_tokens_forget(tx, f->before, f->rows, &f->gone, err);
}

/* By keys and not by tasks: a task may have one key for each of many collections. */
static sotto_status forget_tokens(sotto_db *db, sotto_gc *gc, uint64_t *left, sotto_err *err)
{
    forgetting s = {.before = gc->now - (int64_t)gc->keep_seconds, .gone = 1};

    while (s.gone > 0 && *left > 0) {
        s.rows = gc->pass_rows < *left ? gc->pass_rows : *left;
        SOTTO_TRY(sotto_db_run(db, forget_some, &s, err));
        gc->tokens += s.gone;
        *left -= s.gone < *left ? s.gone : *left;
    }
    return SOTTO_OK;
}

sotto_status sotto_gc_run(sotto_db *db, sotto_gc *gc, sotto_err *err)
{
    old_tasks old = {.gc = gc};
    uint64_t left = gc->most_rows ? gc->most_rows : UINT64_MAX;

    gc->retired = gc->waiting = gc->marks = gc->refusals = gc->sub_aggregates = gc->jobs =
        gc->repairs = gc->tokens = 0;
    gc->broken = 0;
    if (gc->pass_rows == 0)
        gc->pass_rows = PASS_ROWS;
    if (SOTTO_RULE(gc_after_late) && gc->keep_seconds < gc->late_seconds + DAY)
        return sotto_fail(err, SOTTO_DENIED,
                          "tasks are kept for as long as late reports may come, and a day more");
    SOTTO_TRY(sotto_list_tasks(db, NULL, gc->role, sort_task, &old, err));
    SOTTO_TRY(sotto_db_run(db, retire, &old, err));
    gc->retired = old.fresh_count;
    for (size_t i = 0; i < old.fresh_count; i++)
        SOTTO_TRY(sweep_task(db, gc, old.fresh[i], &left, err));
    for (size_t i = 0; i < old.retired_count; i++)
        SOTTO_TRY(sweep_task(db, gc, old.retired[i], &left, err));
    return forget_tokens(db, gc, &left, err);
}
