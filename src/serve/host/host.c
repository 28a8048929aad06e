/* A host's parts, up in order and down in reverse; the service's are in their midst. */
#include "serve/host/host.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rule.h"
#include "db/sqlite_memory.h"
#include "serve/host/database_owner.h"
#include "serve/host/datastore.h"
#include "serve/host/descriptors.h"
#include "serve/host/health.h"
#include "serve/host/operations.h"
#include "serve/host/router.h"
#include "serve/host/steps.h"
#include "sotto/random.h"
#include "transport/http_tls.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE_BLOCKS = 64 << 20 }; /* of memory that is kept for reuse */
enum { WORKER_MEMORY = 512 << 20, QUEUE = 4096, MAX_WORKERS = 256 };

const sotto_service *sotto_service_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sotto_service_count; i++)
        if (strlen(sotto_services[i]->name) == len &&
            memcmp(sotto_services[i]->name, name, len) == 0)
            return sotto_services[i];
    return NULL;
}

/* ---- up --------------------------------------------------------------------------------------------------------- */

/* Before its tables are changed. A database that is empty, or older than the owner's mark, belongs
 * to no service yet. */
static sotto_status check_owner(sotto_host *h, sotto_err *err)
{
    sotto_err why = {0};
    int64_t version;

    SOTTO_TRY(sotto_db_version(h->db, &version, err));
    if (SOTTO_RULE(owner_before_tables) && version > 0 &&
        sotto_database_owner_check(h->db, h->service, &why) == SOTTO_DENIED)
        return sotto_fail(err, SOTTO_DENIED, "%s", why.reason);
    return SOTTO_OK;
}

static sotto_status open_store(sotto_host *h, sotto_err *err)
{
    const sotto_service *service = h->service;
    bool made;

    SOTTO_TRY(sotto_db_open(&h->db,
                            &(sotto_db_options){.address = h->options.database,
                                                .vfs = h->options.vfs,
                                                .erase_ms = h->options.erase_ms,
                                                .log = &h->options.log},
                            err));
    if (!h->options.vfs) /* a SQLite VFS of the caller's own need not have real files */
        SOTTO_TRY(sotto_db_claim_take(&h->claim, h->options.database, err));
    SOTTO_TRY(sotto_datastore_key_open(&h->columns, &made, h->options.datastore_key, h->db, err));
    if (made)
        sotto_log(
            &h->options.log, SOTTO_LOG_WARNING, "datastore_key.made",
            sotto_log_text("file", h->options.datastore_key),
            sotto_log_text("advice", "keep a copy elsewhere: without it the database is lost"));
    SOTTO_TRY(check_owner(h, err));
    SOTTO_TRY(sotto_db_migrate(h->db, service->migrations, service->migration_count, err));
    return sotto_database_owner_claim(h->db, service, err);
}

static sotto_status open_pool(sotto_host *h, sotto_err *err)
{
    return sotto_pool_open(&h->pool,
                           &(sotto_pool_options){.threads = h->options.workers,
                                                 .queue = QUEUE,
                                                 .arena_ceiling = WORKER_MEMORY},
                           err);
}

static sotto_status open_client(sotto_host *h, sotto_err *err)
{
    /* The caller holds a lease during the call, and a peer that asks for more time must not outlast it. Longer waits happen without
     * a lease. */
    enum { IN_A_CALL_MS = 2000 };

    if (!h->service->calls)
        return SOTTO_OK;
    return sotto_http_client_open(
        &h->client,
        &(sotto_http_client_options){.ca_file = h->options.ca_file,
                                     .max_active = h->service->calls,
                                     .max_backoff_ms = IN_A_CALL_MS,
                                     .plain_anywhere = h->options.plain_http,
                                     .log = &h->options.log},
        err);
}

sotto_status sotto_host_listen_read(char *address, size_t size, uint16_t *port, const char *text,
                                    sotto_err *err)
{
    const char *colon = strrchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;
    char *end = NULL;
    unsigned long number = colon ? strtoul(colon + 1, &end, 10) : 0;

    if (!colon || len == 0 || len >= size || end == colon + 1 || *end || number > 65535)
        return sotto_fail(err, SOTTO_MALFORMED, "%.80s: an address and a port, as 127.0.0.1:8787",
                          text);
    if (text[0] == '[' && text[len - 1] == ']') {
        text++;
        len -= 2;
    }
    memcpy(address, text, len);
    address[len] = 0;
    *port = (uint16_t)number;
    return SOTTO_OK;
}

static sotto_status open_http(sotto_host *h, sotto_err *err)
{
    char address[128];
    uint16_t port;

    SOTTO_TRY(sotto_host_listen_read(address, sizeof address, &port, h->options.listen, err));
    return sotto_http_server_open(
        &h->http,
        &(sotto_http_server_options){.address = address,
                                     .port = port,
                                     .certificate = h->options.certificate,
                                     .private_key = h->options.private_key,
                                     .plain_anywhere = h->options.plain_http,
                                     .loops = h->options.loops,
                                     .max_connections = h->descriptors.connections,
                                     .max_bytes_in_flight = h->options.bytes_in_flight,
                                     .address_share = h->options.address_share,
                                     .upload_ms = (unsigned)(h->options.upload_seconds * 1000),
                                     .log = &h->options.log},
        &sotto_router, h, err);
}

/* Before anything is opened, so that an option that does not fit the file limit is reported first. */
static sotto_status count_descriptors(sotto_host *h, sotto_err *err)
{
    SOTTO_TRY(sotto_descriptors_plan(&h->descriptors, h->service, &h->options,
                                     sotto_descriptors_raise(), err));
    sotto_log(&h->options.log, SOTTO_LOG_INFO, "server.descriptors",
              sotto_log_uint("limit", h->descriptors.limit),
              sotto_log_uint("reserve", h->descriptors.reserve),
              sotto_log_uint("connections", h->descriptors.connections));
    return SOTTO_OK;
}

/* The operations port comes last: once it answers, everything is up. */
static sotto_status open_all(sotto_host *h, const void *config, sotto_err *err)
{
    SOTTO_TRY(count_descriptors(h, err));
    SOTTO_TRY(open_store(h, err));
    SOTTO_TRY(open_pool(h, err));
    SOTTO_TRY(open_client(h, err));
    SOTTO_TRY(sotto_steps_open(&h->steps, h->service, h->db, h->options.lease_seconds * 1000, err));
    SOTTO_TRY(h->service->open(&h->state, h, config, err));
    /* Only one process at a time may use an SQLite file. */
    SOTTO_TRY(
        sotto_steps_start(h->steps, h->state, strcmp(sotto_db_kind(h->db), "sqlite") == 0, err));
    SOTTO_TRY(open_http(h, err));
    SOTTO_TRY(sotto_health_open(&h->health, h, err));
    return h->options.operations ? sotto_operations_open(&h->operations, h, err) : SOTTO_OK;
}

static void set_defaults(sotto_host_options *o)
{
    if (!o->path)
        o->path = "/";
    if (o->loops == 0)
        o->loops = 1;
    if (o->workers == 0)
        o->workers = 2;
    if (o->workers > MAX_WORKERS)
        o->workers = MAX_WORKERS;
    if (o->bytes_in_flight == 0)
        o->bytes_in_flight = (size_t)64 << 20;
    if (o->lease_seconds == 0)
        o->lease_seconds = 60;
    if (!o->clock)
        o->clock = &sotto_clock_system;
}

sotto_status sotto_host_open(sotto_host **out, const sotto_service *service,
                             const sotto_host_options *options, const void *config, sotto_err *err)
{
    sotto_host *h = sotto_alloc(sizeof *h);
    uint64_t random[2];
    sotto_status status;

    if (!h)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a server");
    h->service = service;
    h->options = *options;
    (void)pthread_mutex_init(&h->client_lock, NULL);
    set_defaults(&h->options);
    sotto_alloc_keep_blocks(LARGE_BLOCKS);
    (void)sotto_sqlite_memory_keep(); /* where SQLite is in use already, it is only slower */
    h->started = sotto_host_seconds(h);
    status = sotto_random_bytes(random, sizeof random, err);
    if (status == SOTTO_OK) {
        h->shard = (unsigned)(random[0] & 31);
        h->instance = (int64_t)(random[1] >> 1);
        status = open_all(h, config, err);
    }
    if (status != SOTTO_OK) {
        sotto_host_close(h);
        return status;
    }
    *out = h;
    return SOTTO_OK;
}

unsigned sotto_host_port(const sotto_host *host)
{
    return sotto_http_server_port(host->http);
}

int64_t sotto_host_seconds(const sotto_host *host)
{
    return (int64_t)(sotto_clock_wall(host->options.clock) / 1000000000);
}

sotto_status sotto_host_reload(sotto_host *host, sotto_err *err)
{
    return sotto_http_server_reload(host->http, host->options.certificate,
                                    host->options.private_key, err);
}

/* ---- down ------------------------------------------------------------------------------------------------------- */

static void drain_service(sotto_host *h)
{
    if (h->state && h->service->drain)
        h->service->drain(h->state);
}

static void stop_service(sotto_host *h, uint64_t milliseconds)
{
    if (h->state && h->service->stop)
        h->service->stop(h->state);
    sotto_steps_stop(h->steps, milliseconds);
}

sotto_status sotto_host_drain(sotto_host *host, uint64_t milliseconds, sotto_err *err)
{
    sotto_status status;

    sotto_health_set_draining(host->health);
    drain_service(host);
    status = sotto_http_server_drain(host->http, (unsigned)milliseconds, err);
    stop_service(host, milliseconds);
    return status;
}

/* Callbacks of the store may start calls while the client closes: they get SOTTO_STALE. */
static void close_client(sotto_host *h)
{
    struct sotto_http_client *client;

    (void)pthread_mutex_lock(&h->client_lock);
    client = h->client;
    h->client = NULL;
    (void)pthread_mutex_unlock(&h->client_lock);
    sotto_http_client_close(client);
}

sotto_status sotto_host_call(sotto_host *host, const sotto_http_call *call, sotto_http_done *done,
                             void *context, sotto_err *err)
{
    sotto_status status;

    (void)pthread_mutex_lock(&host->client_lock);
    if (host->client)
        status = sotto_http_call_start(host->client, call, done, context, err);
    else
        status = sotto_fail(err, SOTTO_STALE, "the server closes");
    (void)pthread_mutex_unlock(&host->client_lock);
    return status;
}

void sotto_host_close(sotto_host *h)
{
    enum { LAST_STEPS_MS = 2000 };

    if (!h)
        return;
    sotto_operations_close(h->operations); /* it looks at all the others */
    sotto_health_close(h->health);
    drain_service(h);
    sotto_http_server_close(h->http);
    stop_service(h, LAST_STEPS_MS);
    close_client(h); /* ends calls, whose steps are given back to the store */
    sotto_pool_stop(h->pool);
    if (h->state && h->service->settle)
        h->service->settle(h->state);
    /* What was posted runs to its end, and its callbacks still use all that follows. */
    sotto_db_close(h->db);
    sotto_db_claim_release(&h->claim);
    sotto_steps_close(h->steps);
    if (h->state)
        h->service->close(h->state);
    sotto_pool_close(h->pool);
    (void)pthread_mutex_destroy(&h->client_lock);
    sotto_release(h, sizeof *h);
}
