/* Leaders over PostgreSQL whose bodies stand in a directory of all replicas. */
#define _GNU_SOURCE
#include "db/spool_shared.h"
#include "serve/leader/leader.h"
#include "serve/leader/segments.h"
#include "support/database.h"
#include "support/steps.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONG_MS = 60000 }; /* nothing leaves before a collection asks for it */

static void open_sharing(sotto_test *t, sotto_test_service *s)
{
    const char *directory = sotto_test_temp(t, "bodies");

    CHECK_EQUAL(t, 0, mkdir(directory, 0700));
    sotto_test_service_open(t, s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    s->leader_options.tasks.bodies = directory;
    sotto_test_leader_restart(t, s);
}

static void check_rows(sotto_test *t, const sotto_test_service *s, int64_t wanted)
{
    CHECK_EQUAL(t, wanted,
                sotto_test_ask_number(t, s->leader->db,
                                      "SELECT count(*) FROM segment_body WHERE length(body) = 24"));
}

static void bodies_outlive_a_restart(sotto_test *t)
{
    sotto_test_service s;

    open_sharing(t, &s);
    sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    check_rows(t, &s, 1);
    sotto_test_helper_stop(t, &s); /* so that no job ends */
    sotto_test_leader_restart(t, &s);
    sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    check_rows(t, &s, 2);
    sotto_test_helper_start(t, &s);
    sotto_test_check_sum(t, &s, 200);
    check_rows(t, &s, 0);
    sotto_test_service_close(&s);
}

static void bodies_are_read_back_where_memory_is_short(sotto_test *t)
{
    sotto_test_service s;

    open_sharing(t, &s);
    atomic_fetch_add(&sotto_leader_of(s.leader)->cached_bytes, (size_t)1 << 40);
    for (int i = 0; i < 3; i++)
        sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    check_rows(t, &s, 3);
    sotto_test_check_sum(t, &s, 300);
    sotto_test_service_close(&s);
}

/* The process that formed a job is gone while the helper was away. In between comes one that does not find the request. */
static void a_job_goes_on_with_the_request_that_another_stored(sotto_test *t)
{
    sotto_test_service s;
    const char *directory;

    open_sharing(t, &s);
    sotto_test_helper_stop(t, &s);
    sotto_test_upload_some(t, &s, 300, 1, SOTTO_TEST_SOUND);
    sotto_test_want(t, &s);
    sotto_test_await(t, s.leader->db,
                     "SELECT count(*) FROM job WHERE state = 1 AND length(request) = 24", 1);
    directory = s.leader_options.tasks.bodies;
    s.leader_options.tasks.bodies = NULL;
    sotto_test_leader_restart(t, &s);
    sotto_test_await(
        t, s.leader->db,
        "SELECT count(*) FROM segment WHERE unreadable LIKE 'its request%option bodies%'", 1);
    s.leader_options.tasks.bodies = directory;
    sotto_test_leader_restart(t, &s);
    sotto_test_helper_start(t, &s);
    sotto_test_check_sum(t, &s, 300);
    check_rows(t, &s, 0);
    sotto_test_service_close(&s);
}

/* An operator forgot the option. Reports wait, and nothing is lost. */
static void without_the_directory_bodies_wait(sotto_test *t)
{
    sotto_test_service s;
    const char *directory;

    open_sharing(t, &s);
    directory = s.leader_options.tasks.bodies;
    sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    s.leader_options.tasks.bodies = NULL;
    sotto_test_leader_restart(t, &s);
    sotto_test_want(t, &s);
    sotto_test_await(t, s.leader->db,
                     "SELECT count(*) FROM segment WHERE unreadable LIKE '%option bodies%'", 1);
    s.leader_options.tasks.bodies = directory;
    sotto_test_leader_restart(t, &s);
    sotto_test_check_sum(t, &s, 100);
    sotto_test_service_close(&s);
}

static sotto_status read_place(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT body FROM segment_body WHERE length(body) = 24", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "no place");
    SOTTO_TRY(sotto_spool_place_read(context, sotto_sql_column_bytes(&q, 0), err));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_spool_place take_place(sotto_test *t, sotto_test_service *s)
{
    sotto_spool_place place = {0};

    sotto_test_upload_some(t, s, 100, 1, SOTTO_TEST_SOUND);
    CHECK_OK(t, sotto_db_read(s->leader->db, read_place, &place, &t->err));
    sotto_test_do(t, s->leader->db, "DELETE FROM segment_body");
    return place;
}

/* PostgreSQL may commit it when a connection that was lost delivers what was on its way. */
static void what_a_failed_commit_named_is_never_used_again(sotto_test *t)
{
    sotto_test_service s;

    open_sharing(t, &s);
    sotto_test_do(t, s.leader->db, "ALTER TABLE segment_key RENAME TO away");
    CHECK_EQUAL(t, 500,
                sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 100, 1, SOTTO_TEST_SOUND))
                    .status);
    sotto_test_do(t, s.leader->db, "ALTER TABLE away RENAME TO segment_key");
    for (int i = 0; i < 3; i++)
        CHECK(t, take_place(t, &s).block > 0);
    sotto_test_service_close(&s);
}

/* A lane tries again for as long as PostgreSQL refuses, each time with another place. */
static void requests_whose_commit_failed_have_a_bound(sotto_test *t)
{
    sotto_test_service s;
    atomic_size_t *in_doubt;

    open_sharing(t, &s);
    in_doubt = &sotto_leader_of(s.leader)->in_doubt_bytes;
    sotto_test_helper_stop(t, &s);
    sotto_test_do(t, s.leader->db, "ALTER TABLE job ADD CONSTRAINT none_now CHECK (n IS NULL)");
    sotto_test_upload_some(t, &s, 300, 1, SOTTO_TEST_SOUND);
    CHECK_EQUAL(t, 0, atomic_load(in_doubt));
    sotto_test_want(t, &s);
    for (uint64_t until = 0; atomic_load(in_doubt) == 0 && sotto_test_waits(&until, 20);)
        ;
    CHECK(t, atomic_load(in_doubt) >= SOTTO_SPOOL_LEAST);
    atomic_fetch_add(in_doubt, (size_t)256 << 20);
    sotto_test_do(t, s.leader->db, "ALTER TABLE job DROP CONSTRAINT none_now");
    sotto_test_await(t, s.leader->db,
                     "SELECT count(*) FROM job WHERE state = 1 AND length(request) > 24", 1);
    sotto_test_helper_start(t, &s);
    sotto_test_check_sum(t, &s, 300);
    sotto_test_service_close(&s);
}

static size_t files_in(sotto_test *t, const char *directory)
{
    DIR *all = opendir(directory);
    struct dirent *entry;
    size_t count = 0;

    CHECK(t, all);
    while ((entry = readdir(all)))
        count += strncmp(entry->d_name, "bodies-", 7) == 0;
    (void)closedir(all);
    return count;
}

static void make_old(sotto_test *t, const char *directory, uint64_t file)
{
    const struct timespec long_ago[2] = {{1000000000, 0}, {1000000000, 0}};
    char path[SOTTO_SPOOL_PATH];

    CHECK_OK(t, sotto_spool_shared_path(path, directory, file, &t->err));
    CHECK_EQUAL(t, 0, utimensat(AT_FDCWD, path, long_ago, 0));
}

/* While rows name the file of a process that is gone it stays; the next start after that removes it. */
static void a_file_goes_when_no_row_names_it(sotto_test *t)
{
    sotto_test_service s;
    uint64_t first;

    open_sharing(t, &s);
    first = (uint64_t)s.leader->instance;
    sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    sotto_test_leader_restart(t, &s);
    make_old(t, s.leader_options.tasks.bodies, first);
    sotto_test_leader_restart(t, &s);
    CHECK_EQUAL(t, 2, files_in(t, s.leader_options.tasks.bodies));
    sotto_test_check_sum(t, &s, 100);
    sotto_test_leader_restart(t, &s);
    CHECK_EQUAL(t, 1, files_in(t, s.leader_options.tasks.bodies));
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(bodies_outlive_a_restart),
        CASE(bodies_are_read_back_where_memory_is_short),
        CASE(a_job_goes_on_with_the_request_that_another_stored),
        CASE(without_the_directory_bodies_wait),
        CASE(what_a_failed_commit_named_is_never_used_again),
        CASE(requests_whose_commit_failed_have_a_bound),
        CASE(a_file_goes_when_no_row_names_it),
    };

    return RUN_TESTS(argc, argv, cases);
}
