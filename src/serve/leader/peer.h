/* serve/leader/peer.h - a call from the leader to its helper, as the task's profile has it.
 *
 * Callers:  jobs.c, collection_step.c and collection_repair.c.
 * Memory:   the caller's; the body is borrowed.
 * Secrets:  the token: clear the call once it was started.
 */
#ifndef SOTTO_SERVE_LEADER_PEER_H
#define SOTTO_SERVE_LEADER_PEER_H

#include "serve/tasks/folds.h"
#include "serve/tasks/tasks.h"
#include "transport/http_client.h"

typedef struct sotto_peer_call {
    char url[2048];
    char token[SOTTO_TOKEN_MAX + 8];
    char fold[SOTTO_FOLD_TEXT];
    sotto_http_field fields[3];
    sotto_http_call http;
} sotto_peer_call;

/* Creates a resource at the helper. For Janus the id, which is ours to choose, is a hash of the body: the same bytes
 * sent again are the same resource there too. False: the helper's URL is too long. */
bool sotto_peer_create(sotto_peer_call *call, const sotto_server_task *task,
                       sotto_dap_resource resource, sotto_dap_message message, sotto_bytes body);
/* Tells the helper which fold the job goes into, so that both put the same jobs together. */
void sotto_peer_name_fold(sotto_peer_call *call, int64_t fold);
/* How long the helper asks us to wait (Retry-After), limited to a lease's longest wait; 0: it did not
 * ask. */
int64_t sotto_peer_wait_ms(const sotto_http_response *response);
/* Sends a RepairReq (dap/repair.h). */
bool sotto_peer_repair(sotto_peer_call *call, const sotto_server_task *task, sotto_bytes body);
/* Deletes what the helper made, at the place that it named. False: that place is not on the
 * helper. */
bool sotto_peer_delete(sotto_peer_call *call, const sotto_server_task *task, sotto_bytes location);
void sotto_peer_call_clear(sotto_peer_call *call);

#endif
