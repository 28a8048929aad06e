#include "serve/tasks/listing.h"

#include "serve/tasks/schema.h"
#include "serve/tasks/tasks_internal.h"

typedef struct listing {
    const sotto_column_keys *keys;
    sotto_role role;
    sotto_task_line_fn *task;
    sotto_pairing_line_fn *pairing;
    void *context;
    bool has_own;       /* else keys are not compared */
    sotto_own_keys own; /* this server's              */
} listing;

static sotto_status exists(sotto_tx *tx, bool *out, const char *text, int64_t n, const char *name,
                           sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, text, err));
    if (name)
        sotto_sql_text(&q, 1, name);
    else
        sotto_sql_int(&q, 1, n);
    return sotto_sql_any(&q, out, err);
}

static sotto_status look_up_parties(sotto_tx *tx, sotto_task_line *line, sotto_err *err)
{
    char parties[SOTTO_PARTIES_TEXT];

    sotto_pairing_parties(parties, line->task->leader, line->task->helper);
    return exists(tx, &line->paired, "SELECT 1 FROM pairing WHERE peer = ?1 LIMIT 1", 0, parties,
                  err);
}

static sotto_status look_up(sotto_tx *tx, sotto_task_line *line, sotto_err *err)
{
    bool jobs;
    int64_t n = line->n;

    if (line->task)
        SOTTO_TRY(look_up_parties(tx, line, err));
    SOTTO_TRY(
        exists(tx, &line->retired, "SELECT 1 FROM retired WHERE task = ?1 LIMIT 1", n, NULL, err));
    SOTTO_TRY(
        exists(tx, &line->busy, "SELECT 1 FROM segment WHERE task = ?1 LIMIT 1", n, NULL, err));
    SOTTO_TRY(
        exists(tx, &jobs, "SELECT 1 FROM job WHERE task = ?1 AND state = 1 LIMIT 1", n, NULL, err));
    line->busy = line->busy || jobs;
    return SOTTO_OK;
}

/* A row that has the parties' names need not be one that a server can use. */
static sotto_status open_pairing(sotto_tx *tx, sotto_task_line *line, sotto_task_entry *e,
                                 const sotto_column_keys *keys, sotto_err *why, sotto_err *err)
{
    sotto_status status = sotto_task_entry_pair(e, tx, keys, why);

    if (status == SOTTO_IO || status == SOTTO_NO_MEMORY)
        return sotto_fail(err, status, "%s", why->reason);
    line->paired = status == SOTTO_OK;
    line->broken = status == SOTTO_OK ? NULL : why->reason;
    return SOTTO_OK;
}

static sotto_status show_task(sotto_tx *tx, const listing *s, const sotto_sql *q, sotto_err *err)
{
    sotto_task_entry *e = sotto_task_entry_new();
    sotto_mistakes mistakes = {0};
    sotto_task_line line = {.n = sotto_sql_column_int(q, 0),
                            .population = (uint64_t)sotto_sql_column_int(q, 4),
                            .id = sotto_sql_column_bytes(q, 5)};
    sotto_err why = {0};
    sotto_status status;

    if (!e)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a task");
    status = sotto_task_entry_compile(e, s->role, sotto_sql_column_bytes(q, 1),
                                      sotto_sql_column_bytes(q, 2),
                                      (size_t)sotto_sql_column_int(q, 3), &mistakes, &why);
    e->task.n = line.n;
    if (status == SOTTO_OK)
        status = sotto_task_entry_check(e, line.id, &why);
    if (status == SOTTO_OK && s->has_own)
        status = sotto_task_entry_keys(e, tx, &s->own, true, &why);
    if (status == SOTTO_OK)
        line.task = &e->task;
    else
        line.broken = why.reason;
    status = look_up(tx, &line, err);
    if (status == SOTTO_OK && line.task && line.paired && s->keys)
        status = open_pairing(tx, &line, e, s->keys, &why, err);
    if (status == SOTTO_OK)
        status = s->task(s->context, &line, err);
    sotto_task_entry_free(e);
    return status;
}

static sotto_status each_task(sotto_tx *tx, void *context, sotto_err *err)
{
    listing *s = context;
    sotto_sql q;
    bool row;

    /* With another datastore key, no key can be read; each task's pairing then says so. */
    s->has_own = s->keys && sotto_keys_own(tx, &s->own, s->keys, NULL) == SOTTO_OK;
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT n, recipe, parties, cohort, population, id FROM task"
                                " WHERE role = ?1 ORDER BY added, n, cohort",
                                err));
    sotto_sql_int(&q, 1, (int64_t)s->role);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        SOTTO_TRY(show_task(tx, s, &q, err));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_list_tasks(sotto_db *db, const sotto_column_keys *keys, sotto_role role,
                              sotto_task_line_fn *show, void *context, sotto_err *err)
{
    listing s = {.keys = keys, .role = role, .task = show, .context = context};

    return sotto_db_read(db, each_task, &s, err);
}

/* One that can't be read does not hide the others. */
static sotto_status show_pairing(const listing *s, const sotto_sql *q, sotto_err *err)
{
    sotto_pairing_line line = {.fingerprint = sotto_sql_column_text(q, 0),
                               .parties = sotto_sql_column_text(q, 1)};
    sotto_pairing pairing = {0};
    sotto_err why = {0};
    sotto_status status;

    if (sotto_pairing_unseal(&pairing, s->keys, line.fingerprint, sotto_sql_column_bytes(q, 2),
                             &why) == SOTTO_OK) {
        line.collector_key = pairing.collector_key;
        line.leader_url = pairing.leader_url;
        line.helper_url = pairing.helper_url;
    } else {
        line.broken = why.reason;
    }
    status = s->pairing(s->context, &line, err);
    sotto_wipe(&pairing, sizeof pairing);
    return status;
}

static sotto_status each_pairing(sotto_tx *tx, void *context, sotto_err *err)
{
    const listing *s = context;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT fingerprint, peer, secrets FROM pairing ORDER BY added, fingerprint", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        SOTTO_TRY(show_pairing(s, &q, err));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_list_pairings(sotto_db *db, const sotto_column_keys *keys,
                                 sotto_pairing_line_fn *show, void *context, sotto_err *err)
{
    listing s = {.keys = keys, .pairing = show, .context = context};

    return sotto_db_read(db, each_pairing, &s, err);
}
