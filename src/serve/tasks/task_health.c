#include "serve/tasks/task_health.h"

#include "base/alloc.h"
#include "serve/host/health.h"
#include "serve/tasks/rate.h"

#include <pthread.h>

enum { RELEASES_EVERY = 10 };

struct sotto_task_health {
    pthread_mutex_t lock;
    sotto_task_health_view view;
    unsigned looks; /* by the thread that reads alone */
};

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
    sotto_task_health *health = server->health;
    sotto_task_health_view view = health->view; /* nobody else writes it */
    uint64_t known;

    SOTTO_TRY(count_tasks(tx, server->role, &view, err));
    SOTTO_TRY(sotto_rate_count(tx, &view.held, server->role, err));
    if (health->looks % RELEASES_EVERY == 0)
        SOTTO_TRY(count_releases(tx, &view, err));
    health->looks++;
    view.broken = sotto_tasks_broken(server->tasks);
    known = sotto_tasks_count(server->tasks) + view.broken;
    view.unpaired = view.tasks > known ? view.tasks - known : 0;
    (void)pthread_mutex_lock(&health->lock);
    health->view = view;
    (void)pthread_mutex_unlock(&health->lock);
    return SOTTO_OK;
}

void sotto_task_health_look(sotto_task_health *health, sotto_task_health_view *view)
{
    (void)pthread_mutex_lock(&health->lock);
    *view = health->view;
    (void)pthread_mutex_unlock(&health->lock);
}

sotto_status sotto_task_health_new(sotto_task_health **out, sotto_err *err)
{
    *out = sotto_alloc(sizeof **out);
    if (!*out)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a server's health");
    (void)pthread_mutex_init(&(*out)->lock, NULL);
    return SOTTO_OK;
}

void sotto_task_health_free(sotto_task_health *health)
{
    if (!health)
        return;
    (void)pthread_mutex_destroy(&health->lock);
    sotto_release(health, sizeof *health);
}

/* ---- in words --------------------------------------------------------------------------------------------------------- */

void sotto_task_health_describe(const sotto_task_health_view *view, sotto_buf *out)
{
    if (view->tasks == 0)
        sotto_health_say(out, "tasks: none yet; `sotto admin task add` makes one\n");
    if (view->unpaired > 0)
        sotto_health_say_number(out, "pairing: ", view->unpaired,
                                " tasks wait for `sotto admin pair take`\n");
    if (view->broken > 0)
        sotto_health_say_number(
            out, "tasks: ", view->broken,
            " can't be read, or do not go with their pairing, and are not served: the log"
            " says why\n");
    if (view->without_population > 0)
        sotto_health_say_number(
            out, "rate check: off for ", view->without_population,
            " tasks without a population (`sotto admin task add --population N`)\n");
    if (view->held > 0)
        sotto_health_say_number(
            out, "batches: ", view->held,
            " are held, since more reports came than expected (`sotto admin batch list`)\n");
}
