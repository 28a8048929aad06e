/* serve/host/router.h - from a request's head to the service's route, or a problem.
 *
 * Callers:  the HTTP server, on its loops; services, for what a path names.
 */
#ifndef SOTTO_SERVE_HOST_ROUTER_H
#define SOTTO_SERVE_HOST_ROUTER_H

#include "serve/host/host.h"

/* Its context is the sotto_host. */
extern const sotto_http_handler sotto_router;

/* The i-th segment of what lies behind the server's own path: of "tasks/{task}/reports", 1 is the task. */
sotto_bytes sotto_route_segment(const sotto_host *host, const sotto_http_request *request,
                                size_t i);

/* Whether an answer's Allow names this route's method. */
typedef bool sotto_route_filter(const sotto_route *route, const void *context);
enum { SOTTO_ALLOW = 64 };
/* RFC 9110, 15.5.6: the methods that the path of `like` has, as Allow writes them. filter: NULL for all. */
void sotto_route_allow(char out[SOTTO_ALLOW], const sotto_host *host, const sotto_route *like,
                       sotto_route_filter *filter, const void *context);

#endif
