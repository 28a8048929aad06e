/* What a collection waits for, how it closes, and what is asked of the helper then. */
#define _POSIX_C_SOURCE 200809L
#include "serve/collection.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "serve/metrics.h"
#include "serve/peer.h"
#include "serve/rate.h"
#include "serve/release.h"
#include "serve/schema.h"
#include "transport/http_problem.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum {
    MEMORY = 256 << 20, /* a ceiling: several shares of the largest task */
    MAX_WAITING = 64,
    WAIT_MS = 1000,
    LONGEST_WAIT_MS = 30000
};

struct sotto_collections {
    sotto_leader *leader;
    pthread_mutex_t lock;
    sotto_lease waiting[MAX_WAITING]; /* a few that wait: hurried on when something ends */
    size_t count;
    unsigned steps; /* under way */
};

typedef struct step {
    sotto_collections *all;
    sotto_server *server;
    sotto_lease lease;
    int64_t n;
    const sotto_server_task *task;
    int64_t task_row, state;
    sotto_batch_range range;
    sotto_bytes query; /* the collector's exact bytes                       */
    sotto_buf request; /* to the helper                                     */
    sotto_buf own;     /* our share, an encoded HpkeCiphertext              */
    sotto_buf answer;  /* the CollectionJobResp                             */
    uint64_t reports, first_bucket, last_bucket;
    const char *problem; /* the helper's, once it refused                    */
    bool busy;           /* reports of the batch are still under way         */
    bool closed_now;     /* by this step                                     */
    int64_t wait_ms;
    sotto_arena arena;
    sotto_arena_mark base;
    sotto_db_job db;
} step;

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static sotto_status copy_bytes(step *s, sotto_buf *out, sotto_bytes from, sotto_err *err)
{
    *out = sotto_buf_over(sotto_arena_take(&s->arena, from.len + 1), from.len);
    if (!out->data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a collection");
    if (from.len > 0)
        memcpy(out->data, from.data, from.len);
    out->len = from.len;
    return SOTTO_OK;
}

/* `request` of a closed row: our sealed share and the numbers, then the request's bytes. */
static sotto_status read_closed(step *s, sotto_bytes stored, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(stored);
    sotto_bytes own, request;

    s->reports = sotto_read_uint(&in, 8);
    s->first_bucket = sotto_read_uint(&in, 8);
    s->last_bucket = sotto_read_uint(&in, 8);
    own = sotto_read_opaque32(&in);
    request = sotto_read_opaque32(&in);
    SOTTO_TRY(sotto_reader_finish(&in, "closed collection", err));
    SOTTO_TRY(copy_bytes(s, &s->own, own, err));
    return copy_bytes(s, &s->request, request, err);
}

static sotto_status read_row(sotto_tx *tx, step *s, sotto_err *err)
{
    sotto_buf query;
    sotto_bytes batch;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT task, state, first_bucket, end_bucket, batch, query,"
                                " request FROM release WHERE n = ?1 {lock}",
                                err));
    sotto_sql_int(&q, 1, s->n);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "the collection was deleted");
    s->task_row = sotto_sql_column_int(&q, 0);
    s->state = sotto_sql_column_int(&q, 1);
    s->range = (sotto_batch_range){.first_bucket = (uint64_t)sotto_sql_column_int(&q, 2),
                                   .end_bucket = (uint64_t)sotto_sql_column_int(&q, 3)};
    batch = sotto_sql_column_bytes(&q, 4);
    if (batch.len > sizeof s->range.batch.bytes)
        return sotto_fail(err, SOTTO_MALFORMED, "a collection's batch is not one");
    s->range.batch.len = batch.len;
    if (batch.len > 0)
        memcpy(s->range.batch.bytes, batch.data, batch.len);
    s->range.leader_selected = s->range.end_bucket == 0;
    SOTTO_TRY(copy_bytes(s, &query, sotto_sql_column_bytes(&q, 5), err));
    s->query = sotto_buf_bytes(&query);
    if (s->state == SOTTO_RELEASE_CLOSED)
        SOTTO_TRY(read_closed(s, sotto_sql_column_bytes(&q, 6), err));
    return sotto_sql_run(&q, NULL, err);
}

/* ---- closing ------------------------------------------------------------------------------------------------------- */

static sotto_status any_row(sotto_sql *q, bool *found, sotto_err *err)
{
    SOTTO_TRY(sotto_sql_step(q, found, err));
    return sotto_sql_run(q, NULL, err);
}

/* Whether reports of these buckets still wait or are in a job. */
static sotto_status is_busy(sotto_tx *tx, const step *s, bool *busy, sotto_err *err)
{
    static const char *const statements[] = {
        "SELECT 1 FROM segment WHERE task = ?1 AND bucket >= ?2 AND bucket < ?3 LIMIT 1",
        "SELECT 1 FROM job WHERE task = ?1 AND bucket >= ?2 AND bucket < ?3 AND state = ?4 LIMIT 1",
    };

    *busy = false;
    for (unsigned i = 0; i < 2 && !*busy; i++) {
        sotto_sql q;

        SOTTO_TRY(sotto_sql_prepare(tx, &q, statements[i], err));
        sotto_sql_int(&q, 1, s->task->n);
        sotto_sql_int(&q, 2, (int64_t)s->range.first_bucket);
        sotto_sql_int(&q, 3, (int64_t)s->range.end_bucket);
        if (i == 1)
            sotto_sql_int(&q, 4, SOTTO_JOB_SENT);
        SOTTO_TRY(any_row(&q, busy, err));
    }
    return SOTTO_OK;
}

/* Of the batches that the leader selected, the oldest that nobody collected, that has enough reports and no job under
 * way. What waits for a job belongs to none yet, so a steady stream keeps nobody waiting. */
static sotto_status pick_batch(sotto_tx *tx, step *s, bool *found, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT b.id FROM batch b WHERE b.task = ?1 AND NOT EXISTS"
                                " (SELECT 1 FROM release r WHERE r.task = b.task AND r.batch = b.id"
                                " AND r.state >= ?2) AND NOT EXISTS (SELECT 1 FROM job j"
                                " WHERE j.task = b.task AND j.state = ?4 AND j.batch = b.id)"
                                " AND (SELECT CAST(sum(a.reports) AS BIGINT)"
                                " FROM sub_aggregate a WHERE a.task = b.task AND a.batch = b.id)"
                                " >= ?3 ORDER BY b.added, b.id LIMIT 1",
                                err));
    sotto_sql_int(&q, 1, s->task->n);
    sotto_sql_int(&q, 2, SOTTO_RELEASE_CLOSED);
    sotto_sql_int(&q, 3, (int64_t)s->task->dap.min_batch_size);
    sotto_sql_int(&q, 4, SOTTO_JOB_SENT);
    SOTTO_TRY(sotto_sql_step(&q, found, err));
    if (!*found)
        return SOTTO_OK;
    s->range.batch.len = SOTTO_BATCH_ID;
    SOTTO_TRY(sotto_sql_column_fixed(&q, 0, s->range.batch.bytes, SOTTO_BATCH_ID, err));
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "UPDATE batch SET state = 1 WHERE task = ?1 AND id = ?2", err));
    sotto_sql_int(&q, 1, s->task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(s->range.batch.bytes, s->range.batch.len));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status write_request(step *s, const sotto_sub_aggregate *sum, sotto_err *err)
{
    size_t size = s->query.len + 256;
    sotto_dap_aggregate_share_req req = {
        .collection_req = s->query,
        .selector = {.mode = (sotto_dap_batch_mode)s->task->dap.batch_mode,
                     .interval = {s->range.first_bucket,
                                  s->range.end_bucket - s->range.first_bucket}},
        .report_count = sum->reports};

    if (s->range.leader_selected)
        memcpy(req.selector.batch_id, s->range.batch.bytes, sizeof req.selector.batch_id);
    memcpy(req.checksum, sum->checksum, sizeof req.checksum);
    s->request = sotto_buf_over(sotto_arena_take(&s->arena, size), size);
    if (!s->request.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a collection");
    return sotto_dap_aggregate_share_req_encode(&s->request, &req, err);
}

/* Everything that is needed to finish, on disk before the helper is asked. */
static sotto_status store_closed(sotto_tx *tx, step *s, sotto_err *err)
{
    size_t size = s->own.len + s->request.len + 64;
    sotto_buf both = sotto_buf_over(sotto_arena_take(&s->arena, size), size);
    sotto_writer w = sotto_writer_on(&both);
    sotto_sql q;

    if (!both.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a collection");
    sotto_write_uint(&w, s->reports, 8);
    sotto_write_uint(&w, s->first_bucket, 8);
    sotto_write_uint(&w, s->last_bucket, 8);
    sotto_write_opaque32(&w, sotto_buf_bytes(&s->own));
    sotto_write_opaque32(&w, sotto_buf_bytes(&s->request));
    SOTTO_TRY(sotto_writer_finish(&w, "closed collection", err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE release SET state = ?2, batch = ?3, request = ?4,"
                                " reports = ?5 WHERE n = ?1",
                                err));
    sotto_sql_int(&q, 1, s->n);
    sotto_sql_int(&q, 2, SOTTO_RELEASE_CLOSED);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(s->range.batch.bytes, s->range.batch.len));
    sotto_sql_bytes(&q, 4, sotto_buf_bytes(&both));
    sotto_sql_int(&q, 5, (int64_t)s->reports);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status seal_own(step *s, const sotto_sub_aggregate *sum, sotto_err *err)
{
    size_t size = sotto_release_sealed_size(s->task);

    s->reports = sum->reports;
    s->first_bucket = sum->first_bucket;
    s->last_bucket = sum->last_bucket;
    s->own = sotto_buf_over(sotto_arena_take(&s->arena, size), size);
    if (!s->own.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a collection");
    return sotto_release_seal(&s->own, s->task, SOTTO_LEADER, s->query, sum, &s->arena, err);
}

/* Another collection took some of its buckets while this one waited. */
static sotto_status refuse_overlap(sotto_tx *tx, step *s, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "UPDATE release SET state = ?2, problem = ?3 WHERE n = ?1", err));
    sotto_sql_int(&q, 1, s->n);
    sotto_sql_int(&q, 2, SOTTO_RELEASE_REFUSED);
    sotto_sql_text(&q, 3, sotto_dap_problem_type(SOTTO_DAP_BATCH_OVERLAP));
    s->state = SOTTO_RELEASE_REFUSED;
    return sotto_sql_run(&q, NULL, err);
}

/* Closes the batch if it is complete and large enough; else s->busy or s->state stay as they are. */
static sotto_status try_close(sotto_tx *tx, step *s, sotto_err *err)
{
    sotto_sub_aggregate sum;
    bool ready = true, held;

    SOTTO_TRY(sotto_release_lock(tx, s->task->n, true, err));
    if (!s->range.leader_selected)
        SOTTO_TRY(is_busy(tx, s, &s->busy, err));
    if (s->busy)
        return SOTTO_OK;
    if (s->range.leader_selected)
        SOTTO_TRY(pick_batch(tx, s, &ready, err));
    else
        SOTTO_TRY(sotto_batch_range_is_free(tx, &ready, s->task->n, &s->range, err));
    if (!ready)
        return s->range.leader_selected ? SOTTO_OK : refuse_overlap(tx, s, err);
    SOTTO_TRY(sotto_batch_sum(tx, &sum, &s->server->columns, s->task, &s->range, &s->arena, err));
    if (SOTTO_RULE(leader_min_batch) && sum.reports < s->task->dap.min_batch_size)
        return SOTTO_OK;
    SOTTO_TRY(sotto_rate_check(tx, &held, s->task, &s->range, sum.reports, err));
    if (held)
        return SOTTO_OK; /* waits, with the row that says why */
    SOTTO_TRY(write_request(s, &sum, err));
    SOTTO_TRY(seal_own(s, &sum, err));
    SOTTO_TRY(store_closed(tx, s, err));
    s->state = SOTTO_RELEASE_CLOSED;
    s->closed_now = true;
    return SOTTO_OK;
}

static sotto_status advance(sotto_tx *tx, void *context, sotto_err *err)
{
    step *s = context;

    sotto_arena_rollback(&s->arena, s->base);
    s->busy = s->closed_now = false;
    SOTTO_TRY(sotto_lease_check(tx, &s->lease, err));
    SOTTO_TRY(read_row(tx, s, err));
    s->task = sotto_tasks_by_row(s->server->tasks, s->task_row);
    if (!s->task)
        return sotto_fail(err, SOTTO_IO, "the collection's task is not known yet");
    if (s->state == SOTTO_RELEASE_WAITING)
        SOTTO_TRY(try_close(tx, s, err));
    return SOTTO_OK;
}

/* ---- ending a step --------------------------------------------------------------------------------------------------- */

static void end(step *s)
{
    sotto_collections *all = s->all;

    sotto_arena_clear(&s->arena);
    sotto_release(s, sizeof *s);
    (void)pthread_mutex_lock(&all->lock);
    all->steps--;
    (void)pthread_mutex_unlock(&all->lock);
}

static void on_ended(void *context, sotto_status status, const sotto_err *err)
{
    (void)status; /* the lease ends by itself, and another step finds the row as it is */
    (void)err;
    end(context);
}

static void post(step *s, sotto_db_fn *fn, sotto_db_done *done)
{
    s->db = (sotto_db_job){fn, s, done, s, NULL, SOTTO_OK, {0}};
    sotto_db_post(s->server->db, &s->db);
}

static sotto_status release(sotto_tx *tx, void *context, sotto_err *err)
{
    step *s = context;

    return sotto_lease_release(tx, &s->lease, s->wait_ms, err);
}

static sotto_status forget(sotto_tx *tx, void *context, sotto_err *err)
{
    step *s = context;

    return sotto_lease_finish(tx, &s->lease, err);
}

static void remember_waiting(step *s)
{
    sotto_collections *all = s->all;
    size_t i;

    (void)pthread_mutex_lock(&all->lock);
    for (i = 0; i < all->count; i++)
        if (memcmp(all->waiting[i].item, s->lease.item, sizeof s->lease.item) == 0)
            break;
    if (i == all->count && all->count < MAX_WAITING)
        all->waiting[all->count++] = s->lease;
    (void)pthread_mutex_unlock(&all->lock);
}

static void on_waiting(void *context, sotto_status status, const sotto_err *err)
{
    step *s = context;

    (void)status;
    (void)err;
    remember_waiting(s);
    end(s);
}

static void wait_a_while(step *s)
{
    s->wait_ms = WAIT_MS;
    post(s, release, on_waiting);
}

static void try_later(step *s)
{
    sotto_metrics_count(s->server->metrics, SOTTO_METRIC_COLLECTIONS_RETRIED, 1);
    s->wait_ms = WAIT_MS;
    for (int64_t i = 1; i < s->lease.attempts && s->wait_ms < LONGEST_WAIT_MS; i++)
        s->wait_ms *= 2;
    post(s, release, on_ended);
}

/* ---- the helper's share ------------------------------------------------------------------------------------------------- */

static sotto_status store_end(sotto_tx *tx, void *context, sotto_err *err)
{
    step *s = context;
    uint64_t changed;
    sotto_sql q;

    SOTTO_TRY(sotto_lease_finish(tx, &s->lease, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE release SET state = ?2, answer = ?3, problem = ?4,"
                                " request = NULL WHERE n = ?1 AND state = ?5",
                                err));
    sotto_sql_int(&q, 1, s->n);
    sotto_sql_int(&q, 2, s->problem ? SOTTO_RELEASE_FAILED : SOTTO_RELEASE_DONE);
    sotto_sql_bytes(&q, 3, sotto_buf_bytes(&s->answer));
    sotto_sql_text(&q, 4, s->problem);
    sotto_sql_int(&q, 5, SOTTO_RELEASE_CLOSED);
    SOTTO_TRY(sotto_sql_run(&q, &changed, err));
    return changed == 1 ? SOTTO_OK : sotto_fail(err, SOTTO_STALE, "the collection is over");
}

static sotto_status write_answer(step *s, sotto_bytes share, sotto_err *err)
{
    sotto_dap_collection_resp resp = {
        .report_count = s->reports,
        .interval = {s->first_bucket, s->last_bucket - s->first_bucket + 1}};
    size_t size = s->own.len + share.len + 64;

    SOTTO_TRY(sotto_hpke_ciphertext_decode(&resp.leader, sotto_buf_bytes(&s->own), err));
    SOTTO_TRY(sotto_dap_aggregate_share_decode(&resp.helper, share, err));
    s->answer = sotto_buf_over(sotto_arena_take(&s->arena, size), size);
    if (!s->answer.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a collection");
    return sotto_dap_collection_resp_encode(&s->answer, &resp, err);
}

/* A refusal that asking again won't change. */
static const char *final_problem(const sotto_http_response *response)
{
    static const sotto_dap_problem finals[] = {
        SOTTO_DAP_BATCH_MISMATCH, SOTTO_DAP_BATCH_OVERLAP, SOTTO_DAP_BATCH_INVALID,
        SOTTO_DAP_INVALID_BATCH_SIZE, SOTTO_DAP_INVALID_MESSAGE};
    char type[128];
    sotto_dap_problem problem;

    if (response->status / 100 != 4 ||
        sotto_http_problem_type(type, sizeof type, response->body, NULL) != SOTTO_OK)
        return NULL;
    problem = sotto_dap_problem_of(type);
    for (size_t i = 0; i < sizeof finals / sizeof finals[0]; i++)
        if (problem == finals[i])
            return sotto_dap_problem_type(problem);
    return NULL;
}

static void on_stored_end(void *context, sotto_status status, const sotto_err *err)
{
    const step *s = context;

    if (status == SOTTO_OK)
        sotto_metrics_count(
            s->server->metrics,
            s->problem ? SOTTO_METRIC_COLLECTIONS_FAILED : SOTTO_METRIC_COLLECTIONS_DONE, 1);
    on_ended(context, status, err);
}

static void on_share(void *context, sotto_status status, const sotto_http_response *response,
                     const sotto_err *err)
{
    step *s = context;

    (void)err;
    if (status != SOTTO_OK) {
        try_later(s);
        return;
    }
    s->problem = final_problem(response);
    s->answer = (sotto_buf){0};
    /* Not ready yet, or not what it should be: the same request asks again. */
    if (!s->problem && (response->status / 100 != 2 || response->body.len == 0 ||
                        write_answer(s, response->body, NULL) != SOTTO_OK))
        try_later(s);
    else
        post(s, store_end, on_stored_end);
}

static void ask_helper(step *s)
{
    sotto_peer_call call;
    bool made = sotto_peer_create(&call, s->task, SOTTO_DAP_AGGREGATE_SHARES,
                                  SOTTO_DAP_AGGREGATE_SHARE_REQ, sotto_buf_bytes(&s->request));

    call.http.max_response = 4 * sotto_release_sealed_size(s->task) + 4096;
    if (!made || sotto_server_call(s->server, &call.http, on_share, s, NULL) != SOTTO_OK)
        try_later(s);
    sotto_peer_call_clear(&call);
}

/* ---- one step -------------------------------------------------------------------------------------------------------------- */

static void on_advanced(void *context, sotto_status status, const sotto_err *err)
{
    step *s = context;

    (void)err;
    if (status == SOTTO_STALE) {
        end(s);
    } else if (status != SOTTO_OK && status != SOTTO_MISSING) {
        try_later(s);
    } else if (status == SOTTO_OK && s->state == SOTTO_RELEASE_CLOSED) {
        sotto_metrics_count(s->server->metrics, SOTTO_METRIC_COLLECTIONS_CLOSED, s->closed_now);
        ask_helper(s);
    } else if (status == SOTTO_OK && s->state == SOTTO_RELEASE_WAITING) {
        sotto_lanes_flush(s->all->leader->lanes, s->task->n, &s->range);
        sotto_leader_wake(s->all->leader);
        wait_a_while(s);
    } else {
        post(s, forget, on_ended);
    }
}

/* Of the longest share that may have to be sealed; which task it is, is only known from the row. */
static size_t ceiling(const sotto_server *server)
{
    size_t longest = 0;
    const sotto_server_task *task;

    for (size_t i = 0; (task = sotto_tasks_at(server->tasks, i)) != NULL; i++)
        if (task->dap.sizes.out_share > longest)
            longest = task->dap.sizes.out_share;
    return MEMORY + 16 * longest;
}

bool sotto_collection_step(sotto_leader *leader, const sotto_lease *lease)
{
    step *s = sotto_alloc(sizeof *s);

    if (!s)
        return false;
    s->all = leader->collections;
    s->server = leader->server;
    s->lease = *lease;
    for (size_t i = 0; i < 8 && i < lease->item_len; i++)
        s->n = (int64_t)((uint64_t)s->n << 8 | lease->item[i]);
    sotto_arena_init(&s->arena, ceiling(leader->server));
    s->base = sotto_arena_here(&s->arena);
    (void)pthread_mutex_lock(&s->all->lock);
    s->all->steps++;
    (void)pthread_mutex_unlock(&s->all->lock);
    post(s, advance, on_advanced);
    return true;
}

/* ---- those that wait ----------------------------------------------------------------------------------------------------------- */

typedef struct hurry {
    sotto_collections *all;
    sotto_lease leases[MAX_WAITING];
    size_t count;
    sotto_db_job db;
} hurry;

static sotto_status hurry_all(sotto_tx *tx, void *context, sotto_err *err)
{
    hurry *h = context;

    for (size_t i = 0; i < h->count; i++)
        SOTTO_TRY(sotto_lease_hurry(tx, h->leases[i].queue,
                                    sotto_bytes_of(h->leases[i].item, h->leases[i].item_len), err));
    return SOTTO_OK;
}

static void on_hurried(void *context, sotto_status status, const sotto_err *err)
{
    hurry *h = context;

    (void)status;
    (void)err;
    sotto_leader_look(h->all->leader);
    (void)pthread_mutex_lock(&h->all->lock);
    h->all->steps--;
    (void)pthread_mutex_unlock(&h->all->lock);
    sotto_release(h, sizeof *h);
}

void sotto_collections_recheck(sotto_leader *leader)
{
    sotto_collections *all = leader->collections;
    hurry *h = NULL;

    (void)pthread_mutex_lock(&all->lock);
    if (all->count > 0)
        h = sotto_alloc(sizeof *h);
    if (h) {
        memcpy(h->leases, all->waiting, all->count * sizeof *h->leases);
        h->count = all->count;
        h->all = all;
        all->count = 0;
        all->steps++;
    }
    (void)pthread_mutex_unlock(&all->lock);
    if (!h)
        return;
    h->db = (sotto_db_job){hurry_all, h, on_hurried, h, NULL, SOTTO_OK, {0}};
    sotto_db_post(leader->server->db, &h->db);
}

sotto_status sotto_collections_open(sotto_collections **out, sotto_leader *leader, sotto_err *err)
{
    sotto_collections *all = sotto_alloc(sizeof *all);

    if (!all)
        return sotto_fail(err, SOTTO_NO_MEMORY, "collections");
    all->leader = leader;
    (void)pthread_mutex_init(&all->lock, NULL);
    *out = all;
    return SOTTO_OK;
}

void sotto_collections_close(sotto_collections *all)
{
    unsigned steps = 1;

    if (!all)
        return;
    while (steps > 0) {
        struct timespec moment = {0, 2000000};

        (void)pthread_mutex_lock(&all->lock);
        steps = all->steps;
        (void)pthread_mutex_unlock(&all->lock);
        if (steps > 0)
            (void)nanosleep(&moment, NULL);
    }
    (void)pthread_mutex_destroy(&all->lock);
    sotto_release(all, sizeof *all);
}
