/* Entries arrive one request at a time and are signed together: entries that arrive while a batch is synced are in the next
 * one. */
#include "serve/log/log.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rule.h"
#include "db/store.h"
#include "tlog/entry.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LOG_GUARD = 10, HEARD_MS = 5000 };

struct sotto_log_append {
    sotto_log_append *next;
    sotto_http_request *request;
    uint64_t index; /* of its first entry */
};

/* ---- what the database remembers ------------------------------------------------------------------------------------ */

static sotto_status recall(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_checkpoint *known = context;
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT size, root FROM signed", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    known->size = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return row ? sotto_sql_column_fixed(&q, 1, known->root.bytes, SOTTO_MERKLE_HASH, err)
               : SOTTO_OK;
}

/* The row differs from what this process wrote: another process signs, or the database was restored
 * from an old copy. */
static sotto_status check_remembered(const sotto_log_server *log, const sotto_checkpoint *known,
                                     sotto_err *err)
{
    if (SOTTO_RULE(log_continues_its_database) &&
        (known->size != log->remembered.size ||
         !sotto_merkle_equal(&known->root, &log->remembered.root)))
        return sotto_fail(err, SOTTO_STALE,
                          "the database has another tree than this process left there");
    return SOTTO_OK;
}

/* Kept beside the directory, so that a directory restored from an old copy is noticed. */
static sotto_status remember(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_log_server *log = context;
    const sotto_checkpoint *last = sotto_log_store_signed(log->store, NULL);
    sotto_checkpoint known = {0};
    sotto_sql q;

    SOTTO_TRY(sotto_tx_guard(tx, LOG_GUARD, true, err));
    SOTTO_TRY(recall(tx, &known, err));
    SOTTO_TRY(check_remembered(log, &known, err));
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "INSERT INTO signed (one, size, root) VALUES (1, ?1, ?2) ON CONFLICT"
                          " (one) DO UPDATE SET size = excluded.size, root = excluded.root",
                          err));
    sotto_sql_int(&q, 1, (int64_t)last->size);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(last->root.bytes, SOTTO_MERKLE_HASH));
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_log_known(sotto_log_server *log, sotto_checkpoint *known, sotto_err *err)
{
    *known = (sotto_checkpoint){0};
    return sotto_db_read(log->host->db, recall, known, err);
}

/* ---- who may append ---------------------------------------------------------------------------------------------------- */

bool sotto_log_admit(void *state, const sotto_route *route, sotto_http_request *request,
                     size_t *max_body)
{
    const sotto_log_server *log = state;

    if (SOTTO_RULE(log_appends_by_token) && !sotto_bearer_is(&log->token, request))
        return sotto_http_refuse(
            request, &(sotto_http_problem){.status = 401, .challenge = "Bearer realm=\"log\""});
    sotto_http_request_vouch(request);
    *max_body = route->max_body;
    return true;
}

/* ---- signing them -------------------------------------------------------------------------------------------------------- */

/* A body is a list of entries, each with its length in two bytes, as in an entry bundle. */
static bool is_list(sotto_bytes body)
{
    sotto_tlog_entry known;
    sotto_bytes entry;

    if (body.len == 0)
        return false;
    while (body.len > 0) {
        if (sotto_tile_entry_next(&entry, &body, NULL) != SOTTO_OK)
            return false;
        if (SOTTO_RULE(log_takes_known_entries) &&
            sotto_tlog_entry_decode(&known, entry, NULL) != SOTTO_OK)
            return false;
    }
    return true;
}

static sotto_status add_list(sotto_log_server *log, sotto_log_append *append, sotto_err *err)
{
    sotto_bytes body = sotto_http_request_body(append->request), entry;
    uint64_t index;

    for (bool first = true; body.len > 0; first = false) {
        SOTTO_TRY(sotto_tile_entry_next(&entry, &body, err));
        SOTTO_TRY(sotto_log_store_add(log->store, &index, entry, err));
        if (first)
            append->index = index;
        atomic_fetch_add(&log->added, 1);
    }
    return SOTTO_OK;
}

/* Before anything is signed, every witness that could know of a larger tree is asked. */
static sotto_status may_sign(sotto_log_server *log, sotto_err *err)
{
    sotto_checkpoint known;

    if (atomic_load(&log->rolled_back))
        return sotto_fail(err, SOTTO_STALE, "a witness showed a larger tree of this log");
    if (SOTTO_RULE(log_waits_for_a_witness) && !atomic_load(&log->confirmed))
        return sotto_fail(err, SOTTO_STALE, "no witness cosigned since the start");
    SOTTO_TRY(sotto_log_known(log, &known, err));
    return check_remembered(log, &known, err);
}

static sotto_status sign_batch(sotto_log_server *log, sotto_log_append *batch, sotto_err *err)
{
    SOTTO_TRY(may_sign(log, err));
    for (sotto_log_append *a = batch; a; a = a->next)
        SOTTO_TRY(add_list(log, a, err));
    SOTTO_TRY(sotto_log_store_commit(log->store, err));
    atomic_store(&log->size, sotto_log_store_signed(log->store, NULL)->size);
    atomic_store(&log->signed_ms, sotto_clock_ms());
    for (size_t i = 0; i < log->witness_keys.count; i++) {
        log->witnesses[i].done = false;
        log->witnesses[i].not_before = 0;
    }
    SOTTO_TRY(sotto_db_run(log->host->db, remember, log, err));
    log->remembered = *sotto_log_store_signed(log->store, NULL);
    return SOTTO_OK;
}

static void answer_batch(sotto_log_append *batch, bool good)
{
    static const sotto_http_field type = {"Content-Type", "text/plain; charset=utf-8"};

    while (batch) {
        sotto_log_append *next = batch->next;
        char text[24];
        const int len = snprintf(text, sizeof text, "%" PRIu64 "\n", batch->index);

        if (good)
            sotto_http_answer(
                batch->request,
                &(sotto_http_reply){200, &type, 1, sotto_bytes_of(text, (size_t)len)});
        else
            (void)sotto_http_refuse(batch->request, &(sotto_http_problem){.status = 503});
        sotto_release(batch, sizeof *batch);
        batch = next;
    }
}

static void run_batch(sotto_log_server *log, sotto_log_append *batch)
{
    sotto_err err = {0};
    sotto_status status;

    (void)pthread_mutex_lock(&log->lock);
    status = sign_batch(log, batch, &err);
    (void)pthread_mutex_unlock(&log->lock);
    if (status != SOTTO_OK)
        sotto_log(&log->host->options.log, SOTTO_LOG_ERROR, "log.append_failed",
                  sotto_log_text("reason", err.reason));
    answer_batch(batch, status == SOTTO_OK);
    sotto_log_ask_witnesses(log);
}

/* Under the queue's lock, so that no answer comes unnoticed. Only the last tree is published, with its cosignatures: a log that grew again before its witnesses answered would never have a
 * cosigned checkpoint. A witness that does not answer delays this by some seconds only. */
static bool is_heard(const sotto_log_server *log)
{
    if (atomic_load(&log->draining) || atomic_load(&log->asking) == 0)
        return true;
    return sotto_clock_ms() - atomic_load(&log->signed_ms) >= HEARD_MS;
}

/* NULL: there is none, or it waits for witnesses. */
static sotto_log_append *take_batch(sotto_log_server *log)
{
    sotto_log_append *batch = NULL;

    (void)pthread_mutex_lock(&log->queue_lock);
    if (is_heard(log)) {
        batch = log->first;
        log->first = NULL;
        log->end = &log->first;
    }
    log->signing = batch != NULL;
    (void)pthread_mutex_unlock(&log->queue_lock);
    return batch;
}

static void work(void *context, sotto_worker *worker)
{
    sotto_log_append *batch;

    (void)worker;
    while ((batch = take_batch(context)) != NULL)
        run_batch(context, batch);
}

static void start_work(sotto_log_server *log)
{
    if (sotto_pool_post(log->host->pool, work, log, NULL) != SOTTO_OK)
        sotto_log_refuse_waiting(log);
}

void sotto_log_sign_waiting(sotto_log_server *log)
{
    bool start;

    (void)pthread_mutex_lock(&log->queue_lock);
    start = log->first && !log->signing && is_heard(log);
    log->signing = log->signing || start;
    (void)pthread_mutex_unlock(&log->queue_lock);
    if (start)
        start_work(log);
}

void sotto_log_refuse_waiting(sotto_log_server *log)
{
    sotto_log_append *batch;

    (void)pthread_mutex_lock(&log->queue_lock);
    batch = log->first;
    log->first = NULL;
    log->end = &log->first;
    log->signing = false;
    (void)pthread_mutex_unlock(&log->queue_lock);
    answer_batch(batch, false);
}

void sotto_log_take_entries(void *state, const sotto_route *route, sotto_http_request *request)
{
    sotto_log_server *log = state;
    sotto_log_append *append = NULL;

    (void)route;
    if (!is_list(sotto_http_request_body(request))) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 400});
        return;
    }
    append = sotto_alloc(sizeof *append);
    if (!append) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
        return;
    }
    append->request = request;
    (void)pthread_mutex_lock(&log->queue_lock);
    *log->end = append;
    log->end = &append->next;
    (void)pthread_mutex_unlock(&log->queue_lock);
    sotto_log_sign_waiting(log);
}
