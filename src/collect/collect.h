/* collect/collect.h - what the files of this room share. */
#ifndef SOTTO_COLLECT_COLLECT_H
#define SOTTO_COLLECT_COLLECT_H

#include "dap/collect.h"
#include "sotto/collect.h"
#include "transport/http_client.h"

/* Where an aggregator is, without a slash at its end. */
typedef struct sotto_collect_peer {
    const char *who; /* "the leader"                              */
    const char *token;
    char url[SOTTO_COLLECTION_URL];
} sotto_collect_peer;

struct sotto_collector {
    sotto_collector_options options;
    sotto_http_client *client;
    sotto_collect_peer leader, helper;
};

/* open.c: the query as it is sent. SOTTO_MALFORMED: no query of this task. */
SOTTO_MUST_USE sotto_status sotto_collect_query_encode(sotto_buf *out, const sotto_task *task,
                                                       const sotto_collection_query *query,
                                                       sotto_err *err);
/* open.c: everything from the leader's answer to the sums. `request` is what was sent, byte for byte. */
SOTTO_MUST_USE sotto_status sotto_collect_open(sotto_collection *out, const sotto_task *task,
                                               const sotto_collector_key *key, sotto_bytes request,
                                               sotto_bytes answer, sotto_arena *arena,
                                               sotto_err *err);

/* collector.c: one call (method, URL, body, size of the answer) with the peer's token; the answer may have any
 * status. */
SOTTO_MUST_USE sotto_status sotto_collect_call(sotto_collector *collector,
                                               sotto_http_response *response,
                                               const sotto_collect_peer *peer,
                                               const sotto_http_call *what, uint64_t deadline_ns,
                                               sotto_arena *arena, sotto_err *err);

/* refused.c: what a server refused of a batch that was opened. Never fails: it says why there is nothing to show.
 *   job     the leader's: the collection job's URL
 *   answer  the leader's CollectionJobResp */
void sotto_collect_rejections(sotto_collector *collector, sotto_collection *out, sotto_bytes answer,
                              uint64_t deadline_ns, sotto_arena *arena);

#endif
