/* Segments that wait for their job: in which order they go, and how many buckets there may be. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "serve/leader/leader.h"
#include "support/database.h"
#include "support/service.h"

#include <unistd.h>

enum { DELAY_MS = 100, FULL = 10, PRESENT = 1000000 };

static sotto_lanes *lanes_of(sotto_test *t)
{
    sotto_lanes *lanes = NULL;

    CHECK_OK(t, sotto_lanes_open(&lanes, DELAY_MS, DELAY_MS, &t->err));
    return lanes;
}

static void add(sotto_test *t, sotto_lanes *lanes, uint64_t bucket, int64_t n, size_t reports,
                uint64_t now_ms)
{
    CHECK_OK(t, sotto_lanes_add(lanes, 1, bucket, &(sotto_job_segment){n, reports, NULL, 0}, FULL,
                                now_ms));
}

/* The bucket of the next load; 0: none, and *wait until one ripens. */
static uint64_t take(sotto_lanes *lanes, sotto_job_segments *load, uint64_t now_ms, uint64_t *wait)
{
    *wait = 1000;
    return sotto_lanes_take(lanes, load, now_ms, wait) ? load->bucket : 0;
}

static void a_full_load_leaves_at_once_and_a_tail_in_time(sotto_test *t)
{
    sotto_lanes *lanes = lanes_of(t);
    static sotto_job_segments load;
    uint64_t wait;

    add(t, lanes, 7, 1, 4, 1000);
    CHECK_EQUAL(t, 0, take(lanes, &load, 1000, &wait));
    CHECK_EQUAL(t, DELAY_MS, wait);
    CHECK(t, sotto_lanes_have(lanes, 1) && !sotto_lanes_have(lanes, 2));
    add(t, lanes, 7, 2, 4, 1010);
    add(t, lanes, 7, 3, 4, 1020);
    CHECK_EQUAL(t, 7, take(lanes, &load, 1020, &wait));
    CHECK_EQUAL(t, 2, load.count); /* whole segments, no more than a full job */
    CHECK_EQUAL(t, 8, load.reports);
    CHECK(t, !sotto_lanes_have(lanes, 1) && sotto_lanes_have(lanes, 3));
    CHECK_EQUAL(t, 0, take(lanes, &load, 1119, &wait));
    CHECK_EQUAL(t, 1, wait);
    CHECK_EQUAL(t, 7, take(lanes, &load, 1120, &wait));
    CHECK_EQUAL(t, 3, load.list[0].n);
    CHECK_EQUAL(t, 0, sotto_lanes_reports(lanes));
    CHECK_EQUAL(t, 0, take(lanes, &load, 9999, &wait));
    CHECK_EQUAL(t, 1000, wait);
    sotto_lanes_close(lanes);
}

/* Nobody would work on it in the meantime. What comes without a pause is no reason to wait for longer than the oldest may. */
static void a_lane_without_news_waits_no_longer(sotto_test *t)
{
    enum { QUIET_MS = 20 };
    static sotto_job_segments load;
    sotto_lanes *lanes = NULL;
    uint64_t wait;

    CHECK_OK(t, sotto_lanes_open(&lanes, DELAY_MS, QUIET_MS, &t->err));
    for (int64_t i = 0; i < 8; i++) {
        add(t, lanes, 7, i, 1, 1000 + 15 * (uint64_t)i);
        CHECK_EQUAL(t, i == 7 ? 7 : 0, take(lanes, &load, 1000 + 15 * (uint64_t)i, &wait));
        CHECK_EQUAL(t, i == 7 ? 1000 : i == 6 ? 10 : QUIET_MS, wait);
    }
    CHECK_EQUAL(t, 8, load.reports); /* 105 ms after the first */
    add(t, lanes, 7, 8, 1, 2000);
    add(t, lanes, 8, 9, 1, 2010);
    CHECK_EQUAL(t, 0, take(lanes, &load, 2019, &wait));
    CHECK_EQUAL(t, 7, take(lanes, &load, 2020, &wait));
    CHECK_EQUAL(t, 0, take(lanes, &load, 2020, &wait));
    CHECK_EQUAL(t, 10, wait);
    CHECK_EQUAL(t, 8, take(lanes, &load, 2030, &wait));
    add(t, lanes, 7, 10, 1, 3000);
    sotto_lanes_expect(lanes, true); /* a pause, and more on its way */
    for (uint64_t now = 3000 + QUIET_MS; now < 3000 + DELAY_MS; now += QUIET_MS)
        CHECK_EQUAL(t, 0, take(lanes, &load, now, &wait));
    CHECK_EQUAL(t, QUIET_MS, wait);
    CHECK_EQUAL(t, 7, take(lanes, &load, 3000 + DELAY_MS, &wait));
    add(t, lanes, 7, 11, 1, 4000);
    CHECK_EQUAL(t, 0, take(lanes, &load, 4000 + QUIET_MS, &wait));
    sotto_lanes_expect(lanes, false);
    CHECK_EQUAL(t, 7, take(lanes, &load, 4000 + 2 * QUIET_MS, &wait));
    sotto_lanes_close(lanes);
}

/* What could not be read with others may be read without them, and they without it. */
static void what_is_to_go_alone_joins_no_other(sotto_test *t)
{
    sotto_lanes *lanes = lanes_of(t);
    static sotto_job_segments load;
    sotto_job_segment second = {2, 2, NULL, 0}, third = {3, 2, NULL, 0};
    uint64_t wait;

    sotto_job_segment_tried(&second, true);
    sotto_job_segment_tried(&third, true);
    add(t, lanes, 7, 1, 2, 1000);
    CHECK_OK(t, sotto_lanes_add(lanes, 1, 7, &second, FULL, 1000));
    CHECK_OK(t, sotto_lanes_add(lanes, 1, 7, &third, FULL, 1000));
    add(t, lanes, 7, 4, 2, 1000);
    add(t, lanes, 7, 5, 2, 1000);
    for (int64_t n = 1; n <= 3; n++) { /* the two that are alone wait for no full job */
        CHECK_EQUAL(t, 7, take(lanes, &load, 1100, &wait));
        CHECK_EQUAL(t, 1, load.count);
        CHECK_EQUAL(t, n, load.list[0].n);
    }
    CHECK_EQUAL(t, 7, take(lanes, &load, 1100, &wait));
    CHECK_EQUAL(t, 2, load.count);
    sotto_lanes_close(lanes);
}

/* Several that rest until the same moment: whoever flushes them comes to an end. */
static void flushing_what_rests_ends(sotto_test *t)
{
    sotto_lanes *lanes = lanes_of(t);
    static sotto_job_segments load;
    uint64_t wait;

    (void)alarm(60); /* or it would hang here */
    for (uint64_t bucket = 7; bucket < 10; bucket++)
        CHECK_OK(
            t, sotto_lanes_add(lanes, 1, bucket, &(sotto_job_segment){1, 4, NULL, 1}, FULL, 1000));
    sotto_lanes_flush(lanes, 1, &(sotto_batch_range){.first_bucket = 7, .end_bucket = 10});
    (void)alarm(0);
    CHECK_EQUAL(t, 0, take(lanes, &load, 1099, &wait));
    for (uint64_t bucket = 7; bucket < 10; bucket++)
        CHECK_EQUAL(t, bucket, take(lanes, &load, 1100, &wait));
    sotto_lanes_close(lanes);
}

static void those_that_waited_longest_go_first(sotto_test *t)
{
    sotto_lanes *lanes = lanes_of(t);
    static sotto_job_segments load;
    uint64_t wait;

    for (uint64_t i = 0; i < 50; i++)
        add(t, lanes, 50 - i, (int64_t)i, 1, 1000 + i);
    add(t, lanes, 90, 90, FULL + 5, 1060); /* longer than a job: goes as it is */
    add(t, lanes, 91, 91, 3, 0);           /* taken over from another process: it waited long */
    CHECK_EQUAL(t, 90, take(lanes, &load, 1060, &wait));
    CHECK_EQUAL(t, FULL + 5, load.reports);
    CHECK_EQUAL(t, 91, take(lanes, &load, 1060, &wait));
    for (uint64_t i = 0; i < 50; i++) {
        CHECK_EQUAL(t, 0, take(lanes, &load, 1099 + i, &wait));
        CHECK_EQUAL(t, 50 - i, take(lanes, &load, 1100 + i, &wait));
    }
    sotto_lanes_close(lanes);
}

static void a_busy_lane_does_not_keep_others_waiting(sotto_test *t)
{
    sotto_lanes *lanes = lanes_of(t);
    static sotto_job_segments load;
    uint64_t wait;

    for (int64_t i = 0; i < 4; i++)
        add(t, lanes, 1, i, FULL, 1000);
    add(t, lanes, 2, 9, FULL, 1000);
    CHECK_EQUAL(t, 1, take(lanes, &load, 1000, &wait));
    CHECK_EQUAL(t, 2, take(lanes, &load, 1000, &wait));
    CHECK_EQUAL(t, 1, take(lanes, &load, 1000, &wait));
    CHECK_EQUAL(t, 2 * FULL, sotto_lanes_reports(lanes));
    sotto_lanes_close(lanes); /* with what still waits */
}

static void a_collection_flushes_its_buckets(sotto_test *t)
{
    sotto_lanes *lanes = lanes_of(t);
    const sotto_batch_range range = {.first_bucket = 2, .end_bucket = 4};
    static sotto_job_segments load;
    uint64_t wait;

    for (uint64_t bucket = 1; bucket < 6; bucket++)
        add(t, lanes, bucket, (int64_t)bucket, 1, 1000);
    sotto_lanes_flush(lanes, 2, &range); /* another task's */
    CHECK_EQUAL(t, 0, take(lanes, &load, 1000, &wait));
    sotto_lanes_flush(lanes, 1, &range);
    CHECK_EQUAL(t, 2, take(lanes, &load, 1000, &wait));
    CHECK_EQUAL(t, 3, take(lanes, &load, 1000, &wait));
    CHECK_EQUAL(t, 0, take(lanes, &load, 1000, &wait));
    sotto_lanes_close(lanes);
}

/* A job of it could not be formed: it goes again after a while, for which neither its size nor a collection hurries it. */
static void what_failed_rests_for_longer_each_time(sotto_test *t)
{
    static const uint64_t rests[] = {100,  200,   400,   800,   1600, 3200,
                                     6400, 12800, 25600, 30000, 30000};
    const sotto_batch_range range = {.first_bucket = 1, .end_bucket = 9};
    sotto_lanes *lanes = lanes_of(t);
    static sotto_job_segments load;
    uint64_t now = 1000, wait;

    add(t, lanes, 7, 1, FULL, now);
    CHECK_EQUAL(t, 7, take(lanes, &load, now, &wait));
    for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++) {
        load.list[0].tries++;
        CHECK_OK(t, sotto_lanes_add(lanes, 1, 7, &load.list[0], FULL, now));
        add(t, lanes, 7, 2, FULL, now); /* what comes meanwhile waits with it */
        sotto_lanes_flush(lanes, 1, &range);
        CHECK_EQUAL(t, 0, take(lanes, &load, now + rests[i] - 1, &wait));
        CHECK_EQUAL(t, 1, wait);
        now += rests[i];
        CHECK_EQUAL(t, 7, take(lanes, &load, now, &wait));
        CHECK_EQUAL(t, 7, take(lanes, &load, now, &wait)); /* the other */
        CHECK_EQUAL(t, 2, load.list[0].n);
        load.list[0] = (sotto_job_segment){1, FULL, NULL, (unsigned)i + 1};
    }
    add(t, lanes, 7, 3, FULL, now); /* and then it is as any other */
    CHECK_EQUAL(t, 7, take(lanes, &load, now, &wait));
    sotto_lanes_close(lanes);
}

/* As many buckets as may be, of tasks from `task` on, none of them near the present. */
static void crowd(sotto_test *t, sotto_lanes *lanes, int64_t task, size_t tasks, uint64_t now_ms)
{
    for (size_t i = 0; i < tasks; i++)
        for (uint64_t bucket = 1; bucket <= SOTTO_MAX_TASK_LANES; bucket++) {
            sotto_job_segment segment = {(int64_t)bucket, 1, NULL, 0};

            CHECK(t, sotto_lanes_have_room(lanes, task + (int64_t)i, bucket, PRESENT));
            CHECK_OK(t, sotto_lanes_add(lanes, task + (int64_t)i, bucket, &segment, FULL, now_ms));
        }
}

static void there_is_an_end_to_buckets(sotto_test *t)
{
    sotto_lanes *lanes = lanes_of(t);
    static sotto_job_segments load;
    uint64_t wait;

    crowd(t, lanes, 1, SOTTO_MAX_LANES / SOTTO_MAX_TASK_LANES, 1000);
    CHECK(t, !sotto_lanes_have_room(lanes, 9, 1, PRESENT));
    CHECK(t, sotto_lanes_have_room(lanes, 1, 17, PRESENT)); /* those that are there may fill */
    CHECK_EQUAL(t, 1, take(lanes, &load, 1100, &wait));
    CHECK(t, sotto_lanes_have_room(lanes, 9, 1, PRESENT));
    sotto_lanes_close(lanes);
}

static void one_task_does_not_take_the_room_of_others(sotto_test *t)
{
    sotto_lanes *lanes = lanes_of(t);
    static sotto_job_segments load;
    uint64_t wait;

    crowd(t, lanes, 1, 1, 1000);
    CHECK(t, !sotto_lanes_have_room(lanes, 1, SOTTO_MAX_TASK_LANES + 1, PRESENT));
    CHECK(t, sotto_lanes_have_room(lanes, 1, 17, PRESENT));
    CHECK(t, sotto_lanes_have_room(lanes, 2, SOTTO_MAX_TASK_LANES + 1, PRESENT));
    CHECK_EQUAL(t, 1, take(lanes, &load, 1100, &wait));
    CHECK(t, sotto_lanes_have_room(lanes, 1, SOTTO_MAX_TASK_LANES + 1, PRESENT));
    while (take(lanes, &load, 1100, &wait)) /* all of them: the task is counted anew */
        CHECK_EQUAL(t, 1, load.count);
    crowd(t, lanes, 1, 1, 1000);
    sotto_lanes_close(lanes);
}

static void what_is_of_now_always_has_room(sotto_test *t)
{
    sotto_lanes *lanes = lanes_of(t);

    crowd(t, lanes, 1, SOTTO_MAX_LANES / SOTTO_MAX_TASK_LANES, 1000);
    for (int64_t task = 1; task < 10; task += 8) { /* one that is crowded, and one that has none */
        CHECK(t, !sotto_lanes_have_room(lanes, task, PRESENT - 2, PRESENT));
        CHECK(t, sotto_lanes_have_room(lanes, task, PRESENT - 1, PRESENT));
        CHECK(t, sotto_lanes_have_room(lanes, task, PRESENT, PRESENT));
        CHECK(t, !sotto_lanes_have_room(lanes, task, PRESENT + 1, PRESENT));
    }
    sotto_lanes_close(lanes);
}

/* The same from outside, with a leader's own clock. */
static void an_upload_of_now_is_taken_however_many_buckets_wait(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes now, before, long_ago;
    sotto_http_response response;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 3600000});
    now = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    s.bucket -= 1;
    before = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    s.bucket -= 1;
    long_ago = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);
    crowd(t, sotto_leader_of(s.leader)->lanes, 1000, SOTTO_MAX_LANES / SOTTO_MAX_TASK_LANES,
          sotto_clock_ms());
    CHECK_EQUAL(t, 0, sotto_test_upload(t, &s, now).body.len);
    CHECK_EQUAL(t, 0, sotto_test_upload(t, &s, before).body.len);
    response = sotto_test_upload(t, &s, long_ago);
    CHECK_EQUAL(t, 200, response.status);
    CHECK_EQUAL(t, SOTTO_REPORT_ID_SIZE + 1, response.body.len); /* to retry */
    CHECK_EQUAL(t, 2, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM mark"));
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_full_load_leaves_at_once_and_a_tail_in_time),
        CASE(a_lane_without_news_waits_no_longer),
        CASE(what_is_to_go_alone_joins_no_other),
        CASE(flushing_what_rests_ends),
        CASE(those_that_waited_longest_go_first),
        CASE(a_busy_lane_does_not_keep_others_waiting),
        CASE(a_collection_flushes_its_buckets),
        CASE(what_failed_rests_for_longer_each_time),
        CASE(there_is_an_end_to_buckets),
        CASE(one_task_does_not_take_the_room_of_others),
        CASE(what_is_of_now_always_has_room),
        CASE(an_upload_of_now_is_taken_however_many_buckets_wait),
    };

    return RUN_TESTS(argc, argv, cases);
}
