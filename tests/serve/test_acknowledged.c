/* What was acknowledged is added up in the end, whatever a leader forgets or is told on the way. */
#define _POSIX_C_SOURCE 200809L
#include "serve/leader.h"
#include "support/database.h"
#include "support/service.h"

#include <string.h>
#include <time.h>

enum { LONG_MS = 3600000, REPORTS = 30 }; /* nothing leaves before a collection asks for it */

static sotto_bytes many(sotto_test *t, sotto_test_service *s, size_t count)
{
    size_t size = count * (s->task.report_bytes + 64);
    sotto_buf out = sotto_buf_over(sotto_arena_take(&t->arena, size), size);

    for (size_t i = 0; i < count; i++) {
        sotto_bytes one = sotto_test_sealed_report(t, s, 1, SOTTO_TEST_SOUND);

        CHECK(t, one.len <= out.cap - out.len);
        memcpy(out.data + out.len, one.data, one.len);
        out.len += one.len;
    }
    return sotto_buf_bytes(&out);
}

static void pause_ms(long ms)
{
    struct timespec moment = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&moment, NULL);
}

static void check_sum(sotto_test *t, sotto_test_service *s, uint64_t wanted)
{
    uint64_t reports = 0, counts[16] = {0};

    CHECK_EQUAL(t, 200, sotto_test_collect(t, s, 1, &reports, counts));
    CHECK_EQUAL(t, wanted, reports);
    CHECK_EQUAL(t, wanted, counts[1]);
}

/* ---- what a process forgot ----------------------------------------------------------------------------------- */

/* As after a commit whose answer was lost, or without the memory for a place in a lane. */
static void forget_one(sotto_test *t, sotto_test_service *s)
{
    static sotto_load load;
    uint64_t wait = 0;

    CHECK(t, sotto_lanes_take(s->leader->leader->lanes, &load, sotto_leader_now_ms() + 2 * LONG_MS,
                              &wait));
    CHECK_EQUAL(t, 1, load.count);
    sotto_warm_free(load.segments[0].warm);
}

static void a_segment_that_its_own_process_forgot_is_found(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, many(t, &s, REPORTS)).status);
    forget_one(t, &s);
    CHECK_EQUAL(t, 0, sotto_lanes_reports(s.leader->leader->lanes));
    check_sum(t, &s, REPORTS);
    sotto_test_service_close(&s);
}

static void a_segment_that_only_waits_is_left_alone(sotto_test *t)
{
    static const char oldest[] = "SELECT CAST(min(added) AS BIGINT) FROM segment";
    sotto_test_service s;
    int64_t added;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, many(t, &s, REPORTS)).status);
    added = sotto_test_ask_number(t, s.leader->db, oldest);
    pause_ms(5000); /* two leases and more */
    CHECK_EQUAL(t, REPORTS, sotto_lanes_reports(s.leader->leader->lanes));
    CHECK_EQUAL(t, added, sotto_test_ask_number(t, s.leader->db, oldest));
    check_sum(t, &s, REPORTS);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_segment_that_its_own_process_forgot_is_found),
        CASE(a_segment_that_only_waits_is_left_alone),
    };

    return RUN_TESTS(argc, argv, cases);
}
