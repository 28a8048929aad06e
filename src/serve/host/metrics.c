/* Counters, and the text in which they are read. */
#include "serve/host/metrics.h"

#include "base/alloc.h"
#include "base/writer.h"
#include "dap/dap.h"
#include "serve/host/health.h"
#include "serve/leader/leader.h"
#include "transport/http_server.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

struct sotto_metrics {
    atomic_uint_fast64_t counts[SOTTO_METRICS];
    atomic_uint_fast64_t reports[SOTTO_CAUSES];
};

sotto_status sotto_metrics_new(sotto_metrics **out, sotto_err *err)
{
    *out = sotto_alloc(sizeof **out);
    return *out ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "metrics");
}

void sotto_metrics_free(sotto_metrics *metrics)
{
    sotto_release(metrics, metrics ? sizeof *metrics : 0);
}

void sotto_metrics_count(sotto_metrics *metrics, sotto_metric which, uint64_t times)
{
    if (metrics && times > 0)
        atomic_fetch_add_explicit(&metrics->counts[which], times, memory_order_relaxed);
}

void sotto_metrics_reports(sotto_metrics *metrics, const uint64_t *reports, size_t causes)
{
    for (size_t i = 0; metrics && i < causes && i < SOTTO_CAUSES; i++)
        if (reports[i] > 0)
            atomic_fetch_add_explicit(&metrics->reports[i], reports[i], memory_order_relaxed);
}

uint64_t sotto_metrics_get(const sotto_metrics *metrics, sotto_metric which)
{
    return metrics ? atomic_load_explicit(&metrics->counts[which], memory_order_relaxed) : 0;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

#define say sotto_write_format

static void head(sotto_writer *w, const char *name, const char *type, const char *help)
{
    say(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(sotto_writer *w, const char *name, const char *type, const char *help,
                uint64_t value)
{
    head(w, name, type, help);
    say(w, "%s %" PRIu64 "\n", name, value);
}

/* A family of counters told apart by one label. */
typedef struct labelled {
    sotto_metric which;
    const char *value;
} labelled;

static void family(sotto_writer *w, const sotto_metrics *m, const char *name, const char *label,
                   const char *help, const labelled *members, size_t count)
{
    head(w, name, "counter", help);
    for (size_t i = 0; i < count; i++)
        say(w, "%s{%s=\"%s\"} %" PRIu64 "\n", name, label, members[i].value,
            sotto_metrics_get(m, members[i].which));
}

static const labelled leader_jobs[] = {
    {SOTTO_METRIC_JOBS_FORMED, "formed"},       {SOTTO_METRIC_JOBS_SENT, "sent"},
    {SOTTO_METRIC_JOBS_FINISHED, "finished"},   {SOTTO_METRIC_JOBS_RETRIED, "retried"},
    {SOTTO_METRIC_JOBS_ABANDONED, "abandoned"},
};
static const labelled helper_jobs[] = {
    {SOTTO_METRIC_JOBS_ANSWERED, "answered"},
    {SOTTO_METRIC_JOBS_REPEATED, "repeated"},
    {SOTTO_METRIC_JOBS_REFUSED, "refused"},
    {SOTTO_METRIC_JOBS_FAILED, "failed"},
};
static const labelled collections[] = {
    {SOTTO_METRIC_COLLECTIONS_CLOSED, "closed"},
    {SOTTO_METRIC_COLLECTIONS_RETRIED, "retried"},
    {SOTTO_METRIC_COLLECTIONS_DONE, "done"},
    {SOTTO_METRIC_COLLECTIONS_FAILED, "failed"},
};
static const labelled leader_repairs[] = {
    {SOTTO_METRIC_REPAIRS_ASKED, "asked"},
    {SOTTO_METRIC_REPAIRS_DONE, "done"},
    {SOTTO_METRIC_REPAIRS_REFUSED, "refused"},
};
static const labelled helper_repairs[] = {
    {SOTTO_METRIC_REPAIRS_DONE, "done"},
    {SOTTO_METRIC_REPAIRS_REFUSED, "refused"},
};
#define MEMBERS(list) list, sizeof(list) / sizeof((list)[0])

static void write_reports(sotto_writer *w, const sotto_metrics *m, sotto_role role)
{
    one(w, "sotto_reports_accepted_total", "counter",
        role == SOTTO_LEADER ? "Reports on disk and acknowledged."
                             : "Reports verified and committed.",
        atomic_load(&m->reports[0]));
    one(w, "sotto_reports_aggregated_total", "counter", "Reports added to a batch.",
        sotto_metrics_get(m, SOTTO_METRIC_REPORTS_AGGREGATED));
    head(w, "sotto_reports_rejected_total", "counter",
         "Reports refused, each time, by cause and by the side that found it.");
    for (unsigned cause = 1; cause < SOTTO_CAUSES; cause++) {
        bool helper = cause >= SOTTO_CAUSE_HELPER && cause < SOTTO_CAUSE_ABANDONED;
        unsigned error = helper ? cause - SOTTO_CAUSE_HELPER : cause;
        uint64_t reports = atomic_load(&m->reports[cause]);

        /* Every cause of our own is there from the start, so that a rate can be taken of it. */
        if (reports == 0 && (helper || error >= SOTTO_REPORT_ERRORS))
            continue;
        say(w, "sotto_reports_rejected_total{cause=\"%s\",found_by=\"%s\"} %" PRIu64 "\n",
            cause == SOTTO_CAUSE_ABANDONED    ? "job_abandoned"
            : cause == SOTTO_CAUSE_UNREADABLE ? "unreadable"
            : cause == SOTTO_CAUSE_DROPPED    ? "job_dropped"
                                              : sotto_dap_report_error_name((uint8_t)error),
            helper ? "helper" : "self", reports);
    }
}

static void write_work(sotto_writer *w, sotto_server *s)
{
    const sotto_metrics *m = s->metrics;

    if (s->options.role == SOTTO_LEADER) {
        one(w, "sotto_uploads_failed_total", "counter", "Uploads that were told to try again.",
            sotto_metrics_get(m, SOTTO_METRIC_UPLOADS_FAILED));
        family(w, m, "sotto_aggregation_jobs_total", "event", "Aggregation jobs, by what happened.",
               MEMBERS(leader_jobs));
        family(w, m, "sotto_collection_jobs_total", "event", "Collections, by what happened.",
               MEMBERS(collections));
        family(w, m, "sotto_repairs_total", "event",
               "Batches on which the servers did not agree, by what happened.",
               MEMBERS(leader_repairs));
        one(w, "sotto_reports_waiting", "gauge", "Reports that wait here to be put into a job.",
            s->leader ? sotto_lanes_reports(s->leader->lanes) : 0);
    } else {
        family(w, m, "sotto_aggregation_jobs_total", "event", "Aggregation jobs, by what happened.",
               MEMBERS(helper_jobs));
        family(w, m, "sotto_repairs_total", "event",
               "Batches on which the servers did not agree, by what happened.",
               MEMBERS(helper_repairs));
        one(w, "sotto_requests_unknown_task_total", "counter",
            "Requests, as a leader's, for a task that was not added here.",
            sotto_metrics_get(m, SOTTO_METRIC_TASKS_UNKNOWN));
    }
    one(w, "sotto_compute_queue", "gauge", "Pieces of work that wait for a compute thread.",
        sotto_pool_waiting(s->pool));
}

static void write_database(sotto_writer *w, sotto_server *s)
{
    sotto_db_stats db;

    sotto_db_stats_get(s->db, &db);
    one(w, "sotto_db_functions_total", "counter", "Functions that were committed.", db.functions);
    one(w, "sotto_db_failures_total", "counter", "Functions that ended without a commit.",
        db.failed);
    one(w, "sotto_db_transactions_total", "counter", "Transactions committed.", db.transactions);
    one(w, "sotto_db_syncs_total", "counter", "Syncs of SQLite's files; 0 with PostgreSQL.",
        db.syncs);
    one(w, "sotto_db_retries_total", "counter", "Functions that were run again.", db.retries);
    one(w, "sotto_db_reconnects_total", "counter", "Connections made anew.", db.reconnects);
    one(w, "sotto_db_waiting", "gauge", "Functions that wait for a transaction.", db.waiting);
}

/* Rows of a histogram add up, from the shortest time on. */
static void write_times(sotto_writer *w, const sotto_http_server_counts *c)
{
    uint64_t answered = 0;

    head(w, "sotto_http_responses_total", "counter",
         "Answers to requests whose head could be read, by the first digit of their status.");
    for (unsigned i = 0; i < sizeof c->answers / sizeof c->answers[0]; i++)
        say(w, "sotto_http_responses_total{status=\"%uxx\"} %" PRIu64 "\n", i + 2, c->answers[i]);
    head(w, "sotto_http_request_seconds", "histogram",
         "From the last byte of a request's head to its answer.");
    for (unsigned i = 0; i < SOTTO_HTTP_TIMES - 1; i++) {
        answered += c->times[i];
        say(w, "sotto_http_request_seconds_bucket{le=\"%g\"} %" PRIu64 "\n",
            sotto_http_times_ms[i] / 1e3, answered);
    }
    answered += c->times[SOTTO_HTTP_TIMES - 1];
    say(w, "sotto_http_request_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n", answered);
    say(w, "sotto_http_request_seconds_sum %.6f\n", (double)c->time_ns / 1e9);
    say(w, "sotto_http_request_seconds_count %" PRIu64 "\n", answered);
}

static void write_http(sotto_writer *w, sotto_server *s)
{
    sotto_http_server_counts c;

    sotto_http_server_count(s->http, &c);
    one(w, "sotto_http_connections_total", "counter", "Connections accepted.",
        c.connections_accepted);
    one(w, "sotto_http_connections", "gauge", "Connections now open.", c.connections_now);
    one(w, "sotto_http_connections_max", "gauge", "Connections that may be open at once.",
        c.connections_most);
    one(w, "sotto_http_connections_evicted_total", "counter",
        "Connections without a request under way, closed to make room for another.",
        c.connections_made_room);
    one(w, "sotto_descriptors_max", "gauge", "File descriptors that the process may have open.",
        s->descriptors.limit);
    one(w, "sotto_http_bytes_in_flight", "gauge", "Bytes of requests and answers now held.",
        c.bytes_in_flight_now);
    one(w, "sotto_http_requests_total", "counter", "Requests whose head could be read.",
        c.requests);
    head(w, "sotto_http_failures_total", "counter", "Connections and requests refused, by cause.");
    say(w, "sotto_http_failures_total{cause=\"connections\"} %" PRIu64 "\n", c.connections_refused);
    say(w, "sotto_http_failures_total{cause=\"malformed\"} %" PRIu64 "\n", c.malformed);
    say(w, "sotto_http_failures_total{cause=\"too_large\"} %" PRIu64 "\n", c.too_large);
    say(w, "sotto_http_failures_total{cause=\"overloaded\"} %" PRIu64 "\n", c.overloaded);
    say(w, "sotto_http_failures_total{cause=\"timed_out\"} %" PRIu64 "\n", c.timed_out);
    write_times(w, &c);
}

typedef struct key_lines {
    sotto_writer *w;
    int64_t now;
} key_lines;

static sotto_status write_key(void *context, const sotto_key_line *line, sotto_err *err)
{
    const key_lines *k = context;

    (void)err;
    say(k->w, "sotto_hpke_key_age_seconds{config_id=\"%u\",state=\"%s\"} %" PRId64 "\n",
        line->config.id, sotto_key_state_name(line->state), k->now - line->since);
    return SOTTO_OK;
}

static sotto_status write_state(sotto_writer *w, sotto_server *s, sotto_err *err)
{
    static const char *const states[] = {"", "waiting", "closed", "done", "failed"};
    key_lines keys = {w, sotto_server_seconds(s)};
    sotto_health_view view;

    sotto_health_look(s->health, &view);
    head(w, "sotto_tasks", "gauge",
         "Tasks, by whether they can be served: paired, unpaired, or not to be compiled.");
    say(w, "sotto_tasks{state=\"paired\"} %" PRIu64 "\n",
        view.tasks > view.unpaired + view.broken ? view.tasks - view.unpaired - view.broken : 0);
    say(w, "sotto_tasks{state=\"unpaired\"} %" PRIu64 "\n", view.unpaired);
    say(w, "sotto_tasks{state=\"broken\"} %" PRIu64 "\n", view.broken);
    one(w, "sotto_tasks_without_population", "gauge",
        "Tasks whose rate can't be checked, since no population was given.",
        view.without_population);
    one(w, "sotto_batches_held", "gauge",
        "Batches that wait for the operator, since more reports came than expected.", view.held);
    if (s->options.role == SOTTO_LEADER) {
        one(w, "sotto_jobs_unanswered", "gauge",
            "Jobs that were tried without success and wait for another try, as stored.",
            view.unanswered);
        one(w, "sotto_reports_in_jobs", "gauge",
            "Reports in jobs that are not finished, as stored.", view.in_jobs);
        one(w, "sotto_collection_oldest_seconds", "gauge",
            "How long the oldest collection without an answer has waited; 0 below a minute.",
            (uint64_t)view.stalled.seconds);
        one(w, "sotto_segments_unreadable", "gauge",
            "Pieces of what was acknowledged that can't be read back, and keep their batch "
            "waiting.",
            view.unreadable);
    }
    head(w, "sotto_releases", "gauge",
         "Collections (leader) or aggregate shares (helper), by state, as stored.");
    for (unsigned i = 1; i < SOTTO_HEALTH_STATES; i++)
        say(w, "sotto_releases{state=\"%s\"} %" PRIu64 "\n", states[i], view.releases[i]);
    one(w, "sotto_database_reachable", "gauge",
        "Whether a look at the database succeeded in the last 3 s.", view.database);
    one(w, "sotto_draining", "gauge", "Whether the server was told to stop.", view.draining);
    head(w, "sotto_hpke_key_age_seconds", "gauge", "How long each HPKE key has been in its state.");
    return sotto_keys_list(s->keys, write_key, &keys, err);
}

sotto_status sotto_metrics_write(sotto_buf *out, sotto_server *server, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    write_reports(&w, server->metrics, server->options.role);
    write_work(&w, server);
    write_database(&w, server);
    write_http(&w, server);
    SOTTO_TRY(write_state(&w, server, err));
    return sotto_writer_finish(&w, "metrics", err);
}
