/* When a server looks for tasks that another process added. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "serve/tasks/schema.h"
#include "serve/tasks/server.h"
#include "serve/tasks/tasks_internal.h"
#include "support/database.h"

static const sotto_column_keys columns = {.count = 1, .key = {{7}}};
static const uint8_t unknown[SOTTO_TASK_ID_SIZE] = {1};

/* A server's tasks, of which there are none. */
static sotto_tasks *begin(sotto_test *t, sotto_db **db)
{
    sotto_tasks *tasks = NULL;

    *db = sotto_test_db_at(t, sotto_test_address(t));
    CHECK_OK(t, sotto_db_migrate(*db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    CHECK_OK(t, sotto_tasks_open(&tasks, *db, &columns, SOTTO_LEADER, NULL, &t->err));
    return tasks;
}

static void end(sotto_tasks *tasks, sotto_db *db)
{
    sotto_tasks_close(tasks);
    sotto_db_close(db);
}

static void a_task_that_is_asked_for_is_looked_for(sotto_test *t)
{
    sotto_db *db;
    sotto_tasks *tasks = begin(t, &db);
    const uint64_t before = sotto_db_woken(db, SOTTO_TASKS_CHANNEL);

    CHECK(t, !sotto_tasks_find(tasks, unknown));
    CHECK(t, sotto_db_woken(db, SOTTO_TASKS_CHANNEL) > before);
    end(tasks, db);
}

/* Looks are transactions, and made-up tasks cost a stranger nothing. */
static void made_up_tasks_cost_few_looks(sotto_test *t)
{
    enum { TIMES = 20000, APART_MS = 50 };
    sotto_db *db;
    sotto_tasks *tasks = begin(t, &db);
    const uint64_t before = sotto_db_woken(db, SOTTO_TASKS_CHANNEL), start = sotto_clock_ms();

    for (unsigned i = 0; i < TIMES; i++)
        CHECK(t, !sotto_tasks_find(tasks, unknown));
    const uint64_t woken = sotto_db_woken(db, SOTTO_TASKS_CHANNEL) - before;
    CHECK(t, woken <= 1 + (sotto_clock_ms() - start) / APART_MS + 1);
    end(tasks, db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_task_that_is_asked_for_is_looked_for),
        CASE(made_up_tasks_cost_few_looks),
    };
    return RUN_TESTS(argc, argv, cases);
}
