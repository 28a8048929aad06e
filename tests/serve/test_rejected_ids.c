#include "serve/leader/rejected_ids.h"

#include "dap/report.h"
#include "serve/tasks/schema.h"
#include "sim/random.h"
#include "support/database.h"

#include <string.h>

enum { IDS = 2000, AT_ONCE = 4, TASK = 7 };

typedef struct note {
    const uint8_t *ids[IDS];
    size_t count;
    int64_t task;
    unsigned cause;
    uint64_t fresh;
} note;

static sotto_status run_note(sotto_tx *tx, void *context, sotto_err *err)
{
    note *n = context;

    return sotto_rejected_ids_note(tx, n->task, n->cause, n->ids, n->count, &n->fresh, err);
}

static uint8_t ids[IDS][SOTTO_REPORT_ID_SIZE];

static sotto_db *open_empty(sotto_test *t)
{
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));
    sotto_sim_random random;

    CHECK_OK(t, sotto_db_migrate(db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    sotto_sim_random_init(&random, 11);
    for (size_t i = 0; i < IDS; i++)
        for (size_t k = 0; k < SOTTO_REPORT_ID_SIZE; k++)
            ids[i][k] = (uint8_t)sotto_sim_random_below(&random, 256);
    return db;
}

static uint64_t fresh(sotto_test *t, sotto_db *db, int64_t task, unsigned cause, size_t first,
                      size_t count)
{
    static note n; /* large */

    n.task = task;
    n.cause = cause;
    n.count = count;
    for (size_t i = 0; i < count; i++)
        n.ids[i] = ids[(first + i) % IDS];
    CHECK_OK(t, sotto_db_run(db, run_note, &n, &t->err));
    return n.fresh;
}

/* Numbers of rows around those that go together in one statement. */
static void a_note_is_new_once_for_each_task_report_and_cause(sotto_test *t)
{
    sotto_db *db = open_empty(t);

    CHECK_EQUAL(t, 1, fresh(t, db, TASK, 4, 0, 1));
    CHECK_EQUAL(t, 0, fresh(t, db, TASK, 4, 0, 1));
    CHECK_EQUAL(t, 72, fresh(t, db, TASK, 4, 0, 73));
    CHECK_EQUAL(t, IDS - 73, fresh(t, db, TASK, 4, 0, IDS));
    CHECK_EQUAL(t, 0, fresh(t, db, TASK, 4, 0, IDS));
    CHECK_EQUAL(t, 9, fresh(t, db, TASK, 2, 0, 9));
    CHECK_EQUAL(t, 9, fresh(t, db, TASK + 1, 4, 0, 9));
    CHECK_EQUAL(t, IDS + 18, sotto_test_ask_number(t, db, "SELECT count(*) FROM refused"));
    sotto_db_close(db);
}

static void of_two_alike_in_one_call_one_is_new(sotto_test *t)
{
    sotto_db *db = open_empty(t);
    note n = {.count = 200, .task = TASK, .cause = 4};

    for (size_t i = 0; i < n.count; i++)
        n.ids[i] = ids[i % 70];
    CHECK_OK(t, sotto_db_run(db, run_note, &n, &t->err));
    CHECK_EQUAL(t, 70, n.fresh);
    sotto_db_close(db);
}

/* What the next test sees in PostgreSQL alone. */
static void notes_are_made_in_one_order(sotto_test *t)
{
    sotto_db *db = open_empty(t);
    static note n; /* large */

    n = (note){.count = IDS, .task = TASK, .cause = 4};
    for (size_t i = 0; i < IDS; i++)
        n.ids[i] = ids[i];
    CHECK_OK(t, sotto_db_run(db, run_note, &n, &t->err));
    CHECK_EQUAL(t, IDS, n.fresh);
    for (size_t i = 1; i < IDS; i++)
        CHECK(t, memcmp(n.ids[i - 1], n.ids[i], SOTTO_REPORT_ID_SIZE) < 0);
    sotto_db_close(db);
}

/* As replicas do when clients come to another one with what they did not hear the answer to. In their own orders each would
 * wait for a note of the other, and PostgreSQL would let them wait a second before it makes one of them begin again. */
static void the_same_reports_at_once_count_once_and_nobody_waits_in_a_circle(sotto_test *t)
{
    static note notes[AT_ONCE]; /* large */
    sotto_db_job jobs[AT_ONCE];
    sotto_db *db = open_empty(t);
    sotto_db_stats stats;
    uint64_t sum = 0;

    for (size_t j = 0; j < AT_ONCE; j++) {
        notes[j] = (note){.count = IDS, .task = TASK, .cause = 2};
        for (size_t i = 0; i < IDS; i++)
            notes[j].ids[i] = ids[j % 2 ? IDS - 1 - i : (i + j * IDS / AT_ONCE) % IDS];
        jobs[j] = (sotto_db_job){.fn = run_note, .context = &notes[j]};
    }
    CHECK_OK(t, sotto_test_run_at_once(db, jobs, AT_ONCE));
    for (size_t j = 0; j < AT_ONCE; j++)
        sum += notes[j].fresh;
    CHECK_EQUAL(t, IDS, sum);
    sotto_db_stats_get(db, &stats);
    CHECK_EQUAL(t, 0, stats.retries);
    sotto_db_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_note_is_new_once_for_each_task_report_and_cause),
        CASE(of_two_alike_in_one_call_one_is_new),
        CASE(notes_are_made_in_one_order),
        CASE(the_same_reports_at_once_count_once_and_nobody_waits_in_a_circle),
    };

    return RUN_TESTS(argc, argv, cases);
}
