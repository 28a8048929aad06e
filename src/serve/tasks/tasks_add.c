/* Adding tasks: compiled here, compared with what the other side says, what was paired and what is stored. */
#include "serve/tasks/arc_keys.h"
#include "serve/tasks/tasks_internal.h"

#include "base/arena.h"
#include "base/rule.h"
#include "recipe/learning_slots.h"
#include "recipe/participation.h"
#include "sotto/lint.h"
#include "sotto/random.h"

#include <string.h>

typedef sotto_task_entry entry;

typedef struct addition {
    const sotto_column_keys *keys;
    sotto_role role;
    sotto_bytes recipe, parties;
    uint64_t population;
    sotto_bytes ids; /* 32 bytes each, by cohort           */
    entry *compiled; /* one of them: all have its collector */
    sotto_admitting_keys token_keys;
} addition;

static bool same_collector(const sotto_server_task *a, const sotto_server_task *b)
{
    return a->collector.id == b->collector.id && a->collector.suite.kem == b->collector.suite.kem &&
           a->collector.suite.kdf == b->collector.suite.kdf &&
           a->collector.suite.aead == b->collector.suite.aead &&
           sotto_bytes_equal_vartime(a->collector.public_key, b->collector.public_key);
}

/* The task is there already, from other bytes. What may have been served keeps its key. */
static sotto_status replace(sotto_tx *tx, const addition *a, entry *old, sotto_bytes id,
                            sotto_err *err)
{
    const sotto_pairing *pairing = a->compiled->task.pairing;
    sotto_sql q;

    if (same_collector(&old->task, &a->compiled->task))
        return SOTTO_OK;
    if (SOTTO_RULE(collector_key_kept) && pairing &&
        sotto_pairing_is_for(pairing, &old->task.collector))
        return sotto_fail(err, SOTTO_DENIED,
                          "this task was added before with another collector key: compare its"
                          " config with what `sotto collect key` printed");
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE task SET parties = ?2 WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, id);
    sotto_sql_bytes(&q, 2, a->parties);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status compare_stored(sotto_tx *tx, const addition *a, sotto_bytes id, sotto_err *err)
{
    sotto_mistakes mistakes = {0};
    sotto_status status;
    entry *old;
    sotto_sql q;
    bool row;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT recipe, parties, cohort FROM task WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, id);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row || sotto_bytes_equal_vartime(sotto_sql_column_bytes(&q, 1), a->parties))
        return SOTTO_OK;
    old = sotto_task_entry_new();
    if (!old)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a task");
    status = sotto_task_entry_compile(old, a->role, sotto_sql_column_bytes(&q, 0),
                                      sotto_sql_column_bytes(&q, 1),
                                      (size_t)sotto_sql_column_int(&q, 2), &mistakes, err);
    if (status == SOTTO_OK)
        status = replace(tx, a, old, id, err);
    sotto_task_entry_free(old);
    return status;
}

/* Rows that are held in memory at once: db/sql.h. */
enum { PAGE = 100 };

/* Those behind *last, up to PAGE of them. What can't be read any more is compared with nothing. */
static sotto_status compare_page(sotto_tx *tx, const addition *a, int64_t *last, bool *more,
                                 sotto_arena *arena, sotto_err *err)
{
    const sotto_recipe *added = a->compiled->task.recipe, *stored;
    unsigned rows = 0;
    sotto_sql q;
    bool row;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "SELECT n, recipe FROM task WHERE role = ?1 AND cohort = 0 AND n > ?2"
                          " ORDER BY n LIMIT ?3",
                          err));
    sotto_sql_int(&q, 1, (int64_t)a->role);
    sotto_sql_int(&q, 2, *last);
    sotto_sql_int(&q, 3, PAGE);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    for (; row; rows++) {
        sotto_mistakes mistakes = {0};

        *last = sotto_sql_column_int(&q, 0);
        if (sotto_recipe_read(&stored, sotto_sql_column_bytes(&q, 1), arena, &mistakes, NULL) ==
            SOTTO_OK) {
            sotto_participation_lint(added, stored, &mistakes);
            if (mistakes.errors > 0)
                return sotto_fail(err, SOTTO_DENIED, "%.60s: %.90s", mistakes.items[0].path,
                                  mistakes.items[0].what);
        }
        sotto_arena_reset(arena);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    *more = rows == PAGE;
    return SOTTO_OK;
}

/* Devices draw once for all recipes of an analysis that have slots: one with others would get no answers. */
static sotto_status compare_analysis(sotto_tx *tx, const addition *a, sotto_err *err)
{
    sotto_status status = SOTTO_OK;
    sotto_arena arena;
    int64_t last = -1;
    bool more = a->compiled->task.recipe != NULL;

    sotto_arena_init(&arena, SOTTO_RECIPE_ARENA);
    while (status == SOTTO_OK && more)
        status = compare_page(tx, a, &last, &more, &arena, err);
    sotto_arena_clear(&arena);
    return status;
}

static sotto_status check_token_keys(const addition *a, sotto_err *err)
{
    const sotto_server_task *task = &a->compiled->task;

    if (task->token_keys.arc && a->token_keys.count > 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "token keys: the task asks for ARC, whose keys are the servers' own");
    if (task->token_keys.arc)
        return SOTTO_OK;
    if (task->token_keys.issuer)
        return sotto_admitting_keys_check(&a->token_keys, &task->dap, err);
    if (a->token_keys.count > 0)
        return sotto_fail(err, SOTTO_DENIED, "token keys: the task asks for no tokens");
    return SOTTO_OK;
}

/* *n: the task's row, whether it is new or not. */
static sotto_status add_row(sotto_tx *tx, int64_t *n, const addition *a, sotto_bytes id,
                            size_t cohort, sotto_err *err)
{
    uint64_t fresh;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_random_bytes(&fresh, sizeof fresh, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO task (n, id, role, recipe, parties, cohort,"
                                " population, added) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, {now})"
                                " ON CONFLICT (id) DO UPDATE SET population ="
                                " CASE WHEN ?7 > 0 THEN ?7 ELSE task.population END RETURNING n",
                                err));
    sotto_sql_int(&q, 1, (int64_t)(fresh >> 1));
    sotto_sql_bytes(&q, 2, id);
    sotto_sql_int(&q, 3, (int64_t)a->role);
    sotto_sql_bytes(&q, 4, a->recipe);
    sotto_sql_bytes(&q, 5, a->parties);
    sotto_sql_int(&q, 6, (int64_t)cohort);
    sotto_sql_int(&q, 7, (int64_t)a->population);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_BUG, "a task has no row");
    *n = sotto_sql_column_int(&q, 0);
    return sotto_sql_run(&q, NULL, err);
}

/* A device has one tag for each epoch. */
static sotto_status bind_epoch(sotto_tx *tx, const sotto_server_task *task, int64_t n,
                               sotto_err *err)
{
    if (SOTTO_RULE(session_in_an_epoch) && sotto_learning_once(task->learning))
        return sotto_arc_key_bind(tx, task->recipe->opens, task->recipe->closes, n, err);
    return sotto_arc_key_bind(tx, (int64_t)task->dap.opens, (int64_t)task->dap.closes, n, err);
}

static sotto_status add_rows(sotto_tx *tx, void *context, sotto_err *err)
{
    const addition *a = context;
    sotto_own_keys own;

    SOTTO_TRY(sotto_tx_guard(tx, SOTTO_PROVISIONING, true, err));
    SOTTO_TRY(sotto_keys_own(tx, &own, a->keys, err));
    SOTTO_TRY(sotto_task_entry_keys(a->compiled, tx, &own, false, err));
    SOTTO_TRY(sotto_task_entry_name(a->compiled, tx, &own, err));
    SOTTO_TRY(sotto_task_entry_pair(a->compiled, tx, a->keys, err));
    SOTTO_TRY(compare_analysis(tx, a, err));
    for (size_t i = 0; i < a->ids.len / SOTTO_TASK_ID_SIZE; i++) {
        sotto_bytes id = sotto_bytes_of(a->ids.data + i * SOTTO_TASK_ID_SIZE, SOTTO_TASK_ID_SIZE);
        int64_t n;

        SOTTO_TRY(compare_stored(tx, a, id, err));
        SOTTO_TRY(add_row(tx, &n, a, id, i, err));
        if (a->compiled->task.token_keys.arc)
            SOTTO_TRY(bind_epoch(tx, &a->compiled->task, n, err));
        else if (a->compiled->task.token_keys.issuer)
            SOTTO_TRY(sotto_admitting_keys_put(tx, &a->token_keys, n, err));
    }
    return sotto_tx_wake(tx, SOTTO_TASKS_CHANNEL, err);
}

static sotto_status lint(const sotto_server_task *task, sotto_mistakes *mistakes, sotto_err *err)
{
    sotto_recipe_verdict verdict;
    sotto_learning_claim learning;
    sotto_recipe_claim claim;

    return task->learning ? sotto_learning_judge(&verdict, &learning, task->learning, NULL, NULL,
                                                 mistakes, err)
                          : sotto_recipe_lint(&claim, task->recipe, NULL, mistakes, err);
}

/* Appends the ids of all tasks of a recipe that passed its lint. */
static sotto_status compile_ids(sotto_buf *ids, const addition *a, sotto_mistakes *mistakes,
                                sotto_err *err)
{
    entry *e = a->compiled;
    uint64_t cohorts = 1;
    sotto_status status =
        sotto_task_entry_compile(e, a->role, a->recipe, a->parties, 0, mistakes, err);
    if (status == SOTTO_OK)
        status = lint(&e->task, mistakes, err);
    if (status == SOTTO_OK)
        cohorts = sotto_recipe_cohorts(e->task.recipe);
    for (uint64_t cohort = 0; status == SOTTO_OK && cohort < cohorts; cohort++) {
        sotto_arena_reset(&e->arena);
        status = sotto_task_entry_compile(e, a->role, a->recipe, a->parties, (size_t)cohort,
                                          mistakes, err);
        if (status == SOTTO_OK) {
            sotto_writer w = sotto_writer_on(ids);

            sotto_write_bytes(&w, sotto_bytes_of(e->task.dap.id, sizeof e->task.dap.id));
            status = sotto_writer_finish(&w, "task ids", err);
        }
    }
    return status;
}

sotto_status sotto_tasks_add(sotto_db *db, const sotto_column_keys *keys, sotto_role role,
                             sotto_bytes recipe, sotto_bytes parties, uint64_t population,
                             sotto_bytes expected, sotto_buf *ids, sotto_mistakes *mistakes,
                             sotto_err *err)
{
    return sotto_tasks_add_admitted(db, keys, role, recipe, parties, NULL, population, expected,
                                    ids, mistakes, err);
}

sotto_status sotto_tasks_add_admitted(sotto_db *db, const sotto_column_keys *keys, sotto_role role,
                                      sotto_bytes recipe, sotto_bytes parties,
                                      const sotto_admitting_keys *token_keys, uint64_t population,
                                      sotto_bytes expected, sotto_buf *ids,
                                      sotto_mistakes *mistakes, sotto_err *err)
{
    addition a = {keys,
                  role,
                  recipe,
                  parties,
                  population,
                  {NULL, 0},
                  sotto_task_entry_new(),
                  token_keys ? *token_keys : (sotto_admitting_keys){0}};
    size_t start = ids->len;
    sotto_status status;

    if (!a.compiled)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a task");
    status = compile_ids(ids, &a, mistakes, err);
    a.ids = sotto_bytes_of(ids->data + start, ids->len - start);
    if (status == SOTTO_OK && expected.len > 0 && !sotto_bytes_equal_vartime(expected, a.ids))
        status = sotto_fail(
            err, SOTTO_DENIED,
            "task ids differ: compare the recipes byte by byte, and the servers' URLs and keys"
            " in the parties files");
    if (status == SOTTO_OK) {
        a.token_keys.issuer = a.compiled->task.token_keys.issuer;
        status = check_token_keys(&a, err);
    }
    if (status == SOTTO_OK)
        status = sotto_db_run(db, add_rows, &a, err);
    sotto_task_entry_free(a.compiled);
    return status;
}

sotto_status sotto_tasks_add_bare(sotto_db *db, const sotto_column_keys *keys, sotto_role role,
                                  const sotto_bare_task *task, uint64_t population,
                                  uint8_t id[SOTTO_TASK_ID_SIZE], sotto_err *err)
{
    entry *e = sotto_task_entry_new();
    size_t size = task->configuration.len + task->collector_config.len + 1024;
    sotto_buf stored;
    sotto_status status;

    if (!e)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a task");
    status = sotto_buf_take(&stored, &e->arena, size, err);
    if (status == SOTTO_OK)
        status = sotto_task_bare_encode(&stored, task, err);
    if (status == SOTTO_OK)
        status = sotto_task_entry_compile(e, role, sotto_bytes_of(NULL, 0),
                                          sotto_buf_bytes(&stored), 0, NULL, err);
    if (status == SOTTO_OK) {
        addition a = {keys,       role,
                      {NULL, 0},  sotto_buf_bytes(&stored),
                      population, {e->task.dap.id, SOTTO_TASK_ID_SIZE},
                      e,          task->token_keys};

        memcpy(id, e->task.dap.id, SOTTO_TASK_ID_SIZE);
        status = check_token_keys(&a, err);
        if (status == SOTTO_OK)
            status = sotto_db_run(db, add_rows, &a, err);
    }
    sotto_task_entry_free(e);
    return status;
}
