#include "serve/issuer/issuer_service.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hex.h"
#include "base/rule.h"
#include "recipe/listed_keys.h"
#include "seal/token/token_batch.h"
#include "serve/host/bearer.h"
#include "serve/host/database_owner.h"
#include "serve/host/health.h"
#include "serve/host/host.h"
#include "serve/host/host_metrics.h"
#include "serve/host/request_work.h"
#include "serve/host/router.h"
#include "serve/issuer/issuer_keys.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* A key that closed as long ago as this is not listed any more: no batch of its collection is still verified. */
enum { OWNER = 14, LIST = 8 << 20, GRACE_S = 30 * 86400 };

/* A key that was used, opened. A signature takes a key's lock: its crypto objects serve one thread at a time. */
typedef struct opened {
    struct opened *next;
    pthread_mutex_t lock;
    unsigned users; /* of the list's lock */
    uint8_t id[SOTTO_TOKEN_KEY_ID];
    int64_t closes;
    sotto_rsa_private secret;
} opened;

typedef struct issuer {
    sotto_host *host;
    sotto_bearer attester, operator;
    pthread_mutex_t lock; /* of the list: a key goes with its last user once it is closed */
    opened *keys;
    atomic_uint_fast64_t issued, refused;
} issuer;

/* ---- who may --------------------------------------------------------------------------------------------------- */

static bool unauthorized(sotto_http_request *request)
{
    return sotto_http_refuse(request, &(sotto_http_problem){
                                          .status = 401,
                                          .challenge = "Bearer realm=\"issuer\"",
                                      });
}

static bool admit_operator(void *state, const sotto_route *route, sotto_http_request *request,
                           size_t *max_body)
{
    issuer *i = state;

    *max_body = route->max_body;
    if (SOTTO_RULE(issuer_operator_only) && !sotto_bearer_is(&i->operator, request))
        return unauthorized(request);
    return true;
}

static bool admit_attester(const issuer *i, sotto_http_request *request, const char *wanted)
{
    sotto_bytes type;

    if (SOTTO_RULE(issuer_attester_only) && !sotto_bearer_is(&i->attester, request))
        return unauthorized(request);
    if (!sotto_http_request_field(request, "content-type", &type) ||
        !sotto_http_is_media_type(type, wanted))
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 415});
    sotto_http_request_vouch(request); /* the attester stands for many devices */
    return true;
}

static bool admit_one(void *state, const sotto_route *route, sotto_http_request *request,
                      size_t *max_body)
{
    *max_body = route->max_body;
    return admit_attester(state, request, SOTTO_TOKEN_REQUEST_TYPE);
}

static bool admit_many(void *state, const sotto_route *route, sotto_http_request *request,
                       size_t *max_body)
{
    *max_body = route->max_body;
    return admit_attester(state, request, SOTTO_TOKEN_BATCH_TYPE);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

/* What a peer is told comes from the status alone. */
static void refuse(issuer *i, sotto_http_request *request, sotto_status status)
{
    unsigned code = 503;

    if (status == SOTTO_MALFORMED || status == SOTTO_REJECTED)
        code = 400;
    else if (status == SOTTO_MISSING)
        code = 404;
    else if (status == SOTTO_DENIED)
        code = 409;
    else if (status == SOTTO_STALE)
        code = 410;
    atomic_fetch_add(&i->refused, 1);
    (void)sotto_http_refuse(
        request, &(sotto_http_problem){.status = code, .retry_after_s = code == 503 ? 1 : 0});
}

/* ---- collections ------------------------------------------------------------------------------------------------- */

static bool read_seconds(int64_t *out, sotto_bytes text)
{
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *out = *out * 10 + (text.data[i] - '0');
        /* Devices and attesters read no later time in a list. */
        if (SOTTO_RULE(issuer_times_short) && *out > SOTTO_LISTED_KEYS_LATEST)
            return false;
    }
    return text.len > 0;
}

static bool read_collection(sotto_issuer_collection *c, const issuer *i,
                            const sotto_http_request *request)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const sotto_bytes name = sotto_route_segment(i->host, request, 1);

    if (name.len == 0 || name.len > SOTTO_ISSUER_ANALYSIS)
        return false;
    memcpy(c->analysis, name.data, name.len);
    c->analysis[name.len] = 0;
    return strspn(c->analysis, allowed) == name.len &&
           read_seconds(&c->opens, sotto_route_segment(i->host, request, 2)) &&
           read_seconds(&c->closes, sotto_route_segment(i->host, request, 3)) &&
           c->opens < c->closes;
}

static void make_collection(void *state, sotto_http_request *request, sotto_arena *arena)
{
    issuer *i = state;
    sotto_issuer_collection collection;
    sotto_rsa_private secret = {0};
    sotto_issuer_key key;
    bool made = false;

    (void)arena;
    if (!read_collection(&collection, i, request)) {
        refuse(i, request, SOTTO_MALFORMED);
        return;
    }
    sotto_status status = sotto_issuer_key_find(i->host->db, &key, &collection, NULL);
    /* Nothing would be issued under it, and a list of such keys would grow for nothing. */
    if (SOTTO_RULE(collections_to_come) && status == SOTTO_MISSING &&
        sotto_host_seconds(i->host) >= collection.closes)
        status = SOTTO_STALE;
    if (status == SOTTO_MISSING) {
        status = sotto_rsa_private_generate(&secret, SOTTO_TYPE2_BITS, NULL);
        if (status == SOTTO_OK)
            status = sotto_issuer_key_put(i->host->db, &key, &made, &collection, &secret,
                                          &i->host->columns, sotto_host_seconds(i->host) - GRACE_S,
                                          NULL);
        sotto_rsa_private_clear(&secret);
    }
    if (status != SOTTO_OK)
        refuse(i, request, status);
    else
        sotto_request_answer(request, made ? 201 : 200, "application/octet-stream",
                             sotto_bytes_of(key.spki, sizeof key.spki));
}

static void put_collection(void *state, const sotto_route *route, sotto_http_request *request)
{
    const issuer *i = state;

    (void)route;
    sotto_request_work(i->host->pool, make_collection, state, request);
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static void write_list(void *state, sotto_http_request *request, sotto_arena *arena)
{
    issuer *i = state;
    sotto_buf out;
    sotto_status status = sotto_buf_take(&out, arena, LIST, NULL);

    if (status == SOTTO_OK)
        status =
            sotto_issuer_keys_list(i->host->db, &out, sotto_host_seconds(i->host) - GRACE_S, NULL);
    if (status != SOTTO_OK)
        refuse(i, request, status);
    else
        sotto_request_answer(request, 200, "application/json", sotto_buf_bytes(&out));
}

static void get_keys(void *state, const sotto_route *route, sotto_http_request *request)
{
    const issuer *i = state;

    (void)route;
    sotto_request_work(i->host->pool, write_list, state, request);
}

/* ---- signing ----------------------------------------------------------------------------------------------------- */

/* Under the lock. */
static opened *use(const issuer *i, const uint8_t id[SOTTO_TOKEN_KEY_ID])
{
    opened *key;

    for (key = i->keys; key && memcmp(key->id, id, SOTTO_TOKEN_KEY_ID) != 0;)
        key = key->next;
    if (key)
        key->users++;
    return key;
}

static opened *find_opened(issuer *i, const uint8_t id[SOTTO_TOKEN_KEY_ID])
{
    pthread_mutex_lock(&i->lock);
    opened *key = use(i, id);
    pthread_mutex_unlock(&i->lock);
    return key;
}

static void free_opened(opened *key)
{
    sotto_rsa_private_clear(&key->secret);
    pthread_mutex_destroy(&key->lock);
    sotto_release(key, sizeof *key);
}

/* NULL is fine. */
static void let_go(issuer *i, opened *key)
{
    opened **at = &i->keys;
    bool last;

    if (!key)
        return;
    pthread_mutex_lock(&i->lock);
    last = --key->users == 0 && sotto_host_seconds(i->host) >= key->closes;
    while (last && *at != key)
        at = &(*at)->next;
    if (last)
        *at = key->next;
    pthread_mutex_unlock(&i->lock);
    if (last)
        free_opened(key);
}

/* From the database, once; two workers may both open it, and one of them frees its copy. */
static sotto_status open_key(issuer *i, opened **out, const uint8_t id[SOTTO_TOKEN_KEY_ID])
{
    opened *key = sotto_alloc(sizeof *key), *there;

    if (!key)
        return SOTTO_NO_MEMORY;
    pthread_mutex_init(&key->lock, NULL);
    memcpy(key->id, id, sizeof key->id);
    sotto_status status =
        sotto_issuer_key_get(i->host->db, &key->secret, &key->closes, id, &i->host->columns, NULL);
    if (status != SOTTO_OK) {
        free_opened(key);
        return status;
    }
    pthread_mutex_lock(&i->lock);
    there = use(i, id);
    if (!there) {
        key->users = 1;
        key->next = i->keys;
        i->keys = key;
    }
    pthread_mutex_unlock(&i->lock);
    if (there)
        free_opened(key);
    *out = there ? there : key;
    return SOTTO_OK;
}

/* The key that the path names, in use, unless its collection has closed. The caller releases it, also after a failure. */
static sotto_status key_of(issuer *i, opened **out, const sotto_http_request *request)
{
    uint8_t id[SOTTO_TOKEN_KEY_ID];
    sotto_status status = SOTTO_OK;

    *out = NULL;
    if (!sotto_hex_decode(id, sizeof id, sotto_route_segment(i->host, request, 1)))
        return SOTTO_MISSING;
    *out = find_opened(i, id);
    if (!*out)
        status = open_key(i, out, id);
    /* A token issued after the collection has closed has no honest use. */
    if (SOTTO_RULE(issuance_ends) && status == SOTTO_OK &&
        sotto_host_seconds(i->host) >= (*out)->closes)
        status = SOTTO_STALE;
    return status;
}

static sotto_status issue(issuer *i, opened *key, uint8_t response[SOTTO_TYPE2_RESPONSE],
                          sotto_bytes asked)
{
    pthread_mutex_lock(&key->lock);
    sotto_status status = sotto_type2_issue(&key->secret, key->id, response, asked, NULL);
    pthread_mutex_unlock(&key->lock);
    if (status == SOTTO_OK)
        atomic_fetch_add(&i->issued, 1);
    /* a token type that is not issued here */
    return status == SOTTO_MISSING ? SOTTO_MALFORMED : status;
}

static void sign(void *state, sotto_http_request *request, sotto_arena *arena)
{
    issuer *i = state;
    uint8_t response[SOTTO_TYPE2_RESPONSE];
    opened *key;
    sotto_status status = key_of(i, &key, request);

    (void)arena;
    if (status == SOTTO_OK)
        status = issue(i, key, response, sotto_http_request_body(request));
    let_go(i, key);
    if (status != SOTTO_OK)
        refuse(i, request, status);
    else
        sotto_request_answer(request, 200, SOTTO_TOKEN_RESPONSE_TYPE,
                             sotto_bytes_of(response, sizeof response));
}

/* A request that can't be signed has zeros. What is wrong here is wrong for all: then they are to be tried again. */
static sotto_status issue_all(issuer *i, opened *key, sotto_buf *out, sotto_bytes asked)
{
    for (size_t at = 0; at < asked.len; at += SOTTO_TYPE2_REQUEST) {
        uint8_t *place = out->data + out->len;
        const sotto_status status =
            issue(i, key, place + 1, sotto_bytes_of(asked.data + at, SOTTO_TYPE2_REQUEST));

        if (status != SOTTO_OK && status != SOTTO_MALFORMED && status != SOTTO_REJECTED)
            return status;
        place[0] = status == SOTTO_OK ? SOTTO_TOKEN_BATCH_SIGNED : SOTTO_TOKEN_BATCH_REFUSED;
        if (status != SOTTO_OK) {
            memset(place + 1, 0, SOTTO_TYPE2_RESPONSE);
            atomic_fetch_add(&i->refused, 1);
        }
        out->len += SOTTO_TOKEN_BATCH_ANSWER;
    }
    return SOTTO_OK;
}

static void sign_many(void *state, sotto_http_request *request, sotto_arena *arena)
{
    issuer *i = state;
    const sotto_bytes asked = sotto_http_request_body(request);
    const size_t count = asked.len / SOTTO_TYPE2_REQUEST;
    const bool whole = count > 0 && asked.len % SOTTO_TYPE2_REQUEST == 0;
    sotto_status status = SOTTO_OK;
    opened *key = NULL;
    sotto_buf out;

    if (SOTTO_RULE(issuer_whole_requests) && !whole)
        status = SOTTO_MALFORMED;
    if (status == SOTTO_OK)
        status = sotto_buf_take(&out, arena, (count + 1) * SOTTO_TOKEN_BATCH_ANSWER, NULL);
    if (status == SOTTO_OK)
        status = key_of(i, &key, request);
    if (status == SOTTO_OK)
        status = issue_all(i, key, &out, sotto_bytes_of(asked.data, count * SOTTO_TYPE2_REQUEST));
    let_go(i, key);
    if (status != SOTTO_OK)
        refuse(i, request, status);
    else
        sotto_request_answer(request, 200, SOTTO_TOKEN_BATCH_RESPONSE_TYPE, sotto_buf_bytes(&out));
}

static void post_request(void *state, const sotto_route *route, sotto_http_request *request)
{
    const issuer *i = state;

    (void)route;
    sotto_request_work(i->host->pool, sign, state, request);
}

static void post_requests(void *state, const sotto_route *route, sotto_http_request *request)
{
    const issuer *i = state;

    (void)route;
    sotto_request_work(i->host->pool, sign_many, state, request);
}

static const sotto_route routes[] = {
    {.method = SOTTO_HTTP_PUT,
     .path = "collections/{analysis}/{opens}/{closes}",
     .admit = admit_operator,
     .handle = put_collection},
    {.method = SOTTO_HTTP_GET, .path = "keys", .handle = get_keys},
    {.method = SOTTO_HTTP_POST,
     .path = "keys/{id}/token-request",
     .max_body = SOTTO_TYPE2_REQUEST,
     .admit = admit_one,
     .handle = post_request},
    {.method = SOTTO_HTTP_POST,
     .path = "keys/{id}/token-requests",
     .max_body = SOTTO_TOKEN_BATCH * SOTTO_TYPE2_REQUEST,
     .admit = admit_many,
     .handle = post_requests},
};

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static const sotto_option options[] = {
    {"attester_token", SOTTO_OPTION_SECRET, offsetof(sotto_issuer_config, attester_token),
     sizeof(const char *), "{name}.attester-token", 0, 0, "attester-token",
     "the file with the token by which the attester is known", SOTTO_OPTION_ALWAYS},
    {"operator_token", SOTTO_OPTION_SECRET, offsetof(sotto_issuer_config, operator_token),
     sizeof(const char *), "{name}.operator-token", 0, 0, "operator-token",
     "the file with the token of who may add collections", SOTTO_OPTION_ALWAYS},
};

static const sotto_migration migrations[] = {
    {1, SOTTO_OWNER_SCHEMA SOTTO_ISSUER_KEYS_SCHEMA},
};

static void close_issuer(void *state)
{
    issuer *i = state;

    while (i->keys) {
        opened *key = i->keys;

        i->keys = key->next;
        free_opened(key);
    }
    pthread_mutex_destroy(&i->lock);
    sotto_release(i, sizeof *i);
}

static sotto_status open_issuer(void **state, sotto_host *host, const void *config, sotto_err *err)
{
    const sotto_issuer_config *c = config;
    issuer *i = sotto_alloc(sizeof *i);
    sotto_status status;

    if (!i)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the issuer");
    i->host = host;
    pthread_mutex_init(&i->lock, NULL);
    status = sotto_bearer_read(&i->attester, c->attester_token, err);
    if (status == SOTTO_OK)
        status = sotto_bearer_read(&i->operator, c->operator_token, err);
    if (status != SOTTO_OK) {
        close_issuer(i);
        return status;
    }
    *state = i;
    return SOTTO_OK;
}

static void describe(void *state, sotto_buf *out)
{
    issuer *i = state;

    sotto_health_say_number(out, "tokens: ", atomic_load(&i->issued), " issued\n");
}

static sotto_status metrics(void *state, sotto_writer *w, sotto_err *err)
{
    issuer *i = state;

    (void)err;
    sotto_metric_one(w, "sotto_tokens_issued", "counter", "Token requests that were signed.",
                     atomic_load(&i->issued));
    sotto_metric_one(w, "sotto_token_requests_refused", "counter", "Requests that were refused.",
                     atomic_load(&i->refused));
    return SOTTO_OK;
}

const sotto_service sotto_issuer_service = {
    .name = "issuer",
    .summary = "sign tokens for one collection each",
    .listen = "127.0.0.1:8793",
    .operations = "127.0.0.1:9793",
    .owner = OWNER,
    .routes = routes,
    .route_count = sizeof routes / sizeof routes[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .config_size = sizeof(sotto_issuer_config),
    .migrations = migrations,
    .migration_count = sizeof migrations / sizeof migrations[0],
    .open = open_issuer,
    .close = close_issuer,
    .describe = describe,
    .metrics = metrics,
};
