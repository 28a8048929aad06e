/* Asking the leader, and waiting for it. */
#define _POSIX_C_SOURCE 200809L
#include "collect/collect.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "sotto/random.h"
#include "transport/http_problem.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    REQUEST_MAX = 128,
    ATTEMPTS = 3,
    LEAST_TIMEOUT_MS = 2000, /* leaders may hold an answer back for half a second */
    DEFAULT_DEADLINE_MS = 60000,
    FIRST_WAIT_MS = 100, /* where the leader does not say how long */
    LONGEST_WAIT_MS = 5000,
    NEW_TASK_ASKS = 5, /* more, where the leader does not know the task yet */
    NEW_TASK_WAIT_MS = 100,
};

/* ---- peers --------------------------------------------------------------------------------------------- */

static sotto_status peer_init(sotto_collect_peer *peer, const char *who, sotto_bytes url,
                              const char *token, sotto_err *err)
{
    size_t len = url.len;

    *peer = (sotto_collect_peer){.who = who, .token = token};
    while (len > 0 && url.data[len - 1] == '/')
        len--;
    /* Room for "/tasks/{task}/collection_jobs/{job}" behind it. */
    if (len == 0 || len > sizeof peer->url - 160 || memchr(url.data, 0, len))
        return sotto_fail(err, SOTTO_MALFORMED, "%s has no URL that can be used", who);
    memcpy(peer->url, url.data, len);
    return strstr(peer->url, "://")
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MALFORMED, "%s has no URL that can be used", who);
}

/* The token is for the leader alone: it goes nowhere else, whatever the leader says. */
static sotto_status resolve(char out[SOTTO_COLLECTION_URL], const sotto_collect_peer *peer,
                            sotto_bytes location, sotto_err *err)
{
    sotto_err why = {0};
    sotto_status status = sotto_http_locate(
        out, SOTTO_COLLECTION_URL, sotto_bytes_of(peer->url, strlen(peer->url)), location, &why);

    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s %s", peer->who, why.reason);
}

/* ---- one call ------------------------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
    return sotto_clock_monotonic(&sotto_clock_system);
}

static uint64_t left_ms(uint64_t deadline_ns)
{
    uint64_t now = now_ns();

    return now < deadline_ns ? (deadline_ns - now) / 1000000 : 0;
}

static unsigned timeout_of(uint64_t deadline_ns)
{
    uint64_t each = left_ms(deadline_ns) / ATTEMPTS;

    return (unsigned)(each < LEAST_TIMEOUT_MS ? LEAST_TIMEOUT_MS : each > 30000 ? 30000 : each);
}

sotto_status sotto_collect_call(sotto_collector *collector, sotto_http_response *response,
                                const sotto_collect_peer *peer, const sotto_http_call *what,
                                uint64_t deadline_ns, sotto_arena *arena, sotto_err *err)
{
    char bearer[512];
    sotto_http_field fields[2] = {{"Authorization", bearer}};
    sotto_http_call call = *what;
    sotto_err why = {0};
    sotto_status status;

    if (collector->options.janus)
        fields[0].name = "DAP-Auth-Token";
    (void)snprintf(bearer, sizeof bearer, collector->options.janus ? "%s" : "Bearer %s",
                   peer->token);
    call.fields = fields;
    call.field_count = 1;
    if (call.body.len > 0)
        fields[call.field_count++] =
            (sotto_http_field){"Content-Type", sotto_dap_media_type(SOTTO_DAP_COLLECTION_JOB_REQ)};
    call.repeatable = true; /* the same bytes are the same job */
    call.attempts = ATTEMPTS;
    call.timeout_ms = timeout_of(deadline_ns);
    status = sotto_http_call_wait(collector->client, response, &call, arena, &why);
    sotto_wipe(bearer, sizeof bearer);
    if (status == SOTTO_OK)
        return SOTTO_OK;
    /* Callers act on what became of the batch; failures of a call itself are of three kinds. */
    if (status == SOTTO_DENIED || status == SOTTO_TOO_LARGE)
        status = SOTTO_MALFORMED;
    else if (status != SOTTO_NO_MEMORY && status != SOTTO_MALFORMED)
        status = SOTTO_IO;
    return sotto_fail(err, status, "%s: %s", peer->who, why.reason);
}

/* ---- what an answer means ------------------------------------------------------------------------------ */

/* The id is made of the recipe's bytes and both URLs: whoever has others asks for a task that nobody ever added. */
static sotto_status not_known(const sotto_task *task, sotto_err *err)
{
    char id[SOTTO_DAP_ID_TEXT_MAX];

    sotto_dap_id_encode(id, sotto_bytes_of(task->id, sizeof task->id));
    return sotto_fail(err, SOTTO_MISSING,
                      "the leader does not know task %s: recipe and servers' URLs must be byte for "
                      "byte what the operators added",
                      id);
}

static sotto_status judge_problem(sotto_dap_problem problem, unsigned status,
                                  const sotto_task *task, sotto_err *err)
{
    switch (problem) {
    case SOTTO_DAP_INVALID_BATCH_SIZE:
        return sotto_fail(err, SOTTO_DENIED, "the leader has too few reports for this batch");
    case SOTTO_DAP_BATCH_OVERLAP:
        return sotto_fail(err, SOTTO_STALE,
                          "part of this interval was collected before, as part of another one");
    case SOTTO_DAP_BATCH_MISMATCH:
        return sotto_fail(err, SOTTO_REJECTED, "leader and helper disagree on what is in it");
    case SOTTO_DAP_UNRECOGNIZED_TASK:
        return not_known(task, err);
    case SOTTO_DAP_PROBLEMS:
        return sotto_fail(err, SOTTO_MALFORMED, "the leader answers %u (%s)", status,
                          sotto_http_status_phrase(status));
    default:
        return sotto_fail(err, SOTTO_MALFORMED, "the leader refuses: %s",
                          sotto_dap_problem_title(problem));
    }
}

/* SOTTO_DAP_PROBLEMS: none that DAP has a name for. */
static sotto_dap_problem problem_of(const sotto_http_response *response)
{
    char type[128];

    return sotto_http_problem_type(type, sizeof type, response->body, NULL) == SOTTO_OK
               ? sotto_dap_problem_of(type)
               : SOTTO_DAP_PROBLEMS;
}

/* Anything but success. */
static sotto_status judge(const sotto_http_response *response, const sotto_task *task,
                          sotto_err *err)
{
    unsigned status = response->status;
    sotto_dap_problem problem;

    if (status >= 200 && status < 300)
        return SOTTO_OK;
    problem = problem_of(response);
    if (problem == SOTTO_DAP_PROBLEMS && (status == 401 || status == 403))
        return sotto_fail(err, SOTTO_MISSING, "the leader does not take this token");
    if (problem == SOTTO_DAP_PROBLEMS && status == 404)
        return sotto_fail(err, SOTTO_MISSING,
                          "the leader answers 404: its URL in the parties file may be wrong");
    if (problem == SOTTO_DAP_PROBLEMS && (status >= 500 || status == 429))
        return sotto_fail(err, SOTTO_IO, "the leader answers %u (%s)", status,
                          sotto_http_status_phrase(status));
    return judge_problem(problem, status, task, err);
}

static bool is_answer(const sotto_http_response *response)
{
    char type[128];
    sotto_bytes value;

    if (!sotto_http_response_field(response, "content-type", &value) || value.len >= sizeof type)
        return false;
    memcpy(type, value.data, value.len);
    type[value.len] = 0;
    return sotto_dap_media_type_is(SOTTO_DAP_COLLECTION_JOB_RESP, type);
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

/* One question and how far it has come. */
typedef struct asking {
    sotto_collector *collector;
    sotto_collection *out;
    sotto_http_response response;
    uint64_t started_ns, deadline_ns;
    unsigned wait_ms; /* what we would wait by ourselves */
    sotto_arena *arena;
} asking;

/* The last pause ends at the caller's timeout, even if the leader asks for a longer one. The collector then asks once more,
 * so that the caller gets the latest state. */
static sotto_status pause_before_next(asking *a, sotto_err *err)
{
    const sotto_collector_options *o = &a->collector->options;
    uint64_t wait =
        a->response.retry_after_s ? (uint64_t)a->response.retry_after_s * 1000 : a->wait_ms;
    uint64_t left = left_ms(a->deadline_ns);
    struct timespec nap;

    if (left == 0 || o->once)
        return sotto_fail(
            err, SOTTO_AGAIN,
            "not ready: fewer reports than it needs so far, not all of them verified, or "
            "held by a server's operator");
    if (o->waiting)
        o->waiting(o->context, (unsigned)((now_ns() - a->started_ns) / 1000000));
    if (wait >= left)
        wait = left + 1; /* what is left is rounded down */
    nap = (struct timespec){(time_t)(wait / 1000), (long)(wait % 1000) * 1000000};
    (void)nanosleep(&nap, NULL); /* a signal only makes it ask sooner */
    a->wait_ms = a->wait_ms * 2 < LONGEST_WAIT_MS ? a->wait_ms * 2 : LONGEST_WAIT_MS;
    return SOTTO_OK;
}

static sotto_status call(asking *a, sotto_http_method method, const char *url, sotto_bytes body,
                         sotto_err *err)
{
    const sotto_task *task = a->collector->options.task;
    sotto_http_call request = {
        .method = method,
        .url = url,
        .body = body,
        .max_response = 2 * task->sizes.out_share + 65536,
    };
    sotto_bytes location;

    SOTTO_TRY(sotto_collect_call(a->collector, &a->response, &a->collector->leader, &request,
                                 a->deadline_ns, a->arena, err));
    SOTTO_TRY(judge(&a->response, task, err));
    if (sotto_http_response_field(&a->response, "location", &location))
        SOTTO_TRY(resolve(a->out->job, &a->collector->leader, location, err));
    return SOTTO_OK;
}

/* A server looks for a task that it does not know when somebody asks for it, and answers before it has looked. So who collects right
 * after a task was added asks again. */
static sotto_status call_of_new_task(asking *a, sotto_http_method method, const char *url,
                                     sotto_bytes body, sotto_err *err)
{
    const struct timespec nap = {0, (long)NEW_TASK_WAIT_MS * 1000000};
    sotto_arena_mark here = sotto_arena_here(a->arena);
    sotto_status status = call(a, method, url, body, err);

    for (int i = 0; i < NEW_TASK_ASKS && status == SOTTO_MISSING &&
                    problem_of(&a->response) == SOTTO_DAP_UNRECOGNIZED_TASK;
         i++) {
        (void)nanosleep(&nap, NULL);
        sotto_arena_rollback(a->arena, here);
        sotto_err_clear(err);
        status = call(a, method, url, body, err);
    }
    return status;
}

/* Until the answer has a body. */
static sotto_status wait_for_answer(asking *a, sotto_bytes request, sotto_err *err)
{
    char url[SOTTO_COLLECTION_URL];
    sotto_arena_mark here = sotto_arena_here(a->arena);
    sotto_dap_path path = {.resource = SOTTO_DAP_COLLECTION_JOBS};
    sotto_buf text = sotto_buf_over(url, sizeof url - 1);
    const sotto_collect_peer *leader = &a->collector->leader;
    bool janus = a->collector->options.janus;

    memcpy(path.task_id, a->collector->options.task->id, sizeof path.task_id);
    if (janus) {
        SOTTO_TRY(sotto_random_bytes(path.id, sizeof path.id, err));
        path.has_id = true;
    }
    SOTTO_TRY(
        sotto_dap_path_encode(&text, sotto_bytes_of(leader->url, strlen(leader->url)), &path, err));
    url[text.len] = 0;
    if (janus) /* with PUT we chose the place ourselves, so it need not be named */
        memcpy(a->out->job, url, text.len + 1);
    SOTTO_TRY(call_of_new_task(a, janus ? SOTTO_HTTP_PUT : SOTTO_HTTP_POST, url, request, err));
    while (a->response.body.len == 0) {
        if (!a->out->job[0])
            return sotto_fail(err, SOTTO_MALFORMED, "the leader does not say where its job is");
        SOTTO_TRY(pause_before_next(a, err));
        sotto_arena_rollback(a->arena, here);
        memcpy(url, a->out->job, sizeof url);
        SOTTO_TRY(call(a, SOTTO_HTTP_GET, url, sotto_bytes_of(NULL, 0), err));
    }
    if (!is_answer(&a->response))
        return sotto_fail(err, SOTTO_MALFORMED, "the leader answers with another kind of message");
    return SOTTO_OK;
}

/* ---- the verbs ----------------------------------------------------------------------------------------- */

static uint64_t deadline_of(const sotto_collector *collector)
{
    unsigned ms = collector->options.deadline_ms;

    return now_ns() + (uint64_t)(ms ? ms : DEFAULT_DEADLINE_MS) * 1000000;
}

sotto_status sotto_collector_ask(sotto_collector *collector, sotto_collection *out,
                                 const sotto_collection_query *query, sotto_arena *arena,
                                 sotto_err *err)
{
    sotto_err_clear(err);

    const sotto_collector_options *o = &collector->options;
    uint8_t memory[REQUEST_MAX];
    sotto_buf request = sotto_buf_over(memory, sizeof memory);
    asking a = {
        .collector = collector,
        .out = out,
        .started_ns = now_ns(),
        .deadline_ns = deadline_of(collector),
        .wait_ms = FIRST_WAIT_MS,
        .arena = arena,
    };

    memset(out, 0, sizeof *out);
    SOTTO_TRY(sotto_collect_query_encode(&request, o->task, query, err));
    SOTTO_TRY(wait_for_answer(&a, sotto_buf_bytes(&request), err));
    SOTTO_TRY(sotto_collect_open(out, o->task, o->key, sotto_buf_bytes(&request), a.response.body,
                                 arena, err));
    /* Only now: counts are shown beside a result, never instead of one. */
    sotto_collect_rejections(collector, out, a.response.body, deadline_of(collector), arena);
    return SOTTO_OK;
}

sotto_status sotto_collector_forget(sotto_collector *collector, const sotto_collection *collection,
                                    sotto_err *err)
{
    sotto_err_clear(err);

    sotto_http_call request = {.method = SOTTO_HTTP_DELETE, .url = collection->job};
    sotto_http_response response;
    sotto_arena arena;
    sotto_status status;

    if (!collection->job[0])
        return sotto_fail(err, SOTTO_MISSING, "the leader did not say where its job is");
    sotto_arena_init(&arena, (size_t)1 << 20);
    request.max_response = 65536;
    status = sotto_collect_call(collector, &response, &collector->leader, &request,
                                deadline_of(collector), &arena, err);
    if (status == SOTTO_OK)
        status = judge(&response, collector->options.task, err);
    sotto_arena_clear(&arena);
    return status;
}

/* ---- taking a question back ---------------------------------------------------------------------------- */

typedef struct withdrawing {
    sotto_collector *collector;
    char url[SOTTO_COLLECTION_URL];
    uint64_t deadline_ns;
    bool there;  /* the leader has the question    */
    bool answer; /* ... and its answer             */
} withdrawing;

/* The URL of the request at a sotto leader, computed here. To ask for it would create the request again, which may close
 * the batch at once. */
static sotto_status find_place(withdrawing *w, const sotto_collection_query *query, sotto_err *err)
{
    const sotto_task *task = w->collector->options.task;
    const char *base = w->collector->leader.url;
    uint8_t memory[REQUEST_MAX];
    sotto_buf request = sotto_buf_over(memory, sizeof memory);
    sotto_buf text = sotto_buf_over(w->url, sizeof w->url - 1);
    sotto_dap_path path = {.resource = SOTTO_DAP_COLLECTION_JOBS, .has_id = true};

    if (task->batch_mode == SOTTO_DAP_LEADER_SELECTED)
        return sotto_fail(err, SOTTO_DENIED,
                          "a request for the next batch has nothing to withdraw");
    if (w->collector->options.janus)
        return sotto_fail(err, SOTTO_MISSING,
                          "with Janus, only the process that asked knows the request's id");
    SOTTO_TRY(sotto_collect_query_encode(&request, task, query, err));
    memcpy(path.task_id, task->id, sizeof path.task_id);
    sotto_dap_resource_id(path.id, SOTTO_DAP_COLLECTION_KIND, task->id, sotto_buf_bytes(&request));
    SOTTO_TRY(sotto_dap_path_encode(&text, sotto_bytes_of(base, strlen(base)), &path, err));
    w->url[text.len] = 0;
    return SOTTO_OK;
}

static sotto_status call_place(withdrawing *w, sotto_http_method method, sotto_err *err)
{
    const sotto_task *task = w->collector->options.task;
    sotto_http_call request = {
        .method = method, .url = w->url, .max_response = 2 * task->sizes.out_share + 65536};
    sotto_http_response response;
    sotto_arena arena;
    sotto_err why = {0};
    sotto_status status;

    sotto_arena_init(&arena, request.max_response + ((size_t)1 << 20));
    status = sotto_collect_call(w->collector, &response, &w->collector->leader, &request,
                                w->deadline_ns, &arena, err);
    if (status == SOTTO_OK) {
        status = judge(&response, task, &why);
        w->there = status == SOTTO_OK;
        w->answer = w->there && response.body.len > 0;
        /* A place that is not there; a task or a token that is not known is a mistake. */
        if (status == SOTTO_MISSING && response.status == 404 &&
            problem_of(&response) == SOTTO_DAP_PROBLEMS)
            status = SOTTO_OK;
        else if (status != SOTTO_OK)
            status = sotto_fail(err, status, "%s", why.reason);
    }
    sotto_arena_clear(&arena);
    return status;
}

sotto_status sotto_collector_withdraw(sotto_collector *collector,
                                      const sotto_collection_query *query, sotto_err *err)
{
    sotto_err_clear(err);

    withdrawing w = {.collector = collector, .deadline_ns = deadline_of(collector)};

    SOTTO_TRY(find_place(&w, query, err));
    SOTTO_TRY(call_place(&w, SOTTO_HTTP_GET, err));
    if (!w.there)
        return sotto_fail(err, SOTTO_MISSING, "the leader has no such request");
    if (!w.answer) {
        SOTTO_TRY(call_place(&w, SOTTO_HTTP_DELETE, err));
        SOTTO_TRY(call_place(&w, SOTTO_HTTP_GET, err));
    }
    /* What was closed stays, whoever deletes it. */
    return w.there ? sotto_fail(err, SOTTO_STALE,
                                "too late: the batch is closed; ask for its answer instead")
                   : SOTTO_OK;
}

/* A token goes into a header line. */
static bool is_token(const char *token)
{
    size_t len = strlen(token);

    return len > 0 && len < 400 &&
           strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=") ==
               len;
}

sotto_status sotto_collector_open(sotto_collector **out, const sotto_collector_options *options,
                                  sotto_err *err)
{
    sotto_err_clear(err);

    sotto_http_client_options http = {.ca_file = options->ca_file,
                                      .plain_anywhere = options->plain_anywhere};
    const sotto_task *task = options->task;
    sotto_collector *c;
    sotto_status status;

    *out = NULL;
    if (!is_token(options->collector_token) ||
        (options->rejection_token && !is_token(options->rejection_token)))
        return sotto_fail(err, SOTTO_MALFORMED, "a token has letters, digits and -._~+/= only");
    c = sotto_alloc(sizeof *c);
    if (!c)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a collector");
    c->options = *options;
    status = peer_init(&c->leader, "the leader", task->leader_url, options->collector_token, err);
    if (status == SOTTO_OK)
        status =
            peer_init(&c->helper, "the helper", task->helper_url, options->rejection_token, err);
    if (status == SOTTO_OK)
        status = sotto_http_client_open(&c->client, &http, err);
    if (status != SOTTO_OK) {
        sotto_release(c, sizeof *c);
        return status;
    }
    *out = c;
    return SOTTO_OK;
}

void sotto_collector_close(sotto_collector *collector)
{
    if (!collector)
        return;
    sotto_http_client_close(collector->client);
    sotto_release(collector, sizeof *collector);
}
