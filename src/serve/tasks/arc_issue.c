#include "serve/tasks/arc_issue.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hex.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "seal/token/token.h"
#include "serve/host/bearer.h"
#include "serve/host/router.h"
#include "serve/tasks/arc_keys.h"
#include "serve/tasks/server.h"

#include <string.h>

#define REQUEST_TYPE  "application/private-token-request"
#define RESPONSE_TYPE "application/private-token-response"

_Static_assert((int)SOTTO_TOKEN_ARC_BLINDED == (int)SOTTO_ARC_REQUEST, "one request");

enum { LIST = 512 << 10, KEY_AT = 2 };
/* A key that closed as long ago as this is not listed any more: no batch of its epoch is still verified. */
static const int64_t GRACE_S = (int64_t)30 * 86400;

/* ---- work: what computes or waits for the database, off the loops ------------------------------------------------- */

typedef struct work {
    sotto_server *server;
    sotto_http_request *request;
    void (*run)(sotto_server *server, sotto_http_request *request, sotto_arena *arena);
} work;

static void run_work(void *context, sotto_worker *worker)
{
    work *w = context;

    w->run(w->server, w->request, worker->arena);
    sotto_release(w, sizeof *w);
}

static void post(sotto_server *server, sotto_http_request *request,
                 void (*run)(sotto_server *server, sotto_http_request *request, sotto_arena *arena))
{
    work *w = sotto_alloc(sizeof *w);

    if (w) {
        *w = (work){server, request, run};
        if (sotto_pool_post(server->pool, run_work, w, NULL) == SOTTO_OK)
            return;
        sotto_release(w, sizeof *w);
    }
    (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503, .retry_after_s = 1});
}

/* What a peer is told comes from the status alone. */
static void refuse(sotto_http_request *request, sotto_status status)
{
    const unsigned code = status == SOTTO_MALFORMED || status == SOTTO_REJECTED ? 400
                          : status == SOTTO_MISSING                             ? 404
                          : status == SOTTO_DENIED                              ? 401
                          : status == SOTTO_STALE                               ? 410
                                                                                : 503;

    (void)sotto_http_refuse(
        request, &(sotto_http_problem){.status = code,
                                       .retry_after_s = code == 503 ? 1 : 0,
                                       .challenge = code == 401 ? "Bearer realm=\"arc\"" : NULL});
}

static void answer(sotto_http_request *request, const char *type, sotto_bytes body)
{
    const sotto_http_field field = {"Content-Type", type};

    sotto_http_answer(request, &(sotto_http_reply){200, &field, 1, body});
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static void write_list(sotto_server *server, sotto_http_request *request, sotto_arena *arena)
{
    const int64_t since = sotto_host_seconds(server->host) - GRACE_S;
    sotto_buf out;
    sotto_status status = sotto_buf_take(&out, arena, LIST, NULL);

    if (status == SOTTO_OK)
        status = sotto_arc_keys_list(server->db, &out, since > 0 ? (uint64_t)since : 0, NULL);
    if (status != SOTTO_OK)
        refuse(request, status);
    else
        answer(request, "application/json", sotto_buf_bytes(&out));
}

void sotto_arc_keys_handle(void *server, const sotto_route *route, sotto_http_request *request)
{
    (void)route;
    post(server, request, write_list);
}

/* ---- credentials ------------------------------------------------------------------------------------------------- */

static sotto_status issue_with(uint8_t response[SOTTO_ARC_RESPONSE], const sotto_arc_key *key,
                               const uint8_t *request, sotto_err *err)
{
    sotto_scalar random[SOTTO_ARC_RESPONSE_RANDOM];
    sotto_group g;
    sotto_status status = sotto_group_init(&g, &sotto_p256, err);

    if (status == SOTTO_OK)
        status = sotto_scalar_random(&g, random, SOTTO_ARC_RESPONSE_RANDOM, err);
    if (status == SOTTO_OK)
        status = sotto_arc_issue(&g, response, &key->secret, key->public_key, request, random, err);
    sotto_group_clear(&g);
    sotto_wipe(random, sizeof random);
    return status;
}

static bool is_attester(const sotto_http_request *request, const uint8_t wanted[32])
{
    uint8_t given[32];

    sotto_hash_once(given, SOTTO_SHA256, sotto_bearer_of(request));
    return sotto_bytes_equal(sotto_bytes_of(given, sizeof given), sotto_bytes_of(wanted, 32));
}

static sotto_status issue(sotto_server *server, uint8_t response[SOTTO_ARC_RESPONSE],
                          const sotto_http_request *request, sotto_arc_key *key, sotto_err *err)
{
    uint8_t id[SOTTO_TOKEN_KEY_ID];
    const sotto_bytes name = sotto_route_segment(server->host, request, KEY_AT);
    sotto_token_request in;

    if (!sotto_hex_decode(id, sizeof id, name))
        return sotto_fail(err, SOTTO_MISSING, "ARC key: no id");
    SOTTO_TRY(sotto_arc_key_get(server->db, key, id, server->columns, err));
    if (SOTTO_RULE(arc_attester_only) && !is_attester(request, key->attester))
        return sotto_fail(err, SOTTO_DENIED, "ARC request: not from the attester");
    /* A credential that is issued after its epoch has no honest use. */
    if (SOTTO_RULE(arc_issuance_ends) &&
        sotto_host_seconds(server->host) >= (int64_t)key->epoch.closes)
        return sotto_fail(err, SOTTO_STALE, "ARC key: its epoch has closed");
    SOTTO_TRY(sotto_token_request_decode(&in, sotto_http_request_body(request), err) == SOTTO_OK
                  ? SOTTO_OK
                  : SOTTO_MALFORMED);
    if (in.type != SOTTO_TOKEN_ARC || in.short_key_id != id[SOTTO_TOKEN_KEY_ID - 1])
        return sotto_fail(err, SOTTO_MALFORMED, "ARC request: of another type, or for another key");
    return issue_with(response, key, in.blinded.data, err);
}

static void issue_one(sotto_server *server, sotto_http_request *request, sotto_arena *arena)
{
    uint8_t response[SOTTO_ARC_RESPONSE];
    sotto_arc_key key = {0};
    const sotto_status status = issue(server, response, request, &key, NULL);

    (void)arena;
    sotto_wipe(&key, sizeof key);
    if (status != SOTTO_OK)
        refuse(request, status);
    else
        answer(request, RESPONSE_TYPE, sotto_bytes_of(response, sizeof response));
}

bool sotto_arc_issue_admit(void *server, const sotto_route *route, sotto_http_request *request,
                           size_t *max_body)
{
    sotto_bytes type;

    (void)server;
    *max_body = route->max_body;
    if (!sotto_http_request_field(request, "content-type", &type) ||
        !sotto_http_is_media_type(type, REQUEST_TYPE))
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 415});
    return true;
}

void sotto_arc_issue_handle(void *server, const sotto_route *route, sotto_http_request *request)
{
    (void)route;
    post(server, request, issue_one);
}
