/* Long reports: their shares are added up while the helper's answer is awaited, and what does not hold is taken off again. */
#define _GNU_SOURCE
#include "dap/upload.h"
#include "serve/leader/leader.h"
#include "support/database.h"
#include "support/steps.h"

#include <stdio.h>
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

static sotto_bytes joined(sotto_test *t, sotto_bytes one, sotto_bytes other)
{
    uint8_t *both = sotto_arena_take(&t->arena, one.len + other.len);

    CHECK(t, both != NULL);
    memcpy(both, one.data, one.len);
    memcpy(both + one.len, other.data, other.len);
    return sotto_bytes_of(both, one.len + other.len);
}

/* They are opened and added up before the transaction finds that they came before. */
static void what_came_before_is_in_no_sum_again(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes first, more;

    open_long(t, &s);
    first = sotto_test_sealed_reports(t, &s, 22, 1, SOTTO_TEST_SOUND);
    more = sotto_test_sealed_reports(t, &s, 5, 3, SOTTO_TEST_SOUND);
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, first).status);
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, joined(t, first, more)).status);
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, more).status); /* all of them came before */
    check_counts(t, &s, 22, 5);
    CHECK_EQUAL(t, 0, atomic_load(&sotto_leader_of(s.leader)->cached_bytes));
    sotto_test_service_close(&s);
}

/* Reports that do not open, or have no such key, among those that do: each is told its own error. */
static void what_does_not_open_is_told_so(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes sound, bad;

    open_long(t, &s);
    sound = sotto_test_sealed_reports(t, &s, 22, 1, SOTTO_TEST_SOUND);
    bad = sotto_test_sealed_reports(t, &s, 6, 1, SOTTO_TEST_BAD_LEADER_SEAL);
    CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, joined(t, bad, sound)).status);
    CHECK_EQUAL(t, 6, sotto_test_refused(t, &s, SOTTO_REPORT_HPKE_DECRYPT_ERROR));
    check_counts(t, &s, 22, 0);
    sotto_test_service_close(&s);
}

static bool file_has(sotto_test *t, const char *path, sotto_bytes wanted)
{
    enum { MOST = 8 << 20 };
    uint8_t *all = sotto_arena_take(&t->arena, MOST);
    FILE *file = fopen(path, "rb");
    size_t len = 0;

    CHECK(t, all != NULL);
    if (!file)
        return false;
    len = fread(all, 1, MOST, file);
    CHECK(t, len < MOST);
    (void)fclose(file);
    return memmem(all, len, wanted.data, wanted.len) != NULL;
}

static bool disk_has(sotto_test *t, const sotto_test_service *s, sotto_bytes wanted)
{
    static const char *const files[] = {"", "-wal", "-bodies"};
    bool has = false;

    for (size_t i = 0; i < 3; i++) {
        char path[300];

        (void)snprintf(path, sizeof path, "%s%s",
                       s->leader_options.host.database + strlen("sqlite:"), files[i]);
        has = file_has(t, path, wanted) || has;
    }
    return has;
}

/* The share, and nothing by which a leader's private key could open it once the segment's own key is gone. */
static void a_share_is_on_disk_as_it_came_and_what_opens_it_is_not(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes body;
    sotto_dap_upload_req req;
    sotto_dap_report report;
    sotto_reader in;

    open_long(t, &s);
    if (sotto_leader_of(s.leader)->spool) {
        body = sotto_test_sealed_reports(t, &s, 22, 1, SOTTO_TEST_SOUND);
        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, body).status);
        CHECK_OK(t, sotto_dap_upload_req_decode(&req, body, &t->err));
        in = sotto_reader_over(req.reports);
        for (size_t i = 0; i < 3; i++) {
            CHECK(t, sotto_dap_upload_req_next(&in, &report));
            CHECK(t, disk_has(t, &s, sotto_bytes_of(report.leader.payload.data, 4000)));
            CHECK(t, !disk_has(t, &s, report.leader.enc));
            CHECK(t, !disk_has(t, &s, report.helper.enc));
        }
        check_counts(t, &s, 22, 0);
    }
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
        CASE(what_came_before_is_in_no_sum_again),
        CASE(what_does_not_open_is_told_so),
        CASE(a_share_is_on_disk_as_it_came_and_what_opens_it_is_not),
    };

    return RUN_TESTS(argc, argv, cases);
}
