/* serve/host/request_work.h - a request whose answer computes or waits for the database: off the loops, on a compute thread.
 *
 * Callers:  handlers of services whose requests need nothing kept between two steps.
 * Memory:   the worker's arena, wiped after the answer.
 */
#ifndef SOTTO_SERVE_HOST_REQUEST_WORK_H
#define SOTTO_SERVE_HOST_REQUEST_WORK_H

#include "serve/host/pool.h"
#include "transport/http_server.h"

/* Answers the request. */
typedef void sotto_request_run(void *state, sotto_http_request *request, sotto_arena *arena);

/* Where the pool has no place, the request is answered with 503 at once. */
void sotto_request_work(sotto_pool *pool, sotto_request_run *run, void *state,
                        sotto_http_request *request);

/* An answer whose only field is its media type. */
void sotto_request_answer(sotto_http_request *request, unsigned status, const char *type,
                          sotto_bytes body);

#endif
