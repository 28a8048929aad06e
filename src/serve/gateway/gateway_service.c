#define _POSIX_C_SOURCE 200809L
#include "serve/gateway/gateway.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/rule.h"
#include "serve/host/database_owner.h"
#include "serve/host/health.h"
#include "serve/host/host_metrics.h"
#include "serve/host/key_options.h"

#include <stdio.h>
#include <string.h>

enum { POINTER = sizeof(void *) };

/* ---- routes --------------------------------------------------------------------------------------------------------- */

static bool has_type(const sotto_http_request *request, const char *wanted)
{
    sotto_bytes type;

    return sotto_http_request_field(request, "content-type", &type) &&
           sotto_http_is_media_type(type, wanted);
}

static bool admit(void *state, const sotto_route *route, sotto_http_request *request,
                  size_t *max_body)
{
    const sotto_gateway *g = state;
    const bool batch = has_type(request, SOTTO_OHTTP_BATCH_REQUEST_TYPE);
    const bool right = batch || has_type(request, SOTTO_OHTTP_REQUEST_TYPE);

    (void)route;
    *max_body = batch ? SOTTO_OHTTP_BATCH_BYTES : g->config.max_request;
    if (SOTTO_RULE(gateway_media_type) && !right)
        return sotto_http_refuse(
            request, &(sotto_http_problem){.status = 415, .detail = "message/ohttp-req is taken"});
    return true;
}

static void take(void *state, const sotto_route *route, sotto_http_request *request)
{
    (void)route;
    if (has_type(request, SOTTO_OHTTP_BATCH_REQUEST_TYPE))
        sotto_gateway_take_batch(state, request);
    else
        sotto_gateway_take_single(state, request);
}

static sotto_status put_key(void *context, const sotto_key_line *line, sotto_err *err)
{
    return line->state == SOTTO_KEY_ACTIVE ? sotto_ohttp_keys_encode(context, &line->config, 1, err)
                                           : SOTTO_OK;
}

static void publish(void *state, const sotto_route *route, sotto_http_request *request)
{
    const sotto_gateway *g = state;
    uint8_t bytes[4096];
    sotto_buf list = sotto_buf_over(bytes, sizeof bytes);
    char cache[48];
    const sotto_http_field fields[] = {{"Content-Type", SOTTO_OHTTP_KEYS_TYPE},
                                       {"Cache-Control", cache}};

    (void)route;
    (void)snprintf(cache, sizeof cache, "max-age=%llu",
                   (unsigned long long)sotto_keys_cache_seconds(g->keys));
    if (sotto_keys_list(g->keys, put_key, &list, NULL) != SOTTO_OK)
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
    else
        sotto_http_answer(request, &(sotto_http_reply){200, fields, 2, sotto_buf_bytes(&list)});
}

static const sotto_route routes[] = {
    {.method = SOTTO_HTTP_POST, .path = SOTTO_GATEWAY_PATH, .admit = admit, .handle = take},
    {.method = SOTTO_HTTP_GET, .path = SOTTO_GATEWAY_PATH, .handle = publish},
};

/* ---- options -------------------------------------------------------------------------------------------------------- */

#define AT(field)                                                                                  \
    offsetof(sotto_gateway_config, field), sizeof(((const sotto_gateway_config *)0)->field)

/* clang-format off */
static const sotto_option options[] = {
    {"targets", SOTTO_OPTION_FILE, AT(targets), "{name}-targets.txt", 0, 0, NULL,
     "a file with a line for each server behind this gateway: the URL that clients name, and the URL where it is; both end with a slash", SOTTO_OPTION_ALWAYS},
    {"replay_window", SOTTO_OPTION_DURATION, AT(replay_window), "10m", 60, 86400, NULL,
     "how far a request's date may be behind this gateway's clock; requests are remembered for twice as long", SOTTO_OPTION_ALWAYS},
    {"replay_most", SOTTO_OPTION_NUMBER, AT(replay_most), "4000000", 1, 1000000000, NULL,
     "requests remembered at once, of up to 64 bytes each; beyond them requests are refused", SOTTO_OPTION_ALWAYS},
    {"max_request", SOTTO_OPTION_SIZE, AT(max_request), "4M", 1024, (uint64_t)256 << 20, NULL,
     "the longest encapsulated request", SOTTO_OPTION_ALWAYS},
    {"answer_pad", SOTTO_OPTION_SIZE, AT(answer_pad), "1K", 64, 4096, NULL,
     "answers are padded to a multiple of this", SOTTO_OPTION_ALWAYS},
    SOTTO_KEY_OPTION_ROWS(AT),
    SOTTO_PEERS_OPTION_ROW(AT),
};
/* clang-format on */

static const char *check(const void *config)
{
    return sotto_key_times_check(&((const sotto_gateway_config *)config)->key_times);
}

static const sotto_migration migrations[] = {{1, SOTTO_OWNER_SCHEMA SOTTO_KEYS_SCHEMA}};

/* ---- up --------------------------------------------------------------------------------------------------------------- */

static size_t info_of(uint8_t out[SOTTO_KEYS_INFO], uint8_t id, sotto_hpke_suite suite)
{
    _Static_assert((int)SOTTO_OHTTP_INFO <= (int)SOTTO_KEYS_INFO, "it fits");
    sotto_ohttp_info(out, id, suite);
    return SOTTO_OHTTP_INFO;
}

/* Whether whatever follows this text stays below it. "https://a.example" would begin "https://a.example.org" too, and after
 * a question mark or a hash there is no path. */
static bool is_whole(const char *url)
{
    const char *authority = strstr(url, "://");

    return authority && strchr(authority + 3, '/') && url[strlen(url) - 1] == '/' &&
           !strpbrk(url, "?#");
}

static sotto_status check_targets(const sotto_url_table *targets, sotto_err *err)
{
    for (size_t i = 0; i < sotto_url_table_count(targets); i++) {
        const sotto_url_row *row = sotto_url_table_row(targets, i);

        if (SOTTO_RULE(gateway_whole_targets) && !is_whole(row->name))
            return sotto_fail(err, SOTTO_MALFORMED,
                              "targets: %.80s: not a URL that ends with a slash", row->name);
        if (SOTTO_RULE(gateway_whole_urls) && !is_whole(row->url))
            return sotto_fail(err, SOTTO_MALFORMED,
                              "targets: %.80s: where it is does not end with a slash", row->name);
    }
    return SOTTO_OK;
}

/* Whether an earlier process may have had keys. Asked before the first key is made. */
static sotto_status look_for_keys(sotto_tx *tx, void *context, sotto_err *err)
{
    bool *found = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT 1 FROM hpke_key UNION ALL SELECT 1 FROM hpke_former LIMIT 1", err));
    SOTTO_TRY(sotto_sql_step(&q, found, err));
    return sotto_sql_run(&q, NULL, err);
}

/* Only the process remembers replays. So a request sealed to a key of this database may have been opened by an earlier
 * process, unless it is dated later than any that one took. */
static sotto_status open_memory(sotto_gateway *g, bool has_past, sotto_err *err)
{
    if (strcmp(sotto_db_kind(g->host->db), "sqlite") != 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "a gateway remembers replays by itself: its database is an SQLite file");
    if (has_past)
        g->not_before = sotto_host_seconds(g->host) + SOTTO_GATEWAY_AHEAD + 1;
    return sotto_replays_new(&g->replays, g->config.replay_most, (int64_t)g->config.replay_window,
                             err);
}

static sotto_status open_parts(sotto_gateway *g, sotto_err *err)
{
    sotto_host *host = g->host;
    bool has_past = true;

    SOTTO_TRY(sotto_url_table_read(&g->targets, g->config.targets, host->options.plain_http, err));
    SOTTO_TRY(check_targets(g->targets, err));
    SOTTO_TRY(sotto_db_read(host->db, look_for_keys, &has_past, err));
    SOTTO_TRY(sotto_keys_open(&g->keys, host->db, &host->columns, sotto_bytes_of(NULL, 0),
                              &g->config.key_times, sotto_host_seconds(host), &host->options.log,
                              err));
    sotto_keys_info_by(g->keys, info_of);
    SOTTO_TRY(open_memory(g, has_past, err));
    g->receivers = sotto_alloc(host->options.workers * POINTER);
    if (!g->receivers)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a gateway");
    for (unsigned i = 0; i < host->options.workers; i++)
        SOTTO_TRY(sotto_receivers_new(&g->receivers[i], g->keys, err));
    SOTTO_TRY(sotto_peers_new(&g->peers, host, g->config.peer_check, err));
    for (size_t i = 0; i < sotto_url_table_count(g->targets); i++) {
        const sotto_url_row *row = sotto_url_table_row(g->targets, i);

        sotto_peers_add(g->peers, "target", row->name, row->url);
    }
    return SOTTO_OK;
}

static sotto_status open(void **state, sotto_host *host, const void *config, sotto_err *err)
{
    sotto_gateway *g = sotto_alloc(sizeof *g);

    if (!g)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a gateway");
    g->host = host;
    g->config = *(const sotto_gateway_config *)config;
    g->last = &g->first;
    (void)pthread_mutex_init(&g->lock, NULL);
    (void)pthread_mutex_init(&g->batch_lock, NULL);
    *state = g; /* closed with its host from here on, whatever happens */
    return open_parts(g, err);
}

/* ---- down ------------------------------------------------------------------------------------------------------------- */

/* No worker runs any more: what still waits was never opened. */
static void settle(void *state)
{
    sotto_gateway_refuse_waiting(state, "this gateway closes");
}

static void close(void *state)
{
    sotto_gateway *g = state;

    if (g->receivers)
        for (unsigned i = 0; i < g->host->options.workers; i++)
            sotto_receivers_free(g->receivers[i]);
    sotto_release(g->receivers, g->receivers ? g->host->options.workers * POINTER : 0);
    sotto_keys_close(g->keys);
    sotto_replays_free(g->replays);
    sotto_peers_free(g->peers);
    sotto_url_table_free(g->targets);
    (void)pthread_mutex_destroy(&g->batch_lock);
    (void)pthread_mutex_destroy(&g->lock);
    sotto_release(g, sizeof *g);
}

/* ---- by the clock, and for whoever looks -------------------------------------------------------------------------------- */

static void tick(void *state)
{
    sotto_gateway *g = state;
    sotto_err err = {0};

    sotto_gateway_batch_tick(g, sotto_gateway_batch_ms(g));
    sotto_peers_tick(g->peers);
    if (sotto_keys_tick(g->keys, sotto_host_seconds(g->host), &err) != SOTTO_OK)
        sotto_log(&g->host->options.log, SOTTO_LOG_WARNING, "keys.not_rotated",
                  sotto_log_text("reason", err.reason));
}

static void describe(void *state, sotto_buf *out)
{
    const sotto_gateway *g = state;

    sotto_health_say_number(out, "targets: ", sotto_url_table_count(g->targets), "\n");
    sotto_peers_describe(g->peers, out);
}

static sotto_status metrics(void *state, sotto_writer *w, sotto_err *err)
{
    sotto_gateway *g = state;

    (void)err;
    sotto_metric_one(w, "sotto_gateway_opened_total", "counter",
                     "Requests that were opened and forwarded.", atomic_load(&g->opened));
    sotto_metric_one(w, "sotto_gateway_batches_total", "counter",
                     "Batches that they were opened in.", atomic_load(&g->batches));
    sotto_metric_one(w, "sotto_gateway_plain_errors_total", "counter",
                     "Requests refused before they were opened.", atomic_load(&g->plain_errors));
    sotto_metric_one(w, "sotto_gateway_sealed_errors_total", "counter",
                     "Requests refused after that.", atomic_load(&g->sealed_errors));
    sotto_metric_one(w, "sotto_gateway_replayed_total", "counter",
                     "Of those: requests that were opened before.", atomic_load(&g->replayed));
    sotto_metric_one(w, "sotto_gateway_remembered", "gauge",
                     "Requests that are remembered against replays.",
                     sotto_replays_count(g->replays));
    sotto_peers_metric(g->peers, w);
    return SOTTO_OK;
}

const sotto_service sotto_gateway_service = {
    .name = "gateway",
    .summary = "open what relays forward, and ask the servers behind it",
    .listen = "127.0.0.1:8801",
    .operations = "127.0.0.1:9801",
    .owner = SOTTO_GATEWAY_OWNER,
    .calls = SOTTO_FORWARDED_CALLS,
    .keys = true,
    .key_times = offsetof(sotto_gateway_config, key_times),
    .routes = routes,
    .route_count = sizeof routes / sizeof routes[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .config_size = sizeof(sotto_gateway_config),
    .check = check,
    .migrations = migrations,
    .migration_count = sizeof migrations / sizeof migrations[0],
    .open = open,
    .settle = settle,
    .close = close,
    .tick = tick,
    .describe = describe,
    .metrics = metrics,
};
