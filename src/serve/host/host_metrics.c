#include "serve/host/host_metrics.h"

#include "serve/host/health.h"
#include "serve/host/steps.h"

#include <inttypes.h>

void sotto_metric_head(sotto_writer *w, const char *name, const char *type, const char *help)
{
    sotto_write_format(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void sotto_metric_one(sotto_writer *w, const char *name, const char *type, const char *help,
                      uint64_t value)
{
    sotto_metric_head(w, name, type, help);
    sotto_write_format(w, "%s %" PRIu64 "\n", name, value);
}

static void write_database(sotto_writer *w, sotto_host *h)
{
    sotto_db_stats db;

    sotto_db_stats_get(h->db, &db);
    sotto_metric_one(w, "sotto_db_functions_total", "counter", "Functions that were committed.",
                     db.functions);
    sotto_metric_one(w, "sotto_db_failures_total", "counter",
                     "Functions that ended without a commit.", db.failed);
    sotto_metric_one(w, "sotto_db_transactions_total", "counter", "Transactions committed.",
                     db.transactions);
    sotto_metric_one(w, "sotto_db_syncs_total", "counter",
                     "Syncs of SQLite's files; 0 with PostgreSQL.", db.syncs);
    sotto_metric_one(w, "sotto_db_retries_total", "counter", "Functions that were run again.",
                     db.retries);
    sotto_metric_one(w, "sotto_db_reconnects_total", "counter", "Connections made anew.",
                     db.reconnects);
    sotto_metric_one(w, "sotto_db_waiting", "gauge", "Functions that wait for a transaction.",
                     db.waiting);
}

/* Rows of a histogram add up, from the shortest time on. */
static void write_times(sotto_writer *w, const sotto_http_server_counts *c)
{
    uint64_t answered = 0;

    sotto_metric_head(
        w, "sotto_http_responses_total", "counter",
        "Answers to requests whose head could be read, by the first digit of their status.");
    for (unsigned i = 0; i < sizeof c->answers / sizeof c->answers[0]; i++)
        sotto_write_format(w, "sotto_http_responses_total{status=\"%uxx\"} %" PRIu64 "\n", i + 2,
                           c->answers[i]);
    sotto_metric_head(w, "sotto_http_request_seconds", "histogram",
                      "From the last byte of a request's head to its answer.");
    for (unsigned i = 0; i < SOTTO_HTTP_TIMES - 1; i++) {
        answered += c->times[i];
        sotto_write_format(w, "sotto_http_request_seconds_bucket{le=\"%g\"} %" PRIu64 "\n",
                           sotto_http_times_ms[i] / 1e3, answered);
    }
    answered += c->times[SOTTO_HTTP_TIMES - 1];
    sotto_write_format(w, "sotto_http_request_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n", answered);
    sotto_write_format(w, "sotto_http_request_seconds_sum %.6f\n", (double)c->time_ns / 1e9);
    sotto_write_format(w, "sotto_http_request_seconds_count %" PRIu64 "\n", answered);
}

static void write_http(sotto_writer *w, sotto_host *h)
{
    sotto_http_server_counts c;

    sotto_http_server_count(h->http, &c);
    sotto_metric_one(w, "sotto_http_connections_total", "counter", "Connections accepted.",
                     c.connections_accepted);
    sotto_metric_one(w, "sotto_http_connections", "gauge", "Connections now open.",
                     c.connections_now);
    sotto_metric_one(w, "sotto_http_connections_max", "gauge",
                     "Connections that may be open at once.", c.connections_most);
    sotto_metric_one(w, "sotto_http_connections_evicted_total", "counter",
                     "Connections without a request under way, closed to make room for another.",
                     c.connections_made_room);
    sotto_metric_one(w, "sotto_descriptors_max", "gauge",
                     "File descriptors that the process may have open.", h->descriptors.limit);
    sotto_metric_one(w, "sotto_http_bytes_in_flight", "gauge",
                     "Bytes of requests and answers now held.", c.bytes_in_flight_now);
    sotto_metric_one(w, "sotto_http_requests_total", "counter",
                     "Requests whose head could be read.", c.requests);
    sotto_metric_head(w, "sotto_http_failures_total", "counter",
                      "Connections and requests refused, by cause.");
    sotto_write_format(w, "sotto_http_failures_total{cause=\"connections\"} %" PRIu64 "\n",
                       c.connections_refused);
    sotto_write_format(w, "sotto_http_failures_total{cause=\"malformed\"} %" PRIu64 "\n",
                       c.malformed);
    sotto_write_format(w, "sotto_http_failures_total{cause=\"too_large\"} %" PRIu64 "\n",
                       c.too_large);
    sotto_write_format(w, "sotto_http_failures_total{cause=\"overloaded\"} %" PRIu64 "\n",
                       c.overloaded > c.over_share ? c.overloaded - c.over_share : 0);
    sotto_write_format(w, "sotto_http_failures_total{cause=\"address_share\"} %" PRIu64 "\n",
                       c.over_share);
    sotto_write_format(w, "sotto_http_failures_total{cause=\"timed_out\"} %" PRIu64 "\n",
                       c.timed_out);
    write_times(w, &c);
}

/* A service without queues has no such lines. */
static void write_steps(sotto_writer *w, sotto_host *h)
{
    static const char help[] =
        "Steps of queued work, from the claim to the end, whatever came of them.";
    sotto_step_times t;

    for (size_t q = 0; q < h->service->queue_count; q++) {
        const char *name = h->service->queues[q].name;
        uint64_t count = 0;

        sotto_steps_times(h->steps, &h->service->queues[q], &t);
        if (q == 0)
            sotto_metric_head(w, "sotto_step_seconds", "histogram", help);
        for (unsigned i = 0; i < SOTTO_STEP_TIMES; i++) {
            count += t.counts[i];
            sotto_write_format(w, "sotto_step_seconds_bucket{queue=\"%s\",le=\"", name);
            if (i < SOTTO_STEP_TIMES - 1)
                sotto_write_format(w, "%g", sotto_step_times_ms[i] / 1e3);
            sotto_write_format(w, "%s\"} %" PRIu64 "\n", i < SOTTO_STEP_TIMES - 1 ? "" : "+Inf",
                               count);
        }
        sotto_write_format(w, "sotto_step_seconds_sum{queue=\"%s\"} %.3f\n", name,
                           (double)t.sum_ms / 1e3);
        sotto_write_format(w, "sotto_step_seconds_count{queue=\"%s\"} %" PRIu64 "\n", name, count);
    }
}

static void write_state(sotto_writer *w, sotto_host *h)
{
    sotto_health_view view;

    sotto_health_look(h->health, &view);
    sotto_metric_one(w, "sotto_compute_queue", "gauge",
                     "Pieces of work that wait for a compute thread.", sotto_pool_waiting(h->pool));
    sotto_metric_one(w, "sotto_database_reachable", "gauge",
                     "Whether a look at the database succeeded in the last 3 s.", view.database);
    sotto_metric_one(w, "sotto_draining", "gauge", "Whether the server was told to stop.",
                     view.draining);
}

sotto_status sotto_host_metrics_write(sotto_buf *out, sotto_host *host, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    if (host->service->metrics)
        SOTTO_TRY(host->service->metrics(host->state, &w, err));
    sotto_process_metrics_write(&w, host);
    write_steps(&w, host);
    write_database(&w, host);
    write_http(&w, host);
    write_state(&w, host);
    return sotto_writer_finish(&w, "metrics", err);
}
