#include "serve/log/log_service.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "serve/host/database_owner.h"
#include "serve/host/health.h"
#include "serve/host/host_metrics.h"
#include "serve/log/log.h"

#include <stdio.h>

enum { LARGEST_BODY = 1 << 20 };

/* ---- opening ---------------------------------------------------------------------------------------------------------- */

/* A tree that stays as it is is cosigned again after hours. Health is not to wait for that. */
static sotto_status watch_witnesses(sotto_log_server *log, sotto_err *err)
{
    SOTTO_TRY(sotto_peers_new(&log->peers, log->host, log->config.peer_check, err));
    for (size_t i = 0; i < log->witness_keys.count; i++) {
        (void)snprintf(log->numbers[i], sizeof log->numbers[i], "%u", (unsigned)(i + 1) % 1000);
        if (SOTTO_RULE(log_watches_witnesses) && log->witness_keys.urls[i])
            sotto_peers_add(log->peers, "witness", log->numbers[i], log->witness_keys.urls[i]);
    }
    return SOTTO_OK;
}

static sotto_status start(sotto_log_server *log, sotto_err *err)
{
    sotto_checkpoint known;
    sotto_log_store_options options = {.directory = log->config.directory,
                                       .signer = &log->key.signer};

    SOTTO_TRY(sotto_signer_file_read(&log->key, log->config.key, err));
    if (log->key.signer.key.kind != SOTTO_NOTE_ED25519)
        return sotto_fail(
            err, SOTTO_DENIED,
            "the log's key is for cosignatures: make one with `sotto log key`, without --cosigns");
    SOTTO_TRY(sotto_bearer_read(&log->token, log->config.token, err));
    if (log->config.witnesses)
        SOTTO_TRY(sotto_key_file_read(&log->witness_keys, log->config.witnesses, err));
    atomic_store(&log->confirmed, true);
    for (size_t i = 0; i < log->witness_keys.count; i++) {
        /* Its lines would be no cosignatures, and the log would wait for them for good. */
        if (SOTTO_RULE(log_asks_witnesses) &&
            log->witness_keys.keys[i].kind != SOTTO_NOTE_COSIGNATURE)
            return sotto_fail(err, SOTTO_DENIED,
                              "%.80s: key %zu is of a log: list the public keys of witnesses, "
                              "made with `sotto log key --cosigns`",
                              log->config.witnesses, i + 1);
        log->witnesses[i].log = log;
        log->witnesses[i].number = i;
        if (log->witness_keys.urls[i])
            atomic_store(&log->confirmed, false);
    }
    SOTTO_TRY(sotto_log_known(log, &known, err));
    log->remembered = known;
    options.known = known.size > 0 ? &known : NULL;
    SOTTO_TRY(sotto_log_store_open(&log->store, &options, err));
    atomic_store(&log->size, sotto_log_store_signed(log->store, NULL)->size);
    return watch_witnesses(log, err);
}

static void close_log(void *state)
{
    sotto_log_server *log = state;

    sotto_log_store_close(log->store);
    sotto_signer_file_clear(&log->key);
    sotto_peers_free(log->peers);
    sotto_last_seen_free(log->seen);
    (void)pthread_mutex_destroy(&log->lock);
    (void)pthread_mutex_destroy(&log->queue_lock);
    sotto_release(log, sizeof *log);
}

static sotto_status open_log(void **state, sotto_host *host, const void *config, sotto_err *err)
{
    sotto_log_server *log = sotto_alloc(sizeof *log);
    sotto_status status;

    if (!log)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a log");
    log->host = host;
    log->config = *(const sotto_log_config *)config;
    log->end = &log->first;
    (void)pthread_mutex_init(&log->lock, NULL);
    (void)pthread_mutex_init(&log->queue_lock, NULL);
    status = sotto_last_seen_new(&log->seen, sizeof log->refusals, err);
    if (status == SOTTO_OK)
        status = start(log, err);
    if (status != SOTTO_OK)
        close_log(log);
    else
        *state = log;
    return status;
}

static void stop(void *state)
{
    sotto_log_server *log = state;

    (void)pthread_mutex_lock(&log->lock);
    log->stopping = true;
    (void)pthread_mutex_unlock(&log->lock);
}

static void drain(void *state)
{
    sotto_log_server *log = state;

    atomic_store(&log->draining, true);
    sotto_log_sign_waiting(log);
}

/* No worker runs any more: what still waits was not signed. */
static void settle(void *state)
{
    sotto_log_refuse_waiting(state);
}

static void tick(void *state)
{
    sotto_peers_tick(((sotto_log_server *)state)->peers);
    sotto_log_ask_witnesses(state);
    sotto_log_sign_waiting(state);
}

/* ---- health --------------------------------------------------------------------------------------------------------------- */

static void describe_witnesses(sotto_log_server *log, sotto_buf *out)
{
    sotto_log_refusals refusals;

    (void)sotto_last_seen_look(log->seen, &refusals);
    for (size_t i = 0; i < log->witness_keys.count; i++)
        if (refusals.why[i][0]) {
            sotto_health_say_number(out, "witness ", i + 1, ": did not cosign: ");
            sotto_health_say(out, refusals.why[i]);
            sotto_health_say(out, "\n");
        }
}

static void describe(void *state, sotto_buf *out)
{
    sotto_log_server *log = state;

    sotto_health_say_number(out, "log: ", (uint64_t)atomic_load(&log->size), " entries\n");
    if (!atomic_load(&log->confirmed))
        sotto_health_say_number(out, "log: waits for one of ", log->witness_keys.count,
                                " witnesses to cosign; nothing is signed\n");
    if (atomic_load(&log->rolled_back))
        sotto_health_say_number(out, "log: rolled back: a witness knows more than ",
                                (uint64_t)atomic_load(&log->size), " entries; nothing is signed\n");
    describe_witnesses(log, out);
    sotto_peers_describe(log->peers, out);
}

static sotto_status metrics(void *state, sotto_writer *w, sotto_err *err)
{
    sotto_log_server *log = state;

    (void)err;
    sotto_metric_one(w, "sotto_log_entries", "gauge", "Entries of the log.",
                     (uint64_t)atomic_load(&log->size));
    sotto_metric_one(w, "sotto_log_added", "counter", "Entries that this process added.",
                     (uint64_t)atomic_load(&log->added));
    sotto_metric_one(w, "sotto_log_cosignatures", "counter", "Cosignatures that were published.",
                     (uint64_t)atomic_load(&log->cosigned));
    sotto_metric_one(w, "sotto_log_unproved_sizes", "counter",
                     "Larger sizes that a witness named and did not show.",
                     (uint64_t)atomic_load(&log->unproved));
    sotto_metric_one(w, "sotto_log_confirmed", "gauge",
                     "Whether a witness cosigned since the start.", atomic_load(&log->confirmed));
    sotto_metric_one(w, "sotto_log_rolled_back", "gauge", "Whether a witness showed a larger tree.",
                     atomic_load(&log->rolled_back));
    sotto_peers_metric(log->peers, w);
    return SOTTO_OK;
}

/* ---- the row ---------------------------------------------------------------------------------------------------------------- */

#define GET(path_)                                                                                 \
    {                                                                                              \
        .method = SOTTO_HTTP_GET, .path = path_, .handle = sotto_log_get                           \
    }

static const sotto_route routes[] = {
    {.method = SOTTO_HTTP_POST,
     .path = "add",
     .max_body = LARGEST_BODY,
     .admit = sotto_log_admit,
     .handle = sotto_log_take_entries},
    GET("checkpoint"),
    GET("feed"),
    GET("tile/{level}/{n}"),
    GET("tile/{level}/{n}/{w}"),
    GET("tile/{level}/{a}/{n}/{w}"),
    GET("tile/{level}/{a}/{b}/{n}/{w}"),
    GET("tile/{level}/{a}/{b}/{c}/{n}/{w}"),
};

#define OWN(field) offsetof(sotto_log_config, field), sizeof(((sotto_log_config *)0)->field)

static const sotto_option options[] = {
    {"key", SOTTO_OPTION_SECRET, OWN(key), "{name}-signing.key", 0, 0, "log-key",
     "file with the key that signs, one line PRIVATE+KEY+...", SOTTO_OPTION_ALWAYS},
    {"token", SOTTO_OPTION_SECRET, OWN(token), "{name}.token", 0, 0, "log-token",
     "file with the token of whoever may append", SOTTO_OPTION_ALWAYS},
    {"directory", SOTTO_OPTION_FILE, OWN(directory), "{name}-files", 0, 0, NULL,
     "folder of the log's files, which any web server may serve too", SOTTO_OPTION_ALWAYS},
    {"witnesses", SOTTO_OPTION_FILE, OWN(witnesses), NULL, 0, 0, NULL,
     "file with the witnesses that are asked, a public key, a space and a URL on each line",
     SOTTO_OPTION_ALWAYS},
    SOTTO_PEERS_OPTION_ROW(OWN),
};

static const sotto_migration migrations[] = {
    {1, SOTTO_OWNER_SCHEMA "CREATE TABLE signed (one {int} PRIMARY KEY, size {int} NOT NULL,"
                           " root {bytes} NOT NULL, CHECK (one = 1));"},
};

const sotto_service sotto_log_service = {
    .name = "log",
    .summary = "keep a public log that only grows",
    .listen = "127.0.0.1:8791",
    .operations = "127.0.0.1:9791",
    .owner = 10,
    .calls = SOTTO_PEER_CALLS,
    .routes = routes,
    .route_count = sizeof routes / sizeof routes[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .config_size = sizeof(sotto_log_config),
    .migrations = migrations,
    .migration_count = 1,
    .open = open_log,
    .drain = drain,
    .stop = stop,
    .settle = settle,
    .close = close_log,
    .tick = tick,
    .describe = describe,
    .metrics = metrics,
};
