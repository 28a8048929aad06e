#include "serve/attester/attester_service.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hex.h"
#include "base/rule.h"
#include "crypto/signature.h"
#include "recipe/listed_keys.h"
#include "seal/token/arc.h"
#include "serve/attester/attester_line.h"
#include "serve/attester/attester_lists.h"
#include "serve/attester/attester_sources.h"
#include "serve/host/bearer.h"
#include "serve/host/database_owner.h"
#include "serve/host/health.h"
#include "serve/host/host.h"
#include "serve/host/host_metrics.h"
#include "serve/host/peers.h"
#include "serve/host/router.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    OWNER = 15,
    LIST = 16 << 20,
    KEYS = SOTTO_LISTED_KEYS_MOST * 1024, /* memory for all of them */
    /* Longer than the issuer lists a closed key: by then no server takes tokens of it. */
    KEEP_S = 31 * 86400,
    DROP_EVERY_S = 3600
};

typedef struct attester {
    sotto_host *host;
    sotto_attester_config config;
    sotto_attestation attestation;
    sotto_attester_sources sources;
    sotto_bearer operator;
    sotto_attester_lists *lists;
    sotto_attester_line *line; /* to the issuer */
    sotto_peers *peers;
    atomic_uint_fast64_t forwarded, refused, dropped;
    int64_t drop_next; /* seconds since 1970; of the thread that ticks */
    atomic_bool dropping;
    atomic_bool unknown[SOTTO_ATTESTER_SOURCES]; /* to leader or helper, when it answered last */
} attester;

/* One request on its way. */
typedef struct passage {
    sotto_attester_request
        asked; /* first: the line knows a passage by it. Its key closes: once it was found on the list */
    attester *attester;
    sotto_http_request *request;
    sotto_attester_source from;
    size_t len; /* of the request */
    char hex[2 * SOTTO_ATTESTER_ID + 1];
    bool listed;
} passage;

/* What a device is told comes from the status alone. */
static void refuse(passage *p, sotto_status status)
{
    unsigned code = 503;

    if (status == SOTTO_MALFORMED)
        code = 400;
    else if (status == SOTTO_REJECTED)
        code = 403;
    else if (status == SOTTO_MISSING)
        code = 404;
    else if (status == SOTTO_DENIED)
        code = 409;
    else if (status == SOTTO_STALE)
        code = 410;
    atomic_fetch_add(&p->attester->refused, 1);
    (void)sotto_http_refuse(
        p->request, &(sotto_http_problem){.status = code, .retry_after_s = code == 503 ? 1 : 0});
    sotto_release(p, sizeof *p);
}

/* ---- enrolment keys ---------------------------------------------------------------------------------------------- */

static sotto_status check_enrolment(void *context, uint8_t device[SOTTO_ATTESTER_ID],
                                    sotto_bytes evidence, sotto_bytes text, sotto_err *err)
{
    attester *a = context;

    if (evidence.len != SOTTO_SIGN_PUBLIC + SOTTO_SIGNATURE)
        return sotto_fail(err, SOTTO_REJECTED, "attester: evidence is a key and a signature");
    memcpy(device, evidence.data, SOTTO_ATTESTER_ID);
    sotto_status status =
        sotto_signature_check(device, evidence.data + SOTTO_SIGN_PUBLIC, text, err);
    if (SOTTO_RULE(devices_sign) && status != SOTTO_OK)
        return status;
    status = sotto_attester_is_enrolled(a->host->db, device, err);
    if (SOTTO_RULE(devices_enrolled) && status == SOTTO_MISSING)
        return SOTTO_REJECTED;
    return status;
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

/* Where its keys are; leader and helper have theirs apart from DAP's resources. */
static int write_keys_url(char *out, size_t size, const passage *p)
{
    return snprintf(out, size, "%s%skeys", p->attester->sources.urls[p->from],
                    sotto_attester_is_arc(p->from) ? "arc/" : "");
}

/* ---- the issuer -------------------------------------------------------------------------------------------------- */

static void tell(void *context, sotto_attester_request *asked, sotto_status status,
                 sotto_bytes response)
{
    static const sotto_http_field type = {"Content-Type", SOTTO_TOKEN_RESPONSE_TYPE};
    passage *p = (passage *)(void *)asked;

    (void)context;
    if (status != SOTTO_OK) {
        refuse(p, status);
        return;
    }
    atomic_fetch_add(&p->attester->forwarded, 1);
    sotto_http_answer(p->request, &(sotto_http_reply){200, &type, 1, response});
    sotto_release(p, sizeof *p);
}

/* ---- leader and helper ------------------------------------------------------------------------------------------- */

static void on_credential(void *context, sotto_status status, const sotto_http_response *response,
                          const sotto_err *err)
{
    passage *p = context;
    const unsigned code = status == SOTTO_OK ? response->status : 0;
    const bool good = code == 200 && response->body.len == SOTTO_ARC_RESPONSE;

    (void)err;
    if (status == SOTTO_OK)
        atomic_store(&p->attester->unknown[p->from], code == SOTTO_ATTESTER_UNKNOWN);
    tell(p->attester, &p->asked,
         good          ? SOTTO_OK
         : code == 400 ? SOTTO_MALFORMED
         : code == 404 ? SOTTO_MISSING
         : code == 410 ? SOTTO_STALE
                       : SOTTO_IO,
         good ? response->body : sotto_bytes_of(NULL, 0));
}

/* Nothing of the device goes along: neither its name nor a field of its request. */
static void forward(passage *p)
{
    attester *a = p->attester;
    char url[600], token[SOTTO_BEARER + 8];
    const sotto_http_field fields[] = {{"Content-Type", SOTTO_TOKEN_REQUEST_TYPE},
                                       {"Authorization", token}};
    int len = write_keys_url(url, sizeof url, p);

    if (len > 0 && (size_t)len < sizeof url)
        len += snprintf(url + len, sizeof url - (size_t)len, "/%s/token-request", p->hex);
    (void)snprintf(token, sizeof token, "Bearer %s", a->sources.bearers[p->from].text);
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = url,
                                  .fields = fields,
                                  .field_count = 2,
                                  .body = sotto_bytes_of(p->asked.request, p->len),
                                  .repeatable = true,
                                  .attempts = 3,
                                  .max_response = 4096};
    sotto_status status = len > 0 && (size_t)len < sizeof url
                              ? sotto_host_call(a->host, &call, on_credential, p, NULL)
                              : SOTTO_BUG;
    sotto_wipe(token, sizeof token);
    if (status != SOTTO_OK)
        refuse(p, SOTTO_IO);
}

/* ---- the public list --------------------------------------------------------------------------------------------- */

static void count_and_forward(void *context, sotto_worker *worker)
{
    passage *p = context;
    const bool closed = sotto_host_seconds(p->attester->host) >= p->asked.key.closes;

    (void)worker;
    /* The issuer would refuse it, too; refusing it here saves a count that would have to be
     * deleted. */
    if (SOTTO_RULE(closed_keys_not_counted) && closed) {
        refuse(p, SOTTO_STALE);
        return;
    }
    if (!sotto_attester_is_arc(p->from)) {
        sotto_attester_line_join(p->attester->line, &p->asked);
        return;
    }
    /* One of ARC is shorter; zeros stand behind it. */
    sotto_status status = sotto_attester_count(p->attester->host->db,
                                               (sotto_attester_request *[]){&p->asked}, 1, NULL);
    if (status == SOTTO_OK)
        status = p->asked.status;
    if (status != SOTTO_OK)
        refuse(p, status);
    else
        forward(p);
}

/* Read as devices read it: a list that they refuse is none here. */
static sotto_status look_for_key(passage *p, sotto_bytes list)
{
    const sotto_listed_key *keys;
    sotto_arena arena;
    size_t count;

    sotto_arena_init(&arena, KEYS);
    sotto_status status = sotto_listed_keys_read(&keys, &count, list, &arena, NULL);
    for (size_t i = 0; status == SOTTO_OK && i < count && !p->listed; i++) {
        p->listed = sotto_listed_key_is_arc(&keys[i]) == sotto_attester_is_arc(p->from) &&
                    memcmp(keys[i].id, p->asked.key.id, SOTTO_ATTESTER_ID) == 0;
        p->asked.key.closes = keys[i].closes;
    }
    sotto_arena_clear(&arena);
    return status;
}

static void fetch_list(passage *p);

static void on_list(void *context, sotto_status status, const sotto_http_response *response,
                    const sotto_err *err)
{
    passage *p = context;

    (void)err;
    if (status != SOTTO_OK || response->status != 200 ||
        look_for_key(p, response->body) != SOTTO_OK) {
        sotto_attester_forget_miss(p->attester->lists, p->asked.device);
        refuse(p, SOTTO_IO);
        return;
    }
    if (!p->listed && p->from == SOTTO_ATTESTER_LEADER &&
        p->attester->sources.urls[SOTTO_ATTESTER_HELPER]) {
        p->from = SOTTO_ATTESTER_HELPER; /* a credential is asked of either */
        fetch_list(p);
        return;
    }
    if (SOTTO_RULE(keys_of_the_list) && !p->listed) {
        refuse(p, SOTTO_MISSING);
        return;
    }
    sotto_attester_forget_miss(p->attester->lists, p->asked.device);
    sotto_attester_remember(p->attester->lists, &(sotto_attester_listed){p->asked.key, p->from});
    if (sotto_pool_post(p->attester->host->pool, count_and_forward, p, NULL) != SOTTO_OK)
        refuse(p, SOTTO_IO);
}

static void fetch_list(passage *p)
{
    attester *a = p->attester;
    char url[600];

    (void)write_keys_url(url, sizeof url, p);
    const sotto_http_call call = {
        .method = SOTTO_HTTP_GET, .url = url, .attempts = 2, .max_response = LIST};
    if (sotto_host_call(a->host, &call, on_list, p, NULL) != SOTTO_OK)
        refuse(p, SOTTO_IO);
}

static void ask_for_list(passage *p)
{
    attester *a = p->attester;
    const bool may = sotto_attester_may_fetch(a->lists, p->asked.device);

    if (p->from == SOTTO_ATTESTER_LEADER && !a->sources.urls[SOTTO_ATTESTER_LEADER])
        p->from = SOTTO_ATTESTER_HELPER;
    if (!a->sources.urls[p->from]) { /* nobody here issues such credentials */
        refuse(p, SOTTO_MISSING);
        return;
    }
    if (SOTTO_RULE(lists_fetched_seldom) && !may) {
        refuse(p, SOTTO_IO);
        return;
    }
    fetch_list(p);
}

/* ---- a device's request ------------------------------------------------------------------------------------------ */

static sotto_status read_passage(passage *p, sotto_err *err)
{
    const sotto_attestation *attestation = &p->attester->attestation;
    sotto_attested_request request;
    uint8_t text[SOTTO_ATTESTED_TEXT];

    SOTTO_TRY(sotto_attested_request_decode(&request, sotto_http_request_body(p->request), err));
    memcpy(p->asked.request, request.asked, request.len);
    p->len = request.len;
    p->from = request.type == SOTTO_TOKEN_ARC ? SOTTO_ATTESTER_LEADER : SOTTO_ATTESTER_ISSUER;
    return attestation->check(
        attestation->context, p->asked.device, request.evidence,
        sotto_attested_text(text, p->asked.key.id, sotto_bytes_of(p->asked.request, p->len)), err);
}

static bool is_listed(passage *p)
{
    sotto_attester_listed key = {p->asked.key, p->from};
    const bool found = sotto_attester_is_listed(p->attester->lists, &key);

    p->asked.key = key.key;
    p->from = key.from;
    return found;
}

static void attest(void *context, sotto_worker *worker)
{
    passage *p = context;
    sotto_status status = SOTTO_MISSING;

    if (sotto_hex_decode(p->asked.key.id, sizeof p->asked.key.id,
                         sotto_route_segment(p->attester->host, p->request, 1)))
        status = read_passage(p, NULL);
    sotto_hex_encode(p->hex, sotto_bytes_of(p->asked.key.id, sizeof p->asked.key.id));
    if (status != SOTTO_OK)
        refuse(p, status);
    else if (is_listed(p))
        count_and_forward(p, worker);
    else
        ask_for_list(p);
}

static bool admit_device(void *state, const sotto_route *route, sotto_http_request *request,
                         size_t *max_body)
{
    sotto_bytes type;

    (void)state;
    *max_body = route->max_body;
    if (!sotto_http_request_field(request, "content-type", &type) ||
        !sotto_http_is_media_type(type, SOTTO_ATTESTED_TYPE))
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 415});
    return true;
}

static void begin(attester *a, sotto_http_request *request, sotto_work run)
{
    passage *p = sotto_alloc(sizeof *p);

    if (!p) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503, .retry_after_s = 1});
        return;
    }
    p->attester = a;
    p->request = request;
    if (sotto_pool_post(a->host->pool, run, p, NULL) != SOTTO_OK)
        refuse(p, SOTTO_IO);
}

static void post_token(void *state, const sotto_route *route, sotto_http_request *request)
{
    (void)route;
    begin(state, request, attest);
}

/* ---- the operator ------------------------------------------------------------------------------------------------ */

static bool admit_operator(void *state, const sotto_route *route, sotto_http_request *request,
                           size_t *max_body)
{
    attester *a = state;

    *max_body = route->max_body;
    if (SOTTO_RULE(attester_operator_only) && !sotto_bearer_is(&a->operator, request))
        return sotto_http_refuse(
            request,
            &(sotto_http_problem){.status = 401, .challenge = "Bearer realm=\"attester\""});
    return true;
}

static void enrol(void *context, sotto_worker *worker)
{
    passage *p = context;
    sotto_status status = SOTTO_MALFORMED;

    (void)worker;
    if (sotto_hex_decode(p->asked.device, sizeof p->asked.device,
                         sotto_route_segment(p->attester->host, p->request, 1)))
        status =
            sotto_attester_enrol(p->attester->host->db, p->asked.device,
                                 sotto_http_request_method(p->request) == SOTTO_HTTP_PUT, NULL);
    if (status != SOTTO_OK) {
        refuse(p, status);
        return;
    }
    sotto_http_answer(p->request, &(sotto_http_reply){.status = 204});
    sotto_release(p, sizeof *p);
}

static void change_device(void *state, const sotto_route *route, sotto_http_request *request)
{
    (void)route;
    begin(state, request, enrol);
}

static const sotto_route routes[] = {
    {.method = SOTTO_HTTP_PUT,
     .path = "devices/{device}",
     .admit = admit_operator,
     .handle = change_device},
    {.method = SOTTO_HTTP_DELETE,
     .path = "devices/{device}",
     .admit = admit_operator,
     .handle = change_device},
    {.method = SOTTO_HTTP_POST,
     .path = "tokens/{key}",
     .max_body = SOTTO_ATTESTED_BODY,
     .admit = admit_device,
     .handle = post_token},
};

/* ---- old counts -------------------------------------------------------------------------------------------------- */

static void drop_old(void *context, sotto_worker *worker)
{
    attester *a = context;
    const int64_t before = sotto_host_seconds(a->host) - KEEP_S;
    uint64_t dropped = 0;
    bool more = true;

    (void)worker;
    while (more && sotto_attester_drop(a->host->db, before, &dropped, &more, NULL) == SOTTO_OK)
        ;
    atomic_fetch_add(&a->dropped, dropped);
    atomic_store(&a->dropping, false);
}

static void tick(void *state)
{
    attester *a = state;
    const int64_t now = sotto_host_seconds(a->host);

    sotto_peers_tick(a->peers);
    if (now < a->drop_next || atomic_exchange(&a->dropping, true))
        return;
    a->drop_next = now + DROP_EVERY_S;
    if (sotto_pool_post(a->host->pool, drop_old, a, NULL) != SOTTO_OK)
        atomic_store(&a->dropping, false);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

#define AT(field)                                                                                  \
    offsetof(sotto_attester_config, field), sizeof(((const sotto_attester_config *)0)->field)

/* clang-format off */
static const sotto_option options[] = {
    {"issuer", SOTTO_OPTION_URL, AT(issuer), "http://127.0.0.1:8793/", 0, 0, NULL,
     "the issuer's URL, with a slash at its end", SOTTO_OPTION_ALWAYS},
    {"issuer_token", SOTTO_OPTION_SECRET, AT(issuer_token), "{name}.issuer-token", 0, 0, "issuer-token",
     "the file with the token by which the issuer knows this attester", SOTTO_OPTION_ALWAYS},
    {"leader", SOTTO_OPTION_URL, AT(leader), NULL, 0, 0, NULL,
     "the URL of a leader that issues credentials of ARC, with a slash at its end", SOTTO_OPTION_ALWAYS},
    {"leader_token", SOTTO_OPTION_SECRET, AT(leader_token), NULL, 0, 0, "leader-token",
     "the file with the token by which the leader knows this attester", SOTTO_OPTION_ALWAYS},
    {"helper", SOTTO_OPTION_URL, AT(helper), NULL, 0, 0, NULL,
     "the URL of a helper that issues credentials of ARC, with a slash at its end", SOTTO_OPTION_ALWAYS},
    {"helper_token", SOTTO_OPTION_SECRET, AT(helper_token), NULL, 0, 0, "helper-token",
     "the file with the token by which the helper knows this attester", SOTTO_OPTION_ALWAYS},
    {"operator_token", SOTTO_OPTION_SECRET, AT(operator_token), "{name}.operator-token", 0, 0, "operator-token",
     "the file with the token of who may enrol devices", SOTTO_OPTION_ALWAYS},
    SOTTO_PEERS_OPTION_ROW(AT),
};
/* clang-format on */

static const sotto_migration migrations[] = {
    {1, SOTTO_OWNER_SCHEMA SOTTO_ATTESTER_SCHEMA},
    {2, SOTTO_ATTESTER_CLOSING_SCHEMA},
};

static void close_attester(void *state)
{
    attester *a = state;

    sotto_attester_line_close(a->line);
    sotto_attester_lists_free(a->lists);
    sotto_peers_free(a->peers);
    sotto_release(a, sizeof *a);
}

static sotto_status open_attester(void **state, sotto_host *host, const void *config,
                                  sotto_err *err)
{
    attester *a = sotto_alloc(sizeof *a);
    sotto_status status;

    if (!a)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the attester");
    a->host = host;
    a->config = *(const sotto_attester_config *)config;
    a->attestation =
        a->config.attestation ? *a->config.attestation : (sotto_attestation){check_enrolment, a};
    status = sotto_attester_lists_new(&a->lists, err);
    if (status == SOTTO_OK)
        status =
            sotto_attester_sources_open(&a->sources, &a->config, host->options.plain_http, err);
    if (status == SOTTO_OK)
        status = sotto_bearer_read(&a->operator, a->config.operator_token, err);
    if (status == SOTTO_OK)
        status =
            sotto_attester_line_open(&a->line, host, a->config.issuer,
                                     a->sources.bearers[SOTTO_ATTESTER_ISSUER].text, tell, a, err);
    if (status == SOTTO_OK)
        status = sotto_peers_new(&a->peers, host, a->config.peer_check, err);
    if (status != SOTTO_OK) {
        close_attester(a);
        return status;
    }
    /* From here on nothing fails: what is asked about must live until the host has ended its calls. */
    for (size_t i = 0; i < SOTTO_ATTESTER_SOURCES; i++)
        if (a->sources.urls[i])
            sotto_peers_add(a->peers, sotto_attester_source_names[i], NULL, a->sources.urls[i]);
    *state = a;
    return SOTTO_OK;
}

static void describe(void *state, sotto_buf *out)
{
    attester *a = state;

    sotto_health_say_number(out, "tokens: ", atomic_load(&a->forwarded), " forwarded\n");
    sotto_peers_describe(a->peers, out);
    if (sotto_attester_line_is_unknown(a->line))
        sotto_health_say(out, "issuer: does not know this attester: its issuer_token is another\n");
    if (atomic_load(&a->unknown[SOTTO_ATTESTER_LEADER]))
        sotto_health_say(out, "leader: does not know this attester: its leader_token is another\n");
    if (atomic_load(&a->unknown[SOTTO_ATTESTER_HELPER]))
        sotto_health_say(out, "helper: does not know this attester: its helper_token is another\n");
}

static sotto_status metrics(void *state, sotto_writer *w, sotto_err *err)
{
    attester *a = state;

    (void)err;
    sotto_metric_one(w, "sotto_tokens_forwarded", "counter", "Responses given to devices.",
                     atomic_load(&a->forwarded));
    sotto_metric_one(w, "sotto_token_requests_refused", "counter", "Requests that were refused.",
                     atomic_load(&a->refused));
    sotto_metric_one(w, "sotto_token_counts_dropped", "counter",
                     "Counts that went with their keys.", atomic_load(&a->dropped));
    sotto_peers_metric(a->peers, w);
    return SOTTO_OK;
}

const sotto_service sotto_attester_service = {
    .name = "attester",
    .summary = "have one token a collection issued for each device",
    .listen = "127.0.0.1:8794",
    .operations = "127.0.0.1:9794",
    .owner = OWNER,
    .calls = SOTTO_PEER_CALLS,
    .routes = routes,
    .route_count = sizeof routes / sizeof routes[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .config_size = sizeof(sotto_attester_config),
    .migrations = migrations,
    .migration_count = sizeof migrations / sizeof migrations[0],
    .open = open_attester,
    .close = close_attester,
    .tick = tick,
    .describe = describe,
    .metrics = metrics,
};
