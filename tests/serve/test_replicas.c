/* Two leaders over one PostgreSQL: what one of them is asked for may be with the other. */
#include "support/database.h"
#include "support/steps.h"

#include "db/store.h"

#define JOBS_DONE "SELECT count(*) FROM job WHERE state = 2"

/* A second leader over the database of the first, whose reports wait in its lanes until they are sent for. */
static sotto_server *open_two(sotto_test *t, sotto_test_service *s)
{
    sotto_server_options options;
    sotto_server *second = NULL;

    sotto_test_service_open(
        t, s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 1000});
    s->leader_options.host.lease_seconds = 600; /* nor does the other take them over */
    sotto_test_leader_restart(t, s);
    options = s->leader_options;
    options.host.listen = "127.0.0.1:0";
    CHECK_OK(t, sotto_server_open(&second, &options, &t->err));
    return second;
}

static void a_collection_at_one_replica_has_what_waits_in_another(sotto_test *t)
{
    sotto_test_service s;
    sotto_server *first, *second;
    uint64_t reports = 0, counts[16] = {0};

    if (!sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "SQLite has one leader");
    second = open_two(t, &s);
    sotto_test_upload_some(t, &s, 25, 1, SOTTO_TEST_SOUND);
    first = s.leader;
    s.leader = second;
    s.patience = 600;
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    s.leader = first;
    CHECK_EQUAL(t, 25, reports);
    CHECK_EQUAL(t, 25, counts[1]);
    sotto_server_close(second);
    sotto_test_service_close(&s);
}

/* A hundred that nobody works on were asked for before the one that these reports are in. */
static void collections_that_wait_for_ever_hide_none_that_came_later(sotto_test *t)
{
    sotto_test_service s;

    if (!sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "SQLite has one leader");
    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 1000});
    sotto_test_upload_some(t, &s, 25, 1, SOTTO_TEST_SOUND);
    sotto_test_do(t, s.leader->db,
                  "INSERT INTO release (n, task, id, state, first_bucket, end_bucket, batch, query,"
                  " reports, added) SELECT i, (SELECT min(n) FROM task), int8send(i), 1, 1,"
                  " CASE WHEN i > 100 THEN 9000000000 ELSE 2 END, '', '', 0, i"
                  " FROM generate_series(CAST(1 AS BIGINT), 101) i");
    sotto_test_await(t, s.leader->db, JOBS_DONE, 1);
    sotto_test_service_close(&s);
}

static void a_job_that_ends_is_told_to_every_replica(sotto_test *t)
{
    sotto_test_service s;
    sotto_server *second;
    uint64_t seen;

    if (!sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "SQLite has one leader");
    second = open_two(t, &s);
    s.leader_options.tasks.job_delay_ms = 5;
    sotto_test_leader_restart(t, &s);
    seen = sotto_db_woken(second->db, "jobs");
    sotto_test_upload_some(t, &s, 25, 1, SOTTO_TEST_SOUND);
    sotto_test_await(t, s.leader->db, JOBS_DONE, 1);
    CHECK(t, sotto_db_wait(second->db, "jobs", seen, 10000));
    sotto_server_close(second);
    sotto_test_service_close(&s);
}

/* A collector may wait at another replica than the one that asks the helper. */
static void a_collection_that_ends_is_told_to_every_replica(sotto_test *t)
{
    sotto_test_service s;
    sotto_server *second;
    uint64_t reports = 0, counts[16] = {0}, seen;

    if (!sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "SQLite has one leader");
    second = open_two(t, &s);
    sotto_test_upload_some(t, &s, 25, 1, SOTTO_TEST_SOUND);
    seen = sotto_db_woken(second->db, "collections");
    s.patience = 600;
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK(t, sotto_db_wait(second->db, "collections", seen, 10000));
    sotto_server_close(second);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_collection_at_one_replica_has_what_waits_in_another),
        CASE(collections_that_wait_for_ever_hide_none_that_came_later),
        CASE(a_job_that_ends_is_told_to_every_replica),
        CASE(a_collection_that_ends_is_told_to_every_replica),
    };

    return RUN_TESTS(argc, argv, cases);
}
