/* What waits beside the database outlives a restart, and is in its backup. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "serve/leader/backup.h"
#include "serve/leader/leader.h"
#include "serve/leader/unreadable.h"
#include "support/database.h"
#include "support/steps.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONG_MS = 60000 }; /* nothing leaves before a collection asks for it */

/* Large enough for the spool, where there is one. */
static void check_spooled(sotto_test *t, const sotto_test_service *s, int64_t wanted)
{
    if (!sotto_leader_of(s->leader)->spool)
        return;
    CHECK_EQUAL(t, wanted,
                sotto_test_ask_number(t, s->leader->db,
                                      "SELECT count(*) FROM segment_body WHERE length(body) = 16"));
}

/* A place that a row names is not given away after a restart: the second upload would be written over the first. */
static void bodies_outlive_a_restart(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    check_spooled(t, &s, 1);
    sotto_test_helper_stop(t, &s); /* so that no job ends */
    sotto_test_leader_restart(t, &s);
    sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    check_spooled(t, &s, 2);
    sotto_test_helper_start(t, &s);
    sotto_test_check_sum(t, &s, 200);
    sotto_test_service_close(&s);
}

/* A leader that has too much in memory reads bodies back: here all of it. */
static void bodies_are_read_back_where_memory_is_short(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    atomic_fetch_add(&sotto_leader_of(s.leader)->cached_bytes, (size_t)1 << 40);
    for (int i = 0; i < 3; i++)
        sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    sotto_test_check_sum(t, &s, 300);
    sotto_test_service_close(&s);
}

typedef struct gaps {
    uint64_t segments, reports;
} gaps;

static void count_gap(void *context, int64_t segment, uint64_t reports, const char *why)
{
    gaps *g = context;

    g->segments += segment > 0 && why[0];
    g->reports += reports;
}

static sotto_status back_up(sotto_test *t, const sotto_test_service *s, const char *path, gaps *g)
{
    *g = (gaps){0};
    return sotto_server_backup(s->leader->db, s->leader_options.host.database, path, count_gap, g,
                               &t->err);
}

static void a_backup_has_the_bodies(sotto_test *t)
{
    sotto_test_service s;
    char address[300];
    const char *path = sotto_test_temp(t, "copy.db");
    gaps g;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    if (strcmp(sotto_db_kind(s.leader->db), "sqlite") != 0) {
        CHECK_STATUS(t, SOTTO_DENIED, back_up(t, &s, path, &g));
        sotto_test_service_close(&s);
        return;
    }
    /* In the leader's own process, whose lock this drops: nobody else is here. */
    CHECK_OK(t, back_up(t, &s, path, &g));
    CHECK_EQUAL(t, 0, g.segments);
    (void)snprintf(address, sizeof address, "sqlite:%s", path);
    s.leader_options.host.database = address;
    sotto_test_leader_restart(t, &s);
    check_spooled(t, &s, 0);
    sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    sotto_test_check_sum(t, &s, 200);
    sotto_test_service_close(&s);
}

static sotto_status read_place(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT body FROM segment_body b JOIN segment s ON s.n = b.segment"
                                " WHERE length(body) = 16 ORDER BY s.reports DESC",
                                err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "no place");
    SOTTO_TRY(sotto_spool_place_read(context, sotto_sql_column_bytes(&q, 0), err));
    return sotto_sql_run(&q, NULL, err);
}

static void say(sotto_test *t, const sotto_test_service *s, const char *sql)
{
    char text[200];

    (void)snprintf(text, sizeof text, "%s", sql);
    CHECK_OK(t, sotto_db_run(s->leader->db, sotto_test_say, text, &t->err));
}

/* The last body is cut off, and the row of another does not say where it is. */
static void damage_two(sotto_test *t, const sotto_test_service *s)
{
    char bodies[300];
    sotto_spool_place place;

    (void)snprintf(bodies, sizeof bodies, "%s-bodies",
                   s->leader_options.host.database + strlen("sqlite:"));
    CHECK_OK(t, sotto_db_read(s->leader->db, read_place, &place, &t->err));
    CHECK_EQUAL(t, 0, truncate(bodies, (off_t)(place.block * SOTTO_SPOOL_BLOCK)));
    say(t, s,
        "UPDATE segment_body SET body = X'ffffffffffffffffffffffffffffffff'"
        " WHERE segment = (SELECT n FROM segment WHERE reports = 150)");
}

static void give_up(sotto_test *t, const sotto_test_service *s, const char *which)
{
    sotto_giving_up g = {.segment = sotto_test_ask_number(t, s->leader->db, which),
                         .reason = "the disk lost it"};

    CHECK_OK(t, sotto_db_run(s->leader->db, sotto_unreadable_give_up, &g, &t->err));
}

/* What the disk lost keeps nobody from saving the rest, and is lost in the copy as visibly as in the original. */
static void a_backup_without_some_bodies_says_which(sotto_test *t)
{
    sotto_test_service s;
    char address[300];
    const char *path = sotto_test_temp(t, "copy.db");
    sotto_db *copy;
    gaps g;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    if (sotto_leader_of(s.leader)->spool) {
        for (size_t count = 100; count <= 200; count += 50)
            sotto_test_upload_some(t, &s, count, 1, SOTTO_TEST_SOUND);
        check_spooled(t, &s, 3);
        damage_two(t, &s);
        CHECK_OK(t, back_up(t, &s, path, &g));
        CHECK_EQUAL(t, 2, g.segments);
        CHECK_EQUAL(t, 350, g.reports);
        (void)snprintf(address, sizeof address, "sqlite:%s", path);
        /* Before a leader has it, who notes what it found itself. */
        copy = sotto_test_db_at(t, address);
        CHECK_EQUAL(t, 2,
                    sotto_test_ask_number(t, copy,
                                          "SELECT count(*) FROM segment WHERE unreadable LIKE"
                                          " 'not in the backup: %'"));
        sotto_db_close(copy);
        s.leader_options.host.database = address;
        sotto_test_leader_restart(t, &s);
        give_up(t, &s, "SELECT n FROM segment WHERE reports = 150");
        give_up(t, &s, "SELECT n FROM segment WHERE reports = 200");
        sotto_test_check_sum(t, &s, 100);
    }
    sotto_test_service_close(&s);
}

/* Nor does a file that can't be had at all make a copy without anything that waits. */
static void a_backup_without_any_bodies_is_none(sotto_test *t)
{
    sotto_test_service s;
    const char *path = sotto_test_temp(t, "copy.db");
    char bodies[300], away[310];
    gaps g;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    if (sotto_leader_of(s.leader)->spool) {
        sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
        (void)snprintf(bodies, sizeof bodies, "%s-bodies",
                       s.leader_options.host.database + strlen("sqlite:"));
        (void)snprintf(away, sizeof away, "%s.away", bodies);
        CHECK_EQUAL(t, 0, rename(bodies, away));
        CHECK_STATUS(t, SOTTO_IO, back_up(t, &s, path, &g));
        CHECK(t, access(path, F_OK) != 0);
        CHECK_EQUAL(t, 0, rename(away, bodies));
    }
    sotto_test_service_close(&s);
}

static void hear_abandoned(void *context, const sotto_log_event *event)
{
    if (strcmp(event->name, "job.abandoned") == 0 && event->count > 0 &&
        strcmp(event->fields[0].key, "reports") == 0)
        atomic_store((atomic_uint *)context, (unsigned)event->fields[0].value.uint);
}

/* While a copy was made, a job ended whose row is under way in it; the segments were left out. Once that copy is put
 * back, its reports are lost there, and counted. */
static void lose_segments(sotto_test *t, bool request_too)
{
    static const char *const gone[] = {"DELETE FROM segment_body", "DELETE FROM segment_key",
                                       "DELETE FROM segment"};
    atomic_uint told = 0;
    sotto_test_service s;

    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS, .job_reports = 100});
    sotto_test_helper_stop(t, &s);
    sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    sotto_test_await(t, s.leader->db, "SELECT count(*) FROM job WHERE state = 1", 1);
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        sotto_test_do(t, s.leader->db, gone[i]);
    if (request_too)
        sotto_test_do(t, s.leader->db,
                      "UPDATE job SET request = CAST('not what was sealed, and long enough to be'"
                      " AS {bytes})");
    s.leader_options.host.log = (sotto_log_sink){hear_abandoned, &told, SOTTO_LOG_INFO};
    sotto_test_leader_restart(
        t, &s); /* before the helper is back, since it still has them in memory */
    sotto_test_helper_start(t, &s);
    sotto_test_await(t, s.leader->db, "SELECT count(*) FROM job WHERE state > 1", 1);
    sotto_test_await(
        t, s.leader->db,
        "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM rejection WHERE cause = 128", 100);
    CHECK_EQUAL(t, 100, atomic_load(&told));
    sotto_test_service_close(&s);
}

/* So many buckets that a report of another leaves no row. */
static void crowd(sotto_test *t, const sotto_test_service *s)
{
    int64_t task = sotto_test_ask_number(t, s->leader->db, "SELECT n FROM task");

    for (uint64_t bucket = 1; bucket <= SOTTO_MAX_LANES; bucket++)
        CHECK_OK(t, sotto_lanes_add(sotto_leader_of(s->leader)->lanes, task, bucket,
                                    &(sotto_job_segment){(int64_t)bucket, 1, NULL, 0}, 1000,
                                    sotto_clock_ms()));
}

/* What failed may be found whole after a crash, for as long as nothing else was written behind it. */
static void a_job_without_its_segments_is_counted_as_lost(sotto_test *t)
{
    lose_segments(t, false);
}

/* Where its request does not open either, there is no segment that its operator could give up. */
static void a_job_without_anything_is_counted_as_lost(sotto_test *t)
{
    lose_segments(t, true);
}

static void a_commit_of_nothing_frees_no_place(sotto_test *t)
{
    static sotto_job_segments load;
    sotto_test_service s;
    sotto_spool_place place;
    uint64_t wait = 0;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    if (sotto_leader_of(s.leader)->spool) {
        sotto_test_do(t, s.leader->db,
                      "ALTER TABLE segment_key RENAME TO away"); /* its transaction fails */
        CHECK_EQUAL(
            t, 500,
            sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 100, 1, SOTTO_TEST_SOUND))
                .status);
        sotto_test_do(t, s.leader->db, "ALTER TABLE away RENAME TO segment_key");
        crowd(t, &s);
        s.bucket -= 2; /* the present is taken in any case */
        sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
        s.bucket += 2;
        check_spooled(t, &s, 0);
        while (sotto_lanes_take(sotto_leader_of(s.leader)->lanes, &load,
                                sotto_clock_ms() + 2 * LONG_MS, &wait))
            ;
        sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
        CHECK_OK(t, sotto_db_read(s.leader->db, read_place, &place, &t->err));
        CHECK(t, place.block > 0);
        sotto_test_do(t, s.leader->db,
                      "DELETE FROM segment_body"); /* so that the next one is the newest */
        sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
        CHECK_OK(t, sotto_db_read(s.leader->db, read_place, &place, &t->err));
        CHECK_EQUAL(t, 0, place.block);
    }
    sotto_test_service_close(&s);
}

/* Where the next one goes. */
static int64_t next_block(sotto_test *t, sotto_test_service *s)
{
    sotto_spool_place place = {0};

    sotto_test_do(t, s->leader->db, "DELETE FROM segment_body");
    sotto_test_upload_some(t, s, 100, 1, SOTTO_TEST_SOUND);
    CHECK_OK(t, sotto_db_read(s->leader->db, read_place, &place, &t->err));
    return (int64_t)place.block;
}

static void a_commit_that_counts_nothing_new_frees_no_place(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    if (sotto_leader_of(s.leader)->spool) {
        sotto_bytes body = sotto_test_sealed_reports(t, &s, 100, 1, SOTTO_TEST_SOUND);
        int64_t first;

        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, body).status);
        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, body).status); /* counted as replayed */
        sotto_test_do(t, s.leader->db, "ALTER TABLE segment_key RENAME TO away");
        CHECK_EQUAL(
            t, 500,
            sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 100, 1, SOTTO_TEST_SOUND))
                .status);
        sotto_test_do(t, s.leader->db, "ALTER TABLE away RENAME TO segment_key");
        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, body).status); /* and that once */
        first = next_block(t, &s);
        CHECK(t, next_block(t, &s) < first);
    }
    sotto_test_service_close(&s);
}

/* PostgreSQL may still commit all that a file shared by replicas has lost. */
static void beyond_what_may_be_in_doubt_bodies_go_with_their_rows(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    atomic_store(&sotto_leader_of(s.leader)->in_doubt_bytes, ((size_t)256 << 20) - 1);
    sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    check_spooled(t, &s, 1);
    atomic_fetch_add(&sotto_leader_of(s.leader)->in_doubt_bytes, 1);
    sotto_test_upload_some(t, &s, 100, 1, SOTTO_TEST_SOUND);
    check_spooled(t, &s, 1);
    sotto_test_check_sum(t, &s, 200);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(bodies_outlive_a_restart),
        CASE(bodies_are_read_back_where_memory_is_short),
        CASE(a_backup_has_the_bodies),
        CASE(a_backup_without_some_bodies_says_which),
        CASE(a_backup_without_any_bodies_is_none),
        CASE(a_job_without_its_segments_is_counted_as_lost),
        CASE(a_job_without_anything_is_counted_as_lost),
        CASE(a_commit_of_nothing_frees_no_place),
        CASE(a_commit_that_counts_nothing_new_frees_no_place),
        CASE(beyond_what_may_be_in_doubt_bodies_go_with_their_rows),
    };

    return RUN_TESTS(argc, argv, cases);
}
