#include "serve/tasks/arc_issue.h"

#include "base/arena.h"
#include "base/hex.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "seal/token/token.h"
#include "serve/host/bearer.h"
#include "serve/host/request_work.h"
#include "serve/host/router.h"
#include "serve/tasks/arc_keys.h"
#include "serve/tasks/server.h"

#include <string.h>

_Static_assert((int)SOTTO_TOKEN_ARC_BLINDED == (int)SOTTO_ARC_REQUEST, "one request");

enum { LIST = 512 << 10, KEY_AT = 2 };
/* A key that closed as long ago as this is not listed any more: no batch of its epoch is still verified. */
static const int64_t GRACE_S = (int64_t)30 * 86400;

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

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static void write_list(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_server *server = state;
    const int64_t since = sotto_host_seconds(server->host) - GRACE_S;
    sotto_buf out;
    sotto_status status = sotto_buf_take(&out, arena, LIST, NULL);

    if (status == SOTTO_OK)
        status = sotto_arc_keys_list(server->db, &out, since > 0 ? (uint64_t)since : 0, NULL);
    if (status != SOTTO_OK)
        refuse(request, status);
    else
        sotto_request_answer(request, 200, "application/json", sotto_buf_bytes(&out));
}

void sotto_arc_keys_handle(void *server, const sotto_route *route, sotto_http_request *request)
{
    const sotto_server *s = server;

    (void)route;
    sotto_request_work(s->pool, write_list, server, request);
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

/* Who asks: SHA-256 of its bearer token, as keys have it. */
typedef struct asker {
    uint8_t digest[32];
    uint64_t mark; /* what a server remembers of it; never 0 */
} asker;

static asker asker_of(const sotto_http_request *request)
{
    asker a;

    sotto_hash_once(a.digest, SOTTO_SHA256, sotto_bearer_of(request));
    sotto_reader in = sotto_reader_over(sotto_bytes_of(a.digest, sizeof a.digest));
    a.mark = sotto_read_uint(&in, 8) | 1;
    return a;
}

/* Whoever a key named as its attester stands for many devices from then on, until a key refuses it. The database is asked again for
 * each request: this lifts the share of an address and nothing else. */
static void remember(sotto_server *server, const asker *a, sotto_status status)
{
    uint_fast64_t known = a->mark;

    if (status == SOTTO_DENIED)
        (void)atomic_compare_exchange_strong(&server->arc_attester, &known, 0);
    else if (status == SOTTO_OK || status == SOTTO_STALE)
        atomic_store(&server->arc_attester, a->mark);
}

static sotto_status issue(sotto_server *server, uint8_t response[SOTTO_ARC_RESPONSE],
                          const sotto_http_request *request, sotto_arc_key *key, sotto_err *err)
{
    uint8_t id[SOTTO_TOKEN_KEY_ID];
    const sotto_bytes name = sotto_route_segment(server->host, request, KEY_AT);
    const asker from = asker_of(request);
    sotto_token_request in;

    if (!sotto_hex_decode(id, sizeof id, name))
        return sotto_fail(err, SOTTO_MISSING, "ARC key: no id");
    const sotto_status status =
        sotto_arc_key_get(server->db, key, id, from.digest, server->columns, err);
    remember(server, &from, status);
    if (status == SOTTO_MALFORMED || status == SOTTO_REJECTED)
        return SOTTO_IO; /* a damaged row is this server's fault: the attester may ask again */
    SOTTO_TRY(status);
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

static void issue_one(void *server, sotto_http_request *request, sotto_arena *arena)
{
    uint8_t response[SOTTO_ARC_RESPONSE];
    sotto_arc_key key = {0};
    const sotto_status status = issue(server, response, request, &key, NULL);

    (void)arena;
    sotto_wipe(&key, sizeof key);
    if (status != SOTTO_OK)
        refuse(request, status);
    else
        sotto_request_answer(request, 200, SOTTO_TOKEN_RESPONSE_TYPE,
                             sotto_bytes_of(response, sizeof response));
}

bool sotto_arc_issue_admit(void *server, const sotto_route *route, sotto_http_request *request,
                           size_t *max_body)
{
    sotto_server *s = server;
    sotto_bytes type;

    *max_body = route->max_body;
    if (SOTTO_RULE(arc_bearer_first) && sotto_bearer_of(request).len == 0) {
        refuse(request, SOTTO_DENIED);
        return false;
    }
    if (!sotto_http_request_field(request, "content-type", &type) ||
        !sotto_http_is_media_type(type, SOTTO_TOKEN_REQUEST_TYPE))
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 415});
    if (asker_of(request).mark == atomic_load(&s->arc_attester))
        sotto_http_request_vouch(request);
    return true;
}

void sotto_arc_issue_handle(void *server, const sotto_route *route, sotto_http_request *request)
{
    const sotto_server *s = server;

    (void)route;
    sotto_request_work(s->pool, issue_one, server, request);
}
