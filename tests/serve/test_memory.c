/* When memory runs out in the middle of an upload, no report is to blame, and none is taken. */
#include "support/service.h"

#include "base/alloc.h"
#include "seal/hpke/setup.h"
#include "support/database.h"

#include <string.h>

enum { REPORTS = 100 };

static void check_put_off(sotto_test *t, sotto_test_service *s, sotto_bytes reports)
{
    sotto_http_response response = sotto_test_upload(t, s, reports);

    CHECK_EQUAL(t, 503, response.status);
    CHECK(t, response.retry_after_s > 0);
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s->leader->db, "SELECT count(*) FROM mark"));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s->leader->db, "SELECT count(*) FROM rejection"));
}

static void check_taken(sotto_test *t, sotto_test_service *s, sotto_bytes reports)
{
    sotto_http_response response = sotto_test_upload(t, s, reports);

    CHECK_EQUAL(t, 200, response.status);
    CHECK_EQUAL(t, 0, response.body.len);
    CHECK_EQUAL(t, REPORTS, sotto_test_ask_number(t, s->leader->db, "SELECT count(*) FROM mark"));
}

static void out_of_memory_is_no_fault_of_a_report(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes reports;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    reports = sotto_test_sealed_reports(t, &s, REPORTS, 1, SOTTO_TEST_SOUND);
    s.leader_options.tasks.upload_memory = (size_t)64 << 10; /* enough for most of them */
    sotto_test_leader_restart(t, &s);
    check_put_off(t, &s, reports);
    s.leader_options.tasks.upload_memory = 0;
    sotto_test_leader_restart(t, &s);
    check_taken(t, &s, reports);
    sotto_test_service_close(&s);
}

/* A worker opens its keys with the first report that it sees. The device would take "outdated configuration" for the
 * truth, and throw a good report away. */
static void keys_that_do_not_open_now_are_no_fault_of_a_report(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes reports;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    reports = sotto_test_sealed_reports(t, &s, REPORTS, 1, SOTTO_TEST_SOUND);
    sotto_alloc_fail_size(sizeof(struct sotto_hpke_receiver));
    check_put_off(t, &s, reports);
    sotto_alloc_fail_size(0);
    check_taken(t, &s, reports);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(out_of_memory_is_no_fault_of_a_report),
        CASE(keys_that_do_not_open_now_are_no_fault_of_a_report),
    };

    return RUN_TESTS(argc, argv, cases);
}
