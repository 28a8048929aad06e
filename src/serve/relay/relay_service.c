/* The relay. Nothing of a client's request gets to the gateway but its body. The gateway sees no field, no address, no
 * connection of the client's own, and neither its time nor its place in the order. */
#define _POSIX_C_SOURCE 200809L
#include "serve/relay/relay_service.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rule.h"
#include "seal/ohttp/ohttp.h"
#include "serve/host/database_owner.h"
#include "serve/host/health.h"
#include "serve/host/host.h"
#include "serve/host/host_metrics.h"
#include "serve/host/peers.h"
#include "serve/host/steps.h"
#include "serve/host/url_table.h"
#include "serve/relay/forward.h"

#include <stdatomic.h>
#include <string.h>

typedef struct relay {
    sotto_host *host;
    sotto_relay_config config;
    sotto_url_table *gateways;
    sotto_peers *peers;
    /* one for each gateway */
    sotto_mix *mixes[SOTTO_URL_ROWS];
    sotto_relay_way ways[SOTTO_URL_ROWS];
    atomic_bool stopped;
    atomic_uint_fast64_t batches;
} relay;

/* ---- from the client --------------------------------------------------------------------------------------------------- */

static const sotto_url_row *gateway_of(const relay *r, const sotto_http_request *request)
{
    const size_t last = sotto_http_request_segments(request) - 1;

    return sotto_url_table_find(r->gateways, sotto_http_request_segment(request, last));
}

static bool admit(void *state, const sotto_route *route, sotto_http_request *request,
                  size_t *max_body)
{
    const relay *r = state;
    sotto_bytes type;
    const bool right = sotto_http_request_field(request, "content-type", &type) &&
                       sotto_http_is_media_type(type, SOTTO_OHTTP_REQUEST_TYPE);

    (void)route;
    *max_body = r->config.max_request;
    if (SOTTO_RULE(relay_gateways_only) && !gateway_of(r, request))
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 404});
    if (SOTTO_RULE(relay_media_type) && !right)
        return sotto_http_refuse(
            request, &(sotto_http_problem){.status = 415, .detail = "message/ohttp-req is taken"});
    return true;
}

static void take(void *state, const sotto_route *route, sotto_http_request *request)
{
    relay *r = state;
    const sotto_url_row *gateway = gateway_of(r, request);
    sotto_mixed *one = gateway ? sotto_alloc(sizeof *one) : NULL;

    (void)route;
    if (!one) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
        return;
    }
    one->request = request;
    if (sotto_mix_put(r->mixes[gateway - sotto_url_table_row(r->gateways, 0)], one,
                      sotto_clock_ms()))
        sotto_steps_wake(r->host->steps);
}

/* ---- to the gateway -------------------------------------------------------------------------------------------------- */

static uint64_t send_due(void *state, bool looked)
{
    relay *r = state;
    uint64_t least = UINT64_MAX, wait;

    (void)looked;
    for (size_t i = 0; i < sotto_url_table_count(r->gateways); i++) {
        sotto_mixed *batch =
            sotto_mix_take(r->mixes[i], sotto_clock_ms(), atomic_load(&r->stopped), &wait);

        if (batch) {
            atomic_fetch_add(&r->batches, 1);
            sotto_relay_forward(&r->ways[i], batch);
        }
        if (wait < least)
            least = wait;
    }
    return least;
}

static const sotto_route routes[] = {
    {.method = SOTTO_HTTP_POST, .path = "{gateway}", .admit = admit, .handle = take},
};

/* ---- options ---------------------------------------------------------------------------------------------------------------- */

#define AT(field)                                                                                  \
    offsetof(sotto_relay_config, field), sizeof(((const sotto_relay_config *)0)->field)

/* clang-format off */
static const sotto_option options[] = {
    {"gateways", SOTTO_OPTION_FILE, AT(gateways), "{name}-gateways.txt", 0, 0, NULL,
     "a file with a line for each gateway: the name that clients' URLs end with, and the gateway's URL", SOTTO_OPTION_ALWAYS},
    {"mix_least", SOTTO_OPTION_NUMBER, AT(mix_least), "16", 1, 100000, NULL,
     "requests that a gateway gets at once, at least, in an order of chance", SOTTO_OPTION_ALWAYS},
    {"mix_delay_ms", SOTTO_OPTION_NUMBER, AT(mix_delay_ms), "2000", 1, 20000, NULL,
     "milliseconds that a request waits, at most, for others to leave with", SOTTO_OPTION_ALWAYS},
    {"max_request", SOTTO_OPTION_SIZE, AT(max_request), "4M", 1024, (uint64_t)256 << 20, NULL,
     "the longest encapsulated request", SOTTO_OPTION_ALWAYS},
    SOTTO_PEERS_OPTION_ROW(AT),
};
/* clang-format on */

static const sotto_migration migrations[] = {{1, SOTTO_OWNER_SCHEMA}};

/* ---- up and down -------------------------------------------------------------------------------------------------------------- */

static sotto_status open(void **state, sotto_host *host, const void *config, sotto_err *err)
{
    relay *r = sotto_alloc(sizeof *r);

    if (!r)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a relay");
    r->host = host;
    r->config = *(const sotto_relay_config *)config;
    *state = r; /* closed with its host from here on, whatever happens */
    SOTTO_TRY(
        sotto_url_table_read(&r->gateways, r->config.gateways, host->options.plain_http, err));
    for (size_t i = 0; i < sotto_url_table_count(r->gateways); i++) {
        r->ways[i].host = host;
        r->ways[i].url = sotto_url_table_row(r->gateways, i)->url;
        SOTTO_TRY(sotto_mix_new(&r->mixes[i], r->config.mix_least, r->config.mix_delay_ms, err));
    }
    SOTTO_TRY(sotto_peers_new(&r->peers, host, r->config.peer_check, err));
    for (size_t i = 0; i < sotto_url_table_count(r->gateways); i++)
        sotto_peers_add(r->peers, "gateway", sotto_url_table_row(r->gateways, i)->name,
                        r->ways[i].url);
    return SOTTO_OK;
}

static void stop(void *state)
{
    relay *r = state;

    atomic_store(&r->stopped, true);
    if (r->host->steps)
        sotto_steps_wake(r->host->steps);
}

/* Nothing is under way any more: whatever waits was not sent. */
static void settle(void *state)
{
    relay *r = state;
    uint64_t wait;

    for (size_t i = 0; i < SOTTO_URL_ROWS && r->mixes[i]; i++) {
        sotto_mixed *batch = sotto_mix_take(r->mixes[i], 0, true, &wait);

        while (batch) {
            sotto_mixed *one = batch;

            batch = one->next;
            sotto_relay_refuse(&r->ways[i], one, 503, "this relay closes");
        }
    }
}

static void close(void *state)
{
    relay *r = state;

    for (size_t i = 0; i < SOTTO_URL_ROWS; i++)
        sotto_mix_free(r->mixes[i]);
    sotto_peers_free(r->peers);
    sotto_url_table_free(r->gateways);
    sotto_release(r, sizeof *r);
}

static void tick(void *state)
{
    sotto_peers_tick(((relay *)state)->peers);
}

static void describe(void *state, sotto_buf *out)
{
    const relay *r = state;

    sotto_health_say_number(out, "gateways: ", sotto_url_table_count(r->gateways), "\n");
    sotto_peers_describe(r->peers, out);
}

static sotto_status metrics(void *state, sotto_writer *w, sotto_err *err)
{
    relay *r = state;
    uint64_t forwarded = 0, failed = 0;

    (void)err;
    for (size_t i = 0; i < SOTTO_URL_ROWS; i++) {
        forwarded += atomic_load(&r->ways[i].forwarded);
        failed += atomic_load(&r->ways[i].failed);
    }
    sotto_metric_one(w, "sotto_relay_forwarded_total", "counter",
                     "Requests that were sent to a gateway.", forwarded);
    sotto_metric_one(w, "sotto_relay_batches_total", "counter", "Batches that they were sent in.",
                     atomic_load(&r->batches));
    sotto_metric_one(w, "sotto_relay_failed_total", "counter", "Requests that no gateway answered.",
                     failed);
    sotto_peers_metric(r->peers, w);
    return SOTTO_OK;
}

const sotto_service sotto_relay_service = {
    .name = "relay",
    .summary = "forward sealed requests to gateways, mixed and without a name",
    .listen = "127.0.0.1:8802",
    .operations = "127.0.0.1:9802",
    .owner = SOTTO_RELAY_OWNER,
    .calls = SOTTO_FORWARDED_CALLS,
    .routes = routes,
    .route_count = sizeof routes / sizeof routes[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .config_size = sizeof(sotto_relay_config),
    .migrations = migrations,
    .migration_count = sizeof migrations / sizeof migrations[0],
    .idle = send_due,
    .open = open,
    .stop = stop,
    .settle = settle,
    .close = close,
    .tick = tick,
    .describe = describe,
    .metrics = metrics,
};
