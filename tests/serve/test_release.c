/* Which batches may be asked for at all; and that closing one and adding to it exclude each other. */
#define _POSIX_C_SOURCE 200809L
#include "support/database.h"

#include "serve/tasks/release.h"
#include "serve/tasks/schema.h"

#include <stdatomic.h>

static sotto_server_task task_of(uint64_t precision, uint64_t collection_seconds)
{
    sotto_server_task task = {.collection_seconds = collection_seconds};

    task.dap.batch_mode = SOTTO_DAP_TIME_INTERVAL;
    task.dap.precision = precision;
    return task;
}

static bool allows(const sotto_server_task *task, uint64_t start, uint64_t duration,
                   sotto_dap_problem *problem)
{
    sotto_dap_batch_selector selector = {.mode = SOTTO_DAP_TIME_INTERVAL,
                                         .interval = {start, duration}};
    sotto_batch_range range;

    return sotto_release_range(&range, problem, task, &selector);
}

static void a_batch_spans_no_more_than_the_collection_length(sotto_test *t)
{
    sotto_server_task task = task_of(60, 600);
    sotto_dap_problem problem;

    CHECK(t, allows(&task, 100, 10, &problem));
    CHECK(t, !allows(&task, 100, 11, &problem));
    CHECK_EQUAL(t, SOTTO_DAP_BATCH_INVALID, problem);
    /* Slots follow each other from their start: none is touched by a batch of two. */
    CHECK(t, allows(&task, 105, 5, &problem));
    CHECK(t, !allows(&task, 105, 6, &problem));
    CHECK(t, !allows(&task, 95, 10, &problem));
    task.collection_start = 300;
    CHECK(t, allows(&task, 95, 10, &problem));
    CHECK(t, !allows(&task, 100, 10, &problem));
    task = task_of(3600, 600); /* one bucket is longer than that; no such recipe is read */
    CHECK(t, !allows(&task, 100, 1, &problem));
}

static void without_a_collection_length_any_interval_will_do(sotto_test *t)
{
    sotto_server_task task = task_of(60, 0);
    sotto_dap_problem problem;

    CHECK(t, allows(&task, 0, 1000000, &problem));
    CHECK(t, !allows(&task, 0, 0, &problem));
    CHECK(t, !allows(&task, UINT64_MAX, 2, &problem));
    CHECK(t, !allows(&task, INT64_MAX, 2, &problem));
}

static void a_batch_is_asked_for_in_its_tasks_mode(sotto_test *t)
{
    sotto_server_task task = task_of(60, 0);
    sotto_dap_problem problem;

    task.dap.batch_mode = SOTTO_DAP_LEADER_SELECTED;
    CHECK(t, !allows(&task, 0, 1, &problem));
    CHECK_EQUAL(t, SOTTO_DAP_INVALID_MESSAGE, problem);
}

/* ---- adding and closing --------------------------------------------------------------------------------------------- */

typedef struct adder {
    int64_t task;
    bool waits;       /* after the lock was got: until it may go, but not for ever */
    unsigned hold_ms; /* ... and then so long */
    atomic_bool inside, go, wrote, told;
} adder;

/* As an upload does: takes the lock, looks, and writes a while later. */
static sotto_status add(sotto_tx *tx, void *context, sotto_err *err)
{
    adder *a = context;
    sotto_sql q;

    SOTTO_TRY(sotto_release_lock(tx, a->task, false, err));
    atomic_store(&a->inside, true);
    for (uint64_t until = 0; a->waits && !atomic_load(&a->go) && sotto_test_waits(&until, 1);)
        ;
    sotto_test_pause_ms(a->hold_ms);
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "INSERT INTO retired (task, since) VALUES (?1, 0)", err));
    sotto_sql_int(&q, 1, a->task);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    atomic_store(&a->wrote, true);
    return SOTTO_OK;
}

static void on_added(void *context, sotto_status status, const sotto_err *err)
{
    adder *a = context;

    (void)status;
    (void)err;
    atomic_store(&a->told, true);
}

typedef struct closer {
    int64_t task;
    int64_t found; /* what the adder wrote */
} closer;

static sotto_status close_it(sotto_tx *tx, void *context, sotto_err *err)
{
    closer *c = context;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_release_lock(tx, c->task, true, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT count(*) FROM retired WHERE task = ?1", err));
    sotto_sql_int(&q, 1, c->task);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    c->found = row ? sotto_sql_column_int(&q, 0) : -1;
    return sotto_sql_run(&q, NULL, err);
}

static void wait_for(const atomic_bool *flag)
{
    while (!atomic_load(flag))
        sotto_test_pause_ms(1);
}

/* Two processes, as far as the database can tell. */
static void closing_waits_for_those_who_add_and_sees_what_they_added(sotto_test *t)
{
    const char *address = sotto_test_address(t);
    sotto_db *one = sotto_test_db_at(t, address), *other = sotto_test_db_at(t, address);
    adder slow = {.task = 5, .waits = true, .hold_ms = 400}, quick = {.task = 5 + 64};
    sotto_db_job job = {.fn = add, .context = &slow, .done = on_added, .done_context = &slow};
    closer c = {.task = 5};

    CHECK_OK(t, sotto_db_migrate(one, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    sotto_db_post(one, &job);
    wait_for(&slow.inside);
    if (sotto_test_on_postgres()) { /* those who add don't wait for each other, even where they share a lock */
        CHECK_OK(t, sotto_db_run(other, add, &quick, &t->err));
        CHECK(t, !atomic_load(&slow.wrote));
    }
    atomic_store(&slow.go, true);
    CHECK_OK(t, sotto_db_run(other, close_it, &c, &t->err));
    CHECK_EQUAL(t, 1, c.found);
    wait_for(&slow.told);
    sotto_db_close(one);
    sotto_db_close(other);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_batch_spans_no_more_than_the_collection_length),
        CASE(without_a_collection_length_any_interval_will_do),
        CASE(a_batch_is_asked_for_in_its_tasks_mode),
        CASE(closing_waits_for_those_who_add_and_sees_what_they_added),
    };

    return RUN_TESTS(argc, argv, cases);
}
