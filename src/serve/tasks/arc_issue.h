/* serve/tasks/arc_issue.h - credentials of ARC that a leader or helper issues under its own keys.
 *
 *     GET  arc/keys                     everybody: the one public list (recipe/listed_keys.h)
 *     POST arc/keys/{id}/token-request  the attester: type 2 (0xe5ac) | last byte of the key's id 1 | request 226 (seal/token/arc.h)
 *
 * Who asks is the attester, known by its bearer token, for a device that this server learns nothing of. A credential says the same
 * of every device: that an attester vouched for it in this epoch.
 */
#ifndef SOTTO_SERVE_TASKS_ARC_ISSUE_H
#define SOTTO_SERVE_TASKS_ARC_ISSUE_H

#include "seal/token/token.h"
#include "serve/host/service.h"

#define SOTTO_ARC_KEYS_ROUTE                                                                       \
    {                                                                                              \
        .method = SOTTO_HTTP_GET, .path = "arc/keys", .handle = sotto_arc_keys_handle              \
    }
#define SOTTO_ARC_ISSUE_ROUTE                                                                      \
    {                                                                                              \
        .method = SOTTO_HTTP_POST, .path = "arc/keys/{id}/token-request",                          \
        .max_body = SOTTO_TOKEN_ARC_REQUEST, .admit = sotto_arc_issue_admit,                       \
        .handle = sotto_arc_issue_handle                                                           \
    }

void sotto_arc_keys_handle(void *server, const sotto_route *route, sotto_http_request *request);
bool sotto_arc_issue_admit(void *server, const sotto_route *route, sotto_http_request *request,
                           size_t *max_body);
void sotto_arc_issue_handle(void *server, const sotto_route *route, sotto_http_request *request);

#endif
