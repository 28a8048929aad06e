#include "serve/leader/leader_health.h"

#include "serve/host/health.h"
#include "serve/host/host_metrics.h"
#include "serve/leader/collection.h"
#include "serve/leader/unreadable.h"
#include "serve/tasks/schema.h"

#include <stdio.h>

enum { STALLED_EVERY = 10 };

/* ---- looking ------------------------------------------------------------------------------------------------------ */

/* A job that is claimed for the first time is on its way. Any other was given back, or left behind by a process that
 * ended. */
static sotto_status count_unanswered(sotto_tx *tx, sotto_leader_health_view *view, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT count(*) FROM sotto_lease WHERE queue = ?1 AND"
                                " (held = 0 OR attempts > 1)",
                                err));
    sotto_sql_int(&q, 1, SOTTO_QUEUE_JOBS);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    view->unanswered = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    /* Task by task, by the index on open jobs: joined to its task, SQLite would read every job there ever was. */
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT CAST(coalesce(sum((SELECT sum(j.reports) FROM job j WHERE"
                                " j.task = t.n AND j.state = ?2)), 0) AS BIGINT) FROM task t"
                                " WHERE t.role = ?1",
                                err));
    sotto_sql_int(&q, 1, SOTTO_LEADER);
    sotto_sql_int(&q, 2, SOTTO_JOB_SENT);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    view->in_jobs = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}

/* Another replica may have asked for it last. */
static void say_silence(const sotto_leader *leader, sotto_stalled *stalled)
{
    char reason[SOTTO_STEP_REASON];
    int64_t n;

    if (sotto_steps_last_retry(leader->steps, &sotto_leader_queues[SOTTO_LEADER_COLLECTIONS], &n,
                               reason) &&
        n == stalled->n)
        (void)snprintf(stalled->why, sizeof stalled->why, "%s", reason);
    else
        (void)snprintf(stalled->why, sizeof stalled->why, "the helper has not given its share");
}

sotto_status sotto_leader_health_read(sotto_tx *tx, sotto_leader *leader, sotto_err *err)
{
    sotto_leader_health_view view;
    unsigned looks = sotto_last_seen_look(leader->health, &view);
    int64_t job;

    SOTTO_TRY(sotto_unreadable_count(tx, &view.unreadable, err));
    SOTTO_TRY(count_unanswered(tx, &view, err));
    if (looks % STALLED_EVERY == 0) {
        SOTTO_TRY(sotto_stalled_look(tx, &view.stalled, leader->server->tasks, err));
        if (view.stalled.closed)
            say_silence(leader, &view.stalled);
    }
    (void)sotto_steps_last_retry(leader->steps, &sotto_leader_queues[SOTTO_LEADER_JOBS], &job,
                                 view.retry);
    sotto_last_seen_put(leader->health, &view);
    return SOTTO_OK;
}

/* ---- in words ------------------------------------------------------------------------------------------------------ */

/* Ready all the same: uploads are taken and kept. A load balancer that sent them elsewhere would only lose
 * them. */
static void say_unanswered(sotto_buf *out, const sotto_leader_health_view *view)
{
    if (view->unanswered == 0)
        return;
    sotto_health_say_number(out, "jobs: ", view->unanswered, " wait for another try");
    sotto_health_say(out, view->retry[0] ? ", the last since: " : "");
    sotto_health_say(out, view->retry);
    sotto_health_say(out, "\n");
}

/* Rounded down: minutes, then hours, then days. */
static void say_time(sotto_buf *out, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, " d"}, {3600, " h"}, {60, " min"}};
    size_t i = 0;

    while (i < 2 && seconds < 2 * units[i].seconds)
        i++;
    sotto_health_say_number(out, "", (uint64_t)(seconds / units[i].seconds), units[i].name);
}

static void say_stalled(sotto_buf *out, const sotto_stalled *stalled)
{
    if (stalled->count == 0)
        return;
    sotto_health_say_number(out, "collections: ", stalled->count,
                            " asked for, not answered; the oldest, ");
    say_time(out, stalled->seconds);
    sotto_health_say(out, " ago, of task ");
    sotto_health_say(out, stalled->task);
    sotto_health_say(out, ": ");
    sotto_health_say(out, stalled->why);
    sotto_health_say(out, "\n");
}

void sotto_leader_health_describe(const sotto_leader_health_view *view, sotto_buf *out)
{
    say_unanswered(out, view);
    say_stalled(out, &view->stalled);
    if (view->unreadable > 0)
        sotto_health_say_number(
            out, "segments: ", view->unreadable,
            " can't be read, and their batches wait (`sotto admin segment list`)\n");
}

void sotto_leader_health_metrics(sotto_writer *w, sotto_leader *leader)
{
    sotto_leader_health_view view;

    (void)sotto_last_seen_look(leader->health, &view);
    sotto_metric_one(w, "sotto_reports_waiting", "gauge",
                     "Reports that wait here to be put into a job.",
                     sotto_lanes_reports(leader->lanes));
    sotto_metric_one(w, "sotto_jobs_unanswered", "gauge",
                     "Jobs that were tried without success and wait for another try, as stored.",
                     view.unanswered);
    sotto_metric_one(w, "sotto_reports_in_jobs", "gauge",
                     "Reports in jobs that are not finished, as stored.", view.in_jobs);
    sotto_metric_one(
        w, "sotto_collection_oldest_seconds", "gauge",
        "How long the oldest collection without an answer has waited; 0 below a minute.",
        (uint64_t)view.stalled.seconds);
    sotto_metric_one(
        w, "sotto_segments_unreadable", "gauge",
        "Pieces of what was acknowledged that can't be read back, and keep their batch "
        "waiting.",
        view.unreadable);
}
