/* The collector's side of collection jobs: creating, asking, deleting. */
#include "serve/leader/collection.h"

#include "base/rule.h"
#include "serve/leader/collection_waits.h"
#include "serve/tasks/log_task.h"
#include "serve/tasks/release.h"
#include "serve/tasks/schema.h"
#include "serve/tasks/task_request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 16 << 20, RETRY_AFTER_S = 1 };

typedef struct asking {
    sotto_task_request ask;
    sotto_bytes body;
    sotto_batch_range range;
    int64_t state;
    bool found;
    bool created;   /* answered with 201 */
    bool moving;    /* work on it is under way, as far as its row says */
    bool other;     /* the collector chose this id once for another query */
    bool withdrawn; /* one that waited */
    sotto_bytes answer;
    sotto_collection_wait wait;
} asking;

static asking *new_request(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                           sotto_http_request *request)
{
    return sotto_task_request_new(sizeof(asking), server, task, id, request,
                                  MEMORY + 4 * task->dap.sizes.out_share);
}

/* ---- answering --------------------------------------------------------------------------------------------- */

static void answer(asking *a)
{
    sotto_bytes id = sotto_bytes_of(a->ask.id, sizeof a->ask.id);
    unsigned status = a->created ? 201 : 200;
    /* Janus' collector takes 202 for a failure. */
    unsigned not_ready = status == 201 || a->ask.task->profile == SOTTO_DAP_JANUS ? status : 202;

    if (a->other) {
        sotto_task_request_refuse_plainly(&a->ask, 409);
        return;
    }
    if (a->state == SOTTO_RELEASE_FAILED || a->state == SOTTO_RELEASE_REFUSED) {
        sotto_task_request_refuse(&a->ask, a->ask.problem);
        return;
    }
    if (a->state == SOTTO_RELEASE_DONE)
        sotto_answer_message(a->ask.server, a->ask.request, status, SOTTO_DAP_COLLECTION_JOB_RESP,
                             a->answer, a->ask.task, SOTTO_DAP_COLLECTION_JOBS, id);
    else
        sotto_answer_later(a->ask.server, a->ask.request, not_ready, a->ask.task,
                           SOTTO_DAP_COLLECTION_JOBS, id, RETRY_AFTER_S);
    sotto_task_request_finish(&a->ask);
}

/* The helper is being asked. False where it did not answer and will be asked again later. */
static sotto_status see_whether_asked(sotto_tx *tx, asking *a, sotto_err *err)
{
    bool put_off = false;
    uint8_t item[8];

    if (a->state != SOTTO_RELEASE_CLOSED)
        return SOTTO_OK;
    sotto_row_name(item, a->wait.n);
    SOTTO_TRY(sotto_lease_is_put_off(tx, &put_off, SOTTO_QUEUE_COLLECTIONS,
                                     sotto_bytes_of(item, sizeof item), err));
    a->moving = true;
    if (SOTTO_RULE(put_off_holds_nobody) && put_off)
        a->moving = false;
    return SOTTO_OK;
}

static sotto_status find(sotto_tx *tx, asking *a, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT r.state, r.answer, r.problem, r.query, r.n, r.shut,"
                                " (SELECT count(*) FROM held h WHERE h.task = r.task AND"
                                " h.first_bucket = r.first_bucket AND h.end_bucket = r.end_bucket"
                                " AND h.reason IS NULL)"
                                " FROM release r WHERE r.task = ?1 AND r.id = ?2",
                                err));
    sotto_sql_int(&q, 1, a->ask.task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->ask.id, sizeof a->ask.id));
    SOTTO_TRY(sotto_sql_step(&q, &a->found, err));
    if (!a->found)
        return SOTTO_OK;
    a->state = sotto_sql_column_int(&q, 0);
    a->other = a->body.data && !sotto_bytes_equal_vartime(sotto_sql_column_bytes(&q, 3), a->body);
    a->wait.n = sotto_sql_column_int(&q, 4);
    /* Enough reports are verified, and the others are being verified. */
    a->moving = a->state == SOTTO_RELEASE_WAITING && sotto_sql_column_int(&q, 5) != 0 &&
                sotto_sql_column_int(&q, 6) == 0;
    a->ask.problem = sotto_dap_problem_of(sotto_sql_column_text(&q, 2));
    if (a->ask.problem == SOTTO_DAP_PROBLEMS)
        a->ask.problem = SOTTO_DAP_BATCH_MISMATCH;
    SOTTO_TRY(sotto_task_request_keep(&a->ask, &a->answer, sotto_sql_column_bytes(&q, 1), err));
    if (a->state == SOTTO_RELEASE_FAILED && a->answer.len > 0)
        a->ask.detail = (const char *)a->answer.data; /* which ends in a zero */
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    return see_whether_asked(tx, a, err);
}

static sotto_status look(sotto_tx *tx, void *context, sotto_err *err)
{
    asking *a = context;

    sotto_arena_rollback(&a->ask.arena, a->ask.base);
    return find(tx, a, err);
}

/* ---- waiting ------------------------------------------------------------------------------------------------- */

static asking *asking_of(sotto_collection_wait *wait)
{
    return (asking *)(void *)((char *)wait - offsetof(asking, wait));
}

static bool look_again(sotto_collection_wait *wait)
{
    asking *a = asking_of(wait);

    if (sotto_db_read(a->ask.server->db, look, a, NULL) == SOTTO_OK)
        return !a->found || (a->state != SOTTO_RELEASE_WAITING && a->state != SOTTO_RELEASE_CLOSED);
    wait->unseen = a->found = true;
    a->state = SOTTO_RELEASE_WAITING; /* not known: they retry */
    return true;
}

static bool take(sotto_collection_wait *wait, sotto_bytes answer)
{
    asking *a = asking_of(wait);

    sotto_arena_rollback(&a->ask.arena, a->ask.base);
    a->answer = sotto_bytes_of(NULL, 0);
    if (sotto_task_request_keep(&a->ask, &a->answer, answer, NULL) != SOTTO_OK)
        return false;
    a->state = SOTTO_RELEASE_DONE;
    a->found = true;
    return true;
}

/* It may be withdrawn meanwhile: its collector hears of that when it retries. */
static void answer_held(sotto_collection_wait *wait)
{
    asking *a = asking_of(wait);

    if (!a->found && !a->created)
        sotto_task_request_refuse_plainly(&a->ask, 404);
    else
        answer(a);
}

static bool hold(asking *a)
{
    a->wait.look = look_again;
    a->wait.take = take;
    a->wait.answer = answer_held;
    return sotto_collection_waits_put(sotto_leader_of(a->ask.server)->waits, &a->wait);
}

/* ---- creating ------------------------------------------------------------------------------------------------ */

static sotto_status insert(sotto_tx *tx, const asking *a, sotto_err *err)
{
    uint8_t item[8];
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO release (n, task, id, state, first_bucket, end_bucket,"
                                " batch, query, reports, added)"
                                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, {now})"
                                " ON CONFLICT (task, id) DO NOTHING",
                                err));
    sotto_sql_int(&q, 1, a->ask.n);
    sotto_sql_int(&q, 2, a->ask.task->n);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(a->ask.id, sizeof a->ask.id));
    sotto_sql_int(&q, 4, SOTTO_RELEASE_WAITING);
    sotto_sql_int(&q, 5, (int64_t)a->range.first_bucket);
    sotto_sql_int(&q, 6, (int64_t)a->range.end_bucket);
    sotto_sql_bytes(&q, 7, sotto_bytes_of(NULL, 0));
    sotto_sql_bytes(&q, 8, a->body);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    sotto_row_name(item, a->ask.n);
    return sotto_lease_add(tx, SOTTO_QUEUE_COLLECTIONS, sotto_bytes_of(item, sizeof item), 0, err);
}

static sotto_status create(sotto_tx *tx, void *context, sotto_err *err)
{
    asking *a = context;
    bool is_free = true;

    sotto_arena_rollback(&a->ask.arena, a->ask.base);
    a->ask.problem = SOTTO_DAP_PROBLEMS;
    SOTTO_TRY(find(tx, a, err));
    if (a->found)
        return SOTTO_OK;
    if (!a->range.leader_selected)
        SOTTO_TRY(sotto_batch_range_is_free(tx, &is_free, a->ask.task->n, &a->range, err));
    if (!is_free)
        return sotto_task_request_problem(&a->ask, SOTTO_DAP_BATCH_OVERLAP, err);
    a->state = SOTTO_RELEASE_WAITING;
    a->wait.n = a->ask.n;
    a->moving = true; /* its first step is about to begin */
    return insert(tx, a, err);
}

static void on_created(void *context, sotto_status status, const sotto_err *err)
{
    asking *a = context;
    sotto_steps *steps = sotto_leader_of(a->ask.server)->steps;

    (void)err;
    if (status != SOTTO_OK) {
        sotto_task_request_fail(&a->ask, status);
        return;
    }
    a->created = true;
    /* Janus' collector expects nothing with 201. */
    if (a->other || !a->moving || a->ask.task->profile == SOTTO_DAP_JANUS || !hold(a))
        answer(a);
    sotto_steps_look(steps); /* after it is held: the end of its step answers those that wait by
                              * then */
}

/* False once it has answered. */
static bool read_request(asking *a)
{
    sotto_dap_collection_req req;
    sotto_dap_batch_selector selector;
    sotto_dap_problem problem;
    sotto_status status;

    a->body = sotto_http_request_body(a->ask.request);
    status = sotto_dap_collection_req_decode(&req, a->body, NULL);
    if (status != SOTTO_OK)
        return sotto_task_request_refuse(&a->ask, sotto_dap_problem_of_status(status)), false;
    if (req.agg_param.len != 0)
        return sotto_task_request_refuse(&a->ask, SOTTO_DAP_INVALID_AGGREGATION_PARAMETER), false;
    selector = (sotto_dap_batch_selector){.mode = req.query.mode, .interval = req.query.interval};
    if (!sotto_release_range(&a->range, &problem, a->ask.task, &selector))
        return sotto_task_request_refuse(&a->ask, problem), false;
    return true;
}

void sotto_collection_create(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                             sotto_http_request *request)
{
    asking *a = new_request(server, task, id, request);
    sotto_status status;

    if (!a || !read_request(a))
        return;
    if (id.len == 0)
        sotto_resource_id(a->ask.id, SOTTO_DAP_COLLECTION_KIND, task, a->body);
    status = sotto_row_number(&a->ask.n, NULL);
    if (status != SOTTO_OK) {
        sotto_task_request_give_up(&a->ask, status);
        return;
    }
    sotto_task_request_store(&a->ask, create, on_created);
}

/* ---- asking and deleting ---------------------------------------------------------------------------------------- */

static void get(void *context, sotto_worker *worker)
{
    asking *a = context;
    sotto_status status = sotto_db_read(a->ask.server->db, look, a, NULL);

    (void)worker;
    if (status != SOTTO_OK) {
        sotto_task_request_give_up(&a->ask, status);
    } else if (!a->found) {
        sotto_task_request_refuse_plainly(&a->ask, 404);
    } else if (!a->moving || !hold(a)) {
        answer(a);
    }
}

void sotto_collection_get(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                          sotto_http_request *request)
{
    asking *a = new_request(server, task, id, request);

    if (!a)
        return;
    sotto_task_request_work(&a->ask, get);
}

/* Nobody waits for the batch any more, so no operator needs to release it. A new request for it is checked again. */
static sotto_status drop_hold(sotto_tx *tx, int64_t task, int64_t first, int64_t end,
                              sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "DELETE FROM held WHERE task = ?1 AND first_bucket = ?2 AND"
                                " end_bucket = ?3 AND reason IS NULL",
                                err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_int(&q, 2, first);
    sotto_sql_int(&q, 3, end);
    return sotto_sql_run(&q, NULL, err);
}

/* The row goes before its hold: a step that is under way has the row, and may be about to hold the batch. */
static sotto_status drop_waiting(sotto_tx *tx, asking *a, sotto_err *err)
{
    int64_t first, end;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "DELETE FROM release WHERE task = ?1 AND id = ?2 AND state = ?3"
                                " RETURNING first_bucket, end_bucket",
                                err));
    sotto_sql_int(&q, 1, a->ask.task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->ask.id, sizeof a->ask.id));
    sotto_sql_int(&q, 3, SOTTO_RELEASE_WAITING);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    a->withdrawn = row;
    if (!row)
        return SOTTO_OK;
    first = sotto_sql_column_int(&q, 0);
    end = sotto_sql_column_int(&q, 1);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    return end > 0 ? drop_hold(tx, a->ask.task->n, first, end, err) : SOTTO_OK;
}

/* One that waits is dropped. What was closed stays: replay and overlap checks need it, and a released sum must not be
 * released again in another form. The row of one that is done takes another id, so that the next query for "the next
 * batch", whose bytes are always the same, is a new one. */
static sotto_status drop(sotto_tx *tx, void *context, sotto_err *err)
{
    asking *a = context;
    uint8_t fresh[SOTTO_RESOURCE_ID_SIZE];
    sotto_sql q;

    SOTTO_TRY(drop_waiting(tx, a, err));
    if (a->ask.task->dap.batch_mode != SOTTO_DAP_LEADER_SELECTED)
        return SOTTO_OK;
    sotto_resource_id(fresh, "deleted collection job", a->ask.task,
                      sotto_bytes_of(&a->ask.n, sizeof a->ask.n));
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE release SET id = ?4 WHERE task = ?1 AND id = ?2 AND state >= ?3", err));
    sotto_sql_int(&q, 1, a->ask.task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->ask.id, sizeof a->ask.id));
    sotto_sql_int(&q, 3, SOTTO_RELEASE_DONE);
    sotto_sql_bytes(&q, 4, sotto_bytes_of(fresh, sizeof fresh));
    return sotto_sql_run(&q, NULL, err);
}

static void on_dropped(void *context, sotto_status status, const sotto_err *err)
{
    asking *a = context;
    char task[SOTTO_DAP_ID_TEXT_MAX];

    (void)err;
    if (status != SOTTO_OK) {
        sotto_task_request_give_up(&a->ask, status);
        return;
    }
    if (a->withdrawn)
        sotto_log(a->ask.server->log, SOTTO_LOG_INFO, "collection.withdrawn",
                  sotto_log_task(task, a->ask.task));
    sotto_answer_nothing(a->ask.request);
    sotto_task_request_finish(&a->ask);
}

void sotto_collection_delete(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                             sotto_http_request *request)
{
    asking *a = new_request(server, task, id, request);

    if (!a)
        return;
    if (sotto_row_number(&a->ask.n, NULL) != SOTTO_OK) {
        sotto_task_request_give_up(&a->ask, SOTTO_IO);
        return;
    }
    sotto_task_request_store(&a->ask, drop, on_dropped);
}
