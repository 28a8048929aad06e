/* transport/http_pipe.h - an answer that other threads write while it is sent.
 *
 * Callers:  handlers whose answer comes from a worker, a database or other clients' requests (server-sent events).
 * Memory:   at most `capacity` bytes wait in a pipe. A pipe is its writer's until sotto_http_pipe_end.
 * Threads:  a pipe is written by one thread at a time, any thread. Nothing here waits but sotto_http_pipe_wait.
 *
 *     sotto_http_pipe *pipe;
 *     if (sotto_http_pipe_open(&pipe, request, &reply, &(sotto_http_pipe_options){.endless = true}, err) != SOTTO_OK) ...
 *     while (next_event(&event) && sotto_http_pipe_put(pipe, event) == SOTTO_OK) { }
 *     sotto_http_pipe_end(pipe, true);
 */
#ifndef SOTTO_TRANSPORT_HTTP_PIPE_H
#define SOTTO_TRANSPORT_HTTP_PIPE_H

#include "transport/http_server.h"

typedef struct sotto_http_pipe sotto_http_pipe;

typedef struct sotto_http_pipe_options {
    size_t capacity; /* 0: 256 KiB                                                          */
    uint64_t length; /* of the whole body; 0: not known, and sent in chunks                  */
    bool endless;    /* a drain ends it (see sotto_http_source)                              */
} sotto_http_pipe_options;

/* Begins the answer and takes the request.
 *   SOTTO_NO_MEMORY  the request is still the caller's
 */
SOTTO_MUST_USE sotto_status sotto_http_pipe_open(sotto_http_pipe **pipe,
                                                 sotto_http_request *request,
                                                 const sotto_http_reply *reply,
                                                 const sotto_http_pipe_options *options,
                                                 sotto_err *err);

/* Puts all of it in, to be sent as soon as the client takes it, or nothing.
 *   SOTTO_AGAIN      there is no room now: wait, or try later
 *   SOTTO_TOO_LARGE  it never fits
 *   SOTTO_STALE      the client has gone, or a drain ended the answer: end the pipe
 */
SOTTO_MUST_USE sotto_status sotto_http_pipe_put(sotto_http_pipe *pipe, sotto_bytes bytes,
                                                sotto_err *err);

/* Waits until half of the pipe is free. Not for loops' threads.
 *   SOTTO_AGAIN  it is not, after so many milliseconds
 *   SOTTO_STALE  as above
 */
SOTTO_MUST_USE sotto_status sotto_http_pipe_wait(sotto_http_pipe *pipe, unsigned milliseconds,
                                                 sotto_err *err);

/* Gives the pipe back. whole: what was put is sent, and then the answer ends; otherwise it is cut off now, so that the client
 * sees that something is missing. NULL is fine. */
void sotto_http_pipe_end(sotto_http_pipe *pipe, bool whole);

#endif
