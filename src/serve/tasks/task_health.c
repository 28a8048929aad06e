#include "serve/tasks/task_health.h"

#include "recipe/calendar.h"
#include "serve/host/health.h"
#include "serve/tasks/rate.h"

enum { RELEASES_EVERY = 10 };

static sotto_status count_tasks(sotto_tx *tx, sotto_role role, sotto_task_health_view *view,
                                sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "SELECT count(*), CAST(coalesce(sum(CASE WHEN coalesce(population, 0)"
                          " = 0 THEN 1 ELSE 0 END), 0) AS BIGINT) FROM task WHERE role = ?1"
                          " AND n NOT IN (SELECT task FROM retired)",
                          err));
    sotto_sql_int(&q, 1, (int64_t)role);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    view->tasks = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    view->without_population = row ? (uint64_t)sotto_sql_column_int(&q, 1) : 0;
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status count_releases(sotto_tx *tx, sotto_task_health_view *view, sotto_err *err)
{
    sotto_sql q;
    bool row;

    for (unsigned i = 0; i < SOTTO_RELEASE_STATES; i++)
        view->releases[i] = 0;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT state, count(*) FROM release GROUP BY state", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        uint64_t state = (uint64_t)sotto_sql_column_int(&q, 0);

        if (state < SOTTO_RELEASE_STATES)
            view->releases[state] = (uint64_t)sotto_sql_column_int(&q, 1);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_task_health_read(sotto_tx *tx, sotto_server *server, sotto_err *err)
{
    sotto_task_health_view view;
    unsigned looks = sotto_last_seen_look(server->health, &view);
    uint64_t known;

    SOTTO_TRY(count_tasks(tx, server->role, &view, err));
    SOTTO_TRY(sotto_rate_count(tx, &view.held, server->role, err));
    if (looks % RELEASES_EVERY == 0)
        SOTTO_TRY(count_releases(tx, &view, err));
    view.keys = sotto_keys_known_until(server->keys, sotto_host_seconds(server->host));
    view.broken = sotto_tasks_broken(server->tasks);
    known = sotto_tasks_count(server->tasks) + view.broken;
    view.unpaired = view.tasks > known ? view.tasks - known : 0;
    sotto_last_seen_put(server->health, &view);
    return SOTTO_OK;
}

/* ---- in words --------------------------------------------------------------------------------------------------------- */

static void describe_keys(const sotto_keys_known *keys, sotto_buf *out)
{
    char until[SOTTO_CALENDAR_TEXT];

    if (!keys->soon)
        return;
    sotto_calendar_format_time(until, keys->until);
    sotto_health_say(out, "parties files: good until ");
    sotto_health_say(out, until);
    sotto_health_say_number(
        out, ", when HPKE key ", keys->next,
        " comes into use, which no task's file names: publish a file with `sotto admin keys"
        " export --json`\n");
}

void sotto_task_health_describe(const sotto_task_health_view *view, sotto_buf *out)
{
    if (view->tasks == 0)
        sotto_health_say(out, "tasks: none yet; `sotto admin task add` makes one\n");
    if (view->unpaired > 0)
        sotto_health_say_number(out, "pairing: ", view->unpaired,
                                view->unpaired == 1 ? " task waits for `sotto admin pair take`\n"
                                                    : " tasks wait for `sotto admin pair take`\n");
    if (view->broken > 0)
        sotto_health_say_number(
            out, "tasks: ", view->broken,
            view->broken == 1
                ? " can't be read, or does not go with its pairing, and is not served:"
                  " the log says why\n"
                : " can't be read, or do not go with their pairing, and are not served:"
                  " the log says why\n");
    if (view->without_population > 0)
        sotto_health_say_number(
            out, "rate check: off for ", view->without_population,
            view->without_population == 1
                ? " task without a population (`sotto admin task add --population N`)\n"
                : " tasks without a population (`sotto admin task add --population N`)\n");
    describe_keys(&view->keys, out);
    if (view->held > 0)
        sotto_health_say_number(
            out, "batches: ", view->held,
            view->held == 1
                ? " is held, since more reports came than expected (`sotto admin batch list`)\n"
                : " are held, since more reports came than expected (`sotto admin batch list`)\n");
}
