/* A server's parts, up in order and down in reverse. */
#include "serve/host/server.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "serve/host/database_owner.h"
#include "serve/host/datastore.h"
#include "serve/host/descriptors.h"
#include "serve/host/health.h"
#include "serve/host/metrics.h"
#include "serve/host/operations.h"
#include "serve/leader/rejected_ids.h"
#include "serve/tasks/router.h"
#include "serve/tasks/schema.h"
#include "sotto/random.h"
#include "transport/http_client.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE_BLOCKS = 64 << 20 }; /* of memory that is kept for reuse */
enum { WORKER_MEMORY = 512 << 20, QUEUE = 4096, MAX_WORKERS = 256 };
enum { POINTER = sizeof(void *) };

/* ---- up --------------------------------------------------------------------------------------------------------- */

static sotto_status open_store(sotto_server *s, sotto_err *err)
{
    bool made;

    SOTTO_TRY(sotto_db_open(&s->db,
                            &(sotto_db_options){.address = s->options.database,
                                                .vfs = s->options.vfs,
                                                .erase_ms = s->options.erase_ms,
                                                .log = &s->options.log},
                            err));
    if (!s->options
             .vfs) /* one of somebody's own need not have its files where the kernel has any */
        SOTTO_TRY(sotto_db_claim_take(&s->claim, s->options.database, err));
    SOTTO_TRY(sotto_datastore_key_open(&s->columns, &made, s->options.datastore_key, s->db, err));
    if (made)
        sotto_log(
            &s->options.log, SOTTO_LOG_WARNING, "datastore_key.made",
            sotto_log_text("file", s->options.datastore_key),
            sotto_log_text("advice", "keep a copy elsewhere: without it the database is lost"));
    SOTTO_TRY(sotto_db_migrate(s->db, sotto_serve_migrations, sotto_serve_migration_count, err));
    SOTTO_TRY(sotto_database_owner_claim(s->db, s->options.role, err));
    SOTTO_TRY(
        sotto_tasks_open(&s->tasks, s->db, &s->columns, s->options.role, &s->options.log, err));
    return sotto_keys_open(&s->keys, s->db, &s->columns, s->options.role, &s->options.key_times,
                           sotto_server_seconds(s), &s->options.log, err);
}

static sotto_status open_pool(sotto_server *s, sotto_err *err)
{
    for (unsigned i = 0; i < s->options.workers; i++)
        SOTTO_TRY(sotto_receivers_new(&s->receivers[i], s->keys, err));
    return sotto_pool_open(&s->pool,
                           &(sotto_pool_options){.threads = s->options.workers,
                                                 .queue = QUEUE,
                                                 .arena_ceiling = WORKER_MEMORY,
                                                 .receivers = s->receivers},
                           err);
}

sotto_status sotto_server_listen_read(char *host, size_t size, uint16_t *port, const char *text,
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
    memcpy(host, text, len);
    host[len] = 0;
    *port = (uint16_t)number;
    return SOTTO_OK;
}

static sotto_status open_http(sotto_server *s, sotto_err *err)
{
    char host[128];
    uint16_t port;

    SOTTO_TRY(sotto_server_listen_read(host, sizeof host, &port, s->options.listen, err));
    return sotto_http_server_open(
        &s->http,
        &(sotto_http_server_options){.address = host,
                                     .port = port,
                                     .certificate = s->options.certificate,
                                     .private_key = s->options.private_key,
                                     .plain_anywhere = s->options.plain_http,
                                     .loops = s->options.loops,
                                     .max_connections = s->descriptors.connections,
                                     .max_bytes_in_flight = s->options.bytes_in_flight,
                                     .log = &s->options.log},
        &sotto_router, s, err);
}

/* Before anything is opened, so that an option that does not go with the file limit is the first thing said. */
static sotto_status count_descriptors(sotto_server *s, sotto_err *err)
{
    SOTTO_TRY(sotto_descriptors_plan(&s->descriptors, &s->options, sotto_descriptors_raise(), err));
    sotto_log(&s->options.log, SOTTO_LOG_INFO, "server.descriptors",
              sotto_log_uint("limit", s->descriptors.limit),
              sotto_log_uint("reserve", s->descriptors.reserve),
              sotto_log_uint("connections", s->descriptors.connections));
    return SOTTO_OK;
}

/* The operations port comes last: once it answers, everything is up. */
static sotto_status open_all(sotto_server *s, sotto_err *err)
{
    /* Whoever calls has a lease meanwhile, which a helper that asks for more time must not outlast: that is waited for without one. */
    enum { IN_A_CALL_MS = 2000 };

    SOTTO_TRY(count_descriptors(s, err));
    SOTTO_TRY(sotto_metrics_new(&s->metrics, err));
    SOTTO_TRY(open_store(s, err));
    SOTTO_TRY(open_pool(s, err));
    if (s->options.role == SOTTO_LEADER) {
        SOTTO_TRY(sotto_http_client_open(
            &s->client,
            &(sotto_http_client_options){.ca_file = s->options.ca_file,
                                         .max_active = SOTTO_PEER_CALLS,
                                         .max_backoff_ms = IN_A_CALL_MS,
                                         .plain_anywhere = s->options.plain_http,
                                         .log = &s->options.log},
            err));
        SOTTO_TRY(sotto_leader_open(&s->leader, s, err));
    }
    SOTTO_TRY(open_http(s, err));
    SOTTO_TRY(sotto_health_open(&s->health, s, err));
    return s->options.operations ? sotto_operations_open(&s->operations, s, err) : SOTTO_OK;
}

static void set_defaults(sotto_server_options *o)
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
    if (o->upload_memory == 0)
        o->upload_memory = (size_t)256 << 20;
    if (o->job_reports == 0)
        o->job_reports = 500;
    if (o->most_rejected_ids == 0)
        o->most_rejected_ids = SOTTO_REJECTED_IDS_MOST;
    if (o->job_delay_ms == 0)
        o->job_delay_ms = 250;
    if (o->jobs_in_flight == 0)
        o->jobs_in_flight = 8;
    if (o->lease_seconds == 0)
        o->lease_seconds = 60;
    if (o->clock_skew_seconds == 0)
        o->clock_skew_seconds = 300;
    if (o->late_seconds == 0)
        o->late_seconds = (uint64_t)14 * 86400;
    if (!o->clock)
        o->clock = &sotto_clock_system;
}

sotto_status sotto_server_open(sotto_server **out, const sotto_server_options *options,
                               sotto_err *err)
{
    sotto_server *s = sotto_alloc(sizeof *s);
    uint64_t random[2];
    sotto_status status;

    if (!s)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a server");
    s->options = *options;
    (void)pthread_mutex_init(&s->client_lock, NULL);
    set_defaults(&s->options);
    sotto_alloc_keep_large(LARGE_BLOCKS);
    s->receivers = sotto_alloc(s->options.workers * POINTER);
    if (s->receivers)
        status = sotto_random_bytes(random, sizeof random, err);
    else
        status = sotto_fail(err, SOTTO_NO_MEMORY, "a server");
    if (status == SOTTO_OK) {
        s->shard = (unsigned)(random[0] & 31);
        s->instance = (int64_t)(random[1] >> 1);
        status = open_all(s, err);
    }
    if (status != SOTTO_OK) {
        sotto_server_close(s);
        return status;
    }
    *out = s;
    return SOTTO_OK;
}

unsigned sotto_server_port(const sotto_server *server)
{
    return sotto_http_server_port(server->http);
}

int64_t sotto_server_seconds(const sotto_server *server)
{
    return (int64_t)(sotto_clock_wall(server->options.clock) / 1000000000);
}

/* ---- down ------------------------------------------------------------------------------------------------------- */

sotto_status sotto_server_drain(sotto_server *server, uint64_t milliseconds, sotto_err *err)
{
    sotto_status status;

    sotto_health_set_draining(server->health);
    status = sotto_http_server_drain(server->http, (unsigned)milliseconds, err);

    if (server->leader)
        sotto_leader_stop(server->leader, milliseconds);
    return status;
}

/* Callbacks of the store may want to call while the client goes: they are told that it has gone. */
static void close_client(sotto_server *s)
{
    struct sotto_http_client *client;

    (void)pthread_mutex_lock(&s->client_lock);
    client = s->client;
    s->client = NULL;
    (void)pthread_mutex_unlock(&s->client_lock);
    sotto_http_client_close(client);
}

sotto_status sotto_server_call(sotto_server *server, const sotto_http_call *call,
                               sotto_http_done *done, void *context, sotto_err *err)
{
    sotto_status status;

    (void)pthread_mutex_lock(&server->client_lock);
    if (server->client)
        status = sotto_http_call_start(server->client, call, done, context, err);
    else
        status = sotto_fail(err, SOTTO_STALE, "the server closes");
    (void)pthread_mutex_unlock(&server->client_lock);
    return status;
}

void sotto_server_close(sotto_server *s)
{
    enum { LAST_JOBS_MS = 2000 };

    if (!s)
        return;
    sotto_operations_close(s->operations); /* it looks at all the others */
    sotto_health_close(s->health);
    sotto_http_server_close(s->http);
    if (s->leader)
        sotto_leader_stop(s->leader, LAST_JOBS_MS);
    close_client(s); /* ends calls, whose jobs are given back to the store */
    sotto_pool_stop(s->pool);
    sotto_tasks_stop(s->tasks);
    if (s->leader)
        sotto_leader_settle(s->leader);
    /* What was posted runs to its end, and its callbacks still use all that follows. */
    sotto_db_close(s->db);
    sotto_db_claim_release(&s->claim);
    sotto_leader_close(s->leader, 0);
    sotto_pool_close(s->pool);
    if (s->receivers)
        for (unsigned i = 0; i < s->options.workers; i++)
            sotto_receivers_free(s->receivers[i]);
    sotto_release(s->receivers, s->receivers ? s->options.workers * POINTER : 0);
    sotto_keys_close(s->keys);
    sotto_tasks_close(s->tasks);
    (void)pthread_mutex_destroy(&s->client_lock);
    sotto_metrics_free(s->metrics);
    sotto_release(s, sizeof *s);
}
