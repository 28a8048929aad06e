/* Counters, and the text in which they are read. */
#include "serve/tasks/metrics.h"

#include "base/alloc.h"
#include "base/writer.h"
#include "dap/dap.h"
#include "serve/host/host_metrics.h"
#include "serve/tasks/batches.h"
#include "serve/tasks/task_health.h"

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

#define head sotto_metric_head
#define one  sotto_metric_one

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
         "Reports rejected, each time, by cause and by the side that found it.");
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

static void write_work(sotto_writer *w, const sotto_server *s)
{
    static const char disagreed[] = "Batches on which the servers did not agree, by what happened.";
    const sotto_metrics *m = s->metrics;

    if (s->role == SOTTO_LEADER) {
        one(w, "sotto_uploads_failed_total", "counter", "Uploads that were told to try again.",
            sotto_metrics_get(m, SOTTO_METRIC_UPLOADS_FAILED));
        family(w, m, "sotto_aggregation_jobs_total", "event", "Aggregation jobs, by what happened.",
               MEMBERS(leader_jobs));
        family(w, m, "sotto_collection_jobs_total", "event", "Collections, by what happened.",
               MEMBERS(collections));
        family(w, m, "sotto_repairs_total", "event", disagreed, MEMBERS(leader_repairs));
    } else {
        family(w, m, "sotto_aggregation_jobs_total", "event", "Aggregation jobs, by what happened.",
               MEMBERS(helper_jobs));
        family(w, m, "sotto_repairs_total", "event", disagreed, MEMBERS(helper_repairs));
        one(w, "sotto_requests_unknown_task_total", "counter",
            "Requests, as a leader's, for a task that was not added here.",
            sotto_metrics_get(m, SOTTO_METRIC_TASKS_UNKNOWN));
    }
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
    key_lines keys = {w, sotto_host_seconds(s->host)};
    sotto_task_health_view view;

    (void)sotto_last_seen_look(s->health, &view);
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
    head(w, "sotto_releases", "gauge",
         "Collections (leader) or aggregate shares (helper), by state, as stored.");
    for (unsigned i = 1; i < SOTTO_RELEASE_STATES; i++)
        say(w, "sotto_releases{state=\"%s\"} %" PRIu64 "\n", states[i], view.releases[i]);
    if (view.keys.named)
        one(w, "sotto_parties_files_good_until_seconds", "gauge",
            "Unix time at which an HPKE key comes into use that no task's parties file names.",
            (uint64_t)view.keys.until);
    head(w, "sotto_hpke_key_age_seconds", "gauge", "How long each HPKE key has been in its state.");
    return sotto_keys_list(s->keys, write_key, &keys, err);
}

sotto_status sotto_metrics_write(sotto_writer *w, sotto_server *server, sotto_err *err)
{
    write_reports(w, server->metrics, server->role);
    write_work(w, server);
    return write_state(w, server, err);
}
