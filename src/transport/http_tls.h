/* transport/http_tls.h - a server's certificate while it runs: read it again, and when it ends.
 *
 * Callers:  serve/host, when the operator asks for it (SIGHUP) and for metrics.
 * Threads:  any; connections that are open keep the certificate that they began with.
 */
#ifndef SOTTO_TRANSPORT_HTTP_TLS_H
#define SOTTO_TRANSPORT_HTTP_TLS_H

#include "transport/http_server.h"

/* Reads both files; connections from now on get what is in them. On failure nothing changes.
 *   SOTTO_STALE  the server speaks plain HTTP; others as sotto_http_server_open
 */
SOTTO_MUST_USE sotto_status sotto_http_server_reload(sotto_http_server *server,
                                                     const char *certificate,
                                                     const char *private_key, sotto_err *err);

/* Seconds since 1970 at which the server's own certificate ends; false: it has none. */
bool sotto_http_server_certificate_end(sotto_http_server *server, int64_t *seconds);

#endif
