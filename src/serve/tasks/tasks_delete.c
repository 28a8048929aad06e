/* Deleting a task that was added by mistake: one that no server has ever served, as its parties were never paired. */
#include "serve/tasks/tasks_internal.h"

#include "base/rule.h"

typedef struct deletion {
    sotto_role role;
    sotto_bytes ids;
} deletion;

/* Every table with rows of tasks but `retired`, and `round_noise`: its rows are written with those of `release`, which stay. */
static const char *const kept[] = {
    "SELECT 1 FROM mark WHERE task = ?1 LIMIT 1",
    "SELECT 1 FROM segment WHERE task = ?1 LIMIT 1",
    "SELECT 1 FROM job WHERE task = ?1 LIMIT 1",
    "SELECT 1 FROM sub_aggregate WHERE task = ?1 LIMIT 1",
    "SELECT 1 FROM fold WHERE task = ?1 LIMIT 1",
    "SELECT 1 FROM batch WHERE task = ?1 LIMIT 1",
    "SELECT 1 FROM release WHERE task = ?1 LIMIT 1",
    "SELECT 1 FROM rejection WHERE task = ?1 LIMIT 1",
    "SELECT 1 FROM held WHERE task = ?1 LIMIT 1",
    "SELECT 1 FROM repair WHERE task = ?1 LIMIT 1",
    "SELECT 1 FROM abandoned WHERE task = ?1 LIMIT 1",
    "SELECT 1 FROM refused WHERE task = ?1 LIMIT 1",
};

static sotto_status check_empty(sotto_tx *tx, int64_t n, sotto_err *err)
{
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        sotto_sql q;
        bool any;

        SOTTO_TRY(sotto_sql_prepare(tx, &q, kept[i], err));
        sotto_sql_int(&q, 1, n);
        SOTTO_TRY(sotto_sql_any(&q, &any, err));
        if (SOTTO_RULE(task_delete_without_reports) && any)
            return sotto_fail(err, SOTTO_DENIED, "task: reports of it came, so it stays");
    }
    return SOTTO_OK;
}

/* A pairing is never deleted, so parties that are not paired now never were. */
static sotto_status check_unpaired(sotto_tx *tx, const sotto_server_task *task, sotto_err *err)
{
    char parties[SOTTO_PARTIES_TEXT];
    sotto_sql q;
    bool paired;

    sotto_pairing_parties(parties, task->leader, task->helper);
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT 1 FROM pairing WHERE peer = ?1 LIMIT 1", err));
    sotto_sql_text(&q, 1, parties);
    SOTTO_TRY(sotto_sql_any(&q, &paired, err));
    if (SOTTO_RULE(task_delete_unpaired) && paired)
        return sotto_fail(err, SOTTO_DENIED,
                          "task: its parties are paired, so a server may be serving it; `sotto "
                          "admin gc` retires it after it closed");
    return SOTTO_OK;
}

/* Its parties follow from its recipe. If this version can't read that, another version may be serving
 * the task. */
static sotto_status check(sotto_tx *tx, int64_t *n, const deletion *d, sotto_bytes id,
                          sotto_err *err)
{
    sotto_task_entry *e = sotto_task_entry_new();
    sotto_mistakes mistakes = {0};
    sotto_sql q;
    bool row;

    if (!e)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a task");
    sotto_status status = sotto_sql_prepare(
        tx, &q, "SELECT n, recipe, parties, cohort FROM task WHERE id = ?1 AND role = ?2", err);
    sotto_sql_bytes(&q, 1, id);
    sotto_sql_int(&q, 2, (int64_t)d->role);
    if (status == SOTTO_OK)
        status = sotto_sql_step(&q, &row, err);
    if (status == SOTTO_OK && !row)
        status = sotto_fail(err, SOTTO_MISSING, "task: there is none with this id");
    if (status == SOTTO_OK) {
        *n = sotto_sql_column_int(&q, 0);
        status = sotto_task_entry_compile(e, d->role, sotto_sql_column_bytes(&q, 1),
                                          sotto_sql_column_bytes(&q, 2),
                                          (size_t)sotto_sql_column_int(&q, 3), &mistakes, err);
    }
    if (status == SOTTO_OK)
        status = check_unpaired(tx, &e->task, err);
    sotto_task_entry_free(e);
    return status;
}

static sotto_status delete_row(sotto_tx *tx, int64_t n, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM token_key WHERE task = ?1", err));
    sotto_sql_int(&q, 1, n);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM task WHERE n = ?1", err));
    sotto_sql_int(&q, 1, n);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status delete_all(sotto_tx *tx, void *context, sotto_err *err)
{
    const deletion *d = context;

    SOTTO_TRY(sotto_tx_guard(tx, SOTTO_PROVISIONING, true, err)); /* no pairing comes meanwhile */
    for (size_t i = 0; i < d->ids.len / SOTTO_TASK_ID_SIZE; i++) {
        int64_t n = 0;

        SOTTO_TRY(check(tx, &n, d,
                        sotto_bytes_of(d->ids.data + i * SOTTO_TASK_ID_SIZE, SOTTO_TASK_ID_SIZE),
                        err));
        SOTTO_TRY(check_empty(tx, n, err));
        SOTTO_TRY(delete_row(tx, n, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_tasks_delete(sotto_db *db, sotto_role role, sotto_bytes ids, sotto_err *err)
{
    deletion d = {role, ids};

    return sotto_db_run(db, delete_all, &d, err);
}
