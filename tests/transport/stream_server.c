#define _GNU_SOURCE

#include "stream_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes -------------------------------------------------------------------------------------- */

uint8_t stream_byte(uint64_t at)
{
    return (uint8_t)(at * 167 + (at >> 9));
}

uint64_t stream_sum(uint64_t sum, uint64_t at, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum += (at + i + 1) * bytes[i];
    return sum;
}

static uint64_t number_of(const sotto_http_request *request)
{
    const sotto_bytes text = sotto_http_request_segment(request, 1);
    char copy[24] = "";

    memcpy(copy, text.data, text.len < 23 ? text.len : 23);
    return strtoull(copy, NULL, 10);
}

static bool is(const sotto_http_request *request, const char *name)
{
    return sotto_http_request_segment_is(request, 0, name);
}

/* ---- uploads ------------------------------------------------------------------------------------ */

typedef struct upload {
    uint64_t len, sum;
    uint8_t place[1 << 16]; /* where pieces of "place" are read to */
} upload;

/* The next piece of at most so many bytes is read to where it belongs. */
static void give_place(stream_server *s, sotto_http_request *request, upload *u, sotto_bytes piece)
{
    atomic_fetch_add(&s->placed, piece.len > 0 && piece.data == u->place);
    sotto_http_request_read_to(request, u->place, (size_t)number_of(request));
}

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    upload *u;

    (void)context;
    *max_body = (size_t)1 << 30;
    if (sotto_http_request_method(request) == SOTTO_HTTP_GET || is(request, "echo")) {
        *max_body = 1 << 20;
        return true;
    }
    if (is(request, "limit"))
        *max_body = (size_t)number_of(request);
    u = calloc(1, sizeof *u);
    if (!u)
        abort();
    sotto_http_request_remember(request, u);
    sotto_http_request_stream(request);
    return true;
}

static sotto_http_flow at_gate(stream_server *s, sotto_http_request *request)
{
    sotto_http_flow flow = SOTTO_HTTP_NEXT;

    (void)pthread_mutex_lock(&s->lock);
    if (s->shut) {
        atomic_fetch_add(&s->called_while_shut, 1);
        s->waiting = request;
        flow = SOTTO_HTTP_WAIT;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return flow;
}

static sotto_http_flow on_piece(void *context, sotto_http_request *request, sotto_bytes piece)
{
    stream_server *s = context;
    upload *u = sotto_http_request_note(request);

    u->sum = stream_sum(u->sum, u->len, piece.data, piece.len);
    u->len += piece.len;
    atomic_fetch_add(&s->taken, piece.len);
    if (piece.len > atomic_load(&s->largest))
        atomic_store(&s->largest, piece.len);
    if (is(request, "place"))
        give_place(s, request, u, piece);
    if (is(request, "gate"))
        return at_gate(s, request);
    if (is(request, "fail") && u->len >= number_of(request)) {
        free(u);
        return SOTTO_HTTP_FAIL;
    }
    if (is(request, "answer") && u->len >= number_of(request)) {
        free(u);
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 422});
    }
    return SOTTO_HTTP_NEXT;
}

static void on_lost(void *context, sotto_http_request *request)
{
    stream_server *s = context;

    (void)pthread_mutex_lock(&s->lock);
    if (s->waiting == request)
        s->waiting = NULL;
    (void)pthread_mutex_unlock(&s->lock);
    free(sotto_http_request_note(request));
    atomic_fetch_add(&s->lost, 1);
}

/* ---- answers ------------------------------------------------------------------------------------ */

typedef struct made {
    stream_server *s;
    sotto_http_pipe *pipe;
    uint64_t at, len;
    bool breaks;
} made;

static sotto_http_flow more(void *context, sotto_http_request *request, uint8_t *out, size_t room,
                            size_t *len)
{
    made *m = context;

    (void)request;
    *len = m->len - m->at < room ? (size_t)(m->len - m->at) : room;
    for (size_t i = 0; i < *len; i++)
        out[i] = stream_byte(m->at + i);
    m->at += *len;
    if (m->at < m->len)
        return SOTTO_HTTP_NEXT;
    return m->breaks ? SOTTO_HTTP_FAIL : SOTTO_HTTP_END;
}

static void over(void *context, sotto_http_request *request, bool whole)
{
    made *m = context;

    (void)request;
    atomic_fetch_add(&m->s->overs, 1);
    atomic_fetch_add(&m->s->overs_whole, whole);
    free(m);
}

static made *make(stream_server *s, uint64_t len)
{
    made *m = calloc(1, sizeof *m);

    if (!m)
        abort();
    m->s = s;
    m->len = len;
    return m;
}

static void send_made(stream_server *s, sotto_http_request *request)
{
    made *m = make(s, number_of(request));
    const uint64_t len = m->len;

    m->breaks = is(request, "breaks");
    sotto_http_answer_stream(request, &(sotto_http_reply){.status = 200},
                             &(sotto_http_source){.more = more,
                                                  .over = over,
                                                  .context = m,
                                                  .length = is(request, "made") ? len
                                                            : is(request, "short")
                                                                ? len + 1
                                                                : SOTTO_HTTP_UNTOLD});
}

static void *write_pipe(void *context)
{
    made *m = context;
    uint8_t bytes[5000];
    sotto_status status = SOTTO_OK;

    while (status == SOTTO_OK && m->at < m->len) {
        const size_t len = m->len - m->at < sizeof bytes ? (size_t)(m->len - m->at) : sizeof bytes;

        for (size_t i = 0; i < len; i++)
            bytes[i] = stream_byte(m->at + i);
        status = sotto_http_pipe_put(m->pipe, sotto_bytes_of(bytes, len), NULL);
        if (status == SOTTO_OK) {
            m->at += len;
            atomic_fetch_add(&m->s->piped, len);
        } else if (status == SOTTO_AGAIN) {
            status = sotto_http_pipe_wait(m->pipe, 10000, NULL);
        }
    }
    sotto_http_pipe_end(m->pipe, status == SOTTO_OK);
    atomic_fetch_add(&m->s->pipes_ended, 1);
    free(m);
    return NULL;
}

static void send_piped(stream_server *s, sotto_http_request *request)
{
    made *m = make(s, number_of(request));

    if (sotto_http_pipe_open(&m->pipe, request, &(sotto_http_reply){.status = 200},
                             &(sotto_http_pipe_options){.capacity = 30000}, NULL) != SOTTO_OK) {
        free(m);
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
        return;
    }
    (void)pthread_mutex_lock(&s->lock);
    if (s->writer_count == sizeof s->writers / sizeof s->writers[0] ||
        pthread_create(&s->writers[s->writer_count++], NULL, write_pipe, m) != 0)
        abort();
    (void)pthread_mutex_unlock(&s->lock);
}

static void send_events(stream_server *s, sotto_http_request *request)
{
    static const sotto_http_field type = {"Content-Type", "text/event-stream"};
    sotto_http_pipe *pipe;

    if (sotto_http_pipe_open(&pipe, request, &(sotto_http_reply){200, &type, 1, {NULL, 0}},
                             &(sotto_http_pipe_options){.endless = true}, NULL) != SOTTO_OK)
        abort();
    (void)pthread_mutex_lock(&s->lock);
    s->events = pipe;
    (void)pthread_mutex_unlock(&s->lock);
}

static void on_body(void *context, sotto_http_request *request)
{
    stream_server *s = context;
    upload *u = sotto_http_request_note(request);
    char text[64];

    if (u) {
        const int len = snprintf(text, sizeof text, "%llu %llu", (unsigned long long)u->len,
                                 (unsigned long long)u->sum);

        free(u);
        atomic_fetch_add(&s->bodies, 1);
        sotto_http_answer(
            request, &(sotto_http_reply){.status = 200, .body = sotto_bytes_of(text, (size_t)len)});
    } else if (is(request, "echo")) {
        sotto_http_answer(
            request, &(sotto_http_reply){.status = 200, .body = sotto_http_request_body(request)});
    } else if (is(request, "pipe")) {
        send_piped(s, request);
    } else if (is(request, "events")) {
        send_events(s, request);
    } else {
        send_made(s, request);
    }
}

/* ---- the test's side ----------------------------------------------------------------------------- */

void stream_server_open(sotto_test *t, stream_server *s, sotto_http_server_options options)
{
    static const sotto_http_handler handler = {
        .head = on_head, .body = on_body, .lost = on_lost, .piece = on_piece};

    memset(s, 0, sizeof *s);
    (void)pthread_mutex_init(&s->lock, NULL);
    CHECK_OK(t, sotto_http_server_open(&s->server, &options, &handler, s, &t->err));
    s->port = sotto_http_server_port(s->server);
}

void stream_server_close(stream_server *s)
{
    sotto_http_server_close(s->server);
    for (unsigned i = 0; i < s->writer_count; i++)
        (void)pthread_join(s->writers[i], NULL);
    sotto_http_pipe_end(s->events, true);
    (void)pthread_mutex_destroy(&s->lock);
}

sotto_http_server_counts stream_server_counts(const stream_server *s)
{
    sotto_http_server_counts now;

    sotto_http_server_count(s->server, &now);
    return now;
}

void stream_server_wait(sotto_test *t, atomic_uint *count, unsigned wanted)
{
    for (uint64_t until = 0; atomic_load(count) < wanted && sotto_test_waits(&until, 1);)
        ;
    CHECK_EQUAL(t, wanted, atomic_load(count));
}

void stream_server_wait_quiet(sotto_test *t, const stream_server *s)
{
    for (uint64_t until = 0;
         stream_server_counts(s).connections_now > 0 && sotto_test_waits(&until, 1);)
        ;
    CHECK_EQUAL(t, 0, stream_server_counts(s).connections_now);
    CHECK_EQUAL(t, 0, stream_server_counts(s).bytes_in_flight_now);
}

void stream_server_shut(stream_server *s)
{
    (void)pthread_mutex_lock(&s->lock);
    s->shut = true;
    atomic_store(&s->called_while_shut, 0);
    (void)pthread_mutex_unlock(&s->lock);
}

void stream_server_unshut(stream_server *s)
{
    (void)pthread_mutex_lock(&s->lock);
    s->shut = false;
    if (s->waiting)
        sotto_http_wake(s->waiting);
    s->waiting = NULL;
    (void)pthread_mutex_unlock(&s->lock);
}

sotto_status stream_server_event(stream_server *s, const char *text)
{
    return sotto_http_pipe_put(s->events, sotto_bytes_of(text, strlen(text)), NULL);
}

void stream_server_await_events(sotto_test *t, stream_server *s)
{
    uint64_t until = 0;
    bool there;

    do {
        (void)pthread_mutex_lock(&s->lock);
        there = s->events != NULL;
        (void)pthread_mutex_unlock(&s->lock);
    } while (!there && sotto_test_waits(&until, 1));
    CHECK(t, there);
}
