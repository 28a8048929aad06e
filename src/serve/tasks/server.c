#include "serve/tasks/server.h"

#include "base/alloc.h"
#include "base/log.h"
#include "recipe/calendar.h"
#include "serve/tasks/erase.h"
#include "serve/tasks/metrics.h"
#include "serve/tasks/round_log.h"
#include "serve/tasks/task_health.h"
#include "serve/tasks/task_options.h"
#include "serve/tasks/token_check.h"

#include <string.h>

enum { POINTER = sizeof(void *), DAY = 86400 };

static void set_defaults(sotto_task_options *o)
{
    if (o->upload_memory == 0)
        o->upload_memory = (size_t)256 << 20;
    if (o->job_reports == 0)
        o->job_reports = 500;
    if (o->job_delay_ms == 0)
        o->job_delay_ms = 250;
    if (o->jobs_in_flight == 0)
        o->jobs_in_flight = 8;
    if (o->clock_skew_seconds == 0)
        o->clock_skew_seconds = 300;
    if (o->late_seconds == 0)
        o->late_seconds = (uint64_t)14 * 86400;
}

const char *sotto_task_options_check(const void *options)
{
    const sotto_task_options *o = options;

    if (!o->rounds_log != !o->rounds_keys)
        return "rounds_log and rounds_keys go together";
    return sotto_key_times_check(&o->key_times);
}

const sotto_service *sotto_role_service(sotto_role role)
{
    for (size_t i = 0; i < sotto_service_count; i++)
        if (sotto_services[i]->owner == (int64_t)role)
            return sotto_services[i];
    return NULL;
}

sotto_role sotto_service_role(const sotto_service *service)
{
    return service->owner == SOTTO_LEADER   ? SOTTO_LEADER
           : service->owner == SOTTO_HELPER ? SOTTO_HELPER
                                            : (sotto_role)0;
}

sotto_bytes sotto_role_info(uint8_t out[SOTTO_DAP_INFO_MAX], sotto_role role)
{
    return sotto_input_share_info(out, role == SOTTO_LEADER ? SOTTO_DAP_LEADER : SOTTO_DAP_HELPER);
}

static sotto_status open_parts(sotto_server *s, sotto_err *err)
{
    sotto_host *host = s->host;
    uint8_t info[SOTTO_DAP_INFO_MAX];

    SOTTO_TRY(sotto_metrics_new(&s->metrics, err));
    SOTTO_TRY(sotto_last_seen_new(&s->health, sizeof(sotto_task_health_view), err));
    SOTTO_TRY(sotto_tasks_open(&s->tasks, s->db, s->columns, s->role, s->log, err));
    SOTTO_TRY(sotto_keys_open(&s->keys, s->db, s->columns, sotto_role_info(info, s->role),
                              &s->options.key_times, sotto_host_seconds(host), s->log, err));
    s->receivers = sotto_alloc(host->options.workers * POINTER);
    if (!s->receivers)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a server");
    for (unsigned i = 0; i < host->options.workers; i++)
        SOTTO_TRY(sotto_receivers_new(&s->receivers[i], s->keys, err));
    s->token_checkers = sotto_alloc(host->options.workers * POINTER);
    if (!s->token_checkers)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a server");
    for (unsigned i = 0; i < host->options.workers; i++)
        SOTTO_TRY(sotto_token_checker_new(&s->token_checkers[i], err));
    return s->options.rounds_log
               ? sotto_round_watch_open(&s->rounds, s, s->options.rounds_log,
                                        s->options.rounds_keys, s->options.rounds_quorum, err)
               : SOTTO_OK;
}

sotto_status sotto_server_new(sotto_server **out, sotto_host *host, sotto_role role,
                              const sotto_task_options *options, sotto_err *err)
{
    sotto_server *s = sotto_alloc(sizeof *s);
    sotto_status status;

    if (!s)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a server");
    s->host = host;
    s->role = role;
    s->options = *options;
    set_defaults(&s->options);
    s->db = host->db;
    s->pool = host->pool;
    s->columns = &host->columns;
    s->log = &host->options.log;
    s->shard = host->shard;
    s->instance = host->instance;
    status = open_parts(s, err);
    if (status != SOTTO_OK) {
        sotto_server_settle(s);
        sotto_server_free(s);
        return status;
    }
    *out = s;
    return SOTTO_OK;
}

void sotto_server_settle(sotto_server *server)
{
    sotto_round_watch_stop(server->rounds);
    sotto_tasks_stop(server->tasks);
}

void sotto_server_free(sotto_server *s)
{
    if (!s)
        return;
    if (s->receivers)
        for (unsigned i = 0; i < s->host->options.workers; i++)
            sotto_receivers_free(s->receivers[i]);
    sotto_release(s->receivers, s->receivers ? s->host->options.workers * POINTER : 0);
    if (s->token_checkers)
        for (unsigned i = 0; i < s->host->options.workers; i++)
            sotto_token_checker_free(s->token_checkers[i]);
    sotto_release(s->token_checkers, s->token_checkers ? s->host->options.workers * POINTER : 0);
    sotto_round_watch_close(s->rounds);
    sotto_keys_close(s->keys);
    sotto_tasks_close(s->tasks);
    sotto_last_seen_free(s->health);
    sotto_metrics_free(s->metrics);
    sotto_release(s, sizeof *s);
}

/* ---- by the clock --------------------------------------------------------------------------------------------------- */

/* One pass only: a health check that ends late would report the database as unreachable. The next
 * check goes on from here. */
static void erase_shares(sotto_server *server)
{
    bool more;
    sotto_err err = {0};

    if (sotto_erase_shares(server->db, &more, &err) != SOTTO_OK)
        sotto_log(server->log, SOTTO_LOG_WARNING, "shares.not_erased",
                  sotto_log_text("reason", err.reason));
}

/* Once a day, and at the start: an application takes weeks to reach its devices. */
static void tell_of_keys(sotto_server *server)
{
    const int64_t now = sotto_host_seconds(server->host);
    const sotto_keys_known known = sotto_keys_known_until(server->keys, now);
    char until[SOTTO_CALENDAR_TEXT];

    if (!known.soon || (now >= server->keys_told && now < server->keys_told + DAY))
        return;
    server->keys_told = now;
    sotto_calendar_format_time(until, known.until);
    sotto_log(server->log, SOTTO_LOG_WARNING, "parties.outdated_soon",
              sotto_log_text("good_until", until), sotto_log_uint("config_id", known.next));
}

void sotto_server_tick(sotto_server *server)
{
    sotto_err err = {0};

    if (sotto_keys_tick(server->keys, sotto_host_seconds(server->host), &err) != SOTTO_OK)
        sotto_log(server->log, SOTTO_LOG_WARNING, "keys.not_rotated",
                  sotto_log_text("reason", err.reason));
    tell_of_keys(server);
    erase_shares(server);
}

/* ---- opened by its options ------------------------------------------------------------------------------------------- */

sotto_status sotto_server_open(sotto_server **server, const sotto_server_options *options,
                               sotto_err *err)
{
    const sotto_service *service = sotto_role_service(options->role);
    sotto_host *host;

    if (!service)
        return sotto_fail(err, SOTTO_BUG, "this program has no such service");
    SOTTO_TRY(sotto_host_open(&host, service, &options->host, &options->tasks, err));
    *server = host->state;
    return SOTTO_OK;
}

unsigned sotto_server_port(const sotto_server *server)
{
    return sotto_host_port(server->host);
}

sotto_status sotto_server_drain(sotto_server *server, uint64_t milliseconds, sotto_err *err)
{
    return sotto_host_drain(server->host, milliseconds, err);
}

void sotto_server_close(sotto_server *server)
{
    if (server)
        sotto_host_close(server->host);
}
