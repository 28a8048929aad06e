/* Long reports: their shares are added up while the helper's answer is awaited, and what does not hold is taken off again. */
#include "serve/leader/leader.h"
#include "support/database.h"
#include "support/steps.h"

#include <string.h>

enum { LONG_MS = 60000, CATEGORIES = 600, BINS = CATEGORIES + 1 };

static void open_long(sotto_test *t, sotto_test_service *s)
{
    sotto_test_service_open(
        t, s, &(sotto_test_service_options){.job_delay_ms = LONG_MS, .categories = CATEGORIES});
    CHECK(t, sotto_job_part_is_long(sotto_tasks_find(s->leader->tasks, s->task.id)));
}

/* Bins 1 and 3 have these many, and no other has any. */
static void check_counts(sotto_test *t, sotto_test_service *s, uint64_t ones, uint64_t threes)
{
    uint64_t reports = 0, counts[BINS] = {0};

    CHECK_EQUAL(t, 200, sotto_test_collect(t, s, 1, &reports, counts));
    CHECK_EQUAL(t, ones + threes, reports);
    for (size_t i = 0; i < BINS; i++)
        CHECK_EQUAL(t, i == 1 ? ones : i == 3 ? threes : 0, counts[i]);
}

/* Sound ones among those that the helper rejects, for both of its causes, in three segments. */
static void upload_mixed(sotto_test *t, sotto_test_service *s)
{
    sotto_test_upload_some(t, s, 9, 1, SOTTO_TEST_SOUND);
    sotto_test_upload_some(t, s, 3, 2, SOTTO_TEST_BAD_PROOF);
    sotto_test_upload_some(t, s, 14, 3, SOTTO_TEST_SOUND);
    sotto_test_upload_some(t, s, 2, 1, SOTTO_TEST_BAD_HELPER_SEAL);
}

static void what_does_not_hold_is_taken_off(sotto_test *t)
{
    sotto_test_service s;

    open_long(t, &s);
    upload_mixed(t, &s);
    check_counts(t, &s, 9, 14);
    CHECK_EQUAL(t, 3,
                sotto_test_refused(t, &s, SOTTO_CAUSE_HELPER + SOTTO_REPORT_VDAF_VERIFY_ERROR));
    CHECK_EQUAL(t, 2,
                sotto_test_refused(t, &s, SOTTO_CAUSE_HELPER + SOTTO_REPORT_HPKE_DECRYPT_ERROR));
    /* Nothing of them is left, in memory or on disk. */
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM segment"));
    CHECK_EQUAL(t, 0, atomic_load(&sotto_leader_of(s.leader)->cached_bytes));
    sotto_test_service_close(&s);
}

/* One request with both in one segment. */
static void upload_one_segment(sotto_test *t, sotto_test_service *s)
{
    sotto_bytes sound = sotto_test_sealed_reports(t, s, 22, 1, SOTTO_TEST_SOUND);
    sotto_bytes bad = sotto_test_sealed_reports(t, s, 2, 2, SOTTO_TEST_BAD_PROOF);
    uint8_t *both = sotto_arena_take(&t->arena, sound.len + bad.len);

    CHECK(t, both != NULL);

    memcpy(both, bad.data, bad.len);
    memcpy(both + bad.len, sound.data, sound.len);
    CHECK_EQUAL(t, 200, sotto_test_upload(t, s, sotto_bytes_of(both, sound.len + bad.len)).status);
}

static void a_segment_may_hold_both(sotto_test *t)
{
    sotto_test_service s;

    open_long(t, &s);
    upload_one_segment(t, &s);
    check_counts(t, &s, 22, 0);
    sotto_test_service_close(&s);
}

/* Its process is gone, and what it had summed. */
static void a_job_that_is_resumed_sums_anew(sotto_test *t)
{
    sotto_test_service s;

    open_long(t, &s);
    upload_mixed(t, &s);
    sotto_test_helper_stop(t, &s);
    sotto_test_want(t, &s); /* the job is on disk, and has no answer */
    sotto_test_leader_restart(t, &s);
    sotto_test_helper_start(t, &s);
    check_counts(t, &s, 9, 14);
    sotto_test_service_close(&s);
}

static void reports_are_read_back_where_memory_is_short(sotto_test *t)
{
    sotto_test_service s;

    open_long(t, &s);
    atomic_fetch_add(&sotto_leader_of(s.leader)->cached_bytes, (size_t)1 << 40);
    upload_mixed(t, &s);
    check_counts(t, &s, 9, 14);
    sotto_test_service_close(&s);
}

/* Its neighbours are summed without it, and it comes when it can be read. */
static void a_segment_that_does_not_open_keeps_no_other_back(sotto_test *t)
{
    static const sotto_test_damage damage = {
        "SELECT segment, secret FROM segment_key ORDER BY segment",
        "UPDATE segment_key SET secret = ?2 WHERE segment = ?1", true};
    sotto_test_service s;

    open_long(t, &s);
    atomic_fetch_add(&sotto_leader_of(s.leader)->cached_bytes, (size_t)1 << 40);
    sotto_test_upload_some(t, &s, 25, 1, SOTTO_TEST_SOUND);
    sotto_test_upload_some(t, &s, 25, 1, SOTTO_TEST_SOUND);
    sotto_test_flip(t, s.leader->db, &damage);
    sotto_test_want(t, &s);
    for (int i = 0; i < 600 && sotto_test_ask_number(t, s.leader->db,
                                                     "SELECT count(*) FROM sub_aggregate") == 0;
         i++)
        sotto_test_want(t, &s);
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM sub_aggregate"));
    CHECK_EQUAL(t, 1,
                sotto_test_ask_number(t, s.leader->db,
                                      "SELECT count(*) FROM segment WHERE unreadable IS NOT NULL"));
    sotto_test_flip(t, s.leader->db, &damage);
    sotto_test_leader_restart(t, &s);
    check_counts(t, &s, 50, 0);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_does_not_hold_is_taken_off),
        CASE(a_segment_may_hold_both),
        CASE(a_job_that_is_resumed_sums_anew),
        CASE(reports_are_read_back_where_memory_is_short),
        CASE(a_segment_that_does_not_open_keeps_no_other_back),
    };

    return RUN_TESTS(argc, argv, cases);
}
