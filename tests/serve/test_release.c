/* Which batches may be asked for at all. */
#include "support/test.h"

#include "serve/release.h"

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
    task = task_of(3600, 600); /* one bucket is longer than that: it is the least there is */
    CHECK(t, allows(&task, 100, 1, &problem));
    CHECK(t, !allows(&task, 100, 2, &problem));
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

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_batch_spans_no_more_than_the_collection_length),
        CASE(without_a_collection_length_any_interval_will_do),
        CASE(a_batch_is_asked_for_in_its_tasks_mode),
    };

    return RUN_TESTS(argc, argv, cases);
}
