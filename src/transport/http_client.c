#define _POSIX_C_SOURCE 200809L

#include "transport/http_client_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "sotto/random.h"

#include <openssl/x509_vfy.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MS = 1000000, LONGEST_SLEEP_MS = 10000, POINTER = sizeof(void *) };

static uint64_t now_ns(void)
{
    return sotto_clock_monotonic(&sotto_clock_system);
}

/* ---- lists --------------------------------------------------------------------------------------- */

static void append(sotto_http_pending_list *list, sotto_http_pending *p)
{
    p->next = NULL;
    *list->end = p;
    list->end = &p->next;
}

static void unlink_from(sotto_http_pending_list *list, sotto_http_pending **at)
{
    sotto_http_pending *p = *at;

    *at = p->next;
    if (list->end == &p->next)
        list->end = at;
    p->next = NULL;
}

static void remove_from(sotto_http_pending_list *list, const sotto_http_pending *p)
{
    for (sotto_http_pending **at = &list->first; *at; at = &(*at)->next)
        if (*at == p) {
            unlink_from(list, at);
            return;
        }
}

/* ---- the end of a call --------------------------------------------------------------------------- */

static void finish(sotto_http_client *client, sotto_http_pending *p, sotto_status status,
                   const char *why)
{
    sotto_err err = {0};

    if (status != SOTTO_OK)
        (void)sotto_fail(&err, status, "%s: %s (attempt %u)", p->host, why, p->attempt);
    p->response.attempts = p->attempt;
    p->response.fields = sotto_bytes_of(p->received_fields, p->field_len);
    p->done(p->context, status, status == SOTTO_OK ? &p->response : NULL, &err);
    sotto_http_pending_free(p, client);
    pthread_mutex_lock(&client->lock);
    client->count--;
    pthread_mutex_unlock(&client->lock);
}

/* How long to wait before another attempt, in ms; -1: there is none. */
static int64_t next_try(const sotto_http_client *client, const sotto_http_pending *p,
                        sotto_http_outcome outcome)
{
    const sotto_http_client_options *o = &client->options;
    const uint64_t asked = (uint64_t)p->response.retry_after_s * 1000;
    uint32_t random = 0;
    unsigned wait;

    if (p->attempt >= p->attempts ||
        !sotto_http_may_retry(outcome, p->response.status, p->repeatable))
        return -1;
    if (outcome == SOTTO_HTTP_ANSWERED && asked > o->max_backoff_ms)
        return -1;
    /* Without random bytes the wait is merely less spread. */
    if (sotto_random_bytes(&random, sizeof random, NULL) != SOTTO_OK)
        random = 0;
    wait = sotto_http_backoff(p->attempt, o->backoff_ms, o->max_backoff_ms, random);
    if (outcome == SOTTO_HTTP_ANSWERED && asked > wait)
        return (int64_t)asked;
    return wait;
}

static sotto_http_outcome outcome_of(CURL *easy, CURLcode code)
{
    curl_off_t sent = 0;

    switch (code) {
    case CURLE_OK:
        return SOTTO_HTTP_ANSWERED;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
        return SOTTO_HTTP_UNSENT;
    default:
        (void)curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &sent);
        return sent == 0 ? SOTTO_HTTP_UNSENT : SOTTO_HTTP_LOST;
    }
}

/* Failures that no repetition mends. */
static sotto_status fatal(const sotto_http_pending *p, CURLcode code)
{
    if (p->too_large)
        return SOTTO_TOO_LARGE;
    if (p->no_memory || code == CURLE_OUT_OF_MEMORY)
        return SOTTO_NO_MEMORY;
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
        code == CURLE_SSL_ISSUER_ERROR)
        return SOTTO_REJECTED;
    return SOTTO_OK;
}

/* The hint for a certificate of an unknown issuer. It would not help with other faults, such as a wrong name. */
static const char *advice(const sotto_http_client *client, const sotto_http_pending *p)
{
    long verdict = 0;

    (void)curl_easy_getinfo(p->easy, CURLINFO_SSL_VERIFYRESULT, &verdict);
    if (verdict != X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT &&
        verdict != X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN &&
        verdict != X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT &&
        verdict != X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY &&
        verdict != X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE)
        return "";
    return client->ca_file ? "; is its issuer in --ca (a server: ca_file)?"
                           : "; trust its issuer with --ca (a server: ca_file)";
}

static void refuse(sotto_http_client *client, sotto_http_pending *p, sotto_status status,
                   CURLcode code)
{
    char why[160];

    (void)snprintf(why, sizeof why, "%.90s%s",
                   p->too_large ? "the answer is too large"
                   : p->said[0] ? p->said
                                : curl_easy_strerror(code),
                   status == SOTTO_REJECTED ? advice(client, p) : "");
    finish(client, p, status, why);
}

/* Ends the call, or has it wait for another attempt. */
static void settle(sotto_http_client *client, sotto_http_pending *p, sotto_http_outcome outcome,
                   const char *why)
{
    const int64_t wait = next_try(client, p, outcome);

    if (wait < 0) {
        finish(client, p, outcome == SOTTO_HTTP_ANSWERED ? SOTTO_OK : SOTTO_IO, why);
        return;
    }
    sotto_log(client->options.log, SOTTO_LOG_DEBUG, "http.retry", sotto_log_text("host", p->host),
              sotto_log_uint("status", p->response.status), sotto_log_uint("attempt", p->attempt),
              sotto_log_uint("wait_ms", (uint64_t)wait));
    p->due = now_ns() + (uint64_t)wait * MS;
    append(&client->sleeping, p);
}

void sotto_http_client_conclude(sotto_http_client *client, sotto_http_pending *p,
                                sotto_http_outcome outcome, sotto_status broken, const char *why)
{
    client->active_count--;
    if (broken != SOTTO_OK)
        finish(client, p, broken, why);
    else
        settle(client, p, outcome, why);
}

static void conclude(sotto_http_client *client, sotto_http_pending *p, CURLcode code)
{
    const sotto_http_outcome outcome = outcome_of(p->easy, code);
    const sotto_status broken = code == CURLE_OK ? SOTTO_OK : fatal(p, code);
    curl_off_t retry_after = 0;
    long status = 0;

    (void)curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(p->easy, CURLINFO_RETRY_AFTER, &retry_after);
    p->response.status = (unsigned)status;
    p->response.retry_after_s = retry_after > 0 && retry_after < 1 << 30 ? (unsigned)retry_after
                                : retry_after > 0                        ? 1U << 30
                                                                         : 0;
    if (broken != SOTTO_OK) {
        refuse(client, p, broken, code);
        return;
    }
    settle(client, p, outcome, curl_easy_strerror(code));
}

/* ---- the thread ---------------------------------------------------------------------------------- */

static void start(sotto_http_client *client, sotto_http_pending *p)
{
    p->attempt++;
    if (!p->easy) {
        client->active_count++;
        sotto_http_direct_start(client, p, true);
        return;
    }
    if (sotto_http_pending_prepare(p) != SOTTO_OK ||
        curl_multi_add_handle(client->multi, p->easy) != CURLM_OK) {
        finish(client, p, SOTTO_NO_MEMORY, "no memory for a call");
        return;
    }
    append(&client->active, p);
    client->active_count++;
}

static void collect(sotto_http_client *client)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(client->multi, &left)) != NULL) {
        const CURLcode code = message->data.result;
        char *private = NULL;
        sotto_http_pending *p;

        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        p = (sotto_http_pending *)(void *)private;
        (void)curl_multi_remove_handle(client->multi, p->easy);
        remove_from(&client->active, p);
        client->active_count--;
        conclude(client, p, code);
    }
}

/* Starts the calls that have waited long enough; returns ms until the next one has. */
static int wake_sleepers(sotto_http_client *client)
{
    const uint64_t now = now_ns();
    uint64_t next = now + (uint64_t)LONGEST_SLEEP_MS * MS;

    for (sotto_http_pending **at = &client->sleeping.first; *at;) {
        sotto_http_pending *p = *at;

        if (p->due <= now) {
            unlink_from(&client->sleeping, at);
            append(&client->ready, p);
            continue;
        }
        next = p->due < next ? p->due : next;
        at = &p->next;
    }
    return (int)((next - now + MS - 1) / MS);
}

/* Takes in what other threads asked for. False: the client is to end. */
static bool take_inbox(sotto_http_client *client)
{
    bool going_on;

    pthread_mutex_lock(&client->lock);
    if (client->inbox.first) {
        *client->ready.end = client->inbox.first;
        client->ready.end = client->inbox.end;
        client->inbox = (sotto_http_pending_list){NULL, NULL};
        client->inbox.end = &client->inbox.first;
    }
    going_on = !client->closing;
    pthread_mutex_unlock(&client->lock);
    return going_on;
}

static void end_all(sotto_http_client *client, sotto_http_pending_list *list, bool active)
{
    while (list->first) {
        sotto_http_pending *p = list->first;

        unlink_from(list, &list->first);
        if (active)
            (void)curl_multi_remove_handle(client->multi, p->easy);
        finish(client, p, SOTTO_STALE, "the client was closed");
    }
}

static void *run(void *context)
{
    sotto_http_client *client = context;
    sigset_t pipe;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    while (take_inbox(client)) {
        while (client->ready.first && client->active_count < client->options.max_active) {
            sotto_http_pending *p = client->ready.first;

            unlink_from(&client->ready, &client->ready.first);
            start(client, p);
        }
        /* A call that just ended may be retried soon, or has made room for others. */
        const int sleep_ms = wake_sleepers(client);
        const bool more = client->ready.first && client->active_count < client->options.max_active;
        sotto_http_wait_run(client, more ? 0 : sleep_ms);
        collect(client);
    }
    end_all(client, &client->active, true);
    for (sotto_http_pending *p; (p = sotto_http_direct_end(client)) != NULL;)
        finish(client, p, SOTTO_STALE, "the client was closed");
    end_all(client, &client->sleeping, false);
    end_all(client, &client->ready, false);
    return NULL;
}

/* ---- opening and closing ------------------------------------------------------------------------- */

static void init_libcurl(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void use_default(unsigned *value, unsigned usual)
{
    if (*value == 0)
        *value = usual;
}

static sotto_http_client *make(const sotto_http_client_options *options)
{
    const size_t ca = options->ca_file ? strlen(options->ca_file) + 1 : 0;
    const size_t proxy = options->proxy ? strlen(options->proxy) + 1 : 0;
    const size_t size = sizeof(sotto_http_client) + ca + proxy;
    sotto_http_client *client = sotto_alloc(size);

    if (!client)
        return NULL;
    client->size = size;
    client->options = *options;
    if (ca > 0)
        client->ca_file = memcpy((char *)(client + 1), options->ca_file, ca);
    if (proxy > 0)
        client->proxy = memcpy((char *)(client + 1) + ca, options->proxy, proxy);
    use_default(&client->options.max_active, 64);
    use_default(&client->options.max_waiting, 4096);
    use_default(&client->options.connect_ms, 5000);
    use_default(&client->options.backoff_ms, 100);
    use_default(&client->options.max_backoff_ms, 30000);
    client->ready.end = &client->ready.first;
    client->sleeping.end = &client->sleeping.first;
    client->active.end = &client->active.first;
    client->inbox.end = &client->inbox.first;
    client->wait = (sotto_http_wait){.epoll = -1, .wake = -1};
    client->direct_due = UINT64_MAX;
    (void)pthread_mutex_init(&client->lock, NULL);
    return client;
}

static void unmake(sotto_http_client *client)
{
    for (unsigned i = 0; i < client->spare_count; i++)
        curl_easy_cleanup(client->spare[i]);
    sotto_release(client->spare, client->spare ? client->options.max_active * POINTER : 0);
    if (client->multi)
        (void)curl_multi_cleanup(client->multi);
    sotto_http_wait_close(client);
    (void)pthread_mutex_destroy(&client->lock);
    sotto_release(client, client->size);
}

sotto_status sotto_http_client_open(sotto_http_client **client,
                                    const sotto_http_client_options *options, sotto_err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sotto_http_client *made;

    *client = NULL;
    (void)pthread_once(&once, init_libcurl);
    if (options->ca_file && access(options->ca_file, R_OK) != 0)
        return sotto_fail(err, SOTTO_MISSING, "CA file %s can't be read", options->ca_file);
    made = make(options);
    if (!made)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for an HTTP client");
    made->multi = curl_multi_init();
    made->spare = sotto_alloc(made->options.max_active * POINTER);
    if (!made->multi || !made->spare || !sotto_http_wait_open(made)) {
        unmake(made);
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for an HTTP client");
    }
    (void)curl_multi_setopt(made->multi, CURLMOPT_MAXCONNECTS, (long)made->options.max_active);
    if (pthread_create(&made->thread, NULL, run, made) != 0) {
        unmake(made);
        return sotto_fail(err, SOTTO_IO, "no thread for an HTTP client");
    }
    *client = made;
    return SOTTO_OK;
}

void sotto_http_client_close(sotto_http_client *client)
{
    if (!client)
        return;
    pthread_mutex_lock(&client->lock);
    client->closing = true;
    pthread_mutex_unlock(&client->lock);
    sotto_http_wait_wake(client);
    (void)pthread_join(client->thread, NULL);
    unmake(client);
}

/* ---- calling ------------------------------------------------------------------------------------- */

sotto_status sotto_http_call_start(sotto_http_client *client, const sotto_http_call *call,
                                   sotto_http_done *done, void *context, sotto_err *err)
{
    sotto_http_pending *p;
    bool full, closing, told = false;

    SOTTO_TRY(sotto_http_pending_new(&p, client, call, err));
    p->done = done;
    p->context = context;
    pthread_mutex_lock(&client->lock);
    closing = client->closing;
    full = client->count >= client->options.max_waiting;
    if (!closing && !full) {
        client->count++;
        told = client->inbox.first != NULL; /* whoever put that one there woke the thread */
        append(&client->inbox, p);
    }
    pthread_mutex_unlock(&client->lock);
    if (closing || full) {
        sotto_http_pending_free(p, client);
        if (closing)
            return sotto_fail(err, SOTTO_STALE, "the client is closed");
        return sotto_fail(err, SOTTO_AGAIN, "%u calls are under way", client->options.max_waiting);
    }
    if (!told)
        sotto_http_wait_wake(client);
    return SOTTO_OK;
}

typedef struct waiting {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done;
    sotto_status status;
    sotto_err err;
    sotto_http_response *response;
    sotto_arena *arena;
} waiting;

static bool keep(sotto_bytes *bytes, sotto_arena *arena)
{
    void *copy;

    if (bytes->len == 0)
        return true;
    copy = sotto_arena_take(arena, bytes->len);
    if (copy)
        bytes->data = memcpy(copy, bytes->data, bytes->len);
    return copy != NULL;
}

static void stop_waiting(void *context, sotto_status status, const sotto_http_response *response,
                         const sotto_err *err)
{
    waiting *w = context;

    pthread_mutex_lock(&w->lock);
    w->status = status;
    w->err = *err;
    if (response) {
        *w->response = *response;
        if (!keep(&w->response->body, w->arena) || !keep(&w->response->fields, w->arena))
            w->status = sotto_fail(&w->err, SOTTO_NO_MEMORY, "no memory for an answer");
    }
    w->is_done = true;
    pthread_cond_signal(&w->done);
    pthread_mutex_unlock(&w->lock);
}

sotto_status sotto_http_call_wait(sotto_http_client *client, sotto_http_response *response,
                                  const sotto_http_call *call, sotto_arena *arena, sotto_err *err)
{
    waiting w = {.response = response, .arena = arena};
    sotto_status status;

    (void)pthread_mutex_init(&w.lock, NULL);
    (void)pthread_cond_init(&w.done, NULL);
    status = sotto_http_call_start(client, call, stop_waiting, &w, err);
    if (status == SOTTO_OK) {
        pthread_mutex_lock(&w.lock);
        while (!w.is_done)
            pthread_cond_wait(&w.done, &w.lock);
        pthread_mutex_unlock(&w.lock);
        status = w.status;
        if (status != SOTTO_OK)
            status = sotto_fail(err, status, "%s", w.err.reason);
    }
    (void)pthread_cond_destroy(&w.done);
    (void)pthread_mutex_destroy(&w.lock);
    return status;
}
