#include "third_service/third_service.h"

#include "base/alloc.h"
#include "serve/host/database_owner.h"
#include "serve/host/health.h"
#include "serve/host/host.h"
#include "serve/host/host_metrics.h"
#include "serve/host/row.h"
#include "serve/host/steps.h"
#include "transport/http_pipe.h"

#include <stdatomic.h>
#include <stdio.h>

enum { QUEUE_NOTES = 1, MAX_NOTE = 64, MAX_UPLOAD = 512 << 20 };

typedef struct third_state {
    sotto_host *host;
    sotto_third_config config;
    atomic_int_fast64_t next, done, lost;
    _Atomic(sotto_http_pipe *) events; /* the last client's */
} third_state;

/* ---- the route: a note is kept and queued in one transaction, then acknowledged ------------------------------------- */

typedef struct note_work {
    third_state *third;
    sotto_http_request *request;
    sotto_step *step;
    int64_t n;
    sotto_db_job db;
} note_work;

static sotto_status keep(sotto_tx *tx, void *context, sotto_err *err)
{
    const note_work *note = context;
    uint8_t item[8];
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "INSERT INTO note (n, done) VALUES (?1, 0)", err));
    sotto_sql_int(&q, 1, note->n);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    sotto_row_name(item, note->n);
    return sotto_lease_add(tx, QUEUE_NOTES, sotto_bytes_of(item, sizeof item), 0, err);
}

static void on_kept(void *context, sotto_status status, const sotto_err *err)
{
    note_work *note = context;

    (void)err;
    sotto_http_answer(note->request, &(sotto_http_reply){.status = status == SOTTO_OK ? 201 : 503});
    sotto_steps_look(note->third->host->steps);
    sotto_release(note, sizeof *note);
}

static void add_note(void *state, const sotto_route *route, sotto_http_request *request)
{
    third_state *third = state;
    note_work *note = sotto_alloc(sizeof *note);

    (void)route;
    if (!note) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
        return;
    }
    note->third = third;
    note->request = request;
    note->n = atomic_fetch_add(&third->next, 1) + 1;
    note->db = (sotto_db_job){keep, note, on_kept, note, NULL, SOTTO_OK, {0}};
    sotto_db_post(third->host->db, &note->db);
}

/* ---- an upload that is counted and never held ------------------------------------------------------------------------ */

static bool admit_upload(void *state, const sotto_route *route, sotto_http_request *request,
                         size_t *max_body)
{
    (void)state;
    *max_body = route->max_body;
    sotto_http_request_remember(request, sotto_alloc(sizeof(uint64_t)));
    return sotto_http_request_note(request) ||
           sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
}

static sotto_http_flow take_piece(void *state, const sotto_route *route,
                                  sotto_http_request *request, sotto_bytes piece)
{
    (void)state;
    (void)route;
    *(uint64_t *)sotto_http_request_note(request) += piece.len;
    return SOTTO_HTTP_NEXT;
}

static void lose_upload(void *state, const sotto_route *route, sotto_http_request *request)
{
    third_state *third = state;

    (void)route;
    sotto_release(sotto_http_request_note(request), sizeof(uint64_t));
    atomic_fetch_add(&third->lost, 1);
}

static void end_upload(void *state, const sotto_route *route, sotto_http_request *request)
{
    uint64_t *count = sotto_http_request_note(request);
    char text[24];
    const int len = snprintf(text, sizeof text, "%llu", (unsigned long long)*count);

    (void)state;
    (void)route;
    sotto_release(count, sizeof *count);
    sotto_http_answer(
        request, &(sotto_http_reply){.status = 200, .body = sotto_bytes_of(text, (size_t)len)});
}

/* ---- events: an answer that stays open until the server drains --------------------------------------------------------- */

static void open_events(void *state, const sotto_route *route, sotto_http_request *request)
{
    static const sotto_http_field type = {"Content-Type", "text/event-stream"};
    third_state *third = state;
    sotto_http_pipe *pipe;

    (void)route;
    if (sotto_http_pipe_open(&pipe, request, &(sotto_http_reply){200, &type, 1, {NULL, 0}},
                             &(sotto_http_pipe_options){.endless = true}, NULL) != SOTTO_OK) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
        return;
    }
    if (sotto_http_pipe_put(pipe, sotto_bytes_of("data: hello\n\n", 13), NULL) == SOTTO_OK)
        pipe = atomic_exchange(&third->events, pipe);
    sotto_http_pipe_end(pipe, true); /* this one, or that of the client before */
}

static const sotto_route routes[] = {
    {.method = SOTTO_HTTP_POST, .path = "notes", .max_body = MAX_NOTE, .handle = add_note},
    {.method = SOTTO_HTTP_POST,
     .path = "uploads",
     .max_body = MAX_UPLOAD,
     .admit = admit_upload,
     .piece = take_piece,
     .lost = lose_upload,
     .handle = end_upload},
    {.method = SOTTO_HTTP_GET, .path = "events", .handle = open_events},
};

/* ---- the queue ------------------------------------------------------------------------------------------------------ */

static sotto_status finish(sotto_tx *tx, void *context, sotto_err *err)
{
    const note_work *note = context;
    sotto_sql q;

    SOTTO_TRY(sotto_lease_finish(tx, &note->step->lease, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE note SET done = ?2 WHERE n = ?1", err));
    sotto_sql_int(&q, 1, note->n);
    sotto_sql_int(&q, 2, note->step->lease.attempts);
    return sotto_sql_run(&q, NULL, err);
}

static void on_finished(void *context, sotto_status status, const sotto_err *err)
{
    note_work *note = context;
    sotto_step *step = note->step;

    (void)status;
    (void)err;
    sotto_release(note, sizeof *note);
    sotto_step_end(step);
}

static void step(void *state, sotto_step *step)
{
    third_state *third = state;
    note_work *note;

    if (step->lease.attempts <= (int64_t)third->config.failures) {
        sotto_step_retry(step, "not yet");
        return;
    }
    note = sotto_alloc(sizeof *note);
    if (!note) {
        sotto_step_retry(step, "out of memory");
        return;
    }
    note->third = third;
    note->step = step;
    note->n = step->n;
    note->db = (sotto_db_job){finish, note, on_finished, note, NULL, SOTTO_OK, {0}};
    sotto_db_post(third->host->db, &note->db);
}

static unsigned most(const void *state)
{
    (void)state;
    return 2;
}

const sotto_queue sotto_third_queue[1] = {{"notes", QUEUE_NOTES, step, most, 10, 40}};

/* ---- the rest --------------------------------------------------------------------------------------------------------- */

static const sotto_option options[] = {
    {"failures", SOTTO_OPTION_NUMBER, offsetof(sotto_third_config, failures), sizeof(uint64_t), "2",
     1, 100, NULL, "how often a step fails before it succeeds", SOTTO_OPTION_ALWAYS},
};

static const sotto_migration migrations[] = {
    {1, SOTTO_LEASE_SCHEMA SOTTO_OWNER_SCHEMA
     "CREATE TABLE note (n {int} PRIMARY KEY, done {int} NOT NULL);"},
};

static sotto_status open_third(void **state, sotto_host *host, const void *config, sotto_err *err)
{
    third_state *third = sotto_alloc(sizeof *third);

    if (!third)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the third service");
    third->host = host;
    third->config = *(const sotto_third_config *)config;
    *state = third;
    return SOTTO_OK;
}

static void close_third(void *state)
{
    third_state *third = state;

    sotto_http_pipe_end(atomic_load(&third->events), true);
    sotto_release(third, sizeof *third);
}

static sotto_status look(sotto_tx *tx, void *state, sotto_err *err)
{
    third_state *third = state;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT count(*) FROM note WHERE done > 0", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    atomic_store(&third->done, row ? sotto_sql_column_int(&q, 0) : 0);
    return sotto_sql_run(&q, NULL, err);
}

static void describe(void *state, sotto_buf *out)
{
    third_state *third = state;

    sotto_health_say_number(out, "notes: ", (uint64_t)atomic_load(&third->done), " done\n");
}

static sotto_status metrics(void *state, sotto_writer *w, sotto_err *err)
{
    third_state *third = state;

    (void)err;
    sotto_metric_one(w, "third_notes_done", "gauge", "Notes that are done.",
                     (uint64_t)atomic_load(&third->done));
    sotto_metric_one(w, "third_uploads_lost", "counter", "Uploads that did not end.",
                     (uint64_t)atomic_load(&third->lost));
    return SOTTO_OK;
}

const sotto_service sotto_third_service = {
    .name = "third",
    .summary = "keep notes",
    .listen = "127.0.0.1:8799",
    .operations = "127.0.0.1:9799",
    .owner = 99,
    .routes = routes,
    .route_count = sizeof routes / sizeof routes[0],
    .options = options,
    .option_count = 1,
    .config_size = sizeof(sotto_third_config),
    .migrations = migrations,
    .migration_count = 1,
    .queues = sotto_third_queue,
    .queue_count = 1,
    .open = open_third,
    .close = close_third,
    .look = look,
    .describe = describe,
    .metrics = metrics,
};
