/* A ring of bytes with a lock. Two hold it: the writer, and the loop as long as the answer lasts. */
#define _POSIX_C_SOURCE 200809L

#include "transport/http_pipe.h"

#include "base/alloc.h"
#include "base/wait.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { USUAL = 256 << 10 };

struct sotto_http_pipe {
    pthread_mutex_t
        lock; /* guards what follows; held while the request is woken, so that it is there */
    pthread_cond_t moved;
    sotto_http_request *request; /* NULL: the answer is over */
    unsigned holders;
    bool ended, cut;
    size_t first, count, capacity;
    uint8_t ring[];
};

/* Under the lock, which it gives up. */
static void let_go(sotto_http_pipe *pipe)
{
    const bool last = --pipe->holders == 0;

    (void)pthread_mutex_unlock(&pipe->lock);
    if (!last)
        return;
    (void)pthread_cond_destroy(&pipe->moved);
    (void)pthread_mutex_destroy(&pipe->lock);
    sotto_release(pipe, sizeof *pipe + pipe->capacity);
}

static sotto_http_flow more(void *context, sotto_http_request *request, uint8_t *out, size_t room,
                            size_t *len)
{
    sotto_http_pipe *pipe = context;
    sotto_http_flow flow = SOTTO_HTTP_WAIT;
    size_t edge;

    (void)request;
    (void)pthread_mutex_lock(&pipe->lock);
    *len = pipe->count < room ? pipe->count : room;
    edge = pipe->capacity - pipe->first;
    edge = *len < edge ? *len : edge;
    memcpy(out, pipe->ring + pipe->first, edge);
    memcpy(out + edge, pipe->ring, *len - edge);
    pipe->first = (pipe->first + *len) % pipe->capacity;
    pipe->count -= *len;
    (void)pthread_cond_signal(&pipe->moved);
    if (pipe->cut)
        flow = SOTTO_HTTP_FAIL;
    else if (pipe->count > 0)
        flow = SOTTO_HTTP_NEXT;
    else if (pipe->ended)
        flow = SOTTO_HTTP_END;
    (void)pthread_mutex_unlock(&pipe->lock);
    return flow;
}

static void over(void *context, sotto_http_request *request, bool whole)
{
    sotto_http_pipe *pipe = context;

    (void)request;
    (void)whole;
    (void)pthread_mutex_lock(&pipe->lock);
    pipe->request = NULL;
    (void)pthread_cond_signal(&pipe->moved);
    let_go(pipe);
}

sotto_status sotto_http_pipe_open(sotto_http_pipe **out, sotto_http_request *request,
                                  const sotto_http_reply *reply,
                                  const sotto_http_pipe_options *options, sotto_err *err)
{
    const size_t capacity = options->capacity > 0 ? options->capacity : USUAL;
    sotto_http_pipe *pipe = sotto_alloc(sizeof *pipe + capacity);

    *out = NULL;
    if (!pipe || !sotto_wait_init(&pipe->moved)) {
        sotto_release(pipe, sizeof *pipe + capacity);
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for an answer in pieces");
    }
    (void)pthread_mutex_init(&pipe->lock, NULL);
    pipe->request = request;
    pipe->holders = 2;
    pipe->capacity = capacity;
    sotto_http_answer_stream(
        request, reply,
        &(sotto_http_source){.more = more,
                             .over = over,
                             .context = pipe,
                             .length = options->length > 0 ? options->length : SOTTO_HTTP_UNTOLD,
                             .endless = options->endless});
    *out = pipe;
    return SOTTO_OK;
}

sotto_status sotto_http_pipe_put(sotto_http_pipe *pipe, sotto_bytes bytes, sotto_err *err)
{
    sotto_status status = SOTTO_OK;
    size_t last, edge;

    if (bytes.len > pipe->capacity)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%zu bytes never fit into a pipe of %zu", bytes.len,
                          pipe->capacity);
    (void)pthread_mutex_lock(&pipe->lock);
    if (!pipe->request) {
        status = sotto_fail(err, SOTTO_STALE, "the answer has ended: its client is gone");
    } else if (bytes.len > pipe->capacity - pipe->count) {
        status = sotto_fail(err, SOTTO_AGAIN, "the client has not taken what was sent before");
    } else if (bytes.len > 0) {
        last = (pipe->first + pipe->count) % pipe->capacity;
        edge = pipe->capacity - last;
        edge = bytes.len < edge ? bytes.len : edge;
        memcpy(pipe->ring + last, bytes.data, edge);
        memcpy(pipe->ring, bytes.data + edge, bytes.len - edge);
        pipe->count += bytes.len;
        sotto_http_wake(pipe->request);
    }
    (void)pthread_mutex_unlock(&pipe->lock);
    return status;
}

sotto_status sotto_http_pipe_wait(sotto_http_pipe *pipe, unsigned milliseconds, sotto_err *err)
{
    const struct timespec until = sotto_wait_until(milliseconds);
    sotto_status status = SOTTO_OK;

    (void)pthread_mutex_lock(&pipe->lock);
    while (pipe->request && pipe->count > pipe->capacity / 2 &&
           pthread_cond_timedwait(&pipe->moved, &pipe->lock, &until) == 0) {
    }
    if (!pipe->request)
        status = sotto_fail(err, SOTTO_STALE, "the answer has ended: its client is gone");
    else if (pipe->count > pipe->capacity / 2)
        status = sotto_fail(err, SOTTO_AGAIN, "the client has not taken what was sent before");
    (void)pthread_mutex_unlock(&pipe->lock);
    return status;
}

void sotto_http_pipe_end(sotto_http_pipe *pipe, bool whole)
{
    if (!pipe)
        return;
    (void)pthread_mutex_lock(&pipe->lock);
    pipe->ended = true;
    pipe->cut = !whole;
    if (pipe->request)
        sotto_http_wake(pipe->request);
    let_go(pipe);
}
